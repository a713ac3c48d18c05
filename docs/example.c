/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The complete example of the guide: builds a graph, splits it, draws and runs it before and after
 * the split, and compares the results. */

#include <cleave/cleave.h>

#include <stdio.h>
#include <string.h>

/* x 1x4x16x16 → Conv 3x3 stride 2 → Relu → MaxPool 3x3 stride 2 → y 1x16x4x4 */
static CleaveGraph *
build (GError **error)
{
  CleaveTensorType image = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 4, 16, 16);
  CleaveTensorType filter = CLEAVE_TYPE (CLEAVE_FLOAT32, 16, 4, 3, 3);
  CleaveConvAttrs conv = { .strides = CLEAVE_INTS (2, 2), .pads = CLEAVE_INTS (1, 1, 0, 0) };
  CleavePoolAttrs pool = { .kernel_shape = CLEAVE_INTS (3, 3),
                           .strides = CLEAVE_INTS (2, 2),
                           .pads = CLEAVE_INTS (1, 1, 1, 1) };
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("example");
  g_autoptr (CleaveTensor) weights = cleave_tensor_new (&filter, error);
  float *w = cleave_tensor_get_mutable_data (weights);
  CleaveResult *x, *y;

  for (gint64 i = 0; i < cleave_shape_n_elements (&filter.shape); i++)
    w[i] = (float) (i % 7 - 3) / 8;

  x = cleave_graph_add_input (graph, "x", &image, error);
  if (x == NULL)
    return NULL;
  y = cleave_graph_add_conv (graph, "conv", x, cleave_graph_add_constant (graph, "w", weights),
                             NULL, &conv, error);
  if (y != NULL)
    y = cleave_graph_add_unary (graph, "Relu", "relu", y, NULL, error);
  if (y != NULL)
    y = cleave_graph_add_pool (graph, "MaxPool", "pool", y, &pool, error);
  if (y == NULL || !cleave_graph_add_output (graph, "y", y, error))
    return NULL;
  return g_steal_pointer (&graph);
}

/* Runs a graph on an image of the numbers 0 to 10 in turn, and returns the output. */
static CleaveTensor *
run (const CleaveGraph *graph, GError **error)
{
  CleaveProgramOptions options = { .n_threads = 2 };
  CleaveOperand *output = cleave_graph_get_output (graph, 0);
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, error);
  g_autoptr (CleaveTensor) x =
      cleave_tensor_new (cleave_result_get_type (cleave_graph_get_input (graph, 0)), error);
  g_autoptr (CleaveTensor) y =
      cleave_tensor_new (cleave_result_get_type (cleave_operand_get_result (output)), error);
  float *pixels;

  if (program == NULL || x == NULL || y == NULL)
    return NULL;
  pixels = cleave_tensor_get_mutable_data (x);
  for (int i = 0; i < 4 * 16 * 16; i++)
    pixels[i] = (float) (i % 11);
  if (!cleave_program_bind (program, &x, 1, &y, 1, error))
    return NULL;
  cleave_program_run (program);
  return g_steal_pointer (&y);
}

/* Draws the graph to a file if `path` is not NULL. */
static gboolean
draw (const CleaveGraph *graph, const char *path, GError **error)
{
  return path == NULL || cleave_dot_save (graph, NULL, path, error);
}

static gboolean
example (const char *before, const char *after, GError **error)
{
  const gint64 two = 2;
  CleaveRecursion recursion = { .depth = 3 };
  g_autoptr (CleaveGraph) graph = build (error);
  g_autoptr (CleaveTiling) tiling = cleave_tiling_by_num_chunks ("H", &two, 1);
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (CleaveTensor) whole = NULL;
  g_autoptr (CleaveTensor) parts = NULL;

  if (graph == NULL || !draw (graph, before, error) || (whole = run (graph, error)) == NULL)
    return FALSE;
  report = cleave_split_node_recursively (cleave_graph_find_node (graph, "pool"), tiling, NULL,
                                          &recursion, error);
  if (report == NULL || !draw (graph, after, error) || (parts = run (graph, error)) == NULL)
    return FALSE;

  for (guint i = 0; i < cleave_split_report_get_n_split (report); i++)
    {
      const CleaveSplitNode *node = cleave_split_report_get_split (report, i);

      for (guint k = 0; k < node->n_pieces; k++)
        {
          g_autofree char *range = cleave_range_to_string (&node->ranges[k]);

          printf ("%s → %s %s\n", node->name, cleave_node_get_name (node->pieces[k]), range);
        }
    }
  printf ("parallel subgraphs: %u\n",
          cleave_split_report_get_totals (report)->n_parallel_subgraphs);
  printf ("the same bits: %s\n", cleave_tensor_equal (whole, parts) ? "yes" : "no");
  return TRUE;
}

/* Usage: example [BEFORE AFTER]: the files for drawings of the graph before and after the split. */
int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;

  if (example (argc > 1 ? argv[1] : NULL, argc > 2 ? argv[2] : NULL, &error))
    return 0;
  fprintf (stderr, "example: %s\n", error->message);
  return 1;
}
