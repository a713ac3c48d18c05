/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../kernels.h"

/* A spatial axis along which the windows of a convolution or pooling slide: the extents n_x of the
 * operand and n_y of the result, and the parameters of the window. The kernels of convolutions and
 * pooling make an axis for each spatial dimension in `prepare`. A tap is one position of the
 * window. Example: with 3 taps, stride 2 and pad 1, pixel 0 of the result reads the positions -1, 0
 * and 1; taps 1 and 2 read data, tap 0 reads padding. */
typedef struct
{
  gint64 n_x, n_y, n_taps, stride, dilation, pad, pad_end;
  gint64 x_step, y_step; /* distances in elements: `x_step` of adjacent positions in the operand,
                            `y_step` in the result */
} CleaveAxis;

/* The taps [first, last) of a window that read data instead of padding, and the position in the
 * operand that tap `first` reads. */
typedef struct
{
  gint64 first, last, at;
} CleaveTaps;

static inline CleaveTaps
cleave_axis_taps (const CleaveAxis *axis, gint64 pixel)
{
  gint64 at = pixel * axis->stride - axis->pad;
  gint64 first = at >= 0 ? 0 : (-at + axis->dilation - 1) / axis->dilation;
  gint64 last = at >= axis->n_x ? 0 : (axis->n_x - 1 - at) / axis->dilation + 1;

  last = MIN (last, axis->n_taps);
  return first < last ? (CleaveTaps){ first, last, at + first * axis->dilation }
                      : (CleaveTaps){ 0, 0, 0 };
}

/* Finds the pixels [begin, end) of the result whose windows read no padding. */
static inline void
cleave_axis_find_inner (const CleaveAxis *axis, gint64 *begin, gint64 *end)
{
  gint64 last = axis->n_x - 1 + axis->pad - (axis->n_taps - 1) * axis->dilation;

  *begin = MAX ((axis->pad + axis->stride - 1) / axis->stride, 0);
  *end = last < 0 ? 0 : MIN (last / axis->stride + 1, axis->n_y);
}

/* Sets `y_step` of each axis along which the result has extent 1. Kernels do not use this step, but
 * cleave_axes_nest() compares the steps of all axes. The new step is the step that a result without
 * gaps would have: the number of elements of a pixel or of a row. */
static inline void
cleave_axes_settle (CleaveAxis axes[2], gint64 n_channels)
{
  if (axes[1].n_y == 1)
    axes[1].y_step = n_channels;
  if (axes[0].n_y == 1)
    axes[0].y_step = axes[1].n_y * axes[1].y_step;
}

#define CLEAVE_AXIS_NONE                                                                           \
  {                                                                                                \
    .n_x = 1, .n_y = 1, .n_taps = 1, .stride = 1, .dilation = 1                                    \
  }

/* Returns the axis of spatial dimension i (0 is the outermost). */
static inline CleaveAxis
cleave_axis_of (guint i,
                const CleaveView *x,
                const CleaveView *y,
                CleaveDims dims,
                const gint64 *kernel,
                const CleaveInts *strides,
                const CleaveInts *dilations,
                const CleaveInts *pads)
{
  return (CleaveAxis){ .n_x = x->type.shape.dim[dims.h + i],
                       .n_y = y->type.shape.dim[dims.h + i],
                       .n_taps = kernel[i],
                       .stride = cleave_ints_at (strides, i, 1),
                       .dilation = cleave_ints_at (dilations, i, 1),
                       .pad = cleave_ints_at (pads, i, 0),
                       .pad_end = cleave_ints_at (pads, dims.n_spatial + i, 0),
                       .x_step = x->stride[dims.h + i],
                       .y_step = y->stride[dims.h + i] };
}

/* Initializes axes for D, H and W. If the operand has fewer spatial dimensions, the outermost axes
 * have extent 1. */
static inline void
cleave_axes_init_three (CleaveAxis axes[3],
                        const CleaveKernelInstance *instance,
                        CleaveDims dims,
                        const CleaveInts *strides,
                        const CleaveInts *dilations,
                        const CleaveInts *pads)
{
  enum { X, W };
  guint missing = 3 - dims.n_spatial;

  for (guint i = 0; i < 3; i++)
    axes[i] =
        i < missing
            ? (CleaveAxis) CLEAVE_AXIS_NONE
            : cleave_axis_of (i - missing, &instance->operands[X], &instance->results[0], dims,
                              instance->operands[W].type.shape.dim + 2, strides, dilations, pads);
}

/* Initializes axes for H and W, the innermost two spatial dimensions. If the operand has only one
 * spatial dimension, axis H has extent 1. */
static inline void
cleave_axes_init (CleaveAxis axes[2],
                  const CleaveView *x,
                  const CleaveView *y,
                  CleaveDims dims,
                  const gint64 *kernel,
                  const CleaveInts *strides,
                  const CleaveInts *dilations,
                  const CleaveInts *pads)
{
  guint first = dims.n_spatial > 2 ? dims.n_spatial - 2 : 0;

  axes[0] = (CleaveAxis) CLEAVE_AXIS_NONE;
  for (guint i = first; i < dims.n_spatial; i++)
    axes[2 - dims.n_spatial + i] = cleave_axis_of (i, x, y, dims, kernel, strides, dilations, pads);
  cleave_axes_settle (axes, y->type.shape.dim[dims.c]);
}

/* Returns whether the channels of a view, dimension c, are contiguous. */
static inline gboolean
cleave_has_channels_innermost (const CleaveView *view, guint c)
{
  return view->type.shape.dim[c] == 1 || view->stride[c] == 1;
}

/* Returns whether the rows of all images of the result follow each other in memory: row i ends
 * before row i + 1 begins. Gaps between rows are allowed. */
static inline gboolean
cleave_axes_nest (const CleaveAxis axes[2], gint64 n_channels, gint64 n_batches, gint64 batch_step)
{
  const CleaveAxis *rows = &axes[0], *columns = &axes[1];

  return columns->y_step >= n_channels && rows->y_step >= columns->n_y * columns->y_step &&
         (n_batches == 1 || batch_step >= rows->n_y * rows->y_step);
}
