/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The p-norms of LpNormalization, GlobalLpPool and LpPool, for their reference kernels; p is the
 * exponent.
 *
 * Order of operations, in double: absolute values, squares or other powers; their sum in 8 lanes
 * (axes.h); the root of the sum. LpPool adds without lanes, tap by tap. */

#include "axes.h"
#include "lines.h"

/* cleave_norm_terms() sets the terms |x|^p of n elements. cleave_norm_root() returns the p-th root
 * of the sum of the terms. */
void cleave_norm_terms (const double *x, gint64 n, gint64 p, double *terms);
double cleave_norm_root (double sum, gint64 p);
/* Sets `norms` to the norms of n lists of elements of x; n is at most CLEAVE_LINE. `elements` goes
 * through the elements of one list. List i begins at element `offset` + i * `across` of x.
 * `elements` must be at its first line before the call, and is there again after the call. */
void cleave_norms (const CleaveView *x,
                   gint64 offset,
                   gint64 across,
                   gint64 n,
                   CleaveLines *elements,
                   gint64 p,
                   double *norms);
