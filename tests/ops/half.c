/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Conversions between 16-bit floats and wider floats, with tables of ties and limits. */

#include "test.h"

#include "../../lib/ops/half.h"

#include <math.h>

START_TEST (every_float16_survives_float32_and_double)
{
  for (guint bits = 0; bits <= 0xffff; bits++)
    {
      float value = cleave_half_to_float ((guint16) bits),
            brain = cleave_bfloat16_to_float ((guint16) bits);

      cleave_assert (isnan (value) ? isnan (cleave_half_to_float (cleave_half_from_float (value)))
                                   : cleave_half_from_float (value) == bits);
      cleave_assert (isnan (value) || cleave_half_from_double ((double) value) == bits);
      cleave_assert (isnan (brain)
                         ? isnan (cleave_bfloat16_to_float (cleave_bfloat16_from_float (brain)))
                         : cleave_bfloat16_from_float (brain) == bits);
      cleave_assert (isnan (brain) || cleave_bfloat16_from_double ((double) brain) == bits);
    }
}
END_TEST

START_TEST (float16_rounds_to_nearest_even)
{
  static const struct
  {
    float value;
    guint16 bits;
  } cases[] = {
    { 1, 0x3c00 },
    { -2, 0xc000 },
    { 0x1.002p0f, 0x3c00 }, /* halfway between 1 and the next number: rounds to even */
    { 0x1.006p0f, 0x3c02 }, /* halfway between two numbers of which the lower is odd: rounds up */
    { 0x1.002002p0f,
      0x3c01 },        /* a little more than halfway between 1 and the next number: rounds up */
    { 65504, 0x7bff }, /* the largest finite number */
    { 65519.996f, 0x7bff },      /* rounds down to the largest number */
    { 65520, 0x7c00 },           /* halfway to the number after the largest: infinity */
    { 0x1p-14f, 0x0400 },        /* the smallest normal number */
    { 0x1p-24f, 0x0001 },        /* the smallest positive number */
    { 0x1p-25f, 0x0000 },        /* half of the smallest number: rounds to 0 */
    { 0x1.000002p-25f, 0x0001 }, /* more than half of the smallest number: rounds up */
    { 0x1.8p-24f, 0x0002 },      /* halfway between the two smallest numbers */
    { -0.0f, 0x8000 },
    { INFINITY, 0x7c00 },
    { -INFINITY, 0xfc00 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    ck_assert_msg (cleave_half_from_float (cases[i].value) == cases[i].bits,
                   "%a gives %04x, not %04x", (double) cases[i].value,
                   cleave_half_from_float (cases[i].value), cases[i].bits);
}
END_TEST

START_TEST (bfloat16_rounds_to_nearest_even)
{
  ck_assert_uint_eq (cleave_bfloat16_from_float (0x1.01p0f), 0x3f80);
  ck_assert_uint_eq (cleave_bfloat16_from_float (0x1.03p0f), 0x3f82);
  ck_assert_uint_eq (cleave_bfloat16_from_float (0x1.010002p0f), 0x3f81);
  ck_assert_uint_eq (cleave_bfloat16_from_float (0x1.fffffep127f), 0x7f80);
}
END_TEST

/* If these doubles were rounded to float first, they would become ties and be rounded the wrong
 * way. */
START_TEST (doubles_are_rounded_once)
{
  ck_assert_uint_eq (cleave_half_from_double (0x1.0020000000001p0), 0x3c01);
  ck_assert_uint_eq (cleave_half_from_double (0x1.005ffffffffffp0), 0x3c01);
  ck_assert_uint_eq (cleave_half_from_double (-0x1.0020000000001p0), 0xbc01);
  ck_assert_uint_eq (cleave_bfloat16_from_double (0x1.0100000000001p0), 0x3f81);
  ck_assert_uint_eq (cleave_half_from_double (1e300), 0x7c00);
  ck_assert_uint_eq (cleave_half_from_double (-1e-300), 0x8000);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "half", every_float16_survives_float32_and_double,
                   float16_rounds_to_nearest_even, bfloat16_rounds_to_nearest_even,
                   doubles_are_rounded_once, NULL);
}

CLEAVE_TEST_SUITE ("half", add_tests)
