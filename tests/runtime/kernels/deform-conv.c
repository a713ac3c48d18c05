/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel of DeformConv, compared with the reference kernel. A panel is the columns that the
 * kernel computes at once. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (300)

/* Tries a random DeformConv with groups and offset groups. In some trials, channels are innermost
 * in memory. The number of channels is near the width of a panel. */
static void
try_deform (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveDeformConvAttrs attrs = { .group = draw (rand, 1, 3), .offset_group = draw (rand, 1, 3) };
  guint n = (guint) draw (rand, 1, 3);
  CleaveTrySite instance = { .op = "DeformConv",
                             .attrs = &attrs,
                             .n_operands = 5,
                             .gap = draw (rand, 0, 2),
                             .row_major = 28 | (guint) draw (rand, 0, 3),
                             .special = draw (rand, 1, 3) == 1,
                             .seed = seed };
  CleaveShape x = { n + 2, { draw (rand, 1, 2) } }, w = { .rank = n + 2 }, places = x;
  gint64 n_taps = 1, m = draw (rand, 4, g_rand_boolean (rand) ? 8 : 40);

  x.dim[1] = 6 * draw (rand, 1, 3);
  w.dim[0] = attrs.group * m;
  w.dim[1] = x.dim[1] / attrs.group;
  attrs.strides.n = n;
  attrs.pads.n = 2 * n;
  for (guint i = 0; i < n; i++)
    {
      w.dim[2 + i] = draw (rand, 1, n == 3 ? 2 : 3);
      x.dim[2 + i] = draw (rand, 3, 6);
      attrs.strides.v[i] = draw (rand, 1, 2);
      attrs.pads.v[i] = draw (rand, 0, 2);
      attrs.pads.v[n + i] = draw (rand, 0, 2);
      n_taps *= w.dim[2 + i];
      places.dim[2 + i] = (x.dim[2 + i] + attrs.pads.v[i] + attrs.pads.v[n + i] - w.dim[2 + i]) /
                              attrs.strides.v[i] +
                          1;
    }
  instance.y_row_major = g_rand_boolean (rand);
  instance.operands[0] = (CleaveTensorType){ CLEAVE_FLOAT32, x };
  instance.operands[1] = (CleaveTensorType){ CLEAVE_FLOAT32, w };
  places.dim[1] = attrs.offset_group * n_taps * n;
  instance.operands[2] = (CleaveTensorType){ CLEAVE_FLOAT32, places };
  if (g_rand_boolean (rand))
    instance.operands[3] = CLEAVE_TYPE (CLEAVE_FLOAT32, w.dim[0]);
  places.dim[1] = attrs.offset_group * n_taps;
  if (g_rand_boolean (rand))
    instance.operands[4] = (CleaveTensorType){ CLEAVE_FLOAT32, places };
  ck_assert (cleave_try_instance (&instance, level));
}

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_deform (seed, level);
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

/* The fast kernel does not serve a DeformConv of float64, or with few result channels. The
 * reference kernel runs instead. */
START_TEST (not_served)
{
  const CleaveDeformConvAttrs attrs = { .group = 1, .offset_group = 1 };
  CleaveTrySite instance = { .op = "DeformConv",
                             .attrs = &attrs,
                             .n_operands = 3,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT64, 1, 2, 3, 4),
                                           CLEAVE_TYPE (CLEAVE_FLOAT64, 8, 2, 1, 1),
                                           CLEAVE_TYPE (CLEAVE_FLOAT64, 1, 2, 3, 4) } };

  ck_assert (!cleave_try_instance (&instance, NULL));
  for (guint i = 0; i < 3; i++)
    instance.operands[i].element = CLEAVE_FLOAT32;
  ck_assert (cleave_try_instance (&instance, NULL));
  instance.operands[1].shape.dim[0] = 3;
  ck_assert (!cleave_try_instance (&instance, NULL));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "deform-conv", every_level_has_the_bits_of_the_reference, not_served,
                   NULL);
}

CLEAVE_TEST_SUITE ("kernel-deform-conv", add_tests)
