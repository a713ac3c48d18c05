/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Splits one node: the pooling, into two halves along its rows. */

#include "small-graph.h"

#include <stdio.h>

int
main (void)
{
  const gint64 two = 2;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = small_graph (&error);
  g_autoptr (CleaveTiling) tiling = cleave_tiling_by_num_chunks ("H", &two, 1);
  g_autoptr (CleaveSplitReport) report = NULL;

  if (graph != NULL)
    report = cleave_split_node (cleave_graph_find_node (graph, "pool"), tiling, NULL, &error);
  if (report == NULL)
    {
      fprintf (stderr, "%s\n", error->message);
      return 1;
    }
  for (guint i = 0; i < cleave_split_report_get_n_split (report); i++)
    {
      const CleaveSplitNode *node = cleave_split_report_get_split (report, i);

      for (guint k = 0; k < node->n_pieces; k++)
        {
          g_autofree char *range = cleave_range_to_string (&node->ranges[k]);

          printf ("%s computes %s of %s\n", node->piece_names[k], range, node->name);
        }
    }
  return 0;
}
