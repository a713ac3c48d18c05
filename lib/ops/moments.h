/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The mean and the variance that LayerNormalization and the like divide by.
 *
 * Order, in double: the sum of the elements, then that of the squared distances to their mean, in 8
 * parts (axes.h).
 *
 * In float32: the sum of the distances to the first element, which with what is divided gives the
 * mean, rounded; then that of the squared distances to it.  So a far mean costs no precision.  Each
 * sum is one of blocks of CLEAVE_MOMENTS_BLOCK elements: 8 parts that begin with 0 add up in
 * float32, and are then added to 8 parts in double; the last block may be shorter.  So a long sum
 * is as exact as a short one, and most of it is done in vectors of floats. */

#include "axes.h"
#include "lines.h"

#define CLEAVE_MOMENTS_BLOCK 256

typedef struct
{
  double mean, variance;
} CleaveMoments;

/* Of the `n` elements of `lines` in row-major order, `offset` elements after the first of x, in the
 * type `wide`; `lines` is as before. */
CleaveMoments cleave_moments_of (
    const CleaveView *x, gint64 offset, CleaveLines *lines, gint64 n, CleaveWide wide);
