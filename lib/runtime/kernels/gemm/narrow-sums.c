/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes the pixels of a job in blocks, with separate code for each number of columns and of
 * vectors, and transposes rows of x. A column is a channel of y. A job is a set of pixels of one
 * row of y, and a set of columns that are computed for these pixels. */

#include "narrow-sums.h"
#include "../level.h"
#include "../vector-moves.h"

#include <string.h>

/* Limits on a block, the unit that one call computes. A block keeps in registers the sums of
 * `vectors` vectors of pixels for each of `columns` columns; both numbers are compile-time
 * constants. */
#define MAX_VECTORS 8
#define MAX_SUMS 12

typedef void (*Block) (const CleaveNarrowWork *work,
                       const CleaveNarrowJob *job,
                       gint64 pixel,
                       CleaveVector *sums);

/* Returns a mask of the lanes whose pixels are in [begin, end). Lane i stands for pixel `pixel` +
 * i. */
static inline CleaveMask
mask_of (gint64 pixel, gint64 begin, gint64 end)
{
  const CleaveMask index = cleave_vector_indices ();
  int first = (int) CLAMP (begin - pixel, 0, CLEAVE_VECTOR);
  int last = (int) CLAMP (end - pixel, 0, CLEAVE_VECTOR);

  return (index >= first) & (index < last);
}

/* Multiplies the channels of x that one tap reads by their weights, and adds the products to the
 * sums. Keeps the smaller set in registers: the values of x, or the weights. */
static CLEAVE_SPECIALISED void
add_channels (const CleaveNarrowWork *work,
              const float *x,
              const float *const *from,
              int vectors,
              int columns,
              CleaveVector *sum)
{
  gint64 x_line = work->x_line, lda = work->lda, k = work->k;
  const float *a[CLEAVE_NARROW_COLUMNS];
  CleaveVector few[CLEAVE_NARROW_COLUMNS];

  CLEAVE_EACH (j, columns)
    a[j] = from[j];
  for (gint64 i = 0; i < k; i++, x += x_line)
    {
      if (columns <= vectors)
        {
          CLEAVE_EACH (j, columns)
            few[j] = cleave_vector_all (a[j][i * lda]);
          CLEAVE_EACH (v, vectors)
            CLEAVE_EACH (j, columns)
              sum[j * vectors + v] = cleave_vector_fma (cleave_vector_load (x + v * CLEAVE_VECTOR),
                                                        few[j], sum[j * vectors + v]);
          continue;
        }
      CLEAVE_EACH (v, vectors)
        few[v] = cleave_vector_load (x + v * CLEAVE_VECTOR);
      CLEAVE_EACH (j, columns)
        CLEAVE_EACH (v, vectors)
          sum[j * vectors + v] =
              cleave_vector_fma (few[v], cleave_vector_all (a[j][i * lda]), sum[j * vectors + v]);
    }
}

/* Adds the products of the channels of a tap to the sums. If the tap reads padding for a pixel, the
 * pixel's sums do not change. */
static CLEAVE_SPECIALISED void
add_masked_channels (const CleaveNarrowWork *work,
                     const float *x,
                     const float *const *from,
                     const CleaveNarrowTap *tap,
                     gint64 pixel,
                     int vectors,
                     int columns,
                     CleaveVector *sum)
{
  CleaveVector before[MAX_SUMS];

  CLEAVE_EACH (i, vectors * columns)
    before[i] = sum[i];
  add_channels (work, x, from, vectors, columns, sum);
  CLEAVE_EACH (v, vectors)
    {
      CleaveMask mask = mask_of (pixel + v * CLEAVE_VECTOR, tap->begin, tap->end);

      CLEAVE_EACH (j, columns)
        sum[j * vectors + v] =
            cleave_vector_select (mask, sum[j * vectors + v], before[j * vectors + v]);
    }
}

static CLEAVE_SPECIALISED void
add_tap (const CleaveNarrowWork *work,
         const CleaveNarrowJob *job,
         const CleaveNarrowRow *row,
         const CleaveNarrowTap *tap,
         gint64 pixel,
         int vectors,
         int columns,
         CleaveVector *sum)
{
  gint64 end = pixel + vectors * CLEAVE_VECTOR;
  const float *x = row->x + tap->x + pixel, *from[CLEAVE_NARROW_COLUMNS];

  if (tap->begin >= end || tap->end <= pixel)
    return;
  CLEAVE_EACH (j, columns)
    from[j] = row->a + tap->a + job->column[j].a;
  if (pixel < tap->begin || MIN (end, job->end) > tap->end)
    add_masked_channels (work, x, from, tap, pixel, vectors, columns, sum);
  else
    add_channels (work, x, from, vectors, columns, sum);
}

static CLEAVE_SPECIALISED void
sum_block (const CleaveNarrowWork *work,
           const CleaveNarrowJob *job,
           gint64 pixel,
           int vectors,
           int columns,
           CleaveVector *sums)
{
  CleaveVector sum[MAX_SUMS];

  CLEAVE_EACH (j, columns)
    CLEAVE_EACH (v, vectors)
      sum[j * vectors + v] =
          cleave_vector_all (work->bias == NULL ? 0 : work->bias[job->column[j].bias]);
  for (guint r = 0; r < work->n_rows; r++)
    for (guint t = 0; t < job->n_taps; t++)
      add_tap (work, job, &work->row[r], &work->taps[job->first_tap + t], pixel, vectors, columns,
               sum);
  CLEAVE_EACH (i, vectors * columns)
    sums[i] = sum[i];
}

/* clang-format off */
#define BLOCK(columns, vectors)                                                                    \
  static void block_##columns##_##vectors (const CleaveNarrowWork *work,                           \
                                           const CleaveNarrowJob *job, gint64 pixel,               \
                                           CleaveVector *sums)                                     \
  {                                                                                                \
    sum_block (work, job, pixel, vectors, columns, sums);                                          \
  }
#define BLOCKS_3(columns) BLOCK (columns, 1) BLOCK (columns, 2) BLOCK (columns, 3)
#define BLOCKS_4(columns) BLOCKS_3 (columns) BLOCK (columns, 4)
#define BLOCKS_6(columns) BLOCKS_4 (columns) BLOCK (columns, 5) BLOCK (columns, 6)
#define BLOCKS_8(columns) BLOCKS_6 (columns) BLOCK (columns, 7) BLOCK (columns, 8)
BLOCKS_8 (1)
BLOCKS_6 (2)
BLOCKS_4 (3)
BLOCKS_3 (4)

static const struct
{
  gint64 vectors;
  Block block[MAX_VECTORS + 1];
} shapes[] = {
#define LIST_3(columns) NULL, block_##columns##_1, block_##columns##_2, block_##columns##_3
#define LIST_4(columns) LIST_3 (columns), block_##columns##_4
#define LIST_6(columns) LIST_4 (columns), block_##columns##_5, block_##columns##_6
#define LIST_8(columns) LIST_6 (columns), block_##columns##_7, block_##columns##_8
  { 0 },
  { 8, { LIST_8 (1) } },
  { 6, { LIST_6 (2) } },
  { 4, { LIST_4 (3) } },
  { 3, { LIST_3 (4) } },
};
/* clang-format on */

/* store_twos() and store_fours() store a vector of pixels with two or four columns (channels of y).
 * Each operand vector has one column of all pixels; in y, the columns of a pixel are contiguous. In
 * store_twos(), `a` has column 0 and `b` has column 1. The interleave instructions work within
 * 128-bit lanes, and each 128-bit lane has four pixels. */
static void
store_twos (const CleaveVector *a, const CleaveVector *b, float *y, gint64 step)
{
  float low[CLEAVE_VECTOR], high[CLEAVE_VECTOR];

  cleave_vector_store (
      low, cleave_vector_interleave_low (*a, *b)); /* `low` gets columns 0 and 1 of pixel 0, then of
                                                      pixel 1, of pixel 4, of pixel 5, … */
  cleave_vector_store (high, cleave_vector_interleave_high (*a, *b));
  for (int i = 0; i < CLEAVE_VECTOR; i += 4)
    {
      memcpy (y + i * step, low + i, 2 * sizeof (float));
      memcpy (y + (i + 1) * step, low + i + 2, 2 * sizeof (float));
      memcpy (y + (i + 2) * step, high + i, 2 * sizeof (float));
      memcpy (y + (i + 3) * step, high + i + 2, 2 * sizeof (float));
    }
}

static void
store_fours (const CleaveVector *sums, gint64 vectors, float *y, gint64 step)
{
  CleaveVector t0 = cleave_vector_interleave_low (sums[0], sums[vectors]);
  CleaveVector t1 = cleave_vector_interleave_high (sums[0], sums[vectors]);
  CleaveVector t2 = cleave_vector_interleave_low (sums[2 * vectors], sums[3 * vectors]);
  CleaveVector t3 = cleave_vector_interleave_high (sums[2 * vectors], sums[3 * vectors]);
  CleaveVector pixels[] = { cleave_vector_join_low (t0, t2), cleave_vector_join_high (t0, t2),
                            cleave_vector_join_low (t1, t3), cleave_vector_join_high (t1, t3) };

  for (int i = 0; i < 4; i++)
    {
      float values[CLEAVE_VECTOR];

      cleave_vector_store (values, pixels[i]);
      for (int j = 0; j < CLEAVE_VECTOR; j += 4)
        memcpy (y + (i + j) * step, values + j, 4 * sizeof (float));
    }
}

/* Stores n pixels of y. Each vector of `sums` contains one column of several pixels. */
static void
store_pixels (
    const CleaveNarrowJob *job, const CleaveVector *sums, gint64 vectors, gint64 n, float *y)
{
  gint64 step = job->y_step;

  if (n == CLEAVE_VECTOR && job->dense && job->n_columns == 1 && step == 1)
    cleave_vector_store (y + job->column[0].y, sums[0]);
  else if (n == CLEAVE_VECTOR && job->dense && job->n_columns == 2)
    store_twos (&sums[0], &sums[vectors], y + job->column[0].y, step);
  else if (n == CLEAVE_VECTOR && job->dense && job->n_columns == 4)
    store_fours (sums, vectors, y + job->column[0].y, step);
  else
    for (guint j = 0; j < job->n_columns; j++)
      {
        float values[CLEAVE_VECTOR];

        cleave_vector_store (values, sums[j * vectors]);
        for (gint64 i = 0; i < n; i++)
          y[job->column[j].y + i * step] = values[i];
      }
}

void
cleave_narrow_sum (const CleaveNarrowWork *work,
                   const CleaveNarrowJob *job,
                   gint64 begin,
                   gint64 end)
{
  gint64 most = shapes[job->n_columns].vectors;
  gint64 left = (end - begin + CLEAVE_VECTOR - 1) / CLEAVE_VECTOR;
  gint64 n_blocks = (left + most - 1) / most;
  CleaveVector sums[MAX_SUMS];

  for (gint64 pixel = begin, n; n_blocks > 0; left -= n, n_blocks--)
    {
      n = (left + n_blocks - 1) / n_blocks;
      shapes[job->n_columns].block[n](work, job, pixel, sums);
      for (gint64 v = 0; v < n; v++, pixel += CLEAVE_VECTOR)
        store_pixels (job, sums + v, n, MIN (end - pixel, CLEAVE_VECTOR),
                      work->y + job->y + pixel * job->y_step);
    }
}

/* Transposes a matrix in squares of one vector by one vector. At the edges, a square overlaps the
 * square before it. A matrix smaller than a square is transposed element by element. */
void
cleave_narrow_transpose (
    const float *x, gint64 step, gint64 n, gint64 n_channels, gint64 line, float *to)
{
  if (n < CLEAVE_SQUARE || n_channels < CLEAVE_SQUARE)
    {
      for (gint64 c = 0; c < n_channels; c++)
        for (gint64 i = 0; i < n; i++)
          to[c * line + i] = x[i * step + c];
      return;
    }
  for (gint64 i = 0; i < n; i += CLEAVE_SQUARE)
    for (gint64 c = 0; c < n_channels; c += CLEAVE_SQUARE)
      {
        gint64 pixel = MIN (i, n - CLEAVE_SQUARE), channel = MIN (c, n_channels - CLEAVE_SQUARE);

        cleave_vector_transpose (x + pixel * step + channel, step, line,
                                 to + channel * line + pixel);
      }
}
