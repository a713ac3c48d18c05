/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* Ranks, by id, so that each has a segment of the order, one behind the other, and the longest that
 * one of them computes or sends is least.  `order` is topological. */
guint *cleave_rank_segments_find (const CleaveGraph *graph,
                                  const GPtrArray *order,
                                  const CleaveNetwork *network);
