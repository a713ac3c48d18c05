/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Questions about a node that several modules ask. */

#include "graph-private.h"

/* Returns whether the value of a node exists from the start, wherever an order has the node: it is
 * an input of the graph, or it depends on constants alone. */
static inline gboolean
cleave_node_is_source (const CleaveNode *node)
{
  return cleave_node_is_input (node) || cleave_node_is_fixed (node);
}

/* Returns the node that computes an operand, or NULL if the operand is absent. */
static inline CleaveNode *
cleave_node_get_producer (const CleaveNode *node, guint operand)
{
  CleaveResult *result = cleave_node_operand_result (node, operand);

  return result == NULL ? NULL : result->node;
}
