/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Applies the rewrites of a plan to a graph, in the order in which variants.c tries them: splits
 * per reader, copies for late readers, and copies for poolings. */

#include "rewrite.h"

#include "order.h"
#include "split-per-reader.h"

gboolean
cleave_fit_rewrite_apply (const CleaveFitRewrite *rewrite,
                          CleaveGraph *graph,
                          CleaveSplitReport *report,
                          GError **error)
{
  if (rewrite->per_reader_bytes > 0)
    cleave_fit_reads_cut (graph, rewrite->per_reader_bytes, report);
  if ((rewrite->idle != NULL && !cleave_fit_copies_apply (rewrite->idle, graph, error)) ||
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
  return rewrite->per_reader_bytes == 0 && rewrite->idle == NULL && rewrite->copies == NULL;
}

CleaveFitRewrite
cleave_fit_rewrite_copy (const CleaveFitRewrite *rewrite)
{
  CleaveFitRewrite copy = *rewrite;

  if (copy.idle != NULL)
    g_ptr_array_ref (copy.idle);
  if (copy.copies != NULL)
    g_ptr_array_ref (copy.copies);
  return copy;
}

void
cleave_fit_rewrite_clear (CleaveFitRewrite *rewrite)
{
  g_clear_pointer (&rewrite->idle, g_ptr_array_unref);
  g_clear_pointer (&rewrite->copies, g_ptr_array_unref);
}
