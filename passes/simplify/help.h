/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"
#include "../views/known-ops.h"

/* Helpers of the passes in this folder: questions about nodes, and functions that replace a node. A
 * pass visits one node after the other (`visit` in its CleavePassInfo), and rewrites each node that
 * has the pass's pattern. */

/* Returns whether a node is element-wise: it has one result, and each element depends only on the
 * elements of the operands at the same position, after broadcasting. */
gboolean cleave_node_is_elementwise (const CleaveNode *node);
/* Returns whether the node's attributes name dimensions of its operand, such as an axis or a
 * layout. */
gboolean cleave_node_has_axes (const CleaveNode *node);
/* Sets `results` to the types of the first `n_results` results, as if operand `index` had the type
 * `with`. `with` NULL: the operand has its own type. Returns FALSE if the node would not be
 * legal. */
gboolean cleave_node_infer_with (const CleaveNode *node,
                                 guint index,
                                 const CleaveTensorType *with,
                                 guint n_results,
                                 CleaveTensorType *results);

/* Replaces a node by a node of the same op with other operands or attributes. Returns FALSE and
 * changes nothing if the result would have another type. */
gboolean cleave_node_replace (CleaveNode *node, CleaveResult *const *operands, gconstpointer attrs);
/* Replaces all uses of a node's result by `value`. If the node of `value` is new (its id is at
 * least `first_new`), this node takes over the name. Returns FALSE and changes nothing if `value`
 * is NULL. */
gboolean cleave_node_give_way (CleaveNode *node, CleaveResult *value, guint first_new);
