/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Splits a whole graph so that its activations fit into a given number of bytes, at the lowest cost
 * in MACs or time. A CleaveFitPlan lists segments: consecutive nodes that run strip by strip.
 *
 *   cleave_fit_plan_new() searches -> cleave_fit_plan_get_totals() -> cleave_fit_plan_apply() */

#include <cleave/cleave-program.h>
#include <cleave/cleave-split.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_FIT_PLAN (cleave_fit_plan_get_gtype ())

/**
 * CleaveFitPlan:
 *
 * The splits that let a graph run in less memory, and their cost.
 */
typedef struct _CleaveFitPlan CleaveFitPlan;

/**
 * CleaveFitFunc:
 * @part: the fraction of the search that is done, from 0 to 1
 * @data: (closure): the `watch_data` of the options
 *
 * Reports the progress of a search.
 */
typedef void (*CleaveFitFunc) (double part, gpointer data);

/**
 * CleaveFitOptions:
 * @max_memory: largest size of the arena, in bytes; 0: as small as possible
 * @max_added_macs: MACs that halos and recomputed values may add, as a fraction of the MACs before
 * the split: 0.1 is 10 %; 0: no limit, %CLEAVE_NOTHING_ADDED: no added MACs
 * @max_added_latency: time that the split may add, as a fraction of the estimated time before the
 * split; 0: no limit, %CLEAVE_NOTHING_ADDED: no added time
 * @n_threads: number of threads that run the graph; 0 stands for 1
 * @exclude_inputs: do not include the inputs of the graph in the arena, because the caller stores
 * them in other memory. The search then takes about twice as long
 * @even_strips: cut each segment into strips of equal size, except for the last strip, and cut no
 * strip into tiles. Equal strips can be written as a `Loop`: see [func@Cleave.onnx_set_loops]
 * @cancellable: (nullable): once it is cancelled, the search ends with %G_IO_ERROR_CANCELLED
 * @watch: (nullable): called with the progress of the search
 * @watch_data: passed to @watch
 *
 * The limits of a fit. A struct of zeros asks for the smallest arena, at any cost.
 */
typedef struct
{
  gint64 max_memory;
  double max_added_macs;
  double max_added_latency;
  guint n_threads;
  gboolean exclude_inputs;
  gboolean even_strips;
  GCancellable *cancellable;
  CleaveFitFunc watch;
  gpointer watch_data;
} CleaveFitOptions;

/**
 * CleaveFitSegment:
 * @n_nodes: number of nodes
 * @nodes: (array length=n_nodes): names of the nodes
 * @n_ends: number of end nodes, the last nodes that a strip computes
 * @ends: (array length=n_ends): names of the end nodes
 * @dims: (array length=n_ends): for each end node, the dimension of result 0 that is cut into
 * strips
 * @column_dims: (array length=n_ends): for each end node, the dimension of result 0 that is cut
 * into tiles, if @n_columns is more than 1
 * @n_strips: number of strips
 * @n_columns: number of tiles that each strip is cut into; 1: strips are not cut
 * @halo: halo policy between strips
 * @column_halo: halo policy between tiles of the same strip. If @column_halo differs from @halo,
 * the tiles run column by column. All tiles of a column, from the first strip to the last strip,
 * run before the tiles of the next column
 * @n_bytes: estimated number of live bytes while the segment runs
 * @added_macs: estimated number of MACs that halos add
 *
 * Consecutive nodes that run strip by strip.
 */
typedef struct
{
  guint n_nodes;
  const char *const *nodes;
  guint n_ends;
  const char *const *ends;
  const guint *dims;
  const guint *column_dims;
  guint n_strips, n_columns;
  CleaveHalo halo, column_halo;
  gint64 n_bytes;
  gint64 added_macs;
} CleaveFitSegment;

/**
 * CleaveFitTotals:
 * @arena_before: bytes of the arena of the unsplit graph
 * @arena_after: bytes of the arena of the split graph
 * @macs_before: multiply-accumulates of the unsplit graph
 * @macs_after: multiply-accumulates of the split graph
 * @nodes_before: nodes of the unsplit graph
 * @nodes_after: nodes of the split graph
 * @latency_before: estimated nanoseconds of a run of the unsplit graph on one thread
 * @latency_after: estimated nanoseconds of a run of the split graph on one thread
 *
 * The totals of a plan. All totals except the latency are measured on a split copy of the graph.
 */
typedef struct
{
  gint64 arena_before, arena_after;
  gint64 macs_before, macs_after;
  guint nodes_before, nodes_after;
  double latency_before, latency_after;
} CleaveFitTotals;

/**
 * CleaveFitLoops:
 * @n_loops: number of segments that become a `Loop`
 * @n_pieces: number of segments that are split without a `Loop`, since a `Loop` is estimated to
 * need more memory
 * @n_whole: number of segments that are not split
 * @bytes_before: estimated bytes of memory that ONNX Runtime uses for the values of the unsplit
 * graph
 * @bytes_after: estimated bytes of memory that ONNX Runtime uses for the values of the split graph
 * @bytes_refused: only if no segment is split: the estimated bytes of the best split, which saves
 * too little; 0: the search found no split
 *
 * Results of a plan for ONNX Runtime, in addition to its [struct@Cleave.FitTotals].
 */
typedef struct
{
  guint n_loops, n_pieces, n_whole;
  gint64 bytes_before, bytes_after, bytes_refused;
} CleaveFitLoops;

CLEAVE_API GType cleave_fit_plan_get_gtype (void);
CLEAVE_API GType cleave_fit_options_get_gtype (void);
CLEAVE_API CleaveFitPlan *
cleave_fit_plan_new (const CleaveGraph *graph, const CleaveFitOptions *options, GError **error);
CLEAVE_API CleaveFitPlan *cleave_fit_plan_new_watched (const CleaveGraph *graph,
                                                       const CleaveFitOptions *options,
                                                       GCancellable *cancellable,
                                                       CleaveFitFunc watch,
                                                       gpointer watch_data,
                                                       GError **error);
CLEAVE_API GPtrArray *cleave_fit_plan_new_frontier (const CleaveGraph *graph,
                                                    const CleaveFitOptions *options,
                                                    GError **error);
CLEAVE_API GPtrArray *cleave_fit_plan_new_frontier_watched (const CleaveGraph *graph,
                                                            const CleaveFitOptions *options,
                                                            GCancellable *cancellable,
                                                            CleaveFitFunc watch,
                                                            gpointer watch_data,
                                                            GError **error);
CLEAVE_API CleaveFitPlan *cleave_fit_plan_new_for_ort (const CleaveGraph *graph,
                                                       const CleaveFitOptions *options,
                                                       GError **error);
CLEAVE_API GPtrArray *cleave_fit_plan_new_frontier_for_ort (const CleaveGraph *graph,
                                                            const CleaveFitOptions *options,
                                                            GError **error);
CLEAVE_API CleaveFitPlan *cleave_fit_plan_new_for_ort_watched (const CleaveGraph *graph,
                                                               const CleaveFitOptions *options,
                                                               GCancellable *cancellable,
                                                               CleaveFitFunc watch,
                                                               gpointer watch_data,
                                                               GError **error);
CLEAVE_API CleaveFitPlan *cleave_fit_plan_new_without (const CleaveFitPlan *plan,
                                                       const CleaveGraph *graph,
                                                       guint n_segments,
                                                       const guint *segments,
                                                       GError **error);
CLEAVE_API CleaveFitPlan *
cleave_fit_plan_new_from_data (const CleaveGraph *graph, GVariant *data, GError **error);
CLEAVE_API GVariant *cleave_fit_plan_to_data (const CleaveFitPlan *plan);
CLEAVE_API CleaveFitPlan *cleave_fit_plan_ref (CleaveFitPlan *plan);
CLEAVE_API void cleave_fit_plan_unref (CleaveFitPlan *plan);
CLEAVE_API guint cleave_fit_plan_get_n_segments (const CleaveFitPlan *plan);
CLEAVE_API const CleaveFitSegment *cleave_fit_plan_get_segment (const CleaveFitPlan *plan,
                                                                guint index);
CLEAVE_API const CleaveFitTotals *cleave_fit_plan_get_totals (const CleaveFitPlan *plan);
CLEAVE_API const char *cleave_fit_plan_get_peak (const CleaveFitPlan *plan);
CLEAVE_API const CleaveFitLoops *cleave_fit_plan_get_loops (const CleaveFitPlan *plan);
CLEAVE_API CleaveMemoryTimeline *
cleave_fit_plan_dup_timeline (const CleaveFitPlan *plan, const CleaveGraph *graph, GError **error);
CLEAVE_API CleaveSplitReport *
cleave_fit_plan_apply (const CleaveFitPlan *plan, CleaveGraph *graph, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveFitPlan, cleave_fit_plan_unref)

G_END_DECLS
