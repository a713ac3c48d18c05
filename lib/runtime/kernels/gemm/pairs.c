/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes the pixels of y in pairs (pairs.h) and the pairs in blocks of up to MAX_PAIRS, whose
 * sums stay in registers. `a` is the matrix of weights. At a level of the processor without vectors
 * of 16 lanes, the function computes nothing. */

#include "pairs.h"
#include "../vector-moves.h"

/* Number of vectors for two adjacent pixels, and number of columns of a pixel. The first vector
 * holds columns of pixel 0. The second vector holds the remaining columns of pixel 0 and the first
 * half-vector of pixel 1. The third vector holds the remaining columns of pixel 1. */
#define VECTORS 3
#define COLUMNS (VECTORS * CLEAVE_HALF)
#define MAX_PAIRS 8
#define N_POINTERS ((2 * MAX_PAIRS + CLEAVE_REACH - 1) / CLEAVE_REACH)

#if CLEAVE_VECTOR == 16

/* Loads one value for each column of both pixels: the values of pixel 0 from address `from`, the
 * values of pixel 1 from address `next`. */
static inline __attribute__ ((always_inline)) void
load_pair (const float *from, const float *next, CleaveVector *v)
{
  v[0] = cleave_vector_load (from);
  v[1] = cleave_vector_load_halves (from + CLEAVE_VECTOR, next);
  v[2] = cleave_vector_load (next + CLEAVE_HALF);
}

static inline __attribute__ ((always_inline)) void
store_pair (float *to, float *next, const CleaveVector *v)
{
  cleave_vector_store (to, v[0]);
  cleave_vector_store_halves (to + CLEAVE_VECTOR, next, v[1]);
  cleave_vector_store (next + CLEAVE_HALF, v[2]);
}

static inline __attribute__ ((always_inline)) void
add_taps (const CleaveDirect *d, const float *x, int pairs, CleaveVector *sum)
{
  gint64 step = d->x_step, lda = d->lda, k = d->k;

  for (guint t = 0; t < d->n_taps; t++)
    {
      const float *from[N_POINTERS];
      const float *a = cleave_direct_tap (d, t, x, N_POINTERS, from);

#pragma GCC unroll 1
      for (gint64 i = 0; i < k; i++, a += lda)
        {
          CleaveVector by[VECTORS];

          load_pair (a, a, by);
          CLEAVE_EACH (p, pairs)
            {
              CleaveVector one = cleave_vector_keep (
                  cleave_vector_all (from[2 * p / CLEAVE_REACH][2 * p % CLEAVE_REACH * step]));
              CleaveVector other = cleave_vector_keep (cleave_vector_all (
                  from[(2 * p + 1) / CLEAVE_REACH][(2 * p + 1) % CLEAVE_REACH * step]));

              sum[p * VECTORS] = cleave_vector_fma (one, by[0], sum[p * VECTORS]);
              sum[p * VECTORS + 1] = cleave_vector_fma (cleave_vector_join_halves (one, other),
                                                        by[1], sum[p * VECTORS + 1]);
              sum[p * VECTORS + 2] = cleave_vector_fma (other, by[2], sum[p * VECTORS + 2]);
            }
          CLEAVE_EACH (p, N_POINTERS)
            from[p]++;
        }
    }
}

static inline __attribute__ ((always_inline)) void
run_block (const CleaveDirect *d, const CleaveVector *first, const float *x, float *y, int pairs)
{
  gint64 y_step = d->y_step;
  CleaveVector sum[MAX_PAIRS * VECTORS];

  CLEAVE_EACH (p, pairs)
    if (d->adds)
      load_pair (y + 2 * p * y_step, y + (2 * p + 1) * y_step, sum + p * VECTORS);
    else
      CLEAVE_EACH (v, VECTORS)
        sum[p * VECTORS + v] = first[v];
  add_taps (d, x, pairs, sum);
  if (d->epilogue != NULL)
    {
      const CleaveEpilogueAt at = { .y = y,
                                    .step = 2 * y_step,
                                    .column = { 0, CLEAVE_VECTOR, 2 * CLEAVE_VECTOR },
                                    .paired = TRUE };

      cleave_epilogue_do (d->epilogue, &at, pairs, VECTORS, sum);
    }
  CLEAVE_EACH (p, pairs)
    store_pair (y + 2 * p * y_step, y + (2 * p + 1) * y_step, sum + p * VECTORS);
}

/* clang-format off */
#define BLOCK(pairs)                                                                               \
  static void block_##pairs (const CleaveDirect *d, const CleaveVector *first, const float *x,     \
                             float *y)                                                             \
  {                                                                                                \
    run_block (d, first, x, y, pairs);                                                             \
  }
BLOCK (1) BLOCK (2) BLOCK (3) BLOCK (4) BLOCK (5) BLOCK (6) BLOCK (7) BLOCK (8)

typedef void (*Block) (
    const CleaveDirect *d, const CleaveVector *first, const float *x, float *y);

static const Block blocks[] = {
  NULL, block_1, block_2, block_3, block_4, block_5, block_6, block_7, block_8,
};
/* clang-format on */

/* Returns whether the product can be computed in pairs of pixels. A pixel must have COLUMNS
 * columns. With an epilogue, the two pixels of a pair must be contiguous in y. */
static gboolean
can_serve (const CleaveDirect *d)
{
  return d->m == COLUMNS && (d->epilogue == NULL || d->y_step == COLUMNS);
}

gint64
cleave_pairs_run (const CleaveDirect *d)
{
  gint64 n_pairs = can_serve (d) ? d->n / 2 : 0;
  gint64 n_blocks = (n_pairs + MAX_PAIRS - 1) / MAX_PAIRS, done = 0;
  CleaveVector first[VECTORS] = { { 0 } };

  if (n_blocks > 0 && d->bias != NULL)
    load_pair (d->bias, d->bias, first);
  for (; n_blocks > 0; n_blocks--)
    {
      gint64 n = (n_pairs - done + n_blocks - 1) / n_blocks;

      blocks[n](d, first, d->x + 2 * done * d->x_step, d->y + 2 * done * d->y_step);
      done += n;
    }
  return 2 * done;
}

#else

gint64
cleave_pairs_run (const CleaveDirect *d)
{
  return 0;
}

#endif
