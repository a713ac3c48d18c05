/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Every node that can take the option; the others are reported with the reason, then the seams
 * between the pieces are closed. */

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
  const gint64 nine = 9;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = build (&error);
  g_autoptr (CleaveSplit) split = cleave_split_by_num_chunks ("2", &nine, 1);
  g_autoptr (CleaveSplitReport) report = NULL;

  if (graph != NULL)
    report = cleave_split_all_nodes (graph, split, NULL, &error);
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
