/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel-cases.h"

#define N_SEEDS CLEAVE_TRIALS (1200)

static const char *const ops[] = { "Where",          "Equal", "Less", "Greater", "LessOrEqual",
                                   "GreaterOrEqual", "And",   "Or",   "Xor",     "Not",
                                   "IsNaN",          "IsInf" };
static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_INT8,  CLEAVE_UINT8,
                                          CLEAVE_INT32,   CLEAVE_INT64, CLEAVE_BOOL };

/* The same shape, but that some of the outer dimensions are absent and others are 1. */
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
    return CLEAVE_FLOAT32;
  if (op[0] == 'A' || op[0] == 'O' || op[0] == 'X' || op[0] == 'N')
    return CLEAVE_BOOL;
  return elements[draw (rand, 0, g_str_equal (op, "Where") || g_str_equal (op, "Equal") ? 5 : 4)];
}

/* Any views of any types. */
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

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_choice (seed, level);
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

/* Elsewhere the reference kernel runs. */
START_TEST (not_served)
{
  CleaveTrySite instance = { .op = "Equal", .n_operands = 2 };

  instance.operands[0] = instance.operands[1] = CLEAVE_TYPE (CLEAVE_FLOAT64, 3);
  ck_assert (!cleave_try_instance (&instance, NULL));
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
