/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* Pipeline parallelism: each rank gets a run of consecutive nodes, so that several runs can be
 * under way at once. */

/* Returns ranks, by node id: each rank gets one segment of `order`, a topological order, one after
 * the other.  Minimizes the longest time that any rank computes or sends.  Free with g_free(). */
guint *cleave_rank_segments_find (const CleaveGraph *graph,
                                  const GPtrArray *order,
                                  const CleaveNetwork *network);
