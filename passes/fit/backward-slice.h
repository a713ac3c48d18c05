/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* A backward slice is a set of nodes that compute a large value from small values. This file finds
 * short backward slices, such as a 1x1 convolution to more channels and its activation. While the
 * large value waits for a reader, it is enough that the small values are in memory. Therefore,
 * rematerialize.c and rematerialize-idle.c compute the nodes of a backward slice a second time, and
 * move-nodes.c runs these nodes later. */

/* A rewrite keeps small values in memory instead of a large value only if the large value has at
 * least this many times the bytes of the small values. For example, the backward slice of a value
 * of 100 KiB ends at operands of at most 50 KiB. */
#define CLEAVE_FIT_MUCH_LARGER 2

static inline gint64
cleave_fit_count_bytes (const CleaveResult *value)
{
  return cleave_tensor_type_n_bytes (&value->type);
}

/* Returns whether a node is an input or a constant. Inputs and constants exist before a run begins,
 * whatever their position in the order of nodes. */
static inline gboolean
cleave_fit_exists_before_run (const CleaveNode *node)
{
  return cleave_node_is_input (node) || cleave_node_is_fixed (node);
}

/* Returns whether a node can run twice. The node must have operands and dimension maps, and be
 * neither an input nor a constant. */
gboolean cleave_fit_can_copy (const CleaveNode *node);
/* Adds to `recomputed` the nodes (CleaveNode) that compute a value. Stops at inputs, constants, and
 * values of at most n_bytes / CLEAVE_FIT_MUCH_LARGER bytes. Returns FALSE if a node cannot be
 * copied, or if the backward slice has too many nodes. `recomputed` is then incomplete. */
gboolean
cleave_fit_add_backward_slice (GPtrArray *recomputed, const CleaveResult *value, gint64 n_bytes);
