/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* Broadcasts that take no memory. An Expand whose readers all read by strides is no copy. Example:
 * a bias [64, 1, 1] that is expanded to [64, 56, 56] keeps its 64 elements, and readers use the
 * strides 1, 0 and 0. During buffer assignment, facts.c treats the results of these ops as views.
 * The cost model skips their bytes. */

/* Returns whether the result of `node` is a broadcast that takes no memory: readers read the
 * operand with strides of 0. The node is an Expand, or a Tile of dimensions of extent 1, and all
 * its readers read by strides. */
gboolean cleave_node_is_broadcast (const CleaveNode *node);
/* Returns the value that readers of `result` read in memory: the operand if `result` is a broadcast
 * without memory, else `result`. */
const CleaveResult *cleave_result_without_broadcast (const CleaveResult *result);
