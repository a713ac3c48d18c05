/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Corrects the estimates of segment candidates with measurements. */

#include "candidates.h"

/* Two candidates with the same end are similar if n / SIMILAR is at least the distance between
 * their begins. Here, n is the number of steps of the shorter candidate. */
#define SIMILAR 4

/* Returns whether two candidates split nearly the same steps in the same way. The numbers of strips
 * and columns may differ. */
static gboolean
is_similar (const CleaveFitCandidate *a, const CleaveFitCandidate *b)
{
  const guint n = MIN (a->end - a->begin, b->end - b->begin);
  const guint distance = MAX (a->begin, b->begin) - MIN (a->begin, b->begin);

  return a->end == b->end && SIMILAR * distance <= n && a->cut == b->cut &&
         a->column_cut == b->column_cut && a->halo == b->halo && a->in_bands == b->in_bands &&
         a->cuts_weights == b->cuts_weights;
}

/* Returns whether two candidates have the same begin, the same tiles and the same estimate. The
 * ends may differ: one candidate may contain an element-wise node after the last node of the other
 * candidate. */
static gboolean
has_same_tiles (const CleaveFitCandidate *a, const CleaveFitCandidate *b)
{
  return a->begin == b->begin && a->n_strips == b->n_strips && a->n_columns == b->n_columns &&
         a->cut == b->cut && a->halo == b->halo && a->in_bands == b->in_bands &&
         a->estimate == b->estimate;
}

static double
count_tiles (const CleaveFitCandidate *candidate)
{
  return (double) candidate->n_strips * candidate->n_columns;
}

/* Raises the shift of an overlay (CleaveFitOverlay) so that the overlay saves at most `n_saved`
 * bytes. The larger the shift, the larger the buffer that the operand and the result share. */
static void
limit_saved (CleaveFitOverlay *overlay, gint64 n_saved)
{
  overlay->shift = MAX (overlay->shift, overlay->result - MAX (n_saved, 0));
}

void
cleave_fit_candidates_calibrate (CleaveFitCandidates *candidates,
                                 const CleaveFitCandidate *measured,
                                 const CleaveFitMeasuredBytes *bytes)
{
  const gint64 n_bytes = bytes->apart;
  const double factor = (double) n_bytes / (double) MAX (measured->estimate, 1);
  const guint last = MIN (measured->end + 2, candidates->steps->n_steps + 1);

  for (guint i = candidates->first[measured->end - 1]; i < candidates->first[last]; i++)
    {
      CleaveFitCandidate *candidate =
          &g_array_index (candidates->candidates, CleaveFitCandidate, i);

      if (has_same_tiles (candidate, measured))
        {
          candidate->n_bytes = candidate->is_measured ? MIN (candidate->n_bytes, n_bytes) : n_bytes;
          candidate->is_measured = TRUE;
          if (bytes->at_peak > 0)
            limit_saved (&candidate->overlay, n_bytes - bytes->at_peak);
        }
      else if (!candidate->is_measured && is_similar (candidate, measured))
        {
          /* assume that the error of an estimate is proportional to the number of tiles */
          const double part = MIN (count_tiles (candidate) / count_tiles (measured), 1);

          candidate->n_bytes = MAX (candidate->n_bytes, (gint64) ((1 + (factor - 1) * part) *
                                                                  (double) candidate->estimate));
        }
      candidates->least_bytes[i] = cleave_fit_candidate_get_least (candidate);
    }
}

void
cleave_fit_candidates_reset (CleaveFitCandidates *candidates)
{
  for (guint i = 0; i < candidates->candidates->len; i++)
    {
      CleaveFitCandidate *candidate =
          &g_array_index (candidates->candidates, CleaveFitCandidate, i);

      candidate->n_bytes = candidate->estimate;
      candidate->overlay.shift = candidate->overlay.estimated_shift;
      candidate->is_measured = FALSE;
      candidates->least_bytes[i] = cleave_fit_candidate_get_least (candidate);
    }
}
