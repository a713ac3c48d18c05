/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Splits by a limit instead of a tiling: the search finds the fewest pieces of at most 3 KiB. A
 * predicate sees each plan and may refuse it. */

#include "small-graph.h"

#include <stdio.h>

/* Accepts a plan if its first piece has all 8 columns. */
static gboolean
keeps_rows (const CleavePlan *plan, gpointer data, GString *why)
{
  const CleaveRange *range = cleave_plan_get_range (plan, 0);

  if (range->dim[3].end - range->dim[3].begin == 8)
    return TRUE;
  g_string_append (why, "rows stay whole");
  return FALSE;
}

int
main (void)
{
  CleaveConstraint limit = { .max_memory = 3 * 1024, .predicate = keeps_rows };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = small_graph (&error);
  g_autoptr (CleaveSplitReport) report = NULL;

  if (graph != NULL)
    report = cleave_split_node (cleave_graph_find_node (graph, "pool"), NULL, &limit, &error);
  if (report == NULL || cleave_split_report_get_n_split (report) == 0)
    {
      fprintf (stderr, "%s\n", error != NULL ? error->message : "no split meets the limit");
      return 1;
    }
  printf ("%u pieces\n", cleave_split_report_get_split (report, 0)->n_pieces);
  return 0;
}
