/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Walks and copies fixed nodes: nodes whose results depend on constants alone
 * (cleave_node_is_fixed()). cleave_program_new() computes these nodes once
 * (lib/runtime/constants.c). The graph of each rank gets a copy of the fixed nodes that the rank
 * needs (passes/ranks/build.c). */

#include "graph-private.h"

/* Callbacks of cleave_fixed_walk(). The walk calls `visit` for a fixed node and for all nodes that
 * the node depends on, producers before consumers. The walk skips nodes for which `is_seen` returns
 * TRUE. If a call of `visit` returns FALSE, the walk stops and returns FALSE. */
typedef gboolean (*CleaveFixedSeen) (CleaveNode *node, gpointer data);
typedef gboolean (*CleaveFixedVisit) (CleaveNode *node, gpointer data);
gboolean cleave_fixed_walk (CleaveNode *node,
                            CleaveFixedSeen is_seen,
                            CleaveFixedVisit visit,
                            gpointer data);

/* Copies a fixed value to another graph, with the constants and nodes that compute it, and returns
 * the copy. `copies` maps each copied node to its copy. A node that is a key of `copies` is not
 * copied again. */
CleaveResult *cleave_fixed_copy (CleaveGraph *graph, const CleaveResult *value, GHashTable *copies);
