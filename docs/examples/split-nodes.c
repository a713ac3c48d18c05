/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Splits several nodes in one call, each with a separate tiling. After a mistake in one
 * request, no node is split. */

#include "small-graph.h"

#include <stdio.h>

int
main (void)
{
  const gint64 sizes[] = { 6, -1 }, four = 4;
  const gint64 *const lists[] = { sizes };
  const guint n_sizes[] = { 2 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = small_graph (&error);
  g_autoptr (CleaveTiling) rows = cleave_tiling_by_chunk_sizes ("2", lists, n_sizes, 1);
  g_autoptr (CleaveTiling) channels = cleave_tiling_by_num_chunks ("1", &four, 1);
  g_autoptr (CleaveSplitReport) report = NULL;

  if (graph != NULL)
    {
      const CleaveSplitRequest requests[] = {
        { cleave_graph_find_node (graph, "relu"), rows, NULL },
        { cleave_graph_find_node (graph, "pool"), channels, NULL },
      };

      report = cleave_split_nodes (graph, requests, G_N_ELEMENTS (requests), &error);
    }
  if (report == NULL)
    {
      fprintf (stderr, "%s\n", error->message);
      return 1;
    }
  printf ("%u nodes split\n", cleave_split_report_get_n_split (report));
  return cleave_split_report_get_n_split (report) == 2 ? 0 : 1;
}
