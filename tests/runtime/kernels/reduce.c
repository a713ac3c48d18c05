/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernels of reductions, compared with the reference kernels. A row is the elements that become
 * one element of the result. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (700)

static const char *const ops[] = { "ReduceSum",      "ReduceMean",      "ReduceMax",
                                   "ReduceMin",      "ReduceL1",        "ReduceL2",
                                   "ReduceProd",     "ReduceSumSquare", "ReduceLogSum",
                                   "ReduceLogSumExp" };

/* Tries a random reduction along any axes (no axes means all), in any memory order. Some rows are
 * longer than the kernel processes at once. */
static void
try_reduction (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint rank = (guint) draw (rand, 1, 5);
  CleaveReduceAttrs attrs = { .keepdims = g_rand_boolean (rand) };
  CleaveTrySite instance = { .op = ops[seed % G_N_ELEMENTS (ops)],
                             .attrs = &attrs,
                             .n_operands = 1,
                             .gap = draw (rand, 0, 2),
                             .row_major = (guint) draw (rand, 0, 1),
                             .special = draw (rand, 1, 4) == 1,
                             .seed = seed };

  instance.y_row_major = g_rand_boolean (rand);
  instance.operands[0].element = CLEAVE_FLOAT32;
  instance.operands[0].shape.rank = rank;
  for (guint d = 0; d < rank; d++)
    {
      instance.operands[0].shape.dim[d] = draw (rand, 1,
                                                rank <= 2                ? 90
                                                : draw (rand, 0, 2) == 0 ? 35
                                                                         : 6);
      if (g_rand_boolean (rand))
        attrs.axes.v[attrs.axes.n++] = d;
    }
  ck_assert (cleave_try_instance (&instance, level));
}

/* Tries reductions over two dimensions of a value whose elements are strided. The kernel first
 * copies the elements of several rows, or of a part of a row, to a dense buffer. */
static void
try_gathered (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveReduceAttrs attrs = { .axes = CLEAVE_INTS (1, 2) };
  CleaveTrySite instance = { .op = ops[seed % G_N_ELEMENTS (ops)],
                             .attrs = &attrs,
                             .n_operands = 1,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, draw (rand, 1, 3),
                                                        draw (rand, 2, 40), 1) },
                             .special = draw (rand, 1, 4) == 1,
                             .seed = seed };

  instance.operands[0].shape.dim[2] = draw (rand, 8, g_rand_boolean (rand) ? 2000 : 40000);
  ck_assert (cleave_try_instance (&instance, level));
}

/* Tries reductions of integers, except reductions with roots or logarithms. No fast kernel serves
 * sums of bytes. */
static void
try_integers (guint32 seed, const char *level)
{
  static const CleaveElement elements[] = { CLEAVE_INT32,  CLEAVE_INT64, CLEAVE_UINT32,
                                            CLEAVE_UINT64, CLEAVE_INT8,  CLEAVE_UINT8 };
  static const char *const of_bytes[] = { "ReduceMax", "ReduceMin" };
  static const char *const of_words[] = { "ReduceMax", "ReduceMin",  "ReduceSum",      "ReduceMean",
                                          "ReduceL1",  "ReduceProd", "ReduceSumSquare" };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveElement element = elements[seed % G_N_ELEMENTS (elements)];
  gboolean bytes = cleave_element_size (element) == 1;
  guint rank = (guint) draw (rand, 1, 4);
  CleaveReduceAttrs attrs = { .keepdims = g_rand_boolean (rand) };
  CleaveTrySite instance = { .op =
                                 bytes ? of_bytes[draw (rand, 0, 1)] : of_words[draw (rand, 0, 6)],
                             .attrs = &attrs,
                             .n_operands = 1,
                             .gap = draw (rand, 0, 2),
                             .row_major = (guint) draw (rand, 0, 1),
                             .seed = seed };

  instance.operands[0].element = element;
  instance.operands[0].shape.rank = rank;
  for (guint d = 0; d < rank; d++)
    {
      instance.operands[0].shape.dim[d] = draw (rand, 1, rank <= 2 ? 300 : 12);
      if (g_rand_boolean (rand))
        attrs.axes.v[attrs.axes.n++] = d;
    }
  ck_assert (cleave_try_instance (&instance, level));
}

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_integers (seed, level);
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_reduction (seed, level);
  for (guint32 seed = 0; seed < KERNEL_TRIALS (40); seed++)
    try_gathered (seed, level);
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

/* The fast kernel does not serve a reduction of an empty value or of float64, or a ReduceL2 of
 * integers. The reference kernel runs instead. */
START_TEST (not_served)
{
  CleaveReduceAttrs attrs = { .axes = CLEAVE_INTS (1) };
  CleaveTrySite instance = { .op = "ReduceSum",
                             .attrs = &attrs,
                             .n_operands = 1,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 3, 0) } };

  ck_assert (!cleave_try_instance (&instance, NULL));
  instance.operands[0] = CLEAVE_TYPE (CLEAVE_FLOAT64, 3, 2);
  ck_assert (!cleave_try_instance (&instance, NULL));
  instance.operands[0] = CLEAVE_TYPE (CLEAVE_FLOAT32, 3, 2);
  ck_assert (cleave_try_instance (&instance, NULL));
  instance.op = "ReduceL2";
  instance.operands[0] = CLEAVE_TYPE (CLEAVE_INT32, 3, 2);
  ck_assert (!cleave_try_instance (&instance, NULL));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "reduce", every_level_has_the_bits_of_the_reference, not_served, NULL);
}

CLEAVE_TEST_SUITE ("kernel-reduce", add_tests)
