/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The p-norms that LpNormalization divides by and GlobalLpPool and LpPool give.
 *
 * Order, in double: magnitudes, squares or other powers, their sum in 8 parts (axes.h), the root of
 * it; LpPool adds up tap by tap. */

#include "axes.h"
#include "lines.h"

/* What `n` elements add to a sum, and the root of that. */
void cleave_norm_terms (const double *x, gint64 n, gint64 p, double *terms);
double cleave_norm_root (double sum, gint64 p);
/* Norms of `n` lists of elements, at most CLEAVE_LINE: the first is that of `elements`, in
 * row-major order, `offset` elements after the first of x; each begins `across` elements after the
 * one before it.  `elements` is as before. */
void cleave_norms (const CleaveView *x,
                   gint64 offset,
                   gint64 across,
                   gint64 n,
                   CleaveLines *elements,
                   gint64 p,
                   double *norms);
