/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fit-axes.h"
#include "strips.h"

/* A result of a segment that lies over an operand which dies meanwhile, in one buffer:
 *
 *     |  shift  |      operand      |
 *     |      result      |
 *
 * The buffer is live from the first byte of the operand to the last read of the result. */
typedef struct
{
  gint64 operand, result; /* bytes; `result` 0: no result lies over an operand */
  gint64 shift;           /* bytes that strips read ahead */
  guint last;             /* step that reads the result last */
} CleaveFitOverlay;

/* Returns the bytes of the buffer of an overlay if the operand's buffer is `extra` bytes larger
 * than the operand. */
static inline gint64
cleave_fit_overlay_get_bytes (const CleaveFitOverlay *overlay, gint64 extra)
{
  return MAX (overlay->result, overlay->shift + overlay->operand + extra);
}

static inline gint64
cleave_fit_overlay_get_saved (const CleaveFitOverlay *overlay)
{
  return overlay->operand + overlay->result - cleave_fit_overlay_get_bytes (overlay, 0);
}

/* A segment candidate: the steps from `begin` to before `end`, done together strip by strip, or
 * tile by tile.  Estimates do not change once they are made. */
typedef struct
{
  guint begin, end;
  guint n_strips;
  guint n_columns;              /* tiles that each strip is cut into */
  CleaveFitCut cut, column_cut; /* `column_cut`: CLEAVE_FIT_NONE without tiles */
  CleaveHalo halo;
  gboolean in_bands; /* tiles below each other come one after the other, those beside them later */
  gboolean cuts_weights; /* pieces read different parts of some weights */
  gint64 n_bytes;        /* live meanwhile, all buffers apart: estimated, or measured */
  gint64 estimate;       /* the same, before any measurement */
  gboolean is_measured;
  CleaveFitOverlay overlay;
  double macs; /* added */
  double work; /* added, in nanoseconds: for MACs, nodes, bytes copied and weights read again */
} CleaveFitCandidate;

typedef struct _CleaveFitWalker CleaveFitWalker;

CleaveFitWalker *cleave_fit_walker_new (const CleaveFitSteps *steps);
void cleave_fit_walker_free (CleaveFitWalker *walker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveFitWalker, cleave_fit_walker_free)

/* Whether a segment may begin or end before a step. */
gboolean cleave_fit_walker_is_border (const CleaveFitWalker *walker, guint step);

/* Whether strips of the last walk keep some of what is much larger than what it is made of. */
gboolean cleave_fit_walker_keeps_wide (const CleaveFitWalker *walker);

/* How many nodes all walks have come by. */
guint64 cleave_fit_walker_get_n_visits (const CleaveFitWalker *walker);

/* What to walk from: all that ends before a step, cut into so many strips. */
typedef struct
{
  guint end, n_strips, n_columns, max_steps;
  CleaveFitCut cut, column_cut;
  CleaveHalo halo;
  gboolean in_bands;
} CleaveFitWalk;

/* Appends a candidate (CleaveFitCandidate) for each begin that brings the memory down.  Returns
 * FALSE if no strip needs elements of another. */
gboolean cleave_fit_walker_walk (CleaveFitWalker *walker, const CleaveFitWalk *walk, GArray *found);
