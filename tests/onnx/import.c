/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The import of ONNX models: their files, and the forms of their nodes. */

#include "imported.h"

static const CleaveTensorType weights = { CLEAVE_FLOAT32, { 4, { 4, 3, 3, 3 } } };

static void
assert_parse_error (gconstpointer data, gsize size, const char *message)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_onnx_parse (bytes, NULL, NULL, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_MODEL, message);
}

START_TEST (bytes_that_are_no_model_are_an_error)
{
  assert_parse_error ("", 0, "not an ONNX model: it is empty");
  assert_parse_error ("hello, world", 12, "not an ONNX model: no value at byte 3");
  assert_parse_error ("\x08\x08", 2, "not an ONNX model: it has no graph");
  assert_parse_error (
      "\x0a", 1,
      "not an ONNX model: the file is incomplete, since a length reaches beyond its end at byte 1");
  assert_parse_error ("\x0f", 1, "not an ONNX model: no value at byte 1");
  assert_parse_error ("\x3a\x00\x3a\x00", 4, "not an ONNX model: a field comes twice at byte 4");
  assert_parse_error ("\x38\x00", 2, "not an ONNX model: a field has the wrong type");
}
END_TEST

START_TEST (every_truncation_is_an_error)
{
  g_autoptr (Model) model = model_of (13, "Conv", "x w");
  g_autoptr (GBytes) bytes = NULL;

  model_add_initializer (model, "w", &weights, NULL);
  bytes = model_pack (model);
  for (gsize n = 0; n < g_bytes_get_size (bytes); n++)
    {
      g_autoptr (GBytes) part = g_bytes_new_from_bytes (bytes, 0, n);
      g_autoptr (GError) error = NULL;

      ck_assert_msg (cleave_onnx_parse (part, NULL, NULL, &error) == NULL, "%u bytes", (guint) n);
      ck_assert_int_eq (error->domain, CLEAVE_ERROR);
    }
}
END_TEST

/* Replaces the bytes of a message by an outer message. The outer message has one field, with the
 * tag `tag`: the old message. */
static void
wrap (GByteArray *bytes, guint8 tag)
{
  guint8 header[6] = { tag };
  guint n = 1;

  for (guint rest = bytes->len; n == 1 || rest > 0; rest >>= 7)
    header[n++] = (guint8) ((rest & 0x7f) | (rest >> 7 > 0 ? 0x80 : 0));
  g_byte_array_prepend (bytes, header, n);
}

/* The file has many nested messages: the graph has a node with an attribute that is a graph with a
 * node, and so on. */
START_TEST (deep_nesting_is_an_error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  for (guint i = 0; i < 10000; i++)
    {
      wrap (bytes, 0x32); /* tag of the field `g` of AttributeProto */
      wrap (bytes, 0x2a); /* tag of the field `attribute` of NodeProto */
      wrap (bytes, 0x0a); /* tag of the field `node` of GraphProto */
    }
  wrap (bytes, 0x3a); /* tag of the field `graph` of ModelProto */
  assert_parse_error (bytes->data, bytes->len,
                      "not an ONNX model: messages nest too deep at byte 256");
}
END_TEST

START_TEST (an_unreadable_file_is_a_file_error)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_onnx_load ("/nowhere/model.onnx", NULL, &error));
  ck_assert (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT));
}
END_TEST

START_TEST (another_declared_shape_of_an_output_is_a_warning)
{
  static const struct
  {
    const char *declared, *warning;
  } cases[] = {
    { "1x3x8x9", "output 'y' is 1x3x8x8; the model declares 1x3x8x9, which is ignored" },
    { "1x3x8", "output 'y' is 1x3x8x8; the model declares 1x3x8, which is ignored" },
    { "", "output 'y' is 1x3x8x8; the model declares a scalar, which is ignored" },
    { "1x3x8x8", NULL },
    { "nx3x8x0", NULL },
    { "nx3", NULL },
    { NULL, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Model) model = model_of (13, "Relu", "x");
      g_autoptr (CleaveGraph) graph = NULL, copy = NULL;
      const char *const *warnings;

      model_declare_output (model, 0, cases[i].declared);
      graph = model_import (model, NULL);
      ck_assert_ptr_nonnull (graph);
      copy = cleave_graph_copy (graph);
      warnings = cleave_onnx_get_warnings (copy);
      if (cases[i].warning == NULL)
        ck_assert_ptr_null (warnings[0]);
      else
        {
          ck_assert_str_eq (warnings[0], cases[i].warning);
          ck_assert_ptr_null (warnings[1]);
        }
    }
}
END_TEST

START_TEST (a_graph_of_no_model_has_no_warnings)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);

  ck_assert_ptr_null (cleave_onnx_get_warnings (graph)[0]);
}
END_TEST

START_TEST (versions_are_checked)
{
  static const gint64 opsets[] = { 0, 27, -1 };
  static const char *const messages[] = {
    "the model does not say which opset it uses",
    "opset 27 is not supported: it must be between 1 and 26",
    "opset -1 is not supported: it must be between 1 and 26",
  };
  g_autoptr (Model) model = model_of (13, "Relu", "x");

  for (guint i = 0; i < G_N_ELEMENTS (opsets); i++)
    {
      model->opset_import[0]->version = opsets[i];
      model_assert_error (model, CLEAVE_ERROR_MODEL, messages[i]);
    }
  model->opset_import[0]->version = 13;
  model->ir_version = 99;
  model_assert_error (model, CLEAVE_ERROR_MODEL,
                      "IR version 99 is not supported: it must be between 1 and 13");
  model->has_ir_version = 0;
  model_assert_error (model, CLEAVE_ERROR_MODEL,
                      "IR version 0 is not supported: it must be between 1 and 13");
  model->has_ir_version = 1;
  model->ir_version = 8;
  model->opset_import[0]->domain = g_strdup ("com.example");
  model_assert_error (model, CLEAVE_ERROR_MODEL, "the model does not say which opset it uses");
  strcpy (model->opset_import[0]->domain, "ai.onnx");
  model_assert_dump (model, "%0 = Input : float32 1x3x8x8  # x\n"
                            "%1 = Relu %0 : float32 1x3x8x8  # n\n"
                            "output %1  # y\n");
}
END_TEST

START_TEST (an_unknown_op_names_op_node_and_opset)
{
  g_autoptr (Model) model = model_of (13, "Wavelet", "x");

  model_assert_error (model, CLEAVE_ERROR_MODEL, "Wavelet 'n': opset 13 has no such op here");
  model->graph->node[0]->domain = g_strdup ("com.microsoft");
  model_assert_error (
      model, CLEAVE_ERROR_MODEL,
      "com.microsoft:Wavelet 'n': the type of its result 'y' is not known: value_info "
      "gives it no shape");
}
END_TEST

START_TEST (unsupported_values_are_refused_with_the_reason)
{
  static const struct
  {
    const char *op, *message;
  } cases[] = {
    { "RandomNormalLike",
      "random numbers are not supported: a run must give the same results again" },
    { "StringNormalizer", "strings are not supported: values are numbers" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Model) model = model_of (16, cases[i].op, "x");
      g_autofree char *message = g_strdup_printf ("%s 'n': %s", cases[i].op, cases[i].message);

      model_assert_error (model, CLEAVE_ERROR_MODEL, message);
    }
}
END_TEST

START_TEST (structural_ops_are_not_allowed_in_files)
{
  g_autoptr (Model) model = model_of (17, "Assemble", "x");

  model_assert_error (model, CLEAVE_ERROR_MODEL, "Assemble 'n': opset 17 has no such op here");
}
END_TEST

START_TEST (a_subgraph_is_an_error)
{
  g_autoptr (Model) model = model_of (13, "Relu", "x");

  node_add_attr (model->graph->node[0], "then_branch",
                 ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH);
  model_assert_error (model, CLEAVE_ERROR_MODEL,
                      "Relu 'n': attribute 'then_branch' is a graph, which is not supported");
}
END_TEST

START_TEST (attributes_are_checked)
{
  g_autoptr (Model) unknown = model_of (13, "Conv", "x w");
  g_autoptr (Model) twice = model_of (13, "Conv", "x w");
  g_autoptr (Model) type = model_of (13, "Conv", "x w");
  g_autoptr (Model) range = model_of (13, "Conv", "x w");

  model_add_initializer (unknown, "w", &weights, NULL);
  model_add_initializer (twice, "w", &weights, NULL);
  model_add_initializer (type, "w", &weights, NULL);
  model_add_initializer (range, "w", &weights, NULL);
  node_add_int (unknown->graph->node[0], "groups", 1);
  model_assert_error (unknown, CLEAVE_ERROR_MODEL,
                      "Conv 'n': attribute 'groups' is not known in opset 13");
  node_add_int (twice->graph->node[0], "group", 1);
  node_add_int (twice->graph->node[0], "group", 1);
  model_assert_error (twice, CLEAVE_ERROR_MODEL, "Conv 'n': attribute 'group' comes twice");
  node_add_float (type->graph->node[0], "group", 1);
  model_assert_error (type, CLEAVE_ERROR_MODEL,
                      "Conv 'n': group is a float with 1 elements, but should be an int");
  node_add_int (range->graph->node[0], "group", -1);
  model_assert_error (range, CLEAVE_ERROR_ATTRIBUTE, "Conv 'n': group must be at least 1, not -1");
}
END_TEST

START_TEST (a_new_attribute_in_the_form_of_an_old_one_is_an_error)
{
  g_autoptr (Model) model = model_of (13, "Clip", "x");

  node_add_float (model->graph->node[0], "min", 0);
  model_assert_error (model, CLEAVE_ERROR_MODEL,
                      "Clip 'n': attribute 'min' is not known in opset 13");
}
END_TEST

START_TEST (variadic_ops_may_have_any_number_of_operands)
{
  g_autoptr (Model) model = model_of (13, "Concat", "x");
  Onnx__NodeProto *node = model->graph->node[0];
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (GError) error = NULL;

  node_add_int (node, "axis", 0);
  node->input = g_renew (char *, node->input, 100000);
  while (node->n_input < 100000)
    node->input[node->n_input++] = g_strdup ("x");
  graph = model_import (model, &error);
  cleave_assert_no_error (error);
  ck_assert_uint_eq (cleave_node_get_n_operands (cleave_graph_find_node (graph, "n")), 100000);
}
END_TEST

START_TEST (values_must_exist)
{
  g_autoptr (Model) dangling = model_of (13, "Add", "x z");
  g_autoptr (Model) cycle = model_of (13, "Add", "x z");
  g_autoptr (Model) self = model_of (13, "Add", "x y");

  model_assert_error (dangling, CLEAVE_ERROR_MODEL, "Add 'n': its operand 'z' is not defined");
  model_add_node (cycle, "Relu", "r", "q", "z");
  model_add_node (cycle, "Relu", "s", "y", "q");
  model_assert_error (cycle, CLEAVE_ERROR_CYCLE,
                      "Relu 's': its operand 'y' depends on its own result: a cycle");
  model_assert_error (self, CLEAVE_ERROR_CYCLE,
                      "Add 'n': its operand 'y' depends on its own result: a cycle");
}
END_TEST

START_TEST (nodes_are_sorted)
{
  g_autoptr (Model) model = model_of (13, "Add", "a b");

  model_add_node (model, "Neg", "last", "b", "unread");
  model_add_node (model, "Relu", "relu", "c", "b");
  model_add_node (model, "Exp", "exp", "x", "c");
  model_add_node (model, "Abs", "abs", "x", "a");
  model_assert_dump (model, "%0 = Input : float32 1x3x8x8  # x\n"
                            "%1 = Abs %0 : float32 1x3x8x8  # abs\n"
                            "%2 = Exp %0 : float32 1x3x8x8  # exp\n"
                            "%3 = Relu %2 : float32 1x3x8x8  # relu\n"
                            "%4 = Add %1, %3 : float32 1x3x8x8  # n\n"
                            "%5 = Neg %3 : float32 1x3x8x8  # last\n"
                            "output %4  # y\n");
}
END_TEST

START_TEST (a_value_has_one_producer)
{
  g_autoptr (Model) model = model_of (13, "Relu", "x");

  model_add_node (model, "Relu", "m", "x", "y");
  model_assert_error (model, CLEAVE_ERROR_MODEL, "value 'y' is defined twice");
}
END_TEST

START_TEST (an_output_must_have_a_producer)
{
  g_autoptr (Model) model = model_of (13, "Relu", "x");

  model_add_output (model, "z");
  model_assert_error (model, CLEAVE_ERROR_MODEL, "the output 'z' is not defined");
}
END_TEST

START_TEST (a_computed_shape_is_an_error)
{
  g_autoptr (Model) model = model_of (13, "Reshape", "x s");
  Onnx__ValueInfoProto *info = model_add_input (model, "s", "2");

  info->type->tensor_type->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
  model_assert_error (
      model, CLEAVE_ERROR_MODEL,
      "Reshape 'n': shape is the input 's', but must be constant: shapes are static "
      "(give its value)");
}
END_TEST

START_TEST (names_must_be_utf_8)
{
  g_autoptr (Model) model = model_of (13, "Relu", "x");

  g_free (model->graph->node[0]->name);
  model->graph->node[0]->name = g_strdup ("\xff");
  model_assert_error (model, CLEAVE_ERROR_MODEL, "the name of a node is not UTF-8");
}
END_TEST

static void
assert_value_name (const CleaveGraph *graph, const char *node, const char *name)
{
  g_autofree char *own =
      cleave_result_dup_name (cleave_node_get_result (cleave_graph_find_node (graph, node), 0));

  ck_assert_str_eq (own, name);
}

START_TEST (names_stay)
{
  g_autoptr (Model) model = model_new (13);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = NULL;

  model_add_input (model, "x", "2");
  model_add_initializer (model, "w", &pair, NULL);
  model_add_node (model, "Add", "sum", "x w", "a");
  model_add_node (model, "Relu", NULL, "a", "{'b',}");
  model_add_output (model, "{'b',}");
  graph = model_import (model, &error);
  cleave_assert_no_error (error);
  assert_value_name (graph, "x", "x");
  assert_value_name (graph, "w", "w");
  assert_value_name (graph, "sum", "a");
  assert_value_name (graph, "{'b',}", "{'b',}");
  ck_assert_str_eq (cleave_graph_get_output_name (graph, 0), "{'b',}");
}
END_TEST

START_TEST (unused_results_are_dropped)
{
  g_autoptr (Model) model = model_new (9);

  model_add_input (model, "x", "1x2x4");
  model_add_node (model, "Dropout", "n", "x", "y m");
  model_add_output (model, "y");
  model_assert_dump (model, "%0 = Input : float32 1x2x4  # x\n"
                            "%1 = Dropout %0 : float32 1x2x4  # n\n"
                            "output %1  # y\n");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "file", bytes_that_are_no_model_are_an_error, every_truncation_is_an_error,
      deep_nesting_is_an_error, an_unreadable_file_is_a_file_error, versions_are_checked,
      another_declared_shape_of_an_output_is_a_warning, a_graph_of_no_model_has_no_warnings, NULL);
  cleave_add_case (suite, "nodes", an_unknown_op_names_op_node_and_opset,
                   unsupported_values_are_refused_with_the_reason,
                   structural_ops_are_not_allowed_in_files, a_subgraph_is_an_error,
                   attributes_are_checked, a_new_attribute_in_the_form_of_an_old_one_is_an_error,
                   values_must_exist, nodes_are_sorted,
                   variadic_ops_may_have_any_number_of_operands, a_value_has_one_producer,
                   an_output_must_have_a_producer, a_computed_shape_is_an_error,
                   names_must_be_utf_8, names_stay, unused_results_are_dropped, NULL);
}

CLEAVE_TEST_SUITE ("import", add_tests)
