/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* Returns whether the result of a node that broadcasts takes no memory of its own: readers read the
 * operand with strides of 0. Such nodes are an Expand, and a Tile of dimensions of extent 1. All
 * their readers must read by strides. */
gboolean cleave_node_is_broadcast (const CleaveNode *node);
/* Returns the value whose elements are read in place of `result`: the operand of the broadcast, or
 * `result` itself. */
const CleaveResult *cleave_result_without_broadcast (const CleaveResult *result);
