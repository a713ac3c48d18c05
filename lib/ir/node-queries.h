/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Tests and look-ups for one node, which lib/ir, lib/memory and the passes use. graph-private.h
 * declares the structs. */

#include "graph-private.h"

/* Returns TRUE for an input of the graph, and for a node that depends on constants alone. In every
 * order of the nodes, the values of these nodes exist before the first other node runs. */
static inline gboolean
cleave_node_is_source (const CleaveNode *node)
{
  return cleave_node_is_input (node) || cleave_node_is_fixed (node);
}

/* Returns the node that computes operand number `operand`, or NULL if the operand is absent. */
static inline CleaveNode *
cleave_node_get_producer (const CleaveNode *node, guint operand)
{
  CleaveResult *result = cleave_node_operand_result (node, operand);

  return result == NULL ? NULL : result->node;
}
