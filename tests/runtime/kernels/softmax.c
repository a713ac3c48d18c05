/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel of Softmax and LogSoftmax, compared with the reference kernel. A row is the elements
 * along the axis. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (600)

/* Tries a random Softmax along any axis, with any number of rows, in any memory order. */
static void
try_softmax (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint rank = (guint) draw (rand, 1, 4);
  CleaveAxisAttrs attrs = { .axis = draw (rand, 0, (gint32) rank - 1) };
  CleaveTrySite instance = { .op = seed % 3 == 0 ? "LogSoftmax" : "Softmax",
                             .attrs = &attrs,
                             .n_operands = 1,
                             .gap = draw (rand, 0, 2),
                             .row_major = (guint) draw (rand, 0, 1),
                             .in_place = g_rand_boolean (rand),
                             .special = draw (rand, 1, 4) == 1,
                             .seed = seed };

  instance.y_row_major = instance.row_major != 0;
  instance.operands[0].element = CLEAVE_FLOAT32;
  instance.operands[0].shape.rank = rank;
  for (guint d = 0; d < rank; d++)
    instance.operands[0].shape.dim[d] = draw (rand, 1, (gint64) d == attrs.axis ? 40 : 20);
  ck_assert (cleave_try_instance (&instance, level));
}

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_softmax (seed, level);
}

/* Tries long rows whose elements are contiguous, with or without gaps between the rows. */
static void
try_long_rows (const char *level)
{
  static const gint64 lengths[] = { 63, 64, 65, 511, 512, 513, 1031, 4096, 4097, 9001 };

  for (guint i = 0; i < G_N_ELEMENTS (lengths) * 8; i++)
    {
      CleaveAxisAttrs attrs = { .axis = 1 };
      CleaveTrySite instance = { .op = i & 1 ? "LogSoftmax" : "Softmax",
                                 .attrs = &attrs,
                                 .n_operands = 1,
                                 .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 3 + i % 3 * 3,
                                                            lengths[i / 8]) },
                                 .in_place = (i & 2) != 0,
                                 .special = (i & 4) != 0,
                                 .seed = i };

      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (long_rows_have_the_bits_of_the_reference) { each_level (try_long_rows); }
END_TEST

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

/* The fast kernel does not serve a Softmax of more than 4,096 strided elements or of float64, or a
 * Hardmax. The reference kernel runs instead. */
START_TEST (not_served)
{
  CleaveAxisAttrs attrs = { .axis = 0 };
  CleaveTrySite instance = { .op = "Softmax",
                             .attrs = &attrs,
                             .n_operands = 1,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 4097, 2) } };

  ck_assert (!cleave_try_instance (&instance, NULL));
  instance.operands[0].shape.dim[0] = 4096;
  ck_assert (cleave_try_instance (&instance, NULL));
  instance.operands[0].element = CLEAVE_FLOAT64;
  ck_assert (!cleave_try_instance (&instance, NULL));
  instance.operands[0].element = CLEAVE_FLOAT32;
  instance.op = "Hardmax";
  ck_assert (!cleave_try_instance (&instance, NULL));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "softmax", every_level_has_the_bits_of_the_reference,
                   long_rows_have_the_bits_of_the_reference, not_served, NULL);
}

CLEAVE_TEST_SUITE ("kernel-softmax", add_tests)
