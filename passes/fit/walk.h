/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../segments/strips.h"
#include "axes.h"

/* Estimates the memory and the cost of segments. A walk begins at a given end with a given tiling,
 * and visits the steps backwards. A segment may begin at each step that the walk reaches, so one
 * walk estimates all segments with this end and tiling. required-regions.h finds the ranges that
 * pieces read and compute, and piece-bytes.h finds the bytes that pieces take. candidates.c starts
 * a walk for each end and tiling, and keeps the best segments. */

/* An overlay of a result of a segment on an operand that dies while the segment runs. Both are in
 * one buffer:
 *
 *     |  shift  |      operand      |
 *     |      result      |
 *
 * While the segment runs, the operand and the result together take the bytes from the begin of the
 * result to the larger of their two ends. */
typedef struct
{
  gint64 operand, result; /* size of the operand and size of the result, in bytes. `result` is 0 if
                             there is no overlay */
  /* bytes from the begin of the result to the begin of the operand, as in the drawing; estimated or
   * measured. The shift is so large that a strip overwrites only rows of the operand that no later
   * strip reads */
  gint64 shift;
  gint64 estimated_shift; /* the estimated shift; a measurement changes only `shift` */
  guint last; /* last step that reads the result, or that reads a later value which overwrites the
                 result */
} CleaveFitOverlay;

/* Returns the bytes that an overlay saves. Returns 0 if there is no overlay. */
static inline gint64
cleave_fit_overlay_get_saved (const CleaveFitOverlay *overlay)
{
  return overlay->operand + overlay->result -
         MAX (overlay->result, overlay->shift + overlay->operand);
}

/* A segment candidate: the steps from `begin` to before `end`, which run together strip by strip or
 * tile by tile. A measurement changes `n_bytes` and `overlay.shift`, but not the estimates. */
typedef struct
{
  guint begin, end;
  guint n_strips;
  guint n_columns;              /* number of tiles of each strip */
  CleaveFitCut cut, column_cut; /* the cuts into strips and into tiles; `column_cut` is
                                 * CLEAVE_FIT_NONE without tiles */
  CleaveHalo halo;
  gboolean in_bands;     /* all tiles of a column run before the next column */
  gboolean cuts_weights; /* pieces read different parts of some weights */
  gint64 n_bytes;  /* bytes that are live while the segment runs, without overlays; estimated or
                      measured */
  gint64 estimate; /* the estimated bytes; a measurement changes only `n_bytes` */
  gboolean is_measured;
  CleaveFitOverlay overlay;
  double macs; /* MACs that the segment adds */
  double work; /* ns that the segment adds, for MACs, nodes, copied bytes, and weights that strips
                  read again */
} CleaveFitCandidate;

/* Returns the bytes that are live while a segment with its overlay runs. */
static inline gint64
cleave_fit_candidate_get_least (const CleaveFitCandidate *candidate)
{
  return candidate->n_bytes - cleave_fit_overlay_get_saved (&candidate->overlay);
}

/* Memory for walks over one table of steps. Each walk reuses the memory of the walk before. Only
 * one walk may use the memory at a time. */
typedef struct _CleaveFitWalker CleaveFitWalker;

CleaveFitWalker *cleave_fit_walker_new (const CleaveFitSteps *steps);
void cleave_fit_walker_free (CleaveFitWalker *walker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveFitWalker, cleave_fit_walker_free)

/* Returns whether a segment may begin or end before a step. */
gboolean cleave_fit_walker_is_border (const CleaveFitWalker *walker, guint step);

/* Returns whether strips of the last walk overlap in a wide result (split/wide.h). Only then does
 * CLEAVE_HALO_CARRY_NARROW differ from CLEAVE_HALO_CARRY. */
gboolean cleave_fit_walker_overlaps_wide (const CleaveFitWalker *walker);

/* Returns the number of visits to nodes, summed over all walks. */
guint64 cleave_fit_walker_get_n_visits (const CleaveFitWalker *walker);

/* The end and the tiling of the segments that a walk estimates. */
typedef struct
{
  guint end, n_strips, n_columns, max_steps;
  gint64 max_bytes; /* the walk leaves out segments that need at least this number of bytes */
  CleaveFitCut cut, column_cut; /* the cuts into strips and into tiles; `column_cut` is read only
                                 * if n_columns > 1 */
  CleaveHalo halo;
  gboolean in_bands;
} CleaveFitWalk;

/* Appends to `found` a candidate (CleaveFitCandidate) for each segment that takes less memory than
 * its unsplit steps. Segments have at most `max_steps` steps. Returns FALSE if no two strips
 * overlap; all halo policies then give the same candidates. */
gboolean cleave_fit_walker_walk (CleaveFitWalker *walker, const CleaveFitWalk *walk, GArray *found);
