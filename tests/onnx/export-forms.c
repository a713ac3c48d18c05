/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The forms of ops in exported files: the forms of each opset, the forms for the layout NHWC, and
 * the forms of ops that ONNX lacks. */

#include "exported.h"

#include <string.h>

#include "../../lib/onnx/resize-part.h"
#include "../../lib/onnx/tensor-proto.h"

/* Makes a graph with ops that all opsets have, and ops that later opsets write differently. */
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

/* Returns the opset, the IR version and the nodes of the exported file, such as "opset 19, IR 9:
 * AveragePool ...". */
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

/* A piece of a DeformConv is written with Slices, since ONNX has no negative pads. */
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

/* The export adds a Transpose before and after the pooling `p`, which has the layout NHWC. The
 * operand and the result of the exported pooling get the names p.nchw and p.y, since the value
 * after the second Transpose already has the name p. */
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

/* A piece of a Resize by fractional factors is written as matrix products (MatMul or Einsum), one
 * for each resized dimension. The import turns these products into one Resize again. */
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

/* Adds the piece `r` of a Resize by a fractional factor, the sum `s` of `r` and an input, and the
 * sum as the output `y`. */
static void
add_resize_part (CleaveGraph *graph, CleaveResult *operand)
{
  const CleaveResizeAttrs attrs = {
    .mode = CLEAVE_RESIZE_LINEAR,
    .cubic_coeff_a = -0.75,
    .scales = CLEAVE_DOUBLES (1, 0.3),
    .sizes = CLEAVE_INTS (4, 2),
    .phase = CLEAVE_INTS (0, 0),
    .begin = CLEAVE_INTS (0, 0),
    .extents = CLEAVE_INTS (0, 8),
    .lengths = CLEAVE_INTS (0, 2),
  };
  CleaveResult *operands[] = { operand, add_input (graph, "x", &CLEAVE_SHAPE (4, 2)) };
  g_autoptr (GError) error = NULL;

  operands[0] = cleave_test_add (graph, "Resize", "r", operands, 1, &attrs, &error);
  cleave_assert_no_error (error);
  cleave_graph_add_output (graph, "y",
                           cleave_test_add (graph, "Add", "s", operands, 2, NULL, &error), NULL);
  cleave_assert_no_error (error);
}

static CleaveResult *
add_constant (CleaveGraph *graph)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 7);
  g_autoptr (CleaveTensor) constant = cleave_random_tensor (&type, 7, FALSE);

  return cleave_graph_add_constant (graph, "c", constant);
}

/* The export usually writes a piece of a Resize as products with weights, which the import joins to
 * a Resize again. If the operand is constant, the import would fold the products first, and their
 * bits would differ. So the export writes the value of the piece instead. */
START_TEST (a_piece_of_a_resize_of_a_constant_becomes_a_value)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveResult *x = add_constant (graph);

  /* the Resize does not read the stored constant `c`: its operand is the result of a Neg of `c` */
  add_resize_part (graph, cleave_test_add (graph, "Neg", "n", &x, 1, NULL, NULL));
  assert_nodes (graph, "Neg(c)->n\nIdentity(r_1)->r\nAdd(r,x)->y\n");
  assert_same_again (graph);
}
END_TEST

/* The first of 64 nodes reads a constant, and a piece of a Resize reads the result of the last
 * node. Both operands of each node are the result of the previous node, so 2^64 paths lead from the
 * piece to the constant. The export computes each of the 64 nodes once, not once for each path. */
START_TEST (nodes_before_a_piece_of_a_resize_are_computed_once)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveResult *x = add_constant (graph);

  for (guint i = 0; i < 64; i++)
    x = cleave_test_add (graph, "Max", "n", (CleaveResult *[]){ x, x }, 2, NULL, NULL);
  add_resize_part (graph, x);
  assert_same_again (graph);
}
END_TEST

/* The import reads the positions of a Resize from a line of the doc string, and ignores lines in
 * other formats. */
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

/* Makes a MaxUnpool whose operand has two channels of 1x2 elements and whose result has two
 * channels of 2x4 elements. `numbers` has the constant indices; NULL: the indices are an input. */
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

/* The indices of the second channel begin at 8 in the whole value, and at 0 in the piece of that
 * channel. */
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

/* Returns the element type of the operand `depth` of a OneHot in the exported file. */
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

/* The expected types are the types for which ONNX Runtime 1.30 has a OneHot kernel. */
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
      suite, "forms", the_smallest_opset_with_all_nodes_is_used, later_opsets_have_their_own_forms,
      a_piece_of_a_deform_conv_is_cut_by_slices, channels_last_ops_are_put_between_transposes,
      transposes_of_a_channels_last_op_have_names_of_their_own,
      indices_of_channels_last_are_an_error, a_part_of_a_one_hot_becomes_a_slice,
      the_phase_of_a_resize_becomes_a_slice, positions_of_a_resize_become_products,
      a_piece_of_a_resize_of_a_constant_becomes_a_value,
      nodes_before_a_piece_of_a_resize_are_computed_once,
      positions_of_a_resize_survive_export_and_import,
      indices_of_a_piece_of_an_unpool_count_in_the_piece,
      the_depth_of_a_one_hot_has_a_type_with_a_kernel, numbers_that_are_operands_are_scalars, NULL);
}

CLEAVE_TEST_SUITE ("export-forms", add_tests)
