/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-split.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_FIT_PLAN (cleave_fit_plan_get_gtype ())

/* Splits a whole graph so that its activations fit into a number of bytes, at the least cost. */

/**
 * CleaveFitPlan:
 *
 * What to split in a graph so that it needs less memory, and what that costs.
 */
typedef struct _CleaveFitPlan CleaveFitPlan;

/**
 * CleaveFitFunc:
 * @part: how much of the search is done, from 0 to 1
 * @data: (closure): the data of the options
 *
 * Reports the progress of a search.
 */
typedef void (*CleaveFitFunc) (double part, gpointer data);

/**
 * CleaveFitOptions:
 * @max_memory: bytes of the arena; 0: as few as possible
 * @max_added_macs: MACs that halos and copies may add, as a fraction of the MACs before: 0.1 is
 * 10 %; 0: no limit, %CLEAVE_NOTHING_ADDED: none
 * @max_added_latency: time that the split may add, as a fraction of the estimated time before; 0:
 * no limit, %CLEAVE_NOTHING_ADDED: none
 * @n_threads: number of threads that run the graph; 0 stands for 1
 * @inputs_apart: do not count the inputs of the graph, which lie in memory of their own
 * @even_strips: cut segments into strips of one size, but for the last, and none into tiles, so
 * that strips repeat: see [func@Cleave.onnx_set_loops]
 * @cancellable: (nullable): ends the search with %G_IO_ERROR_CANCELLED
 * @watch: (nullable): told how far the search is
 * @watch_data: given to @watch
 *
 * What a graph is to fit into.  Zero is no limit.
 */
typedef struct
{
  gint64 max_memory;
  double max_added_macs;
  double max_added_latency;
  guint n_threads;
  gboolean inputs_apart;
  gboolean even_strips;
  GCancellable *cancellable;
  CleaveFitFunc watch;
  gpointer watch_data;
} CleaveFitOptions;

/**
 * CleaveFitSegment:
 * @n_nodes: number of nodes
 * @nodes: (array length=n_nodes): their names
 * @n_ends: number of nodes that strips end with
 * @ends: (array length=n_ends): their names
 * @dims: (array length=n_ends): the dimension of result 0 of each that is cut
 * @column_dims: (array length=n_ends): likewise, that cuts strips into tiles, if they are cut
 * @n_strips: number of strips
 * @n_columns: number of tiles that each strip is cut into; 1: it is not cut
 * @halo: what becomes of the overlap of strips
 * @column_halo: likewise of tiles side by side; where that is another policy, the tiles of one
 * column follow each other from the first strip to the last
 * @n_bytes: bytes alive while it runs, as the search estimates them
 * @added_macs: MACs that the halo adds, as the search estimates them
 *
 * Nodes that are done together, strip by strip.
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
 * @arena_before: bytes of the arena of the graph as it is
 * @arena_after: bytes of the arena once the plan is applied
 * @macs_before: multiply-accumulates of the graph as it is
 * @macs_after: multiply-accumulates once the plan is applied
 * @nodes_before: nodes of the graph as it is
 * @nodes_after: nodes once the plan is applied
 * @latency_before: estimated nanoseconds of one thread as it is
 * @latency_after: estimated nanoseconds of one thread once the plan is applied
 *
 * What a plan comes to.  All but the latency is measured on a copy of the graph that is split.
 */
typedef struct
{
  gint64 arena_before, arena_after;
  gint64 macs_before, macs_after;
  guint nodes_before, nodes_after;
  double latency_before, latency_after;
} CleaveFitTotals;

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
CLEAVE_API CleaveFitPlan *cleave_fit_plan_new_without (const CleaveFitPlan *plan,
                                                       const CleaveGraph *graph,
                                                       guint n_segments,
                                                       const guint *segments,
                                                       GError **error);
CLEAVE_API CleaveFitPlan *cleave_fit_plan_ref (CleaveFitPlan *plan);
CLEAVE_API void cleave_fit_plan_unref (CleaveFitPlan *plan);
CLEAVE_API guint cleave_fit_plan_get_n_segments (const CleaveFitPlan *plan);
CLEAVE_API const CleaveFitSegment *cleave_fit_plan_get_segment (const CleaveFitPlan *plan,
                                                                guint index);
CLEAVE_API const CleaveFitTotals *cleave_fit_plan_get_totals (const CleaveFitPlan *plan);
CLEAVE_API const char *cleave_fit_plan_get_peak (const CleaveFitPlan *plan);
CLEAVE_API CleaveSplitReport *
cleave_fit_plan_apply (const CleaveFitPlan *plan, CleaveGraph *graph, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveFitPlan, cleave_fit_plan_unref)

G_END_DECLS
