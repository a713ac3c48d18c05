/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <math.h>

#include <glib.h>

/* Replaces n sums by their powers with the exponent `beta`, by which LRN divides. The exponents
 * 0.75 and 0.5, which networks use, are square roots, each rounded: pow() takes ten times as long.
 */
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
