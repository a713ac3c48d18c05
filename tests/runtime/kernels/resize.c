/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel-cases.h"

#define N_SEEDS CLEAVE_TRIALS (1200)

/* Whole factors and others, up and down, of every kind, in 1 or 2 dimensions. */
static void
try_resize (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint rank = (guint) draw (rand, 3, 4);
  CleaveResizeAttrs attrs = {
    .mode = (CleaveResizeMode) draw (rand, 0, 2),
    .coordinate_transformation_mode = (CleaveResizeCoordinates) draw (rand, 0, 3),
    .nearest_mode = (CleaveResizeNearest) draw (rand, 0, 3),
    .cubic_coeff_a = -0.75,
    .exclude_outside = g_rand_boolean (rand),
    .sizes = { .n = rank, .v = { draw (rand, 1, 2), draw (rand, 2, 40) } },
  };
  CleaveTrySite instance = { .op = "Resize",
                             .attrs = &attrs,
                             .n_operands = 1,
                             .gap = draw (rand, 0, 2),
                             .special = g_rand_boolean (rand),
                             .seed = seed };
  CleaveShape *x = &instance.operands[0].shape;

  instance.operands[0].element = CLEAVE_FLOAT32;
  x->rank = rank;
  for (guint d = 0; d < rank; d++)
    {
      x->dim[d] = d < 2 ? attrs.sizes.v[d] : draw (rand, 1, 9);
      if (d >= 2)
        attrs.sizes.v[d] =
            g_rand_boolean (rand) ? x->dim[d] * draw (rand, 1, 4) : draw (rand, 1, 12);
    }
  ck_assert (cleave_try_instance (&instance, level));
}

START_TEST (reference_bits)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_resize (seed, NULL);
}
END_TEST

START_TEST (reference_bits_of_the_lowest_level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_resize (seed, "v1");
}
END_TEST

/* Nothing but channels: copied, so that -0 stays what it is. */
START_TEST (reference_bits_of_rank_1)
{
  for (guint32 seed = 0; seed < 40; seed++)
    {
      const CleaveResizeAttrs attrs = { .coordinate_transformation_mode =
                                            (CleaveResizeCoordinates) (seed % 4),
                                        .sizes = { .n = 1, .v = { 2 + seed } } };
      CleaveTrySite instance = { .op = "Resize",
                                 .attrs = &attrs,
                                 .n_operands = 1,
                                 .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 2 + seed) },
                                 .special = TRUE,
                                 .seed = seed };

      ck_assert (cleave_try_instance (&instance, NULL));
    }
}
END_TEST

/* What lies side by side is resized, or there are no channels: each element has taps of its own. */
START_TEST (reference_bits_without_channels)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      guint rank = (guint) draw (rand, 1, 4);
      CleaveResizeAttrs attrs = {
        .mode = (CleaveResizeMode) draw (rand, 0, 1),
        .coordinate_transformation_mode = (CleaveResizeCoordinates) draw (rand, 0, 3),
        .nearest_mode = (CleaveResizeNearest) draw (rand, 0, 3),
        .sizes = { .n = rank },
      };
      CleaveTrySite instance = { .op = "Resize",
                                 .attrs = &attrs,
                                 .n_operands = 1,
                                 .gap = draw (rand, 0, 2),
                                 .special = g_rand_boolean (rand),
                                 .seed = seed };
      CleaveShape *x = &instance.operands[0].shape;

      instance.operands[0].element = CLEAVE_FLOAT32;
      x->rank = rank;
      for (guint d = 0; d < rank; d++)
        {
          x->dim[d] = g_rand_boolean (rand) ? 1 : draw (rand, 1, 7);
          attrs.sizes.v[d] = g_rand_boolean (rand) ? x->dim[d] : draw (rand, 1, 9);
        }
      ck_assert (cleave_try_instance (&instance, seed % 2 == 0 ? NULL : "v1"));
    }
}
END_TEST

/* Elsewhere the reference kernel runs. */
START_TEST (not_served)
{
  CleaveResizeAttrs attrs = { .sizes = CLEAVE_INTS (1, 6, 8) };
  CleaveTrySite instance = { .op = "Resize",
                             .attrs = &attrs,
                             .n_operands = 1,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT64, 1, 3, 8) } };

  ck_assert (!cleave_try_instance (&instance, NULL));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "all", reference_bits, reference_bits_of_the_lowest_level,
                   reference_bits_of_rank_1, reference_bits_without_channels, not_served, NULL);
}

CLEAVE_TEST_SUITE ("kernel-resize", add_tests)
