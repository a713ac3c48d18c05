/* SPDX-License-Identifier: GPL-2.0-or-later */

/* bench-model MODEL.onnx THREADS [SHAPE]: prints as JSON the cost of making a program of a model.
 * The first figure is the processor time in milliseconds, the least of three. The other figures are
 * the memory that the program reports, and the growth of process memory until the program has run
 * once.
 *
 * bench-model --vgg FILE.onnx: writes the convolutions and poolings of VGG-16 for 224x224, with
 * random weights. */

#include <cleave/cleave.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOAD, SPLIT, CLEAN, PROGRAM, N_PHASES };

static double
get_ms (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

static void
note (double *phases, guint phase, double *last)
{
  double now = get_ms ();

  phases[phase] = MIN (phases[phase], now - *last);
  *last = now;
}

/* Returns the bytes in the line of /proc/self/status that begins with `key`. */
static gint64
get_status (const char *key)
{
  g_autofree char *text = NULL;
  const char *line;

  if (!g_file_get_contents ("/proc/self/status", &text, NULL, NULL) ||
      (line = strstr (text, key)) == NULL)
    return -1;
  return g_ascii_strtoll (line + strlen (key) + 1, NULL, 10) * 1024;
}

static CleaveGraph *
prepare (const char *path,
         const CleaveOnnxOptions *options,
         guint n_threads,
         double *phases,
         GError **error)
{
  double last = get_ms ();
  g_autoptr (CleaveGraph) graph = cleave_onnx_load (path, options, error);
  g_autoptr (CleaveSplitReport) report = NULL;

  if (graph == NULL)
    return NULL;
  note (phases, LOAD, &last);
  report = n_threads == 1 ? NULL : cleave_split_for_threads (graph, n_threads, error);
  if (n_threads > 1 && report == NULL)
    return NULL;
  note (phases, SPLIT, &last);
  if (!cleave_clean_up (graph, NULL, error))
    return NULL;
  note (phases, CLEAN, &last);
  return g_steal_pointer (&graph);
}

static GPtrArray *
make_tensors (const CleaveGraph *graph, gboolean inputs, GError **error)
{
  guint n = inputs ? cleave_graph_get_n_inputs (graph) : cleave_graph_get_n_outputs (graph);
  GPtrArray *tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < n; i++)
    {
      const CleaveResult *value =
          inputs ? cleave_graph_get_input (graph, i)
                 : cleave_operand_get_result (cleave_graph_get_output (graph, i));
      CleaveTensor *tensor = cleave_tensor_new (cleave_result_get_type (value), error);

      g_ptr_array_add (tensors, tensor);
    }
  return tensors;
}

static CleaveProgram *
make_program (CleaveGraph *graph, guint n_threads, double *phases, GError **error)
{
  const CleaveProgramOptions options = { .n_threads = n_threads };
  double last = get_ms ();
  CleaveProgram *program = cleave_program_new (graph, &options, error);

  note (phases, PROGRAM, &last);
  return program;
}

static gboolean
run_once (CleaveGraph *graph, CleaveProgram *program, GError **error)
{
  g_autoptr (GPtrArray) inputs = make_tensors (graph, TRUE, error);
  g_autoptr (GPtrArray) outputs = make_tensors (graph, FALSE, error);

  if (!cleave_program_bind (program, (CleaveTensor *const *) inputs->pdata, inputs->len,
                            (CleaveTensor *const *) outputs->pdata, outputs->len, error))
    return FALSE;
  cleave_program_run (program);
  return TRUE;
}

static gboolean
bench (const char *path, guint n_threads, const CleaveOnnxOptions *options, GError **error)
{
  double phases[N_PHASES] = { G_MAXDOUBLE, G_MAXDOUBLE, G_MAXDOUBLE, G_MAXDOUBLE };
  CleaveProgramStats stats = { 0 };
  gint64 growth = 0;

  for (guint round = 0; round < 3; round++)
    {
      g_autoptr (CleaveGraph) graph = prepare (path, options, n_threads, phases, error);
      g_autoptr (CleaveProgram) program = NULL;
      gint64 before = get_status ("VmRSS:");

      g_file_set_contents ("/proc/self/clear_refs", "5", 1, NULL);
      program = graph == NULL ? NULL : make_program (graph, n_threads, phases, error);
      if (program == NULL || !run_once (graph, program, error))
        return FALSE;
      if (round == 0)
        growth = get_status ("VmHWM:") - before;
      cleave_program_get_stats (program, &stats);
    }
  printf ("{ \"nodes\": %u, \"import_ms\": %.2f, \"split_ms\": %.2f, \"clean_ms\": %.2f, "
          "\"program_ms\": %.2f, \"arena_bytes\": %" G_GINT64_FORMAT
          ", \"scratch_bytes\": %" G_GINT64_FORMAT ", \"weight_bytes\": %" G_GINT64_FORMAT
          ", \"growth_bytes\": %" G_GINT64_FORMAT ", \"process_bytes\": %" G_GINT64_FORMAT " }\n",
          stats.n_nodes, phases[LOAD], phases[SPLIT], phases[CLEAN], phases[PROGRAM],
          stats.arena_bytes, stats.scratch_bytes, stats.weight_bytes, growth,
          get_status ("VmHWM:"));
  return TRUE;
}

/* The functions below write the network VGG-16. */

static CleaveResult *
add_conv (CleaveGraph *graph, CleaveResult *x, gint64 channels, GRand *rand, GError **error)
{
  gint64 from = cleave_result_get_type (x)->shape.dim[1];
  CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (1, 1, 1, 1) };
  g_autoptr (CleaveTensor) filter =
      cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_FLOAT32, channels, from, 3, 3), error);
  float *w = cleave_tensor_get_mutable_data (filter);
  double most = sqrt (6.0 / (9 * (double) from));
  CleaveResult *y;

  if (from > 3) /* Winograd's algorithm with tiles that begin at even rows and columns, as the
                   import of ONNX models chooses it */
    attrs.winograd = (CleaveInts){ 2, { 0, 0 } };
  for (gint64 i = 0; i < channels * from * 9; i++)
    w[i] = (float) g_rand_double_range (rand, -most, most);
  y = cleave_graph_add_conv (graph, NULL, x, cleave_graph_add_constant (graph, NULL, filter), NULL,
                             &attrs, error);
  return y == NULL ? NULL : cleave_graph_add_unary (graph, "Relu", NULL, y, NULL, error);
}

static gboolean
write_vgg (const char *path, GError **error)
{
  static const gint64 channels[] = { 64, 64,  0,   128, 128, 0,   256, 256, 256,
                                     0,  512, 512, 512, 0,   512, 512, 512, 0 };
  const CleavePoolAttrs pool = { .kernel_shape = CLEAVE_INTS (2, 2),
                                 .strides = CLEAVE_INTS (2, 2) };
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("VGG-16 features");
  g_autoptr (GRand) rand = g_rand_new_with_seed (16);
  CleaveResult *y =
      cleave_graph_add_input (graph, "x", &CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 3, 224, 224), error);

  for (guint i = 0; y != NULL && i < G_N_ELEMENTS (channels); i++)
    y = channels[i] > 0 ? add_conv (graph, y, channels[i], rand, error)
                        : cleave_graph_add_pool (graph, "MaxPool", NULL, y, &pool, error);
  return y != NULL && cleave_graph_add_output (graph, "y", y, error) &&
         cleave_onnx_save (graph, path, error);
}

int
main (int argc, char **argv)
{
  CleaveOnnxShape shape = { 0 };
  CleaveOnnxOptions options = { .shapes = &shape, .n_shapes = argc > 3 };
  g_auto (GStrv) dims = g_strsplit (argc > 3 ? argv[3] : "", ",", CLEAVE_MAX_RANK);
  g_autoptr (GError) error = NULL;
  gboolean good;

  if (argc < 3)
    {
      fputs ("usage: bench-model MODEL.onnx THREADS [SHAPE] | --vgg FILE.onnx\n", stderr);
      return 2;
    }
  for (guint d = 0; dims[d] != NULL; d++)
    shape.shape.dim[shape.shape.rank++] = g_ascii_strtoll (dims[d], NULL, 10);
  good = g_str_equal (argv[1], "--vgg")
             ? write_vgg (argv[2], &error)
             : bench (argv[1], (guint) g_ascii_strtoll (argv[2], NULL, 10), &options, &error);
  if (!good)
    fprintf (stderr, "%s: %s\n", argv[1], error->message);
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
