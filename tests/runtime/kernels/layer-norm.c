/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel of LayerNormalization, compared with the reference kernel. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (500)

/* Tries a random LayerNormalization along any axis, with one to three results, with or without B.
 * Scale and B may be broadcast. */
static void
try_norm (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint rank = (guint) draw (rand, 1, 4);
  CleaveLayerNormAttrs attrs = { .axis = draw (rand, 0, (gint32) rank - 1), .epsilon = 1e-5 };
  CleaveTrySite instance = { .op = "LayerNormalization",
                             .attrs = &attrs,
                             .n_operands = (guint) draw (rand, 2, 3),
                             .n_results = (guint) draw (rand, 1, 3),
                             .gap = draw (rand, 0, 2),
                             .y_gap = draw (rand, 0, 2),
                             .row_major = (guint) draw (rand, 0, 7),
                             .special = draw (rand, 1, 4) == 1,
                             .seed = seed };
  CleaveTensorType *x = &instance.operands[0];

  instance.y_row_major = g_rand_boolean (rand);
  *x = (CleaveTensorType){ CLEAVE_FLOAT32, { .rank = rank } };
  for (guint d = 0; d < rank; d++)
    x->shape.dim[d] = draw (rand, 1, d + 1 == rank ? 70 : 9);
  for (guint i = 1; i < instance.n_operands; i++)
    {
      CleaveShape *shape = &instance.operands[i].shape;

      instance.operands[i].element = CLEAVE_FLOAT32;
      for (guint d = (guint) attrs.axis; d < rank; d++)
        shape->dim[shape->rank++] = draw (rand, 0, 4) == 0 ? 1 : x->shape.dim[d];
    }
  ck_assert (cleave_try_instance (&instance, level));
}

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_norm (seed, level);
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

/* The fast kernel does not serve a LayerNormalization of float64. The reference kernel runs
 * instead. */
START_TEST (not_served)
{
  CleaveLayerNormAttrs attrs = { .axis = 1, .epsilon = 1e-5 };
  CleaveTrySite instance = { .op = "LayerNormalization",
                             .attrs = &attrs,
                             .n_operands = 2,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT64, 3, 8),
                                           CLEAVE_TYPE (CLEAVE_FLOAT64, 8) } };

  ck_assert (!cleave_try_instance (&instance, NULL));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "layer-norm", every_level_has_the_bits_of_the_reference, not_served,
                   NULL);
}

CLEAVE_TEST_SUITE ("kernel-layer-norm", add_tests)
