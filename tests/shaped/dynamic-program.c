/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Programs of a dynamic part. A program is compiled once for a shape, and must compute the bits of
 * the reference kernels. */

#include "graphs.h"
#include "interpret.h"
#include "models.h"
#include "run-help.h"

/* Number of rows of x, of columns of x, and of columns of the product. A product of 70 rows is
 * expensive enough for a program. */
#define N_ROWS 400
#define N_IN 300
#define N_OUT 200

static void
add_rows (Model *model)
{
  const float zero = 0;

  model_add_input (model, "x", "400x300");
  model_add_initializer (model, "zero", &CLEAVE_SCALAR (CLEAVE_FLOAT32), &zero);
  node_add_ints (model_add_node (model, "ReduceMax", "most", "x", "m"), "axes", &CLEAVE_INTS (1));
  model_add_node (model, "Greater", "greater", "m zero", "g");
  node_add_int (model_add_node (model, "Compress", "rows", "x g", "r"), "axis", 0);
}

static void
add_weights (Model *model, const char *name, gint64 n_in, gint64 n_out)
{
  g_autoptr (CleaveTensor) w =
      cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_FLOAT32, n_in, n_out), 7, FALSE);

  model_add_initializer (model, name, cleave_tensor_get_type (w), cleave_tensor_get_data (w));
}

/* Makes a model with a product of the rows of x that have a positive element. */
static Model *
product_new (void)
{
  Model *model = model_new (16);

  add_rows (model);
  add_weights (model, "w", N_IN, N_OUT);
  model_add_node (model, "MatMul", "product", "r w", "y");
  model_add_output (model, "y");
  return model;
}

/* Makes a model of attention among the rows of x that have a positive element. The model computes
 * both operands of each product, and each row of the result depends on all these rows. */
static Model *
attention_new (void)
{
  Model *model = model_new (16);

  add_rows (model);
  node_add_ints (model_add_node (model, "Transpose", "turned", "r", "t"), "perm",
                 &CLEAVE_INTS (1, 0));
  model_add_node (model, "MatMul", "scores", "r t", "s");
  model_add_node (model, "Softmax", "softmax", "s", "p");
  model_add_node (model, "MatMul", "values", "p r", "y");
  model_add_output (model, "y");
  return model;
}

/* Makes a model in which three layers follow each other. The first layer reads the rows of x that
 * have a positive element. The model also has the indices of the positive elements of the first
 * layer. */
static Model *
layers_new (void)
{
  Model *model = model_new (16);

  add_rows (model);
  add_weights (model, "w", N_IN, N_OUT);
  add_weights (model, "v", N_OUT, N_OUT);
  model_add_node (model, "MatMul", "first", "r w", "a");
  model_add_node (model, "Clip", "clip", "a zero", "b");
  model_add_node (model, "MatMul", "second", "b v", "c")->doc_string = g_strdup ("the second");
  model_add_node (model, "NonZero", "indices", "b", "i");
  model_add_node (model, "MatMul", "third", "c v", "y");
  model_add_output (model, "y");
  model_add_output (model, "i");
  return model;
}

static CleaveGraph *
import (Model *model)
{
  const CleaveOnnxOptions options = { .dynamic = TRUE };
  g_autoptr (GBytes) bytes = model_pack (model);
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_onnx_parse (bytes, NULL, &options, &error);

  cleave_assert_no_error (error);
  model_free (model);
  return graph;
}

/* Makes an input whose first `n` rows have a positive element. */
static CleaveTensor *
make_rows (gint64 n, guint32 seed)
{
  CleaveTensor *x = cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_FLOAT32, N_ROWS, N_IN), seed, FALSE);
  float *data = cleave_tensor_get_mutable_data (x);

  for (gint64 i = 0; i < N_ROWS * N_IN; i++)
    data[i] = -ABS (data[i]);
  for (gint64 i = 0; i < n; i++)
    data[i * N_IN + i % N_IN] = 1 + (float) i;
  return x;
}

/* Runs a model on an input with `n` rows, and compares the outputs with the outputs of the
 * reference kernels. */
static void
assert_runs (const CleaveGraph *graph, CleaveDynamicProgram *program, gint64 n, guint32 seed)
{
  g_autoptr (CleaveTensor) x = make_rows (n, seed);
  g_autoptr (GPtrArray) outputs = cleave_interpret (graph, &x), got, want;
  const char *names[] = { "x", cleave_graph_get_output_name (graph, 0) };
  CleaveTensor *values[] = { x, outputs->pdata[0] };
  g_autoptr (GError) error = NULL;

  got = cleave_dynamic_program_run (program, names, values, 2, NULL, &error);
  cleave_assert_no_error (error);
  want = cleave_onnx_dynamic_run (cleave_onnx_get_dynamic (graph), names, values, 2, NULL, NULL,
                                  NULL, &error);
  cleave_assert_no_error (error);
  ck_assert_int_eq (cleave_tensor_get_type (got->pdata[0])->shape.dim[0], n);
  for (guint i = 0; i < want->len; i++)
    ck_assert (cleave_tensor_equal (got->pdata[i], want->pdata[i]));
}

static CleaveDynamicProgram *
program_new (const CleaveGraph *graph)
{
  const CleaveProgramOptions options = { .n_threads = 1 };

  return cleave_dynamic_program_new (cleave_onnx_get_dynamic (graph), &options);
}

START_TEST (four_runs_with_two_shapes_compile_two_programs)
{
  g_autoptr (CleaveGraph) graph = import (product_new ());
  g_autoptr (CleaveDynamicProgram) program = program_new (graph);
  CleaveShapedStats stats;

  for (guint i = 0; i < 4; i++)
    assert_runs (graph, program, i % 2 == 0 ? 300 : 100, i);
  cleave_dynamic_program_get_stats (program, &stats);
  ck_assert_uint_eq (stats.n_compiled, 2);
  ck_assert_uint_eq (stats.n_padded, 0);
}
END_TEST

START_TEST (a_program_also_runs_fewer_rows)
{
  g_autoptr (CleaveGraph) graph = import (product_new ());
  g_autoptr (CleaveDynamicProgram) program = program_new (graph);
  CleaveShapedStats stats;

  for (gint64 n = 300; n >= 150; n -= 50)
    assert_runs (graph, program, n, (guint32) n);
  cleave_dynamic_program_get_stats (program, &stats);
  ck_assert_uint_eq (stats.n_compiled, 1);
  ck_assert_uint_eq (stats.n_padded, 3);
}
END_TEST

START_TEST (computed_operands_are_inputs_of_a_program)
{
  g_autoptr (CleaveGraph) graph = import (attention_new ());
  g_autoptr (CleaveDynamicProgram) program = program_new (graph);
  CleaveShapedStats stats;

  for (guint i = 0; i < 6; i++)
    assert_runs (graph, program, i % 2 == 0 ? 300 : 140, i);
  cleave_dynamic_program_get_stats (program, &stats);
  /* Both products and the Softmax are one program, which is compiled for two numbers of rows. */
  ck_assert_uint_eq (stats.n_compiled, 2);
}
END_TEST

START_TEST (a_program_ends_before_a_node_that_needs_contents)
{
  g_autoptr (CleaveGraph) graph = import (layers_new ());
  g_autoptr (CleaveDynamicProgram) program = program_new (graph);
  CleaveShapedStats stats;

  for (guint i = 0; i < 4; i++)
    assert_runs (graph, program, i % 2 == 0 ? 300 : 250, i);
  cleave_dynamic_program_get_stats (program, &stats);
  /* One program has the two layers before the NonZero, and another program has the third layer. */
  ck_assert_uint_eq (stats.n_compiled, 2);
  ck_assert_uint_eq (stats.n_padded, 4);
}
END_TEST

START_TEST (the_number_of_kept_programs_is_bounded)
{
  g_autoptr (CleaveGraph) graph = import (attention_new ());
  g_autoptr (CleaveDynamicProgram) program = program_new (graph);
  CleaveShapedStats stats;

  for (gint64 n = 130; n < 196; n++)
    assert_runs (graph, program, n, (guint32) n);
  cleave_dynamic_program_get_stats (program, &stats);
  ck_assert_uint_eq (stats.n_programs, 64);
  ck_assert_uint_ge (stats.n_compiled, 65);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = tcase_create ("dynamic-program");

  tcase_set_timeout (tcase, 240);
  tcase_add_test (tcase, four_runs_with_two_shapes_compile_two_programs);
  tcase_add_test (tcase, a_program_also_runs_fewer_rows);
  tcase_add_test (tcase, computed_operands_are_inputs_of_a_program);
  tcase_add_test (tcase, a_program_ends_before_a_node_that_needs_contents);
  tcase_add_test (tcase, the_number_of_kept_programs_is_bounded);
  suite_add_tcase (suite, tcase);
}

CLEAVE_TEST_SUITE ("dynamic-program", add_tests)
