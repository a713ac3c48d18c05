/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel of DFT, compared with the reference kernel. A line is the samples along the axis. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (120)

/* Tries a random DFT along any axis, on real or complex samples, in both directions. Some lines are
 * shorter than the transform, others are longer. The kernel processes several lines at once; some
 * operands have fewer lines, others have more. */
static void
try_lines (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  gint64 parts = draw (rand, 1, 2);
  guint rank = (guint) draw (rand, 2, 4);
  CleaveDftAttrs attrs = { .axis = draw (rand, 0, (gint32) rank - 2),
                           .dft_length = draw (rand, 1, 80),
                           .inverse = g_rand_boolean (rand),
                           .onesided = parts == 1 && g_rand_boolean (rand) };
  CleaveTrySite instance = { .op = "DFT",
                             .attrs = &attrs,
                             .n_operands = 1,
                             .operands = { { .element = CLEAVE_FLOAT32 } },
                             .gap = draw (rand, 0, 2),
                             .special = draw (rand, 1, 3) == 1,
                             .seed = seed };
  CleaveShape *shape = &instance.operands[0].shape;

  while (shape->rank + 1 < rank)
    shape->dim[shape->rank++] = draw (rand, 1, 5);
  shape->dim[attrs.axis] = draw (rand, 1, 80);
  shape->dim[shape->rank++] = parts;
  instance.row_major = (guint) draw (rand, 0, 1);
  instance.y_row_major = g_rand_boolean (rand);
  ck_assert (cleave_try_instance (&instance, level));
}

static void
try_frames (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  gint64 length = draw (rand, 1, 70);
  CleaveStftAttrs attrs = { .frame_step = draw (rand, 1, 20),
                            .frame_length = length,
                            .onesided = g_rand_boolean (rand) };
  CleaveTrySite instance = { .op = "STFT",
                             .attrs = &attrs,
                             .n_operands = (guint) draw (rand, 1, 2),
                             .gap = draw (rand, 0, 2),
                             .special = draw (rand, 1, 3) == 1,
                             .seed = seed };

  instance.operands[0] = CLEAVE_TYPE (CLEAVE_FLOAT32, draw (rand, 1, 3),
                                      length + draw (rand, 0, 100), draw (rand, 1, 2));
  instance.operands[1] = CLEAVE_TYPE (CLEAVE_FLOAT32, length);
  if (instance.operands[0].shape.dim[2] == 2)
    attrs.onesided = FALSE;
  instance.row_major = (guint) draw (rand, 0, 3);
  instance.y_row_major = g_rand_boolean (rand);
  ck_assert (cleave_try_instance (&instance, level));
}

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      try_lines (seed, level);
      try_frames (seed, level);
    }
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

/* Returns whether the kernel serves a DFT of `n` samples. The operand has 0 lines, since the
 * reference kernel takes 25 seconds for one line of 70,000 samples. */
static gboolean
serves_samples (gint64 n)
{
  const CleaveDftAttrs attrs = { .axis = 1, .dft_length = n };
  const CleaveTrySite instance = { .op = "DFT",
                                   .attrs = &attrs,
                                   .n_operands = 1,
                                   .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 0, n, 1) } };

  return cleave_try_instance (&instance, NULL);
}

/* The fast kernel does not serve a DFT of float16, or of more than 65,536 samples. The reference
 * kernel runs instead. */
START_TEST (not_served)
{
  const CleaveDftAttrs halves = { .dft_length = 4 };
  const CleaveTrySite instance = { .op = "DFT",
                                   .attrs = &halves,
                                   .n_operands = 1,
                                   .operands = { CLEAVE_TYPE (CLEAVE_FLOAT16, 4, 1) } };

  ck_assert (serves_samples (8));
  ck_assert (!serves_samples ((1 << 16) + 1));
  ck_assert (!cleave_try_instance (&instance, NULL));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "dft", every_level_has_the_bits_of_the_reference, not_served, NULL);
}

CLEAVE_TEST_SUITE ("kernel-dft", add_tests)
