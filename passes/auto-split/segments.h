/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "for-threads.h"
#include "strips.h"

/* A segment is a part of a graph whose values are large, between values that are small.
 *
 *   small ──► large ──► large ──► small        cut at its end into strips that carry their halo,
 *    a                               b         so that of each large value only a few rows live
 *
 * Strips follow each other layer by layer: several threads work at as many strips, each a layer or
 * so behind the one before it. */

/* Values below this stay in the caches anyway. */
#define CLEAVE_STAGES_MIN_PEAK (G_GINT64_CONSTANT (4) << 20)

/* The segments whose cutting makes memory less with so many threads, each with its strips chosen;
 * nothing is changed.  `peak` is what is to be halved.  Where a segment that all goes through does
 * not do it, `solved` is FALSE; what is large in one that no strips help makes segments of its own
 * if `cones` says so. NULL if the graph has a cycle. */
GPtrArray *cleave_segments_find (CleaveGraph *graph,
                                 gint64 peak,
                                 const CleaveThreads *threads,
                                 gboolean cones,
                                 gboolean *solved,
                                 GError **error);
