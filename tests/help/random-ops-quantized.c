/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Random ops on bytes with scales and zero points. */

#include "random-parts.h"

/* Returns the shape of a scalar, of a vector with one element, or of a vector with `extent`
 * elements.
 */
static CleaveShape
pick_scales (GRand *rand, gint64 extent)
{
  gint64 which = pick (rand, 0, 2);

  return which == 0 ? (CleaveShape){ 0 } : CLEAVE_SHAPE (which == 1 ? 1 : extent);
}

/* Adds the operands x and w of a convolution of bytes, and draws its attributes. Returns the number
 * of result channels. */
static gint64
add_byte_conv (
    CleaveGraph *graph, GRand *rand, CleaveResult **x, CleaveResult **w, CleaveConvAttrs *a)
{
  guint n = (guint) pick (rand, 1, 2);
  gint64 per_group = pick (rand, 1, 3), spatial[3];
  CleaveShape from, weights;

  *a = (CleaveConvAttrs){ .layout = (CleaveLayout) pick (rand, 0, 1),
                          .group = pick (rand, 1, 3),
                          .strides = pick_ints (rand, n, 1, 3),
                          .pads = pick_ints (rand, 2 * n, 0, 2) };
  weights = (CleaveShape){ n + 2, { a->group * pick (rand, 1, 3), per_group } };
  for (guint i = 0; i < n; i++)
    {
      weights.dim[2 + i] = pick (rand, 1, 3);
      spatial[i] =
          pick_extent (rand, weights.dim[2 + i], at (&a->pads, i, 0) + at (&a->pads, n + i, 0));
    }
  from = image_shape (a->layout, pick (rand, 1, 2), a->group * per_group, spatial, n);
  *x = add_shaped (graph, "x", pick (rand, 0, 1) == 0 ? CLEAVE_INT8 : CLEAVE_UINT8, &from);
  *w = add_shaped (graph, "w", pick (rand, 0, 1) == 0 ? CLEAVE_INT8 : CLEAVE_UINT8, &weights);
  return weights.dim[0];
}

static CleaveElement
element_of (const CleaveResult *result)
{
  return cleave_result_get_type (result)->element;
}

static CleaveNode *
make_qlinear_conv (CleaveGraph *graph, GRand *rand)
{
  CleaveConvAttrs a;
  CleaveResult *x, *w;
  gint64 channels = add_byte_conv (graph, rand, &x, &w, &a);
  CleaveShape one = pick_scales (rand, 1), many = pick_scales (rand, channels),
              b = { 1, { channels } };
  CleaveResult *operands[] = { x,
                               add_shaped (graph, "xs", CLEAVE_FLOAT32, &one),
                               add_shaped (graph, "xz", element_of (x), &one),
                               w,
                               add_shaped (graph, "ws", CLEAVE_FLOAT32, &many),
                               add_shaped (graph, "wz", element_of (w), &many),
                               add_shaped (graph, "ys", CLEAVE_FLOAT32, &one),
                               add_shaped (graph, "yz", CLEAVE_UINT8, &one),
                               pick (rand, 0, 1) == 0 ? NULL
                                                      : add_shaped (graph, "b", CLEAVE_INT32, &b) };

  return cleave_graph_add (graph, cleave_op_lookup ("QLinearConv"), "conv", operands, 9, 1, &a,
                           NULL);
}

static CleaveNode *
make_conv_integer (CleaveGraph *graph, GRand *rand)
{
  CleaveConvAttrs a;
  CleaveResult *x, *w;
  gint64 channels = add_byte_conv (graph, rand, &x, &w, &a);
  CleaveShape one = pick_scales (rand, 1), many = pick_scales (rand, channels);
  CleaveResult *operands[] = {
    x, w, pick (rand, 0, 1) == 0 ? NULL : add_shaped (graph, "xz", element_of (x), &one),
    pick (rand, 0, 1) == 0 ? NULL : add_shaped (graph, "wz", element_of (w), &many)
  };

  return cleave_graph_add (graph, cleave_op_lookup ("ConvInteger"), "conv", operands, 4, 1, &a,
                           NULL);
}

static CleaveNode *
make_quantize (
    CleaveGraph *graph, GRand *rand, const char *op, CleaveElement from, CleaveElement zero)
{
  CleaveShape x = CLEAVE_SHAPE (pick (rand, 1, 5), pick (rand, 1, 5), pick (rand, 1, 5));
  CleaveAxisAttrs a = { pick (rand, -3, 2) };
  CleaveShape scales = pick_scales (rand, x.dim[(a.axis + 3) % 3]);
  CleaveResult *operands[] = { add_shaped (graph, "x", from, &x),
                               add_shaped (graph, "scale", CLEAVE_FLOAT32, &scales),
                               pick (rand, 0, 1) == 0 ? NULL
                                                      : add_shaped (graph, "zero", zero, &scales) };

  return cleave_graph_add (graph, cleave_op_lookup (op), "quantize", operands, 3, 1, &a, NULL);
}

static CleaveNode *
make_quantize_linear (CleaveGraph *graph, GRand *rand)
{
  static const CleaveElement elements[] = { CLEAVE_INT8, CLEAVE_UINT8, CLEAVE_INT16,
                                            CLEAVE_UINT16 };

  return make_quantize (graph, rand, "QuantizeLinear",
                        pick (rand, 0, 3) == 0 ? CLEAVE_INT32 : CLEAVE_FLOAT32,
                        elements[pick (rand, 0, 3)]);
}

static CleaveNode *
make_dequantize_linear (CleaveGraph *graph, GRand *rand)
{
  static const CleaveElement elements[] = { CLEAVE_INT8, CLEAVE_UINT8, CLEAVE_INT16, CLEAVE_UINT16,
                                            CLEAVE_INT32 };
  CleaveElement element = elements[pick (rand, 0, 4)];

  return make_quantize (graph, rand, "DequantizeLinear", element, element);
}

static CleaveElement
pick_byte (GRand *rand)
{
  return pick (rand, 0, 1) == 0 ? CLEAVE_INT8 : CLEAVE_UINT8;
}

/* Adds two operands of a product of bytes. Each operand is a stack of matrices, or occasionally a
 * vector. Sets `a` and `b` to the operands. */
static void
add_byte_stacks (CleaveGraph *graph, GRand *rand, CleaveResult **a, CleaveResult **b)
{
  CleaveInts batch = { .n = (guint) pick (rand, 0, 2),
                       .v = { pick (rand, 1, 3), pick (rand, 1, 3) } };
  gint64 m = pick (rand, 1, 5), k = pick (rand, 1, 20), n = pick (rand, 1, 5);
  CleaveShape shape_a = pick_stack (rand, &batch, m, k), shape_b = pick_stack (rand, &batch, k, n);
  CleaveShape vector = { 1, { k } };

  if (pick (rand, 0, 5) == 0)
    shape_a = vector;
  if (pick (rand, 0, 5) == 0)
    shape_b = vector;
  *a = add_shaped (graph, "a", pick_byte (rand), &shape_a);
  *b = add_shaped (graph, "b", pick_byte (rand), &shape_b);
}

/* Returns the shape of the scales of a stack of matrices: one scale for all elements, one for each
 * row (`dim` 2) or one for each column (`dim` 1). The scales are a vector, or a stack with one
 * vector for each matrix. */
static CleaveShape
pick_row_scales (GRand *rand, const CleaveResult *matrix, guint dim)
{
  CleaveShape shape = cleave_result_get_type (matrix)->shape;

  if (shape.rank == 1 || pick (rand, 0, 2) == 0)
    return pick_scales (rand, 1);
  if (pick (rand, 0, 1) == 0)
    return CLEAVE_SHAPE (shape.dim[shape.rank - dim]);
  shape.dim[shape.rank - 3 + dim] = 1;
  return shape;
}

static CleaveNode *
make_qlinear_matmul (CleaveGraph *graph, GRand *rand)
{
  CleaveResult *a, *b, *operands[8];
  CleaveShape rows, columns, y;

  add_byte_stacks (graph, rand, &a, &b);
  rows = pick_row_scales (rand, a, 2);
  columns = pick_row_scales (rand, b, 1);
  y = pick_row_scales (rand, a, 2);
  operands[0] = a;
  operands[1] = add_shaped (graph, "as", CLEAVE_FLOAT32, &rows);
  operands[2] = add_shaped (graph, "az", element_of (a), &rows);
  operands[3] = b;
  operands[4] = add_shaped (graph, "bs", CLEAVE_FLOAT32, &columns);
  operands[5] = add_shaped (graph, "bz", element_of (b), &columns);
  operands[6] = add_shaped (graph, "ys", CLEAVE_FLOAT32, &y);
  operands[7] = add_shaped (graph, "yz", pick_byte (rand), &y);
  return cleave_graph_add (graph, cleave_op_lookup ("QLinearMatMul"), "matmul", operands, 8, 1,
                           NULL, NULL);
}

static CleaveNode *
make_matmul_integer (CleaveGraph *graph, GRand *rand)
{
  CleaveResult *operands[4] = { NULL };
  CleaveShape rows, columns;

  add_byte_stacks (graph, rand, &operands[0], &operands[1]);
  rows = pick_row_scales (rand, operands[0], 2);
  columns = pick_row_scales (rand, operands[1], 1);
  if (pick (rand, 0, 1) == 0)
    operands[2] = add_shaped (graph, "az", element_of (operands[0]), &rows);
  if (pick (rand, 0, 1) == 0)
    operands[3] = add_shaped (graph, "bz", element_of (operands[1]), &columns);
  return cleave_graph_add (graph, cleave_op_lookup ("MatMulInteger"), "matmul", operands, 4, 1,
                           NULL, NULL);
}

static CleaveNode *
make_dynamic_quantize_linear (CleaveGraph *graph, GRand *rand)
{
  CleaveShape shape = CLEAVE_SHAPE (pick (rand, 1, 3), pick (rand, 1, 300));
  CleaveResult *x = add_shaped (graph, "x", CLEAVE_FLOAT32, &shape);

  return cleave_graph_add (graph, cleave_op_lookup ("DynamicQuantizeLinear"), "quantize", &x, 1, 3,
                           NULL, NULL);
}

const CleaveRandomOp cleave_random_ops_quantized[] = {
  { "QLinearConv", make_qlinear_conv },
  { "ConvInteger", make_conv_integer },
  { "QLinearMatMul", make_qlinear_matmul },
  { "MatMulInteger", make_matmul_integer },
  { "QuantizeLinear", make_quantize_linear },
  { "DequantizeLinear", make_dequantize_linear },
  { "DynamicQuantizeLinear", make_dynamic_quantize_linear },
  { NULL, NULL },
};
