/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The import of models whose shapes depend on data: the nodes of the dynamic part, its errors, and
 * its results. */

#include "dynamic-models.h"

#include <gio/gio.h>
#include <string.h>

#include "interpret.h"
#include "test.h"

START_TEST (nodes_after_a_data_dependent_shape_are_dynamic)
{
  g_autoptr (Model) model = dynamic_mask_new ();
  g_autoptr (CleaveGraph) graph = dynamic_import (model);
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);
  static const char *const names[] = { "where", "rows", "values" };
  static const char *const values[] = { "above", "i", "j" };

  ck_assert_uint_eq (cleave_onnx_dynamic_get_n_nodes (dynamic), 3);
  for (guint i = 0; i < 3; i++)
    {
      const CleaveOnnxDynamicNode *node = cleave_onnx_dynamic_get_node (dynamic, i);

      ck_assert_str_eq (node->name, names[i]);
      ck_assert_str_eq (node->value, values[i]);
      ck_assert (node->is_cause == (i == 0));
      ck_assert_int_eq (node->max_bytes, i == 0 ? 24 * 2 * 8 : -1);
    }
  ck_assert (cleave_onnx_dynamic_computes (dynamic, "v"));
  ck_assert (!cleave_onnx_dynamic_computes (dynamic, "n"));
}
END_TEST

START_TEST (the_graph_ends_with_the_values_that_the_dynamic_part_reads)
{
  g_autoptr (Model) model = dynamic_mask_new ();
  g_autoptr (CleaveGraph) graph = dynamic_import (model);
  static const char *const names[] = { "n", "above", "r" };

  ck_assert (cleave_graph_validate (graph, NULL));
  ck_assert_uint_eq (cleave_graph_get_n_outputs (graph), G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    ck_assert_str_eq (cleave_graph_get_output_name (graph, i), names[i]);
}
END_TEST

START_TEST (without_the_option_such_a_node_is_an_error)
{
  g_autoptr (Model) model = dynamic_mask_new ();

  model_assert_error (model, CLEAVE_ERROR_MODEL,
                      "NonZero 'where': operand 0 depends on the input 'x', but must be constant: "
                      "shapes are static (give its value)");
}
END_TEST

START_TEST (a_static_model_has_no_dynamic_part)
{
  g_autoptr (Model) model = model_new (16);
  g_autoptr (CleaveGraph) graph = NULL;

  model_add_input (model, "x", "4x6");
  model_add_node (model, "Relu", "relu", "x", "y");
  model_add_output (model, "y");
  graph = dynamic_import (model);
  ck_assert_ptr_null (cleave_onnx_get_dynamic (graph));
}
END_TEST

START_TEST (an_undefined_operand_of_a_dynamic_node_is_an_error)
{
  g_autoptr (Model) model = dynamic_mask_new ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  model_add_node (model, "Add", "add", "v missing", "s");
  bytes = model_pack (model);
  ck_assert_ptr_null (cleave_onnx_parse (bytes, NULL, &dynamic_options, &error));
  g_assert_error (error, CLEAVE_ERROR, CLEAVE_ERROR_MODEL);
  ck_assert_str_eq (error->message, "Add 'add': its operand 'missing' is not defined");
}
END_TEST

START_TEST (other_errors_stay_errors)
{
  g_autoptr (Model) model = dynamic_mask_new ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  model_add_node (model, "MatMul", "product", "x x", "p");
  bytes = model_pack (model);
  ck_assert_ptr_null (cleave_onnx_parse (bytes, NULL, &dynamic_options, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "MatMul 'product'"));
}
END_TEST

START_TEST (a_run_gives_the_bits_of_folded_constants)
{
  g_autoptr (Model) model = dynamic_mask_new ();
  g_autoptr (CleaveGraph) graph = dynamic_import (model);

  for (guint64 seed = 0; seed < 5; seed++)
    {
      g_autoptr (CleaveTensor) x = dynamic_make_x (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 6), seed);
      g_autoptr (GPtrArray) got = dynamic_run (graph, x, NULL), want = dynamic_fold (model, x);

      dynamic_assert_equal (got, want);
    }
}
END_TEST

/* Makes a Loop that doubles a matrix until one of its elements is above a limit. */
static Model *
loop_new (gint64 rows)
{
  Model *model = model_new (16), *body = model_new (16);
  const gint64 many = 1 << 20;
  const float limit = 1e6;
  g_autofree char *dims = g_strdup_printf ("%" G_GINT64_FORMAT "x64", rows);

  model_add_input (model, "x", dims);
  model_add_initializer (model, "many", &CLEAVE_SCALAR (CLEAVE_INT64), &many);
  model_add_initializer (model, "limit", &CLEAVE_SCALAR (CLEAVE_FLOAT32), &limit);
  model_add_node (model, "Abs", "abs", "x", "a");
  model_add_node (model, "Loop", "loop", "many - a", "y");
  model_add_output (model, "y");
  model_add_input (body, "i", "");
  model_add_input (body, "c", "");
  model_add_input (body, "s", dims);
  model_add_node (body, "Add", "double", "s s", "t");
  node_add_int (model_add_node (body, "ReduceMax", "most", "t", "m"), "keepdims", 0);
  model_add_node (body, "Less", "less", "m limit", "d");
  model_add_output (body, "d");
  model_add_output (body, "t");
  node_add_graph (model->graph->node[1], "body", body);
  return model;
}

START_TEST (a_loop_runs_until_its_condition_ends_it)
{
  g_autoptr (Model) model = loop_new (4);
  g_autoptr (CleaveGraph) graph = dynamic_import (model);
  g_autoptr (CleaveTensor) x = dynamic_make_x (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 64), 3);
  CleaveOnnxDynamicStats stats;
  g_autoptr (GPtrArray) got = dynamic_run (graph, x, &stats), want = dynamic_fold (model, x);

  dynamic_assert_equal (got, want);
  ck_assert_int_gt (stats.n_calls, 3 * 10);
}
END_TEST

/* A state of 0 stays below the limit, so only the cancellation ends the Loop. */
START_TEST (a_loop_can_be_cancelled)
{
  g_autoptr (Model) model = loop_new (4);
  g_autoptr (CleaveGraph) graph = dynamic_import (model);
  g_autoptr (CleaveTensor) x = cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 64), NULL);
  g_autoptr (GPtrArray) outputs = cleave_interpret (graph, &x), got = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  const char *names[] = { "x", cleave_graph_get_output_name (graph, 0) };
  CleaveTensor *values[] = { x, outputs->pdata[0] };
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_cancellable_push_current (cancellable);
  got = cleave_onnx_dynamic_run (cleave_onnx_get_dynamic (graph), names, values, 2, NULL, NULL,
                                 NULL, &error);
  g_cancellable_pop_current (cancellable);
  ck_assert_ptr_null (got);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  ck_assert (g_str_has_prefix (error->message, "Loop 'loop', after 0 iterations: "));
}
END_TEST

/* Each of about 20 iterations computes two matrices. At most three matrices are live at once, since
 * an iteration frees the values of the iteration before. */
START_TEST (an_iteration_frees_the_values_of_the_one_before)
{
  g_autoptr (Model) model = loop_new (64);
  g_autoptr (CleaveGraph) graph = dynamic_import (model);
  g_autoptr (CleaveTensor) x = dynamic_make_x (&CLEAVE_TYPE (CLEAVE_FLOAT32, 64, 64), 3);
  CleaveOnnxDynamicStats stats;
  g_autoptr (GPtrArray) got = dynamic_run (graph, x, &stats);

  ck_assert_uint_eq (got->len, 1);
  ck_assert_int_le (stats.peak_bytes, 3 * 64 * 64 * 4 + 1024);
}
END_TEST

START_TEST (a_sequence_that_a_dynamic_node_reads_is_dynamic)
{
  g_autoptr (Model) model = dynamic_mask_new ();
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (CleaveTensor) x = dynamic_make_x (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 6), 2);
  g_autoptr (GPtrArray) got = NULL, want = NULL;
  const gint64 two = 2;
  guint n_splits = 0;

  model_add_initializer (model, "two", &CLEAVE_SCALAR (CLEAVE_INT64), &two);
  model_add_node (model, "SplitToSequence", "s", "r two", "s");
  model_add_node (model, "Size", "size", "v", "size");
  model_add_node (model, "Mod", "mod", "size two", "at");
  model_add_node (model, "SequenceAt", "pick", "s at", "picked");
  model_add_output (model, "picked");
  graph = dynamic_import (model);
  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    n_splits += g_str_equal (cleave_op_get_name (cleave_node_get_op (node)), "Split");
  ck_assert_uint_eq (n_splits, 0);
  got = dynamic_run (graph, x, NULL);
  want = dynamic_fold (model, x);
  dynamic_assert_equal (got, want);
}
END_TEST

START_TEST (a_run_without_a_value_that_it_reads_is_an_error)
{
  g_autoptr (Model) model = dynamic_mask_new ();
  g_autoptr (CleaveGraph) graph = dynamic_import (model);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_onnx_dynamic_run (cleave_onnx_get_dynamic (graph), NULL, NULL, 0, NULL,
                                               NULL, NULL, &error));
  g_assert_error (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION);
  ck_assert_ptr_nonnull (strstr (error->message, "'above'"));
}
END_TEST

START_TEST (the_dynamic_part_outlives_its_graph)
{
  g_autoptr (Model) model = dynamic_mask_new ();
  CleaveGraph *graph = dynamic_import (model);
  g_autoptr (CleaveOnnxDynamic) dynamic = cleave_onnx_dynamic_ref (cleave_onnx_get_dynamic (graph));
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);

  cleave_graph_unref (graph);
  ck_assert_ptr_eq (cleave_onnx_get_dynamic (copy), dynamic);
  ck_assert_uint_eq (cleave_onnx_dynamic_get_n_nodes (dynamic), 3);
  ck_assert_str_eq (cleave_onnx_dynamic_get_outputs (dynamic)[1], "n");
}
END_TEST

/* Makes a product of weights and the rows of x whose first element is positive. */
static Model *
product_new (void)
{
  Model *model = model_new (16);
  const float zero = 0;
  g_autofree float *w = g_new (float, 300 * 200);

  for (guint i = 0; i < 300 * 200; i++)
    w[i] = (float) (i % 17) / 16 - 0.5F;
  model_add_input (model, "x", "200x300");
  model_add_initializer (model, "zero", &CLEAVE_SCALAR (CLEAVE_FLOAT32), &zero);
  model_add_initializer (model, "w", &CLEAVE_TYPE (CLEAVE_FLOAT32, 300, 200), w);
  node_add_ints (model_add_node (model, "ReduceMax", "most", "x", "m"), "axes", &CLEAVE_INTS (1));
  model_add_node (model, "Greater", "greater", "m zero", "g");
  model_add_node (model, "Compress", "rows", "x g", "r");
  node_add_int (model->graph->node[2], "axis", 0);
  model_add_node (model, "MatMul", "product", "r w", "y");
  model_add_output (model, "y");
  return model;
}

START_TEST (the_caller_computes_expensive_nodes)
{
  g_autoptr (Model) model = product_new ();
  g_autoptr (CleaveGraph) graph = dynamic_import (model);
  g_autoptr (CleaveTensor) x = dynamic_make_x (&CLEAVE_TYPE (CLEAVE_FLOAT32, 200, 300), 1);
  g_autoptr (GPtrArray) want = dynamic_run (graph, x, NULL), outputs = cleave_interpret (graph, &x),
                        got;
  const char *names[] = { "x", cleave_graph_get_output_name (graph, 0) };
  CleaveTensor *values[] = { x, outputs->pdata[0] };
  g_autoptr (GError) error = NULL;
  guint n_computed = 0;

  got = cleave_onnx_dynamic_run (cleave_onnx_get_dynamic (graph), names, values, 2,
                                 cleave_interpret_into, &n_computed, NULL, &error);
  g_assert_no_error (error);
  ck_assert_uint_eq (n_computed, 1);
  dynamic_assert_equal (got, want);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "import-dynamic", nodes_after_a_data_dependent_shape_are_dynamic,
      the_graph_ends_with_the_values_that_the_dynamic_part_reads,
      without_the_option_such_a_node_is_an_error, a_static_model_has_no_dynamic_part,
      an_undefined_operand_of_a_dynamic_node_is_an_error, other_errors_stay_errors,
      a_run_gives_the_bits_of_folded_constants, a_loop_runs_until_its_condition_ends_it,
      the_caller_computes_expensive_nodes, an_iteration_frees_the_values_of_the_one_before,
      a_loop_can_be_cancelled, a_sequence_that_a_dynamic_node_reads_is_dynamic,
      a_run_without_a_value_that_it_reads_is_an_error, the_dynamic_part_outlives_its_graph, NULL);
}

CLEAVE_TEST_SUITE ("import-dynamic", add_tests)
