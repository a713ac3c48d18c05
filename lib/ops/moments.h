/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The mean and the variance of a list, for LayerNormalization and MeanVarianceNormalization: their
 * reference kernels (layer-norm.c) and their fast kernels (lib/runtime/kernels/layer-norm.c).
 *
 * Order of operations in double: the sum of the elements gives the mean; then the squared
 * differences to the mean are added up. Both sums have 8 lanes (axes.h).
 *
 * Order of operations in float32: the differences to the first element are added up. Their mean
 * plus the first element is the mean, rounded. Then the squared differences to the mean are added
 * up. So the variance is precise also if the mean is much larger than the differences. Each sum
 * consists of blocks of CLEAVE_MOMENTS_BLOCK elements: 8 lanes begin with 0 and add a block in
 * float32; then the lanes are added to 8 lanes in double. So a long sum is as exact as a short one,
 * and most of the work is in vectors of floats.
 */

#include "axes.h"
#include "lines.h"

#define CLEAVE_MOMENTS_BLOCK 256

typedef struct
{
  double mean, variance;
} CleaveMoments;

/* Returns the mean and the variance of n elements of x: the elements that `lines` visits, moved by
 * `offset` elements. Computes in the type `wide`, float or double. Leaves `lines` at its first
 * line. */
CleaveMoments cleave_moments_of (
    const CleaveView *x, gint64 offset, CleaveLines *lines, gint64 n, CleaveWide wide);
