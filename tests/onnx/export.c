/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Names, attributes and files of exported graphs. */

#include "exported.h"

#include <glib/gstdio.h>
#include <string.h>

#include "../../lib/onnx/tensor-proto.h"

/* The tests below check the names of inputs, outputs and nodes. */

START_TEST (names_of_inputs_and_outputs_stay)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveResult *x = add_input (graph, "{'x', 1}", &CLEAVE_SHAPE (2));
  CleaveResult *y = relu (graph, "r", x);

  cleave_graph_add_output (graph, "y z", y, NULL);
  assert_nodes (graph, "Relu({'x', 1})->y z\n");
  assert_same_again (graph);
}
END_TEST

START_TEST (an_input_or_constant_that_is_an_output_is_copied)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2);
  g_autoptr (CleaveTensor) tensor = cleave_random_tensor (&type, 1, FALSE);
  CleaveResult *x = add_input (graph, "x", &CLEAVE_SHAPE (2));

  cleave_graph_add_output (graph, "y", x, NULL);
  cleave_graph_add_output (graph, "c", cleave_graph_add_constant (graph, "c", tensor), NULL);
  assert_nodes (graph, "Identity(x)->y\nIdentity(c_1)->c\n");
  assert_same_again (graph);
}
END_TEST

START_TEST (a_value_that_is_two_outputs_is_copied)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveResult *y = relu (graph, "r", add_input (graph, "x", &CLEAVE_SHAPE (2)));

  cleave_graph_add_output (graph, "a", y, NULL);
  cleave_graph_add_output (graph, "b", y, NULL);
  assert_nodes (graph, "Relu(x)->a\nIdentity(a)->b\n");
  assert_same_again (graph);
}
END_TEST

START_TEST (an_input_may_be_an_output_of_the_same_name)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");

  cleave_graph_add_output (graph, "x", add_input (graph, "x", &CLEAVE_SHAPE (2)), NULL);
  assert_nodes (graph, "");
  assert_same_again (graph);
}
END_TEST

START_TEST (an_output_with_the_name_of_another_input_is_an_error)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  g_autoptr (GError) error = NULL;

  cleave_graph_add_output (graph, "x", relu (graph, "r", add_input (graph, "x", &CLEAVE_SHAPE (2))),
                           NULL);
  ck_assert_ptr_null (cleave_onnx_serialize (graph, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_MODEL, "output 'x' has the name of an input");
}
END_TEST

/* If an inner value has the name of another node's output, the file gives it another name. */
START_TEST (names_are_made_unique)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveResult *y = relu (graph, "y", add_input (graph, "x", &CLEAVE_SHAPE (2)));

  cleave_graph_add_output (graph, "y", relu (graph, "z", y), NULL);
  assert_nodes (graph, "Relu(x)->y_1\nRelu(y_1)->y\n");
}
END_TEST

/* The tests below check how the export writes an attribute of a node: as an operand of the ONNX
 * node, as a list, as a tensor, or as a number. */

START_TEST (attributes_become_operands_again)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveResult *x = add_input (graph, "x", &CLEAVE_SHAPE (4, 6));
  CleaveClipAttrs clip = { 0, 6 }, above = { 0, (double) INFINITY };
  CleaveInts shape = CLEAVE_INTS (24);
  CleaveRange range = CLEAVE_RANGE (2, 20);

  x = cleave_graph_add_clip (graph, "clip", x, &clip, NULL);
  x = cleave_graph_add_clip (graph, "above", x, &above, NULL);
  x = cleave_graph_add_reshape (graph, "flat", x, &shape, NULL);
  x = cleave_graph_add_slice_range (graph, "part", x, &range, NULL);
  cleave_graph_add_output (graph, "y", x, NULL);
  assert_nodes (graph, "Clip(x,clip.min,clip.max)->clip\n"
                       "Clip(clip,clip.min)->above\n"
                       "Reshape(above,flat.shape)->flat\n"
                       "Slice(flat,part.starts,part.ends,,part.steps)->y\n");
  assert_same_again (graph);
}
END_TEST

START_TEST (a_shape_without_dimensions_is_exported)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveInts none = { 0 };

  cleave_graph_add_output (graph, "y",
                           cleave_graph_add_reshape (graph, "r",
                                                     add_input (graph, "x", &CLEAVE_SHAPE (1, 1)),
                                                     &none, NULL),
                           NULL);
  assert_nodes (graph, "Reshape(x,r.shape)->y\n");
  assert_same_again (graph);
}
END_TEST

/* The attributes are lists of names, lists of real numbers, and a tensor. */
START_TEST (lists_and_tensors_are_exported_as_attributes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  static const float seven[] = { 7 };
  const CleaveTensorType one = CLEAVE_TYPE (CLEAVE_FLOAT32, 1);
  g_autoptr (CleaveTensor) value = cleave_tensor_new_copy (&one, seven, NULL);
  CleaveRecurrentAttrs recurrent = { .direction = CLEAVE_DIRECTION_BIDIRECTIONAL,
                                     .activations = CLEAVE_INTS (3, 7),
                                     .activation_alpha = CLEAVE_DOUBLES (0.5, 0.25),
                                     .activation_beta = CLEAVE_DOUBLES (2, 0.125) };
  CleaveFillAttrs fill = { .shape = CLEAVE_INTS (1, 2, 3), .value = value };
  CleaveNode *sevens =
      cleave_graph_add (graph, cleave_op_lookup ("ConstantOfShape"), "f", NULL, 0, 1, &fill, NULL);
  CleaveResult *layer[] = {
    cleave_graph_add_binary (graph, "Add", "sum", add_input (graph, "x", &CLEAVE_SHAPE (5, 2, 3)),
                             cleave_node_get_result (sevens, 0), NULL),
    add_input (graph, "w", &CLEAVE_SHAPE (2, 4, 3)), add_input (graph, "r", &CLEAVE_SHAPE (2, 4, 4))
  };
  g_autoptr (GError) error = NULL;
  CleaveNode *node = cleave_test_add_recurrent (graph, "RNN", "n", layer, 3, &recurrent, &error);
  g_autoptr (Model) model = NULL;
  const Onnx__NodeProto *written;
  const Onnx__AttributeProto *activations = NULL;

  cleave_assert_no_error (error);
  cleave_graph_add_output (graph, "y", cleave_node_get_result (node, 0), NULL);
  model = export_model (graph);
  written = model->graph->node[model->graph->n_node - 1];
  for (size_t i = 0; i < written->n_attribute; i++)
    if (g_str_equal (written->attribute[i]->name, "activations"))
      activations = written->attribute[i];
  ck_assert_ptr_nonnull (activations);
  ck_assert_uint_eq (activations->n_strings, 2);
  ck_assert_mem_eq (activations->strings[1].data, "HardSigmoid", 11);
  assert_same_again (graph);
}
END_TEST

/* The export rounds a number that becomes a scalar operand to the element type. The kernel rounds
 * the number in the same way. */
START_TEST (a_number_is_rounded_to_the_element_type)
{
  static const struct
  {
    CleaveElement element;
    double value;
    guint8 expected;
  } cases[] = { { CLEAVE_BOOL, 2, 1 }, { CLEAVE_INT8, 300, 127 }, { CLEAVE_UINT8, -1, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
      CleaveTensorType type = { cases[i].element, CLEAVE_SHAPE (2) };
      CleavePadAttrs attrs = { .pads = CLEAVE_INTS (1, 1), .constant_value = cases[i].value };
      CleaveResult *x = cleave_graph_add_input (graph, "x", &type, NULL);
      g_autoptr (Model) model = NULL;

      cleave_graph_add_output (
          graph, "y",
          cleave_test_add (graph, "Pad", "pad", (CleaveResult *[]){ x }, 1, &attrs, NULL), NULL);
      model = export_model (graph);
      ck_assert_uint_eq (model->graph->initializer[1]->raw_data.data[0], cases[i].expected);
    }
}
END_TEST

/* The attribute constant_value is stored as a double, also for a Pad of integers. Integers that a
 * double represents exactly survive export and import, even integers above 2^53. */
START_TEST (large_integers_survive_export_and_import)
{
  static const double values[] = { -0x1p63, 0x1p62, 0x1p53 + 2, -0x1p53, 7 };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
      CleaveTensorType type = { CLEAVE_INT64, CLEAVE_SHAPE (2) };
      CleavePadAttrs attrs = { .pads = CLEAVE_INTS (1, 1), .constant_value = values[i] };
      CleaveResult *x = cleave_graph_add_input (graph, "x", &type, NULL);

      cleave_graph_add_output (
          graph, "y",
          cleave_test_add (graph, "Pad", "pad", (CleaveResult *[]){ x }, 1, &attrs, NULL), NULL);
      assert_same_again (graph);
    }
}
END_TEST

/* The tests below write files. */

START_TEST (a_file_is_written_completely_or_not_at_all)
{
  g_autofree char *folder = g_dir_make_tmp ("cleave-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "model.onnx", NULL);
  g_autoptr (CleaveGraph) good = cleave_graph_new ("g");
  g_autoptr (CleaveGraph) bad = cleave_graph_new ("g");
  g_autoptr (CleaveGraph) again = NULL;
  g_autoptr (GError) error = NULL;
  CleaveResult *x = add_input (bad, "x", &CLEAVE_SHAPE (2));

  cleave_graph_add_output (good, "y", relu (good, "r", add_input (good, "x", &CLEAVE_SHAPE (2))),
                           NULL);
  cleave_graph_add_output (bad, "x", relu (bad, "r", x), NULL);
  ck_assert (!cleave_onnx_save (bad, path, NULL));
  ck_assert (!g_file_test (path, G_FILE_TEST_EXISTS));
  ck_assert (cleave_onnx_save (good, path, &error));
  ck_assert (!cleave_onnx_save (bad, path, NULL));
  again = cleave_onnx_load (path, NULL, &error);
  cleave_assert_no_error (error);
  ck_assert (!cleave_onnx_save (good, "/nowhere/model.onnx", &error));
  ck_assert (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT));
  g_remove (path);
  ck_assert_int_eq (g_rmdir (folder), 0);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "names", names_of_inputs_and_outputs_stay,
      an_input_or_constant_that_is_an_output_is_copied, a_value_that_is_two_outputs_is_copied,
      an_input_may_be_an_output_of_the_same_name,
      an_output_with_the_name_of_another_input_is_an_error, names_are_made_unique, NULL);
  cleave_add_case (
      suite, "attributes", attributes_become_operands_again, a_shape_without_dimensions_is_exported,
      lists_and_tensors_are_exported_as_attributes, a_number_is_rounded_to_the_element_type,
      large_integers_survive_export_and_import, NULL);
  cleave_add_case (suite, "files", a_file_is_written_completely_or_not_at_all, NULL);
}

CLEAVE_TEST_SUITE ("export", add_tests)
