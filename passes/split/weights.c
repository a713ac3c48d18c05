/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Cuts an extent of `n` units into chunks by weight; a unit has as many elements as the alignment
 * (chunks.c). Each chunk first gets the minimum size. The remaining units go to the chunks that are
 * furthest below their shares. The share of a chunk is its part of the extent by weight. The lack
 * of a chunk is the number of units by which the chunk is below its share. */

#include "weights.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Glow's rule: each chunk begins with the minimum size. Each further unit goes to the chunk that is
 * furthest below its share, or to the first of several such chunks.
 *
 * A unit brings any chunk closer to its share by the same amount. So cleave_share_out() first
 * assigns most units in one step, until all chunks that get units are about equally far below their
 * shares. hand_out() then assigns the last few units one by one by the rule. */

typedef struct
{
  const double *weight;
  double sum;
  gint64 n;
} Shares;

/* Returns how far chunk `i` is below its share if it has `size` units: the weight of the chunk
 * minus the weight of `size` units. All `n` units of the extent together have the sum of the
 * weights. Uses exactly the expression of Glow's rule, so that ties are decided in the same way. */
static double
shortfall (const Shares *shares, guint i, gint64 size)
{
  return shares->weight[i] - (double) size / (double) shares->n * shares->sum;
}

static int
compare_falling (gconstpointer a, gconstpointer b)
{
  const double *x = a, *y = b;

  return (*x < *y) - (*x > *y);
}

/* Returns the largest lack of a chunk after `n` units are given to the chunks, always to the chunk
 * with the largest lack. `lacks` has the lack of each of `k` chunks: the number of units by which
 * the chunk is below its share. The function treats units as divisible, so the result may be a
 * fraction. */
static double
find_level (const double *lacks, guint k, double n)
{
  g_autofree double *sorted = g_memdup2 (lacks, k * sizeof *lacks);
  double sum = 0, level = 0;

  qsort (sorted, k, sizeof *sorted, compare_falling);
  for (guint m = 1; m <= k; m++)
    {
      sum += sorted[m - 1];
      level = (sum - n) / m;
      if (m == k || level >= sorted[m])
        break;
    }
  return level;
}

/* One unit of the extent, which hand_out() may give to chunk `i`. `size` is the number of units
 * that chunk `i` has before, and `shortfall` is the result of shortfall() for `size`. */
typedef struct
{
  double shortfall;
  guint i;
  gint64 size;
} Unit;

static int
compare_units (gconstpointer a, gconstpointer b)
{
  const Unit *u = a, *v = b;

  if (u->shortfall != v->shortfall)
    return u->shortfall > v->shortfall ? -1 : 1;
  if (u->i != v->i)
    return u->i < v->i ? -1 : 1;
  return (u->size > v->size) - (u->size < v->size);
}

/* hand_out() gives each chunk at most this many units of the extent */
#define N_NEXT 6

static void
hand_out (const Shares *shares, gint64 *size, guint k, gint64 n_units)
{
  g_autofree Unit *unit = g_new (Unit, k * N_NEXT);

  for (guint i = 0; i < k; i++)
    for (guint j = 0; j < N_NEXT; j++)
      unit[i * N_NEXT + j] = (Unit){ shortfall (shares, i, size[i] + j), i, size[i] + j };
  qsort (unit, k * N_NEXT, sizeof *unit, compare_units);
  for (gint64 u = 0; u < n_units; u++)
    size[unit[u].i]++;
}

/* Returns a power of two that keeps the sum of the weights finite. Multiplying all weights by this
 * power does not change their ratios. */
static double
find_factor (const double *weights, guint k)
{
  double largest = 0;
  int exponent;

  for (guint i = 0; i < k; i++)
    largest = MAX (largest, weights[i]);
  frexp (largest, &exponent);
  return exponent < DBL_MAX_EXP - 64 ? 1 : 0x1p-64;
}

void
cleave_share_out (const double *given, guint k, gint64 n, gint64 least, gint64 *sizes)
{
  g_autofree double *weights = g_new (double, k);
  g_autofree double *lacks = g_new (double, k);
  double factor = find_factor (given, k);
  Shares shares = { weights, 0, n };
  gint64 n_units = n - least * k;
  double level;

  for (guint i = 0; i < k; i++)
    shares.sum += weights[i] = given[i] * factor;
  for (guint i = 0; i < k; i++)
    lacks[i] = shortfall (&shares, i, least) / shares.sum * (double) n;
  level = find_level (lacks, k, (double) n_units);
  for (guint i = 0; i < k; i++)
    {
      gint64 jump = MAX ((gint64) floor (lacks[i] - level) - 2, 0);

      sizes[i] = least + jump;
      n_units -= jump;
    }
  hand_out (&shares, sizes, k, n_units);
}
