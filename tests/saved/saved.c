/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Saved programs: they are loaded with the same bits, and changed files are refused or do no harm.
 */

#include "graphs.h"
#include "run-help.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/runtime/kernels.h"
#include "../../lib/saved/saved.h"

static char *folder;

static void
make_folder (void)
{
  folder = g_dir_make_tmp ("cleave-XXXXXX", NULL);
}

static void
remove_folder (void)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_unlink (path);
    }
  g_rmdir (folder);
  g_free (folder);
}

static char *
make_path (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static void
assert_loads_same (const CleaveGraph *graph, const char *path, guint n_threads, guint32 seed)
{
  g_autoptr (GPtrArray) inputs = cleave_random_inputs (graph, seed, FALSE);
  g_autoptr (GPtrArray) expected = run_graph (graph, inputs, n_threads);
  g_autoptr (GPtrArray) outputs = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) its_graph = NULL;
  g_autoptr (CleaveProgram) program = cleave_program_load (path, NULL, FALSE, &its_graph, &error);
  CleaveProgramStats stats;

  cleave_assert_no_error (error);
  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    {
      g_autofree char *name = cleave_result_dup_name (cleave_graph_get_input (graph, i));
      g_autofree char *its = cleave_result_dup_name (cleave_graph_get_input (its_graph, i));

      ck_assert_str_eq (its, name);
    }
  cleave_program_get_stats (program, &stats);
  ck_assert_uint_eq (stats.n_threads, n_threads);
  outputs = run_program (program, its_graph, inputs);
  ck_assert_msg (cleave_compare_outputs (outputs, expected) < 0, "seed %u, %u threads", seed,
                 n_threads);
}

START_TEST (random_graphs_have_the_same_bits)
{
  g_autofree char *path = make_path ("x.plan");

  for (guint32 seed = 1; seed <= CLEAVE_TRIALS (24); seed++)
    for (guint n_threads = 1; n_threads <= 3; n_threads++)
      {
        const CleaveProgramOptions options = { .n_threads = n_threads };
        g_autoptr (CleaveGraph) graph = cleave_random_graph (seed, 30);
        g_autoptr (CleaveSplitReport) report = NULL;
        g_autoptr (GError) error = NULL;

        if (n_threads > 1)
          report = cleave_split_for_threads (graph, n_threads, NULL);
        ck_assert (cleave_graph_save_program (graph, &options, path, &error));
        cleave_assert_no_error (error);
        assert_loads_same (graph, path, n_threads, seed);
      }
}
END_TEST

/* Makes a convolution that is cut along its channels, so that constants are slices of one constant.
 */
static CleaveGraph *
make_graph (void)
{
  CleaveGraph *graph = cleave_graph_new ("g");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 8, 12, 12));

  run_output (graph, run_unary (graph, "Relu", run_conv (graph, x, 64, 3, CLEAVE_LAYOUT_NCHW)));
  return graph;
}

static char *
save_small (const char *name, guint n_threads)
{
  const CleaveProgramOptions options = { .n_threads = n_threads };
  g_autoptr (CleaveGraph) graph = make_graph ();
  g_autoptr (CleaveSplitReport) report = cleave_split_for_threads (graph, 2, NULL);
  char *path = make_path (name);

  ck_assert (cleave_graph_save_program (graph, &options, path, NULL));
  return path;
}

/* Writes these bytes to a file and loads the program. */
static CleaveProgram *
load_bytes (gconstpointer bytes, gsize n, GError **error)
{
  g_autofree char *path = make_path ("other.plan");

  g_unlink (path);
  ck_assert (g_file_set_contents (path, bytes, (gssize) n, NULL));
  return cleave_program_load (path, NULL, FALSE, NULL, error);
}

START_TEST (a_truncated_file_is_an_error)
{
  g_autofree char *path = save_small ("x.plan", 2), *bytes = NULL;
  gsize n;

  ck_assert (g_file_get_contents (path, &bytes, &n, NULL));
  for (gsize at = 0; at < n; at += at < 512 ? 1 : 4096)
    {
      g_autoptr (GError) error = NULL;

      ck_assert_ptr_null (load_bytes (bytes, at, &error));
      ck_assert_ptr_nonnull (error);
    }
}
END_TEST

/* Runs a program from a changed file that was accepted. Its results may be wrong, but it must not
 * crash. */
static void
run_any (CleaveProgram *program, const CleaveGraph *graph)
{
  g_autoptr (GPtrArray) inputs = cleave_random_inputs (graph, 1, FALSE);
  g_autoptr (GPtrArray) outputs = run_program (program, graph, inputs);
}

START_TEST (changed_bytes_do_no_harm)
{
  g_autofree char *path = save_small ("x.plan", 2), *bytes = NULL,
                  *other = make_path ("other.plan");
  CleaveSavedHeader header;
  gsize n;

  ck_assert (g_file_get_contents (path, &bytes, &n, NULL));
  memcpy (&header, bytes, sizeof header);
  for (guint32 trial = 0; trial < CLEAVE_TRIALS (3000); trial++)
    {
      g_autoptr (GRand) random = g_rand_new_with_seed (trial);
      g_autofree char *changed = g_memdup2 (bytes, n);
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = NULL;
      g_autoptr (CleaveProgram) program = NULL;

      for (guint i = 0; i <= trial % 4; i++)
        changed[g_rand_int_range (random, 0, (gint32) (sizeof header + header.n_metadata))] =
            trial % 3 == 0 ? (char) g_rand_int (random) : (char) g_rand_int_range (random, 0, 4);
      g_unlink (other);
      ck_assert (g_file_set_contents (other, changed, (gssize) n, NULL));
      program = cleave_program_load (other, NULL, FALSE, &graph, &error);
      ck_assert ((program == NULL) == (error != NULL) && (program == NULL) == (graph == NULL));
      if (program != NULL)
        run_any (program, graph);
    }
}
END_TEST

static char *
find_bytes (char *bytes, gsize n, const char *text)
{
  gsize n_text = strlen (text);

  for (gsize i = 0; i + n_text <= n; i++)
    if (memcmp (bytes + i, text, n_text) == 0)
      return bytes + i;
  return NULL;
}

/* Replaces the first occurrence of `from` by `to`, of the same length. Asserts that loading the
 * changed file fails with `message`. */
static void
assert_refused (const char *from, const char *to, const char *message)
{
  g_autofree char *path = save_small ("x.plan", 1), *bytes = NULL;
  g_autoptr (GError) error = NULL;
  char *at;
  gsize n;

  ck_assert (g_file_get_contents (path, &bytes, &n, NULL));
  at = find_bytes (bytes, n, from);
  ck_assert_ptr_nonnull (at);
  memcpy (at, to, strlen (to));
  ck_assert_ptr_null (load_bytes (bytes, n, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_MODEL));
  ck_assert_msg (strstr (error->message, message) != NULL, "%s", error->message);
}

START_TEST (mismatches_are_reported)
{
  assert_refused ("CLEAVEPL", "SOMETHIN", "it is not a saved program");
  assert_refused (" build ", " BUILD ", "but this is");
  assert_refused ("\4\3\2\1\1", "\4\3\2\1\2", "another format");
  assert_refused (" build ", " biuld ", "compile the model again");
}
END_TEST

START_TEST (another_level_is_refused)
{
  g_autofree char *path = save_small ("x.plan", 1), *bytes = NULL, *level = NULL, *message = NULL;
  g_autoptr (GError) error = NULL;
  CleaveSavedHeader header;
  char *at;
  gsize n;

  ck_assert (g_file_get_contents (path, &bytes, &n, NULL));
  memcpy (&header, bytes, sizeof header);
  /* after the header, a saved program has the text of the library version, and then the text of the
   * processor's level */
  at = memchr (bytes + sizeof header, '\0', (gsize) header.n_metadata);
  level = cleave_kernel_dup_level ();
  ck_assert_str_eq (at + 1, level);
  at[1] = level[0] = 'x';
  ck_assert_ptr_null (load_bytes (bytes, n, &error));
  message = g_strdup_printf ("processors of level %s", level);
  ck_assert_msg (strstr (error->message, message) != NULL, "%s", error->message);
}
END_TEST

static void
write_model (const char *path, gint64 seed)
{
  g_autofree char *name = g_strdup_printf ("seed %" G_GINT64_FORMAT, seed);
  g_autoptr (CleaveGraph) named = cleave_graph_new (name);
  CleaveResult *x = run_input (named, &CLEAVE_SHAPE (1, 8, 12, 12));

  run_output (named, run_unary (named, "Relu", x));
  ck_assert (cleave_onnx_save (named, path, NULL));
}

START_TEST (a_changed_model_is_refused)
{
  g_autofree char *model = make_path ("m.onnx"), *moved = make_path ("n.onnx");
  g_autofree char *path = make_path ("x.plan");
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (GError) error = NULL;
  CleaveProgram *program;

  write_model (model, 1);
  graph = cleave_onnx_load (model, NULL, NULL);
  ck_assert (cleave_graph_save_program (graph, NULL, path, NULL));
  write_model (moved, 1); /* a program is accepted for the same model at another path */
  program = cleave_program_load (path, moved, FALSE, NULL, &error);
  cleave_assert_no_error (error);
  cleave_program_unref (program);
  write_model (model, 2); /* a program is refused for another model of the same size */
  ck_assert_ptr_null (cleave_program_load (path, NULL, FALSE, NULL, &error));
  ck_assert_msg (
      strstr (error->message, "m.onnx' is not the file that the program was made from") != NULL,
      "%s", error->message);
  g_clear_error (&error);
  ck_assert_ptr_null (cleave_program_load (path, model, FALSE, NULL, &error));
  g_clear_error (&error);
  g_unlink (model); /* a saved program is loaded without its model file */
  program = cleave_program_load (path, NULL, FALSE, NULL, &error);
  cleave_assert_no_error (error);
  cleave_program_unref (program);
  ck_assert_ptr_null (cleave_program_load (path, model, FALSE, NULL, &error));
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tests = tcase_create ("saved");

  tcase_add_checked_fixture (tests, make_folder, remove_folder);
  tcase_set_timeout (tests, 300);
  tcase_add_test (tests, random_graphs_have_the_same_bits);
  tcase_add_test (tests, a_truncated_file_is_an_error);
  tcase_add_test (tests, changed_bytes_do_no_harm);
  tcase_add_test (tests, mismatches_are_reported);
  tcase_add_test (tests, another_level_is_refused);
  tcase_add_test (tests, a_changed_model_is_refused);
  suite_add_tcase (suite, tests);
}

CLEAVE_TEST_SUITE ("saved", add_tests)
