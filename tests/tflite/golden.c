/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs models and compares the outputs byte for byte with outputs of the reference kernels of
 * TensorFlow Lite for Microcontrollers. Each model runs whole on several threads, with each node
 * cut along each dimension, and split for a memory budget.
 *
 * The environment variable CLEAVE_TFLITE_MODELS names the folder with the models:
 *
 *   golden/NAME.in.bin, NAME.out.bin    inputs of several runs, and their outputs
 *   FOLDER/NAME.tflite                  the model
 *   seanet/NAME.tflite                  one operator on int16, with
 *   seanet/NAME_input0_int16.csv …      its inputs, and
 *   seanet/NAME_golden_int16.csv        its output */

#include <cleave/cleave.h>
#include <stdio.h>
#include <string.h>

#include "run-help.h"

#define SKIPPED 77

static const char *const model_folders[] = { "mlperf-tiny", "tflm", "tinyengine" };

typedef struct
{
  const char *folder;
  guint n_models, n_refused, n_runs, n_cuts, n_failed;
} Score;

static void
complain (Score *score, const char *name, const char *where)
{
  printf ("%s: %s\n", name, where);
  score->n_failed++;
}

/* Returns whether output 0 of a graph has the expected bytes. */
static gboolean
gives (const CleaveGraph *graph, const GPtrArray *inputs, GBytes *expected, guint n_threads)
{
  g_autoptr (GPtrArray) outputs = run_graph (graph, inputs, n_threads);
  g_autoptr (GBytes) bytes = cleave_tensor_dup_bytes (outputs->pdata[0]);

  return g_bytes_equal (bytes, expected);
}

static void
try_whole (
    Score *score, const char *name, CleaveGraph *graph, const GPtrArray *inputs, GBytes *expected)
{
  static const guint threads[] = { 1, 2, 3 };

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++, score->n_runs++)
    if (!gives (graph, inputs, expected, threads[i]))
      complain (score, name, "the whole graph has other bytes");
}

/* Cuts all nodes along a dimension and compares the output. */
static void
try_cut (Score *score,
         const char *name,
         const CleaveGraph *graph,
         const char *dim,
         const GPtrArray *inputs,
         GBytes *expected)
{
  static const gint64 counts[] = { 2, 3 };

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    {
      g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
      g_autoptr (CleaveTiling) tiling = cleave_tiling_by_num_chunks (dim, &counts[i], 1);
      g_autoptr (CleaveSplitReport) report = cleave_split_all_nodes (copy, tiling, NULL, NULL);

      if (report == NULL || cleave_split_report_get_n_split (report) == 0)
        continue;
      score->n_cuts += cleave_split_report_get_n_split (report);
      if (!gives (copy, inputs, expected, 2))
        {
          g_autofree char *where = g_strdup_printf ("cut along %s it has other bytes", dim);

          complain (score, name, where);
        }
    }
}

/* Splits the model for the least memory and compares the output. */
static void
try_fit (Score *score,
         const char *name,
         const CleaveGraph *graph,
         const GPtrArray *inputs,
         GBytes *expected)
{
  CleaveFitOptions options = { 0 };
  g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, NULL);
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  g_autoptr (CleaveSplitReport) report =
      plan == NULL ? NULL : cleave_fit_plan_apply (plan, copy, NULL);

  if (report == NULL)
    complain (score, name, "fit has no plan");
  else if (!gives (copy, inputs, expected, 1))
    complain (score, name, "split for the least memory it has other bytes");
}

static void
try_all (
    Score *score, const char *name, CleaveGraph *graph, const GPtrArray *inputs, GBytes *expected)
{
  static const char *const dims[] = { "0", "1", "2", "3" };

  try_whole (score, name, graph, inputs, expected);
  for (guint d = 0; d < G_N_ELEMENTS (dims); d++)
    try_cut (score, name, graph, dims[d], inputs, expected);
  try_fit (score, name, graph, inputs, expected);
}

static const CleaveTensorType *
input_type (const CleaveGraph *graph, guint i)
{
  return cleave_result_get_type (cleave_graph_get_input (graph, i));
}

static GBytes *
read_bytes (const char *folder, const char *name, const char *ending)
{
  g_autofree char *file = g_strconcat (name, ending, NULL);
  g_autofree char *path = g_build_filename (folder, "golden", file, NULL);
  char *data;
  gsize n;

  return g_file_get_contents (path, &data, &n, NULL) ? g_bytes_new_take (data, n) : NULL;
}

static GPtrArray *
tensors_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
}

/* Runs the model on all golden inputs. For the first input, also runs the model after a split of
 * all nodes along each dimension, and after a fit for the least memory. */
static void
try_model (Score *score, const char *name, CleaveGraph *graph)
{
  g_autoptr (GBytes) in = read_bytes (score->folder, name, ".in.bin");
  g_autoptr (GBytes) out = read_bytes (score->folder, name, ".out.bin");
  const CleaveTensorType *type = input_type (graph, 0);
  gsize n_in = (gsize) cleave_tensor_type_n_bytes (type), n_out, n;

  if (in == NULL || out == NULL)
    return;
  n = g_bytes_get_size (in) / n_in;
  n_out = g_bytes_get_size (out) / n;
  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GBytes) expected = g_bytes_new_from_bytes (out, i * n_out, n_out);
      g_autoptr (GBytes) part = g_bytes_new_from_bytes (in, i * n_in, n_in);
      g_autoptr (GPtrArray) inputs = tensors_new ();

      g_ptr_array_add (inputs, cleave_tensor_new_from_bytes (type, part, NULL));
      if (i == 0)
        try_all (score, name, graph, inputs, expected);
      else
        try_whole (score, name, graph, inputs, expected);
    }
  score->n_models++;
}

static CleaveGraph *
load (Score *score, const char *path)
{
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_graph_load (path, NULL, &error);

  if (graph == NULL)
    {
      printf ("refused: %s\n", error->message);
      score->n_refused++;
    }
  return graph;
}

static void
try_goldens (Score *score)
{
  g_autofree char *goldens = g_build_filename (score->folder, "golden", NULL);
  g_autoptr (GDir) dir = g_dir_open (goldens, 0, NULL);
  const char *file;

  while (dir != NULL && (file = g_dir_read_name (dir)) != NULL)
    for (guint i = 0; g_str_has_suffix (file, ".in.bin") && i < G_N_ELEMENTS (model_folders); i++)
      {
        g_autofree char *name = g_strndup (file, strlen (file) - strlen (".in.bin"));
        g_autofree char *model = g_strconcat (name, ".tflite", NULL);
        g_autofree char *path = g_build_filename (score->folder, model_folders[i], model, NULL);
        g_autoptr (CleaveGraph) graph =
            g_file_test (path, G_FILE_TEST_EXISTS) ? load (score, path) : NULL;

        if (graph != NULL)
          try_model (score, name, graph);
      }
}

/* Reads a file of integers that commas separate. Returns a tensor, or NULL if there is no such
 * file. */
static CleaveTensor *
read_csv (const char *path, const CleaveTensorType *type)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) fields = NULL;
  CleaveTensor *tensor;
  gint64 n = cleave_shape_n_elements (&type->shape);
  gpointer data;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return NULL;
  fields = g_strsplit (text, ",", -1);
  if (g_strv_length (fields) < n)
    return NULL;
  tensor = cleave_tensor_new (type, NULL);
  data = cleave_tensor_get_mutable_data (tensor);
  for (gint64 i = 0; i < n; i++)
    if (type->element == CLEAVE_INT16)
      ((gint16 *) data)[i] = (gint16) g_ascii_strtoll (fields[i], NULL, 10);
    else
      ((gint32 *) data)[i] = (gint32) g_ascii_strtoll (fields[i], NULL, 10);
  return tensor;
}

static void
try_operator (Score *score, const char *folder, const char *name, CleaveGraph *graph)
{
  const CleaveTensorType *type =
      cleave_result_get_type (cleave_operand_get_result (cleave_graph_get_output (graph, 0)));
  g_autofree char *golden = g_strdup_printf ("%s/%s_golden_int16.csv", folder, name);
  g_autoptr (CleaveTensor) y = read_csv (golden, type);
  g_autoptr (GBytes) expected = y == NULL ? NULL : cleave_tensor_dup_bytes (y);
  g_autoptr (GPtrArray) inputs = tensors_new ();

  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    {
      const CleaveTensorType *x = input_type (graph, i);
      g_autofree char *path = g_strdup_printf ("%s/%s_input%u_%s.csv", folder, name, i,
                                               x->element == CLEAVE_INT16 ? "int16" : "int32");
      CleaveTensor *value = read_csv (path, x);

      if (value != NULL)
        g_ptr_array_add (inputs, value);
    }
  if (expected == NULL || inputs->len != cleave_graph_get_n_inputs (graph))
    {
      complain (score, name, "its inputs or its golden output are missing");
      return;
    }
  try_all (score, name, graph, inputs, expected);
  score->n_models++;
}

static void
try_operators (Score *score)
{
  g_autofree char *folder = g_build_filename (score->folder, "seanet", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *file;

  while (dir != NULL && (file = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (file, ".tflite"))
      {
        g_autofree char *name = g_strndup (file, strlen (file) - strlen (".tflite"));
        g_autofree char *path = g_build_filename (folder, file, NULL);
        g_autoptr (CleaveGraph) graph = load (score, path);

        if (graph != NULL)
          try_operator (score, folder, name, graph);
      }
}

int
main (void)
{
  Score score = { .folder = g_getenv ("CLEAVE_TFLITE_MODELS") };

  if (score.folder == NULL || !g_file_test (score.folder, G_FILE_TEST_IS_DIR))
    {
      printf ("SKIP: CLEAVE_TFLITE_MODELS names no folder with models\n");
      return SKIPPED;
    }
  try_goldens (&score);
  try_operators (&score);
  printf ("%u models, %u refused, %u runs, %u nodes cut, %u failed\n", score.n_models,
          score.n_refused, score.n_runs, score.n_cuts, score.n_failed);
  return score.n_failed == 0 && score.n_models > 0 ? 0 : 1;
}
