/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"
#include "../views/known-ops.h"

/* Whether each element of the one result depends on the elements at its place alone, of operands
 * that are broadcast to it. */
gboolean cleave_node_is_elementwise (const CleaveNode *node);
/* Whether the node's attributes count the dimensions of what it reads. */
gboolean cleave_node_has_axes (const CleaveNode *node);
/* What a node would be if its operand `index` were `with`: the types of its results, or FALSE if
 * there were no such node. */
gboolean cleave_node_infer_with (const CleaveNode *node,
                                 guint index,
                                 const CleaveTensorType *with,
                                 guint n_results,
                                 CleaveTensorType *results);

/* A node like this one takes the place of it, if its result has the same type: one of other
 * operands and attributes, both of which may be the node's own.  FALSE: nothing changes. */
gboolean cleave_node_replace (CleaveNode *node, CleaveResult *const *operands, gconstpointer attrs);
/* A value takes the place of a node's only result, and its name if it is new.  FALSE: there is
 * none, and nothing changes. */
gboolean cleave_node_give_way (CleaveNode *node, CleaveResult *value, guint first_new);
