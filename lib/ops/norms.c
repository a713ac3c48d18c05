/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes the p-norms of lists, in the order of norms.h. */

#include "norms.h"

#include "elementwise-math.h"

#include <math.h>

CLEAVE_LANES_FOLD (fold_add, double, cleave_f64_add)

void
cleave_norm_terms (const double *x, gint64 n, gint64 p, double *terms)
{
  if (p == 1)
    for (gint64 i = 0; i < n; i++)
      terms[i] = fabs (x[i]);
  else if (p == 2)
    for (gint64 i = 0; i < n; i++)
      terms[i] = x[i] * x[i];
  else
    for (gint64 i = 0; i < n; i++)
      terms[i] = pow (fabs (x[i]), (double) p);
}

double
cleave_norm_root (double sum, gint64 p)
{
  return p == 1 ? sum : p == 2 ? sqrt (sum) : pow (sum, 1 / (double) p);
}

static double
norm_of (const CleaveView *x, gint64 offset, CleaveLines *elements, gint64 p)
{
  double lane[CLEAVE_N_LANES] = { 0 }, terms[CLEAVE_LINE];
  CleaveLineBuffer buffer;
  gint64 done = 0;

  do
    for (gint64 at = 0; at < elements->length; at += CLEAVE_LINE)
      {
        gint64 n = MIN (elements->length - at, CLEAVE_LINE);
        gint64 from = offset + elements->offset[0] + at * elements->step[0];

        cleave_norm_terms (
            cleave_line_read (x, from, elements->step[0], n, CLEAVE_WIDE_F64, &buffer), n, p,
            terms);
        fold_add (lane, terms, done, n);
        done += n;
      }
  while (cleave_lines_next (elements));
  return cleave_norm_root (CLEAVE_LANES_JOIN (lane, cleave_f64_add), p);
}

/* Computes the norms of n lists that are neighbors in memory. Each list has 8 partial sums:
 * lanes[j][l] is partial sum j of list l. One loop adds element i of every list to a partial sum of
 * this list. */
static void
norms_across (const CleaveView *x,
              gint64 offset,
              gint64 across,
              gint64 n,
              CleaveLines *elements,
              gint64 p,
              double *norms)
{
  double lanes[CLEAVE_N_LANES][CLEAVE_LINE], terms[CLEAVE_LINE];
  CleaveLineBuffer buffer;
  gint64 done = 0;

  for (guint j = 0; j < CLEAVE_N_LANES; j++)
    memset (lanes[j], 0, (gsize) n * sizeof (double));
  do
    for (gint64 at = 0; at < elements->length; at++, done++)
      {
        gint64 from = offset + elements->offset[0] + at * elements->step[0];
        double *lane = lanes[done % CLEAVE_N_LANES];

        cleave_norm_terms (cleave_line_read (x, from, across, n, CLEAVE_WIDE_F64, &buffer), n, p,
                           terms);
        for (gint64 i = 0; i < n; i++)
          lane[i] += terms[i];
      }
  while (cleave_lines_next (elements));
  for (gint64 i = 0; i < n; i++)
    {
      double lane[CLEAVE_N_LANES];

      for (guint j = 0; j < CLEAVE_N_LANES; j++)
        lane[j] = lanes[j][i];
      norms[i] = cleave_norm_root (CLEAVE_LANES_JOIN (lane, cleave_f64_add), p);
    }
}

void
cleave_norms (const CleaveView *x,
              gint64 offset,
              gint64 across,
              gint64 n,
              CleaveLines *elements,
              gint64 p,
              double *norms)
{
  if (n >= CLEAVE_MIN_ACROSS && ABS (across) < ABS (elements->step[0]))
    norms_across (x, offset, across, n, elements, p, norms);
  else
    for (gint64 i = 0; i < n; i++)
      norms[i] = norm_of (x, offset + i * across, elements, p);
}
