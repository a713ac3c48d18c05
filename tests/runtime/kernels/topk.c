/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel of TopK, compared with the reference kernel. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (800)

/* Tries a random TopK along any axis. There are few different values, so most elements are equal.
 */
static void
try_topk (guint32 seed, const char *level)
{
  static const CleaveElement elements[] = { CLEAVE_FLOAT32,  CLEAVE_FLOAT32, CLEAVE_FLOAT16,
                                            CLEAVE_BFLOAT16, CLEAVE_INT8,    CLEAVE_UINT8,
                                            CLEAVE_INT32,    CLEAVE_INT64 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveTopkAttrs attrs = { .largest = g_rand_boolean (rand), .sorted = TRUE };
  CleaveTrySite instance = { .op = "TopK",
                             .attrs = &attrs,
                             .n_operands = 1,
                             .n_results = 2,
                             .gap = draw (rand, 0, 2),
                             .row_major = (guint) draw (rand, 0, 1),
                             .special = draw (rand, 1, 3) == 1,
                             .seed = seed };
  CleaveShape *x = &instance.operands[0].shape;

  instance.y_row_major = g_rand_boolean (rand);
  instance.operands[0].element = elements[draw (rand, 0, 7)];
  x->rank = (guint) draw (rand, 1, 4);
  attrs.axis = draw (rand, 0, (gint32) x->rank - 1);
  for (guint d = 0; d < x->rank; d++)
    x->dim[d] = draw (rand, 1, d == attrs.axis ? 400 : 4);
  attrs.k = draw (rand, 1,
                  draw (rand, 0, 2) == 0 ? (gint32) x->dim[attrs.axis]
                                         : MIN (5, (gint32) x->dim[attrs.axis]));
  ck_assert (cleave_try_instance (&instance, level));
}

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_topk (seed, level);
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

/* The fast kernel does not serve a TopK of int16, or a TopK with k = 0. The reference kernel runs
 * instead. */
START_TEST (not_served)
{
  CleaveTopkAttrs attrs = { .k = 2, .axis = 0 };
  CleaveTrySite instance = { .op = "TopK",
                             .attrs = &attrs,
                             .n_operands = 1,
                             .n_results = 2,
                             .operands = { CLEAVE_TYPE (CLEAVE_INT16, 3) } };

  ck_assert (!cleave_try_instance (&instance, NULL));
  instance.operands[0] = CLEAVE_TYPE (CLEAVE_FLOAT32, 3);
  ck_assert (cleave_try_instance (&instance, NULL));
  attrs.k = 0;
  ck_assert (!cleave_try_instance (&instance, NULL));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "topk", every_level_has_the_bits_of_the_reference, not_served, NULL);
}

CLEAVE_TEST_SUITE ("kernel-topk", add_tests)
