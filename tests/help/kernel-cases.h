/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Functions for the suites in tests/runtime/kernels, which compare fast kernels with reference
 * kernels. A suite draws the sizes of a random node with draw(), and each_level() runs the fast
 * kernel of each level of this machine. */

#include "../../lib/runtime/kernel-levels.h"

#include "site.h"
#include "test.h"

/* Number of trials of a random test of kernels. With a sanitizer or in an emulator, a trial takes
 * 10 to 30 times longer. Then the number is a quarter of CLEAVE_TRIALS (n), rounded up; otherwise
 * it is n. */
#define KERNEL_TRIALS(n) (CLEAVE_SANITIZED || CLEAVE_EMULATED ? (CLEAVE_TRIALS (n) + 3) / 4 : (n))

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

/* Returns the n-th level to test. If the environment variable CLEAVE_LEVEL is set, the variable
 * names the only level. If not, the levels are all levels that run on this machine. Returns NULL
 * after the last level. */
static inline const char *
nth_level (guint n)
{
  const char *only = g_getenv ("CLEAVE_LEVEL");

  if (only == NULL)
    return cleave_kernel_nth_level (n);
  return n == 0 ? only : NULL;
}

/* Calls `try_level` for every level to test. */
static inline void
each_level (void (*try_level) (const char *level))
{
  for (guint i = 0; nth_level (i) != NULL; i++)
    try_level (nth_level (i));
}

/* Calls `try_level` for every level to test that has a GEMM, and thus kernels for 16-bit floats:
 * all levels except v1. */
static inline void
each_brgemm_level (void (*try_level) (const char *level))
{
  CleaveTrySite instance = { .op = "MatMul",
                             .n_operands = 2,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT16, 2, 8),
                                           CLEAVE_TYPE (CLEAVE_FLOAT16, 8, 8) } };

  for (guint i = 0; nth_level (i) != NULL; i++)
    if (cleave_level_has_kernel (&instance, nth_level (i)))
      try_level (nth_level (i));
}
