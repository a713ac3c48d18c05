/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The fused multiply-add of bundles on processors without instructions for floats
 * (lib/bundle/kernels/arithmetic.h), compared with fmaf(). */

#include "test.h"

#include <math.h>

#define CLEAVE_SOFT_FLOATS
/* The header of the kernels and the library have types with the same names, so the types of the
 * kernels are renamed. */
#define CleaveCall RowCall
#define CleaveKernel RowKernel
#include "../../lib/bundle/kernels/cleave-kernels.h"

#define N_TRIALS CLEAVE_TRIALS (2000000)

static void
check_fma (guint32 a, guint32 b, guint32 c)
{
  float expected = fmaf (cleave_from_bits (a), cleave_from_bits (b), cleave_from_bits (c));
  float found = cleave_fma (cleave_from_bits (a), cleave_from_bits (b), cleave_from_bits (c));

  if (cleave_bits (expected) != cleave_bits (found) && !(isnan (expected) && isnan (found)))
    ck_abort_msg ("fma (%08x, %08x, %08x) is %08x, expected %08x", a, b, c, cleave_bits (found),
                  cleave_bits (expected));
}

START_TEST (each_product_of_special_floats_is_right)
{
  /* zeros, subnormal floats, the smallest normal float, floats near 1, the largest float, infinity,
   * NaN */
  static const guint32 floats[] = { 0,          1,          2,          0x3fffff,   0x400001,
                                    0x7fffff,   0x800000,   0x800001,   0xffffff,   0x1000000,
                                    0x33800000, 0x337fffff, 0x3f7fffff, 0x3f800000, 0x3f800001,
                                    0x3fffffff, 0x40000000, 0x4b000001, 0x4b7fffff, 0x7effffff,
                                    0x7f000000, 0x7f7fffff, 0x7f800000, 0x7fc00000 };
  const guint n = 2 * G_N_ELEMENTS (floats);

  for (guint i = 0; i < n * n * n; i++)
    {
      guint at[] = { i % n, i / n % n, i / n / n };

      check_fma (floats[at[0] / 2] | at[0] % 2 << 31, floats[at[1] / 2] | at[1] % 2 << 31,
                 floats[at[2] / 2] | at[2] % 2 << 31);
    }
}
END_TEST

/* Returns the bits of a random finite float. Sometimes the mantissa has only its upper 11 bits, or
 * a single bit. The exponent is arbitrary, or between -27 and 27. */
static guint32
draw_float (GRand *rand)
{
  guint32 random = g_rand_int (rand), bits = random & 0x7fffff;
  gint32 exponent =
      random >> 30 & 1 ? g_rand_int_range (rand, 100, 155) : g_rand_int_range (rand, 0, 255);

  switch (g_rand_int_range (rand, 0, 6))
    {
    case 0:
      bits &= 0x7ff000;
      break;
    case 1:
      bits = 1u << g_rand_int_range (rand, 0, 23);
      break;
    case 2:
      bits = ~bits & 0x7fffff & ~(1u << g_rand_int_range (rand, 0, 23));
      break;
    default:
      break;
    }
  return (random & 1u << 31) | (guint32) exponent << 23 | bits;
}

START_TEST (random_floats_are_rounded_once)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  for (guint i = 0; i < N_TRIALS; i++)
    check_fma (draw_float (rand), draw_float (rand), draw_float (rand));
}
END_TEST

/* The third operand is near the negated product of the first two operands, so most bits of the
 * product cancel in the sum. */
START_TEST (sums_near_zero_are_exact)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);

  for (guint i = 0; i < N_TRIALS; i++)
    {
      guint32 a = draw_float (rand), b = draw_float (rand);
      guint32 product = cleave_bits (cleave_from_bits (a) * cleave_from_bits (b));

      check_fma (a, b, (product ^ 1u << 31) + (guint32) g_rand_int_range (rand, -3, 4));
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "soft floats", each_product_of_special_floats_is_right,
                   random_floats_are_rounded_once, sums_near_zero_are_exact, NULL);
}

CLEAVE_TEST_SUITE ("soft-floats", add_tests)
