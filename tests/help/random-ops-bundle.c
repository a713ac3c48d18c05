/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes random nodes that the other lists of random-ops.h seldom make: large convolutions, powers
 * with constant exponents, views of images, joins of constants. Bundles have kernels for these
 * nodes. */

#include "random-ops.h"
#include "random-parts.h"
#include "test.h"

/* Makes an int8 convolution with up to 9 input and 11 output channels per group. The kernel of a
 * bundle computes blocks of four channels and the last channels one by one, so both kinds of code
 * run. */
static CleaveNode *
make_large_conv (CleaveGraph *graph, GRand *rand)
{
  gint64 group = pick (rand, 0, 2) > 0 ? 1 : pick (rand, 1, 3), kernel[2], spatial[2], in, out;
  CleaveTfliteConvAttrs a = { .conv = { .layout = CLEAVE_LAYOUT_NHWC, .group = group } };
  CleaveShape w, x, scalar = { 0 }, channels;

  in = pick (rand, 1, 9);
  out = pick (rand, 1, 11);
  for (guint i = 0; i < 2; i++)
    kernel[i] = pick (rand, 1, 4);
  a.conv.strides = pick_ints (rand, 2, 1, 3);
  a.conv.dilations = pick_ints (rand, 2, 1, 2);
  a.conv.pads = pick_ints (rand, 4, 0, 3);
  for (guint i = 0; i < 2; i++)
    spatial[i] = pick_extent (rand, (kernel[i] - 1) * at (&a.conv.dilations, i, 1) + 1,
                              at (&a.conv.pads, i, 0) + at (&a.conv.pads, 2 + i, 0));
  if (pick (rand, 0, 2) == 0) /* one case in three is depthwise */
    {
      a.conv.group = in;
      in = out = 1;
    }
  w = CLEAVE_SHAPE (a.conv.group * out, in, kernel[0], kernel[1]);
  channels = CLEAVE_SHAPE (w.dim[0]);
  x = image_shape (CLEAVE_LAYOUT_NHWC, 1, a.conv.group * in, spatial, 2);
  a.min = pick (rand, 0, 1) == 0 ? -128 : pick (rand, -128, -100);
  a.max = a.min == -128 ? 127 : pick (rand, 100, 127);
  return cleave_graph_add (graph, cleave_op_lookup ("TfliteConv"), "conv",
                           (CleaveResult *[]){ add_shaped (graph, "x", CLEAVE_INT8, &x),
                                               add_shaped (graph, "xz", CLEAVE_INT8, &scalar),
                                               add_shaped (graph, "w", CLEAVE_INT8, &w),
                                               add_shaped (graph, "m", CLEAVE_INT32, &channels),
                                               add_shaped (graph, "s", CLEAVE_INT32, &channels),
                                               add_shaped (graph, "yz", CLEAVE_INT8, &scalar),
                                               add_shaped (graph, "b", CLEAVE_INT32, &channels) },
                           7, 1, &a, NULL);
}

/* Makes a Pow. Its exponent is a constant, and bundles have a kernel for this exponent. */
static CleaveNode *
make_power (CleaveGraph *graph, GRand *rand)
{
  static const float exponents[] = { 2, 3, 0.5f };
  CleaveShape x = CLEAVE_SHAPE (pick (rand, 1, 3), pick (rand, 1, 4), pick (rand, 1, 9));
  CleaveTensorType scalar = { CLEAVE_FLOAT32, { 0 } };
  g_autoptr (CleaveTensor) exponent = cleave_tensor_new (&scalar, NULL);

  *(float *) cleave_tensor_get_mutable_data (exponent) = exponents[pick (rand, 0, 2)];
  return cleave_graph_add (graph, cleave_op_lookup ("Pow"), "pow",
                           (CleaveResult *[]){ add_shaped (graph, "x", CLEAVE_FLOAT32, &x),
                                               cleave_graph_add_constant (graph, NULL, exponent) },
                           2, 1, NULL, NULL);
}

/* Adds a pooling of x. In the layout of a pooling, channels come before rows and columns, so a
 * bundle knows which dimension of x has the channels. */
static void
add_pooling (CleaveGraph *graph, CleaveResult *x)
{
  CleavePoolAttrs a = { .kernel_shape = { .n = 2, .v = { 1, 1 } } };

  cleave_graph_add (graph, cleave_op_lookup ("MaxPool"), "pool", &x, 1, 1, &a, NULL);
}

/* Adds an image with channels first. */
static CleaveResult *
add_image (CleaveGraph *graph, GRand *rand, gint64 *extents)
{
  CleaveShape shape;
  CleaveResult *x;

  for (guint i = 0; i < 3; i++)
    extents[i] = pick (rand, 1, 6);
  shape = CLEAVE_SHAPE (1, extents[0], extents[1], extents[2]);
  x = add_shaped (graph, "x", pick (rand, 0, 1) == 0 ? CLEAVE_INT8 : CLEAVE_FLOAT32, &shape);
  add_pooling (graph, x);
  return x;
}

static CleaveNode *
make_image_reshape (CleaveGraph *graph, GRand *rand)
{
  gint64 extents[3], first = pick (rand, 0, 2), step = pick (rand, 1, 2);
  CleaveResult *x = add_image (graph, rand, extents);
  CleaveInts shape = { .n = 4, .v = { 1 } };

  for (gint64 i = 0; i < 3; i++)
    shape.v[1 + i] = extents[(first + i * step) % 3];
  return cleave_result_get_node (cleave_graph_add_reshape (graph, "reshape", x, &shape, NULL));
}

static CleaveNode *
make_image_flatten (CleaveGraph *graph, GRand *rand)
{
  gint64 extents[3];
  CleaveResult *x = add_image (graph, rand, extents);
  CleaveAxisAttrs a = { pick (rand, 0, 4) };

  return cleave_graph_add (graph, cleave_op_lookup ("Flatten"), "flatten", &x, 1, 1, &a, NULL);
}

/* Makes a Squeeze that drops a spatial dimension of an image. */
static CleaveNode *
make_image_squeeze (CleaveGraph *graph, GRand *rand)
{
  gint64 axis = pick (rand, 2, 3);
  CleaveShape shape = CLEAVE_SHAPE (1, pick (rand, 1, 6), pick (rand, 1, 6), pick (rand, 1, 6));
  CleaveAxesAttrs a = { { .n = 1, .v = { axis } } };
  CleaveResult *x;

  shape.dim[axis] = 1;
  x = add_shaped (graph, "x", CLEAVE_FLOAT32, &shape);
  add_pooling (graph, x);
  return cleave_graph_add (graph, cleave_op_lookup ("Squeeze"), "squeeze", &x, 1, 1, &a, NULL);
}

/* Makes an Unsqueeze that turns a matrix into an image. */
static CleaveNode *
make_image_unsqueeze (CleaveGraph *graph, GRand *rand)
{
  CleaveShape shape = CLEAVE_SHAPE (1, pick (rand, 1, 6), pick (rand, 1, 6));
  CleaveAxesAttrs a = { { .n = 1, .v = { pick (rand, 1, 3) } } };
  CleaveResult *x = add_shaped (graph, "x", CLEAVE_FLOAT32, &shape);
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("Unsqueeze"), "unsqueeze", &x, 1, 1, &a, NULL);

  add_pooling (graph, cleave_node_get_result (node, 0));
  return node;
}

/* Makes a float convolution with the attribute `winograd`, which selects Winograd's algorithm.
 * Draws whether the tiles of 2x2 elements begin at even or at odd rows and columns. */
static CleaveNode *
make_winograd (CleaveGraph *graph, GRand *rand)
{
  CleaveConvAttrs a = { .layout = (CleaveLayout) pick (rand, 0, 1), .group = pick (rand, 1, 2) };
  gint64 in = pick (rand, 1, 5), out = pick (rand, 1, 9), spatial[2];
  CleaveShape w = CLEAVE_SHAPE (a.group * out, in, 3, 3), b = CLEAVE_SHAPE (a.group * out), x;

  a.pads = pick_ints (rand, 4, 0, 2);
  a.winograd = pick_ints (rand, 2, 0, 1);
  for (guint i = 0; i < 2; i++)
    spatial[i] = pick (rand, 3, 9);
  x = image_shape (a.layout, pick (rand, 1, 2), a.group * in, spatial, 2);
  return cleave_graph_add (
      graph, cleave_op_lookup ("Conv"), "conv",
      (CleaveResult *[]){
          add_shaped (graph, "x", CLEAVE_FLOAT32, &x), add_shaped (graph, "w", CLEAVE_FLOAT32, &w),
          pick (rand, 0, 1) == 0 ? NULL : add_shaped (graph, "b", CLEAVE_FLOAT32, &b) },
      3, 1, &a, NULL);
}

/* Makes a join of parts, some of them constant, along any dimension of an image with batch 1. */
static CleaveNode *
make_constant_parts (CleaveGraph *graph, GRand *rand)
{
  CleaveAxisAttrs a = { pick (rand, 1, 3) };
  CleaveShape shape = CLEAVE_SHAPE (1, pick (rand, 1, 4), pick (rand, 1, 4), pick (rand, 1, 4));
  CleaveElement element = pick (rand, 0, 1) == 0 ? CLEAVE_INT8 : CLEAVE_FLOAT32;
  guint n = (guint) pick (rand, 2, 4), variable = (guint) pick (rand, 0, (gint) n - 1);
  CleaveResult *parts[4];

  for (guint i = 0; i < n; i++)
    {
      shape.dim[a.axis] = pick (rand, 1, 4);
      if (i != variable && pick (rand, 0, 2) > 0)
        {
          CleaveTensorType type = { element, shape };
          g_autoptr (CleaveTensor) part = cleave_random_tensor (&type, g_rand_int (rand), FALSE);

          parts[i] = cleave_graph_add_constant (graph, NULL, part);
        }
      else
        parts[i] = add_shaped (graph, "x", element, &shape);
    }
  if (pick (rand, 0, 1) == 0)
    add_pooling (graph, parts[variable]);
  return cleave_graph_add (graph, cleave_op_lookup ("Concat"), "concat", parts, n, 1, &a, NULL);
}

/* Makes a Gather of rows of a constant table, by indices that are an input: in range, below 0, and
 * out of range. */
static CleaveNode *
make_embedding (CleaveGraph *graph, GRand *rand)
{
  CleaveAxisAttrs a = { 0 };
  CleaveElement element = pick (rand, 0, 1) == 0 ? CLEAVE_INT8 : CLEAVE_FLOAT32;
  CleaveTensorType type = { element, CLEAVE_SHAPE (pick (rand, 1, 9), pick (rand, 1, 5)) };
  g_autoptr (CleaveTensor) table = cleave_random_tensor (&type, g_rand_int (rand), FALSE);
  CleaveShape list = CLEAVE_SHAPE (pick (rand, 1, 6)), batch = CLEAVE_SHAPE (1, pick (rand, 1, 6));
  CleaveElement index = pick (rand, 0, 1) == 0 ? CLEAVE_INT32 : CLEAVE_INT64;
  CleaveResult *operands[] = {
    cleave_graph_add_constant (graph, NULL, table),
    add_shaped (graph, "at", index, pick (rand, 0, 1) == 0 ? &list : &batch),
  };

  return cleave_graph_add (graph, cleave_op_lookup ("Gather"), "gather", operands, 2, 1, &a, NULL);
}

const CleaveRandomOp cleave_random_ops_bundle[] = {
  { "Concat", make_constant_parts },
  { "Gather", make_embedding },
  { "TfliteConv", make_large_conv },
  { "Conv", make_winograd },
  { "Pow", make_power },
  { "Reshape", make_image_reshape },
  { "Flatten", make_image_flatten },
  { "Squeeze", make_image_squeeze },
  { "Unsqueeze", make_image_unsqueeze },
  { NULL, NULL },
};
