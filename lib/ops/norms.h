/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The p-norms that LpNormalization divides by and GlobalLpPool gives.
 *
 * Order, in double: magnitudes, squares or other powers, their sum in 8 parts (axes.h), the root of
 * it. */

#include "axes.h"
#include "lines.h"

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
