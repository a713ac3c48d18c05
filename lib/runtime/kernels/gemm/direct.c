/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes blocks of y in registers, with separate code for each number of pixels and of vectors in
 * a block. A block applies the epilogue to its sums before it stores them. `a` is the matrix of
 * weights. */

#include "direct.h"
#include "pairs.h"

#include "../in-place.h"

/* Limits on a block, the unit that one call computes. A block keeps the sums of `pixels` pixels
 * times `vectors` vectors of columns in registers; both numbers are compile-time constants. If the
 * columns do not fill whole vectors, the last vector overlaps the vector before it, and both
 * vectors compute equal results for the shared columns. */
#define MAX_VECTORS 4
#if CLEAVE_REGISTERS == 32
#define MAX_PIXELS 12
#else
#define MAX_PIXELS 9
#endif
#define N_POINTERS (MAX_PIXELS / CLEAVE_REACH)

typedef struct
{
  gint64 column[MAX_VECTORS]; /* indexed by vector: the column of y at which the vector begins */
  /* initial sums of one pixel, the biases or zeros; first[v * CLEAVE_VECTOR + i] belongs to lane i
   * of vector v */
  float first[MAX_VECTORS * CLEAVE_VECTOR];
} Columns;

typedef void (*Block) (
    const CleaveDirect *d, const Columns *columns, const float *x, float *y, gint64 n_blocks);

/* Loads a vector. `some` TRUE: loads only its first m lanes. */
static inline __attribute__ ((always_inline)) CleaveVector
load (const float *from, gint64 m, gboolean some)
{
  return some ? cleave_vector_load_some (from, (int) m) : cleave_vector_load (from);
}

static inline __attribute__ ((always_inline)) void
store (float *to, CleaveVector value, gint64 m, gboolean some)
{
  if (some)
    cleave_vector_store_some (to, value, (int) m);
  else
    cleave_vector_store (to, value);
}

/* Multiplies one row of `a` by the values of x and adds the products to the sums. Keeps the smaller
 * set in registers: the values of x for all pixels, or the vectors of `a`. */
static inline __attribute__ ((always_inline)) void
add_row (const float *const *from,
         gint64 step,
         const float *a,
         const gint64 *column,
         int pixels,
         int vectors,
         CleaveVector *sum)
{
  if (pixels < vectors)
    {
      CleaveFactor few[MAX_VECTORS];

      CLEAVE_EACH (p, pixels)
        few[p] = cleave_factor_load (&from[p / CLEAVE_REACH][p % CLEAVE_REACH * step]);
      CLEAVE_EACH (v, vectors)
        {
          CleaveVector by = cleave_vector_load (a + column[v]);

          CLEAVE_EACH (p, pixels)
            sum[p * vectors + v] = cleave_factor_fma (few[p], by, sum[p * vectors + v]);
        }
      return;
    }
  CleaveVector few[MAX_VECTORS];

  CLEAVE_EACH (v, vectors)
    few[v] = cleave_vector_load (a + column[v]);
  CLEAVE_EACH (p, pixels)
    {
      CleaveFactor value = cleave_factor_load (&from[p / CLEAVE_REACH][p % CLEAVE_REACH * step]);

      CLEAVE_EACH (v, vectors)
        sum[p * vectors + v] = cleave_factor_fma (value, few[v], sum[p * vectors + v]);
    }
}

#if defined(CLEAVE_FACTORS)
/* Multiplies CLEAVE_FACTORS rows of `a` by the values of x and adds the products to the sums. One
 * load of x serves all these rows. Returns the address of the row of `a` after these rows. */
static inline __attribute__ ((always_inline)) const float *
add_rows (const float *const *from,
          gint64 step,
          const float *a,
          gint64 lda,
          const gint64 *column,
          int pixels,
          int vectors,
          CleaveVector *sum)
{
  CleaveVector x[MAX_PIXELS];

  CLEAVE_EACH (p, pixels)
    x[p] =
        cleave_vector_keep (cleave_vector_load (&from[p / CLEAVE_REACH][p % CLEAVE_REACH * step]));
  CLEAVE_EACH (i, CLEAVE_FACTORS)
    {
      CLEAVE_EACH (v, vectors)
        {
          CleaveVector by = cleave_vector_load (a + column[v]);

          CLEAVE_EACH (p, pixels)
            sum[p * vectors + v] = cleave_in_place_fma_lane (x[p], i, by, sum[p * vectors + v]);
        }
      a += lda;
      CLEAVE_LOADS_END (a);
    }
  return a;
}
#endif

static inline __attribute__ ((always_inline)) void
add_taps (const CleaveDirect *d,
          const gint64 *column,
          const float *x,
          int pixels,
          int vectors,
          CleaveVector *sum)
{
  gint64 step = d->x_step, lda = d->lda, k = d->k;

  for (guint t = 0; t < d->n_taps; t++)
    {
      const float *from[N_POINTERS];
      const float *a = cleave_direct_tap (d, t, x, N_POINTERS, from);
      gint64 i = 0;

#if defined(CLEAVE_FACTORS)
      for (; i + CLEAVE_FACTORS <= k; i += CLEAVE_FACTORS)
        {
          a = add_rows (from, step, a, lda, column, pixels, vectors, sum);
          CLEAVE_EACH (p, N_POINTERS)
            from[p] += CLEAVE_FACTORS;
        }
#endif
#pragma GCC unroll 2
      for (; i < k; i++, a += lda)
        {
          add_row (from, step, a, column, pixels, vectors, sum);
          CLEAVE_EACH (p, N_POINTERS)
            from[p]++;
        }
    }
}

static inline __attribute__ ((always_inline)) void
run_blocks (const CleaveDirect *d,
            const Columns *columns,
            const float *x,
            float *y,
            gint64 n_blocks,
            int pixels,
            int vectors,
            gboolean some)
{
  const gint64 column[MAX_VECTORS] = { 0, columns->column[1], columns->column[2],
                                       columns->column[3] };
  gint64 y_step = d->y_step, m = d->m;

  for (; n_blocks > 0; n_blocks--, x += pixels * d->x_step, y += pixels * y_step)
    {
      CleaveVector sum[MAX_PIXELS * MAX_VECTORS];

      CLEAVE_EACH (p, pixels)
        CLEAVE_EACH (v, vectors)
          sum[p * vectors + v] = d->adds ? load (y + p * y_step + column[v], m, some)
                                         : cleave_vector_load (columns->first + v * CLEAVE_VECTOR);
      add_taps (d, column, x, pixels, vectors, sum);
      if (d->epilogue != NULL)
        {
          const CleaveEpilogueAt at = { .y = y,
                                        .step = y_step,
                                        .column = { 0, column[1], column[2], column[3] },
                                        .m = m,
                                        .some = some };

          cleave_epilogue_do (d->epilogue, &at, pixels, vectors, sum);
        }
      CLEAVE_EACH (p, pixels)
        CLEAVE_EACH (v, vectors)
          store (y + p * y_step + column[v], sum[p * vectors + v], m, some);
    }
}

/* clang-format off */
#define BLOCK(kind, vectors, some, pixels)                                                         \
  static void block_##kind##_##pixels (const CleaveDirect *d, const Columns *columns,              \
                                       const float *x, float *y, gint64 n_blocks)                  \
  {                                                                                                \
    run_blocks (d, columns, x, y, n_blocks, pixels, vectors, some);                                \
  }
#define BLOCKS_3(...) BLOCK (__VA_ARGS__, 1) BLOCK (__VA_ARGS__, 2) BLOCK (__VA_ARGS__, 3)
#define BLOCKS_4(...) BLOCKS_3 (__VA_ARGS__) BLOCK (__VA_ARGS__, 4)
#define BLOCKS_5(...) BLOCKS_4 (__VA_ARGS__) BLOCK (__VA_ARGS__, 5)
#define BLOCKS_6(...) BLOCKS_5 (__VA_ARGS__) BLOCK (__VA_ARGS__, 6)
#define BLOCKS_7(...) BLOCKS_6 (__VA_ARGS__) BLOCK (__VA_ARGS__, 7)
#define BLOCKS_9(...) BLOCKS_7 (__VA_ARGS__) BLOCK (__VA_ARGS__, 8) BLOCK (__VA_ARGS__, 9)
#define BLOCKS_10(...) BLOCKS_9 (__VA_ARGS__) BLOCK (__VA_ARGS__, 10)
#define BLOCKS_12(...) BLOCKS_10 (__VA_ARGS__) BLOCK (__VA_ARGS__, 11) BLOCK (__VA_ARGS__, 12)
#define LIST_3(kind) NULL, block_##kind##_1, block_##kind##_2, block_##kind##_3
#define LIST_4(kind) LIST_3 (kind), block_##kind##_4
#define LIST_5(kind) LIST_4 (kind), block_##kind##_5
#define LIST_6(kind) LIST_5 (kind), block_##kind##_6
#define LIST_7(kind) LIST_6 (kind), block_##kind##_7
#define LIST_9(kind) LIST_7 (kind), block_##kind##_8, block_##kind##_9
#define LIST_10(kind) LIST_9 (kind), block_##kind##_10
#define LIST_12(kind) LIST_10 (kind), block_##kind##_11, block_##kind##_12
#define SHAPE(pixels, kind) { pixels, { LIST_##pixels (kind) } }

typedef struct
{
  gint64 pixels;
  Block block[MAX_PIXELS + 1];
} Shape;

/* Defines blocks for each number of vectors. A block has as many pixels as fit into the 32 or 16
 * registers, which hold the sums, a row of `a` and one value of x. With CLEAVE_FACTORS, the
 * registers hold a vector of x for each pixel instead of one value. */
#if defined(CLEAVE_FACTORS)
BLOCKS_12 (some, 1, TRUE)
BLOCKS_12 (one, 1, FALSE)
BLOCKS_10 (two, 2, FALSE)
BLOCKS_7 (three, 3, FALSE)
BLOCKS_5 (four, 4, FALSE)

static const Shape shapes[] = {
  SHAPE (12, some), SHAPE (12, one), SHAPE (10, two), SHAPE (7, three), SHAPE (5, four),
};
#elif CLEAVE_REGISTERS == 32
BLOCKS_12 (some, 1, TRUE)
BLOCKS_12 (one, 1, FALSE)
BLOCKS_12 (two, 2, FALSE)
BLOCKS_9 (three, 3, FALSE)
BLOCKS_6 (four, 4, FALSE)

static const Shape shapes[] = {
  SHAPE (12, some), SHAPE (12, one), SHAPE (12, two), SHAPE (9, three), SHAPE (6, four),
};
#else
BLOCKS_9 (some, 1, TRUE)
BLOCKS_9 (one, 1, FALSE)
BLOCKS_6 (two, 2, FALSE)
BLOCKS_4 (three, 3, FALSE)
BLOCKS_3 (four, 4, FALSE)

static const Shape shapes[] = {
  SHAPE (9, some), SHAPE (9, one), SHAPE (6, two), SHAPE (4, three), SHAPE (3, four),
};
#endif
/* clang-format on */

static guint
set_columns (const CleaveDirect *d, Columns *columns)
{
  guint n = (guint) ((d->m + CLEAVE_VECTOR - 1) / CLEAVE_VECTOR);

  *columns = (Columns){ 0 };
  for (guint v = 0; v < n; v++)
    {
      gint64 at = n == 1 ? 0 : MIN (v * CLEAVE_VECTOR, d->m - CLEAVE_VECTOR);

      columns->column[v] = at;
      for (gint64 j = 0; d->bias != NULL && j < MIN (d->m, CLEAVE_VECTOR); j++)
        columns->first[v * CLEAVE_VECTOR + j] = d->bias[at + j];
    }
  return n;
}

/* Computes all pixels in blocks. If the last pixels do not fill a block, divides these pixels and
 * the last whole block into two halves. A short block would be slow, since each addition waits for
 * the addition before it. */
void
cleave_direct_run (const CleaveDirect *d)
{
  Columns columns;
  guint n_vectors = set_columns (d, &columns);
  guint shape = d->m < CLEAVE_VECTOR ? 0 : n_vectors;
  gint64 most = shapes[shape].pixels;
  gint64 paired = cleave_pairs_run (d), n_whole = (d->n - paired) / most;
  gint64 rest = (d->n - paired) % most;
  const float *x = d->x + paired * d->x_step;
  float *y = d->y + paired * d->y_step;

  if (n_whole > 0 && rest > 0 && 2 * rest < most)
    {
      n_whole--;
      rest += most;
    }
  shapes[shape].block[most](d, &columns, x, y, n_whole);
  for (gint64 done = n_whole * most, n; rest > 0; done += n, rest -= n)
    {
      n = rest > most ? (rest + 1) / 2 : rest;
      shapes[shape].block[n](d, &columns, x + done * d->x_step, y + done * d->y_step, 1);
    }
}

static CLEAVE_SPECIALISED void
do_epilogue (const CleaveEpilogue *epilogue, float *y, gint64 m, int vectors, gboolean some)
{
  const CleaveEpilogueAt at = { .y = y,
                                .column = { 0, CLEAVE_VECTOR, 2 * CLEAVE_VECTOR,
                                            3 * CLEAVE_VECTOR },
                                .m = m,
                                .some = some };
  CleaveVector sum[MAX_VECTORS];

  CLEAVE_EACH (v, vectors)
    sum[v] = load (y + v * CLEAVE_VECTOR, m, some);
  cleave_epilogue_do (epilogue, &at, 1, vectors, sum);
  CLEAVE_EACH (v, vectors)
    store (y + v * CLEAVE_VECTOR, sum[v], m, some);
}

void
cleave_direct_do_epilogue (
    const CleaveEpilogue *epilogue, float *y, gint64 y_step, gint64 n, gint64 m)
{
  for (gint64 i = 0; i < n; i++, y += y_step)
    {
      gint64 j = 0;

      for (; j + MAX_VECTORS * CLEAVE_VECTOR <= m; j += MAX_VECTORS * CLEAVE_VECTOR)
        do_epilogue (epilogue, y + j, 0, MAX_VECTORS, FALSE);
      for (; j + CLEAVE_VECTOR <= m; j += CLEAVE_VECTOR)
        do_epilogue (epilogue, y + j, 0, 1, FALSE);
      if (j < m)
        do_epilogue (epilogue, y + j, m - j, 1, TRUE);
    }
}
