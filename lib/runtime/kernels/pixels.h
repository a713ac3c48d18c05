/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "upcast.h"

/* The pixels of an image in a view with any strides, numbered in row-major order. The kernels of
 * 16-bit floats (upcast-conv.c, upcast-depthwise.c, pool.c) convert such pixels to contiguous
 * floats and back. The kernels of bytes use the struct to find dense views. */
typedef struct
{
  guint n_dims;
  gint64 extent[CLEAVE_MAX_RANK], step[CLEAVE_MAX_RANK];
  gint64 n_channels, channel_step;
} CleavePixels;

/* Evenly spaced pixels of an image. `dense`: the channels of a pixel are contiguous, and pixels
 * follow each other without gaps. */
typedef struct
{
  gint64 at, n, step; /* offset of the first pixel from the first element of the image, in elements;
                         number of pixels; distance of adjacent pixels, in elements */
  gboolean dense;
} CleavePixelRun;

/* Returns the pixels of a view. Adjacent spatial dimensions that form one dimension in memory are
 * merged. */
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

/* Returns the longest sequence of evenly spaced pixels that begins at pixel `begin` and ends at or
 * before `end`. It has at least one pixel. */
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

/* Sets `stride` to the strides of a dense layout with channels innermost. */
static inline void
cleave_pixels_strides (const CleaveShape *shape, CleaveDims dims, gint64 *stride)
{
  gint64 n = shape->dim[dims.c];

  stride[dims.c] = 1;
  for (guint i = dims.h + dims.n_spatial; i-- > dims.h; n *= shape->dim[i])
    stride[i] = n;
  stride[dims.n] = n;
}

static inline gboolean
cleave_pixels_are_dense (const CleaveView *view, CleaveDims dims)
{
  gint64 stride[CLEAVE_MAX_RANK];

  cleave_pixels_strides (&view->type.shape, dims, stride);
  for (guint d = 0; d < view->type.shape.rank; d++)
    if (view->type.shape.dim[d] != 1 && view->stride[d] != stride[d])
      return FALSE;
  return TRUE;
}

/* Returns a view of dense floats with the shape of `view` and channels innermost, without data. */
static inline CleaveView
cleave_pixels_shadow (const CleaveView *view, CleaveDims dims)
{
  CleaveView shadow = { .type = { CLEAVE_FLOAT32, view->type.shape } };

  cleave_pixels_strides (&shadow.type.shape, dims, shadow.stride);
  return shadow;
}

/* Converts pixels [begin, end) of the image at `image` to contiguous floats. */
static inline void
cleave_pixels_upcast (const CleavePixels *p,
                      CleaveElement element,
                      gint32 zero,
                      gconstpointer image,
                      gint64 begin,
                      gint64 end,
                      float *to)
{
  gint64 size = (gint64) cleave_element_size (element), n = p->n_channels;

  for (gint64 done = 0; begin + done < end;)
    {
      CleavePixelRun run = cleave_pixels_run (p, begin + done, end);
      const char *from = (const char *) image + run.at * size;

      if (run.dense)
        cleave_upcast (element, from, 1, zero, to + done * n, run.n * n);
      else
        for (gint64 i = 0; i < run.n; i++)
          cleave_upcast (element, from + i * run.step * size, p->channel_step, zero,
                         to + (done + i) * n, n);
      done += run.n;
    }
}

/* Function that converts `n` floats to the type of a result and stores them at `to`, `step`
 * elements apart. `at` is the index of the first float among the floats of all pixels. */
typedef void (*CleaveFinishLine) (
    gconstpointer self, gint64 at, gpointer to, gint64 step, gint64 n);

static inline void
cleave_pixels_finish (const CleavePixels *p,
                      gint64 size,
                      gpointer image,
                      gint64 begin,
                      gint64 end,
                      CleaveFinishLine finish,
                      gconstpointer self)
{
  gint64 n = p->n_channels;

  for (gint64 done = 0; begin + done < end;)
    {
      CleavePixelRun run = cleave_pixels_run (p, begin + done, end);
      char *to = (char *) image + run.at * size;

      if (run.dense)
        finish (self, done * n, to, 1, run.n * n);
      else
        for (gint64 i = 0; i < run.n; i++)
          finish (self, (done + i) * n, to + i * run.step * size, p->channel_step, n);
      done += run.n;
    }
}
