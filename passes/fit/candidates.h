/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "walk.h"

#include <gio/gio.h>

/* The segment candidates of a graph: every run of steps and every tiling of it that brings the
 * memory down and that no other tiling of the same steps dominates.  path.h joins candidates to
 * plans. */

/* Reports the part of the work that is done, from 0 to 1. */
typedef void (*CleaveFitProgress) (double part, gpointer data);

typedef struct
{
  gboolean is_even;    /* cut strips of equal size, except for the last one, and no tiles */
  gboolean has_tiles;  /* cut strips into tiles as well; with is_even there are none */
  gboolean has_chunks; /* with is_even: also segments whose pieces read different weights */
  guint n_threads;     /* number of threads that look for candidates; 0: one for each processor */
  GCancellable *cancellable;
  CleaveFitProgress report;
  gpointer data;
} CleaveFitWatch;

typedef struct
{
  const CleaveFitSteps *steps;
  GArray *candidates; /* CleaveFitCandidate, by the step where they end */
  guint *first;       /* index of the first candidate of each end; n_steps + 2 entries */
  gboolean is_even;   /* strips have one size, except for the last strip */
  guint64 n_visits;   /* number of nodes that all walks have visited */
} CleaveFitCandidates;

/* Returns FALSE and sets the error if it was cancelled; the candidates are then incomplete. */
gboolean cleave_fit_candidates_init (CleaveFitCandidates *candidates,
                                     const CleaveFitSteps *steps,
                                     const CleaveFitWatch *watch,
                                     GError **error);
void cleave_fit_candidates_clear (CleaveFitCandidates *candidates);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveFitCandidates, cleave_fit_candidates_clear)

/* Corrects the bytes of a candidate that was measured, and raises in proportion the bytes of
 * candidates that split nearly the same steps in the same way. Planned and measured bytes differ
 * where the planner keeps windows of several strips alive, where joins share memory, and by gaps in
 * the arena. */
void cleave_fit_candidates_calibrate (CleaveFitCandidates *candidates,
                                      const CleaveFitCandidate *measured,
                                      gint64 n_bytes);

/* Restores all estimates. */
void cleave_fit_candidates_reset (CleaveFitCandidates *candidates);

/* Returns the candidates (CleaveFitCandidate) of one end that no other with the same begin
 * dominates in bytes, bytes with an overlay, time and MACs. They are sorted by begin, then by
 * bytes. */
GArray *cleave_fit_candidates_select (const GArray *found);

static inline const CleaveFitCandidate *
cleave_fit_candidate (const CleaveFitCandidates *candidates, guint index)
{
  return &g_array_index (candidates->candidates, CleaveFitCandidate, index);
}
