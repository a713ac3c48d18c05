/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The integer arithmetic of TensorFlow Lite, compared with its rules in exact arithmetic. */

#include "test.h"

#include <math.h>

#include "../../lib/ops/fixed-point.h"

__extension__ typedef __int128 Wide;

/* Returns floor (a / b) for a positive b. */
static Wide
floor_div (Wide a, Wide b)
{
  return a / b - (a % b < 0);
}

/* Computes the expected product: round (x * m / 2^31) with ties toward plus infinity. If `shift` is
 * negative, the product is then divided by 2^-shift and rounded with ties away from zero. */
static gint64
multiply (gint64 x, gint64 m, gint shift)
{
  gint left = MAX (shift, 0), right = MAX (-shift, 0);
  Wide high = floor_div (((Wide) x << left) * m + ((Wide) 1 << 30), (Wide) 1 << 31);
  Wide size = high < 0 ? -high : high, half = right == 0 ? 0 : (Wide) 1 << (right - 1);

  size = (size + half) >> right;
  return (gint64) (high < 0 ? -size : size);
}

START_TEST (multiplications_follow_the_rule)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (44);

  for (guint i = 0; i < 1000000; i++)
    {
      gint32 x = (gint32) g_rand_int (rand) >> g_rand_int_range (rand, 0, 31);
      gint32 m = g_rand_int_range (rand, 1 << 30, G_MAXINT32);
      gint shift = g_rand_int_range (rand, -31, 1);

      cleave_assert (cleave_fixed_multiply (x, m, shift) == multiply (x, m, shift));
    }
}
END_TEST

/* A multiplier of 2^30 halves x, and a negative shift divides the half by a power of two. For some
 * x, the half is a tie, and for some x, the quotient of the shift is a tie. So both roundings of
 * cleave_fixed_multiply() round ties. */
START_TEST (ties_follow_the_rule)
{
  for (gint32 x = -300; x <= 300; x++)
    for (gint shift = -6; shift <= 2; shift++)
      cleave_assert (cleave_fixed_multiply (x, 1 << 30, shift) == multiply (x, 1 << 30, shift));
  ck_assert_int_eq (cleave_fixed_multiply (1, 1 << 30, 0), 1);    /* 0.5 rounds up to 1 */
  ck_assert_int_eq (cleave_fixed_multiply (-1, 1 << 30, 0), 0);   /* -0.5 rounds up to 0 */
  ck_assert_int_eq (cleave_fixed_multiply (2, 1 << 30, -1), 1);   /* 0.5 rounds up to 1 */
  ck_assert_int_eq (cleave_fixed_multiply (-2, 1 << 30, -1), -1); /* -0.5 rounds down to -1 */
  ck_assert_int_eq (cleave_fixed_product (G_MININT32, G_MININT32), G_MAXINT32);
}
END_TEST

START_TEST (wide_multiplications_round_once)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (45);

  for (guint i = 0; i < 1000000; i++)
    {
      gint64 x = (gint64) ((guint64) g_rand_int (rand) << 16) - ((gint64) 1 << 47);
      gint32 m = g_rand_int_range (rand, 1 << 30, G_MAXINT32);
      gint shift = g_rand_int_range (rand, -31, 0);
      gint64 reduced = m >= 0x7FFF0000 ? 0x7FFF : (m + 0x8000) >> 16;
      Wide rule =
          floor_div ((Wide) x * reduced + ((Wide) 1 << (14 - shift)), (Wide) 1 << (15 - shift));

      cleave_assert (cleave_fixed_multiply_wide (x, m, shift) == (gint32) rule);
    }
}
END_TEST

/* The results of the fixed-point functions, such as cleave_fixed_exp(), are within 5e-7 of the
 * exact results. */
START_TEST (functions_are_close_to_the_real_ones)
{
  for (gint32 x = G_MININT32 + 1; x < 0; x += 999983)
    {
      double real = exp (x / 0x1p26), got = cleave_fixed_exp (x, 5) / 0x1p31;

      cleave_assert (fabs (got - real) < 5e-7);
    }
  for (gint32 x = -G_MAXINT32; x < G_MAXINT32 - 999983; x += 999983)
    {
      double z = x / 0x1p27;

      cleave_assert (fabs (cleave_fixed_logistic (x) / 0x1p31 - 1 / (1 + exp (-z))) < 5e-7);
      cleave_assert (fabs (cleave_fixed_tanh (x) / 0x1p31 - tanh (z)) < 5e-7);
    }
  for (guint32 x = 1; x < 1u << 31; x = x * 3 + 1)
    {
      gint exponent;
      double got = cleave_fixed_reciprocal (x, 12, &exponent) / 0x1p31 * exp2 (-exponent);

      cleave_assert (fabs (got * (x / 0x1p19) - 1) < 5e-7);
      if (x > 1u << 29)
        break;
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "fixed point", multiplications_follow_the_rule, ties_follow_the_rule,
                   wide_multiplications_round_once, functions_are_close_to_the_real_ones, NULL);
}

CLEAVE_TEST_SUITE ("tflite", add_tests)
