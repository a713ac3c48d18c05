/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernels that convert between element types and quantize, compared with the reference kernels.
 */

#include "kernel-cases.h"

#include <cleave/cleave-tflite.h>

#define N_SEEDS KERNEL_TRIALS (800)

static CleaveShape
draw_shape (GRand *rand, gint32 least_rank)
{
  CleaveShape shape = { .rank = (guint) draw (rand, least_rank, 4) };

  for (guint d = 0; d < shape.rank; d++)
    shape.dim[d] = draw (rand, 1, draw (rand, 1, 4) == 1 ? (shape.rank == 1 ? 5000 : 35) : 5);
  return shape;
}

static void
draw_instance (CleaveTrySite *instance, GRand *rand, const char *op, guint32 seed)
{
  *instance = (CleaveTrySite){ .op = op, .seed = seed };
  instance->row_major = g_rand_int (rand);
  instance->y_row_major = g_rand_boolean (rand);
  instance->gap = draw (rand, 0, 2);
  instance->special = g_rand_boolean (rand);
}

static CleaveElement
draw_of (GRand *rand, const CleaveElement *elements, gint32 n)
{
  return elements[draw (rand, 0, n - 1)];
}

/* All element types but float64. */
static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT16, CLEAVE_BFLOAT16,
                                          CLEAVE_INT8,    CLEAVE_INT16,   CLEAVE_INT32,
                                          CLEAVE_INT64,   CLEAVE_UINT8,   CLEAVE_UINT16,
                                          CLEAVE_UINT32,  CLEAVE_UINT64,  CLEAVE_BOOL };

/* Returns whether a conversion by way of float32 would round twice: from integers of more than
 * 16 bits to bfloat16. */
static gboolean
is_rounded_twice (CleaveElement from, CleaveElement to)
{
  return to == CLEAVE_BFLOAT16 && !cleave_element_is_float (from) && cleave_element_size (from) > 2;
}

static void
try_casts (const char *level)
{
  guint n = G_N_ELEMENTS (elements);

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveElement from = elements[seed % n], to = elements[seed / n % n];
      CleaveCastAttrs attrs = { .to = to };
      CleaveTrySite instance;

      draw_instance (&instance, rand, "Cast", seed);
      instance.attrs = &attrs;
      instance.n_operands = 1;
      instance.operands[0] = (CleaveTensorType){ from, draw_shape (rand, 0) };
      if (draw (rand, 1, 4) == 1 && cleave_element_size (from) == cleave_element_size (to))
        {
          instance.in_place = TRUE;
          instance.y_row_major = (instance.row_major & 1) != 0;
        }
      ck_assert_int_eq (cleave_try_instance (&instance, level), !is_rounded_twice (from, to));
    }
}

/* Tries conversions of all magnitudes, with numbers beyond the range of the result's type,
 * infinities and NaNs. */
static void
try_all_floats (const char *level)
{
  static const CleaveElement floats[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT16, CLEAVE_BFLOAT16 };

  for (guint i = 0; i < G_N_ELEMENTS (floats); i++)
    for (guint k = 0; k < G_N_ELEMENTS (elements); k++)
      {
        CleaveCastAttrs attrs = { .to = elements[k] };
        gint64 n = floats[i] == CLEAVE_FLOAT32 ? 1 << 19 : 65536;
        CleaveTrySite instance = { .op = "Cast",
                                   .attrs = &attrs,
                                   .n_operands = 1,
                                   .counted = TRUE,
                                   .operands = { CLEAVE_TYPE (floats[i], n) } };

        ck_assert (cleave_try_instance (&instance, level));
      }
}

START_TEST (all_floats_have_the_bits_of_the_reference) { each_level (try_all_floats); }
END_TEST

START_TEST (casts_have_the_bits_of_the_reference) { each_level (try_casts); }
END_TEST

static CleaveTensorType
draw_scale (GRand *rand, CleaveElement element, gint64 extent)
{
  gint64 which = draw (rand, 0, 2);

  return which == 0 ? CLEAVE_SCALAR (element) : CLEAVE_TYPE (element, which == 1 ? 1 : extent);
}

static void
try_quantizing (const char *level)
{
  static const CleaveElement bytes[] = { CLEAVE_INT8, CLEAVE_UINT8, CLEAVE_INT32 };

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      gboolean back = g_rand_boolean (rand);
      CleaveShape shape = draw_shape (rand, 1);
      CleaveAxisAttrs attrs = { .axis = draw (rand, 0, (gint32) shape.rank - 1) };
      CleaveElement element = draw_of (rand, bytes, back ? 3 : 2);
      CleaveTrySite instance;

      draw_instance (&instance, rand, back ? "DequantizeLinear" : "QuantizeLinear", seed);
      instance.attrs = &attrs;
      instance.n_operands = g_rand_boolean (rand) ? 2 : 3;
      instance.operands[1] = draw_scale (rand, CLEAVE_FLOAT32, shape.dim[attrs.axis]);
      instance.operands[2] = (CleaveTensorType){ element, instance.operands[1].shape };
      instance.operands[0] = (CleaveTensorType){ back                    ? element
                                                 : g_rand_boolean (rand) ? CLEAVE_FLOAT32
                                                                         : CLEAVE_INT32,
                                                 shape };
      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (quantizing_has_the_bits_of_the_reference) { each_level (try_quantizing); }
END_TEST

/* Tries quotients next to ties. If the kernel did not round the quotient correctly, the result
 * would be the next byte. */
static void
try_ties (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      CleaveTrySite instance = {
        .op = "QuantizeLinear",
        .n_operands = 3,
        .near_ties = TRUE,
        .seed = seed,
        .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 2111), CLEAVE_SCALAR (CLEAVE_FLOAT32),
                      CLEAVE_SCALAR (seed % 2 == 0 ? CLEAVE_INT8 : CLEAVE_UINT8) }
      };
      CleaveAxisAttrs attrs = { 0 };

      instance.attrs = &attrs;
      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (ties_have_the_bits_of_the_reference) { each_level (try_ties); }
END_TEST

static void
try_dynamic (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveTrySite instance;

      draw_instance (&instance, rand, "DynamicQuantizeLinear", seed);
      instance.n_operands = 1;
      instance.n_results = 3;
      instance.special = draw (rand, 1, 4) == 1;
      instance.operands[0] = (CleaveTensorType){ CLEAVE_FLOAT32, draw_shape (rand, 0) };
      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (dynamic_quantizing_has_the_bits_of_the_reference) { each_level (try_dynamic); }
END_TEST

/* The tests below try ops of TensorFlow Lite on integers. */

static const CleaveElement words[] = { CLEAVE_INT8, CLEAVE_INT16, CLEAVE_INT32 };

/* Draws a multiplier: a number that stands for a real factor, or an extreme number. */
static gint64
draw_multiplier (GRand *rand)
{
  static const gint64 extremes[] = { G_MININT32, G_MAXINT32, 0, -1, 1 << 30 };

  return draw (rand, 0, 3) == 0 ? extremes[draw (rand, 0, G_N_ELEMENTS (extremes) - 1)]
                                : draw (rand, 1 << 30, G_MAXINT32 - 1);
}

static void
try_tflite_binary (const char *level)
{
  static const char *const ops[] = { "TfliteAdd", "TfliteSub", "TfliteMul",
                                     "TfliteSquaredDifference", "TflitePRelu" };

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      const char *op = ops[seed % G_N_ELEMENTS (ops)];
      CleaveElement element = draw_of (rand, words, 2);
      gint32 lowest = element == CLEAVE_INT8 ? G_MININT8 : G_MININT16;
      CleaveTfliteBinaryAttrs attrs = { .a_zero = draw (rand, -128, 127),
                                        .b_zero = draw (rand, -128, 127),
                                        .y_zero = draw (rand, -128, 127),
                                        .left_shift = draw (rand, 0, 20),
                                        .a_multiplier = draw_multiplier (rand),
                                        .a_shift = draw (rand, -31, 3),
                                        .b_multiplier = draw_multiplier (rand),
                                        .b_shift = draw (rand, -3, 31),
                                        .multiplier = draw_multiplier (rand),
                                        .shift = draw (rand, -31, 3),
                                        .min = draw (rand, lowest, 0),
                                        .max = draw (rand, 0, -(lowest + 1)) };
      CleaveShape shape = draw_shape (rand, 1);
      CleaveTrySite instance;

      draw_instance (&instance, rand, op, seed);
      instance.attrs = &attrs;
      instance.n_operands = 2;
      instance.operands[0] = instance.operands[1] = (CleaveTensorType){ element, shape };
      if (g_str_equal (op, "TflitePRelu"))
        instance.operands[1].element = CLEAVE_INT8;
      if (g_rand_boolean (rand))
        instance.operands[1].shape = CLEAVE_SHAPE (shape.dim[shape.rank - 1]);
      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (tflite_ops_of_two_operands_have_the_bits_of_the_reference)
{
  each_level (try_tflite_binary);
}
END_TEST

static void
try_tflite_rescale (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveTfliteRescaleAttrs attrs = { .to = draw_of (rand, words, 3),
                                         .x_zero = draw (rand, -128, 127),
                                         .y_zero = draw (rand, -128, 127),
                                         .multiplier = draw_multiplier (rand),
                                         .shift = draw (rand, -31, 31) };
      CleaveTrySite instance;

      attrs.negative_multiplier = g_rand_boolean (rand) ? draw_multiplier (rand) : attrs.multiplier;
      attrs.negative_shift = g_rand_boolean (rand) ? draw (rand, -31, 31) : attrs.shift;
      draw_instance (&instance, rand, "TfliteRescale", seed);
      instance.attrs = &attrs;
      instance.n_operands = 1;
      instance.operands[0] = (CleaveTensorType){ draw_of (rand, words, 3), draw_shape (rand, 1) };
      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (rescaling_has_the_bits_of_the_reference) { each_level (try_tflite_rescale); }
END_TEST

/* Tries a TfliteQuantize. With scales that are powers of two, some quotients are ties. The float
 * just below 1/2 must round to 0. */
static void
try_tflite_quantize (const char *level)
{
  static const double scales[] = { 0.5, 0x1p-20, 0.0123, 3, 1e-30, 1e30 };

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveTfliteQuantizeAttrs attrs = { .to = draw_of (rand, words, 2),
                                          .scale = scales[seed % G_N_ELEMENTS (scales)],
                                          .zero = draw (rand, -128, 127) };
      CleaveTrySite instance;

      draw_instance (&instance, rand, "TfliteQuantize", seed);
      instance.attrs = &attrs;
      instance.n_operands = 1;
      instance.operands[0] = (CleaveTensorType){ CLEAVE_FLOAT32, draw_shape (rand, 1) };
      ck_assert (cleave_try_instance (&instance, level));
    }
  for (guint i = 0; i < G_N_ELEMENTS (scales); i++)
    {
      CleaveTfliteQuantizeAttrs attrs = { CLEAVE_INT16, scales[i], 3 };
      CleaveTrySite all = { .op = "TfliteQuantize",
                            .attrs = &attrs,
                            .n_operands = 1,
                            .counted = TRUE,
                            .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 1 << 19) } };

      ck_assert (cleave_try_instance (&all, level));
    }
}

START_TEST (tflite_quantizing_has_the_bits_of_the_reference) { each_level (try_tflite_quantize); }
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "cast", casts_have_the_bits_of_the_reference,
                   all_floats_have_the_bits_of_the_reference, NULL);
  cleave_add_case (suite, "tflite", tflite_ops_of_two_operands_have_the_bits_of_the_reference,
                   rescaling_has_the_bits_of_the_reference,
                   tflite_quantizing_has_the_bits_of_the_reference, NULL);
  cleave_add_case (suite, "quantize", quantizing_has_the_bits_of_the_reference,
                   ties_have_the_bits_of_the_reference,
                   dynamic_quantizing_has_the_bits_of_the_reference, NULL);
}

CLEAVE_TEST_SUITE ("kernel-convert", add_tests)
