/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel of ScatterElements, compared with the reference kernel. A line is the elements along
 * the axis. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (400)

/* Tries a random ScatterElements along any axis, with several updates of one element. In half of
 * the trials, all indices along the last dimension are equal. */
static void
try_scatter (guint32 seed, const char *level)
{
  static const CleaveElement elements[] = { CLEAVE_INT32, CLEAVE_INT64 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveScatterAttrs attrs = { .reduction = (CleaveScatterReduction) draw (rand, CLEAVE_SCATTER_ADD,
                                                                           CLEAVE_SCATTER_MIN) };
  CleaveTrySite instance = { .op = "ScatterElements",
                             .attrs = &attrs,
                             .n_operands = 3,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 1) },
                             .gap = draw (rand, 0, 2),
                             .row_major = (guint) draw (rand, 0, 7),
                             .special = draw (rand, 1, 3) == 1,
                             .broadcast = g_rand_boolean (rand) ? 1u << 1 : 0,
                             .seed = seed };
  CleaveShape *y = &instance.operands[0].shape, updates;

  instance.y_row_major = g_rand_boolean (rand);
  y->rank = (guint) draw (rand, 1, 4);
  attrs.axis = draw (rand, 0, (gint32) y->rank - 1);
  for (guint d = 0; d < y->rank; d++)
    y->dim[d] = draw (rand, 1, d + 1 == y->rank ? 40 : 4);
  if (draw (rand, 1, 3) == 1)
    y->dim[attrs.axis] =
        1; /* the axis has extent 1, so all updates along the axis change the same element */
  updates = *y;
  for (guint d = 0; d < y->rank; d++)
    updates.dim[d] = draw (rand, 1, d == attrs.axis ? 30 : (gint32) y->dim[d]);
  instance.operands[1] = (CleaveTensorType){ elements[draw (rand, 0, 1)], updates };
  instance.operands[2] = (CleaveTensorType){ CLEAVE_FLOAT32, updates };
  ck_assert (cleave_try_instance (&instance, level));
}

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_scatter (seed, level);
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

/* The fast kernel does not serve a ScatterElements of float64, or without a reduction. The
 * reference kernel runs instead. */
START_TEST (not_served)
{
  CleaveScatterAttrs attrs = { .reduction = CLEAVE_SCATTER_ADD };
  CleaveTrySite instance = { .op = "ScatterElements",
                             .attrs = &attrs,
                             .n_operands = 3,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT64, 3),
                                           CLEAVE_TYPE (CLEAVE_INT64, 2),
                                           CLEAVE_TYPE (CLEAVE_FLOAT64, 2) } };

  ck_assert (!cleave_try_instance (&instance, NULL));
  instance.operands[0].element = instance.operands[2].element = CLEAVE_FLOAT32;
  ck_assert (cleave_try_instance (&instance, NULL));
  attrs.reduction = CLEAVE_SCATTER_NONE;
  ck_assert (!cleave_try_instance (&instance, NULL));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "scatter", every_level_has_the_bits_of_the_reference, not_served, NULL);
}

CLEAVE_TEST_SUITE ("kernel-scatter", add_tests)
