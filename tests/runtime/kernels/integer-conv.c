/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions of bytes (QLinearConv, ConvInteger), compared with the reference kernels. Some sums
 * are too large for floats or for 16 bits. */

#include "conv-cases.h"

#define N_SEEDS KERNEL_TRIALS (1200)

static CleaveElement
draw_byte (GRand *rand)
{
  return g_rand_boolean (rand) ? CLEAVE_INT8 : CLEAVE_UINT8;
}

/* Returns a random type of a scale or zero point: a scalar, a vector of one element, or a vector of
 * `n` elements. */
static CleaveTensorType
draw_parameter (GRand *rand, CleaveElement element, gint64 n)
{
  gint64 which = draw (rand, 0, 2);

  return which == 0 ? CLEAVE_SCALAR (element) : CLEAVE_TYPE (element, which == 1 ? 1 : n);
}

static void
draw_conv_integer (Conv *conv, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

  draw_conv (conv, rand, draw_byte (rand), draw_byte (rand));
  conv->instance.op = "ConvInteger";
  conv->instance.seed = seed;
  conv->instance.n_operands = 4;
  conv->instance.operands[0] = conv->x;
  conv->instance.operands[1] = conv->w;
  if (g_rand_boolean (rand))
    conv->instance.operands[2] = draw_parameter (rand, conv->x.element, 1);
  if (g_rand_boolean (rand))
    conv->instance.operands[3] = draw_parameter (rand, conv->w.element, conv->n_out);
  conv->instance.constants = (guint) draw (rand, 0, 7) * 2;
  conv->instance.sliced = g_rand_boolean (rand) ? 2 : 0;
  if (conv->instance.operands[3].shape.rank == 1 && g_rand_boolean (rand))
    conv->instance.sliced |= 8;
  conv->instance.small = seed % 2 == 0 ? 2 : 0;
}

static void
try_integer_convolutions (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      Conv conv;

      draw_conv_integer (&conv, seed);
      ck_assert (cleave_try_instance (&conv.instance, level));
    }
}

START_TEST (integer_convolutions_have_the_bits_of_the_reference)
{
  each_level (try_integer_convolutions);
}
END_TEST

static void
try_linear_convolutions (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      Conv conv;
      CleaveTensorType *operands = conv.instance.operands;

      draw_conv (&conv, rand, draw_byte (rand), draw_byte (rand));
      conv.instance.op = "QLinearConv";
      conv.instance.seed = seed;
      conv.instance.n_operands = 9;
      operands[0] = conv.x;
      operands[1] = operands[6] = draw_parameter (rand, CLEAVE_FLOAT32, 1);
      operands[2] = draw_parameter (rand, conv.x.element, 1);
      operands[3] = conv.w;
      operands[4] = draw_parameter (rand, CLEAVE_FLOAT32, conv.n_out);
      operands[5] = draw_parameter (rand, conv.w.element, conv.n_out);
      operands[7] = draw_parameter (rand, draw_byte (rand), 1);
      if (g_rand_boolean (rand))
        operands[8] = CLEAVE_TYPE (CLEAVE_INT32, conv.n_out);
      conv.instance.constants = g_rand_boolean (rand) ? 0x1fe : (guint) draw (rand, 0, 0xff) * 2;
      conv.instance.sliced = g_rand_boolean (rand) ? 8 : 0;
      conv.instance.small = seed % 2 == 0 ? 8 : 0;
      conv.instance.filled = seed / 2 % 2 == 0 ? 1 << 5 : 0;
      conv.instance.fill[5] = conv.w.element == CLEAVE_UINT8 ? 0x80 : 0;
      ck_assert (cleave_try_instance (&conv.instance, level));
    }
}

START_TEST (linear_convolutions_have_the_bits_of_the_reference)
{
  each_level (try_linear_convolutions);
}
END_TEST

/* Tries sums in which all products are as large as possible, with one sign: 255 x 255. The sum of
 * 1024 x 9 products exceeds 2^24, and the sum of 40000 products exceeds 2^31. */
static void
try_sums_beyond_what_a_float_holds (const char *level)
{
  static const struct
  {
    gint64 n_in, kernel;
  } cases[] = { { 1024, 3 }, { 28, 3 }, { 29, 3 }, { 259, 1 },
                { 258, 1 },  { 1, 16 }, { 1, 17 }, { 40000, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint constants = 0; constants <= 14; constants += 2)
      {
        gint64 pad = cases[i].kernel / 2, k = cases[i].kernel;
        CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (pad, pad, pad, pad) };
        CleaveTrySite instance = {
          .op = "ConvInteger",
          .attrs = &attrs,
          .n_operands = 4,
          .operands = { CLEAVE_TYPE (CLEAVE_UINT8, 1, cases[i].n_in, k, k + 1),
                        CLEAVE_TYPE (CLEAVE_INT8, 2, cases[i].n_in, k, k),
                        CLEAVE_SCALAR (CLEAVE_UINT8), CLEAVE_TYPE (CLEAVE_INT8, 2) },
          .constants = constants,
          .filled = 15,
          .fill = { 255, 0x80, 0, 0x7f }
        };

        ck_assert (cleave_try_instance (&instance, level));
      }
}

START_TEST (sums_too_large_for_a_float_are_exact)
{
  each_level (try_sums_beyond_what_a_float_holds);
}
END_TEST

/* Tries sums of two products at the limit of 16 bits: 2 x 64 x 255 = 32640 fits, 2 x 65 x 255 =
 * 33150 does not. A sum has 63 products, an odd number, so the last product is in no pair. */
static void
try_sums_of_two_about_16_bits (const char *level)
{
  static const guint8 weights[] = { 64, 65, 0xc0, 0xbf, 0x80, 0x7f };
  const guint8 none = 0;

  for (guint i = 0; i < G_N_ELEMENTS (weights) * 4; i++)
    {
      gboolean is_signed = (i & 1) != 0, flips = (i & 2) != 0;
      CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (1, 1, 1, 1) };
      CleaveTrySite instance = {
        .op = "ConvInteger",
        .attrs = &attrs,
        .n_operands = 4,
        .operands = { CLEAVE_TYPE (is_signed ? CLEAVE_INT8 : CLEAVE_UINT8, 1, 7, 5, 9),
                      CLEAVE_TYPE (flips ? CLEAVE_UINT8 : CLEAVE_INT8, 21, 7, 3, 3),
                      CLEAVE_SCALAR (is_signed ? CLEAVE_INT8 : CLEAVE_UINT8),
                      CLEAVE_SCALAR (flips ? CLEAVE_UINT8 : CLEAVE_INT8) },
        .constants = 14,
        .filled = 15,
        .fill = { is_signed ? 0x7f : 0xff, (guint8) (weights[i / 4] ^ (flips ? 0x80 : 0)),
                  is_signed ? 0x80 : none, flips ? 0x80 : none }
      };

      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (sums_of_two_near_16_bits_are_exact) { each_level (try_sums_of_two_about_16_bits); }
END_TEST

/* Tries convolutions with many rows, which the kernel computes in several ranges of rows. */
static void
try_large_convolutions (const char *level)
{
  static const struct
  {
    gint64 n_in, n_out, kernel, h, w;
  } cases[] = { { 700, 40, 1, 3, 5 },  { 320, 72, 3, 5, 6 }, { 3, 32, 3, 40, 131 },
                { 64, 40, 3, 33, 34 }, { 16, 8, 1, 60, 90 }, { 64, 64, 3, 60, 20 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gint64 pad = cases[i].kernel / 2, k = cases[i].kernel;
      CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (pad, pad, pad, pad) };
      CleaveTrySite instance = {
        .op = "ConvInteger",
        .attrs = &attrs,
        .n_operands = 2,
        .operands = { CLEAVE_TYPE (CLEAVE_UINT8, 1, cases[i].n_in, cases[i].h, cases[i].w),
                      CLEAVE_TYPE (CLEAVE_UINT8, cases[i].n_out, cases[i].n_in, k, k) },
        .constants = 2
      };

      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (large_convolutions_have_the_bits_of_the_reference)
{
  each_level (try_large_convolutions);
}
END_TEST

/* Draws a depthwise convolution with any strides and kernel widths, partly filled vectors, and up
 * to 90 more rows than its window. At times, weights minus their zero point do not fit into 8 bits.
 * The four-tap kernel does not serve all of these convolutions. */
static void
draw_depthwise (Conv *conv, GRand *rand, guint32 seed)
{
  CleaveConvAttrs *a = &conv->attrs;
  CleaveTensorType *operands = conv->instance.operands;
  gint64 n = draw (rand, 1, 3) == 1 ? 64 * draw (rand, 1, 3) : draw (rand, 1, 150);
  gint64 h = draw (rand, 1, 7), w = draw (rand, 1, 7);

  *conv = (Conv){ .instance = { .attrs = a, .seed = seed } };
  a->group = n;
  a->strides = draw_each (rand, 2, 1, 3);
  a->dilations = draw (rand, 1, 3) == 1 ? draw_each (rand, 2, 1, 3) : draw_each (rand, 2, 1, 1);
  a->pads = draw_each (rand, 4, 0, 3);
  conv->n_out = n;
  conv->x = CLEAVE_TYPE (draw_byte (rand), draw (rand, 1, 2), n,
                         (h - 1) * a->dilations.v[0] + draw (rand, 1, seed % 8 == 0 ? 90 : 9),
                         (w - 1) * a->dilations.v[1] + draw (rand, 1, 25));
  conv->w = CLEAVE_TYPE (draw_byte (rand), n, 1, h, w);
  operands[0] = conv->x;
}

/* Draws the zero point of the weights. */
static void
draw_w_zero (Conv *conv, GRand *rand, guint operand)
{
  static const guint8 extremes[] = { 0, 1, 0x7f, 0x80, 0x81, 0xff };
  guint8 none = conv->w.element == CLEAVE_UINT8 ? 0x80 : 0;

  conv->instance.operands[operand] = draw_parameter (rand, conv->w.element, conv->n_out);
  if (draw (rand, 1, 3) == 1)
    return;
  conv->instance.filled = 1u << operand;
  conv->instance.fill[operand] = g_rand_boolean (rand) ? none : extremes[draw (rand, 0, 5)];
}

static void
draw_depthwise_linear (Conv *conv, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveTensorType *operands = conv->instance.operands;

  draw_depthwise (conv, rand, seed);
  conv->instance.op = "QLinearConv";
  conv->instance.n_operands = 9;
  operands[1] = operands[6] = CLEAVE_SCALAR (CLEAVE_FLOAT32);
  operands[2] = CLEAVE_SCALAR (conv->x.element);
  operands[3] = conv->w;
  operands[4] = draw_parameter (rand, CLEAVE_FLOAT32, conv->n_out);
  draw_w_zero (conv, rand, 5);
  operands[7] = CLEAVE_SCALAR (draw_byte (rand));
  operands[8] =
      g_rand_boolean (rand) ? CLEAVE_TYPE (CLEAVE_INT32, conv->n_out) : (CleaveTensorType){ 0 };
  conv->instance.constants = draw (rand, 1, 8) == 1 ? 0 : 0x1fe;
  conv->instance.special = draw (rand, 1, 4) == 1;
  conv->instance.sliced = g_rand_boolean (rand) ? 8 : 0;
}

static void
draw_depthwise_integer (Conv *conv, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveTensorType *operands = conv->instance.operands;

  draw_depthwise (conv, rand, seed);
  conv->instance.op = "ConvInteger";
  conv->instance.n_operands = 4;
  operands[1] = conv->w;
  if (g_rand_boolean (rand))
    operands[2] = CLEAVE_SCALAR (conv->x.element);
  if (draw (rand, 1, 4) > 1)
    draw_w_zero (conv, rand, 3);
  conv->instance.constants = draw (rand, 1, 8) == 1 ? 0 : 10;
  conv->instance.sliced = g_rand_boolean (rand) ? 2 : 0;
}

static void
try_depthwise_convolutions (const char *level)
{
  for (guint32 seed = 0; seed < KERNEL_TRIALS (600); seed++)
    {
      Conv conv;

      draw_depthwise_linear (&conv, seed);
      ck_assert (cleave_try_instance (&conv.instance, level));
      draw_depthwise_integer (&conv, seed);
      ck_assert (cleave_try_instance (&conv.instance, level));
    }
}

START_TEST (depthwise_convolutions_have_the_bits_of_the_reference)
{
  each_level (try_depthwise_convolutions);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "conv", integer_convolutions_have_the_bits_of_the_reference,
                   linear_convolutions_have_the_bits_of_the_reference,
                   sums_too_large_for_a_float_are_exact, sums_of_two_near_16_bits_are_exact,
                   large_convolutions_have_the_bits_of_the_reference,
                   depthwise_convolutions_have_the_bits_of_the_reference, NULL);
}

CLEAVE_TEST_SUITE ("kernel-integer-conv", add_tests)
