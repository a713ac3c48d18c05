/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/runtime/plan/arena-fill.h"
#include "path.h"

#include <cleave/cleave-program.h>

/* Measured plans. The search estimates plans (path.h) and then measures the promising ones. A
 * measurement splits a copy of the graph and plans its memory, as a program of the split graph
 * would. Placing the buffers in the arena takes half of the time of a measurement. Therefore,
 * cleave_fit_measurement_new() does not place the buffers of a plan for one thread. Before
 * cleave_fit_measurement_place() places the buffers, the bytes that are live at the peak are a
 * lower bound of the arena. If this bound shows that another plan is no worse, frontier.c never
 * places the buffers. search.c chooses the paths to measure, and frontier.c chooses among the
 * measured plans. */

/* A segment of a plan. The segment stores names of nodes, so copies of the graph can be split too.
 * Reference-counted. */
typedef struct
{
  char **nodes, **ends; /* names of the nodes in the segment, and of its end nodes (the last end
                           node first); NULL ends each list */
  GArray *dims;         /* guint, indexed as `ends`: the dimension that is cut into strips */
  /* guint, indexed as `ends`: the dimension that is cut into tiles; not used without tiles */
  GArray *columns;
  CleaveFitCandidate candidate;
  gboolean is_even; /* strips have one size, except for the last strip */
} CleaveFitPart;

/* Returns a segment without nodes. */
CleaveFitPart *cleave_fit_part_new (void);
/* Returns the segment that a candidate describes. */
CleaveFitPart *cleave_fit_part_new_of (const CleaveFitCandidates *candidates,
                                       const CleaveFitCandidate *segment);
/* Returns an empty array that owns its elements (CleaveFitPart). */
GPtrArray *cleave_fit_parts_new (void);

/* A measured plan. */
typedef struct
{
  const CleaveGraph *graph; /* the graph that the plan splits; NULL once the buffers are placed */
  GPtrArray *parts;         /* CleaveFitPart: segments that the plan splits */
  CleaveEstimate estimate;  /* until the buffers are placed, `arena_bytes` is a lower bound */
  /* CleaveArenaSpan: lifetimes of the buffers, for placing them later; NULL: the buffers were
   * placed when the plan was measured */
  GArray *spans;
  gboolean is_placed; /* the buffers are placed, so `arena_bytes` is exact */
  /* largest arena, in bytes, for which the measurement is valid. The measurement assumes that a
   * program makes laps: a result that strips compute overlays a dying value (lib/memory/laps.c). If
   * the arena of the placed buffers is larger than `most_bytes`, a program may need less memory
   * without laps. In this case, cleave_fit_measurement_place() measures the plan again. The new
   * measurement is made with or without laps, as a program would be */
  gint64 most_bytes;
  gint64 peak_without_overlays; /* largest number of live bytes, if no result overlaid a dying
                                   operand */
  gint64 macs;                  /* MACs of the split graph */
  guint n_nodes;
  char *peak;                         /* text: the largest values that are live at the peak */
  CleaveFitMeasuredBytes *part_bytes; /* indexed as `parts`: measured bytes of each segment */
  CleaveFitPath *path;                /* the estimated plan that was measured, or NULL */
} CleaveFitMeasurement;

void cleave_fit_measurement_free (CleaveFitMeasurement *measured);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveFitMeasurement, cleave_fit_measurement_free)

/* Splits the segments `parts` (CleaveFitPart) in a copy of the graph, and returns the measurement
 * of this copy for `n_threads` threads. `whole` is indexed as `parts`; TRUE: the segment is not
 * split. If `whole` is NULL, all segments are split. With one thread, does not place the buffers;
 * then `graph` must exist until cleave_fit_measurement_place() places the buffers. */
CleaveFitMeasurement *cleave_fit_measurement_new_of (const CleaveGraph *graph,
                                                     const GPtrArray *parts,
                                                     const gboolean *whole,
                                                     guint n_threads);
/* Measures the segments of `path` as cleave_fit_measurement_new_of() does. */
CleaveFitMeasurement *cleave_fit_measurement_new (const CleaveGraph *graph,
                                                  const CleaveFitCandidates *candidates,
                                                  const CleaveFitPath *path,
                                                  guint n_threads);
/* Places the buffers of a plan, if they are not placed yet. `arena_bytes` is then exact, and not
 * smaller than before. Returns `arena_bytes`. */
gint64 cleave_fit_measurement_place (CleaveFitMeasurement *measured);
/* Returns whether a graph has the nodes of the segments `parts`, and whether the end nodes of each
 * segment can be cut along the segment's dimensions. If not, sets the error. */
gboolean cleave_fit_parts_check (const GPtrArray *parts, CleaveGraph *graph, GError **error);
/* Splits the segments `parts` of the graph. The nodes of the segments must be in the order of the
 * graph's list of nodes. Adds the pieces to `report` unless `report` is NULL. If the graph lacks
 * nodes of a segment, returns FALSE and sets the error. The graph is then unchanged. */
gboolean cleave_fit_parts_apply (const GPtrArray *parts,
                                 CleaveGraph *graph,
                                 CleaveSplitReport *report,
                                 GError **error);
