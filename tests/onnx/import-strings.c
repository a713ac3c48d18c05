/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Strings and label maps, which are in the dynamic part of a model. */

#include "test.h"

#include <string.h>

#include "interpret.h"
#include "models.h"

static const CleaveOnnxOptions with_dynamic = { .dynamic = TRUE };

/* Adds an initializer of strings. */
static void
add_strings (Model *model, const char *name, const char *const *texts, guint n, gboolean is_scalar)
{
  Onnx__TensorProto *tensor = model_add_initializer (
      model, name, is_scalar ? &CLEAVE_SCALAR (CLEAVE_INT64) : &CLEAVE_TYPE (CLEAVE_INT64, n),
      NULL);

  g_clear_pointer (&tensor->raw_data.data, g_free);
  tensor->has_raw_data = 0;
  tensor->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__STRING;
  tensor->n_string_data = n;
  tensor->string_data = g_new0 (ProtobufCBinaryData, n);
  for (guint i = 0; i < n; i++)
    tensor->string_data[i] =
        (ProtobufCBinaryData){ strlen (texts[i]), (uint8_t *) g_strdup (texts[i]) };
}

static void
declare (Model *model, guint output, int element)
{
  model_declare_output (model, output, NULL);
  model->graph->output[output]->type->tensor_type->elem_type = element;
}

/* Makes a model that gathers names by the integers of x, compares the names, replaces some names,
 * and maps names to other labels. */
static Model *
names_new (void)
{
  static const char *const names[] = { "cat", "dog", "V\303\266gel" }, *const lynx[] = { "lynx" };
  Model *model = model_new (16);
  Onnx__NodeProto *label;

  model_add_input (model, "x", "4");
  add_strings (model, "names", names, 3, FALSE);
  add_strings (model, "cat", names, 1, TRUE);
  add_strings (model, "lynx", lynx, 1, TRUE);
  node_add_int (model_add_node (model, "Cast", "kinds", "x", "k"), "to",
                ONNX__TENSOR_PROTO__DATA_TYPE__INT64);
  model_add_node (model, "Gather", "name", "names k", "n");
  model_add_node (model, "Equal", "is", "n cat", "i");
  model_add_node (model, "Where", "which", "i lynx n", "w");
  label = model_add_node (model, "LabelEncoder", "label", "w", "l");
  g_free (label->domain);
  label->domain = g_strdup ("ai.onnx.ml");
  node_add_strings (label, "keys_strings", names, 3);
  node_add_ints (label, "values_int64s", &CLEAVE_INTS (10, 20, 30));
  model_add_output (model, "w");
  model_add_output (model, "l");
  declare (model, 0, ONNX__TENSOR_PROTO__DATA_TYPE__STRING);
  declare (model, 1, ONNX__TENSOR_PROTO__DATA_TYPE__INT64);
  return model;
}

static GPtrArray *
run (const CleaveGraph *graph, GError **error)
{
  const float values[] = { 0, 1, 2, 0 };
  g_autoptr (CleaveTensor) x =
      cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4), values, NULL);
  g_autoptr (GPtrArray) got = cleave_interpret (graph, &x);
  const char *names[] = { cleave_graph_get_output_name (graph, 0) };

  return cleave_onnx_dynamic_run (cleave_onnx_get_dynamic (graph), names,
                                  (CleaveTensor *const *) got->pdata, 1, NULL, NULL, NULL, error);
}

static void
assert_names (const CleaveGraph *graph)
{
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);
  const gint64 labels[] = { -1, 20, 30, -1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) outputs = run (graph, &error);
  const CleaveTensorType *type;

  g_assert_no_error (error);
  ck_assert (cleave_onnx_dynamic_has_strings (dynamic, "w"));
  ck_assert (!cleave_onnx_dynamic_has_strings (dynamic, "l"));
  type = cleave_tensor_get_type (outputs->pdata[0]);
  ck_assert_int_eq (type->element, CLEAVE_UINT8);
  ck_assert (cleave_shape_equal (&type->shape, &CLEAVE_SHAPE (4, 6)));
  ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[0]),
                    "lynx\0\0dog\0\0\0V\303\266gellynx\0\0", 24);
  ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[1]), labels, sizeof labels);
}

START_TEST (strings_are_gathered_compared_and_mapped)
{
  g_autoptr (Model) model = names_new ();
  g_autoptr (GBytes) bytes = model_pack (model), written = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_onnx_parse (bytes, NULL, &with_dynamic, &error);
  g_autoptr (CleaveGraph) again = NULL;

  g_assert_no_error (error);
  ck_assert_uint_eq (cleave_onnx_dynamic_get_n_nodes (cleave_onnx_get_dynamic (graph)), 4);
  assert_names (graph);
  written = cleave_onnx_serialize (graph, &error);
  g_assert_no_error (error);
  again = cleave_onnx_parse (written, NULL, &with_dynamic, &error);
  g_assert_no_error (error);
  assert_names (again);
}
END_TEST

/* Imports and runs the model, and asserts that the run fails with the message `message`. */
static void
assert_run_error (const Model *model, const char *message)
{
  g_autoptr (GBytes) bytes = model_pack (model);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_onnx_parse (bytes, NULL, &with_dynamic, &error);

  g_assert_no_error (error);
  ck_assert_ptr_null (run (graph, &error));
  g_assert_error (error, CLEAVE_ERROR, CLEAVE_ERROR_MODEL);
  ck_assert_str_eq (error->message, message);
}

START_TEST (a_node_that_computes_with_strings_is_an_error)
{
  g_autoptr (Model) model = names_new ();

  model_add_node (model, "Neg", "neg", "n", "m");
  assert_run_error (model, "Neg 'neg': it reads strings, but computes with numbers");
}
END_TEST

START_TEST (an_output_must_have_the_strings_that_the_model_declares)
{
  g_autoptr (Model) model = names_new ();

  declare (model, 0, ONNX__TENSOR_PROTO__DATA_TYPE__INT64);
  assert_run_error (model, "the output 'w' has strings, but the model declares numbers");
}
END_TEST

START_TEST (a_label_map_needs_a_label_for_each_key)
{
  g_autoptr (Model) model = names_new ();
  Onnx__NodeProto *label = model->graph->node[4];

  label->attribute[1]->n_ints = 1;
  assert_run_error (model, "LabelEncoder 'label': it has 3 keys and 1 values");
}
END_TEST

/* Makes a model that compares the strings of its input. */
static Model *
compare_new (void)
{
  static const char *const dog[] = { "dog" };
  Model *model = model_new (16);

  model_add_input (model, "text", "3");
  model->graph->input[0]->type->tensor_type->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__STRING;
  add_strings (model, "dog", dog, 1, TRUE);
  model_add_node (model, "Equal", "is", "text dog", "i");
  model_add_output (model, "i");
  declare (model, 0, ONNX__TENSOR_PROTO__DATA_TYPE__BOOL);
  return model;
}

/* Runs a model that compare_new() made. */
static GPtrArray *
run_texts (const CleaveGraph *graph, const CleaveTensorType *type, const char *data, GError **error)
{
  const char *name = "text";
  g_autoptr (CleaveTensor) text = cleave_tensor_new_copy (type, data, NULL);

  return cleave_onnx_dynamic_run (cleave_onnx_get_dynamic (graph), &name, &text, 1, NULL, NULL,
                                  NULL, error);
}

START_TEST (an_input_of_strings_is_bytes_in_the_graph)
{
  g_autoptr (Model) model = compare_new ();
  g_autoptr (GBytes) bytes = model_pack (model), written = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_onnx_parse (bytes, NULL, &with_dynamic, &error);
  g_autoptr (CleaveGraph) again = NULL;
  g_autoptr (GPtrArray) outputs = NULL;

  g_assert_no_error (error);
  ck_assert (cleave_onnx_dynamic_has_strings (cleave_onnx_get_dynamic (graph), "text"));
  written = cleave_onnx_serialize (graph, &error);
  g_assert_no_error (error);
  again = cleave_onnx_parse (written, NULL, &with_dynamic, &error);
  g_assert_no_error (error);
  ck_assert (cleave_shape_equal (&cleave_result_get_type (cleave_graph_get_input (again, 0))->shape,
                                 &CLEAVE_SHAPE (3, 256)));
  outputs = run_texts (again, &CLEAVE_TYPE (CLEAVE_UINT8, 3, 4), "dog\0dogsdo\0g", &error);
  g_assert_no_error (error);
  ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[0]), "\1\0\0", 3);
}
END_TEST

START_TEST (strings_must_be_given_as_bytes)
{
  g_autoptr (Model) model = compare_new ();
  g_autoptr (GBytes) bytes = model_pack (model);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_onnx_parse (bytes, NULL, &with_dynamic, &error);

  g_assert_no_error (error);
  ck_assert_ptr_null (
      run_texts (graph, &CLEAVE_TYPE (CLEAVE_INT8, 3, 4), "dog\0dogsdo\0g", &error));
  g_assert_error (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION);
  ck_assert_str_eq (error->message,
                    "input 'text' has strings: give their bytes as uint8, with one dimension more");
}
END_TEST

START_TEST (strings_that_no_node_reads_stay_an_input)
{
  g_autoptr (Model) model = model_new (16);
  g_autoptr (CleaveGraph) graph = NULL, again = NULL;
  g_autoptr (GBytes) bytes = NULL, written = NULL;

  model_add_input (model, "x", "2");
  model_add_node (model, "Relu", "relu", "x", "y");
  model_add_output (model, "y");
  model_add_input (model, "text", "3");
  model->graph->input[1]->type->tensor_type->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__STRING;
  bytes = model_pack (model);
  graph = cleave_onnx_parse (bytes, NULL, &with_dynamic, NULL);
  ck_assert_uint_eq (cleave_onnx_dynamic_get_n_nodes (cleave_onnx_get_dynamic (graph)), 0);
  ck_assert (cleave_onnx_dynamic_has_strings (cleave_onnx_get_dynamic (graph), "text"));
  written = cleave_onnx_serialize (graph, NULL);
  again = cleave_onnx_parse (written, NULL, &with_dynamic, NULL);
  ck_assert (cleave_onnx_dynamic_has_strings (cleave_onnx_get_dynamic (again), "text"));
}
END_TEST

START_TEST (strings_are_an_error_without_a_dynamic_part)
{
  g_autoptr (Model) model = names_new ();

  model_assert_error (model, CLEAVE_ERROR_MODEL,
                      "tensor 'names': element type string is not supported");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "strings", strings_are_gathered_compared_and_mapped,
                   a_node_that_computes_with_strings_is_an_error,
                   an_output_must_have_the_strings_that_the_model_declares,
                   a_label_map_needs_a_label_for_each_key,
                   an_input_of_strings_is_bytes_in_the_graph, strings_must_be_given_as_bytes,
                   strings_that_no_node_reads_stay_an_input,
                   strings_are_an_error_without_a_dynamic_part, NULL);
}

CLEAVE_TEST_SUITE ("import-strings", add_tests)
