/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Control flow and variables of TensorFlow Lite files: IF, WHILE, CALL_ONCE and VAR_HANDLE. */

#include "graphs.h"
#include "run-help.h"
#include "tflite-file.h"

#define N(array) ((guint) G_N_ELEMENTS (array))

static CleaveGraph *
parse (GBytes *file)
{
  GError *error = NULL;
  CleaveGraph *graph = cleave_tflite_parse (file, &error);

  ck_assert_msg (graph != NULL, "%s", error == NULL ? "" : error->message);
  return graph;
}

static void
assert_refused (const TfliteGraph *const *graphs, const char *message)
{
  g_autoptr (GBytes) file = tflite_file_new_list (graphs);
  GError *error = NULL;

  ck_assert_ptr_null (cleave_tflite_parse (file, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_MODEL, message);
}

static CleaveTensor *
pair (float first, float second)
{
  return cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_FLOAT32, 2), (float[]){ first, second },
                                 NULL);
}

static void
assert_pair (const GPtrArray *tensors, guint i, float first, float second)
{
  const float *values = cleave_tensor_get_data (tensors->pdata[i]);

  ck_assert_float_eq (values[0], first);
  ck_assert_float_eq (values[1], second);
}

/* The WHILE multiplies x by (0.5, -2) three times. One branch of the IF assigns the product to the
 * variable and returns its negation; the other branch returns the product. */
START_TEST (variables_and_branches_follow_the_condition)
{
  g_autoptr (GPtrArray) files = tflite_file_examples ();
  g_autoptr (CleaveGraph) graph = parse (files->pdata[TFLITE_CONTROL_EXAMPLE]);

  ck_assert_uint_eq (cleave_count_nodes (graph, "Mul"), 3);
  ck_assert_str_eq (cleave_graph_get_output_name (graph, 2), "state_next");
  ck_assert_str_eq (cleave_graph_get_output_name (graph, 3), "state_initial");
  for (guint8 condition = 0; condition < 2; condition++)
    {
      g_autoptr (GPtrArray) inputs =
          g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
      g_autoptr (GPtrArray) outputs = NULL;

      g_ptr_array_add (inputs, pair (8, 1));
      g_ptr_array_add (inputs,
                       cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_BOOL, 1), &condition, NULL));
      g_ptr_array_add (inputs, pair (5, 6));
      outputs = run_graph (graph, inputs, 1);
      assert_pair (outputs, 0, condition ? -1 : 1, condition ? 8 : -8);
      assert_pair (outputs, 1, condition ? 1 : 5, condition ? -8 : 6);
      assert_pair (outputs, 2, condition ? 1 : 5, condition ? -8 : 6);
      assert_pair (outputs, 3, 1, 2);
    }
}
END_TEST

/* All iterations read the constants of the body from the same nodes. */
START_TEST (iterations_share_constants)
{
  g_autoptr (GPtrArray) files = tflite_file_examples ();
  g_autoptr (CleaveGraph) graph = parse (files->pdata[TFLITE_CONTROL_EXAMPLE]);

  ck_assert_uint_eq (cleave_count_nodes (graph, "Constant"),
                     2); /* the constant "half", and the initial value of the variable */
}
END_TEST

/* The file reads the variable `kept` and never assigns it. So the output kept_next, the value for
 * the next run, is the value of the input. No CALL_ONCE sets an initial value, so the graph has no
 * output kept_initial. */
START_TEST (a_variable_keeps_its_value)
{
  static const TfliteTensor tensors[] = {
    { .name = "handle", .type = TFLITE_RESOURCE, .shape = "0" },
    { .name = "y", .shape = "2" },
  };
  static const TfliteOperator operators[] = {
    { 142, "kept", { 0 }, 0, { 0 }, 1, 111, { { 1, 's', 0 } } },
    { 143, NULL, { 0 }, 1, { 1 }, 1, 0, { { 0 } } },
  };
  const TfliteGraph file = { .tensors = tensors,
                             .n_tensors = N (tensors),
                             .operators = operators,
                             .n_operators = N (operators),
                             .outputs = { 1 },
                             .n_outputs = 1 };
  g_autoptr (GBytes) bytes = tflite_file_new (&file);
  g_autoptr (CleaveGraph) graph = parse (bytes);
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) outputs = NULL;

  ck_assert_uint_eq (cleave_graph_get_n_outputs (graph), 2);
  ck_assert_str_eq (cleave_graph_get_output_name (graph, 1), "kept_next");
  g_ptr_array_add (inputs, pair (3, 4));
  outputs = run_graph (graph, inputs, 1);
  assert_pair (outputs, 0, 3, 4);
  assert_pair (outputs, 1, 3, 4);
}
END_TEST

/* The import refuses a subgraph that calls itself, a loop that does not end, and a loop whose end
 * depends on an input of the graph. */
#define DEEP                                                                                       \
  "operator 0, WHILE 'y': subgraph 1: " CALLS CALLS CALLS CALLS CALLS CALLS CALLS CALLS CALLS      \
      CALLS CALLS CALLS CALLS CALLS CALLS                                                          \
  "operator 0, IF 'other': it calls subgraph 1 too often, or from "                                \
  "too many subgraphs"
#define CALLS "operator 0, IF 'other': subgraph 1: "

START_TEST (loops_without_a_known_end_are_refused)
{
  static const guint8 yes[1] = { 1 };
  static const TfliteTensor inner[] = {
    { .name = "c", .type = TFLITE_BOOL, .shape = "1" },
    { .name = "yes", .type = TFLITE_BOOL, .shape = "1", .data = yes, .n_bytes = 1 },
    { .name = "other", .type = TFLITE_BOOL, .shape = "1" },
  };
  TfliteOperator calls = { 118, NULL, { 1, 0 }, 2, { 2 }, 1, 92, { { 0, 'i', 1 }, { 1, 'i', 1 } } };
  TfliteGraph called = { .tensors = inner,
                         .n_tensors = N (inner),
                         .inputs = { 0 },
                         .n_inputs = 1,
                         .outputs = { 1 },
                         .n_outputs = 1 };
  static const TfliteTensor tensors[] = {
    { .name = "x", .type = TFLITE_BOOL, .shape = "1" },
    { .name = "y", .type = TFLITE_BOOL, .shape = "1" },
  };
  TfliteOperator loop = { 119, NULL, { 0 }, 1, { 1 }, 1, 93, { { 0, 'i', 1 }, { 1, 'i', 1 } } };
  TfliteGraph file = { .tensors = tensors,
                       .n_tensors = N (tensors),
                       .operators = &loop,
                       .n_operators = 1,
                       .n_inputs = 1,
                       .outputs = { 1 },
                       .n_outputs = 1 };
  const TfliteGraph *const files[] = { &file, &called, NULL };

  assert_refused (files, "operator 0, WHILE 'y': it calls subgraph 1 too often, or from too many "
                         "subgraphs");
  called.outputs[0] = 0;
  assert_refused (files, "operator 0, WHILE 'y': its condition must depend on constants alone, "
                         "since loops are unrolled");
  called.operators = &calls;
  called.n_operators = 1;
  assert_refused (files, DEEP);
  loop.options[0].value = 7;
  assert_refused (files, "operator 0, WHILE 'y': it calls subgraph 7, the file has 2");
  loop.options[0].value = 0;
  assert_refused (files, "operator 0, WHILE 'y': it calls subgraph 0, the file has 2");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "control", variables_and_branches_follow_the_condition,
                   iterations_share_constants, a_variable_keeps_its_value,
                   loops_without_a_known_end_are_refused, NULL);
}

CLEAVE_TEST_SUITE ("tflite control", add_tests)
