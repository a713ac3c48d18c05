/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel of BatchNormalization, compared with the reference kernel. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (700)

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveNormAttrs attrs = { .layout =
                                    g_rand_boolean (rand) ? CLEAVE_LAYOUT_NCHW : CLEAVE_LAYOUT_NHWC,
                                .epsilon = 1e-3 };
      CleaveTrySite instance = { .op = "BatchNormalization",
                                 .attrs = &attrs,
                                 .n_operands = 5,
                                 .seed = seed,
                                 .constants = g_rand_boolean (rand) ? 30 : 0,
                                 .sliced = g_rand_boolean (rand) ? 30 : 0,
                                 .row_major = g_rand_int (rand),
                                 .y_row_major = g_rand_boolean (rand),
                                 .gap = draw (rand, 0, 2),
                                 .special = g_rand_boolean (rand) };
      CleaveShape *x = &instance.operands[0].shape;
      gint64 channels;

      instance.operands[0].element = CLEAVE_FLOAT32;
      x->rank = (guint) draw (rand, 2, 5);
      for (guint d = 0; d < x->rank; d++)
        x->dim[d] = draw (rand, 1, draw (rand, 1, 3) == 1 ? 35 : 4);
      if (x->rank < 5 &&
          draw (rand, 1, 4) == 1) /* many channels, which fill several vectors and a part of one */
        x->dim[cleave_layout_dims (attrs.layout, x->rank).c] = draw (rand, 30, 300);
      channels = x->dim[cleave_layout_dims (attrs.layout, x->rank).c];
      for (guint i = 1; i < 5; i++)
        instance.operands[i] = CLEAVE_TYPE (CLEAVE_FLOAT32, channels);
      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "batch norm", every_level_has_the_bits_of_the_reference, NULL);
}

CLEAVE_TEST_SUITE ("kernel-batch-norm", add_tests)
