/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The nodes that can have fused consumers: products, convolutions and poolings, with random types
 * and operands. */

#include "fusion-heads.h"

#include "run-help.h"
#include "test.h"

/* Number of products in each sum of a matrix product. */
#define K 5

CleaveResult *
fusion_input (CleaveGraph *graph, GRand *rand, const CleaveTensorType *type)
{
  CleaveRange range = cleave_range_whole (&type->shape);
  gint32 axis = g_rand_int_range (rand, -(gint32) type->shape.rank, (gint32) type->shape.rank + 1);
  gboolean is_part = axis >= 0 && axis < (gint32) type->shape.rank;
  CleaveTensorType whole = *type;
  g_autofree char *name = g_strdup_printf ("x%u", cleave_graph_get_n_inputs (graph));
  g_autoptr (GError) error = NULL;
  CleaveResult *x;

  if (is_part)
    {
      range.dim[axis].begin++;
      range.dim[axis].end++;
      whole.shape.dim[axis] += 3;
    }
  x = cleave_graph_add_input (graph, name, &whole, &error);
  cleave_assert_no_error (error);
  return is_part ? run_slice (graph, x, range) : x;
}

/* Adds weights: mostly a constant, at times an input. */
static CleaveResult *
add_weights (CleaveGraph *graph, GRand *rand, CleaveElement element, const CleaveShape *shape)
{
  const CleaveTensorType type = { element, *shape };
  g_autoptr (CleaveTensor) value = NULL;

  if (g_rand_int_range (rand, 0, 4) == 0)
    return fusion_input (graph, rand, &type);
  value = cleave_random_tensor (&type, g_rand_int (rand), FALSE);
  return cleave_graph_add_constant (graph, NULL, value);
}

static CleaveElement
draw_float (GRand *rand)
{
  const CleaveElement elements[] = { CLEAVE_FLOAT16, CLEAVE_BFLOAT16 };
  guint32 i = (guint32) g_rand_int_range (rand, 0, 10);

  return i < G_N_ELEMENTS (elements) ? elements[i] : CLEAVE_FLOAT32;
}

static CleaveResult *
add_input (CleaveGraph *graph, GRand *rand, CleaveElement element, const CleaveShape *shape)
{
  return fusion_input (graph, rand, &(CleaveTensorType){ element, *shape });
}

/* Adds a node. Returns NULL if the op refuses the operands. */
static CleaveResult *
add (
    CleaveGraph *graph, const char *op, CleaveResult *const *operands, guint n, gconstpointer attrs)
{
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup (op), NULL, operands, n, 1, attrs, NULL);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

/* Adds a product of stacks of matrices. The second operand may be a single matrix. */
static CleaveResult *
make_matmul (CleaveGraph *graph, GRand *rand, const CleaveShape *y)
{
  CleaveElement element = draw_float (rand);
  CleaveShape a = *y, b = *y;
  guint rank = y->rank;

  if (rank < 2)
    return NULL;
  a.dim[rank - 1] = b.dim[rank - 2] = K;
  if (g_rand_boolean (rand))
    b = CLEAVE_SHAPE (K, y->dim[rank - 1]);
  for (guint d = 0; d + 2 < b.rank; d++)
    if (g_rand_boolean (rand))
      b.dim[d] = 1;
  return add (graph, "MatMul",
              (CleaveResult *[]){ add_input (graph, rand, element, &a),
                                  add_weights (graph, rand, element, &b) },
              2, NULL);
}

/* Adds a product of one row and a stack of matrices. */
static CleaveResult *
make_row (CleaveGraph *graph, GRand *rand, const CleaveShape *y)
{
  CleaveShape b = { .rank = y->rank + 1 };

  for (guint d = 0; d < y->rank; d++)
    b.dim[d + (d + 1 == y->rank ? 1 : 0)] = y->dim[d];
  b.dim[y->rank - 1] = K;
  return run_binary (graph, "MatMul", add_input (graph, rand, CLEAVE_FLOAT32, &CLEAVE_SHAPE (K)),
                     add_weights (graph, rand, CLEAVE_FLOAT32, &b));
}

/* Adds a product of a stack of matrices and one column. */
static CleaveResult *
make_column (CleaveGraph *graph, GRand *rand, const CleaveShape *y)
{
  CleaveShape a = *y;

  a.dim[a.rank++] = K;
  return run_binary (graph, "MatMul", add_input (graph, rand, CLEAVE_FLOAT32, &a),
                     add_weights (graph, rand, CLEAVE_FLOAT32, &CLEAVE_SHAPE (K)));
}

static CleaveResult *
make_gemm (CleaveGraph *graph, GRand *rand, const CleaveShape *y)
{
  CleaveElement element = draw_float (rand);
  CleaveGemmAttrs attrs = {
    .alpha = 1, .beta = 1, .transA = g_rand_boolean (rand), .transB = g_rand_boolean (rand)
  };
  CleaveResult *operands[3];
  guint n = g_rand_boolean (rand) ? 3 : 2;

  if (y->rank != 2)
    return NULL;
  operands[0] =
      add_input (graph, rand, element,
                 attrs.transA ? &CLEAVE_SHAPE (K, y->dim[0]) : &CLEAVE_SHAPE (y->dim[0], K));
  operands[1] =
      add_weights (graph, rand, element,
                   attrs.transB ? &CLEAVE_SHAPE (y->dim[1], K) : &CLEAVE_SHAPE (K, y->dim[1]));
  if (n == 3)
    operands[2] = add_weights (graph, rand, element,
                               &CLEAVE_SHAPE (g_rand_boolean (rand) ? 1 : y->dim[0], y->dim[1]));
  return add (graph, "Gemm", operands, n, &attrs);
}

static CleaveLayout
draw_layout (GRand *rand)
{
  return g_rand_boolean (rand) ? CLEAVE_LAYOUT_NCHW : CLEAVE_LAYOUT_NHWC;
}

/* Draws a kernel of 1 or 3 along each spatial dimension, and the padding that keeps the extents. */
static void
draw_kernel (GRand *rand, guint n_spatial, gint64 *kernel, CleaveInts *pads)
{
  gint64 extent = g_rand_boolean (rand) ? 1 : 3;

  pads->n = 2 * n_spatial;
  for (guint i = 0; i < n_spatial; i++)
    {
      kernel[i] = extent;
      pads->v[i] = pads->v[n_spatial + i] = extent / 2;
    }
}

static guint
channel_dim (CleaveLayout layout, const CleaveShape *y)
{
  return layout == CLEAVE_LAYOUT_NCHW ? 1 : y->rank - 1;
}

/* Adds a convolution with result `y`. `n_groups` 0: one group for each channel. */
static CleaveResult *
add_conv (CleaveGraph *graph, GRand *rand, const CleaveShape *y, gint64 n_groups)
{
  CleaveElement element = draw_float (rand);
  CleaveConvAttrs attrs = { .layout = draw_layout (rand) };
  guint c = channel_dim (attrs.layout, y);
  CleaveShape x = *y, w = { .rank = y->rank, .dim = { y->dim[c], n_groups == 0 ? 1 : K } };
  CleaveResult *operands[3];

  attrs.group = n_groups == 0 ? y->dim[c] : y->dim[c] % n_groups == 0 ? n_groups : 1;
  draw_kernel (rand, y->rank - 2, w.dim + 2, &attrs.pads);
  x.dim[c] = attrs.group * w.dim[1];
  if (element == CLEAVE_FLOAT32 && w.rank == 4 && w.dim[2] == 3 && g_rand_boolean (rand))
    attrs.winograd = (CleaveInts){ 2, { g_rand_boolean (rand), g_rand_boolean (rand) } };
  operands[0] = add_input (graph, rand, element, &x);
  operands[1] = add_weights (graph, rand, element, &w);
  operands[2] = add_weights (graph, rand, element, &CLEAVE_SHAPE (y->dim[c]));
  return add (graph, "Conv", operands, g_rand_boolean (rand) ? 3 : 2, &attrs);
}

static CleaveResult *
make_conv (CleaveGraph *graph, GRand *rand, const CleaveShape *y)
{
  return y->rank < 3 ? NULL : add_conv (graph, rand, y, g_rand_int_range (rand, 1, 4));
}

static CleaveResult *
make_depthwise (CleaveGraph *graph, GRand *rand, const CleaveShape *y)
{
  return y->rank < 3 ? NULL : add_conv (graph, rand, y, 0);
}

static CleaveResult *
make_conv_transpose (CleaveGraph *graph, GRand *rand, const CleaveShape *y)
{
  CleaveConvTransposeAttrs attrs = { .layout = draw_layout (rand) };
  guint c = channel_dim (attrs.layout, y);
  CleaveShape x = *y, w = { .rank = y->rank, .dim = { K } };

  if (y->rank < 3)
    return NULL;
  w.dim[1] = y->dim[c];
  x.dim[c] = K;
  draw_kernel (rand, y->rank - 2, w.dim + 2, &attrs.pads);
  if (g_rand_boolean (rand))
    attrs.strides = (CleaveInts){ y->rank - 2, { 2, 2, 2 } };
  return add (graph, "ConvTranspose",
              (CleaveResult *[]){ add_input (graph, rand, CLEAVE_FLOAT32, &x),
                                  add_weights (graph, rand, CLEAVE_FLOAT32, &w) },
              2, &attrs);
}

static CleaveResult *
make_pool (CleaveGraph *graph, GRand *rand, const CleaveShape *y)
{
  const char *op = g_rand_boolean (rand) ? "MaxPool" : "AveragePool";
  CleavePoolAttrs attrs = { .layout = draw_layout (rand), .kernel_shape.n = y->rank - 2 };
  CleaveResult *x;

  if (y->rank < 3)
    return NULL;
  draw_kernel (rand, y->rank - 2, attrs.kernel_shape.v, &attrs.pads);
  x = add_input (graph, rand, draw_float (rand), y);
  return add (graph, op, &x, 1, &attrs);
}

const FusionHead fusion_heads[] = {
  { "MatMul", make_matmul },
  { "MatMul of a row", make_row },
  { "MatMul of a column", make_column },
  { "Gemm", make_gemm },
  { "Conv", make_conv },
  { "depthwise Conv", make_depthwise },
  { "ConvTranspose", make_conv_transpose },
  { "pooling", make_pool },
};

const guint fusion_n_heads = G_N_ELEMENTS (fusion_heads);
