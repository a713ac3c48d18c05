/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel of GridSample, compared with the reference kernel. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (400)

/* Tries a random GridSample in every mode. The positions of `special` grids are far outside the
 * image. */
static void
try_grid (guint32 seed, const char *level)
{
  static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT32, CLEAVE_FLOAT16 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveGridSampleAttrs attrs = { .mode = (CleaveGridMode) draw (rand, 0, 2),
                                  .padding_mode = (CleaveGridPadding) draw (rand, 0, 2),
                                  .align_corners = g_rand_boolean (rand) };
  gint64 n = draw (rand, 1, 2);
  CleaveTrySite instance = { .op = "GridSample",
                             .attrs = &attrs,
                             .n_operands = 2,
                             .gap = draw (rand, 0, 2),
                             .row_major = 2 | (guint) draw (rand, 0, 1),
                             .special = draw (rand, 1, 3) == 1,
                             .seed = seed };

  instance.y_row_major = g_rand_boolean (rand);
  instance.operands[0] =
      CLEAVE_TYPE (elements[draw (rand, 0, 2)], n, draw (rand, 1, draw (rand, 0, 1) == 0 ? 3 : 70),
                   draw (rand, 1, 6), draw (rand, 1, 6));
  instance.operands[1] =
      CLEAVE_TYPE (elements[draw (rand, 0, 2)], n, draw (rand, 1, 5), draw (rand, 1, 5), 2);
  ck_assert (cleave_try_instance (&instance, level));
}

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_grid (seed, level);
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

/* The fast kernel does not serve a GridSample whose positions are float64. The reference kernel
 * runs instead. */
START_TEST (not_served)
{
  CleaveTrySite instance = { .op = "GridSample",
                             .n_operands = 2,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 2, 3, 4),
                                           CLEAVE_TYPE (CLEAVE_FLOAT64, 1, 2, 2, 2) } };

  ck_assert (!cleave_try_instance (&instance, NULL));
  instance.operands[1].element = CLEAVE_FLOAT32;
  ck_assert (cleave_try_instance (&instance, NULL));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "grid-sample", every_level_has_the_bits_of_the_reference, not_served,
                   NULL);
}

CLEAVE_TEST_SUITE ("kernel-grid-sample", add_tests)
