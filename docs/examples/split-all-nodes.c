/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Splits every node with at least nine rows into nine pieces, and reports why each other node stays
 * whole. A clean-up then lets pieces read each other directly. */

#include "small-graph.h"

#include <stdio.h>

int
main (void)
{
  const gint64 nine = 9;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = small_graph (&error);
  g_autoptr (CleaveTiling) tiling = cleave_tiling_by_num_chunks ("2", &nine, 1);
  g_autoptr (CleaveSplitReport) report = NULL;

  if (graph != NULL)
    report = cleave_split_all_nodes (graph, tiling, NULL, &error);
  if (report == NULL || !cleave_clean_up (graph, NULL, &error))
    {
      fprintf (stderr, "%s\n", error->message);
      return 1;
    }
  printf ("%u nodes split\n", cleave_split_report_get_n_split (report));
  for (guint i = 0; i < cleave_split_report_get_n_not_split (report); i++)
    {
      const CleaveUnsplitNode *node = cleave_split_report_get_not_split (report, i);

      printf ("%s stays whole: %s: %s\n", node->name, cleave_not_split_get_name (node->reason),
              node->message);
    }
  return cleave_split_report_get_n_not_split (report) == 1 ? 0 : 1;
}
