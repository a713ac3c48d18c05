/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One node: the pool in two halves along its rows. */

#include <cleave/cleave.h>

#include <stdio.h>

/* x 1x4x16x16 → relu → pool 1x4x8x8; NULL on error */
static CleaveGraph *
build (GError **error)
{
  CleavePoolAttrs pool = { .kernel_shape = CLEAVE_INTS (2, 2), .strides = CLEAVE_INTS (2, 2) };
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("example");
  CleaveResult *y =
      cleave_graph_add_input (graph, "x", &CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 4, 16, 16), error);

  if (y == NULL || (y = cleave_graph_add_unary (graph, "Relu", "relu", y, NULL, error)) == NULL ||
      (y = cleave_graph_add_pool (graph, "MaxPool", "pool", y, &pool, error)) == NULL ||
      !cleave_graph_add_output (graph, "y", y, error))
    return NULL;
  return g_steal_pointer (&graph);
}

int
main (void)
{
  const gint64 two = 2;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = build (&error);
  g_autoptr (CleaveSplit) split = cleave_split_by_num_chunks ("H", &two, 1);
  g_autoptr (CleaveSplitReport) report = NULL;

  if (graph != NULL)
    report = cleave_split_node (cleave_graph_find_node (graph, "pool"), split, NULL, &error);
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
