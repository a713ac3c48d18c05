/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel of LRN, compared with the reference kernel. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (600)

static const double exponents[] = { 0.75, 0.5, 1, 0.6 };

/* Tries a random LRN with a window of any size, also with more channels than x has. */
static void
try_lrn (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveLrnAttrs attrs = { .layout =
                               g_rand_boolean (rand) ? CLEAVE_LAYOUT_NCHW : CLEAVE_LAYOUT_NHWC,
                           .alpha = (double) draw (rand, 1, 9) * 0.01,
                           .beta = exponents[draw (rand, 0, 3)],
                           .bias = (double) draw (rand, 0, 2),
                           .size = draw (rand, 1, draw (rand, 1, 4) == 1 ? 90 : 7) };
  CleaveTrySite instance = { .op = "LRN",
                             .attrs = &attrs,
                             .n_operands = 1,
                             .gap = draw (rand, 0, 2),
                             .row_major = (guint) draw (rand, 0, 1),
                             .y_row_major = g_rand_boolean (rand),
                             .special = draw (rand, 1, 4) == 1,
                             .seed = seed };
  CleaveShape *x = &instance.operands[0].shape;

  instance.operands[0].element = CLEAVE_FLOAT32;
  x->rank = (guint) draw (rand, 2, 6); /* a value of rank 6 has more dimensions than there are
                                        * letters for dimensions: N, C, D, H, W */
  for (guint d = 0; d < x->rank; d++)
    x->dim[d] = draw (rand, 1, draw (rand, 1, 4) != 1 ? 3 : x->rank == 6 ? 7 : 35);
  ck_assert (cleave_try_instance (&instance, level));
}

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_lrn (seed, level);
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "lrn", every_level_has_the_bits_of_the_reference, NULL);
}

CLEAVE_TEST_SUITE ("kernel-lrn", add_tests)
