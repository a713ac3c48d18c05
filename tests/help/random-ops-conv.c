/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Random convolutions, poolings, products and normalizations. */

#include "graphs.h"
#include "random-parts.h"

/* Adds a convolution by Winograd's F(2x2, 3x3). */
static CleaveNode *
make_winograd (CleaveGraph *graph, GRand *rand)
{
  CleaveConvAttrs a = { .layout = (CleaveLayout) pick (rand, 0, 1),
                        .group = pick (rand, 0, 3) == 0 ? 2 : 1,
                        .pads = pick_ints (rand, 4, 0, 3),
                        .winograd = { 2, { pick (rand, 0, 1), pick (rand, 0, 1) } } };
  static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT32, CLEAVE_FLOAT16,
                                            CLEAVE_BFLOAT16 };
  CleaveElement element = elements[pick (rand, 0, 3)];
  gint64 per_group = pick (rand, 1, 20), spatial[2];
  CleaveShape w = { 4, { a.group * pick (rand, 1, 20), per_group, 3, 3 } };
  CleaveShape b = { 1, { w.dim[0] } }, x;

  for (guint i = 0; i < 2; i++)
    spatial[i] = pick_extent (rand, 3, at (&a.pads, i, 0) + at (&a.pads, 2 + i, 0));
  x = image_shape (a.layout, pick (rand, 1, 2), a.group * per_group, spatial, 2);
  return node_of (cleave_graph_add_conv (
      graph, "conv", add_shaped (graph, "x", element, &x), add_shaped (graph, "w", element, &w),
      pick (rand, 0, 1) == 0 ? NULL : add_shaped (graph, "b", element, &b), &a, NULL));
}

static CleaveNode *
make_plain_conv (CleaveGraph *graph, GRand *rand)
{
  guint n = (guint) pick (rand, 1, 3);
  CleaveElement element = pick_float (rand);
  CleaveConvAttrs a = { .layout = (CleaveLayout) pick (rand, 0, 1),
                        .group = pick (rand, 1, 3),
                        .strides = pick_ints (rand, n, 1, 3),
                        .dilations = pick_ints (rand, n, 1, 2),
                        .pads = pick_ints (rand, 2 * n, 0, 3) };
  gint64 per_group = pick (rand, 1, 3), multiplier = pick (rand, 1, 3), spatial[3];
  CleaveShape w = { n + 2, { 0 } }, b = { 1, { 0 } }, x;

  if (pick (rand, 0, 3) == 0) /* a depthwise convolution, with enough channels to fill a vector */
    {
      a.group = pick (rand, 8, 20);
      per_group = multiplier = 1;
    }
  w.dim[0] = b.dim[0] = a.group * multiplier;
  w.dim[1] = per_group;
  for (guint i = 0; i < n; i++)
    {
      w.dim[2 + i] = pick (rand, 1, 3);
      spatial[i] = pick_extent (rand, at (&a.dilations, i, 1) * (w.dim[2 + i] - 1) + 1,
                                at (&a.pads, i, 0) + at (&a.pads, n + i, 0));
    }
  x = image_shape (a.layout, pick (rand, 1, 2), a.group * per_group, spatial, n);
  return node_of (cleave_graph_add_conv (
      graph, "conv", add_shaped (graph, "x", element, &x), add_shaped (graph, "w", element, &w),
      pick (rand, 0, 1) == 0 ? NULL : add_shaped (graph, "b", element, &b), &a, NULL));
}

static CleaveNode *
make_conv (CleaveGraph *graph, GRand *rand)
{
  return pick (rand, 0, 3) == 0 ? make_winograd (graph, rand) : make_plain_conv (graph, rand);
}

static CleaveNode *
make_conv_transpose (CleaveGraph *graph, GRand *rand)
{
  guint n = (guint) pick (rand, 1, 3);
  CleaveElement element = pick_float (rand);
  CleaveConvTransposeAttrs a = { .layout = (CleaveLayout) pick (rand, 0, 1),
                                 .group = pick (rand, 1, 3),
                                 .strides = pick_ints (rand, n, 1, 3),
                                 .dilations = pick_ints (rand, n, 1, 2),
                                 .pads = pick_ints (rand, 2 * n, 0, 2) };
  gint64 per_group = pick (rand, 1, 3), spatial[3];
  CleaveShape w = { .rank = n + 2, .dim = { a.group * pick (rand, 1, 2), per_group } };
  CleaveShape b = { 1, { a.group * per_group } }, x;

  a.output_padding.n = n;
  for (guint i = 0; i < n; i++)
    {
      gint32 limit = (gint32) MAX (at (&a.strides, i, 1), at (&a.dilations, i, 1)) - 1;

      w.dim[2 + i] = pick (rand, 1, 3);
      a.output_padding.v[i] = pick (rand, 0, limit);
      spatial[i] = pick (rand, 4, 6); /* extents that are mostly larger than the sum of both pads */
      if (at (&a.pads, i, 0) + at (&a.pads, n + i, 0) >= spatial[i])
        a.pads.n = 0;
    }
  x = image_shape (a.layout, pick (rand, 1, 2), w.dim[0], spatial, n);
  return node_of (cleave_test_add (
      graph, "ConvTranspose", "deconv",
      (CleaveResult *[]){ add_shaped (graph, "x", element, &x),
                          add_shaped (graph, "w", element, &w),
                          pick (rand, 0, 1) == 0 ? NULL : add_shaped (graph, "b", element, &b) },
      3, &a, NULL));
}

/* Adds a DeformConv. The groups of offsets and mask may or may not divide the groups of channels
 * evenly. */
static CleaveNode *
make_deform_conv (CleaveGraph *graph, GRand *rand)
{
  guint n = (guint) pick (rand, 1, 3);
  CleaveElement element = pick_float (rand);
  CleaveDeformConvAttrs a = { .group = pick (rand, 1, 4),
                              .offset_group = pick (rand, 1, 4),
                              .strides = pick_ints (rand, n, 1, 3),
                              .dilations = pick_ints (rand, n, 1, 2),
                              .pads = pick_ints (rand, 2 * n, 0, 3) };
  gint64 channels = a.group, n_taps = 1;
  CleaveShape x = { n + 2, { pick (rand, 1, 2) } }, w = { .rank = n + 2 }, places = x;
  CleaveShape b = { 1, { a.group * pick (rand, 1, 3) } }, mask;
  CleaveResult *operands[5] = { NULL };

  while (channels % a.offset_group != 0)
    channels += a.group;
  x.dim[1] = channels * pick (rand, 1, 2);
  w.dim[0] = b.dim[0];
  w.dim[1] = x.dim[1] / a.group;
  for (guint i = 0; i < n; i++)
    {
      gint64 pads = at (&a.pads, i, 0) + at (&a.pads, n + i, 0), reach;

      w.dim[2 + i] = pick (rand, 1, n == 3 ? 2 : 3);
      n_taps *= w.dim[2 + i];
      reach = at (&a.dilations, i, 1) * (w.dim[2 + i] - 1) + 1;
      x.dim[2 + i] = pick_extent (rand, reach, pads);
      places.dim[2 + i] = (x.dim[2 + i] + pads - reach) / at (&a.strides, i, 1) + 1;
    }
  places.dim[1] = a.offset_group * n_taps * n;
  mask = places;
  mask.dim[1] = a.offset_group * n_taps;
  operands[0] = add_shaped (graph, "x", element, &x);
  operands[1] = add_shaped (graph, "w", element, &w);
  operands[2] = add_shaped (graph, "offset", element, &places);
  if (pick (rand, 0, 1) == 0)
    operands[3] = add_shaped (graph, "b", element, &b);
  if (pick (rand, 0, 1) == 0)
    operands[4] = add_shaped (graph, "mask", element, &mask);
  return node_of (cleave_test_add (graph, "DeformConv", "conv", operands, 5, &a, NULL));
}

static CleaveNode *
make_col2im (CleaveGraph *graph, GRand *rand)
{
  guint n = (guint) pick (rand, 1, 3);
  CleaveElement element = pick (rand, 0, 1) == 0 ? pick_float (rand)
                                                 : (CleaveElement) pick (rand, CLEAVE_FLOAT32,
                                                                         (gint32) CLEAVE_BOOL - 1);
  CleaveCol2ImAttrs a = { .image_shape.n = n,
                          .block_shape.n = n,
                          .dilations = pick_ints (rand, n, 1, 2),
                          .pads = pick_ints (rand, 2 * n, 0, 3),
                          .strides = pick_ints (rand, n, 1, 5) };
  gint64 n_elements = 1, n_blocks = 1, channels = pick (rand, 1, 3);
  CleaveShape x = { .rank = 3, .dim = { pick (rand, 1, 2) } };

  for (guint i = 0; i < n; i++)
    {
      gint64 pads = at (&a.pads, i, 0) + at (&a.pads, n + i, 0), reach;

      a.block_shape.v[i] = pick (rand, 1, 3);
      reach = at (&a.dilations, i, 1) * (a.block_shape.v[i] - 1) + 1;
      a.image_shape.v[i] = pick_extent (rand, reach, pads);
      n_elements *= a.block_shape.v[i];
      n_blocks *= (a.image_shape.v[i] + pads - reach) / at (&a.strides, i, 1) + 1;
    }
  x.dim[1] = channels * n_elements;
  x.dim[2] = n_blocks;
  return add_node (graph, "Col2Im", add_shaped (graph, "x", element, &x), &a);
}

/* Draws the attributes that all poolings share, and adds an operand that fits them. */
static CleaveResult *
add_pool_input (CleaveGraph *graph, GRand *rand, CleaveElement element, CleavePoolAttrs *a)
{
  guint n = (guint) pick (rand, 1, 3);
  gint64 n_images, n_channels, spatial[3];
  CleaveShape x;

  *a = (CleavePoolAttrs){ .layout = (CleaveLayout) pick (rand, 0, 1),
                          .kernel_shape = { .n = n },
                          .strides = pick_ints (rand, n, 1, 3),
                          .dilations = pick_ints (rand, n, 1, 2),
                          .pads = pick_ints (rand, 2 * n, 0, 3),
                          .ceil_mode = (gboolean) pick (rand, 0, 1) };
  for (guint i = 0; i < n; i++)
    {
      a->kernel_shape.v[i] = pick (rand, 1, 3);
      spatial[i] = pick_extent (rand, at (&a->dilations, i, 1) * (a->kernel_shape.v[i] - 1) + 1,
                                at (&a->pads, i, 0) + at (&a->pads, n + i, 0));
    }
  n_channels = pick (rand, 1, 4);
  n_images = pick (rand, 1, 2);
  x = image_shape (a->layout, n_images, n_channels, spatial, n);
  return add_shaped (graph, "x", element, &x);
}

/* Adds a MaxPool. One node in three also returns indices. */
static CleaveNode *
make_max_pool (CleaveGraph *graph, GRand *rand)
{
  static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT32, CLEAVE_INT8,
                                            CLEAVE_UINT8,   CLEAVE_FLOAT16, CLEAVE_FLOAT64 };
  CleavePoolAttrs a;
  CleaveResult *x = add_pool_input (graph, rand, elements[pick (rand, 0, 5)], &a);
  guint n_results = pick (rand, 0, 2) == 0 ? 2 : 1;

  a.storage_order = pick (rand, 0, 1);
  return cleave_graph_add (graph, cleave_op_lookup ("MaxPool"), "pool", &x, 1, n_results, &a, NULL);
}

static CleaveNode *
make_average_pool (CleaveGraph *graph, GRand *rand)
{
  CleavePoolAttrs a;
  CleaveResult *x = add_pool_input (graph, rand, pick_float (rand), &a);

  a.count_include_pad = (gboolean) pick (rand, 0, 1);
  return node_of (cleave_graph_add_pool (graph, "AveragePool", "pool", x, &a, NULL));
}

static CleaveNode *
make_lp_pool (CleaveGraph *graph, GRand *rand)
{
  CleavePoolAttrs a;
  CleaveResult *x = add_pool_input (graph, rand, pick_float (rand), &a);

  a.p = pick (rand, 0, 3);
  return node_of (cleave_graph_add_pool (graph, "LpPool", "pool", x, &a, NULL));
}

/* Adds an image of random extents, with one to three spatial dimensions. */
static CleaveResult *
add_image (CleaveGraph *graph, GRand *rand, CleaveElement element, CleaveLayout layout, gint64 c)
{
  gint64 spatial[3] = { pick (rand, 1, 7), pick (rand, 1, 7), pick (rand, 1, 3) };
  guint n = (guint) pick (rand, 1, 3);
  CleaveShape x = image_shape (layout, pick (rand, 1, 3), c, spatial, n);

  return add_shaped (graph, "x", element, &x);
}

static CleaveNode *
make_global_pool (CleaveGraph *graph, GRand *rand, const char *op)
{
  CleaveGlobalPoolAttrs a = { .layout = (CleaveLayout) pick (rand, 0, 1), .p = pick (rand, 0, 3) };
  gint64 n_channels = pick (rand, 1, 6);
  CleaveResult *x = add_image (graph, rand, pick_float (rand), a.layout, n_channels);

  return node_of (cleave_graph_add_global_pool (graph, op, "pool", x, &a, NULL));
}

static CleaveNode *
make_global_average_pool (CleaveGraph *graph, GRand *rand)
{
  return make_global_pool (graph, rand, "GlobalAveragePool");
}

static CleaveNode *
make_global_max_pool (CleaveGraph *graph, GRand *rand)
{
  return make_global_pool (graph, rand, "GlobalMaxPool");
}

static CleaveNode *
make_global_lp_pool (CleaveGraph *graph, GRand *rand)
{
  return make_global_pool (graph, rand, "GlobalLpPool");
}

static CleaveElement
pick_dot_element (GRand *rand)
{
  static const CleaveElement elements[] = { CLEAVE_INT32, CLEAVE_INT64, CLEAVE_UINT32,
                                            CLEAVE_UINT64 };

  return pick (rand, 0, 2) > 0 ? pick_float (rand) : elements[pick (rand, 0, 3)];
}

static CleaveNode *
make_matmul (CleaveGraph *graph, GRand *rand)
{
  CleaveElement element = pick_dot_element (rand);
  CleaveInts batch = { .n = (guint) pick (rand, 0, 2),
                       .v = { pick (rand, 1, 3), pick (rand, 1, 3) } };
  gint64 m = pick (rand, 1, 5), k = pick (rand, 1, 6), n = pick (rand, 1, 5);
  CleaveShape a = pick_stack (rand, &batch, m, k), b = pick_stack (rand, &batch, k, n);
  CleaveShape vector = { 1, { k } };

  if (pick (rand, 0, 5) == 0)
    a = vector;
  if (pick (rand, 0, 5) == 0)
    b = vector;
  return node_of (cleave_graph_add_matmul (graph, "matmul", add_shaped (graph, "a", element, &a),
                                           add_shaped (graph, "b", element, &b), NULL));
}

static CleaveNode *
make_gemm (CleaveGraph *graph, GRand *rand)
{
  CleaveElement element = pick_dot_element (rand);
  CleaveGemmAttrs attrs = { (double) pick (rand, -1, 2), (double) pick (rand, -1, 2),
                            (gboolean) pick (rand, 0, 1), (gboolean) pick (rand, 0, 1) };
  gint64 m = pick (rand, 1, 6), k = pick (rand, 1, 6), n = pick (rand, 1, 6);
  CleaveShape a = attrs.transA ? CLEAVE_SHAPE (k, m) : CLEAVE_SHAPE (m, k);
  CleaveShape b = attrs.transB ? CLEAVE_SHAPE (n, k) : CLEAVE_SHAPE (k, n);
  CleaveShape c[] = { { 0 },
                      CLEAVE_SHAPE (1),
                      CLEAVE_SHAPE (n),
                      CLEAVE_SHAPE (m, 1),
                      CLEAVE_SHAPE (1, n),
                      CLEAVE_SHAPE (m, n) };
  gint64 which = pick (rand, 0, 6);

  return node_of (cleave_graph_add_gemm (
      graph, "gemm", add_shaped (graph, "a", element, &a), add_shaped (graph, "b", element, &b),
      which == 6 ? NULL : add_shaped (graph, "c", element, &c[which]), &attrs, NULL));
}

static CleaveNode *
make_norm (CleaveGraph *graph, GRand *rand, const char *op, guint n_vectors)
{
  static const char *const names[] = { "scale", "b", "mean", "var" };
  CleaveNormAttrs a = { (CleaveLayout) pick (rand, 0, 1), 1e-5 };
  CleaveElement element = pick_float (rand);
  CleaveShape vector = { 1, { pick (rand, 1, 6) } };
  CleaveResult *operands[5];

  operands[0] = add_image (graph, rand, element, a.layout, vector.dim[0]);
  for (guint i = 0; i < n_vectors; i++)
    operands[1 + i] = add_shaped (graph, names[i], element, &vector);
  return cleave_graph_add (graph, cleave_op_lookup (op), "norm", operands, 1 + n_vectors, 1, &a,
                           NULL);
}

static CleaveNode *
make_batch_norm (CleaveGraph *graph, GRand *rand)
{
  return make_norm (graph, rand, "BatchNormalization", 4);
}

static CleaveNode *
make_instance_norm (CleaveGraph *graph, GRand *rand)
{
  return make_norm (graph, rand, "InstanceNormalization", 2);
}

/* Adds a recurrent layer with one or two directions, and with random optional operands and
 * attributes. */
static CleaveNode *
make_recurrent (CleaveGraph *graph, GRand *rand, const char *op, guint n_gates, guint n_functions)
{
  CleaveRecurrentAttrs a = { .direction = (CleaveDirection) pick (rand, 0, 2),
                             .clip = pick (rand, 0, 2) == 0 ? 0.5 : 0,
                             .layout = pick (rand, 0, 1),
                             .linear_before_reset = (gboolean) pick (rand, 0, 1),
                             .input_forget = (gboolean) pick (rand, 0, 1) };
  static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT32, CLEAVE_FLOAT64,
                                            CLEAVE_FLOAT16, CLEAVE_BFLOAT16 };
  CleaveElement element = elements[pick (rand, 0, 4)];
  gint64 d = a.direction == CLEAVE_DIRECTION_BIDIRECTIONAL ? 2 : 1, h = pick (rand, 1, 10);
  gint64 t = pick (rand, 1, 4), n = pick (rand, 1, 4), i = pick (rand, 1, 20);
  CleaveShape lengths = CLEAVE_SHAPE (n);
  const CleaveShape x = a.layout == 0 ? CLEAVE_SHAPE (t, n, i) : CLEAVE_SHAPE (n, t, i);
  const CleaveShape state = a.layout == 0 ? CLEAVE_SHAPE (d, n, h) : CLEAVE_SHAPE (n, d, h);
  const CleaveShape shapes[] = { x,
                                 CLEAVE_SHAPE (d, n_gates * h, i),
                                 CLEAVE_SHAPE (d, n_gates * h, h),
                                 CLEAVE_SHAPE (d, 2 * n_gates * h),
                                 lengths,
                                 state,
                                 state,
                                 CLEAVE_SHAPE (d, 3 * h) };
  static const char *const names[] = { "x", "w", "r", "b", "lengths", "h", "c", "p" };
  CleaveResult *operands[8] = { NULL };

  if (pick (rand, 0, 2) == 0)
    for (guint k = 0; k < d * n_functions; k++)
      a.activations.v[a.activations.n++] =
          pick (rand, CLEAVE_ACTIVATION_TANH, CLEAVE_ACTIVATION_SOFTPLUS);
  if (pick (rand, 0, 1) == 0)
    a.activation_alpha = CLEAVE_DOUBLES (0.5, 0.25, 0.75);
  for (guint k = 0; k < (n_gates == 4 ? 8 : 6); k++)
    if (k < 3 || pick (rand, 0, 1) == 0)
      operands[k] = add_shaped (graph, names[k], k == 4 ? CLEAVE_INT32 : element, &shapes[k]);
  return cleave_test_add_recurrent (graph, op, "recurrent", operands, 8, &a, NULL);
}

static CleaveNode *
make_rnn (CleaveGraph *graph, GRand *rand)
{
  return make_recurrent (graph, rand, "RNN", 1, 1);
}

static CleaveNode *
make_gru (CleaveGraph *graph, GRand *rand)
{
  return make_recurrent (graph, rand, "GRU", 3, 2);
}

static CleaveNode *
make_lstm (CleaveGraph *graph, GRand *rand)
{
  return make_recurrent (graph, rand, "LSTM", 4, 3);
}

/* Adds an Assemble of three parts of a plane. */
static CleaveNode *
make_assemble (CleaveGraph *graph, GRand *rand)
{
  gint64 rows = pick (rand, 2, 7), columns = pick (rand, 2, 7),
         cut = pick (rand, 1, (gint32) rows - 1);
  gint64 middle = pick (rand, 1, (gint32) columns - 1);
  CleaveRange ranges[] = { CLEAVE_RANGE (0, cut, 0, columns), CLEAVE_RANGE (cut, rows, 0, middle),
                           CLEAVE_RANGE (cut, rows, middle, columns) };
  CleaveResult *parts[3];

  for (guint i = 0; i < 3; i++)
    {
      static const char *const names[] = { "a", "b", "c" };
      CleaveShape shape = cleave_range_shape (&ranges[i]);

      parts[i] = add_shaped (graph, names[i], CLEAVE_FLOAT32, &shape);
    }
  return node_of (cleave_graph_add_assemble (graph, "whole", parts, ranges, 3, NULL));
}

const CleaveRandomOp cleave_random_ops_conv[] = {
  { "Assemble", make_assemble },
  { "Conv", make_conv },
  { "ConvTranspose", make_conv_transpose },
  { "Col2Im", make_col2im },
  { "DeformConv", make_deform_conv },
  { "MaxPool", make_max_pool },
  { "AveragePool", make_average_pool },
  { "LpPool", make_lp_pool },
  { "GlobalAveragePool", make_global_average_pool },
  { "GlobalMaxPool", make_global_max_pool },
  { "GlobalLpPool", make_global_lp_pool },
  { "MatMul", make_matmul },
  { "Gemm", make_gemm },
  { "BatchNormalization", make_batch_norm },
  { "InstanceNormalization", make_instance_norm },
  { "RNN", make_rnn },
  { "GRU", make_gru },
  { "LSTM", make_lstm },
  { NULL, NULL },
};
