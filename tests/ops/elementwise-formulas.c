/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Compares element-wise ops with one operand with formulas in float64. */

#include "apply.h"
#include "graphs.h"

#define F32 CLEAVE_FLOAT32
#define N(array) ((gint64) G_N_ELEMENTS (array))

static double
relu (double a)
{
  return a < 0 ? 0 : a;
}
static double
leaky_relu (double a)
{
  return a < 0 ? a * (double) 0.01f : a;
}
static double
elu (double a)
{
  return a < 0 ? expm1 (a) : a;
}
static double
selu (double a)
{
  return 1.05070102214813232421875 * (a < 0 ? 1.67326319217681884765625 * expm1 (a) : a);
}
static double
thresholded_relu (double a)
{
  return a <= 1 ? 0 : a;
}
static double
hard_sigmoid (double a)
{
  return a != a ? a : fmax (0, fmin (1, (double) 0.2f * a + 0.5));
}
static double
hard_swish (double a)
{
  return a != a ? a : a * fmax (0, fmin (1, a / 6 + 0.5));
}
static double
sigmoid (double a)
{
  return a < 0 ? exp (a) / (1 + exp (a)) : 1 / (1 + exp (-a));
}
static double
reciprocal (double a)
{
  return 1 / a;
}
static double
negative (double a)
{
  return -a;
}
static double
sign (double a)
{
  return a > 0 ? 1 : a < 0 ? -1 : a == 0 ? 0 : a;
}
static double
softplus (double a)
{
  return a > 0 ? a + log1p (exp (-a)) : log1p (exp (a));
}
static double
softsign (double a)
{
  return a / (1 + fabs (a));
}
static double
is_nan (double a)
{
  return a != a;
}
static double
is_inf (double a)
{
  return isinf (a) != 0;
}
static double
same (double a)
{
  return a;
}

static const struct
{
  const char *op;
  double (*exact) (double);
  double ulp;      /* tolerance in units of float32's last place */
  double from, to; /* smallest and largest operand that is tried */
} unary[] = {
  { "Relu", relu, 0, -INFINITY, INFINITY },
  { "LeakyRelu", leaky_relu, 0.5, -INFINITY, INFINITY },
  { "Elu", elu, 1.5, -INFINITY, INFINITY },
  { "Selu", selu, 3, -INFINITY, 1e38 },
  { "Celu", elu, 1.5, -INFINITY, INFINITY },
  { "ThresholdedRelu", thresholded_relu, 0, -INFINITY, INFINITY },
  { "HardSigmoid", hard_sigmoid, 1, -1,
    INFINITY },                             /* the range leaves out -2.5, where the terms cancel */
  { "HardSwish", hard_swish, 2, -1, 1e38 }, /* the range leaves out -3, where the terms cancel */
  { "Clip", same, 0, -INFINITY, INFINITY },
  { "Sigmoid", sigmoid, 3, -87.3,
    INFINITY }, /* below -87.3, results are denormal, and the kernel returns 0 */
  { "Tanh", tanh, 3, -INFINITY, INFINITY },
  { "Exp", exp, 1.5, -INFINITY, INFINITY },
  { "Log", log, 1.5, -INFINITY, INFINITY },
  { "Sqrt", sqrt, 0.5, -INFINITY, INFINITY },
  { "Reciprocal", reciprocal, 0.5, -INFINITY, INFINITY },
  { "Abs", fabs, 0, -INFINITY, INFINITY },
  { "Neg", negative, 0, -INFINITY, INFINITY },
  { "Floor", floor, 0, -INFINITY, INFINITY },
  { "Ceil", ceil, 0, -INFINITY, INFINITY },
  { "Round", rint, 0, -INFINITY, INFINITY },
  { "Sign", sign, 0, -INFINITY, INFINITY },
  { "Softplus", softplus, 1.5, -INFINITY, INFINITY },
  { "Softsign", softsign, 1.5, -1e38, 1e38 },
  { "Erf", erf, 2.65, -INFINITY, INFINITY },
  { "Sin", sin, 2.5, -INFINITY, INFINITY },
  { "Cos", cos, 2.5, -INFINITY, INFINITY },
  { "Tan", tan, 1.5, -INFINITY, INFINITY },
  { "Asin", asin, 0.6, -INFINITY, INFINITY },
  { "Acos", acos, 0.6, -INFINITY, INFINITY },
  { "Atan", atan, 0.6, -INFINITY, INFINITY },
  { "Sinh", sinh, 0.6, -INFINITY, INFINITY },
  { "Cosh", cosh, 0.6, -INFINITY, INFINITY },
  { "Asinh", asinh, 0.6, -INFINITY, INFINITY },
  { "Acosh", acosh, 0.6, -INFINITY, INFINITY },
  { "Atanh", atanh, 0.6, -INFINITY, INFINITY },
  { "IsNaN", is_nan, 0, -INFINITY, INFINITY },
  { "IsInf", is_inf, 0, -INFINITY, INFINITY },
};

/* Returns the distance of a float32 from the exact number, in units in the last place of
 * float32. */
static double
distance (float got, double exact)
{
  int exponent;

  if (exact != exact || got != got)
    return (exact != exact) == (got != got) ? 0 : INFINITY;
  if (isinf ((float) exact) || isinf (got))
    return got == (float) exact || fabs (exact) > 0x1.fffffcp127 ? 0 : INFINITY;
  frexp (exact, &exponent);
  return fabs ((double) got - exact) / ldexp (1, MAX (exponent, -125) - 24);
}

/* Returns floats of all magnitudes and both signs. Special values, such as NaNs, come first. */
static CleaveTensor *
many_floats (void)
{
  static const float specials[] = { 0,
                                    -0.0f,
                                    INFINITY,
                                    -INFINITY,
                                    NAN,
                                    0x1p-149f,
                                    -0x1p-149f,
                                    0x1p-126f,
                                    -0x1p-126f,
                                    1,
                                    -1,
                                    0.5f,
                                    -0.5f,
                                    1.5f,
                                    2.5f,
                                    -2.5f,
                                    0.49999997f,
                                    8388607.5f,
                                    88.72284f,
                                    -87.33655f,
                                    -103.97208f,
                                    -0x1.e103bap-1f,
                                    0x1.c4457ep-7f,
                                    0x1.fffffep127f,
                                    -0x1.fffffep127f };
  gint64 n = 60000;
  CleaveTensor *x = cleave_tensor_new (&CLEAVE_TYPE (F32, n), NULL);
  float *data = cleave_tensor_get_mutable_data (x);

  for (gint64 i = 0; i < n; i++)
    data[i] = i < N (specials) ? specials[i]
              : i % 2 == 0     ? cleave_float_from_bits ((guint32) i * 143165u)
                               : (float) (i - n / 2) * 0.00035f;
  return x;
}

START_TEST (formulas_agree_with_libm)
{
  g_autoptr (CleaveTensor) x = many_floats ();
  g_autoptr (CleaveTensor) y = cleave_apply (unary[_i].op, &x, 1, NULL);
  const float *a = cleave_tensor_get_data (x);

  for (gint64 i = 0; i < 60000; i++)
    {
      double exact = unary[_i].exact ((double) a[i]), got = cleave_apply_at (y, i);

      if (a[i] == a[i] && ((double) a[i] < unary[_i].from || (double) a[i] > unary[_i].to))
        continue;
      if (distance ((float) got, exact) > unary[_i].ulp)
        ck_abort_msg ("%s (%a) is %a, not %a: %g ulp", unary[_i].op, (double) a[i], got, exact,
                      distance ((float) got, exact));
      if (exact == 0 && got == 0 && !signbit (got) != !signbit (exact) &&
          strcmp (unary[_i].op, "Sign") != 0)
        ck_abort_msg ("%s (%a) has the wrong sign", unary[_i].op, (double) a[i]);
    }
}
END_TEST

START_TEST (doubles_and_halves_agree_with_libm)
{
  static const CleaveElement elements[] = { CLEAVE_FLOAT64, CLEAVE_FLOAT16, CLEAVE_BFLOAT16 };
  static const double tolerances[] = { 1e-15, 0x1p-11, 0x1p-8 };

  for (guint e = 0; e < 3; e++)
    {
      double values[400], expected[400];
      g_autoptr (CleaveTensor) x = NULL;
      g_autoptr (CleaveTensor) y = NULL;

      for (int i = 0; i < 400; i++)
        values[i] = (i - 200) * 0.0625;
      x = cleave_apply_tensor (elements[e], CLEAVE_SHAPE (400), values);
      y = cleave_apply (unary[_i].op, &x, 1, NULL);
      for (int i = 0; i < 400; i++)
        {
          expected[i] = unary[_i].exact (values[i]);
          if (elements[e] == CLEAVE_FLOAT16 && fabs (expected[i]) > 65504)
            expected[i] = copysign (fabs (expected[i]) > 65520 ? INFINITY : 65504, expected[i]);
          if (values[i] < unary[_i].from)
            expected[i] = cleave_apply_at (y, i);
        }
      cleave_apply_check (unary[_i].op, y, expected, tolerances[e]);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tables = tcase_create ("tables");

  tcase_add_loop_test (tables, formulas_agree_with_libm, 0, G_N_ELEMENTS (unary));
  tcase_add_loop_test (tables, doubles_and_halves_agree_with_libm, 0, G_N_ELEMENTS (unary));
  suite_add_tcase (suite, tables);
}

CLEAVE_TEST_SUITE ("elementwise-formulas", add_tests)
