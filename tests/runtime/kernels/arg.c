/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel of ArgMax and ArgMin, compared with the reference kernel. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (800)

/* Tries a random ArgMax or ArgMin along any axis, in any memory order. Some rows are longer than
 * the kernel searches at once. */
static void
try_search (guint32 seed, const char *level)
{
  static const CleaveElement integers[] = { CLEAVE_INT8, CLEAVE_UINT8, CLEAVE_INT32, CLEAVE_INT64 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint rank = (guint) draw (rand, 1, 4);
  CleaveArgAttrs attrs = { .axis = draw (rand, 0, (gint32) rank - 1),
                           .keepdims = g_rand_boolean (rand),
                           .select_last_index = draw (rand, 1, 3) == 1 };
  CleaveTrySite instance = { .op = seed % 2 == 0 ? "ArgMax" : "ArgMin",
                             .attrs = &attrs,
                             .n_operands = 1,
                             .gap = draw (rand, 0, 2),
                             .row_major = (guint) draw (rand, 0, 1),
                             .y_row_major = g_rand_boolean (rand),
                             .special = draw (rand, 1, 3) == 1,
                             .seed = seed };

  instance.operands[0].element =
      draw (rand, 0, 1) == 0 ? CLEAVE_FLOAT32 : integers[draw (rand, 0, 3)];
  instance.operands[0].shape.rank = rank;
  for (guint d = 0; d < rank; d++)
    instance.operands[0].shape.dim[d] = draw (rand, 1,
                                              draw (rand, 1, 3) != 1 ? 6
                                              : rank <= 2            ? 1300
                                                                     : 12);
  ck_assert (cleave_try_instance (&instance, level));
}

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_search (seed, level);
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "arg", every_level_has_the_bits_of_the_reference, NULL);
}

CLEAVE_TEST_SUITE ("kernel-arg", add_tests)
