/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Two ends of a graph at once: what both need is cut once, in strips that carry their halo. */

#include <cleave/cleave.h>

#include <stdio.h>

/* x 1x4x16x16 → relu → pool 1x4x8x8 → exp; NULL on error */
static CleaveGraph *
build (GError **error)
{
  CleavePoolAttrs pool = { .kernel_shape = CLEAVE_INTS (2, 2), .strides = CLEAVE_INTS (2, 2) };
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("example");
  CleaveResult *y =
      cleave_graph_add_input (graph, "x", &CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 4, 16, 16), error);

  if (y == NULL || (y = cleave_graph_add_unary (graph, "Relu", "relu", y, NULL, error)) == NULL ||
      (y = cleave_graph_add_pool (graph, "MaxPool", "pool", y, &pool, error)) == NULL ||
      !cleave_graph_add_output (graph, "y", y, error) ||
      (y = cleave_graph_add_unary (graph, "Exp", "exp", y, NULL, error)) == NULL ||
      !cleave_graph_add_output (graph, "z", y, error))
    return NULL;
  return g_steal_pointer (&graph);
}

int
main (void)
{
  const gint64 four = 4;
  CleaveRecursion recursion = { .depth = 3, .halo = CLEAVE_HALO_CARRY };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = build (&error);
  g_autoptr (CleaveSplit) split = cleave_split_by_num_chunks ("2", &four, 1);
  g_autoptr (CleaveSplitReport) report = NULL;

  if (graph != NULL)
    {
      const CleaveSplitRequest requests[] = {
        { cleave_graph_find_node (graph, "exp"), split, NULL },
        { cleave_graph_find_node (graph, "pool"), split, NULL },
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
