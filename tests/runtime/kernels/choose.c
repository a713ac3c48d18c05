/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel of ops that compare or choose elements, such as Where, compared with the reference
 * kernel. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (1200)

static const char *const ops[] = { "Where",          "Equal", "Less", "Greater", "LessOrEqual",
                                   "GreaterOrEqual", "And",   "Or",   "Xor",     "Not",
                                   "IsNaN",          "IsInf" };
static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT16, CLEAVE_BFLOAT16,
                                          CLEAVE_INT8,    CLEAVE_UINT8,   CLEAVE_INT32,
                                          CLEAVE_INT64,   CLEAVE_BOOL };

/* Returns a shape that broadcasts to `y`: some outer dimensions are absent, and others are 1. */
static CleaveShape
draw_broadcast (GRand *rand, const CleaveShape *y)
{
  CleaveShape shape = { 0 };
  guint missing = draw (rand, 1, 3) == 1 ? (guint) draw (rand, 0, (gint32) y->rank) : 0;

  for (guint d = missing; d < y->rank; d++)
    shape.dim[shape.rank++] = draw (rand, 1, 4) == 1 ? 1 : y->dim[d];
  return shape;
}

static CleaveElement
draw_element (GRand *rand, const char *op)
{
  if (op[0] == 'I')
    return elements[draw (rand, 0, 2)];
  if (op[0] == 'A' || op[0] == 'O' || op[0] == 'X' || op[0] == 'N')
    return CLEAVE_BOOL;
  return elements[draw (rand, 0, g_str_equal (op, "Where") || g_str_equal (op, "Equal") ? 7 : 6)];
}

/* Tries an op of the table `ops`, such as Where, on any element types and any views. */
static void
try_choice (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  const char *op = ops[seed % G_N_ELEMENTS (ops)];
  gboolean is_where = g_str_equal (op, "Where");
  CleaveIsInfAttrs inf = { g_rand_boolean (rand), g_rand_boolean (rand) };
  CleaveShape y = { .rank = (guint) draw (rand, 0, 4) };
  CleaveElement element = draw_element (rand, op);
  CleaveTrySite instance = { .op = op,
                             .attrs = g_str_equal (op, "IsInf") ? &inf : NULL,
                             .n_operands = is_where                       ? 3
                                           : op[0] == 'I' || op[0] == 'N' ? 1
                                                                          : 2,
                             .gap = draw (rand, 0, 2),
                             .row_major = g_rand_int (rand),
                             .y_row_major = g_rand_boolean (rand),
                             .special = g_rand_boolean (rand),
                             .seed = seed };
  guint whole;

  for (guint d = 0; d < y.rank; d++)
    y.dim[d] = draw (rand, 1, draw (rand, 1, 3) != 1 ? 5 : y.rank <= 2 ? 70 : 12);
  whole = (guint) draw (rand, 0, (gint32) instance.n_operands - 1);
  for (guint k = 0; k < instance.n_operands; k++)
    instance.operands[k] = (CleaveTensorType){ is_where && k == 0 ? CLEAVE_BOOL : element,
                                               k == whole ? y : draw_broadcast (rand, &y) };
  ck_assert (cleave_try_instance (&instance, level));
}

static const struct
{
  const char *op;
  guint n_operands;
  gboolean is_signed, is_unsigned;
} numbers[] = {
  { "Relu", 1, TRUE, FALSE },      { "Neg", 1, TRUE, FALSE },       { "Abs", 1, TRUE, TRUE },
  { "Sign", 1, TRUE, TRUE },       { "Clip", 1, TRUE, TRUE },       { "Shrink", 1, TRUE, TRUE },
  { "Add", 2, TRUE, TRUE },        { "Sub", 2, TRUE, TRUE },        { "Mul", 2, TRUE, TRUE },
  { "Div", 2, TRUE, TRUE },        { "Pow", 2, TRUE, TRUE },        { "Mod", 2, TRUE, TRUE },
  { "PRelu", 2, TRUE, TRUE },      { "BitShift", 2, FALSE, TRUE },  { "Max", 2, TRUE, TRUE },
  { "Min", 2, TRUE, TRUE },        { "BitwiseAnd", 2, TRUE, TRUE }, { "BitwiseOr", 2, TRUE, TRUE },
  { "BitwiseXor", 2, TRUE, TRUE }, { "BitwiseNot", 1, TRUE, TRUE }
};

static gconstpointer
draw_attrs (GRand *rand, const char *op)
{
  static CleaveClipAttrs clip;
  static CleaveShrinkAttrs shrink;
  static CleaveModAttrs mod;
  static CleaveBitShiftAttrs shift;

  clip = (CleaveClipAttrs){ g_rand_boolean (rand) ? -INFINITY : (double) draw (rand, -300, 9),
                            g_rand_boolean (rand) ? INFINITY : (double) draw (rand, -9, 300) };
  shrink = (CleaveShrinkAttrs){ .lambd = 1.5, .bias = g_rand_double_range (rand, -2, 2) };
  mod = (CleaveModAttrs){ .fmod = g_rand_boolean (rand) };
  shift.direction = g_rand_boolean (rand) ? CLEAVE_SHIFT_RIGHT : CLEAVE_SHIFT_LEFT;
  return g_str_equal (op, "Clip")       ? (gconstpointer) &clip
         : g_str_equal (op, "Shrink")   ? (gconstpointer) &shrink
         : g_str_equal (op, "Mod")      ? (gconstpointer) &mod
         : g_str_equal (op, "BitShift") ? (gconstpointer) &shift
                                        : NULL;
}

/* Tries an op of the table `numbers` on integers. At times the result overwrites the first operand.
 */
static void
try_numbers (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint which = seed % G_N_ELEMENTS (numbers), n = numbers[which].n_operands;
  static const CleaveElement is_signed[] = { CLEAVE_INT8, CLEAVE_INT32, CLEAVE_INT64 };
  gboolean is_byte =
      !numbers[which].is_signed || (numbers[which].is_unsigned && draw (rand, 1, 4) == 1);
  CleaveElement element = is_byte ? CLEAVE_UINT8 : is_signed[draw (rand, 0, 2)];
  CleaveShape y = { .rank = (guint) draw (rand, 0, 4) };
  guint whole =
      g_str_equal (numbers[which].op, "PRelu") ? 0 : (guint) draw (rand, 0, (gint32) n - 1);
  CleaveTrySite instance = { .op = numbers[which].op,
                             .attrs = draw_attrs (rand, numbers[which].op),
                             .n_operands = n,
                             .gap = draw (rand, 0, 2),
                             .row_major = g_rand_int (rand),
                             .y_row_major = g_rand_boolean (rand),
                             .special = g_rand_boolean (rand),
                             .seed = seed };

  for (guint d = 0; d < y.rank; d++)
    y.dim[d] = draw (rand, 1, draw (rand, 1, 3) != 1 ? 5 : y.rank <= 2 ? 150 : 12);
  for (guint k = 0; k < n; k++)
    instance.operands[k] =
        (CleaveTensorType){ element, k == whole ? y : draw_broadcast (rand, &y) };
  if (draw (rand, 1, 4) == 1 && whole == 0)
    {
      instance.in_place = TRUE;
      instance.y_row_major = (instance.row_major & 1) != 0;
    }
  ck_assert (cleave_try_instance (&instance, level));
}

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      try_choice (seed, level);
      try_numbers (seed, level);
    }
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

/* The fast kernel does not serve float64, a Max of three operands, or empty values. The reference
 * kernel runs instead. */
START_TEST (not_served)
{
  CleaveTrySite instance = { .op = "Equal", .n_operands = 2 };

  instance.operands[0] = instance.operands[1] = CLEAVE_TYPE (CLEAVE_FLOAT64, 3);
  ck_assert (!cleave_try_instance (&instance, NULL));
  instance.op = "Max";
  instance.n_operands = 3;
  instance.operands[0] = instance.operands[1] = instance.operands[2] =
      CLEAVE_TYPE (CLEAVE_INT32, 3);
  ck_assert (!cleave_try_instance (&instance, NULL));
  instance.op = "Equal";
  instance.n_operands = 2;
  instance.operands[0] = instance.operands[1] = CLEAVE_TYPE (CLEAVE_FLOAT32, 0);
  ck_assert (!cleave_try_instance (&instance, NULL));
  instance.operands[0] = instance.operands[1] = CLEAVE_TYPE (CLEAVE_FLOAT32, 3);
  ck_assert (cleave_try_instance (&instance, NULL));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "choose", every_level_has_the_bits_of_the_reference, not_served, NULL);
}

CLEAVE_TEST_SUITE ("kernel-choose", add_tests)
