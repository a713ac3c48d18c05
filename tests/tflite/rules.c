/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Operators of TensorFlow Lite on integers, against scalar models of their rules in exact numbers:
 * all pairs of int8 operands, for scales whose ratios meet ties and for others. */

#include "run-help.h"
#include "tflite-file.h"

#include <math.h>

#define N(array) ((guint) G_N_ELEMENTS (array))

__extension__ typedef __int128 Wide;

/* Exact arithmetic. */

/* Returns floor (a / b) for a positive b. */
static Wide
floor_div (Wide a, Wide b)
{
  return a / b - (a % b < 0);
}

/* Returns a / 2^shift, rounded to the nearest integer, ties away from zero. */
static Wide
shift_right (Wide a, gint shift)
{
  Wide size = a < 0 ? -a : a, half = shift == 0 ? 0 : (Wide) 1 << (shift - 1);

  size = (size + half) >> shift;
  return a < 0 ? -size : size;
}

/* Returns round (a * b / 2^31), ties toward plus infinity. */
static gint64
high_product (gint64 a, gint64 b)
{
  return (gint64) floor_div ((Wide) a * b + ((Wide) 1 << 30), (Wide) 1 << 31);
}

/* A ratio as M * 2^(shift - 31). */
typedef struct
{
  gint64 m;
  gint shift;
} Ratio;

static Ratio
ratio_of (double real)
{
  Ratio r;
  double q = frexp (real, &r.shift);

  r.m = (gint64) round (q * 0x1p31);
  if (r.m == (gint64) 1 << 31)
    {
      r.m /= 2;
      r.shift++;
    }
  return r;
}

/* Multiplies by a ratio: rounds the product of 31 bits, then the right shift. */
static gint64
times (gint64 x, Ratio r)
{
  gint64 high = high_product (x * ((gint64) 1 << MAX (r.shift, 0)), r.m);

  return (gint64) shift_right (high, MAX (-r.shift, 0));
}

/* The real multiplication of a sum of 64 bits: a multiplier of 16 bits, one rounding. */
static gint64
times_wide (gint64 x, Ratio r)
{
  gint64 m = r.m >= 0x7FFF0000 ? 0x7FFF : (r.m + 0x8000) >> 16;

  return (gint64) floor_div ((Wide) x * m + ((Wide) 1 << (14 - r.shift)),
                             (Wide) 1 << (15 - r.shift));
}

/* Cases */

/* Scales and zero points of two operands and the result. */
typedef struct
{
  float a, b, y;
  gint a_zero, b_zero, y_zero;
} Scales;

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
  gint slack; /* largest difference from the model: 0 where the model is the rule itself */
  TfliteOption option;
  const Scales *scales;
  guint n_scales;
} Rule;

/* Ratios of powers of two, whose products meet ties, and others. */
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
  { "RSQRT", 76, 1, inverse_root, 1, { 0 }, S (root_scales) },
};
#undef S

/* Runs a file of one operator on the operands x and b, which lie along different dimensions. */
static GBytes *
run_file (const TfliteGraph *file, const GPtrArray *inputs)
{
  g_autoptr (GBytes) bytes = tflite_file_new (file);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_tflite_parse (bytes, &error);
  g_autoptr (GPtrArray) outputs = NULL;

  ck_assert_msg (graph != NULL, "%s", error == NULL ? "" : error->message);
  outputs = run_graph (graph, inputs, 2);
  return cleave_tensor_dup_bytes (outputs->pdata[0]);
}

static GPtrArray *
tensors_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
}

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

/* Compares all results with the model; division by 0 has no meaning. */
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
        ck_assert_msg (ABS (y[i * n + j] - clamped) <= rule->slack,
                       "%s of %d and %d with scales %g, %g, %g: %d, not %d", rule->name, (int) a,
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

/* Comparisons compare the real values. These scales are exact in fixed point. */
START_TEST (comparisons_compare_real_values)
{
  static const gint codes[] = { 58, 61, 62, 63, 71, 72 };
  static const Scales s = { 0.25f, 0.5f, 1, 3, -5, 0 };

  for (guint c = 0; c < N (codes); c++)
    {
      const Rule rule = { "comparison", codes[c], 2, NULL, 0, { 0 }, &s, 1 };
      TfliteTensor tensors[] = {
        { .name = "a",
          .type = TFLITE_INT8,
          .shape = "256x1",
          .scales = &s.a,
          .n_scales = 1,
          .zero = s.a_zero },
        { .name = "b",
          .type = TFLITE_INT8,
          .shape = "256",
          .scales = &s.b,
          .n_scales = 1,
          .zero = s.b_zero },
        { .name = "y", .type = TFLITE_BOOL, .shape = "256x256" },
      };
      const TfliteOperator op = { rule.code, NULL, { 0, 1 }, 2, { 2 }, 1, 0, { { 0 } } };
      const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0, 1 }, 2, { 2 }, 1, 0 };
      g_autoptr (GPtrArray) inputs = tensors_new ();
      g_autoptr (GBytes) bytes = NULL;
      const guint8 *y;
      gint8 all[256];

      for (gint i = 0; i < 256; i++)
        all[i] = (gint8) (i - 128);
      g_ptr_array_add (inputs,
                       cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT8, 256, 1), all, NULL));
      g_ptr_array_add (inputs, cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT8, 256), all, NULL));
      bytes = run_file (&file, inputs);
      y = g_bytes_get_data (bytes, NULL);
      for (gint i = 0; i < 256; i++)
        for (gint j = 0; j < 256; j++)
          {
            double a = 0.25 * (i - 128 - 3), b = 0.5 * (j - 128 + 5);
            const gboolean expected[] = { a<b, a> b, a >= b, a <= b, a == b, a != b };

            ck_assert_int_eq (y[i * 256 + j], expected[c]);
          }
    }
}
END_TEST

/* int16 */

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

/* The table of LOGISTIC and TANH has 256 entries, so these are only near to the real functions. */
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

          ck_assert_msg (ABS (y[i] - clamped) <= rule->slack, "%s of %d with scale %g: %d, not %d",
                         rule->name, i - 32768, (double) s->a, y[i], (int) clamped);
        }
    }
  g_free (all);
}
END_TEST

/* Softmax of lines of 9: near to the real function, and no line adds up to more than 1. */
START_TEST (softmax_on_int16_is_close_to_the_real_one)
{
  static const float x_scale = 0x1p-12f, y_scale = 0x1p-15f;
  const TfliteTensor tensors[] = {
    { .name = "x", .type = TFLITE_INT16, .shape = "100x9", .scales = &x_scale, .n_scales = 1 },
    { .name = "y", .type = TFLITE_INT16, .shape = "100x9", .scales = &y_scale, .n_scales = 1 },
  };
  const TfliteOperator op = { 25, NULL, { 0 }, 1, { 1 }, 1, 1, { { 0, 'f', 1 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 1 }, 1, 0 };
  g_autoptr (GPtrArray) inputs = tensors_new ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (16);
  g_autoptr (GBytes) bytes = NULL;
  const gint16 *y;
  gint16 x[900];

  for (guint i = 0; i < 900; i++)
    x[i] = (gint16) g_rand_int_range (rand, -20000, 20000);
  g_ptr_array_add (inputs, cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT16, 100, 9), x, NULL));
  bytes = run_file (&file, inputs);
  y = g_bytes_get_data (bytes, NULL);
  for (guint line = 0; line < 100; line++)
    {
      double all = 0;

      for (guint i = 0; i < 9; i++)
        all += exp (0x1p-12 * x[9 * line + i]);
      for (guint i = 0; i < 9; i++)
        ck_assert_double_eq_tol (y[9 * line + i], 32768 * exp (0x1p-12 * x[9 * line + i]) / all,
                                 24);
    }
}
END_TEST

/* BATCH_MATMUL with both transposed: every element is the rule for its sum. */
START_TEST (matrix_products_follow_the_rule)
{
  static const Scales sets[] = { { 0.5f, 0.25f, 8, 3, -4, 5 }, { 0.013f, 0.27f, 0.9f, 7, -9, 11 } };

  for (guint i = 0; i < N (sets); i++)
    {
      const Scales *s = &sets[i];
      const TfliteTensor tensors[] = {
        { .name = "a",
          .type = TFLITE_INT8,
          .shape = "2x7x11",
          .scales = &s->a,
          .n_scales = 1,
          .zero = s->a_zero },
        { .name = "b",
          .type = TFLITE_INT8,
          .shape = "5x7",
          .scales = &s->b,
          .n_scales = 1,
          .zero = s->b_zero },
        { .name = "y",
          .type = TFLITE_INT8,
          .shape = "2x11x5",
          .scales = &s->y,
          .n_scales = 1,
          .zero = s->y_zero },
      };
      const TfliteOperator op = { 126,   NULL, { 0, 1 }, 2,
                                  { 2 }, 1,    1,        { { 0, 'b', 1 }, { 1, 'b', 1 } } };
      const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0, 1 }, 2, { 2 }, 1, 0 };
      g_autoptr (GPtrArray) inputs = tensors_new ();
      g_autoptr (GBytes) bytes = NULL;
      const gint8 *a, *b, *y;
      Ratio ratio = ratio_of ((double) (s->a * s->b) / (double) s->y);

      g_ptr_array_add (inputs,
                       cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_INT8, 2, 7, 11), i, FALSE));
      g_ptr_array_add (inputs,
                       cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_INT8, 5, 7), i + 9, FALSE));
      bytes = run_file (&file, inputs);
      a = cleave_tensor_get_data (inputs->pdata[0]);
      b = cleave_tensor_get_data (inputs->pdata[1]);
      y = g_bytes_get_data (bytes, NULL);
      for (gint at = 0; at < 110; at++)
        {
          gint64 all = 0, model;

          for (gint k = 0; k < 7; k++)
            all += (a[(at / 55) * 77 + k * 11 + at / 5 % 11] - s->a_zero) *
                   (b[at % 5 * 7 + k] - s->b_zero);
          model = times (all, ratio) + s->y_zero;
          ck_assert_int_eq (y[at], CLAMP (model, G_MININT8, G_MAXINT8));
        }
    }
}
END_TEST

/* RESIZE_BILINEAR of int8 by 2, with centers: 1/4 and 3/4 of the neighbors, ties away from zero. */
START_TEST (bilinear_resizes_follow_the_rule)
{
  static const float scale = 0.1f;
  static const gint32 size[2] = { 6, 8 };
  const TfliteTensor tensors[] = {
    { .name = "x",
      .type = TFLITE_INT8,
      .shape = "1x3x4x5",
      .scales = &scale,
      .n_scales = 1,
      .zero = 9 },
    { .name = "size", .type = TFLITE_INT32, .shape = "2", .data = size, .n_bytes = 8 },
    { .name = "y",
      .type = TFLITE_INT8,
      .shape = "1x6x8x5",
      .scales = &scale,
      .n_scales = 1,
      .zero = 9 },
  };
  const TfliteOperator op = { 23, NULL, { 0, 1 }, 2, { 2 }, 1, 1, { { 3, 'b', 1 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 2 }, 1, 0 };
  g_autoptr (GPtrArray) inputs = tensors_new ();
  g_autoptr (GBytes) bytes = NULL;
  const gint8 *x, *y;

  g_ptr_array_add (inputs, cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_INT8, 1, 3, 4, 5), 1, FALSE));
  bytes = run_file (&file, inputs);
  x = cleave_tensor_get_data (inputs->pdata[0]);
  y = g_bytes_get_data (bytes, NULL);
  for (gint at = 0; at < 6 * 8 * 5; at++)
    {
      gint row = at / 40, column = at / 5 % 8, c = at % 5, all = 0;

      for (gint tap = 0; tap < 4; tap++)
        {
          gint near = tap / 2 == 0 ? row / 2 : row / 2 + (row % 2 == 0 ? -1 : 1);
          gint beside = tap % 2 == 0 ? column / 2 : column / 2 + (column % 2 == 0 ? -1 : 1);

          all += (tap / 2 == 0 ? 3 : 1) * (tap % 2 == 0 ? 3 : 1) *
                 x[(CLAMP (near, 0, 2) * 4 + CLAMP (beside, 0, 3)) * 5 + c];
        }
      ck_assert_int_eq (y[at], (gint) shift_right (all, 4));
    }
}
END_TEST

/* SVDF on int8 with a state of int8 or int16, over six runs: the model keeps the lines of the last
 * results itself. */

enum { BATCH = 2, INPUTS = 5, FILTERS = 6, MEMORY = 4, RANK = 2, UNITS = FILTERS / RANK, RUNS = 6 };

typedef struct
{
  gint8 feature[FILTERS][INPUTS];
  gint16 time[FILTERS][MEMORY];
  gint32 bias[UNITS];
  gint16 state[BATCH][FILTERS][MEMORY]; /* without the zero point */
  float x, weights, time_scale, state_scale, y;
} SvdfModel;

static void
step_svdf (SvdfModel *m, gint zero, gint64 lowest, const gint8 *x, gint8 *y)
{
  Ratio in = ratio_of ((double) (m->x * m->weights / m->state_scale));
  Ratio out = ratio_of ((double) (m->state_scale * m->time_scale / m->y));

  for (gint b = 0; b < BATCH; b++)
    for (gint u = 0; u < UNITS; u++)
      {
        gint64 all = m->bias[u], model;

        for (gint f = u * RANK; f < (u + 1) * RANK; f++)
          {
            gint16 *line = m->state[b][f];
            gint64 dot = 0;

            for (gint i = 0; i < INPUTS; i++)
              dot += m->feature[f][i] * (x[b * INPUTS + i] - 3);
            memmove (line, line + 1, sizeof (gint16) * (MEMORY - 1));
            dot = times (dot, in);
            dot = CLAMP (dot, lowest, -(lowest + 1)) + zero;
            line[MEMORY - 1] = (gint16) ((lowest == G_MININT8 ? (gint8) dot : (gint16) dot) - zero);
            for (gint k = 0; k < MEMORY; k++)
              all += line[k] * m->time[f][k];
          }
        model = times (all, out) - 7;
        y[b * UNITS + u] = (gint8) CLAMP (model, G_MININT8, G_MAXINT8);
      }
}

/* Runs the model and the graph side by side. `zero` is that of the state. */
static void
check_svdf (gint state_type, gint zero)
{
  gboolean is_16 = state_type == TFLITE_INT16;
  CleaveTensorType state =
      CLEAVE_TYPE (is_16 ? CLEAVE_INT16 : CLEAVE_INT8, BATCH, FILTERS * MEMORY);
  SvdfModel m = { .x = 0.1f,
                  .weights = 0.02f,
                  .time_scale = is_16 ? 0x1p-13f : 0.02f,
                  .state_scale = is_16 ? 0x1p-11f : 0.05f,
                  .y = 0.11f };
  g_autoptr (GRand) rand = g_rand_new_with_seed (27);
  gint8 narrow_time[FILTERS][MEMORY];
  const TfliteTensor tensors[] = {
    { .name = "x", .type = TFLITE_INT8, .shape = "2x5", .scales = &m.x, .n_scales = 1, .zero = 3 },
    { .name = "f",
      .type = TFLITE_INT8,
      .shape = "6x5",
      .data = m.feature,
      .n_bytes = sizeof (m.feature),
      .scales = &m.weights,
      .n_scales = 1 },
    { .name = "t",
      .type = state_type,
      .shape = "6x4",
      .data = is_16 ? (gconstpointer) m.time : narrow_time,
      .n_bytes = is_16 ? sizeof (m.time) : sizeof (narrow_time),
      .scales = &m.time_scale,
      .n_scales = 1 },
    { .name = "b", .type = TFLITE_INT32, .shape = "3", .data = m.bias, .n_bytes = sizeof (m.bias) },
    { .name = "s",
      .type = state_type,
      .shape = "2x24",
      .scales = &m.state_scale,
      .n_scales = 1,
      .zero = zero,
      .is_variable = TRUE },
    { .name = "y", .type = TFLITE_INT8, .shape = "2x3", .scales = &m.y, .n_scales = 1, .zero = -7 },
  };
  const TfliteOperator op = { 27, NULL, { 0, 1, 2, 3, 4 }, 5, { 5 }, 1, 1, { { 0, 'i', RANK } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 5 }, 1, 0 };
  g_autoptr (CleaveTensor) kept = cleave_tensor_new (&state, NULL);
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (GBytes) bytes = NULL;
  GError *error = NULL;

  for (gint i = 0; i < FILTERS * INPUTS; i++)
    m.feature[0][i] = (gint8) g_rand_int_range (rand, -128, 128);
  for (gint i = 0; i < FILTERS * MEMORY; i++)
    {
      m.time[0][i] = (gint16) (is_16 ? g_rand_int_range (rand, -32768, 32768)
                                     : g_rand_int_range (rand, -128, 128));
      narrow_time[0][i] = (gint8) m.time[0][i];
    }
  for (gint i = 0; i < UNITS; i++)
    m.bias[i] = g_rand_int_range (rand, -1000, 1000);
  for (gint i = 0; i < BATCH * FILTERS * MEMORY; i++)
    if (is_16)
      ((gint16 *) cleave_tensor_get_mutable_data (kept))[i] = (gint16) zero;
    else
      ((gint8 *) cleave_tensor_get_mutable_data (kept))[i] = (gint8) zero;
  bytes = tflite_file_new (&file);
  graph = cleave_tflite_parse (bytes, &error);
  ck_assert_msg (graph != NULL, "%s", error == NULL ? "" : error->message);
  for (guint run = 0; run < RUNS; run++)
    {
      g_autoptr (GPtrArray) inputs = tensors_new (), outputs = NULL;
      gint8 expected[BATCH * UNITS];

      g_ptr_array_add (inputs, cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_INT8, 2, 5), run, FALSE));
      g_ptr_array_add (inputs, cleave_tensor_ref (kept));
      step_svdf (&m, zero, is_16 ? G_MININT16 : G_MININT8,
                 cleave_tensor_get_data (inputs->pdata[0]), expected);
      outputs = run_graph (graph, inputs, 2);
      ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[0]), expected, sizeof (expected));
      cleave_tensor_unref (kept);
      kept = cleave_tensor_ref (outputs->pdata[1]);
    }
}

START_TEST (svdf_keeps_its_state_from_run_to_run)
{
  check_svdf (TFLITE_INT8, 0);
  check_svdf (TFLITE_INT8, -20);
  check_svdf (TFLITE_INT16, 0);
}
END_TEST

/* LSTM */

enum { UNITS_L = 3, INPUTS_L = 4, STEPS = 5 };

/* One LSTM with a batch of 1; all weights of a gate share a scale. */
typedef struct
{
  gint8 w[4][UNITS_L][INPUTS_L], r[4][UNITS_L][UNITS_L];
  gint64 b[4][UNITS_L];
  gint32 b_32[4][UNITS_L];
  gint64 h[UNITS_L], c[UNITS_L];
  float x, h_scale, c_scale, w_scale, r_scale;
  gint x_zero, h_zero;
  gboolean is_16;
} LstmModel;

static gint64
clamp_16 (gint64 v)
{
  return CLAMP (v, G_MININT16, G_MAXINT16);
}

/* LOGISTIC and TANH of units of 2^-12, as the operators on int16 compute them. */
static gint16
through_operator (gint code, float scale, gint16 x)
{
  static const float y_scale = 0x1p-15f;
  const TfliteTensor tensors[] = {
    { .name = "x", .type = TFLITE_INT16, .shape = "1", .scales = &scale, .n_scales = 1 },
    { .name = "y", .type = TFLITE_INT16, .shape = "1", .scales = &y_scale, .n_scales = 1 },
  };
  const TfliteOperator op = { code, NULL, { 0 }, 1, { 1 }, 1, 1, { { 0 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 1 }, 1, 0 };
  g_autoptr (GPtrArray) inputs = tensors_new ();
  g_autoptr (GBytes) bytes = NULL;

  g_ptr_array_add (inputs, cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT16, 1), &x, NULL));
  bytes = run_file (&file, inputs);
  return *(const gint16 *) g_bytes_get_data (bytes, NULL);
}

static gint64
gate_of (const LstmModel *m, guint gate, guint unit, const gint64 *x, const gint64 *h)
{
  Ratio of_x = ratio_of ((double) (m->x * m->w_scale) * 0x1p12);
  Ratio of_h = ratio_of ((double) (m->h_scale * m->r_scale) * 0x1p12);
  gint64 a = m->b[gate][unit], b = 0;

  for (guint i = 0; i < INPUTS_L; i++)
    a += m->w[gate][unit][i] * (x[i] - m->x_zero);
  for (guint i = 0; i < UNITS_L; i++)
    b += m->r[gate][unit][i] * (h[i] - m->h_zero);
  a = m->is_16 ? times_wide (a, of_x) : times (a, of_x);
  b = m->is_16 ? times_wide (b, of_h) : times (b, of_h);
  return clamp_16 (clamp_16 (a) + clamp_16 (b));
}

static void
step_lstm (LstmModel *m, const gint64 *x)
{
  enum { LOGISTIC = 14, TANH = 28 };
  double c_scale = (double) m->c_scale;
  gint64 h[UNITS_L];

  memcpy (h, m->h, sizeof (h));
  for (guint u = 0; u < UNITS_L; u++)
    {
      gint64 gate[4], kept, added, y;

      for (guint g = 0; g < 4; g++)
        gate[g] =
            through_operator (g == 2 ? TANH : LOGISTIC, 0x1p-12f, (gint16) gate_of (m, g, u, x, h));
      kept = clamp_16 (times (gate[1] * m->c[u], ratio_of (0x1p-15)));
      added = clamp_16 (times (gate[0] * gate[2], ratio_of (0x1p-30 / c_scale)));
      m->c[u] = clamp_16 (kept + added);
      y = times (through_operator (TANH, m->c_scale, (gint16) m->c[u]) * gate[3],
                 ratio_of (0x1p-30 / (double) m->h_scale));
      y += m->h_zero;
      m->h[u] = m->is_16 ? clamp_16 (y) : CLAMP (y, G_MININT8, G_MAXINT8);
    }
}

static GBytes *
write_lstm (const LstmModel *m)
{
  static const gint inputs[24] = { 0, 1,  2,  3,  4,  5,  6,  7,  8,  -1, -1, -1,
                                   9, 10, 11, 12, -1, -1, 13, 14, -1, -1, -1, -1 };
  gint type = m->is_16 ? TFLITE_INT16 : TFLITE_INT8;
  TfliteTensor tensors[16] = {
    { .name = "x",
      .type = type,
      .shape = "1x5x4",
      .scales = &m->x,
      .n_scales = 1,
      .zero = m->x_zero },
    [13] = { .name = "h",
             .type = type,
             .shape = "1x3",
             .scales = &m->h_scale,
             .n_scales = 1,
             .zero = m->h_zero,
             .is_variable = TRUE },
    [14] = { .name = "c",
             .type = TFLITE_INT16,
             .shape = "1x3",
             .scales = &m->c_scale,
             .n_scales = 1,
             .is_variable = TRUE },
    [15] = { .name = "y",
             .type = type,
             .shape = "1x5x3",
             .scales = &m->h_scale,
             .n_scales = 1,
             .zero = m->h_zero },
  };
  TfliteOperator op = { 44, NULL, { 0 }, 24, { 15 }, 1, 1, { { 0, 'b', 4 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 15 }, 1, 0 };

  memcpy (op.inputs, inputs, sizeof (inputs));
  for (guint g = 0; g < 4; g++)
    {
      tensors[1 + g] = (TfliteTensor){ .type = TFLITE_INT8,
                                       .shape = "3x4",
                                       .data = m->w[g],
                                       .n_bytes = sizeof (m->w[g]),
                                       .scales = &m->w_scale,
                                       .n_scales = 1 };
      tensors[5 + g] = (TfliteTensor){ .type = TFLITE_INT8,
                                       .shape = "3x3",
                                       .data = m->r[g],
                                       .n_bytes = sizeof (m->r[g]),
                                       .scales = &m->r_scale,
                                       .n_scales = 1 };
      tensors[9 + g] =
          (TfliteTensor){ .type = m->is_16 ? TFLITE_INT64 : TFLITE_INT32,
                          .shape = "3",
                          .data = m->is_16 ? (gconstpointer) m->b[g] : m->b_32[g],
                          .n_bytes = m->is_16 ? sizeof (m->b[g]) : sizeof (m->b_32[g]) };
    }
  return tflite_file_new (&file);
}

/* Returns a tensor of int8, or of int16 for a model of int16. */
static CleaveTensor *
integers (gboolean is_16, const CleaveShape *shape, const gint64 *from)
{
  CleaveTensorType type = { is_16 ? CLEAVE_INT16 : CLEAVE_INT8, *shape };
  CleaveTensor *tensor = cleave_tensor_new (&type, NULL);

  for (gint64 i = 0; i < cleave_shape_n_elements (shape); i++)
    if (is_16)
      ((gint16 *) cleave_tensor_get_mutable_data (tensor))[i] = (gint16) from[i];
    else
      ((gint8 *) cleave_tensor_get_mutable_data (tensor))[i] = (gint8) from[i];
  return tensor;
}

static void
check_lstm (gboolean is_16)
{
  LstmModel m = { .is_16 = is_16,
                  .x = is_16 ? 0x1p-12f : 0.03f,
                  .h_scale = is_16 ? 0x1p-15f : 0x1p-7f,
                  .c_scale = 0x1p-11f,
                  .w_scale = 0.02f,
                  .r_scale = 0.011f,
                  .x_zero = is_16 ? 0 : 5,
                  .h_zero = is_16 ? 0 : -4 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (44);
  CleaveShape x_shape = CLEAVE_SHAPE (1, STEPS, INPUTS_L), state = CLEAVE_SHAPE (1, UNITS_L);
  g_autoptr (GPtrArray) inputs = tensors_new (), outputs = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (CleaveTensor) y = NULL, h = NULL, c = NULL;
  g_autoptr (GBytes) bytes = NULL;
  gint64 x[STEPS][INPUTS_L], expected[STEPS][UNITS_L];

  for (guint i = 0; i < sizeof (m.w); i++)
    m.w[0][0][i] = (gint8) g_rand_int_range (rand, -128, 128);
  for (guint i = 0; i < sizeof (m.r); i++)
    m.r[0][0][i] = (gint8) g_rand_int_range (rand, -128, 128);
  for (guint i = 0; i < 4 * UNITS_L; i++)
    m.b[0][i] = m.b_32[0][i] = g_rand_int_range (rand, -900, 900);
  for (guint u = 0; u < UNITS_L; u++)
    {
      m.h[u] = m.h_zero;
      m.c[u] = g_rand_int_range (rand, -4000, 4000);
    }
  for (guint i = 0; i < STEPS * INPUTS_L; i++)
    x[0][i] = is_16 ? g_rand_int_range (rand, -8000, 8000) : g_rand_int_range (rand, -128, 128);
  bytes = write_lstm (&m);
  graph = cleave_tflite_parse (bytes, NULL);
  ck_assert_ptr_nonnull (graph);
  g_ptr_array_add (inputs, integers (is_16, &x_shape, x[0]));
  g_ptr_array_add (inputs, integers (is_16, &state, m.h));
  g_ptr_array_add (inputs, integers (TRUE, &state, m.c));
  outputs = run_graph (graph, inputs, 2);
  for (guint t = 0; t < STEPS; t++)
    {
      step_lstm (&m, x[t]);
      memcpy (expected[t], m.h, sizeof (m.h));
    }
  y = integers (is_16, &CLEAVE_SHAPE (1, STEPS, UNITS_L), expected[0]);
  h = integers (is_16, &state, m.h);
  c = integers (TRUE, &state, m.c);
  ck_assert (cleave_tensor_equal (outputs->pdata[0], y));
  ck_assert (cleave_tensor_equal (outputs->pdata[1], h));
  ck_assert (cleave_tensor_equal (outputs->pdata[2], c));
}

START_TEST (lstms_follow_the_rule_at_each_step)
{
  check_lstm (FALSE);
  check_lstm (TRUE);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "rules", operators_on_all_pairs_of_bytes_follow_their_rules,
                   comparisons_compare_real_values, operators_on_int16_follow_their_rules,
                   softmax_on_int16_is_close_to_the_real_one, matrix_products_follow_the_rule,
                   bilinear_resizes_follow_the_rule, svdf_keeps_its_state_from_run_to_run,
                   lstms_follow_the_rule_at_each_step, NULL);
}

CLEAVE_TEST_SUITE ("tflite-rules", add_tests)
