/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel of InstanceNormalization, compared with the reference kernel. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (700)

/* Tries a random InstanceNormalization. Returns whether the fast kernel serves the node. The kernel
 * serves values whose channels or pixels are contiguous. */
static gboolean
try_norm (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveNormAttrs attrs = { .layout =
                                g_rand_boolean (rand) ? CLEAVE_LAYOUT_NCHW : CLEAVE_LAYOUT_NHWC,
                            .epsilon = 1e-3 };
  CleaveTrySite instance = { .op = "InstanceNormalization",
                             .attrs = &attrs,
                             .n_operands = 3,
                             .gap = draw (rand, 0, 4) == 0 ? 1 : 0,
                             .row_major = (guint) draw (rand, 0, 1),
                             .special = draw (rand, 1, 4) == 1,
                             .seed = seed };
  CleaveShape *x = &instance.operands[0].shape;
  gint64 channels;

  instance.y_row_major = instance.row_major != 0;
  instance.operands[0].element = CLEAVE_FLOAT32;
  x->rank = (guint) draw (rand, 3, 6); /* a value of rank 6 has more dimensions than there are
                                        * letters for dimensions: N, C, D, H, W */
  for (guint d = 0; d < x->rank; d++)
    x->dim[d] = draw (rand, 1, draw (rand, 1, 4) != 1 ? 3 : x->rank == 6 ? 7 : 35);
  channels = x->dim[cleave_layout_dims (attrs.layout, x->rank).c];
  for (guint i = 1; i < 3; i++)
    instance.operands[i] = CLEAVE_TYPE (CLEAVE_FLOAT32, channels);
  return cleave_try_instance (&instance, level);
}

static void
try_level (const char *level)
{
  guint n_served = 0;

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    n_served += try_norm (seed, level) ? 1 : 0;
  ck_assert_uint_gt (n_served, N_SEEDS / 2);
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "instance norm", every_level_has_the_bits_of_the_reference, NULL);
}

CLEAVE_TEST_SUITE ("kernel-instance-norm", add_tests)
