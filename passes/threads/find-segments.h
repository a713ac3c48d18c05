/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../segments/strips.h"
#include "for-threads.h"

/* Finds segments: consecutive nodes with large values, between small values:
 *
 *     a (small) ──► large ──► large ──► b (small)
 *
 * The end of a segment is cut into strips that carry their halo. Only a few rows of each large
 * value are then live at a time.
 *
 * cleave_split_for() cuts the segments into strips (strips.h), after the other nodes that are worth
 * a cut. In each layer, the strips run in order, since a strip reads rows that the previous strip
 * carries. Several threads can work at the same time: each thread computes one strip, about one
 * layer behind the thread with the previous strip. */

/* Segments are found only if the peak of the unsplit graph has at least this many bytes. The values
 * of a graph with a smaller peak stay in the caches anyway. */
#define CLEAVE_STAGES_MIN_PEAK (G_GINT64_CONSTANT (4) << 20)

/* Returns the segments (CleaveSegment) that need less memory in strips, each with its strips chosen
 * for the given threads. Does not change the graph. `peak` is the peak of the unsplit graph in
 * bytes; the goal is half of `peak`. First tries segments that begin and end at nodes through which
 * all data passes. Sets `*solved` to FALSE if these segments do not reach the goal. If strips do
 * not help such a segment and `backward_slices` is TRUE, also tries smaller segments inside this
 * segment: the nodes that compute a small result from large values. Returns NULL and sets the error
 * if the graph has a cycle. */
GPtrArray *cleave_segments_find (CleaveGraph *graph,
                                 gint64 peak,
                                 const CleaveThreads *threads,
                                 gboolean backward_slices,
                                 gboolean *solved,
                                 GError **error);
