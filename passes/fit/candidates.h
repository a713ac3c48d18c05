/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "walk.h"

#include <gio/gio.h>

/* Finds the segment candidates of a graph: consecutive steps with a tiling that reduces the memory.
 * Keeps the candidates that no other tiling of the same steps dominates. search.c finds the
 * candidates of each graph variant, and path.h combines them to plans. */

/* The least number of strips of a segment if the option `is_even` is set and all pieces read the
 * same weights. The strips are exported as a Loop, which needs at least three consecutive equal
 * strips. The first and the last strips often differ from the strips between them. */
#define CLEAVE_FIT_MIN_EVEN_STRIPS 6

/* Reports progress: `part` is the fraction of the work that is done, from 0 to 1. */
typedef void (*CleaveFitProgress) (double part, gpointer data);

typedef struct
{
  gboolean is_even;    /* cut strips of equal size, except for the last strip */
  gint64 max_bytes;    /* leave out segments that need at least this many bytes; 0: no limit */
  gint64 tile_bytes;   /* leave out segments with tiles that need at least this many bytes; 0: leave
                          out all segments with tiles. If `is_even`, all segments with tiles are
                          left out */
  gboolean has_chunks; /* if `is_even`: also find segments whose pieces read different weights */
  guint n_threads; /* threads of the search; 0: chosen from the numbers of processors and steps */
  GCancellable *cancellable;
  CleaveFitProgress report;
  gpointer data;
} CleaveFitWatch;

typedef struct
{
  const CleaveFitSteps *steps;
  GArray *candidates; /* CleaveFitCandidate: all candidates, sorted by `end` */
  /* indexed by the `end` of a candidate: index of the first candidate with this end. The array has
   * n_steps + 2 entries. */
  guint *first;
  /* indexed as `candidates`: bytes that are live while the candidate runs with its overlay. The
   * numbers are in a separate array, since the search for paths reads the number of every
   * candidate. */
  gint64 *least_bytes;
  gboolean is_even; /* strips have one size, except for the last strip */
  guint64 n_visits; /* number of visits to nodes, summed over all walks */
} CleaveFitCandidates;

/* Finds the candidates of a graph that have strips, but no tiles. Returns FALSE and sets the error
 * if the search was cancelled; the candidates are then incomplete. */
gboolean cleave_fit_candidates_init (CleaveFitCandidates *candidates,
                                     const CleaveFitSteps *steps,
                                     const CleaveFitWatch *watch,
                                     GError **error);
/* Adds candidates with tiles to the candidates that cleave_fit_candidates_init() found, and removes
 * dominated candidates. Does nothing if the graph has more than MAX_STEPS_OF_TILES steps
 * (candidates.c), if `is_even` is set, or if `tile_bytes` is 0. Returns FALSE and sets the error if
 * the search was cancelled. */
gboolean cleave_fit_candidates_add_tiles (CleaveFitCandidates *candidates,
                                          const CleaveFitWatch *watch,
                                          GError **error);
void cleave_fit_candidates_clear (CleaveFitCandidates *candidates);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveFitCandidates, cleave_fit_candidates_clear)

/* The measured peak in bytes while a segment of a plan runs. */
typedef struct
{
  gint64 apart; /* without overlays; 0: not known */
  /* with the overlays that the arena planner made; 0: not known. This number is known only if the
   * whole plan has its peak in this segment. In other segments, the planner may have left out
   * overlays that save nothing */
  gint64 at_peak;
} CleaveFitMeasuredBytes;

/* Sets the bytes of the candidate `measured` to the measured bytes. If `bytes->at_peak` is known,
 * also limits the bytes that the candidate's overlay saves. Raises the bytes of similar candidates,
 * which split nearly the same steps in the same way. The raise is in proportion to the error of the
 * estimate of `measured`. The estimate can be too low: the planner keeps windows of several strips
 * alive, joins share memory, and the arena has gaps. The planner may also make no overlay, or
 * another overlay. */
void cleave_fit_candidates_calibrate (CleaveFitCandidates *candidates,
                                      const CleaveFitCandidate *measured,
                                      const CleaveFitMeasuredBytes *bytes);

/* Undoes all calls of cleave_fit_candidates_calibrate(): sets the bytes and the overlay of each
 * candidate to the estimates. */
void cleave_fit_candidates_reset (CleaveFitCandidates *candidates);

/* Returns the candidates in `found` (CleaveFitCandidate, all with one end) that no other candidate
 * with the same begin dominates. Compares bytes, bytes with an overlay, time and MACs. Sorts the
 * result by begin, then by bytes. */
GArray *cleave_fit_candidates_select (const GArray *found);

static inline const CleaveFitCandidate *
cleave_fit_candidate (const CleaveFitCandidates *candidates, guint index)
{
  return &g_array_index (candidates->candidates, CleaveFitCandidate, index);
}
