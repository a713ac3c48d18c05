/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Shared by the tests of fast kernels. */

#include "site.h"
#include "test.h"

/* Returns a number from `least` to `most`, both included. */
static inline gint64
draw (GRand *rand, gint32 least, gint32 most)
{
  return g_rand_int_range (rand, least, most + 1);
}

static inline CleaveInts
draw_each (GRand *rand, guint n, gint32 least, gint32 most)
{
  CleaveInts ints = { .n = n };

  for (guint i = 0; i < n; i++)
    ints.v[i] = draw (rand, least, most);
  return ints;
}

/* Tries every level that runs on this machine. */
static inline void
each_level (void (*try_level) (const char *level))
{
  static const char *const levels[] = { "v1", "v3", "v4" };

  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    if (cleave_kernel_level_runs (levels[i]))
      try_level (levels[i]);
}

/* Tries every processor level that has a GEMM, and so kernels for 16-bit floats. There is none
 * without LIBXSMM or without AVX2. */
static inline void
each_brgemm_level (void (*try_level) (const char *level))
{
  static const char *const levels[] = { "v3", "v4" };
  CleaveTrySite instance = { .op = "MatMul",
                             .n_operands = 2,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT16, 2, 8),
                                           CLEAVE_TYPE (CLEAVE_FLOAT16, 8, 8) } };

  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    if (cleave_level_has_kernel (&instance, levels[i]))
      try_level (levels[i]);
}
