/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel of RoiAlign, compared with the reference kernel. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (400)

/* Tries a random RoiAlign in both modes. Regions are inside or outside of the image, reversed or
 * empty. In some trials, channels are innermost in memory. */
static void
try_regions (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveRoiAlignAttrs attrs = { .mode = (CleaveRoiMode) draw (rand, 0, 1),
                                .coordinate_transformation_mode =
                                    (CleaveRoiCoordinates) draw (rand, 0, 1),
                                .output_height = draw (rand, 1, 4),
                                .output_width = draw (rand, 1, 4),
                                .sampling_ratio = draw (rand, 0, 3),
                                .spatial_scale = (double) draw (rand, 1, 8) / 4 };
  CleaveElement element = draw (rand, 0, 2) == 0 ? CLEAVE_FLOAT16 : CLEAVE_FLOAT32;
  gint64 n_regions = draw (rand, element == CLEAVE_FLOAT16 ? 1 : 0, 4);
  CleaveTrySite instance = { .op = "RoiAlign",
                             .attrs = &attrs,
                             .n_operands = 3,
                             .gap = draw (rand, 0, 2),
                             .row_major = 6 | (guint) draw (rand, 0, 1),
                             .special = draw (rand, 1, 3) == 1,
                             .seed = seed };

  instance.y_row_major = g_rand_boolean (rand);
  instance.operands[0] =
      CLEAVE_TYPE (element, draw (rand, 1, 2), draw (rand, 1, g_rand_boolean (rand) ? 3 : 70),
                   draw (rand, 1, 6), draw (rand, 1, 6));
  instance.operands[1] = CLEAVE_TYPE (element, n_regions, 4);
  instance.operands[2] = CLEAVE_TYPE (CLEAVE_INT64, n_regions);
  ck_assert (cleave_try_instance (&instance, level));
}

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_regions (seed, level);
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

/* The fast kernel does not serve a RoiAlign of float64. The reference kernel runs instead. */
START_TEST (not_served)
{
  const CleaveRoiAlignAttrs attrs = { .output_height = 2, .output_width = 2, .spatial_scale = 1 };
  CleaveTrySite instance = { .op = "RoiAlign",
                             .attrs = &attrs,
                             .n_operands = 3,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT64, 1, 2, 3, 4),
                                           CLEAVE_TYPE (CLEAVE_FLOAT64, 2, 4),
                                           CLEAVE_TYPE (CLEAVE_INT64, 2) } };

  ck_assert (!cleave_try_instance (&instance, NULL));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "roi-align", every_level_has_the_bits_of_the_reference, not_served, NULL);
}

CLEAVE_TEST_SUITE ("kernel-roi-align", add_tests)
