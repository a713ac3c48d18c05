/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The common part of the reference kernels of element-wise ops: the walk over the elements of a
 * result. elementwise.c defines the loops of each op, and passes the loops to these functions. */

#include "../ir/op.h"
#include "lines.h"

/* Computes n elements of the result in one wide type (CleaveWide): float, double, gint64 or
 * guint64. Each op has such a function for each wide type in which it is computed. */
typedef void (*CleaveElementwiseLoop) (
    gconstpointer as, gconstpointer bs, gpointer ys, gint64 n, gconstpointer attrs);

/* Computes an op with one or two operands line by line: up to CLEAVE_LINE elements along one
 * dimension at a time. `loops` is indexed by wide type (CleaveWide). */
void cleave_elementwise_compute_lines (const CleaveCall *call,
                                       const CleaveView *operands,
                                       const CleaveView *y,
                                       const CleaveElementwiseLoop *loops);
/* Computes an op with one operand or more, line by line: combines the elements of operand 0 with
 * the elements of each other operand in order. The parameter `attrs` of the functions in `loops` is
 * a CleaveFold. */
void cleave_elementwise_compute_fold (const CleaveCall *call,
                                      const CleaveView *operands,
                                      const CleaveView *y,
                                      const CleaveElementwiseLoop *loops);
