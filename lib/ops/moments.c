/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes the mean and the variance of a list, in the order of moments.h. */

#include "moments.h"

#include "elementwise-math.h"

/* A sum of floats, which is computed block by block. It consists of the float32 lanes of the
 * current block, the double lanes of all earlier blocks, and the number of elements in the current
 * block. */
typedef struct
{
  float part[CLEAVE_N_LANES];
  double lane[CLEAVE_N_LANES];
  gint64 n;
} BlockSum;

static void
end_block (BlockSum *sum)
{
  for (guint j = 0; j < CLEAVE_N_LANES; j++)
    {
      sum->lane[j] += (double) sum->part[j];
      sum->part[j] = 0;
    }
}

static void
add_f32 (BlockSum *sum, const float *x, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    {
      sum->part[sum->n % CLEAVE_N_LANES] += x[i];
      if (++sum->n % CLEAVE_MOMENTS_BLOCK == 0)
        end_block (sum);
    }
}

CLEAVE_LANES_FOLD (add_f64, double, cleave_f64_add)

/* Returns an array with the difference to `center` of each of n elements of x or, if `squares`,
 * with the square of each difference. */
static gconstpointer
find_terms (gconstpointer x,
            gint64 n,
            CleaveWide wide,
            double center,
            gboolean squares,
            CleaveLineBuffer *terms)
{
  for (gint64 i = 0; i < n; i++)
    if (wide == CLEAVE_WIDE_F32)
      {
        float distance = ((const float *) x)[i] - (float) center;

        terms->f32[i] = squares ? distance * distance : distance;
      }
    else
      {
        double distance = ((const double *) x)[i] - center;

        terms->f64[i] = squares ? distance * distance : distance;
      }
  return terms;
}

static double
sum_of (const CleaveView *x,
        gint64 offset,
        CleaveLines *lines,
        CleaveWide wide,
        double center,
        gboolean squares)
{
  CleaveLineBuffer buffer, terms;
  BlockSum sum = { .n = 0 };
  gint64 done = 0;

  do
    for (gint64 at = 0; at < lines->length; at += CLEAVE_LINE)
      {
        gint64 n = MIN (lines->length - at, CLEAVE_LINE);
        gint64 from = offset + lines->offset[0] + at * lines->step[0];
        gconstpointer block = cleave_line_read (x, from, lines->step[0], n, wide, &buffer);

        block = find_terms (block, n, wide, center, squares, &terms);
        if (wide == CLEAVE_WIDE_F32)
          add_f32 (&sum, block, n);
        else
          add_f64 (sum.lane, block, done, n);
        done += n;
      }
  while (cleave_lines_next (lines));
  end_block (&sum);
  return CLEAVE_LANES_JOIN (sum.lane, cleave_f64_add);
}

CleaveMoments
cleave_moments_of (
    const CleaveView *x, gint64 offset, CleaveLines *lines, gint64 n, CleaveWide wide)
{
  double first = 0, mean, variance;
  CleaveLineBuffer buffer;

  if (wide == CLEAVE_WIDE_F32)
    first = (double) *(const float *) cleave_line_read (x, offset + lines->offset[0], 1, 1, wide,
                                                        &buffer);
  mean = first + sum_of (x, offset, lines, wide, first, FALSE) / (double) n;
  if (wide == CLEAVE_WIDE_F32)
    mean = (double) (float) mean;
  variance = sum_of (x, offset, lines, wide, mean, TRUE) / (double) n;
  return (CleaveMoments){ mean, variance };
}
