/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"
#include "../views/known-ops.h"

/* Helpers of the rewrites in this folder: questions about nodes, and replacing a node. */

/* Returns whether a node is element-wise: it has one result, and each element depends only on the
 * elements of the operands at the same place, after broadcasting. */
gboolean cleave_node_is_elementwise (const CleaveNode *node);
/* Returns whether the node's attributes name dimensions of its operand, such as an axis or a
 * layout. */
gboolean cleave_node_has_axes (const CleaveNode *node);
/* Infers the types of the first `n_results` results, as if operand `index` had the type `with`
 * (NULL: its own type).  FALSE if there would be no legal node. */
gboolean cleave_node_infer_with (const CleaveNode *node,
                                 guint index,
                                 const CleaveTensorType *with,
                                 guint n_results,
                                 CleaveTensorType *results);

/* Replaces a node by one of the same op with other operands and attributes, which may be its own.
 * FALSE if the result would have another type; then nothing changes. */
gboolean cleave_node_replace (CleaveNode *node, CleaveResult *const *operands, gconstpointer attrs);
/* Replaces all uses of a node's result by `value`.  If the node of `value` is new (its id is at
 * least `first_new`), it takes the node's name as well.  FALSE if `value` is NULL; then nothing
 * changes. */
gboolean cleave_node_give_way (CleaveNode *node, CleaveResult *value, guint first_new);
