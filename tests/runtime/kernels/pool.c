/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernels of poolings, compared with the reference kernels. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (1500)

typedef struct
{
  CleaveTrySite instance;
  CleavePoolAttrs attrs;
} Pool;

/* Draws a small pooling of any kind, in 1, 2 or 3 dimensions. */
static void
draw_pool (Pool *pool, guint32 seed)
{
  static const char *const ops[] = { "MaxPool", "AveragePool" };
  static const CleaveElement elements[] = { CLEAVE_FLOAT32,  CLEAVE_FLOAT32, CLEAVE_FLOAT16,
                                            CLEAVE_BFLOAT16, CLEAVE_INT8,    CLEAVE_UINT8 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint n = seed % 8 == 0 ? 1 : seed % 4 == 1 ? 3 : 2;
  CleavePoolAttrs *a = &pool->attrs;
  CleaveTensorType *x = &pool->instance.operands[0];

  *pool = (Pool){ .instance = {
                      .op = ops[draw (rand, 0, 1)], .n_operands = 1, .seed = seed, .attrs = a } };
  *x = (CleaveTensorType){
    elements[draw (rand, 0, pool->instance.op == ops[0] ? 5 : 3)],
    { n + 2, { draw (rand, 1, 2), draw (rand, 1, draw (rand, 1, 8) == 1 ? 99 : 35) } }
  };
  a->kernel_shape.n = a->strides.n = a->dilations.n = n;
  a->pads.n = 2 * n;
  for (guint i = 0; i < n; i++)
    {
      a->kernel_shape.v[i] = draw (rand, 1, 4);
      a->strides.v[i] = draw (rand, 1, 3);
      a->dilations.v[i] = draw (rand, 1, 2);
      a->pads.v[i] = draw (rand, 0, 4);
      a->pads.v[n + i] = draw (rand, 0, 4);
      x->shape.dim[2 + i] =
          (a->kernel_shape.v[i] - 1) * a->dilations.v[i] + draw (rand, 1, n == 3 ? 8 : 16);
    }
  a->ceil_mode = g_rand_boolean (rand);
  a->count_include_pad = g_rand_boolean (rand);
  pool->instance.gap = draw (rand, 0, 2);
  pool->instance.special = g_rand_boolean (rand);
  if (x->element != CLEAVE_FLOAT32)
    {
      pool->instance.row_major = draw (rand, 1, 6) == 1 ? 1 : 0;
      pool->instance.y_row_major = draw (rand, 1, 6) == 1;
    }
}

static void
try_windows (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      Pool pool;

      draw_pool (&pool, seed);
      ck_assert (cleave_try_instance (&pool.instance, level));
    }
}

/* Tries large windows that overlap, so that the kernel shares the maxima of rows between windows.
 */
static void
try_shared_rows (const char *level)
{
  static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_INT8, CLEAVE_UINT8,
                                            CLEAVE_FLOAT16 };

  for (guint32 seed = 0; seed < N_SEEDS / 3; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      gint64 kernel = draw (rand, 3, 9), stride = draw (rand, 1, 2);
      CleavePoolAttrs attrs = { .kernel_shape = CLEAVE_INTS (kernel, draw (rand, 2, 7)),
                                .strides = CLEAVE_INTS (stride, draw (rand, 1, 2)),
                                .dilations = CLEAVE_INTS (1, draw (rand, 1, 2)),
                                .pads = draw_each (rand, 4, 0, 5),
                                .ceil_mode = g_rand_boolean (rand) };
      CleaveTrySite instance = { .op = "MaxPool",
                                 .attrs = &attrs,
                                 .n_operands = 1,
                                 .gap = draw (rand, 0, 2),
                                 .y_gap = draw (rand, 0, 1),
                                 .special = g_rand_boolean (rand),
                                 .seed = seed };

      instance.operands[0] = CLEAVE_TYPE (elements[seed % 4], draw (rand, 1, 2), draw (rand, 1, 70),
                                          draw (rand, (gint32) kernel, 20), draw (rand, 14, 24));
      ck_assert (cleave_try_instance (&instance, level));
    }
}

static void
try_global (const char *level)
{
  static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT16, CLEAVE_BFLOAT16 };

  for (gint64 channels = 1; channels <= 35; channels++)
    for (gint64 width = 1; width <= 9; width++)
      {
        CleaveElement element = elements[(channels + width) % 3];
        CleaveTrySite instance = { .op = channels % 2 == 0 ? "GlobalMaxPool" : "GlobalAveragePool",
                                   .n_operands = 1,
                                   .operands = { CLEAVE_TYPE (element, 2, channels,
                                                              1 + channels % 4, width) },
                                   .gap = width % 3,
                                   .special = width % 2 == 0 };

        ck_assert (cleave_try_instance (&instance, level));
        instance.op = channels % 2 == 1 ? "GlobalMaxPool" : "GlobalAveragePool";
        ck_assert (cleave_try_instance (&instance, level));
        instance.operands[0] = CLEAVE_TYPE (element, 2, channels, 1 + channels % 3, width, 3);
        ck_assert (cleave_try_instance (&instance, level));
      }
}

START_TEST (every_level_has_the_bits_of_the_reference)
{
  each_level (try_windows);
  each_level (try_shared_rows);
  each_level (try_global);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "pool", every_level_has_the_bits_of_the_reference, NULL);
}

CLEAVE_TEST_SUITE ("kernel-pool", add_tests)
