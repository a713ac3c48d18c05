/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fit-rewrite.h"

#include "fit-reads.h"

static gboolean
apply_copies (const GPtrArray *copies, CleaveGraph *graph, GError **error)
{
  return copies == NULL || cleave_fit_copies_apply (copies, graph, error);
}

gboolean
cleave_fit_rewrite_apply (const CleaveFitRewrite *rewrite,
                          CleaveGraph *graph,
                          CleaveSplitReport *report,
                          GError **error)
{
  if (rewrite->parted > 0)
    cleave_fit_reads_cut (graph, rewrite->parted, report);
  return apply_copies (rewrite->late, graph, error) && apply_copies (rewrite->copies, graph, error);
}

gboolean
cleave_fit_rewrite_is_empty (const CleaveFitRewrite *rewrite)
{
  return rewrite->parted == 0 && rewrite->late == NULL && rewrite->copies == NULL;
}

CleaveFitRewrite
cleave_fit_rewrite_copy (const CleaveFitRewrite *rewrite)
{
  CleaveFitRewrite copy = *rewrite;

  if (copy.late != NULL)
    g_ptr_array_ref (copy.late);
  if (copy.copies != NULL)
    g_ptr_array_ref (copy.copies);
  return copy;
}

void
cleave_fit_rewrite_clear (CleaveFitRewrite *rewrite)
{
  g_clear_pointer (&rewrite->late, g_ptr_array_unref);
  g_clear_pointer (&rewrite->copies, g_ptr_array_unref);
}
