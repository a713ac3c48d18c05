/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <math.h>

#include <glib.h>

/* The powers by which LRN divides, in place.  Those that networks have are roots, each rounded:
 * processors have an instruction for these, and the general one takes ten times as long. */
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
