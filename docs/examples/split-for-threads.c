/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Splits a whole graph for two threads: draws it before and after, runs both graphs, and compares
 * the results. */

#include <cleave/cleave.h>

#include <stdio.h>

/* Adds a 3x3 convolution of 32 channels, with weights that are all equal. */
static CleaveResult *
add_conv (CleaveGraph *graph, const char *name, CleaveResult *x, GError **error)
{
  CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (1, 1, 1, 1) };
  g_autoptr (CleaveTensor) filter =
      cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_FLOAT32, 32, 32, 3, 3), error);
  float *w = cleave_tensor_get_mutable_data (filter);

  for (int i = 0; i < 32 * 32 * 9; i++)
    w[i] = 1.0f / 288;
  return cleave_graph_add_conv (graph, name, x, cleave_graph_add_constant (graph, NULL, filter),
                                NULL, &attrs, error);
}

/* Makes the graph x 1x32x64x64 → first → relu → second. Returns NULL on error. */
static CleaveGraph *
build (GError **error)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("example");
  CleaveResult *y =
      cleave_graph_add_input (graph, "x", &CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 32, 64, 64), error);

  if (y == NULL || (y = add_conv (graph, "first", y, error)) == NULL ||
      (y = cleave_graph_add_unary (graph, "Relu", "relu", y, NULL, error)) == NULL ||
      (y = add_conv (graph, "second", y, error)) == NULL ||
      !cleave_graph_add_output (graph, "y", y, error))
    return NULL;
  return g_steal_pointer (&graph);
}

static CleaveTensor *
run (const CleaveGraph *graph, guint n_threads, CleaveTensor *x, GError **error)
{
  CleaveProgramOptions options = { .n_threads = n_threads };
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, error);
  g_autoptr (CleaveTensor) y =
      cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 32, 64, 64), error);

  if (program == NULL || y == NULL || !cleave_program_bind (program, &x, 1, &y, 1, error))
    return NULL;
  cleave_program_run (program);
  return g_steal_pointer (&y);
}

int
main (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = build (&error);
  g_autofree char *before = graph == NULL ? NULL : cleave_dot_print (graph, NULL, &error);
  g_autoptr (CleaveTensor) x =
      cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 32, 64, 64), &error);
  g_autoptr (CleaveTensor) whole = before == NULL ? NULL : run (graph, 1, x, &error);
  g_autoptr (CleaveSplitReport) report =
      whole == NULL ? NULL : cleave_split_for_threads (graph, 2, &error);
  g_autofree char *after = NULL;
  g_autoptr (CleaveTensor) split = NULL;

  if (report == NULL || !cleave_clean_up (graph, NULL, &error) ||
      (after = cleave_dot_print (graph, NULL, &error)) == NULL ||
      (split = run (graph, 2, x, &error)) == NULL)
    {
      fprintf (stderr, "%s\n", error->message);
      return 1;
    }
  printf ("/* before */\n%s\n/* after: %u nodes split, %u parallel subgraphs */\n%s", before,
          cleave_split_report_get_n_split (report),
          cleave_split_report_get_totals (report)->n_parallel_subgraphs, after);
  return cleave_split_report_get_n_split (report) == 3 && cleave_tensor_equal (whole, split) ? 0
                                                                                             : 1;
}
