/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The power by which LRN divides an element. The reference kernel (lrn.c) and the fast kernel
 * (lib/runtime/kernels/lrn.c) both call this function, so that they give the same bits. */

#include <math.h>

#include <glib.h>

/* Replaces each of n sums s by s^beta. For the exponents 0.75 and 0.5, which networks use, computes
 * the power with square roots, since pow() takes ten times as long. Each square root is rounded to
 * a double. */
static inline void
cleave_lrn_powers (double *v, gint64 n, double beta)
{
  if (beta == 0.75)
    for (gint64 i = 0; i < n; i++)
      {
        double root = __builtin_sqrt (v[i]);

        v[i] = root * __builtin_sqrt (root);
      }
  else if (beta == 0.5)
    for (gint64 i = 0; i < n; i++)
      v[i] = __builtin_sqrt (v[i]);
  else if (beta != 1)
    for (gint64 i = 0; i < n; i++)
      v[i] = pow (v[i], beta);
}
