/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../kernels.h"

/* The pixels of an image of any view, numbered in row-major order. */
typedef struct
{
  guint n_dims;
  gint64 extent[CLEAVE_MAX_RANK], step[CLEAVE_MAX_RANK];
  gint64 n_channels, channel_step;
} CleavePixels;

/* Pixels that lie evenly spaced; those are whole lines of channels if `dense`. */
typedef struct
{
  gint64 at, n, step; /* in elements of the view, from the image's first */
  gboolean dense;
} CleavePixelRun;

/* Dimensions that follow each other are one. */
static inline CleavePixels
cleave_pixels_of (const CleaveView *view, CleaveDims dims)
{
  const CleaveShape *shape = &view->type.shape;
  CleavePixels p = { .n_channels = shape->dim[dims.c],
                     .channel_step = shape->dim[dims.c] == 1 ? 1 : view->stride[dims.c] };

  for (guint i = dims.h; i < dims.h + dims.n_spatial; i++)
    if (p.n_dims > 0 && p.step[p.n_dims - 1] == shape->dim[i] * view->stride[i])
      {
        p.extent[p.n_dims - 1] *= shape->dim[i];
        p.step[p.n_dims - 1] = view->stride[i];
      }
    else
      {
        p.extent[p.n_dims] = shape->dim[i];
        p.step[p.n_dims++] = view->stride[i];
      }
  return p;
}

/* As many of the pixels [begin, end) as lie evenly spaced; there is at least one. */
static inline CleavePixelRun
cleave_pixels_run (const CleavePixels *p, gint64 begin, gint64 end)
{
  guint inner = p->n_dims - 1;
  gint64 left = begin;
  CleavePixelRun run = { .step = p->step[inner] };

  for (guint d = p->n_dims; d-- > 0; left /= p->extent[d])
    {
      gint64 index = d == 0 ? left : left % p->extent[d];

      run.at += index * p->step[d];
      if (d == inner)
        run.n = MIN (p->extent[d] - index, end - begin);
    }
  run.dense = p->channel_step == 1 && (run.step == p->n_channels || run.n == 1);
  return run;
}

/* Dense strides, channels innermost. */
static inline void
cleave_pixels_strides (const CleaveShape *shape, CleaveDims dims, gint64 *stride)
{
  gint64 n = shape->dim[dims.c];

  stride[dims.c] = 1;
  for (guint i = dims.h + dims.n_spatial; i-- > dims.h; n *= shape->dim[i])
    stride[i] = n;
  stride[dims.n] = n;
}
