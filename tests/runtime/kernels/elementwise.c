/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernels of element-wise ops, compared with the reference kernels. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (60)

typedef struct
{
  const char *op;
  guint n_operands; /* number of operands; 0: a random number from one to five */
} Line;

/* clang-format off */
static const Line lines[] = {
#define T_UNARY 1
#define T_BINARY 2
#define T_SLOPE 2
#define T_POWER 2
#define T_REMAINDER 2
#define T_FOLD 0
#define T_TEST 9
#define T_COMPARE 9
#define N_FLOAT(kind) T_##kind
#define N_SIGNED N_FLOAT
#define N_NUMBER N_FLOAT
#define N_ANY N_FLOAT
#define N_UNSIGNED(kind) 9
#define N_WHOLE(kind) 9
#define N_BOOL(kind) 9
#define X(kind, word, name, elements, flag, P, table, formula) { name, N_##elements (kind) },
#include "../../../lib/ops/elementwise.def"
#undef X
};
/* clang-format on */

/* Returns a shape that broadcasts to `whole`. */
static CleaveShape
draw_part (GRand *rand, const CleaveShape *whole, gboolean keep_rank)
{
  CleaveShape shape = *whole;
  guint missing =
      keep_rank || g_rand_boolean (rand) ? 0 : (guint) draw (rand, 0, (gint32) whole->rank);

  shape.rank -= missing;
  for (guint d = 0; d < shape.rank; d++)
    shape.dim[d] = draw (rand, 1, 3) == 1 && !keep_rank ? 1 : whole->dim[d + missing];
  return shape;
}

static void
draw_instance (CleaveTrySite *instance, const Line *line, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT16, CLEAVE_BFLOAT16 };
  CleaveElement element = elements[draw (rand, 0, 2)];
  CleaveShape whole = { .rank = (guint) draw (rand, 0, 5) };

  for (guint d = 0; d < whole.rank; d++)
    whole.dim[d] = draw (rand, 1, draw (rand, 1, 4) == 1 ? (whole.rank == 1 ? 1200 : 35) : 5);
  *instance = (CleaveTrySite){ .op = line->op, .seed = seed, .special = g_rand_boolean (rand) };
  instance->n_operands = line->n_operands == 0 ? (guint) draw (rand, 1, 5) : line->n_operands;
  for (guint i = 0; i < instance->n_operands; i++)
    instance->operands[i] = (CleaveTensorType){ element, draw_part (rand, &whole, i == 0) };
  if (g_str_equal (line->op, "Pow") && element != CLEAVE_FLOAT32 && g_rand_boolean (rand))
    instance->operands[1].element = CLEAVE_FLOAT32;
  instance->row_major = g_rand_int (rand);
  instance->y_row_major = g_rand_boolean (rand);
  instance->constants = g_rand_boolean (rand) ? g_rand_int (rand) : 0;
  instance->gap = draw (rand, 0, 2);
  if (line->n_operands != 0 && g_rand_boolean (rand))
    {
      instance->in_place = TRUE;
      instance->constants &= ~1u;
      instance->y_row_major = (instance->row_major & 1) != 0;
    }
  else if (g_rand_boolean (rand)) /* strides of 0, as in a view by an Expand */
    instance->broadcast = g_rand_int (rand);
}

static void
try_level (const char *level)
{
  guint n_served = 0;

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    for (guint32 seed = 0; seed < N_SEEDS && lines[i].n_operands != 9; seed++)
      {
        CleaveTrySite instance;
        static const CleaveModAttrs fmod = { .fmod = TRUE };

        draw_instance (&instance, &lines[i], seed);
        if (g_str_equal (instance.op, "Mod"))
          instance.attrs = &fmod;
        if (cleave_try_instance (&instance, level))
          n_served++;
        else
          ck_abort_msg ("%s is not served", instance.op);
      }
  ck_assert_uint_gt (n_served, 40 * N_SEEDS);
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

/* Tries a Pow of every float16 with a single exponent, 0. */
static void
try_one_exponent (const char *level)
{
  CleaveTrySite instance = { .op = "Pow", .n_operands = 2, .counted = TRUE };

  instance.operands[0] = CLEAVE_TYPE (CLEAVE_FLOAT16, 65536);
  instance.operands[1] = CLEAVE_SCALAR (CLEAVE_FLOAT32);
  ck_assert (cleave_try_instance (&instance, level));
}

START_TEST (exponents_may_be_floats) { each_level (try_one_exponent); }
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "elementwise", every_level_has_the_bits_of_the_reference,
                   exponents_may_be_floats, NULL);
}

CLEAVE_TEST_SUITE ("kernel-elementwise", add_tests)
