/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Random ops of TensorFlow Lite on integers.
 *
 * Over 400 lines: this file has one function for each op. */

#include "random-parts.h"

#include <cleave/cleave-tflite.h>

static CleaveElement
pick_integer (GRand *rand)
{
  return pick (rand, 0, 1) == 0 ? CLEAVE_INT8 : CLEAVE_INT16;
}

/* Draws random bounds of a result: at times the bounds of its element type. */
static void
pick_bounds (GRand *rand, CleaveElement element, gint64 *min, gint64 *max)
{
  gint32 lowest = element == CLEAVE_INT8 ? G_MININT8 : G_MININT16;

  *min = pick (rand, 0, 1) == 0 ? lowest : pick (rand, lowest, 0);
  *max = pick (rand, 0, 1) == 0 ? -(lowest + 1) : pick (rand, 0, -(lowest + 1));
}

static gint64
pick_multiplier (GRand *rand)
{
  return pick (rand, 1 << 30, G_MAXINT32 - 1);
}

static CleaveNode *
make_conv (CleaveGraph *graph, GRand *rand)
{
  guint n = (guint) pick (rand, 1, 2);
  gint64 per_group = pick (rand, 1, 3), spatial[3];
  CleaveElement element = pick_integer (rand);
  gboolean is_mixed =
      pick (rand, 0, 3) == 0; /* TRUE: weights and result have random element types; FALSE: weights
                                 are int8, and the result has the type of the operand */
  CleaveElement w_element = is_mixed ? pick_integer (rand) : CLEAVE_INT8;
  CleaveElement y_element = is_mixed ? pick_integer (rand) : element;
  CleaveTfliteConvAttrs a = { .conv = { .layout = (CleaveLayout) pick (rand, 0, 1),
                                        .group = pick (rand, 1, 3),
                                        .strides = pick_ints (rand, n, 1, 3),
                                        .pads = pick_ints (rand, 2 * n, 0, 2) },
                              .wide = element == CLEAVE_INT16 && pick (rand, 0, 1) == 0 };
  CleaveShape w = { n + 2, { a.conv.group * pick (rand, 1, 3), per_group } }, x, scalar = { 0 };
  CleaveShape channels = { 1, { w.dim[0] } };

  for (guint i = 0; i < n; i++)
    {
      w.dim[2 + i] = pick (rand, 1, 3);
      spatial[i] =
          pick_extent (rand, w.dim[2 + i], at (&a.conv.pads, i, 0) + at (&a.conv.pads, n + i, 0));
    }
  x = image_shape (a.conv.layout, pick (rand, 1, 2), a.conv.group * per_group, spatial, n);
  pick_bounds (rand, y_element, &a.min, &a.max);
  return cleave_graph_add (
      graph, cleave_op_lookup ("TfliteConv"), "conv",
      (CleaveResult *[]){
          add_shaped (graph, "x", element, &x), add_shaped (graph, "xz", element, &scalar),
          add_shaped (graph, "w", w_element, &w),
          add_shaped (graph, "m", CLEAVE_INT32, pick (rand, 0, 1) == 0 ? &scalar : &channels),
          add_shaped (graph, "s", CLEAVE_INT32, &channels),
          add_shaped (graph, "yz", y_element, &scalar),
          pick (rand, 0, 1) == 0
              ? NULL
              : add_shaped (graph, "b", a.wide ? CLEAVE_INT64 : CLEAVE_INT32, &channels),
          pick (rand, 0, 1) == 0
              ? NULL
              : add_shaped (graph, "wz", w_element, pick (rand, 0, 1) == 0 ? &scalar : &channels) },
      8, 1, &a, NULL);
}

static CleaveNode *
make_conv_transpose (CleaveGraph *graph, GRand *rand)
{
  CleaveElement element = pick_integer (rand);
  CleaveTfliteConvTransposeAttrs a = { .conv = { .layout = (CleaveLayout) pick (rand, 0, 1),
                                                 .group = pick (rand, 1, 2),
                                                 .strides = pick_ints (rand, 2, 1, 3) },
                                       .wide = element == CLEAVE_INT16 && pick (rand, 0, 1) == 0 };
  CleaveShape w = CLEAVE_SHAPE (a.conv.group * pick (rand, 1, 3), pick (rand, 1, 3),
                                pick (rand, 1, 3), pick (rand, 1, 3));
  gint64 spatial[2] = { pick (rand, 1, 5), pick (rand, 1, 5) };
  CleaveShape x = image_shape (a.conv.layout, pick (rand, 1, 2), w.dim[0], spatial, 2);
  CleaveShape scalar = { 0 }, channels = { 1, { w.dim[1] * a.conv.group } };

  pick_bounds (rand, element, &a.min, &a.max);
  return cleave_graph_add (
      graph, cleave_op_lookup ("TfliteConvTranspose"), "conv",
      (CleaveResult *[]){
          add_shaped (graph, "x", element, &x), add_shaped (graph, "xz", element, &scalar),
          add_shaped (graph, "w", CLEAVE_INT8, &w),
          add_shaped (graph, "m", CLEAVE_INT32, &channels),
          add_shaped (graph, "s", CLEAVE_INT32, &scalar),
          add_shaped (graph, "yz", element, &scalar),
          add_shaped (graph, "b", a.wide ? CLEAVE_INT64 : CLEAVE_INT32, &channels),
          pick (rand, 0, 1) == 0 ? NULL : add_shaped (graph, "wz", CLEAVE_INT8, &channels) },
      8, 1, &a, NULL);
}

static CleaveNode *
make_binary (CleaveGraph *graph, GRand *rand, const char *op)
{
  CleaveElement element = pick_integer (rand);
  CleaveTfliteBinaryAttrs attrs = { .a_zero = pick (rand, -9, 9),
                                    .b_zero = pick (rand, -9, 9),
                                    .y_zero = pick (rand, -9, 9),
                                    .left_shift = element == CLEAVE_INT8 ? 20 : 15,
                                    .a_multiplier = pick_multiplier (rand),
                                    .a_shift = pick (rand, -8, 0),
                                    .b_multiplier = pick_multiplier (rand),
                                    .b_shift = pick (rand, -8, 0),
                                    .multiplier = pick_multiplier (rand),
                                    .shift = pick (rand, -20, 0) };
  CleaveShape x = CLEAVE_SHAPE (pick (rand, 1, 4), pick (rand, 1, 4), pick (rand, 1, 9)), b = x;

  if (pick (rand, 0, 2) == 0)
    b = CLEAVE_SHAPE (x.dim[2]);
  pick_bounds (rand, element, &attrs.min, &attrs.max);
  return cleave_graph_add (graph, cleave_op_lookup (op), "binary",
                           (CleaveResult *[]){ add_shaped (graph, "a", element, &x),
                                               add_shaped (graph, "b", element, &b) },
                           2, 1, &attrs, NULL);
}

static CleaveNode *
make_add (CleaveGraph *graph, GRand *rand)
{
  return make_binary (graph, rand, "TfliteAdd");
}

static CleaveNode *
make_sub (CleaveGraph *graph, GRand *rand)
{
  return make_binary (graph, rand, "TfliteSub");
}

static CleaveNode *
make_mul (CleaveGraph *graph, GRand *rand)
{
  return make_binary (graph, rand, "TfliteMul");
}

static CleaveNode *
make_div (CleaveGraph *graph, GRand *rand)
{
  return make_binary (graph, rand, "TfliteDiv");
}

static CleaveNode *
make_squared_difference (CleaveGraph *graph, GRand *rand)
{
  return make_binary (graph, rand, "TfliteSquaredDifference");
}

static CleaveNode *
make_prelu (CleaveGraph *graph, GRand *rand)
{
  CleaveElement element = pick_integer (rand);
  CleaveTfliteBinaryAttrs attrs = { .a_zero = pick (rand, -9, 9),
                                    .b_zero = pick (rand, -9, 9),
                                    .y_zero = pick (rand, -9, 9),
                                    .a_multiplier = pick_multiplier (rand),
                                    .a_shift = pick (rand, -3, 1),
                                    .multiplier = pick_multiplier (rand),
                                    .shift = pick (rand, -9, -3) };
  CleaveShape x = CLEAVE_SHAPE (pick (rand, 1, 4), pick (rand, 1, 4), pick (rand, 1, 9));
  CleaveShape slopes = CLEAVE_SHAPE (x.dim[2]);

  pick_bounds (rand, element, &attrs.min, &attrs.max);
  return cleave_graph_add (graph, cleave_op_lookup ("TflitePRelu"), "prelu",
                           (CleaveResult *[]){ add_shaped (graph, "a", element, &x),
                                               add_shaped (graph, "b", CLEAVE_INT8, &slopes) },
                           2, 1, &attrs, NULL);
}

static CleaveNode *
make_mat_mul (CleaveGraph *graph, GRand *rand)
{
  CleaveElement element = pick_integer (rand);
  CleaveTfliteBinaryAttrs attrs = { .a_zero = pick (rand, -9, 9),
                                    .b_zero = pick (rand, -9, 9),
                                    .y_zero = pick (rand, -9, 9),
                                    .multiplier = pick_multiplier (rand),
                                    .shift = pick (rand, -12, 0) };
  gint64 n = pick (rand, 1, 9), k = pick (rand, 1, 9), m = pick (rand, 1, 9);
  CleaveShape a = CLEAVE_SHAPE (pick (rand, 1, 3), m, k);
  CleaveShape b = pick (rand, 0, 1) == 0 ? CLEAVE_SHAPE (k, n) : CLEAVE_SHAPE (a.dim[0], k, n);

  pick_bounds (rand, element, &attrs.min, &attrs.max);
  return cleave_graph_add (graph, cleave_op_lookup ("TfliteMatMul"), "product",
                           (CleaveResult *[]){ add_shaped (graph, "a", element, &a),
                                               add_shaped (graph, "b", element, &b) },
                           2, 1, &attrs, NULL);
}

static CleaveNode *
make_average_pool (CleaveGraph *graph, GRand *rand)
{
  CleaveElement element = pick_integer (rand);
  CleaveTflitePoolAttrs a = { .pool = {
                                  .layout = (CleaveLayout) pick (rand, 0, 1),
                                  .kernel_shape = { 2, { pick (rand, 1, 3), pick (rand, 1, 3) } },
                                  .strides = pick_ints (rand, 2, 1, 3),
                                  .pads = pick_ints (rand, 4, 0, 2) } };
  gint64 spatial[2];
  CleaveShape x;

  for (guint i = 0; i < 2; i++)
    spatial[i] = pick_extent (rand, a.pool.kernel_shape.v[i],
                              at (&a.pool.pads, i, 0) + at (&a.pool.pads, 2 + i, 0));
  x = image_shape (a.pool.layout, pick (rand, 1, 2), pick (rand, 1, 4), spatial, 2);
  pick_bounds (rand, element, &a.min, &a.max);
  return cleave_graph_add (graph, cleave_op_lookup ("TfliteAveragePool"), "pool",
                           (CleaveResult *[]){ add_shaped (graph, "x", element, &x) }, 1, 1, &a,
                           NULL);
}

static CleaveNode *
make_sum (CleaveGraph *graph, GRand *rand)
{
  CleaveTfliteSumAttrs a = { .axes = { 1, { pick (rand, -3, 2) } },
                             .x_zero = pick (rand, -9, 9),
                             .y_zero = pick (rand, -9, 9),
                             .multiplier = pick_multiplier (rand),
                             .shift = pick (rand, -8, 0) };
  CleaveShape x = CLEAVE_SHAPE (pick (rand, 1, 4), pick (rand, 1, 4), pick (rand, 1, 9));

  return cleave_graph_add (graph, cleave_op_lookup ("TfliteSum"), "sum",
                           (CleaveResult *[]){ add_shaped (graph, "x", pick_integer (rand), &x) },
                           1, 1, &a, NULL);
}

static CleaveNode *
make_softmax (CleaveGraph *graph, GRand *rand)
{
  CleaveCastAttrs a = { pick_integer (rand) };
  CleaveShape x = CLEAVE_SHAPE (pick (rand, 1, 4), pick (rand, 1, 9)), table = CLEAVE_SHAPE (256);

  return cleave_graph_add (graph, cleave_op_lookup ("TfliteSoftmax"), "softmax",
                           (CleaveResult *[]){ add_shaped (graph, "x", CLEAVE_INT8, &x),
                                               add_shaped (graph, "table", CLEAVE_INT32, &table) },
                           2, 1, &a, NULL);
}

static CleaveNode *
make_lookup (CleaveGraph *graph, GRand *rand)
{
  CleaveShape x = CLEAVE_SHAPE (pick (rand, 1, 4), pick (rand, 1, 9)), table = CLEAVE_SHAPE (256);

  return cleave_graph_add (
      graph, cleave_op_lookup ("TfliteLookup"), "lookup",
      (CleaveResult *[]){
          add_shaped (graph, "x", g_rand_boolean (rand) ? CLEAVE_INT8 : CLEAVE_UINT8, &x),
          add_shaped (graph, "table", pick_integer (rand), &table) },
      2, 1, NULL, NULL);
}

static CleaveNode *
make_rescale (CleaveGraph *graph, GRand *rand)
{
  CleaveTfliteRescaleAttrs a = { .to = pick_integer (rand),
                                 .x_zero = pick (rand, -9, 9),
                                 .y_zero = pick (rand, -9, 9),
                                 .multiplier = pick_multiplier (rand),
                                 .shift = pick (rand, -8, 3),
                                 .negative_multiplier = pick_multiplier (rand),
                                 .negative_shift = pick (rand, -8, 3) };
  CleaveShape x = CLEAVE_SHAPE (pick (rand, 1, 4), pick (rand, 1, 9));

  return cleave_graph_add (graph, cleave_op_lookup ("TfliteRescale"), "rescale",
                           (CleaveResult *[]){ add_shaped (graph, "x", pick_integer (rand), &x) },
                           1, 1, &a, NULL);
}

static CleaveNode *
make_quantize (CleaveGraph *graph, GRand *rand)
{
  CleaveTfliteQuantizeAttrs a = { pick_integer (rand), 0.125 * (double) pick (rand, 1, 20),
                                  pick (rand, -9, 9) };
  CleaveShape x = CLEAVE_SHAPE (pick (rand, 1, 4), pick (rand, 1, 9));

  return cleave_graph_add (graph, cleave_op_lookup ("TfliteQuantize"), "quantize",
                           (CleaveResult *[]){ add_shaped (graph, "x", CLEAVE_FLOAT32, &x) }, 1, 1,
                           &a, NULL);
}

static CleaveNode *
make_sigmoid (CleaveGraph *graph, GRand *rand, const char *op)
{
  CleaveTfliteRescaleAttrs a = { .multiplier = pick (rand, 0, G_MAXINT16),
                                 .shift = pick (rand, 0, 14) };
  CleaveShape x = CLEAVE_SHAPE (pick (rand, 1, 4), pick (rand, 1, 9));

  return cleave_graph_add (graph, cleave_op_lookup (op), "sigmoid",
                           (CleaveResult *[]){ add_shaped (graph, "x", CLEAVE_INT16, &x) }, 1, 1,
                           &a, NULL);
}

static CleaveNode *
make_logistic (CleaveGraph *graph, GRand *rand)
{
  return make_sigmoid (graph, rand, "TfliteLogistic");
}

static CleaveNode *
make_tanh (CleaveGraph *graph, GRand *rand)
{
  return make_sigmoid (graph, rand, "TfliteTanh");
}

static CleaveNode *
make_softmax_16 (CleaveGraph *graph, GRand *rand)
{
  CleaveTfliteRescaleAttrs a = { .multiplier = pick_multiplier (rand),
                                 .shift = pick (rand, -8, 3) };
  CleaveShape x = CLEAVE_SHAPE (pick (rand, 1, 4), pick (rand, 1, 9)), table = CLEAVE_SHAPE (513);

  return cleave_graph_add (graph, cleave_op_lookup ("TfliteSoftmax16"), "softmax",
                           (CleaveResult *[]){ add_shaped (graph, "x", CLEAVE_INT16, &x),
                                               add_shaped (graph, "exp", CLEAVE_INT16, &table),
                                               add_shaped (graph, "one", CLEAVE_INT16, &table) },
                           3, 1, &a, NULL);
}

static CleaveNode *
make_resize_bilinear (CleaveGraph *graph, GRand *rand)
{
  CleaveTfliteResizeAttrs a = { .sizes = pick_ints (rand, 2, 1, 9),
                                .steps = pick_ints (rand, 2, 0, 3000),
                                .shifts = pick_ints (rand, 2, -512, 512) };
  CleaveShape x =
      CLEAVE_SHAPE (pick (rand, 1, 2), pick (rand, 1, 6), pick (rand, 1, 6), pick (rand, 1, 3));

  return cleave_graph_add (graph, cleave_op_lookup ("TfliteResizeBilinear"), "resize",
                           (CleaveResult *[]){ add_shaped (graph, "x", pick_integer (rand), &x) },
                           1, 1, &a, NULL);
}

static CleaveNode *
make_l2_normalize (CleaveGraph *graph, GRand *rand)
{
  CleaveTfliteRescaleAttrs a = { .x_zero = pick (rand, -9, 9) };
  CleaveShape x = CLEAVE_SHAPE (pick (rand, 1, 4), pick (rand, 1, 4), pick (rand, 1, 9));

  return cleave_graph_add (graph, cleave_op_lookup ("TfliteL2Normalize"), "normalize",
                           (CleaveResult *[]){ add_shaped (graph, "x", CLEAVE_INT8, &x) }, 1, 1, &a,
                           NULL);
}

static CleaveNode *
make_log_softmax (CleaveGraph *graph, GRand *rand)
{
  CleaveTfliteRescaleAttrs a = { .multiplier = pick_multiplier (rand),
                                 .shift = pick (rand, -25, -20) };
  CleaveShape x = CLEAVE_SHAPE (pick (rand, 1, 4), pick (rand, 1, 9)), table = CLEAVE_SHAPE (256);

  return cleave_graph_add (
      graph, cleave_op_lookup ("TfliteLogSoftmax"), "softmax",
      (CleaveResult *[]){ add_shaped (graph, "x", CLEAVE_INT8, &x),
                          add_shaped (graph, "differences", CLEAVE_INT32, &table),
                          add_shaped (graph, "exponentials", CLEAVE_INT32, &table) },
      3, 1, &a, NULL);
}

/* Adds four random factors of about 2^exponent, as multipliers and shifts. */
static void
pick_factors (GRand *rand, gint64 exponent, CleaveInts *multipliers, CleaveInts *shifts)
{
  multipliers->n = shifts->n = 4;
  for (guint g = 0; g < 4; g++)
    {
      multipliers->v[g] = pick_multiplier (rand);
      shifts->v[g] = exponent + pick (rand, 0, 1);
    }
}

static CleaveNode *
make_lstm (CleaveGraph *graph, GRand *rand)
{
  CleaveElement element = pick_integer (rand);
  gboolean is_wide = element == CLEAVE_INT16;
  CleaveTfliteLstmAttrs a = { .time_major = (gboolean) pick (rand, 0, 1),
                              .x_zero = pick (rand, -9, 9),
                              .h_zero = pick (rand, -9, 9),
                              .forget_multiplier = 1 << 30,
                              .forget_shift = -14,
                              .input_multiplier = 1 << 30,
                              .input_shift = -18,
                              .hidden_multiplier = 1 << 30,
                              .hidden_shift = is_wide ? -14 : -22,
                              .tanh_multiplier = 6,
                              .cell_clip = pick (rand, 0, 1) * 20000 };
  gint64 time = pick (rand, 1, 4), batch = pick (rand, 1, 4), i = pick (rand, 1, 9);
  gint64 hidden = pick (rand, 1, 9);
  CleaveShape x = a.time_major ? CLEAVE_SHAPE (time, batch, i) : CLEAVE_SHAPE (batch, time, i);
  CleaveShape w = CLEAVE_SHAPE (4 * hidden, i), r = CLEAVE_SHAPE (4 * hidden, hidden);
  CleaveShape b = CLEAVE_SHAPE (4 * hidden), state = CLEAVE_SHAPE (batch, hidden);

  pick_factors (rand, is_wide ? -8 : -1, &a.x_multipliers, &a.x_shifts);
  pick_factors (rand, is_wide ? -8 : -1, &a.h_multipliers, &a.h_shifts);
  return cleave_graph_add (
      graph, cleave_op_lookup ("TfliteLstm"), "lstm",
      (CleaveResult *[]){
          add_shaped (graph, "x", element, &x), add_shaped (graph, "w", CLEAVE_INT8, &w),
          add_shaped (graph, "r", CLEAVE_INT8, &r),
          add_shaped (graph, "b", is_wide ? CLEAVE_INT64 : CLEAVE_INT32, &b),
          add_shaped (graph, "h", element, &state), add_shaped (graph, "c", CLEAVE_INT16, &state) },
      6, 3, &a, NULL);
}

static CleaveNode *
make_detections (CleaveGraph *graph, GRand *rand)
{
  gint64 n = pick (rand, 1, 20), background = pick (rand, 0, 1);
  CleaveTfliteDetectionsAttrs a = { .max_detections = pick (rand, 1, 8),
                                    .max_classes_per_detection = pick (rand, 1, 3),
                                    .detections_per_class = pick (rand, 1, 5),
                                    .num_classes = pick (rand, 1, 4),
                                    .use_regular_nms = pick (rand, 0, 1) == 1,
                                    .nms_score_threshold = 0.25 * (double) pick (rand, -2, 2),
                                    .nms_iou_threshold = 0.25 * (double) pick (rand, 1, 4),
                                    .scales = { 4, { 10, 10, 5, 5 } } };
  CleaveShape x = CLEAVE_SHAPE (1, n, pick (rand, 4, 6)), anchors = CLEAVE_SHAPE (n, 4);
  CleaveShape scores = CLEAVE_SHAPE (1, n, a.num_classes + background);

  return cleave_graph_add (
      graph, cleave_op_lookup ("TfliteDetections"), "detect",
      (CleaveResult *[]){ add_shaped (graph, "x", CLEAVE_FLOAT32, &x),
                          add_shaped (graph, "scores", CLEAVE_FLOAT32, &scores),
                          add_shaped (graph, "anchors", CLEAVE_FLOAT32, &anchors) },
      3, 7, &a, NULL);
}

const CleaveRandomOp cleave_random_ops_tflite[] = {
  { "TfliteConv", make_conv },
  { "TfliteConvTranspose", make_conv_transpose },
  { "TfliteAdd", make_add },
  { "TfliteSub", make_sub },
  { "TfliteMul", make_mul },
  { "TfliteAveragePool", make_average_pool },
  { "TfliteSum", make_sum },
  { "TfliteSoftmax", make_softmax },
  { "TfliteLookup", make_lookup },
  { "TfliteRescale", make_rescale },
  { "TfliteQuantize", make_quantize },
  { "TfliteDiv", make_div },
  { "TfliteSquaredDifference", make_squared_difference },
  { "TflitePRelu", make_prelu },
  { "TfliteMatMul", make_mat_mul },
  { "TfliteLogistic", make_logistic },
  { "TfliteTanh", make_tanh },
  { "TfliteSoftmax16", make_softmax_16 },
  { "TfliteResizeBilinear", make_resize_bilinear },
  { "TfliteL2Normalize", make_l2_normalize },
  { "TfliteLogSoftmax", make_log_softmax },
  { "TfliteLstm", make_lstm },
  { "TfliteDetections", make_detections },
  { NULL, NULL },
};
