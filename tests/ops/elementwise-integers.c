/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Element-wise ops on integers: quotients, and bounds of Clip. */

#include "test.h"

#include "../../lib/ops/elementwise-math.h"

static gint64
divided (gint64 a, gint64 b)
{
  return b == 0 ? 0 : a / b;
}

static gint64
rest_of (gint64 a, gint64 b)
{
  return b == 0 ? 0 : a % b;
}

static gint64
modulo (gint64 a, gint64 b)
{
  gint64 rest = rest_of (a, b);

  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

START_TEST (bytes_are_divided_as_integers)
{
  for (gint a = -128; a < 256; a++)
    for (gint b = -128; b < 256; b++)
      {
        gint8 i = (gint8) a, j = (gint8) b;
        guint8 u = (guint8) a, v = (guint8) b;

        cleave_assert (cleave_i8_div (i, j) == (gint8) divided (i, j));
        cleave_assert (cleave_i8_remainder (i, j) == (gint8) rest_of (i, j));
        cleave_assert (cleave_i8_modulo (i, j) == (gint8) modulo (i, j));
        cleave_assert (cleave_u8_div (u, v) == (guint8) divided (u, v));
        cleave_assert (cleave_u8_modulo (u, v) == (guint8) modulo (u, v));
      }
}
END_TEST

/* Divides numbers near the limits of 32 bits, and near multiples of the divisor. */
START_TEST (integer_division_is_exact)
{
  static const gint64 some[] = { 0,    1,     2,       3,       7,          10,        255,
                                 4096, 46341, 1000003, 1 << 24, 0x7fffffff, 0x80000000 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  for (guint trial = 0; trial < 100000; trial++)
    {
      gint64 b = some[trial % G_N_ELEMENTS (some)] + g_rand_int_range (rand, -2, 3);
      gint64 a = trial % 2 == 0 ? b * g_rand_int_range (rand, -70000, 70000)
                                : some[g_rand_int_range (rand, 0, G_N_ELEMENTS (some))];
      gint32 i = (gint32) (a + g_rand_int_range (rand, -2, 3)),
             j = (gint32) (g_rand_boolean (rand) ? b : -b);

      cleave_assert (cleave_i32_div (i, j) == (gint32) divided (i, j));
      cleave_assert (cleave_i32_remainder (i, j) == (gint32) rest_of (i, j));
      cleave_assert (cleave_i32_modulo (i, j) == (gint32) modulo (i, j));
      cleave_assert (cleave_i64_remainder (i, j) == rest_of (i, j));
    }
  cleave_assert (cleave_i32_div (G_MININT32, -1) == G_MININT32);
  cleave_assert (cleave_i64_div (G_MININT64, -1) == G_MININT64);
  cleave_assert (cleave_i64_remainder (G_MININT64, -1) == 0);
}
END_TEST

/* The bounds of a Clip are beyond the range of bytes. The result equals the result of a Clip in a
 * wider type, truncated to a byte. */
START_TEST (bounds_beyond_bytes_are_clamped)
{
  static const double some[] = { -INFINITY, -1000, -129, -128, -3.5, 0,        9,
                                 127,       128,   255,  256,  777,  INFINITY, NAN };

  for (guint i = 0; i < G_N_ELEMENTS (some); i++)
    for (guint j = 0; j < G_N_ELEMENTS (some); j++)
      for (gint a = -128; a < 128; a++)
        {
          double from = some[i], to = some[j];
          gint64 least = cleave_i64_bound (from), most = cleave_i64_bound (to);
          guint64 u_least = cleave_u64_bound (from), u_most = cleave_u64_bound (to);
          gint8 b = (gint8) a;
          guint8 c = (guint8) a;

          cleave_assert (cleave_i8_min (cleave_i8_max (b, cleave_i8_least (from, to)),
                                        cleave_i8_most (from, to)) ==
                         (gint8) MIN (MAX (b, least), most));
          cleave_assert (cleave_i32_min (cleave_i32_max (a, cleave_i32_least (from, to)),
                                         cleave_i32_most (from, to)) ==
                         (gint32) MIN (MAX (a, least), most));
          cleave_assert (cleave_u8_min (cleave_u8_max (c, cleave_u8_least (from, to)),
                                        cleave_u8_most (from, to)) ==
                         (guint8) MIN (MAX (c, u_least), u_most));
        }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "integers", bytes_are_divided_as_integers, integer_division_is_exact,
                   bounds_beyond_bytes_are_clamped, NULL);
}

CLEAVE_TEST_SUITE ("elementwise-integers", add_tests)
