/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "graphs.h"
#include "test.h"

#include <glib/gstdio.h>
#include <string.h>

#include "../../lib/onnx/resize-part.h"
#include "../../lib/onnx/tensor-proto.h"
#include "../../lib/onnx/wire.h"
#include "interpret.h"
#include "models.h"

/* Exports a graph, and inspects the file or reads it again. */

/* Other runtimes refuse a model with two nodes of the same name. */
static void
check_node_names (const Model *model)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  for (size_t i = 0; i < model->graph->n_node; i++)
    ck_assert_msg (g_hash_table_add (names, model->graph->node[i]->name),
                   "two nodes are called '%s'", model->graph->node[i]->name);
}

static Model *
export_model (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, &error);
  Model *model;

  cleave_assert_no_error (error);
  model = cleave_wire_unpack (&onnx__model_proto__descriptor, bytes, FALSE, "ONNX model", &error);
  cleave_assert_no_error (error);
  check_node_names (model);
  return model;
}

/* Returns "Op(a,b)->c" for each node, one per line. */
static char *
list_nodes (const Model *model)
{
  g_autoptr (GString) out = g_string_new (NULL);

  for (size_t i = 0; i < model->graph->n_node; i++)
    {
      const Onnx__NodeProto *node = model->graph->node[i];

      g_string_append_printf (out, "%s(", node->op_type);
      for (size_t j = 0; j < node->n_input; j++)
        g_string_append_printf (out, "%s%s", j == 0 ? "" : ",", node->input[j]);
      g_string_append (out, ")->");
      for (size_t j = 0; j < node->n_output; j++)
        g_string_append_printf (out, "%s%s", j == 0 ? "" : ",", node->output[j]);
      g_string_append_c (out, '\n');
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static void
assert_nodes (const CleaveGraph *graph, const char *expected)
{
  g_autoptr (Model) model = export_model (graph);
  g_autofree char *nodes = list_nodes (model);

  ck_assert_str_eq (nodes, expected);
}

static gsize
count_initializer_bytes (const Model *model)
{
  gsize n = 0;

  for (size_t i = 0; i < model->graph->n_initializer; i++)
    if (model->graph->initializer[i]->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT)
      n += model->graph->initializer[i]->raw_data.len;
  return n;
}

/* Asserts that the graph gives the same bits after export and import. */
static void
assert_same_again (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Model) model = export_model (graph);
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, &error);
  g_autoptr (CleaveGraph) again =
      bytes == NULL ? NULL : cleave_onnx_parse (bytes, NULL, NULL, &error);
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) one = NULL, two = NULL;

  cleave_assert_no_error (error);
  ck_assert_uint_eq (cleave_graph_get_n_inputs (graph), cleave_graph_get_n_inputs (again));
  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    g_ptr_array_add (
        inputs,
        cleave_random_tensor (cleave_result_get_type (cleave_graph_get_input (graph, i)), i, TRUE));
  one = cleave_interpret (graph, (CleaveTensor *const *) inputs->pdata);
  two = cleave_interpret (again, (CleaveTensor *const *) inputs->pdata);
  ck_assert_uint_eq (one->len, two->len);
  for (guint i = 0; i < one->len; i++)
    {
      ck_assert_str_eq (cleave_graph_get_output_name (graph, i),
                        cleave_graph_get_output_name (again, i));
      ck_assert_msg (cleave_tensor_equal (one->pdata[i], two->pdata[i]), "output %u", i);
    }
}

static CleaveResult *
add_input (CleaveGraph *graph, const char *name, const CleaveShape *shape)
{
  CleaveTensorType type = { CLEAVE_FLOAT32, *shape };

  return cleave_graph_add_input (graph, name, &type, NULL);
}

static CleaveResult *
relu (CleaveGraph *graph, const char *name, CleaveResult *x)
{
  return cleave_graph_add_unary (graph, "Relu", name, x, NULL, NULL);
}

/* Names. */

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

/* An inner value has the name of an output of another node. */
START_TEST (names_are_made_unique)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveResult *y = relu (graph, "y", add_input (graph, "x", &CLEAVE_SHAPE (2)));

  cleave_graph_add_output (graph, "y", relu (graph, "z", y), NULL);
  assert_nodes (graph, "Relu(x)->y_1\nRelu(y_1)->y\n");
}
END_TEST

/* Attributes. */

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

/* Lists of names and of real numbers, and a tensor. */
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

/* The scalar is rounded as the kernel rounds it. */
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

/* Every integer that a double holds, also beyond 2^53. */
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

/* Ops that all opsets have, and ops that later opsets write differently. */
static CleaveGraph *
make_pool (const char *op, const CleavePoolAttrs *pool)
{
  CleaveGraph *graph = cleave_graph_new ("g");
  CleaveReduceAttrs reduce = { .axes = CLEAVE_INTS (0, 2), .keepdims = TRUE };
  CleaveResult *x = add_input (graph, "x", &CLEAVE_SHAPE (1, 3, 8));

  cleave_graph_add_output (graph, "y", cleave_graph_add_pool (graph, op, "p", x, pool, NULL), NULL);
  cleave_graph_add_output (graph, "z",
                           cleave_test_add (graph, "ReduceMean", "r", &x, 1, &reduce, NULL), NULL);
  return graph;
}

/* Returns "opset 19, IR 9: AveragePool ...". */
static char *
describe (const CleaveGraph *graph)
{
  g_autoptr (Model) model = export_model (graph);
  g_autofree char *nodes = list_nodes (model);

  return g_strdup_printf ("opset %d, IR %d: %s", (int) model->opset_import[0]->version,
                          (int) model->ir_version, nodes);
}

START_TEST (the_smallest_opset_with_all_nodes_is_used)
{
  static const struct
  {
    const char *op;
    CleavePoolAttrs pool;
    const char *description;
  } cases[] = {
    { "AveragePool",
      { .kernel_shape = { 1, { 2 } }, .dilations = { 1, { 1 } }, .ceil_mode = TRUE },
      "opset 17, IR 8: AveragePool(x)->y\nReduceMean(x)->z\n" },
    { "MaxPool",
      { .kernel_shape = { 1, { 2 } }, .dilations = { 1, { 2 } } },
      "opset 17, IR 8: MaxPool(x)->y\nReduceMean(x)->z\n" },
    { "LpPool",
      { .kernel_shape = { 1, { 2 } }, .strides = { 1, { 2 } }, .ceil_mode = TRUE, .p = 2 },
      "opset 18, IR 8: LpPool(x)->y\nReduceMean(x,r.axes)->z\n" },
    { "AveragePool",
      { .kernel_shape = { 1, { 2 } }, .dilations = { 1, { 2 } } },
      "opset 19, IR 9: AveragePool(x)->y\nReduceMean(x,r.axes)->z\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = make_pool (cases[i].op, &cases[i].pool);
      g_autofree char *description = describe (graph);

      ck_assert_str_eq (description, cases[i].description);
      assert_same_again (graph);
    }
}
END_TEST

/* DFT and GridSample have other forms from opset 20 on. */
START_TEST (later_opsets_have_their_own_forms)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveGridSampleAttrs cubic = { .mode = CLEAVE_GRID_BICUBIC };
  CleaveDftAttrs dft = { .axis = 2 };
  CleaveResult *volume[] = { add_input (graph, "v", &CLEAVE_SHAPE (1, 1, 2, 2, 2)),
                             add_input (graph, "a", &CLEAVE_SHAPE (1, 1, 2, 1, 3)) };
  CleaveResult *image[] = { add_input (graph, "i", &CLEAVE_SHAPE (1, 2, 4, 2)),
                            add_input (graph, "b", &CLEAVE_SHAPE (1, 3, 2, 2)) };
  g_autofree char *description = NULL;
  g_autoptr (Model) model = NULL;

  cleave_graph_add_output (graph, "x",
                           cleave_test_add (graph, "GridSample", "n", volume, 2, NULL, NULL), NULL);
  cleave_graph_add_output (
      graph, "y", cleave_test_add (graph, "GridSample", "c", image, 2, &cubic, NULL), NULL);
  cleave_graph_add_output (graph, "z", cleave_test_add (graph, "DFT", "d", image, 1, &dft, NULL),
                           NULL);
  description = describe (graph);
  ck_assert_str_eq (description, "opset 20, IR 9: GridSample(v,a)->x\nGridSample(i,b)->y\n"
                                 "DFT(i,d.dft_length,d.axis)->z\n");
  model = export_model (graph);
  ck_assert_int_eq (memcmp (model->graph->node[1]->attribute[0]->s.data, "cubic", 5), 0);
  assert_same_again (graph);
}
END_TEST

/* ONNX does not allow negative pads. */
START_TEST (a_piece_of_a_deform_conv_is_cut_by_slices)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveDeformConvAttrs attrs = { .group = 1,
                                  .offset_group = 1,
                                  .strides = CLEAVE_INTS (2, 1),
                                  .pads = CLEAVE_INTS (-3, 1, -2, -1) };
  CleaveResult *operands[] = { add_input (graph, "x", &CLEAVE_SHAPE (1, 2, 10, 6)),
                               add_input (graph, "w", &CLEAVE_SHAPE (3, 2, 2, 2)),
                               add_input (graph, "o", &CLEAVE_SHAPE (1, 8, 2, 5)), NULL,
                               add_input (graph, "m", &CLEAVE_SHAPE (1, 4, 2, 5)) };

  cleave_graph_add_output (
      graph, "y", cleave_test_add (graph, "DeformConv", "d", operands, 5, &attrs, NULL), NULL);
  assert_nodes (graph, "Pad(o,pads)->d.offset\nPad(m,pads)->d.mask\n"
                       "DeformConv(x,w,d.offset,,d.mask)->d.whole\n"
                       "Slice(d.whole,starts,ends,axes)->y\n");
  assert_same_again (graph);
}
END_TEST

START_TEST (channels_last_ops_are_put_between_transposes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 3, 3, 3);
  g_autoptr (CleaveTensor) tensor = cleave_random_tensor (&type, 1, FALSE);
  CleaveConvAttrs attrs = { .layout = CLEAVE_LAYOUT_NHWC,
                            .group = 1,
                            .strides = CLEAVE_INTS (2, 1) };
  CleaveResult *w = cleave_graph_add_constant (graph, "w", tensor);
  CleaveResult *y = cleave_graph_add_conv (
      graph, "c", add_input (graph, "x", &CLEAVE_SHAPE (1, 8, 9, 3)), w, NULL, &attrs, NULL);

  cleave_graph_add_output (graph, "y", y, NULL);
  assert_nodes (graph, "Transpose(x)->c.nchw\nConv(c.nchw,w)->c.y\nTranspose(c.y)->y\n");
  assert_same_again (graph);
}
END_TEST

/* A value without a name of its own has that of its node. */
START_TEST (transposes_of_a_channels_last_op_have_names_of_their_own)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleavePoolAttrs attrs = { .layout = CLEAVE_LAYOUT_NHWC, .kernel_shape = CLEAVE_INTS (2, 2) };
  CleaveResult *x = add_input (graph, "x", &CLEAVE_SHAPE (1, 8, 8, 3));
  CleaveResult *pool = cleave_graph_add_pool (graph, "MaxPool", "p", x, &attrs, NULL);

  cleave_graph_add_output (graph, "y",
                           cleave_graph_add_unary (graph, "Relu", "r", pool, NULL, NULL), NULL);
  assert_nodes (graph, "Transpose(x)->p.nchw\nMaxPool(p.nchw)->p.y\nTranspose(p.y)->p\n"
                       "Relu(p)->y\n");
}
END_TEST

START_TEST (indices_of_channels_last_are_an_error)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleavePoolAttrs pool = { .layout = CLEAVE_LAYOUT_NHWC, .kernel_shape = CLEAVE_INTS (2, 2) };
  CleaveResult *x = add_input (graph, "x", &CLEAVE_SHAPE (1, 8, 8, 3));
  g_autoptr (GError) error = NULL;
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("MaxPool"), "p", &x, 1, 2, &pool, &error);

  cleave_assert_no_error (error);
  cleave_graph_add_output (graph, "y", cleave_node_get_result (node, 0), NULL);
  cleave_graph_add_output (graph, "i", cleave_node_get_result (node, 1), NULL);
  ck_assert_ptr_null (cleave_onnx_serialize (graph, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_MODEL,
                       "MaxPool 'p': its result Indices has no form in ONNX with the layout NHWC");
}
END_TEST

START_TEST (a_part_of_a_one_hot_becomes_a_slice)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveOneHotAttrs attrs = { .depth = 6, .axis = 1, .part = CLEAVE_INTS (2, 5) };
  CleaveResult *operands[] = { add_input (graph, "x", &CLEAVE_SHAPE (3, 4)),
                               add_input (graph, "v", &CLEAVE_SHAPE (2)) };
  g_autoptr (GError) error = NULL;
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("OneHot"), "o", operands, 2, 1, &attrs, &error);

  cleave_assert_no_error (error);
  cleave_graph_add_output (graph, "y", cleave_node_get_result (node, 0), NULL);
  assert_nodes (graph, "OneHot(x,o.depth,v)->o.whole\nSlice(o.whole,starts,ends,axes)->y\n");
  assert_same_again (graph);
}
END_TEST

START_TEST (the_phase_of_a_resize_becomes_a_slice)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveResizeAttrs attrs = {
    .mode = CLEAVE_RESIZE_LINEAR,
    .cubic_coeff_a = -0.75,
    .scales = CLEAVE_DOUBLES (1, 2),
    .sizes = CLEAVE_INTS (3, 5),
    .phase = CLEAVE_INTS (0, 2),
  };
  g_autoptr (GError) error = NULL;
  CleaveResult *y = cleave_test_add (
      graph, "Resize", "r", (CleaveResult *[]){ add_input (graph, "x", &CLEAVE_SHAPE (3, 4)) }, 1,
      &attrs, &error);

  cleave_assert_no_error (error);
  cleave_graph_add_output (graph, "y", y, NULL);
  assert_nodes (graph, "Resize(x,,,r.sizes)->r.whole\nSlice(r.whole,starts,ends,axes)->y\n");
  assert_same_again (graph);
}
END_TEST

/* A piece of a Resize by a fractional factor becomes one node again on import. */
START_TEST (positions_of_a_resize_become_products)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveResizeAttrs attrs = {
    .mode = CLEAVE_RESIZE_LINEAR,
    .coordinate_transformation_mode = CLEAVE_RESIZE_ALIGN_CORNERS,
    .cubic_coeff_a = -0.75,
    .scales = CLEAVE_DOUBLES (2, 1, 1.75, 2),
    .sizes = CLEAVE_INTS (4, 3, 4, 8),
    .phase = CLEAVE_INTS (0, 0, 2, 0),
    .begin = CLEAVE_INTS (0, 0, 1, 0),
    .extents = CLEAVE_INTS (2, 0, 4, 0),
    .lengths = CLEAVE_INTS (4, 0, 7, 0),
  };
  g_autoptr (GError) error = NULL;
  CleaveResult *x = add_input (graph, "x", &CLEAVE_SHAPE (2, 3, 3, 4)), *y;

  y = cleave_test_add (graph, "Resize", "r", (CleaveResult *[]){ x }, 1, &attrs, &error);
  cleave_assert_no_error (error);
  cleave_graph_add_output (graph, "y", y, NULL);
  assert_nodes (graph, "MatMul(x,weights)->r.part\nMatMul(weights_1,r.part)->r.part_1\n"
                       "Einsum(r.part_1,weights_2)->y\n");
  assert_same_again (graph);
  attrs.mode = CLEAVE_RESIZE_NEAREST;
  y = cleave_test_add (graph, "Resize", "s", (CleaveResult *[]){ x }, 1, &attrs, &error);
  cleave_assert_no_error (error);
  cleave_graph_add_output (graph, "z", y, NULL);
  assert_same_again (graph);
}
END_TEST

/* Lines in other formats are ignored. */
START_TEST (positions_of_a_resize_survive_export_and_import)
{
  static const struct
  {
    const char *doc;
    gboolean is_read;
  } lines[] = {
    { NULL, FALSE },
    { "of somebody", FALSE },
    { "cleave: resize 1 2 0 -0.75 0 1.75 4 2 1 4 7", TRUE },
    { "of somebody\ncleave: resize 1 2 0 -0.75 0 1.75 4 2 1 4 7\nand more", TRUE },
    { "cleave: resize 1 2 0 -0.75 0", FALSE },
    { "cleave: resize 1 2 0 -0.75 0 1.75 4 2 1 4", FALSE },
    { "cleave: resize 1 2 0 -0.75 0 1.75 4 2 1 4 seven", FALSE },
    { "cleave: resize 3 2 0 -0.75 0 1.75 4 2 1 4 7", FALSE },
    { "cleave: resize 1 4 0 -0.75 0 1.75 4 2 1 4 7", FALSE },
    { "cleave: resize 1 2 0 -0.75 0 1.75 4.5 2 1 4 7", FALSE },
    { "cleave: resize 1 2 0 -0.75 0 1.75 4 -2 1 4 7", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      CleaveResizeAttrs attrs;

      ck_assert_int_eq (cleave_onnx_read_resize (lines[i].doc, &attrs), lines[i].is_read);
      if (!lines[i].is_read)
        continue;
      ck_assert_uint_eq (attrs.sizes.n, 1);
      ck_assert (attrs.mode == CLEAVE_RESIZE_LINEAR && attrs.scales.v[0] == 1.75);
      ck_assert_int_eq (attrs.lengths.v[0], 7);
    }
}
END_TEST

/* Assemble. */

typedef struct
{
  guint n;
  CleaveRange ranges[8];
  const char *nodes; /* NULL: not checked */
} Cover;

static CleaveGraph *
assemble_of (const Cover *cover, const CleaveShape *whole)
{
  CleaveGraph *graph = cleave_graph_new ("g");
  CleaveResult *x = add_input (graph, "x", whole);
  CleaveResult *parts[8];
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < cover->n; i++)
    {
      g_autofree char *name = g_strdup_printf ("p%u", i);

      parts[i] = cleave_graph_add_slice_range (graph, name, x, &cover->ranges[i], NULL);
      ck_assert_ptr_nonnull (parts[i]);
    }
  cleave_graph_add_output (
      graph, "y", cleave_graph_add_assemble (graph, "a", parts, cover->ranges, cover->n, &error),
      NULL);
  cleave_assert_no_error (error);
  return graph;
}

/* Returns the nodes after the Slices that make the parts. */
static char *
list_rest (const CleaveGraph *graph, guint n_parts)
{
  g_autoptr (Model) model = export_model (graph);
  g_autofree char *nodes = list_nodes (model);
  const char *rest = nodes;

  for (guint i = 0; i < n_parts; i++)
    rest = strchr (rest, '\n') + 1;
  return g_strdup (rest);
}

START_TEST (an_assemble_becomes_concats)
{
  static const Cover covers[] = {
    { 3,
      { { 2, { { 0, 2 }, { 0, 6 } } },
        { 2, { { 2, 5 }, { 0, 6 } } },
        { 2, { { 5, 6 }, { 0, 6 } } } },
      "Concat(p0,p1,p2)->y\n" },
    { 4,
      { { 2, { { 0, 2 }, { 0, 3 } } },
        { 2, { { 0, 2 }, { 3, 6 } } },
        { 2, { { 2, 6 }, { 0, 3 } } },
        { 2, { { 2, 6 }, { 3, 6 } } } },
      "Concat(p0,p1)->a.part\nConcat(p2,p3)->a.part_1\nConcat(a.part,a.part_1)->y\n" },
    { 4, /* in the order of the parts */
      { { 2, { { 0, 2 }, { 0, 3 } } },
        { 2, { { 2, 6 }, { 0, 3 } } },
        { 2, { { 0, 2 }, { 3, 6 } } },
        { 2, { { 2, 6 }, { 3, 6 } } } },
      "Concat(p0,p1)->a.part\nConcat(p2,p3)->a.part_1\nConcat(a.part,a.part_1)->y\n" },
    { 2, /* the parts overlap */
      { { 2, { { 0, 6 }, { 0, 4 } } }, { 2, { { 0, 6 }, { 2, 6 } } } },
      "Slice(p0,starts,ends,axes)->a.slice\nConcat(a.slice,p1)->y\n" },
    { 1, { { 2, { { 0, 6 }, { 0, 6 } } } }, "Identity(p0)->y\n" },
    { 5, /* a pinwheel: no cut goes between the parts */
      { { 2, { { 0, 2 }, { 0, 4 } } },
        { 2, { { 0, 4 }, { 4, 6 } } },
        { 2, { { 4, 6 }, { 2, 6 } } },
        { 2, { { 2, 6 }, { 0, 2 } } },
        { 2, { { 2, 4 }, { 2, 4 } } } },
      NULL },
  };
  CleaveShape whole = CLEAVE_SHAPE (6, 6);

  for (guint i = 0; i < G_N_ELEMENTS (covers); i++)
    {
      g_autoptr (CleaveGraph) graph = assemble_of (&covers[i], &whole);
      g_autofree char *rest = list_rest (graph, covers[i].n);

      if (covers[i].nodes != NULL)
        ck_assert_str_eq (rest, covers[i].nodes);
      assert_same_again (graph);
    }
}
END_TEST

/* Random covers in three dimensions: a box cut repeatedly, some parts enlarged. */
START_TEST (every_cover_can_be_exported)
{
  CleaveShape whole = CLEAVE_SHAPE (6, 5, 7);

  for (guint seed = 0; seed < CLEAVE_TRIALS (200); seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      Cover cover = { .n = 1, .ranges = { cleave_range_whole (&whole) } };
      g_autoptr (CleaveGraph) graph = NULL;

      while (cover.n < 7)
        {
          CleaveRange *range = &cover.ranges[g_rand_int_range (rand, 0, (gint32) cover.n)];
          guint d = (guint) g_rand_int_range (rand, 0, 3);
          gint64 at = g_rand_int_range (rand, 0, (gint32) whole.dim[d]);

          if (at <= range->dim[d].begin || at >= range->dim[d].end)
            at = range->dim[d].begin;
          cover.ranges[cover.n] = *range;
          if (at > range->dim[d].begin)
            {
              cover.ranges[cover.n].dim[d].begin = at;
              range->dim[d].end = MIN (at + g_rand_int_range (rand, 0, 2), range->dim[d].end);
            }
          cover.n++;
        }
      graph = assemble_of (&cover, &whole);
      assert_same_again (graph);
    }
}
END_TEST

/* Constants. */

/* x plus a part of w for each range; the parts share the bytes of w. */
static CleaveGraph *
graph_of_parts (const CleaveRange *ranges, guint n)
{
  CleaveGraph *graph = cleave_graph_new ("g");
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 8, 4);
  g_autoptr (CleaveTensor) w = cleave_random_tensor (&type, 1, FALSE);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (CleaveTensor) part = cleave_tensor_new_slice (w, &ranges[i]);
      g_autofree char *name = g_strdup_printf ("w.%u", i);
      g_autofree char *output = g_strdup_printf ("y%u", i);

      cleave_graph_add_output (
          graph, output, relu (graph, NULL, cleave_graph_add_constant (graph, name, part)), NULL);
    }
  return graph;
}

START_TEST (parts_of_one_tensor_are_written_once)
{
  static const struct
  {
    guint n;
    CleaveRange ranges[3];
    gsize n_bytes, n_nodes;
  } cases[] = {
    /* the parts: two halves, one half twice, one half alone */
    { 2, { { 2, { { 0, 4 }, { 0, 4 } } }, { 2, { { 4, 8 }, { 0, 4 } } } }, 128, 2 },
    { 2, { { 2, { { 0, 4 }, { 0, 4 } } }, { 2, { { 0, 4 }, { 0, 4 } } } }, 64, 2 },
    { 1, { { 2, { { 0, 8 }, { 1, 2 } } } }, 32, 1 },
    /* overlapping parts, and the whole with a part: both become Slices of the whole */
    { 2, { { 2, { { 0, 5 }, { 0, 4 } } }, { 2, { { 3, 8 }, { 0, 4 } } } }, 128, 4 },
    { 2, { { 2, { { 0, 8 }, { 0, 4 } } }, { 2, { { 4, 8 }, { 0, 4 } } } }, 128, 3 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = graph_of_parts (cases[i].ranges, cases[i].n);
      g_autoptr (Model) model = export_model (graph);

      ck_assert_uint_eq (count_initializer_bytes (model), cases[i].n_bytes);
      ck_assert_uint_eq (model->graph->n_node, cases[i].n_nodes);
      assert_same_again (graph);
    }
}
END_TEST

START_TEST (unused_constants_are_left_out)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 8);
  g_autoptr (CleaveTensor) tensor = cleave_random_tensor (&type, 1, FALSE);
  g_autoptr (Model) model = NULL;

  cleave_graph_add_constant (graph, "c", tensor);
  cleave_graph_add_output (graph, "y", relu (graph, "r", add_input (graph, "x", &CLEAVE_SHAPE (2))),
                           NULL);
  model = export_model (graph);
  ck_assert_uint_eq (model->graph->n_initializer, 0);
}
END_TEST

/* Files. */

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

START_TEST (the_same_graph_gives_the_same_bytes)
{
  CleaveRange ranges[] = { CLEAVE_RANGE (0, 5, 0, 4), CLEAVE_RANGE (3, 8, 0, 4) };
  g_autoptr (CleaveGraph) one = graph_of_parts (ranges, 2);
  g_autoptr (CleaveGraph) two = graph_of_parts (ranges, 2);
  g_autoptr (GBytes) a = cleave_onnx_serialize (one, NULL);
  g_autoptr (GBytes) b = cleave_onnx_serialize (two, NULL);

  ck_assert (g_bytes_equal (a, b));
}
END_TEST

/* A MaxUnpool of two channels, each pooled from 2x4. `numbers` NULL: its indices are an input. */
static CleaveGraph *
graph_of_unpool (const gint64 *numbers)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveTensorType x = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 2, 1, 2),
                   i = CLEAVE_TYPE (CLEAVE_INT64, 1, 2, 1, 2);
  g_autoptr (CleaveTensor) indices =
      numbers == NULL ? NULL : cleave_tensor_new_copy (&i, numbers, NULL);
  CleaveMaxUnpoolAttrs a = { .kernel_shape = CLEAVE_INTS (2, 2), .strides = CLEAVE_INTS (2, 2) };
  CleaveResult *operands[2];
  CleaveNode *node;

  operands[0] = cleave_graph_add_input (graph, "x", &x, NULL);
  operands[1] = indices == NULL ? cleave_graph_add_input (graph, "i", &i, NULL)
                                : cleave_graph_add_constant (graph, "i", indices);
  node = cleave_graph_add (graph, cleave_op_lookup ("MaxUnpool"), "u", operands, 2, 1, &a, NULL);
  cleave_graph_add_output (graph, "y", cleave_node_get_result (node, 0), NULL);
  return graph;
}

static void
split_channels (CleaveGraph *graph)
{
  const gint64 two = 2;
  g_autoptr (CleaveTiling) tiling = cleave_tiling_by_num_chunks ("1", &two, 1);
  g_autoptr (CleaveSplitReport) report = cleave_split_all_nodes (graph, tiling, NULL, NULL);

  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
}

static guint
count_op (const Model *model, const char *op)
{
  guint n = 0;

  for (size_t i = 0; i < model->graph->n_node; i++)
    n += strcmp (model->graph->node[i]->op_type, op) == 0 ? 1 : 0;
  return n;
}

/* In the whole value the indices of the second channel begin at 8, in its piece at 0. */
START_TEST (indices_of_a_piece_of_an_unpool_count_in_the_piece)
{
  static const gint64 numbers[] = { 5, 2, 8, 15 };

  for (guint is_constant = 0; is_constant < 2; is_constant++)
    {
      g_autoptr (CleaveGraph) graph = graph_of_unpool (is_constant ? numbers : NULL);
      g_autoptr (Model) whole = export_model (graph), pieces = NULL;

      split_channels (graph);
      pieces = export_model (graph);
      ck_assert_uint_eq (count_op (whole, "Mod"), 0);
      ck_assert_uint_eq (count_op (pieces, "MaxUnpool"), 2);
      ck_assert_uint_eq (count_op (pieces, "Mod"), is_constant ? 1 : 2);
      ck_assert_uint_eq (count_op (pieces, "Add"), is_constant ? 1 : 2);
    }
}
END_TEST

/* Returns the element type of the depth of a OneHot in the exported file. */
static int
depth_type (CleaveElement indices, CleaveElement values, gint64 depth)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType types[] = { CLEAVE_TYPE (indices, 3), CLEAVE_TYPE (values, 2) };
  CleaveResult *operands[] = { cleave_graph_add_input (graph, "x", &types[0], NULL),
                               cleave_graph_add_input (graph, "v", &types[1], NULL) };
  CleaveOneHotAttrs a = { .axis = 1, .depth = depth };
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("OneHot"), "n", operands, 2, 1, &a, NULL);
  g_autoptr (Model) model = NULL;

  cleave_graph_add_output (graph, "y", cleave_node_get_result (node, 0), NULL);
  model = export_model (graph);
  return model->graph->initializer[0]->data_type;
}

/* These are the kernels that ONNX Runtime 1.30 has. */
START_TEST (the_depth_of_a_one_hot_has_a_type_with_a_kernel)
{
  static const CleaveElement cases[][3] = {
    { CLEAVE_FLOAT16, CLEAVE_FLOAT16, CLEAVE_FLOAT32 },
    { CLEAVE_FLOAT16, CLEAVE_FLOAT32, CLEAVE_FLOAT32 },
    { CLEAVE_FLOAT16, CLEAVE_INT64, CLEAVE_INT64 },
    { CLEAVE_FLOAT32, CLEAVE_FLOAT32, CLEAVE_FLOAT32 },
    { CLEAVE_FLOAT32, CLEAVE_INT64, CLEAVE_INT64 },
    { CLEAVE_INT32, CLEAVE_FLOAT16, CLEAVE_INT32 },
    { CLEAVE_INT32, CLEAVE_FLOAT32, CLEAVE_INT32 },
    { CLEAVE_INT64, CLEAVE_FLOAT32, CLEAVE_INT64 },
    { CLEAVE_INT64, CLEAVE_INT32, CLEAVE_FLOAT32 },
    { CLEAVE_INT64, CLEAVE_INT64, CLEAVE_INT64 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    ck_assert_int_eq (depth_type (cases[i][0], cases[i][1], 5),
                      cleave_onnx_element_number (cases[i][2]));
  ck_assert_int_eq (depth_type (CLEAVE_FLOAT32, CLEAVE_FLOAT32, (1 << 24) + 1),
                    ONNX__TENSOR_PROTO__DATA_TYPE__INT64);
}
END_TEST

/* ONNX requires a scalar for each number that is an operand, but a list of one element for the k
 * of TopK. */
START_TEST (numbers_that_are_operands_are_scalars)
{
  guint n_ops, n_numbers = 0;
  const CleaveOp *const *ops = cleave_op_list (&n_ops);

  for (guint i = 0; i < n_ops; i++)
    for (const CleaveAttr *attr = ops[i]->attrs; attr != NULL && attr->name != NULL; attr++)
      {
        gboolean is_list = strcmp (ops[i]->name, "TopK") == 0;

        if (attr->kind != CLEAVE_ATTR_INT ||
            (attr->onnx_operand == 0 && (attr->flags & CLEAVE_ATTR_OPERAND_0) == 0))
          continue;
        n_numbers++;
        ck_assert_msg (((attr->flags & CLEAVE_ATTR_SCALAR) == 0) == is_list, "%s of %s", attr->name,
                       ops[i]->name);
      }
  ck_assert_uint_gt (n_numbers, 8);
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
      a_number_is_rounded_to_the_element_type, large_integers_survive_export_and_import,
      lists_and_tensors_are_exported_as_attributes, the_smallest_opset_with_all_nodes_is_used,
      a_piece_of_a_deform_conv_is_cut_by_slices, later_opsets_have_their_own_forms,
      channels_last_ops_are_put_between_transposes,
      transposes_of_a_channels_last_op_have_names_of_their_own,
      indices_of_channels_last_are_an_error, the_phase_of_a_resize_becomes_a_slice,
      positions_of_a_resize_become_products, positions_of_a_resize_survive_export_and_import,
      a_part_of_a_one_hot_becomes_a_slice, numbers_that_are_operands_are_scalars,
      indices_of_a_piece_of_an_unpool_count_in_the_piece,
      the_depth_of_a_one_hot_has_a_type_with_a_kernel, NULL);
  cleave_add_case (suite, "assemble", an_assemble_becomes_concats, every_cover_can_be_exported,
                   NULL);
  cleave_add_case (suite, "constants", parts_of_one_tensor_are_written_once,
                   unused_constants_are_left_out, NULL);
  cleave_add_case (suite, "files", a_file_is_written_completely_or_not_at_all,
                   the_same_graph_gives_the_same_bytes, NULL);
}

CLEAVE_TEST_SUITE ("export", add_tests)
