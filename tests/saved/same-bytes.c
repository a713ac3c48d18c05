/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Two graphs of one model have different addresses, as in two processes. Their programs must be
 * saved as the same bytes, and a loaded program must find all its packed weights. */

#include "graphs.h"
#include "random-graph.h"
#include "random-ops.h"
#include "run-help.h"

#include <glib/gstdio.h>

#include "../../lib/runtime/program-private.h"

static char *folder;

static void
make_folder (void)
{
  folder = g_dir_make_tmp ("cleave-XXXXXX", NULL);
}

static void
remove_folder (void)
{
  g_rmdir (folder);
  g_free (folder);
}

static GBytes *
save (const CleaveGraph *graph, guint n_threads)
{
  const CleaveProgramOptions options = { .n_threads = n_threads };
  g_autofree char *path = g_build_filename (folder, "x.plan", NULL);
  g_autoptr (GError) error = NULL;
  char *bytes;
  gsize n;

  ck_assert (cleave_graph_save_program (graph, &options, path, &error));
  cleave_assert_no_error (error);
  ck_assert (g_file_get_contents (path, &bytes, &n, NULL));
  g_unlink (path);
  return g_bytes_new_take (bytes, n);
}

/* Asserts that a loaded program packs no weights, since it finds all packed weights in the file.
 * Returns the number of packed weights in the file. */
static guint
assert_packs_nothing (GBytes *saved, const char *what, guint32 seed)
{
  g_autofree char *path = g_build_filename (folder, "x.plan", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveProgram) program = NULL;
  const GArray *packed;

  ck_assert (g_file_set_contents (path, g_bytes_get_data (saved, NULL),
                                  (gssize) g_bytes_get_size (saved), NULL));
  program = cleave_program_load (path, NULL, FALSE, NULL, &error);
  g_unlink (path);
  cleave_assert_no_error (error);
  packed = cleave_weights_get_packed (program->weights);
  for (guint i = 0; i < packed->len; i++)
    {
      const CleavePackedWeight *weight = &g_array_index (packed, CleavePackedWeight, i);

      if (weight->owns_memory)
        ck_abort_msg ("%s, seed %u: '%s' was packed again", what, seed, weight->key);
    }
  return packed->len;
}

static guint
assert_same_bytes (
    const CleaveGraph *a, const CleaveGraph *b, guint n_threads, const char *what, guint32 seed)
{
  g_autoptr (GBytes) first = save (a, n_threads), second = save (b, n_threads);

  if (!g_bytes_equal (first, second))
    ck_abort_msg ("%s, seed %u, %u threads: two saves differ", what, seed, n_threads);
  return assert_packs_nothing (first, what, seed);
}

START_TEST (random_graphs_are_saved_as_the_same_bytes)
{
  guint n_packed = 0;

  for (guint32 seed = 1; seed <= CLEAVE_TRIALS (60); seed++)
    for (guint n_threads = 1; n_threads <= 2; n_threads++)
      {
        g_autoptr (CleaveGraph) a = cleave_random_graph (seed, 30),
                                b = cleave_random_graph (seed, 30);
        g_autoptr (CleaveGraph) c = random_split_graph (seed), d = random_split_graph (seed);

        n_packed += assert_same_bytes (a, b, n_threads, "random graph", seed);
        n_packed += assert_same_bytes (c, d, n_threads, "random split graph", seed);
      }
  ck_assert_uint_gt (n_packed, 10);
}
END_TEST

/* Makes a graph of a random node. Its first operand is an input, and all other operands are
 * constants. */
static CleaveGraph *
make_op (const CleaveRandomOp *op, guint32 seed)
{
  CleaveGraph *graph = cleave_graph_new (op->op);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveNode *node = op->make (graph, rand);
  g_autoptr (GPtrArray) values = cleave_random_inputs (graph, seed, FALSE);

  for (guint i = 1; i < cleave_graph_get_n_inputs (graph); i++)
    {
      g_autofree char *name = g_strdup_printf ("constant%u", i);

      cleave_result_replace_uses (cleave_graph_get_input (graph, i),
                                  cleave_graph_add_constant (graph, name, values->pdata[i]));
    }
  run_output (graph, cleave_node_get_result (node, 0));
  return graph;
}

START_TEST (every_op_is_saved_as_the_same_bytes)
{
  guint n_packed = 0;

  for (guint list = 0; cleave_random_op_lists[list] != NULL; list++)
    for (const CleaveRandomOp *op = cleave_random_op_lists[list]; op->op != NULL; op++)
      for (guint32 seed = 1; seed <= CLEAVE_TRIALS (20); seed++)
        {
          g_autoptr (CleaveGraph) a = make_op (op, seed), b = make_op (op, seed);

          n_packed += assert_same_bytes (a, b, 1, op->op, seed);
        }
  ck_assert_uint_gt (n_packed, 10);
}
END_TEST

/* A depthwise convolution of bytes. The zero point of x is the same for all channels, and `zero`
 * has one zero point for each channel of w. */
#define DEPTHWISE                                                                                  \
  "graph g\n%%x = Input : uint8 1x32x12x12\n%%w = Constant seed=1 : %s 32x1x3x3\n"                 \
  "%%zero = Constant seed=2 : %s 32\n%%xz = Constant seed=3 : uint8 1\n"                           \
  "%%y = ConvInteger %%x, %%w, %%xz, %%zero group=32 pads=1,1,1,1\noutput %%y\n"

START_TEST (loading_finds_zero_points_of_weights)
{
  static const char *const elements[] = { "int8", "uint8" };

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    {
      g_autofree char *text = g_strdup_printf (DEPTHWISE, elements[i], elements[i]);
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) a = cleave_graph_parse (text, NULL, &error);
      g_autoptr (CleaveGraph) b = cleave_graph_parse (text, NULL, NULL);

      cleave_assert_no_error (error);
      ck_assert_uint_gt (assert_same_bytes (a, b, 1, text, 0), 0);
    }
}
END_TEST

static CleaveGraph *
make_norm (void)
{
  CleaveGraph *graph = cleave_graph_new ("norm");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 32, 12, 12));

  run_output (graph, run_normalize_for_good (graph, x));
  return graph;
}

START_TEST (loading_finds_factors_of_a_normalization)
{
  for (guint n_threads = 1; n_threads <= 3; n_threads++)
    {
      g_autoptr (CleaveGraph) a = make_norm (), b = make_norm ();
      g_autoptr (CleaveSplitReport) report_a = cleave_split_for_threads (a, n_threads, NULL);
      g_autoptr (CleaveSplitReport) report_b = cleave_split_for_threads (b, n_threads, NULL);

      ck_assert_uint_gt (assert_same_bytes (a, b, n_threads, "norm", 0), 0);
    }
}
END_TEST

/* A graph is saved twice, directly after its model file was written. Both saved programs must have
 * the same bytes, although the modification time of the model is still recent at the first time. */
START_TEST (a_model_just_written_is_saved_as_the_same_bytes)
{
  g_autofree char *path = g_build_filename (folder, "m.onnx", NULL);
  g_autoptr (CleaveGraph) graph = make_norm (), loaded = NULL;
  g_autoptr (GBytes) first = NULL, second = NULL;

  ck_assert (cleave_onnx_save (graph, path, NULL));
  loaded = cleave_onnx_load (path, NULL, NULL);
  first = save (loaded, 1);
  g_usleep (50000);
  second = save (loaded, 1);
  g_unlink (path);
  ck_assert (g_bytes_equal (first, second));
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tests = tcase_create ("same-bytes");

  tcase_add_checked_fixture (tests, make_folder, remove_folder);
  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, random_graphs_are_saved_as_the_same_bytes);
  tcase_add_test (tests, every_op_is_saved_as_the_same_bytes);
  tcase_add_test (tests, loading_finds_zero_points_of_weights);
  tcase_add_test (tests, loading_finds_factors_of_a_normalization);
  tcase_add_test (tests, a_model_just_written_is_saved_as_the_same_bytes);
  suite_add_tcase (suite, tests);
}

CLEAVE_TEST_SUITE ("same-bytes", add_tests)
