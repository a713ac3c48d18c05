/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Programs for several shapes. Every run must have the bits of a program that is made for exactly
 * the shapes of the run. */

#include "graphs.h"
#include "models.h"
#include "run-help.h"

#include <glib/gstdio.h>
#include <string.h>

static char *folder, *path;

static void
make_folder (void)
{
  folder = g_dir_make_tmp ("cleave-XXXXXX", NULL);
  path = g_build_filename (folder, "model.onnx", NULL);
}

static void
remove_folder (void)
{
  g_unlink (path);
  g_rmdir (folder);
  g_free (path);
  g_free (folder);
}

/* Makes a model whose output y is a Relu of a MatMul of x, for any number of rows of x. */
static Model *
rows_new (void)
{
  Model *model = model_new (17);

  model_add_input (model, "x", "nx8");
  model_add_initializer (model, "w", &CLEAVE_TYPE (CLEAVE_FLOAT32, 8, 5), NULL);
  model_add_node (model, "MatMul", "product", "x w", "m");
  model_add_node (model, "Relu", "relu", "m", "y");
  model_add_output (model, "y");
  return model;
}

/* Makes a model of attention, in which each row attends to all rows. */
static Model *
attention_new (void)
{
  Model *model = model_new (17);

  model_add_input (model, "x", "nx8");
  node_add_ints (model_add_node (model, "Transpose", "turned", "x", "t"), "perm",
                 &CLEAVE_INTS (1, 0));
  model_add_node (model, "MatMul", "scores", "x t", "s");
  model_add_node (model, "Softmax", "softmax", "s", "p");
  model_add_node (model, "MatMul", "values", "p x", "y");
  model_add_output (model, "y");
  return model;
}

/* Makes a model that finds the elements greater than 0.5 after a product. Their number depends on
 * data. */
static Model *
mask_new (void)
{
  Model *model = rows_new ();
  const float half = 0.5;

  model_add_initializer (model, "half", &CLEAVE_SCALAR (CLEAVE_FLOAT32), &half);
  model_add_node (model, "Greater", "greater", "y half", "above");
  model_add_node (model, "NonZero", "where", "above", "i");
  model_add_output (model, "i");
  return model;
}

/* Makes a model that divides x by its number of rows, so that a constant depends on the size. */
static Model *
size_new (void)
{
  Model *model = model_new (17);
  const gint64 zero = 0;

  model_add_input (model, "x", "nx8");
  model_add_initializer (model, "zero", &CLEAVE_SCALAR (CLEAVE_INT64), &zero);
  model_add_node (model, "Shape", "shape", "x", "s");
  model_add_node (model, "Gather", "rows", "s zero", "r");
  node_add_int (model_add_node (model, "Cast", "cast", "r", "f"), "to", 1);
  model_add_node (model, "Div", "div", "x f", "y");
  model_add_output (model, "y");
  return model;
}

static void
save (Model *model)
{
  g_autoptr (GBytes) bytes = model_pack (model);

  ck_assert (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                  (gssize) g_bytes_get_size (bytes), NULL));
  model_free (model);
}

static CleaveShapedProgram *
make (gint64 most, guint max_programs)
{
  const CleaveOnnxDim dim = { "n", most };
  const CleaveOnnxOptions options = { .dims = &dim, .n_dims = 1, .dynamic = TRUE };
  const CleaveProgramOptions program = { .n_threads = 1 };
  g_autoptr (GError) error = NULL;
  CleaveShapedProgram *shaped =
      cleave_shaped_program_new (path, &options, &program, max_programs, &error);

  cleave_assert_no_error (error);
  return shaped;
}

static CleaveTensor *
make_input (gint64 n, guint32 seed)
{
  return cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_FLOAT32, n, 8), seed, FALSE);
}

static GPtrArray *
run (CleaveShapedProgram *shaped, CleaveTensor *x)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *outputs = cleave_shaped_program_run (shaped, &x, 1, &error);

  cleave_assert_no_error (error);
  return outputs;
}

static void
assert_runs_as_exact (CleaveShapedProgram *shaped, gint64 n)
{
  g_autoptr (CleaveTensor) x = make_input (n, (guint32) n);
  g_autoptr (CleaveShapedProgram) exact = make (n, 1);
  g_autoptr (GPtrArray) got = run (shaped, x), want = run (exact, x);

  ck_assert_uint_eq (got->len, want->len);
  for (guint i = 0; i < want->len; i++)
    if (!cleave_tensor_equal (want->pdata[i], got->pdata[i]))
      ck_abort_msg ("%d rows: output %u differs", (int) n, i);
}

START_TEST (few_programs_run_all_sizes_of_a_batch)
{
  CleaveShapedStats stats;
  g_autoptr (CleaveShapedProgram) shaped = NULL;

  save (rows_new ());
  shaped = make (100, 0);
  for (gint64 n = 100; n > 0; n -= 3)
    assert_runs_as_exact (shaped, n);
  for (gint64 n = 2; n <= 100; n += 7)
    assert_runs_as_exact (shaped, n);
  cleave_shaped_program_get_stats (shaped, &stats);
  ck_assert_uint_le (stats.n_compiled, 8);
  ck_assert_uint_gt (stats.n_padded, 30);
}
END_TEST

START_TEST (dependent_rows_get_a_program_for_each_size)
{
  CleaveShapedStats stats;
  g_autoptr (CleaveShapedProgram) shaped = NULL;

  save (attention_new ());
  shaped = make (20, 4);
  for (guint i = 0; i < 2; i++)
    for (gint64 n = 20; n > 10; n -= 4)
      assert_runs_as_exact (shaped, n);
  cleave_shaped_program_get_stats (shaped, &stats);
  ck_assert_uint_eq (stats.n_compiled, 3);
  ck_assert_uint_eq (stats.n_padded, 0);
}
END_TEST

START_TEST (a_size_that_decides_a_constant_is_not_padded)
{
  CleaveShapedStats stats;
  g_autoptr (CleaveShapedProgram) shaped = NULL;

  save (size_new ());
  shaped = make (20, 0);
  for (gint64 n = 12; n <= 20; n += 2)
    assert_runs_as_exact (shaped, n);
  cleave_shaped_program_get_stats (shaped, &stats);
  ck_assert_uint_eq (stats.n_padded, 0);
}
END_TEST

START_TEST (the_dynamic_part_has_the_shapes_of_the_run)
{
  g_autoptr (CleaveShapedProgram) shaped = NULL;

  save (mask_new ());
  shaped = make (16, 0);
  for (gint64 n = 1; n <= 16; n += 3)
    assert_runs_as_exact (shaped, n);
}
END_TEST

START_TEST (the_program_that_was_not_used_for_longest_is_freed)
{
  CleaveShapedStats stats;
  g_autoptr (CleaveShapedProgram) shaped = NULL;

  save (attention_new ());
  shaped = make (20, 3);
  for (gint64 n = 19; n > 14; n--)
    assert_runs_as_exact (shaped, n);
  assert_runs_as_exact (shaped, 20);
  assert_runs_as_exact (shaped, 15);
  cleave_shaped_program_get_stats (shaped, &stats);
  ck_assert_uint_eq (stats.n_programs, 3);
  ck_assert_uint_eq (stats.n_compiled, 6);
  ck_assert_uint_eq (stats.n_shapes, 3);
}
END_TEST

START_TEST (an_input_without_rows_runs)
{
  g_autoptr (CleaveShapedProgram) shaped = NULL;
  g_autoptr (CleaveTensor) x = make_input (0, 1);
  g_autoptr (GPtrArray) got = NULL;

  save (rows_new ());
  shaped = make (4, 0);
  got = run (shaped, x);
  ck_assert_int_eq (cleave_tensor_get_type (got->pdata[0])->shape.dim[0], 0);
}
END_TEST

static void
assert_error (CleaveShapedProgram *shaped, const CleaveTensorType *type, const char *message)
{
  g_autoptr (CleaveTensor) x = cleave_tensor_new (type, NULL);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_shaped_program_run (shaped, &x, 1, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
  ck_assert_str_eq (error->message, message);
}

START_TEST (inputs_that_do_not_fit_are_errors)
{
  g_autoptr (CleaveShapedProgram) shaped = NULL;

  save (rows_new ());
  shaped = make (4, 0);
  assert_error (shaped, &CLEAVE_TYPE (CLEAVE_FLOAT32, 5, 8),
                "dimension 0 of input 'x' is 5, but the program was made for at most 4: make it "
                "for a larger shape");
  assert_error (shaped, &CLEAVE_TYPE (CLEAVE_FLOAT32, 4),
                "input 'x' must be float32 4x8 or smaller in some dimensions, not float32 4");
  assert_error (shaped, &CLEAVE_TYPE (CLEAVE_INT32, 4, 8),
                "input 'x' must be float32 4x8 or smaller in some dimensions, not int32 4x8");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = tcase_create ("shaped");

  tcase_set_timeout (tcase, 120);
  tcase_add_checked_fixture (tcase, make_folder, remove_folder);
  tcase_add_test (tcase, few_programs_run_all_sizes_of_a_batch);
  tcase_add_test (tcase, dependent_rows_get_a_program_for_each_size);
  tcase_add_test (tcase, a_size_that_decides_a_constant_is_not_padded);
  tcase_add_test (tcase, the_dynamic_part_has_the_shapes_of_the_run);
  tcase_add_test (tcase, the_program_that_was_not_used_for_longest_is_freed);
  tcase_add_test (tcase, an_input_without_rows_runs);
  tcase_add_test (tcase, inputs_that_do_not_fit_are_errors);
  suite_add_tcase (suite, tcase);
}

CLEAVE_TEST_SUITE ("shaped", add_tests)
