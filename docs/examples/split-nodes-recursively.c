/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Splits the last nodes of both outputs of a graph in one call. A node that both last nodes need is
 * cut once, into strips that carry their halo. */

#include "small-graph.h"

#include <stdio.h>

/* Adds a second output: an Exp of the first output. */
static gboolean
add_exp (CleaveGraph *graph, GError **error)
{
  CleaveResult *y = cleave_operand_get_result (cleave_graph_get_output (graph, 0));

  y = cleave_graph_add_unary (graph, "Exp", "exp", y, NULL, error);
  return y != NULL && cleave_graph_add_output (graph, "z", y, error);
}

int
main (void)
{
  const gint64 four = 4;
  CleaveRecursion recursion = { .depth = 3, .halo = CLEAVE_HALO_CARRY };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = small_graph (&error);
  g_autoptr (CleaveTiling) tiling = cleave_tiling_by_num_chunks ("2", &four, 1);
  g_autoptr (CleaveSplitReport) report = NULL;

  if (graph != NULL && add_exp (graph, &error))
    {
      const CleaveSplitRequest requests[] = {
        { cleave_graph_find_node (graph, "exp"), tiling, NULL },
        { cleave_graph_find_node (graph, "pool"), tiling, NULL },
      };

      report = cleave_split_nodes_recursively (graph, requests, G_N_ELEMENTS (requests), &recursion,
                                               &error);
    }
  if (report == NULL)
    {
      fprintf (stderr, "%s\n", error->message);
      return 1;
    }
  printf ("%u nodes split\n", cleave_split_report_get_n_split (report));
  return cleave_split_report_get_n_split (report) == 3 ? 0 : 1;
}
