/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests inputs of ONNX models, values that the import computes, and limits of the import on the
 * sizes of models and on computed values. */

#include "imported.h"

START_TEST (inputs_with_initializers_are_no_inputs)
{
  g_autoptr (Model) model = model_of (9, "Add", "x w");
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 8);

  model_add_input (model, "w", "8");
  model_add_initializer (model, "w", &type, NULL);
  graph = model_import (model, &error);
  cleave_assert_no_error (error);
  ck_assert_uint_eq (cleave_graph_get_n_inputs (graph), 1);
}
END_TEST

static void
assert_shape_error (const Model *model,
                    const char *name,
                    const CleaveShape *shape,
                    CleaveError code,
                    const char *message)
{
  g_autoptr (GBytes) bytes = model_pack (model);
  g_autoptr (GError) error = NULL;
  CleaveOnnxShape given = { .name = name };
  CleaveOnnxOptions options = { .shapes = &given, .n_shapes = shape == NULL ? 0 : 1 };

  if (shape != NULL)
    given.shape = *shape;
  ck_assert_ptr_null (cleave_onnx_parse (bytes, NULL, &options, &error));
  cleave_assert_error (&error, code, message);
}

START_TEST (free_dimensions_must_be_fixed)
{
  g_autoptr (Model) model = model_new (13);
  CleaveShape rank = CLEAVE_SHAPE (1, 3, 8), good = CLEAVE_SHAPE (2, 3, 8, 8);

  model_add_input (model, "x", "Nx3xHx?");
  model_add_node (model, "Relu", "n", "x", "y");
  model_add_output (model, "y");
  assert_shape_error (model, NULL, NULL, CLEAVE_ERROR_MODEL,
                      "input 'x' has free dimensions: N x 3 x H x ? (give its shape, such as "
                      "1,3,224,224, or its dimensions, such as N=1 H=224)");
  assert_shape_error (
      model, "z", &good, CLEAVE_ERROR_OPTION,
      "a shape is given for 'z', which is not an input of the model or a dimension of one");
  assert_shape_error (
      model, "x", &rank, CLEAVE_ERROR_OPTION,
      "input 'x' is Nx3xHx? in the model, so it cannot be given 1x3x8: give 4 extents");
  model_add_input (model, "z", "2");
  assert_shape_error (model, NULL, &good, CLEAVE_ERROR_OPTION,
                      "the model has 2 inputs: say which one the shape is for");
  model_add_input (model, "u", "Nx?");
  model_add_input (model, "v", "?");
  assert_shape_error (model, NULL, NULL, CLEAVE_ERROR_MODEL,
                      "input 'x' has free dimensions: N x 3 x H x ? (give its shape, such as "
                      "1,3,224,224, or its dimensions, such as N=1 H=224); inputs with free "
                      "dimensions, too: 'u', 'v'");
}
END_TEST

START_TEST (two_shapes_for_one_input_are_an_error)
{
  g_autoptr (Model) model = model_of (13, "Relu", "x");
  g_autoptr (GBytes) bytes = model_pack (model);
  g_autoptr (GError) error = NULL;
  CleaveOnnxShape given[] = { { "x", CLEAVE_SHAPE (1, 3, 8, 8) },
                              { NULL, CLEAVE_SHAPE (1, 3, 8, 8) } };
  CleaveOnnxOptions options = { .shapes = given, .n_shapes = 2 };

  ck_assert_ptr_null (cleave_onnx_parse (bytes, NULL, &options, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "two shapes are given for input 'x'");
}
END_TEST

START_TEST (an_input_may_become_a_constant)
{
  static const CleaveTensorType type = { CLEAVE_INT64, { 1, { 2 } } };
  g_autoptr (Model) model = model_new (13);
  g_autoptr (CleaveTensor) value = cleave_tensor_new_copy (&type, (gint64[]){ 2, 3 }, NULL);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = NULL, twice = NULL;
  CleaveOnnxGiven given[] = { { "n", value }, { "n", value } };
  CleaveOnnxOptions options = { .values = given, .n_values = 1 };

  model_add_input (model, "x", "1x3");
  model_add_input (model, "n", "2");
  model->graph->input[1]->type->tensor_type->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
  model_add_node (model, "Expand", "e", "x n", "y");
  model_add_output (model, "y");
  bytes = model_pack (model);
  graph = cleave_onnx_parse (bytes, NULL, &options, &error);
  cleave_assert_no_error (error);
  cleave_assert_dump (graph, "%0 = Input : float32 1x3  # x\n"
                             "%1 = Expand %0 shape=2,3 : float32 2x3  # e\n"
                             "output %1  # y\n");
  options.n_values = 2;
  twice = cleave_onnx_parse (bytes, NULL, &options, &error);
  ck_assert_ptr_null (twice);
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "two values are given for input 'n'");
}
END_TEST

START_TEST (a_given_shape_fixes_free_dimensions)
{
  g_autoptr (Model) model = model_new (13);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  CleaveOnnxShape given[] = { { NULL, CLEAVE_SHAPE (2, 3) } };
  CleaveOnnxOptions options = { .shapes = given, .n_shapes = 1 };

  model_add_input (model, "x", "Nx-1");
  model_add_node (model, "Relu", "n", "x", "y");
  model_add_output (model, "y");
  bytes = model_pack (model);
  graph = cleave_onnx_parse (bytes, NULL, &options, &error);
  cleave_assert_no_error (error);
  cleave_assert_dump (graph, "%0 = Input : float32 2x3  # x\n"
                             "%1 = Relu %0 : float32 2x3  # n\n"
                             "output %1  # y\n");
}
END_TEST

START_TEST (inputs_are_checked)
{
  g_autoptr (Model) model = model_of (13, "Relu", "x");
  Onnx__ValueInfoProto *info = model->graph->input[0];

  info->type->tensor_type->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__STRING;
  model_assert_error (model, CLEAVE_ERROR_MODEL, "input 'x': element type string is not supported");
  info->type->tensor_type->elem_type = 77;
  model_assert_error (model, CLEAVE_ERROR_MODEL, "input 'x': unknown element type 77");
  info->type->tensor_type->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
  info->type->tensor_type->shape->dim[0]->dim_value = G_MAXINT64;
  model_assert_error (
      model, CLEAVE_ERROR_SHAPE,
      "input 'x': float32 9223372036854775807x3x8x8 has more bytes than 64 bits can count");
  onnx__type_proto__free_unpacked (info->type, NULL);
  info->type = NULL;
  model_assert_error (model, CLEAVE_ERROR_MODEL, "input 'x' has no type");
}
END_TEST

START_TEST (an_input_without_a_shape_needs_one)
{
  g_autoptr (Model) model = model_new (13);
  g_autoptr (Model) deep = model_new (13);

  model_add_input (model, "x", NULL);
  model_assert_error (model, CLEAVE_ERROR_MODEL,
                      "input 'x' has no shape (give its shape, such as 1,3,224,224)");
  model_add_input (deep, "x", "1x1x1x1x1x1x1x1x1");
  model_assert_error (deep, CLEAVE_ERROR_MODEL, "input 'x' has rank 9, more than 8");
}
END_TEST

START_TEST (computed_shapes_become_static)
{
  g_autoptr (Model) model = model_new (13);
  CleaveInts zero = CLEAVE_INTS (0), rest = CLEAVE_INTS (-1);

  model_add_input (model, "x", "2x3x4");
  model_add_ints (model, "zero", &zero);
  model_add_ints (model, "rest", &rest);
  model_add_node (model, "Shape", "shape", "x", "s");
  model_add_node (model, "Gather", "first", "s zero", "n");
  model_add_node (model, "Concat", "join", "n rest", "to");
  node_add_int (model->graph->node[2], "axis", 0);
  model_add_node (model, "Reshape", "flat", "x to", "y");
  model_add_output (model, "y");
  model_assert_dump (model, "%0 = Input : float32 2x3x4  # x\n"
                            "%1 = Reshape %0 shape=2,12 : float32 2x12  # flat\n"
                            "output %1  # y\n");
}
END_TEST

START_TEST (a_folded_output_is_a_constant)
{
  g_autoptr (Model) model = model_new (13);

  model_add_initializer (model, "w", &pair, NULL);
  model_add_node (model, "Add", "sum", "w w", "y");
  model_add_output (model, "y");
  model_assert_dump (model, "%0 = Constant : float32 2  # y\n"
                            "output %0  # y\n");
}
END_TEST

START_TEST (large_results_are_not_folded)
{
  g_autoptr (Model) model = model_new (13);
  CleaveInts shape = CLEAVE_INTS (1024, 1024);

  model_add_initializer (model, "w", &pair, NULL);
  model_add_ints (model, "s", &shape);
  model_add_node (model, "ConstantOfShape", "fill", "s", "y");
  model_add_output (model, "y");
  model_assert_dump (model, "%0 = ConstantOfShape shape=1024,1024 : float32 1024x1024  # fill\n"
                            "output %0  # y\n");
}
END_TEST

START_TEST (folding_has_a_budget)
{
  g_autoptr (Model) model = model_new (13);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 512, 512);

  model_add_initializer (model, "w", &type, NULL);
  for (guint i = 0; i < 300; i++)
    {
      g_autofree char *name = g_strdup_printf ("y%u", i);

      model_add_node (model, "Neg", NULL, "w", name);
      model_add_output (model, name);
    }
  graph = model_import (model, &error);
  cleave_assert_no_error (error);
  ck_assert_ptr_nonnull (cleave_node_get_constant (cleave_graph_find_node (graph, "y0")));
  ck_assert_ptr_null (cleave_node_get_constant (cleave_graph_find_node (graph, "y299")));
}
END_TEST

START_TEST (a_node_that_folds_is_checked_too)
{
  g_autoptr (Model) model = model_new (13);
  CleaveTensorType three = CLEAVE_TYPE (CLEAVE_FLOAT32, 3);

  model_add_initializer (model, "a", &pair, NULL);
  model_add_initializer (model, "b", &three, NULL);
  model_add_node (model, "Add", "sum", "a b", "y");
  model_add_output (model, "y");
  model_assert_error (model, CLEAVE_ERROR_SHAPE, "Add 'sum': B with 3 does not broadcast to 2");
}
END_TEST

START_TEST (implausible_models_are_refused)
{
  g_autoptr (Model) model = model_new (17), named = model_new (17);
  g_autofree char *name = g_strnfill (65537, 'n');
  Onnx__NodeProto *node;

  model_add_input (model, "x", "4");
  node = model_add_node (model, "Relu", "relu", "x", "y");
  for (guint i = 0; i < 257; i++)
    {
      g_autofree char *attr = g_strdup_printf ("a%u", i);

      node_add_int (node, attr, 1);
    }
  model_add_output (model, "y");
  model_assert_error (model, CLEAVE_ERROR_MODEL, "Relu 'relu': 257 attributes are more than 256");
  model_add_input (named, "x", "4");
  model_add_node (named, "Relu", name, "x", "y");
  model_add_output (named, "y");
  model_assert_error (named, CLEAVE_ERROR_MODEL, "the name of a node has more than 65536 bytes");
}
END_TEST

/* Returns the shortest time of three imports of `n` nodes, in microseconds. The nodes are a chain,
 * or all read one value. */
static gint64
time_import (guint n, gboolean chain)
{
  g_autoptr (Model) model = model_new (17);
  g_autoptr (GBytes) bytes = NULL;
  gint64 best = G_MAXINT64;

  model_add_input (model, "v0", "4");
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *from = g_strdup_printf ("v%u", chain ? i : 0);
      g_autofree char *to = g_strdup_printf ("v%u", i + 1);

      model_add_node (model, "Relu", "same", from, to);
    }
  model_add_output (model, "v1");
  bytes = model_pack (model);
  for (guint i = 0; i < 3; i++)
    {
      clock_t start = clock ();
      g_autoptr (CleaveGraph) graph = cleave_onnx_parse (bytes, NULL, NULL, NULL);

      ck_assert_ptr_nonnull (graph);
      best = MIN (best, clock () - start);
    }
  return best;
}

/* An import of sixteen times as many nodes takes about sixteen times as long. With quadratic cost,
 * it would take 256 times as long. */
START_TEST (the_cost_is_linear_in_the_nodes)
{
  for (guint chain = 0; chain < 2; chain++)
    {
      gint64 small = time_import (2500, chain == 1), large = time_import (40000, chain == 1);

      ck_assert_msg (large < 100 * small, "%" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " us", small,
                     large);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "inputs", inputs_with_initializers_are_no_inputs,
                   free_dimensions_must_be_fixed, two_shapes_for_one_input_are_an_error,
                   a_given_shape_fixes_free_dimensions, an_input_may_become_a_constant,
                   inputs_are_checked, an_input_without_a_shape_needs_one, NULL);
  cleave_add_case (suite, "folding", computed_shapes_become_static, a_folded_output_is_a_constant,
                   large_results_are_not_folded, folding_has_a_budget,
                   a_node_that_folds_is_checked_too, NULL);
  cleave_add_case (suite, "limits", implausible_models_are_refused, the_cost_is_linear_in_the_nodes,
                   NULL);
}

CLEAVE_TEST_SUITE ("import-inputs", add_tests)
