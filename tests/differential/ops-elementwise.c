/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Element-wise ops, with broadcasting. */

#include "trial.h"

#include "trial-ops.h"

typedef struct
{
  const char *op;
  guint elements;
  const char *alpha, *beta; /* names of attributes that may have any value; NULL: none */
} Unary;

static const Unary unaries[] = {
  { "Relu", FLOATS | SIGNED, NULL, NULL },
  { "LeakyRelu", FLOATS, "alpha", NULL },
  { "Elu", FLOATS, "alpha", NULL },
  { "Selu", FLOATS, "alpha", "gamma" },
  { "Celu", FLOATS, "alpha", NULL },
  { "ThresholdedRelu", FLOATS, "alpha", NULL },
  { "HardSigmoid", FLOATS, "alpha", "beta" },
  { "Shrink", NUMBERS, "bias", "lambd" },
  { "Abs", NUMBERS, NULL, NULL },
  { "Sign", NUMBERS, NULL, NULL },
  { "Neg", FLOATS | SIGNED, NULL, NULL },
  { "Not", SET (BOOL), NULL, NULL },
};

static void
grow_unary (Trial *trial, const char *op)
{
  Unary how = { op, FLOATS, NULL, NULL };
  guint x;
  TrialType type;

  for (guint i = 0; i < G_N_ELEMENTS (unaries); i++)
    if (g_str_equal (unaries[i].op, op))
      how = unaries[i];
  x = use_any (trial, how.elements, 0, 6);
  type = type_of (trial, x);
  add_node (trial, op);
  add_in (trial, x);
  if (how.alpha != NULL && chance (trial, 60))
    set_float (trial, how.alpha, pick_real (trial, 0.125, 2.125));
  if (how.beta != NULL && chance (trial, 60))
    set_float (trial, how.beta, pick_real (trial, 0, 1));
  add_out (trial, &type);
}

static void
grow_test (Trial *trial, const char *op)
{
  gboolean inf = g_str_equal (op, "IsInf");
  guint x = use_any (trial, inf ? SET (F32) | SET (F64) : FLOATS, 0, 6);
  TrialType type = type_of (trial, x);

  type.element = BOOL;
  add_node (trial, op);
  add_in (trial, x);
  if (inf && chance (trial, 50))
    set_int (trial, "detect_positive", chance (trial, 50));
  if (inf && chance (trial, 50))
    set_int (trial, "detect_negative", chance (trial, 50));
  add_out (trial, &type);
}

/* Returns a type that broadcasts with `type`. In some cases, the result of the broadcast is larger
 * than `type`. */
static TrialType
pick_other (Trial *trial, const TrialType *type, guint element)
{
  guint rank = (guint) pick_between (trial, 0, chance (trial, 10) ? 6 : type->rank);
  TrialType other = { element, 0, { 0 } };
  gboolean same = !chance (trial, 60);

  if (same)
    {
      other = *type;
      other.element = element;
      return other;
    }
  other.rank = rank;
  for (guint i = 0; i < rank; i++) /* dimension i is counted from the last one */
    {
      gint64 *dim = &other.dim[rank - 1 - i];

      if (i >= type->rank)
        *dim = chance (trial, 50) ? pick_extent (trial) : 1;
      else if (type->dim[type->rank - 1 - i] == 1)
        *dim = chance (trial, 40) ? pick_extent (trial) : 1;
      else
        *dim = chance (trial, 50) ? 1 : type->dim[type->rank - 1 - i];
    }
  return other;
}

gboolean
trial_broadcast (TrialType *type, const TrialType *with)
{
  TrialType both = { type->element, MAX (type->rank, with->rank), { 0 } };

  for (guint i = 0; i < both.rank; i++)
    {
      gint64 a = i < type->rank ? type->dim[type->rank - 1 - i] : 1;
      gint64 b = i < with->rank ? with->dim[with->rank - 1 - i] : 1;

      if (a != b && a != 1 && b != 1)
        return FALSE;
      both.dim[both.rank - 1 - i] = a == 1 ? b : a;
    }
  *type = both;
  return TRUE;
}

/* Adds a binary op on an existing value and a second value, in either order. */
static void
grow_binary_of (Trial *trial, const char *op, guint elements, guint other_elements, guint result)
{
  guint a = use_any (trial, elements, 0, 6), b;
  TrialType type = type_of (trial, a), other;

  other = pick_other (trial, &type,
                      other_elements == 0 ? type.element : pick_element (trial, other_elements));
  b = use_type (trial, &other);
  add_node (trial, op);
  if (other_elements == 0 && chance (trial, 40))
    {
      add_in (trial, b);
      add_in (trial, a);
    }
  else
    {
      add_in (trial, a);
      add_in (trial, b);
    }
  if (!need (trial, trial_broadcast (&type, &other)))
    return;
  if (result != 0)
    type.element = result;
  if (g_str_equal (op, "Mod") && ((SET (type.element) & FLOATS) || chance (trial, 40)))
    set_int (trial, "fmod", 1);
  if (g_str_equal (op, "BitShift"))
    set_string (trial, "direction", chance (trial, 50) ? "LEFT" : "RIGHT");
  add_out (trial, &type);
}

static void
grow_arithmetic (Trial *trial, const char *op)
{
  grow_binary_of (trial, op, NUMBERS, 0, 0);
}

static void
grow_pow (Trial *trial, const char *op)
{
  grow_binary_of (trial, op, FLOATS | SET (I32) | SET (I64), chance (trial, 70) ? 0 : NUMBERS, 0);
}

static void
grow_shift (Trial *trial, const char *op)
{
  grow_binary_of (trial, op, UNSIGNED, 0, 0);
}

static void
grow_bitwise (Trial *trial, const char *op)
{
  if (need (trial, trial->opset >= 18))
    grow_binary_of (trial, op, SIGNED | UNSIGNED, 0, 0);
}

static void
grow_bitwise_not (Trial *trial, const char *op)
{
  guint x = use_any (trial, SIGNED | UNSIGNED, 0, 6);
  TrialType type = type_of (trial, x);

  if (!need (trial, trial->opset >= 18))
    return;
  add_node (trial, op);
  add_in (trial, x);
  add_out (trial, &type);
}

static void
grow_logic (Trial *trial, const char *op)
{
  grow_binary_of (trial, op, SET (BOOL), 0, 0);
}

static void
grow_comparison (Trial *trial, const char *op)
{
  grow_binary_of (trial, op, g_str_equal (op, "Equal") ? ALL : NUMBERS, 0, BOOL);
}

static void
grow_variadic (Trial *trial, const char *op)
{
  gboolean extreme = g_str_equal (op, "Max") || g_str_equal (op, "Min");
  guint values[4] = { use_any (trial, extreme ? NUMBERS : FLOATS, 0, 6) };
  TrialType type = type_of (trial, values[0]);
  guint n = 1 + pick (trial, G_N_ELEMENTS (values));

  for (guint i = 1; i < n; i++)
    {
      TrialType other = pick_other (trial, &type, type.element);

      values[i] = use_type (trial, &other);
      if (!need (trial, trial_broadcast (&type, &other)))
        return;
    }
  add_node (trial, op);
  for (guint i = 0; i < n; i++)
    add_in (trial, values[i]);
  add_out (trial, &type);
}

/* Adds a PRelu. The slope broadcasts to x, but not x to the slope. */
static void
grow_prelu (Trial *trial, const char *op)
{
  guint x = use_any (trial, FLOATS | WIDE, 1, 6), slope;
  TrialType type = type_of (trial, x), other = type;

  other.rank = (guint) pick_between (trial, 0, type.rank);
  for (guint d = 0; d < other.rank; d++)
    other.dim[d] = chance (trial, 50) ? 1 : type.dim[type.rank - other.rank + d];
  slope = use_type (trial, &other);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, slope);
  add_out (trial, &type);
}

static void
grow_clip (Trial *trial, const char *op)
{
  guint x = use_any (trial, NUMBERS, 0, 6);
  TrialType type = type_of (trial, x);

  add_node (trial, op);
  add_in (trial, x);
  for (guint i = 0; i < 2; i++)
    add_in (trial, chance (trial, 25) ? 0 : use_scalar (trial, type.element, MODE_ANY));
  add_out (trial, &type);
}

static void
grow_where (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 0, 6), y, condition;
  TrialType type = type_of (trial, x), other = pick_other (trial, &type, type.element), where;
  gboolean swap = chance (trial, 30);

  y = use_type (trial, &other);
  if (!need (trial, trial_broadcast (&type, &other)))
    return;
  where = pick_other (trial, &type, BOOL);
  condition = use_type (trial, &where);
  if (!need (trial, trial_broadcast (&type, &where)))
    return;
  add_node (trial, op);
  add_in (trial, condition);
  add_in (trial, swap ? y : x);
  add_in (trial, swap ? x : y);
  add_out (trial, &type);
}

static void
grow_cast (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 0, 6);
  TrialType type = type_of (trial, x);

  type.element = pick_element (trial, chance (trial, 50) ? ALL : SET (F32) | SET (I32) | SET (U32));
  add_node (trial, op);
  add_in (trial, x);
  set_int (trial, "to", type.element);
  add_out (trial, &type);
}

static void
grow_cast_like (Trial *trial, const char *op)
{
  guint x = use_any (trial, ALL, 0, 6), like;
  TrialType type = type_of (trial, x);

  type.element = pick_element (trial, ALL);
  like = use_type (trial, &type);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, like);
  add_out (trial, &type);
}

const TrialOp trial_elementwise[] = {
  { "Relu", grow_unary, 12 },
  { "LeakyRelu", grow_unary, 4 },
  { "Elu", grow_unary, 3 },
  { "Selu", grow_unary, 3 },
  { "Celu", grow_unary, 3 },
  { "ThresholdedRelu", grow_unary, 3 },
  { "HardSigmoid", grow_unary, 4 },
  { "HardSwish", grow_unary, 5 },
  { "Shrink", grow_unary, 3 },
  { "Sigmoid", grow_unary, 5 },
  { "Tanh", grow_unary, 4 },
  { "Exp", grow_unary, 4 },
  { "Log", grow_unary, 3 },
  { "Sqrt", grow_unary, 4 },
  { "Reciprocal", grow_unary, 4 },
  { "Abs", grow_unary, 4 },
  { "Neg", grow_unary, 4 },
  { "Floor", grow_unary, 3 },
  { "Ceil", grow_unary, 3 },
  { "Round", grow_unary, 3 },
  { "Sign", grow_unary, 3 },
  { "Softplus", grow_unary, 3 },
  { "Softsign", grow_unary, 3 },
  { "Erf", grow_unary, 4 },
  { "Sin", grow_unary, 2 },
  { "Cos", grow_unary, 2 },
  { "Tan", grow_unary, 2 },
  { "Asin", grow_unary, 2 },
  { "Acos", grow_unary, 2 },
  { "Atan", grow_unary, 2 },
  { "Sinh", grow_unary, 2 },
  { "Cosh", grow_unary, 2 },
  { "Asinh", grow_unary, 2 },
  { "Acosh", grow_unary, 2 },
  { "Atanh", grow_unary, 2 },
  { "Not", grow_unary, 2 },
  { "IsNaN", grow_test, 2 },
  { "IsInf", grow_test, 2 },
  { "Add", grow_arithmetic, 16 },
  { "Sub", grow_arithmetic, 8 },
  { "Mul", grow_arithmetic, 12 },
  { "Div", grow_arithmetic, 8 },
  { "Pow", grow_pow, 4 },
  { "Mod", grow_arithmetic, 3 },
  { "BitShift", grow_shift, 2 },
  { "BitwiseAnd", grow_bitwise, 3 },
  { "BitwiseOr", grow_bitwise, 3 },
  { "BitwiseXor", grow_bitwise, 3 },
  { "BitwiseNot", grow_bitwise_not, 3 },
  { "And", grow_logic, 2 },
  { "Or", grow_logic, 2 },
  { "Xor", grow_logic, 2 },
  { "PRelu", grow_prelu, 5 },
  { "Equal", grow_comparison, 3 },
  { "Less", grow_comparison, 2 },
  { "Greater", grow_comparison, 2 },
  { "LessOrEqual", grow_comparison, 2 },
  { "GreaterOrEqual", grow_comparison, 2 },
  { "Sum", grow_variadic, 4 },
  { "Mean", grow_variadic, 4 },
  { "Max", grow_variadic, 4 },
  { "Min", grow_variadic, 4 },
  { "Clip", grow_clip, 8 },
  { "Where", grow_where, 5 },
  { "Cast", grow_cast, 5 },
  { "CastLike", grow_cast_like, 2 },
  { NULL, NULL, 0 },
};
