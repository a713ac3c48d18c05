/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* Pipeline parallelism: each rank gets a segment of consecutive nodes, so that several runs can be
 * in flight at once. place.c compares this placement with its other candidates if more than one run
 * is in flight. */

/* Returns the rank of each node, indexed by node id. Each rank gets one segment of `order`, a
 * topological order; the segments follow each other. Minimizes the longest time that any rank
 * computes or sends. Free the result with g_free(). */
guint *cleave_rank_segments_find (const CleaveGraph *graph,
                                  const GPtrArray *order,
                                  const CleaveNetwork *network);
