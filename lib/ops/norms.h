/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The p-norms of LpNormalization, GlobalLpPool and LpPool.
 *
 * Order, in double: absolute values, squares or other powers; their sum in 8 lanes (axes.h); the
 * root of the sum. LpPool adds tap by tap instead. */

#include "axes.h"
#include "lines.h"

/* cleave_norm_terms() sets the terms |x|^p of n elements, cleave_norm_root() returns the p-th root
 * of their sum. */
void cleave_norm_terms (const double *x, gint64 n, gint64 p, double *terms);
double cleave_norm_root (double sum, gint64 p);
/* Sets the norms of n lists of elements of x, at most CLEAVE_LINE. The first list has the elements
 * that `elements` visits, moved by `offset` elements. Each further list is moved by `across`
 * elements more. Afterwards `elements` is at its first line again. */
void cleave_norms (const CleaveView *x,
                   gint64 offset,
                   gint64 across,
                   gint64 n,
                   CleaveLines *elements,
                   gint64 p,
                   double *norms);
