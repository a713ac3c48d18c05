/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests that an exported file has the parts of the imported file that do not influence results,
 * such as doc strings. */

#include "test.h"

#include <string.h>

#include "../../lib/onnx/wire.h"
#include "models.h"

static Model *
through_graph (const Model *model, const CleaveOnnxShape *shape, gboolean split)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = model_pack (model), out = NULL;
  CleaveOnnxOptions options = { .shapes = shape, .n_shapes = shape == NULL ? 0 : 1 };
  g_autoptr (CleaveGraph) graph = cleave_onnx_parse (bytes, NULL, &options, &error);
  g_autoptr (CleaveGraph) copy = NULL;
  Model *again;

  cleave_assert_no_error (error);
  copy = cleave_graph_copy (graph);
  g_clear_pointer (&graph, cleave_graph_unref);
  if (split)
    {
      gint64 two = 2;
      g_autoptr (CleaveTiling) halves = cleave_tiling_by_num_chunks ("1", &two, 1);
      g_autoptr (CleaveSplitReport) report =
          cleave_split_node (cleave_graph_find_node (copy, "first"), halves, NULL, &error);

      cleave_assert_no_error (error);
      ck_assert_ptr_nonnull (cleave_graph_find_node (copy, "first.1"));
    }
  out = cleave_onnx_serialize (copy, &error);
  cleave_assert_no_error (error);
  again = cleave_wire_unpack (&onnx__model_proto__descriptor, out, FALSE, "ONNX model", &error);
  cleave_assert_no_error (error);
  return again;
}

static Model *
make_model (const char *dims)
{
  Model *model = model_new (13);

  model_add_input (model, "x", dims)->doc_string = g_strdup ("of the input");
  model_add_node (model, "Relu", "first", "x", "a")->doc_string = g_strdup ("of the node");
  model_add_node (model, "Reshape", "second", "a shape", "b");
  model_add_node (model, "Add", "third", "b w", "y");
  model_add_ints (model, "shape", &CLEAVE_INTS (3, 4));
  model_add_initializer (model, "w", &CLEAVE_TYPE (CLEAVE_FLOAT32, 4), NULL)->doc_string =
      g_strdup ("of the weights");
  model_add_output (model, "y");
  return model;
}

static const char *
find_metadata (const Model *model, const char *key)
{
  for (size_t i = 0; i < model->n_metadata_props; i++)
    if (strcmp (model->metadata_props[i]->key, key) == 0)
      return model->metadata_props[i]->value;
  return NULL;
}

static void
add_metadata (Model *model, const char *key, const char *value)
{
  Onnx__StringStringEntryProto *entry = g_new (Onnx__StringStringEntryProto, 1);

  onnx__string_string_entry_proto__init (entry);
  entry->key = g_strdup (key);
  entry->value = g_strdup (value);
  model->metadata_props =
      g_renew (Onnx__StringStringEntryProto *, model->metadata_props, model->n_metadata_props + 1);
  model->metadata_props[model->n_metadata_props++] = entry;
}

START_TEST (metadata_of_the_model_is_kept)
{
  g_autoptr (Model) model = make_model ("4x3"), again = NULL;

  g_free (model->producer_name);
  model->producer_name = g_strdup ("somebody");
  model->producer_version = g_strdup ("1.2");
  model->domain = g_strdup ("org.example");
  model->doc_string = g_strdup ("of the model");
  model->graph->doc_string = g_strdup ("of the graph");
  model->has_model_version = 1;
  model->model_version = 7;
  add_metadata (model, "author", "me");
  add_metadata (model, "empty", "");
  again = through_graph (model, NULL, FALSE);
  ck_assert_str_eq (again->producer_name, "somebody");
  ck_assert_str_eq (again->producer_version, "1.2");
  ck_assert_str_eq (again->domain, "org.example");
  ck_assert_str_eq (again->doc_string, "of the model");
  ck_assert_str_eq (again->graph->doc_string, "of the graph");
  ck_assert_int_eq (again->model_version, 7);
  ck_assert_str_eq (find_metadata (again, "author"), "me");
  ck_assert_str_eq (find_metadata (again, "empty"), "");
  ck_assert_str_eq (find_metadata (again, "cleave.opset"), "13");
}
END_TEST

START_TEST (doc_strings_of_nodes_and_values_are_kept)
{
  g_autoptr (Model) model = make_model ("4x3"), again = through_graph (model, NULL, FALSE);
  const Onnx__GraphProto *graph = again->graph;

  ck_assert_str_eq (graph->input[0]->doc_string, "of the input");
  ck_assert_str_eq (graph->node[0]->doc_string, "of the node");
  ck_assert_ptr_null (graph->node[1]->doc_string);
  ck_assert_ptr_null (graph->output[0]->doc_string);
  for (size_t i = 0; i < graph->n_initializer; i++)
    if (strcmp (graph->initializer[i]->name, "w") == 0)
      ck_assert_str_eq (graph->initializer[i]->doc_string, "of the weights");
    else
      ck_assert_ptr_null (graph->initializer[i]->doc_string);
}
END_TEST

/* The shape of a Reshape is an operand in an ONNX file and an attribute in the graph. In an
 * exported file, the operand has the same name as in the imported file. */
START_TEST (operands_that_are_attributes_keep_their_names)
{
  g_autoptr (Model) model = make_model ("4x3"), again = NULL;

  model_add_node (model, "Reshape", "other", "x like", "z");
  model_add_ints (model, "like", &CLEAVE_INTS (3, 4));
  model_add_output (model, "z");
  again = through_graph (model, NULL, FALSE);
  ck_assert_str_eq (again->graph->node[1]->input[1], "shape");
  ck_assert_str_eq (again->graph->node[3]->input[1], "like");
  ck_assert_uint_eq (again->graph->n_initializer, 3);
}
END_TEST

START_TEST (a_constant_may_be_an_operand_and_an_attribute)
{
  g_autoptr (Model) model = make_model ("4x3"), again = NULL;

  model_add_input (model, "v", "8");
  model_add_node (model, "Gather", "take", "v shape", "s");
  model_add_output (model, "s");
  again = through_graph (model, NULL, FALSE);
  ck_assert_str_eq (again->graph->node[1]->input[1], "shape");
  ck_assert_uint_eq (again->graph->n_initializer, 2);
}
END_TEST

START_TEST (value_infos_are_kept)
{
  g_autoptr (Model) model = make_model ("4x3"), again = NULL;
  Onnx__ValueInfoProto *info = g_new (Onnx__ValueInfoProto, 1);

  onnx__value_info_proto__init (info);
  info->name = g_strdup ("b");
  info->doc_string = g_strdup ("of b");
  model->graph->value_info = g_new (Onnx__ValueInfoProto *, 1);
  model->graph->value_info[model->graph->n_value_info++] = info;
  again = through_graph (model, NULL, FALSE);
  ck_assert_uint_eq (again->graph->n_value_info, 1);
  info = again->graph->value_info[0];
  ck_assert_str_eq (info->name, "b");
  ck_assert_str_eq (info->doc_string, "of b");
  ck_assert_int_eq (info->type->tensor_type->elem_type, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
  ck_assert_int_eq (info->type->tensor_type->shape->dim[0]->dim_value, 3);
}
END_TEST

START_TEST (fixed_dimensions_are_recorded_as_metadata)
{
  g_autoptr (Model) model = make_model ("Nx3x?"), again = NULL, third = NULL;
  CleaveOnnxShape shape = { "x", CLEAVE_SHAPE (2, 3, 2) };

  again = through_graph (model, &shape, FALSE);
  ck_assert_int_eq (again->graph->input[0]->type->tensor_type->shape->dim[0]->dim_value, 2);
  ck_assert_str_eq (find_metadata (again, "cleave.free-shape.x"), "N,3,?");
  third = through_graph (again, NULL, FALSE);
  ck_assert_str_eq (find_metadata (third, "cleave.free-shape.x"), "N,3,?");
}
END_TEST

START_TEST (opsets_of_other_domains_are_kept)
{
  g_autoptr (Model) model = make_model ("4x3"), again = NULL;
  Onnx__OperatorSetIdProto *set = g_new (Onnx__OperatorSetIdProto, 1);

  onnx__operator_set_id_proto__init (set);
  set->domain = g_strdup ("ai.onnx.ml");
  set->has_version = 1;
  set->version = 2;
  model->opset_import = g_renew (Onnx__OperatorSetIdProto *, model->opset_import, 2);
  model->opset_import[model->n_opset_import++] = set;
  again = through_graph (model, NULL, FALSE);
  ck_assert_uint_eq (again->n_opset_import, 2);
  ck_assert_str_eq (again->opset_import[1]->domain, "ai.onnx.ml");
  ck_assert_int_eq (again->opset_import[1]->version, 2);
}
END_TEST

START_TEST (only_whole_nodes_keep_doc_strings_after_a_split)
{
  g_autoptr (Model) model = make_model ("4x3"), again = through_graph (model, NULL, TRUE);
  const Onnx__GraphProto *graph = again->graph;
  guint n = 0;

  for (size_t i = 0; i < graph->n_node; i++)
    if (strcmp (graph->node[i]->name, "first") == 0)
      ck_assert_str_eq (graph->node[i]->doc_string, "of the node");
    else
      n += graph->node[i]->doc_string != NULL;
  ck_assert_uint_eq (n, 0);
  ck_assert_str_eq (graph->input[0]->doc_string, "of the input");
}
END_TEST

START_TEST (invalid_utf8_is_left_out)
{
  g_autoptr (Model) model = make_model ("4x3"), again = NULL;

  model->doc_string = g_strdup ("\xff");
  add_metadata (model, "a", "\xff");
  again = through_graph (model, NULL, FALSE);
  ck_assert_ptr_null (again->doc_string);
  ck_assert_ptr_null (find_metadata (again, "a"));
}
END_TEST

START_TEST (nodes_can_be_given_doc_strings)
{
  g_autoptr (Model) model = make_model ("4x3");
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = model_pack (model), out = NULL;
  g_autoptr (CleaveGraph) graph = cleave_onnx_parse (bytes, NULL, NULL, &error), again = NULL;
  g_autoptr (CleaveGraph) copy = NULL, built = cleave_graph_new (NULL);
  const char *const names[] = { "third", "first", NULL }, *const docs[] = { "sum", "other", NULL };

  cleave_assert_no_error (error);
  copy = cleave_graph_copy (graph);
  cleave_onnx_set_node_docs (graph, names, docs);
  out = cleave_onnx_serialize (graph, &error);
  cleave_assert_no_error (error);
  again = cleave_onnx_parse (out, NULL, NULL, &error);
  cleave_assert_no_error (error);
  ck_assert_str_eq (cleave_onnx_get_node_doc (again, "third"), "sum");
  ck_assert_str_eq (cleave_onnx_get_node_doc (again, "first"), "other");
  ck_assert_ptr_null (cleave_onnx_get_node_doc (again, "second"));
  ck_assert_str_eq (cleave_onnx_get_node_doc (copy, "first"), "of the node");
  ck_assert_ptr_null (cleave_onnx_get_node_doc (copy, "third"));
  ck_assert_ptr_null (cleave_onnx_get_node_doc (built, "third"));
  cleave_onnx_set_node_docs (built, names, docs);
  ck_assert_str_eq (cleave_onnx_get_node_doc (built, "third"), "sum");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "origin", metadata_of_the_model_is_kept, doc_strings_of_nodes_and_values_are_kept,
      operands_that_are_attributes_keep_their_names, a_constant_may_be_an_operand_and_an_attribute,
      value_infos_are_kept, fixed_dimensions_are_recorded_as_metadata,
      opsets_of_other_domains_are_kept, only_whole_nodes_keep_doc_strings_after_a_split,
      invalid_utf8_is_left_out, nodes_can_be_given_doc_strings, NULL);
}

CLEAVE_TEST_SUITE ("origin", add_tests)
