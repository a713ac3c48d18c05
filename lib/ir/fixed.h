/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Walks and copies fixed nodes: those whose results depend on constants alone, see
 * cleave_node_is_fixed(). */

#include "graph-private.h"

/* Calls `visit` for a fixed node and all nodes that it depends on, producers before consumers.
 * Skips nodes for which `is_seen` returns TRUE. Stops and returns FALSE as soon as a call of
 * `visit` returns FALSE. */
typedef gboolean (*CleaveFixedSeen) (CleaveNode *node, gpointer data);
typedef gboolean (*CleaveFixedVisit) (CleaveNode *node, gpointer data);
gboolean cleave_fixed_walk (CleaveNode *node,
                            CleaveFixedSeen is_seen,
                            CleaveFixedVisit visit,
                            gpointer data);

/* Copies a fixed value to another graph, with the constants and nodes that compute it, and returns
 * the copy. `copies` maps each node to its copy; nodes that `copies` has are not copied again. */
CleaveResult *cleave_fixed_copy (CleaveGraph *graph, const CleaveResult *value, GHashTable *copies);
