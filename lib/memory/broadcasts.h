/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* Whether the result of a node that broadcasts (an Expand, a Tile of extents of 1) is never
 * written: it is its operand with strides of 0, since all that read it read by strides. */
gboolean cleave_node_is_broadcast (const CleaveNode *node);
/* The value whose elements are read with this one: what it is broadcast from, or itself. */
const CleaveResult *cleave_result_without_broadcast (const CleaveResult *result);
