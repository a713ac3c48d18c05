/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions and products of QDQ models whose partial sums rise and then fall, so that the
 * rounding errors in floats are large. The biases are near the middle between two bytes, so that
 * these errors decide which of the two bytes the result is. */

#include "qdq-nets.h"

/* Number of result columns. With this many columns, the kernel computes the norm of each pixel
 * (lib/runtime/kernels/integers/qdq.h) to bound rounding errors. */
#define MANY_WAVES 80

/* Number of result columns. With so few columns, the kernel bounds rounding errors without norms of
 * pixels. */
#define FEW_WAVES 24

static CleaveResult *
add_data (Net *net, CleaveTensorType type, gconstpointer data)
{
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, data, NULL);

  return cleave_graph_add_constant (net->graph, NULL, tensor);
}

/* Returns weight i of a sum that rises and falls: blocks of `half` weights of 127 alternate with
 * blocks of `half` weights of -127. */
static gint8
wave (gint64 i, gint64 length, gint64 half)
{
  return i / half % 2 == 0 ? 127 : -127;
}

/* Returns weight i of a sum. The partial sums rise over `half` terms, stay nearly the same for many
 * terms, and fall. */
static gint8
plateau (gint64 i, gint64 length, gint64 half)
{
  gint64 at = i % length, side = at < length / 2 ? 1 : -1;

  return (gint8) (side * (at % (length / 2) < half ? 127 : 1));
}

/* The operands of sums: pixels of `length` channels, or, for a depthwise convolution, squares of
 * `length` rows in each channel. */
typedef struct
{
  gint64 length, half, n;
  int near; /* negative exponent: each bias differs from the middle between two bytes by 2^-`near`
               times the scale of the result */
  gboolean is_depthwise, is_product; /* the layer is a depthwise convolution; the layer is a Gemm.
                                        Both FALSE: a 1x1 convolution */
} Sums;

static CleaveResult *
add_sums (Net *net, const Sums *sums, CleaveResult **operands)
{
  CleaveConvAttrs attrs = { .group = sums->is_depthwise ? sums->n : 1 };
  CleaveGemmAttrs gemm = { .alpha = 1, .beta = 1, .transB = TRUE };

  if (sums->is_product)
    return run_add (net->graph, "Gemm", operands, 3, &gemm);
  return run_add (net->graph, "Conv", operands, 3, &attrs);
}

/* Adds sums whose biases are near the middle between two bytes, so that rounding errors in the sums
 * decide between the two bytes. */
static void
make_sums (Net *net, gint8 (*weight) (gint64, gint64, gint64), const Sums *sums)
{
  gint64 n = sums->n, side = sums->is_depthwise ? sums->length : 1;
  gint64 n_in = sums->is_depthwise ? 1 : sums->length, length = n_in * side * side;
  CleaveTensorType type =
      CLEAVE_TYPE (CLEAVE_INT8, 1, sums->is_depthwise ? n : n_in, side + 1, side + 1);
  CleaveTensorType w_type = CLEAVE_TYPE (CLEAVE_INT8, n, n_in, side, side);
  g_autofree gint8 *w = g_new (gint8, (gsize) (n * length));
  g_autofree float *b = g_new (float, (gsize) n);
  float y_scale = draw_scale (net, draw (net, 0, 10));
  CleaveResult *operands[3], *y;
  CleaveShape scalar = { 0 };

  if (sums->is_product)
    {
      type.shape = CLEAVE_SHAPE (4, n_in);
      w_type.shape.rank = 2;
    }
  for (gint64 i = 0; i < n * length; i++)
    w[i] = weight (i, length, sums->half);
  for (gint64 i = 0; i < n; i++)
    b[i] = ((float) i + 0.5f + (i % 2 == 0 ? -1 : 1) * ldexpf (1, -sums->near)) * y_scale;
  operands[0] =
      convert (net, "DequantizeLinear", cleave_graph_add_input (net->graph, "x", &type, NULL),
               add_floats (net, 1, 0), add_bytes (net, CLEAVE_INT8, scalar, TRUE));
  operands[1] = convert (net, "DequantizeLinear", add_data (net, w_type, w), add_floats (net, n, 0),
                         add_bytes (net, CLEAVE_INT8, scalar, TRUE));
  operands[2] = add_data (net, CLEAVE_TYPE (CLEAVE_FLOAT32, n), b);
  y = add_sums (net, sums, operands);
  run_output (net->graph, convert (net, "QuantizeLinear", y,
                                   add_data (net, CLEAVE_SCALAR (CLEAVE_FLOAT32), &y_scale),
                                   add_bytes (net, CLEAVE_INT8, scalar, TRUE)));
}

/* Fills all channels of the pixel `only` with x, and all other pixels with 0. A negative `only`
 * fills all pixels with x. */
static void
fill_pixels (CleaveTensor *tensor, gint8 x, gint64 only)
{
  const CleaveShape *shape = &cleave_tensor_get_type (tensor)->shape;
  gint64 n_pixels = shape->rank == 2 ? shape->dim[0] : shape->dim[2] * shape->dim[3];
  gint64 n = cleave_shape_n_elements (shape), n_channels = n / n_pixels;
  gint8 *data = cleave_tensor_get_mutable_data (tensor);

  for (gint64 i = 0; i < n; i++)
    {
      gint64 pixel = shape->rank == 2 ? i / n_channels : i % n_pixels;

      data[i] = only < 0 || pixel == only ? x : 0;
    }
}

static void
try_sums (Net *net, gint8 x, gint64 only)
{
  const CleaveTensorType *type = cleave_result_get_type (cleave_graph_get_input (net->graph, 0));
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) want = NULL, got = NULL;
  CleaveTensor *tensor = cleave_tensor_new (type, NULL);
  gsize n_bytes;

  fill_pixels (tensor, x, only);
  g_ptr_array_add (inputs, tensor);
  want = cleave_interpret (net->graph, (CleaveTensor *const *) inputs->pdata);
  got = run_graph (net->graph, inputs, 1);
  n_bytes = (gsize) cleave_tensor_type_n_bytes (cleave_tensor_get_type (want->pdata[0]));
  ck_assert_mem_eq (cleave_tensor_get_data (got->pdata[0]), cleave_tensor_get_data (want->pdata[0]),
                    n_bytes);
}

/* Only every STEP-th seed runs. With a sanitizer or in an emulator, STEP is 5. Every fifth seed
 * still gives all lengths of sums, and both MANY_WAVES and FEW_WAVES. */
#define STEP (CLEAVE_SANITIZED || CLEAVE_EMULATED ? 5 : 1)

static void
try_weights (gint8 (*weight) (gint64, gint64, gint64), gint64 least_length, gboolean is_product)
{
  for (guint32 seed = 0; seed < 60; seed += STEP)
    {
      Net net = { cleave_graph_new (NULL), g_rand_new_with_seed (seed), FALSE, 0 };
      gint64 length = least_length << seed % 4;

      make_sums (&net, weight,
                 &(Sums){ .length = length,
                          .half = MIN (8 << seed / 4 % 4, length / 2),
                          .n = seed / 16 % 2 == 0 ? MANY_WAVES : FEW_WAVES,
                          .near = 6 + (int) seed % 7,
                          .is_product = is_product });
      for (gint64 only = -1; only < 4; only++)
        try_sums (&net, (gint8) (127 - seed), only);
      cleave_graph_unref (net.graph);
      g_rand_free (net.rand);
    }
}

START_TEST (sums_of_channels_may_rise)
{
  for (guint32 seed = 0; seed < 60; seed += STEP)
    {
      Net net = { cleave_graph_new (NULL), g_rand_new_with_seed (seed), FALSE, 0 };
      /* A sum has side * side weights. `side` is a power of two, so half of the weights are 127 and
       * the other half are -127. */
      gint64 side = 4 << seed % 3;

      make_sums (&net, wave,
                 &(Sums){ .length = side,
                          .half = MIN (8 << seed / 3 % 5, side * side / 2),
                          .n = seed % 2 == 0 ? MANY_WAVES : FEW_WAVES,
                          .near = 6 + (int) seed % 7,
                          .is_depthwise = TRUE });
      try_sums (&net, (gint8) (127 - seed), -1);
      cleave_graph_unref (net.graph);
      g_rand_free (net.rand);
    }
}
END_TEST

START_TEST (sums_may_rise_between_checkpoints)
{
  try_weights (wave, 16, FALSE);
  try_weights (wave, 128, FALSE);
}
END_TEST

START_TEST (large_errors_at_checkpoints_are_found) { try_weights (plateau, 512, FALSE); }
END_TEST

/* The layer is a Gemm. The kernel adds the bias last, after the terms whose partial sums rise and
 * fall. */
START_TEST (sums_of_products_may_rise)
{
  try_weights (wave, 16, TRUE);
  try_weights (wave, 128, TRUE);
  try_weights (plateau, 512, TRUE);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "qdq-sums", sums_may_rise_between_checkpoints,
                   large_errors_at_checkpoints_are_found, sums_of_channels_may_rise,
                   sums_of_products_may_rise, NULL);
}

CLEAVE_TEST_SUITE ("qdq-sums", add_tests)
