/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fit-rewrite.h"

#include "fit-order.h"
#include "fit-reads.h"

gboolean
cleave_fit_rewrite_apply (const CleaveFitRewrite *rewrite,
                          CleaveGraph *graph,
                          CleaveSplitReport *report,
                          GError **error)
{
  if (rewrite->parted > 0)
    cleave_fit_reads_cut (graph, rewrite->parted, report);
  if ((rewrite->late != NULL && !cleave_fit_copies_apply (rewrite->late, graph, error)) ||
      (rewrite->copies != NULL && !cleave_fit_copies_apply (rewrite->copies, graph, error)))
    return FALSE;
  if (rewrite->copies == NULL)
    cleave_fit_list_as_run (graph);
  graph->keeps_order = TRUE;
  return TRUE;
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
