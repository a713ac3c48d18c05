/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "graph-private.h"

/* Calls `visit` for each node that a fixed node rests on and that is not seen yet, and for the node
 * itself: those that are read before those that read them.  FALSE: a call said so, and none came
 * after it. */
typedef gboolean (*CleaveFixedSeen) (CleaveNode *node, gpointer data);
typedef gboolean (*CleaveFixedVisit) (CleaveNode *node, gpointer data);
gboolean cleave_fixed_walk (CleaveNode *node,
                            CleaveFixedSeen is_seen,
                            CleaveFixedVisit visit,
                            gpointer data);

/* The same value in another graph: the constants that it comes of, and the nodes between.  `copies`
 * has those that are there, by the node that each is a copy of. */
CleaveResult *cleave_fixed_copy (CleaveGraph *graph, const CleaveResult *value, GHashTable *copies);
