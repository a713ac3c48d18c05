/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The reference kernel of LpPool. pool.c has the record of LpPool and calls this kernel. Unlike the
 * kernels of MaxPool and AveragePool, this kernel computes lines of results at once. */

#include "../ir/op.h"
#include "window.h"

/* Computes an LpPool. Powers, sums and roots are double; the taps of a window are added in
 * row-major order, without taps in the padding; the result is rounded once. `windows` has one entry
 * for each spatial dimension. */
void cleave_pool_lp (const CleaveCall *call,
                     const CleaveWindow *windows,
                     const CleaveView *x,
                     const CleaveView *y);
