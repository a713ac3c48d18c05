/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The common part of typed constructors, such as cleave_graph_add_conv() at the end of conv.c.
 * Passes also call cleave_build() to make nodes with one result (passes/split/build.c). */

#include "../ir/op.h"

/* Adds a node with one result, as cleave_graph_add() does. Returns the result, or NULL on error. */
static inline CleaveResult *
cleave_build (CleaveGraph *graph,
              const CleaveOp *op,
              const char *name,
              CleaveResult *const *operands,
              guint n_operands,
              gconstpointer attrs,
              GError **error)
{
  CleaveNode *node = cleave_graph_add (graph, op, name, operands, n_operands, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}
