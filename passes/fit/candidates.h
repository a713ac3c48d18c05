/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "walk.h"

#include <gio/gio.h>

/* Finds the segment candidates of a graph: runs of steps with a tiling that reduces the memory.
 * Keeps those that no other tiling of the same steps dominates. path.h combines candidates to
 * plans. */

/* The fewest strips of a segment of an even plan, unless it cuts weights.  Its strips are exported
 * as a Loop, which needs three equal strips in a row. */
#define CLEAVE_FIT_MIN_EVEN_STRIPS 6

/* Reports progress: `part` is the fraction of the work that is done, from 0 to 1. */
typedef void (*CleaveFitProgress) (double part, gpointer data);

typedef struct
{
  gboolean is_even;    /* cut strips of equal size, except for the last one */
  gint64 max_bytes;    /* leave out segments that need at least this number of bytes; 0: none */
  gint64 tile_bytes;   /* also cut strips into tiles, for segments that need fewer bytes than this;
                        * 0: no tiles; ignored with is_even */
  gboolean has_chunks; /* with is_even: allow segments whose pieces read different weights */
  guint n_threads;     /* threads that look for candidates; 0: one for each processor */
  GCancellable *cancellable;
  CleaveFitProgress report;
  gpointer data;
} CleaveFitWatch;

typedef struct
{
  const CleaveFitSteps *steps;
  GArray *candidates; /* CleaveFitCandidate, by the step where they end */
  guint *first;       /* by end: index of its first candidate; n_steps + 2 entries */
  gboolean is_even;   /* strips have one size, except for the last strip */
  guint64 n_visits;   /* nodes that all walks have visited */
} CleaveFitCandidates;

/* Finds the candidates. Returns FALSE and sets the error if the search was cancelled. The
 * candidates are then incomplete. */
gboolean cleave_fit_candidates_init (CleaveFitCandidates *candidates,
                                     const CleaveFitSteps *steps,
                                     const CleaveFitWatch *watch,
                                     GError **error);
void cleave_fit_candidates_clear (CleaveFitCandidates *candidates);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveFitCandidates, cleave_fit_candidates_clear)

/* Corrects the bytes of a candidate that was measured. Raises, in proportion, the bytes of
 * candidates that split nearly the same steps in the same way. The estimate can be too low: the
 * planner keeps windows of several strips alive, joins share memory, and the arena has gaps. */
void cleave_fit_candidates_calibrate (CleaveFitCandidates *candidates,
                                      const CleaveFitCandidate *measured,
                                      gint64 n_bytes);

/* Restores all estimates from before the first correction. */
void cleave_fit_candidates_reset (CleaveFitCandidates *candidates);

/* Selects the candidates (CleaveFitCandidate) of one end that no other candidate with the same
 * begin dominates in bytes, bytes with an overlay, time and MACs. Sorts them by begin, then by
 * bytes. */
GArray *cleave_fit_candidates_select (const GArray *found);

static inline const CleaveFitCandidate *
cleave_fit_candidate (const CleaveFitCandidates *candidates, guint index)
{
  return &g_array_index (candidates->candidates, CleaveFitCandidate, index);
}
