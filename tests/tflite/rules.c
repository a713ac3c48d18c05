/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Compares element-wise operators of TensorFlow Lite on integers with scalar models in exact
 * numbers. The operands are all pairs of int8. Some ratios of scales make ties, others do not.
 *
 * Over 400 lines: this file has a scalar model for each operator, and one table of all
 * operators. */

#include "exact.h"

/* Returns the result for two operands without zero points, before it is clamped. */
typedef gint64 (*Model) (const Scales *s, gint64 a, gint64 b);

static gint64
sum (const Scales *s, gint64 a, gint64 b)
{
  double twice = 2 * (double) MAX (s->a, s->b);
  gint64 left = times (a * (1 << 20), ratio_of ((double) s->a / twice));
  gint64 right = times (b * (1 << 20), ratio_of ((double) s->b / twice));

  return times (left + right, ratio_of (twice / ((1 << 20) * (double) s->y))) + s->y_zero;
}

static gint64
difference (const Scales *s, gint64 a, gint64 b)
{
  return sum (s, a, -b);
}

static gint64
product (const Scales *s, gint64 a, gint64 b)
{
  return times (a * b, ratio_of ((double) s->a * (double) s->b / (double) s->y)) + s->y_zero;
}

static gint64
squared_difference (const Scales *s, gint64 a, gint64 b)
{
  double twice = 2 * (double) MAX (s->a, s->b);
  gint64 d = times (a * 128, ratio_of ((double) s->a / twice)) -
             times (b * 128, ratio_of ((double) s->b / twice));

  return times (d * d, ratio_of (twice * twice / (double) (16384 * s->y))) + s->y_zero;
}

static gint64
prelu (const Scales *s, gint64 a, gint64 b)
{
  return a >= 0 ? times (a, ratio_of ((double) s->a / (double) s->y)) + s->y_zero
                : product (s, a, b);
}

static gint64
larger (const Scales *s, gint64 a, gint64 b)
{
  return MAX (a, b) + s->y_zero;
}

static gint64
smaller (const Scales *s, gint64 a, gint64 b)
{
  return MIN (a, b) + s->y_zero;
}

static gint64
relu (const Scales *s, gint64 a, gint64 b)
{
  return MAX (times (a, ratio_of ((double) (s->a / s->y))) + s->y_zero, s->y_zero);
}

static gint64
relu_n1_to_1 (const Scales *s, gint64 a, gint64 b)
{
  gint64 bound = (gint64) roundf (1 / s->y), y = times (a, ratio_of ((double) (s->a / s->y)));

  return CLAMP (y, -bound, bound) + s->y_zero;
}

static gint64
relu_0_to_1 (const Scales *s, gint64 a, gint64 b)
{
  gint64 y = times (a, ratio_of ((double) (s->a / s->y)));

  return CLAMP (y, 0, (gint64) roundf (1 / s->y)) + s->y_zero;
}

static gint64
exponential (const Scales *s, gint64 a, gint64 b)
{
  return (gint64) MIN (round (exp ((double) s->a * (double) a) / (double) s->y), 1000) + s->y_zero;
}

static gint64
logarithm (const Scales *s, gint64 a, gint64 b)
{
  double y = a <= 0 ? -1000 : round (log ((double) s->a * (double) a) / (double) s->y);

  return (gint64) MAX (y, -1000) + s->y_zero;
}

#define LEAKY_ALPHA 0.25f
static gint64
leaky_relu (const Scales *s, gint64 a, gint64 b)
{
  float ratio = a >= 0 ? s->a / s->y : s->a * LEAKY_ALPHA / s->y;

  return times (a, ratio_of ((double) ratio)) + s->y_zero;
}

static gint64
rescaled (const Scales *s, gint64 a, gint64 b)
{
  return times (a, ratio_of ((double) s->a / (double) s->y)) + s->y_zero;
}

static gint64
absolute (const Scales *s, gint64 a, gint64 b)
{
  return times (ABS (a), ratio_of ((double) (s->a / s->y))) + s->y_zero;
}

static gint64
elu (const Scales *s, gint64 a, gint64 b)
{
  double x = (double) s->a * (double) a;

  return (gint64) round ((x < 0 ? expm1 (x) : x) / (double) s->y) + s->y_zero;
}

static gint64
gelu (const Scales *s, gint64 a, gint64 b)
{
  double x = (double) s->a * (double) a;

  return (gint64) round (x / 2 * erfc (-x * M_SQRT1_2) / (double) s->y) + s->y_zero;
}

static gint64
logistic (const Scales *s, gint64 a, gint64 b)
{
  return (gint64) round (256 / (1 + exp (-(double) s->a * (double) a))) - 128;
}

static gint64
tangent (const Scales *s, gint64 a, gint64 b)
{
  return (gint64) round (128 * tanh ((double) s->a * (double) a));
}

static gint64
hard_swish (const Scales *s, gint64 a, gint64 b)
{
  double x = (double) s->a * (double) a;

  return (gint64) round (x * CLAMP (x / 6 + 0.5, 0, 1) / (double) s->y) + s->y_zero;
}

static gint64
inverse_root (const Scales *s, gint64 a, gint64 b)
{
  return a <= 0
             ? G_MAXINT8
             : (gint64) MIN (round (1 / sqrt ((double) s->a * (double) a) / (double) s->y), 1000) +
                   s->y_zero;
}

static gint64
quotient (const Scales *s, gint64 a, gint64 b)
{
  return b == 0 ? 0
                : (gint64) round ((double) s->a * (double) a / ((double) s->b * (double) b) /
                                  (double) s->y) +
                      s->y_zero;
}

typedef struct
{
  const char *name;
  gint code;
  guint n_operands;
  Model model;
  gint slack; /* largest difference of a result of the operator from `model`; 0 if `model` computes
                 by the operator's own rule */
  TfliteOption option;
  const Scales *scales;
  guint n_scales;
} Rule;

/* Scales with ratios of powers of two, which make ties, and other scales. */
static const Scales free_scales[] = {
  { 0.5f, 0.5f, 0.5f, 0, 0, 0 },       { 0.25f, 0.25f, 0.5f, 3, -4, 5 },
  { 0.125f, 0.5f, 1, -128, 127, -1 },  { 0.013f, 0.27f, 0.021f, 7, -9, 11 },
  { 0.3f, 0.002f, 0.4f, -3, 0, -128 }, { 0.0625f, 0.03125f, 0.25f, 1, 2, 3 },
};
static const Scales same_scales[] = { { 0.1f, 0.1f, 0.1f, -7, -7, -7 },
                                      { 0.5f, 0.5f, 0.5f, 0, 0, 0 } };
static const Scales logistic_scales[] = { { 0.05f, 1, 0x1p-8f, 3, 0, -128 },
                                          { 0.125f, 1, 0x1p-8f, -20, 0, -128 } };
static const Scales tanh_scales[] = { { 0.05f, 1, 0x1p-7f, 3, 0, 0 },
                                      { 0.0625f, 1, 0x1p-7f, -9, 0, 0 } };
static const Scales root_scales[] = { { 0.02f, 1, 0.05f, -128, 0, -128 },
                                      { 0.25f, 1, 0.03f, -100, 0, -90 } };
static const Scales swish_scales[] = { { 0.05f, 1, 0.04f, 3, 0, -110 },
                                       { 0.1f, 1, 0.1f, -8, 0, -100 } };

#define S(list) list, N (list)
static const Rule rules[] = {
  { "ADD", 0, 2, sum, 0, { 0 }, S (free_scales) },
  { "SUB", 41, 2, difference, 0, { 0 }, S (free_scales) },
  { "MUL", 18, 2, product, 0, { 0 }, S (free_scales) },
  { "DIV", 42, 2, quotient, 1, { 0 }, S (free_scales) },
  { "SQUARED_DIFFERENCE", 99, 2, squared_difference, 0, { 0 }, S (free_scales) },
  { "PRELU", 54, 2, prelu, 0, { 0 }, S (free_scales) },
  { "MAXIMUM", 55, 2, larger, 0, { 0 }, S (same_scales) },
  { "MINIMUM", 57, 2, smaller, 0, { 0 }, S (same_scales) },
  { "RELU", 19, 1, relu, 0, { 0 }, S (free_scales) },
  { "LEAKY_RELU", 98, 1, leaky_relu, 0, { 0, 'f', (double) LEAKY_ALPHA }, S (free_scales) },
  { "QUANTIZE", 114, 1, rescaled, 0, { 0 }, S (free_scales) },
  { "ABS", 101, 1, absolute, 0, { 0 }, S (free_scales) },
  { "ELU", 111, 1, elu, 1, { 0 }, S (free_scales) },
  { "GELU", 150, 1, gelu, 1, { 0 }, S (free_scales) },
  { "LOGISTIC", 14, 1, logistic, 0, { 0 }, S (logistic_scales) },
  { "TANH", 28, 1, tangent, 0, { 0 }, S (tanh_scales) },
  { "HARD_SWISH", 117, 1, hard_swish, 1, { 0 }, S (swish_scales) },
  { "RELU_N1_TO_1", 20, 1, relu_n1_to_1, 0, { 0 }, S (free_scales) },
  { "RELU_0_TO_1", 152, 1, relu_0_to_1, 0, { 0 }, S (free_scales) },
  { "EXP", 47, 1, exponential, 1, { 0 }, S (root_scales) },
  { "LOG", 73, 1, logarithm, 1, { 0 }, S (root_scales) },
  { "RSQRT", 76, 1, inverse_root, 1, { 0 }, S (root_scales) },
};
#undef S

static GBytes *
run_rule (const Rule *rule, const Scales *s)
{
  const TfliteTensor tensors[] = {
    { .name = "a",
      .type = TFLITE_INT8,
      .shape = "256x1",
      .scales = &s->a,
      .n_scales = 1,
      .zero = s->a_zero },
    { .name = "b",
      .type = TFLITE_INT8,
      .shape = "256",
      .scales = &s->b,
      .n_scales = 1,
      .zero = s->b_zero },
    { .name = "y",
      .type = TFLITE_INT8,
      .shape = rule->n_operands == 2 ? "256x256" : "256x1",
      .scales = &s->y,
      .n_scales = 1,
      .zero = s->y_zero },
  };
  const TfliteOperator op = { rule->code, NULL, { 0, 1 }, (gint) rule->n_operands,
                              { 2 },      1,    1,        { rule->option } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0, 1 }, (gint) rule->n_operands,
                             { 2 },   1,           0 };
  g_autoptr (GPtrArray) inputs = tensors_new ();
  gint8 all[256];

  for (gint i = 0; i < 256; i++)
    all[i] = (gint8) (i - 128);
  g_ptr_array_add (inputs, cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT8, 256, 1), all, NULL));
  if (rule->n_operands == 2)
    g_ptr_array_add (inputs, cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT8, 256), all, NULL));
  return run_file (&file, inputs);
}

/* Compares all results of an operator with the scalar model `rule->model`, except the results of a
 * division by 0. */
static void
check_rule (const Rule *rule, const Scales *s)
{
  g_autoptr (GBytes) bytes = run_rule (rule, s);
  const gint8 *y = g_bytes_get_data (bytes, NULL);
  gint n = rule->n_operands == 2 ? 256 : 1;

  for (gint i = 0; i < 256; i++)
    for (gint j = 0; j < n; j++)
      {
        gint64 a = i - 128 - s->a_zero, b = j - 128 - s->b_zero;
        gint64 model = rule->model (s, a, b), clamped = CLAMP (model, G_MININT8, G_MAXINT8);

        if (rule->model == quotient && b == 0)
          continue;
        if (ABS (y[i * n + j] - clamped) > rule->slack)
          ck_abort_msg ("%s of %d and %d with scales %g, %g, %g: %d, not %d", rule->name, (int) a,
                        (int) b, (double) s->a, (double) s->b, (double) s->y, y[i * n + j],
                        (int) clamped);
      }
}

START_TEST (operators_on_all_pairs_of_bytes_follow_their_rules)
{
  for (guint r = 0; r < N (rules); r++)
    for (guint i = 0; i < rules[r].n_scales; i++)
      check_rule (&rules[r], &rules[r].scales[i]);
}
END_TEST

/* The tests below check the rules of operators on int16. */

typedef struct
{
  const char *name;
  gint code;
  Scales scales;
  gint64 (*model) (const Scales *s, gint64 x);
  gint slack;
  TfliteOption option;
} Rule16;

static gint64
relu_16 (const Scales *s, gint64 x)
{
  return relu (s, x, 0);
}

static gint64
absolute_16 (const Scales *s, gint64 x)
{
  return absolute (s, x, 0);
}

static gint64
leaky_relu_16 (const Scales *s, gint64 x)
{
  return leaky_relu (s, x, 0);
}

static gint64
six (const Scales *s, gint64 x)
{
  return CLAMP (x, 0, (gint64) roundf (6 / s->a));
}

static gint64
logistic_16 (const Scales *s, gint64 x)
{
  return (gint64) round (32768 / (1 + exp (-(double) s->a * (double) x)));
}

static gint64
tanh_16 (const Scales *s, gint64 x)
{
  return (gint64) round (32768 * tanh ((double) s->a * (double) x));
}

/* LOGISTIC and TANH interpolate in a table of 256 entries, so their results are only near to the
 * functions of real numbers. */
static const Rule16 rules_16[] = {
  { "RELU", 19, { 0.5f, 0, 1, 0, 0, 0 }, relu_16, 0, { 0 } },
  { "RELU", 19, { 0.013f, 0, 0.004f, 0, 0, 0 }, relu_16, 0, { 0 } },
  { "RELU6", 21, { 0x1p-11f, 0, 0x1p-11f, 0, 0, 0 }, six, 0, { 0 } },
  { "ABS", 101, { 0.3f, 0, 0.7f, 0, 0, 0 }, absolute_16, 0, { 0 } },
  { "ABS", 101, { 0.5f, 0, 1, 0, 0, 0 }, absolute_16, 0, { 0 } },
  { "LEAKY_RELU",
    98,
    { 0.3f, 0, 0.7f, 0, 0, 0 },
    leaky_relu_16,
    0,
    { 0, 'f', (double) LEAKY_ALPHA } },
  { "LOGISTIC", 14, { 0x1p-12f, 0, 0x1p-15f, 0, 0, 0 }, logistic_16, 10, { 0 } },
  { "LOGISTIC", 14, { 0.0003f, 0, 0x1p-15f, 0, 0, 0 }, logistic_16, 10, { 0 } },
  { "TANH", 28, { 0x1p-12f, 0, 0x1p-15f, 0, 0, 0 }, tanh_16, 20, { 0 } },
  { "TANH", 28, { 0x1p-11f, 0, 0x1p-15f, 0, 0, 0 }, tanh_16, 20, { 0 } },
  { "TANH", 28, { 0.0005f, 0, 0x1p-15f, 0, 0, 0 }, tanh_16, 20, { 0 } },
};

START_TEST (operators_on_int16_follow_their_rules)
{
  gint16 *all = g_new (gint16, 65536);

  for (gint i = 0; i < 65536; i++)
    all[i] = (gint16) (i - 32768);
  for (guint r = 0; r < N (rules_16); r++)
    {
      const Rule16 *rule = &rules_16[r];
      const Scales *s = &rule->scales;
      const TfliteTensor tensors[] = {
        { .name = "x", .type = TFLITE_INT16, .shape = "65536", .scales = &s->a, .n_scales = 1 },
        { .name = "y", .type = TFLITE_INT16, .shape = "65536", .scales = &s->y, .n_scales = 1 },
      };
      const TfliteOperator op = { rule->code, NULL, { 0 }, 1, { 1 }, 1, 1, { rule->option } };
      const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 1 }, 1, 0 };
      g_autoptr (GPtrArray) inputs = tensors_new ();
      g_autoptr (GBytes) bytes = NULL;
      const gint16 *y;

      g_ptr_array_add (inputs,
                       cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT16, 65536), all, NULL));
      bytes = run_file (&file, inputs);
      y = g_bytes_get_data (bytes, NULL);
      for (gint i = 0; i < 65536; i++)
        {
          gint64 model = rule->model (s, i - 32768),
                 clamped = CLAMP (model, G_MININT16, G_MAXINT16);

          if (ABS (y[i] - clamped) > rule->slack)
            ck_abort_msg ("%s of %d with scale %g: %d, not %d", rule->name, i - 32768,
                          (double) s->a, y[i], (int) clamped);
        }
    }
  g_free (all);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "rules", operators_on_all_pairs_of_bytes_follow_their_rules,
                   operators_on_int16_follow_their_rules, NULL);
}

CLEAVE_TEST_SUITE ("tflite-rules", add_tests)
