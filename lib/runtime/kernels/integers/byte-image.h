/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The byte image is a copy in scratch of the rows of x that a few rows of y read. The kernels of
 * integer-conv.c, integer-depthwise.c and qdq.h read this copy. The copy is contiguous and includes
 * padding, so that kernels need no bounds checks. Example: 4 rows of y of a 3 x 3 convolution with
 * stride 1 read 6 rows of the image; with pad 1, each row is 2 pixels longer than a row of x. */

#include "../axis.h"
#include "../pixels.h"
#include "../places.h"
#include "byte-units.h"

typedef struct
{
  /* The spatial axes. If the node has fewer than three, the outer axes have extent 1. Scratch
   * contains every step[i]-th position of x along axis i: step[i] is the stride if the axis has one
   * tap, else 1. In `axis`, `stride` counts positions of scratch, `x_step` counts bytes, and
   * `y_step` counts elements. */
  CleaveAxis axis[3];
  gint64 step[3];
  /* number of images; distances of adjacent images: in bytes for x, in elements for y */
  gint64 n_batches, x_batch_step, y_batch_step;
  gint64 y_image;      /* number of elements of one image of y */
  gboolean y_is_dense; /* TRUE: the pixels of y follow each other in memory */
  CleaveElement element;
  gint64 n_channels, channel_step; /* number of channels of x; bytes between adjacent channels */
  gint64 unit;
  gint64 n_columns, n_rows; /* `n_columns`: number of columns of the image in scratch; `n_rows`:
                               number of rows of the image, which are needed to compute a band
                               (`band` rows of y) */
  gint64 band;
  gint64 multiplier; /* number of copies of each channel in scratch: the number of channels of y
                        that read one channel of x */
} CleaveByteImage;

/* Returns the number of elements of scratch that `n` adjacent elements of y read along an axis. */
static inline gint64
cleave_byte_axis_reach (const CleaveAxis *axis, gint64 n)
{
  return (n - 1) * axis->stride + (axis->n_taps - 1) * axis->dilation + 1;
}

static inline void
cleave_byte_image_init_views (CleaveByteImage *image,
                              const CleaveKernelInstance *instance,
                              const CleaveView *w,
                              CleaveDims dims)
{
  const CleaveConvAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[0], *y = &instance->results[0];
  guint missing = 3 - dims.n_spatial;

  for (guint i = 0; i < 3; i++)
    {
      CleaveAxis *axis = &image->axis[i];

      *axis = (CleaveAxis) CLEAVE_AXIS_NONE;
      if (i >= missing)
        *axis = cleave_axis_of (i - missing, x, y, dims, w->type.shape.dim + 2, &a->strides,
                                &a->dilations, &a->pads);
      image->step[i] = axis->n_taps == 1 ? axis->stride : 1;
      axis->stride /= image->step[i];
    }
  image->element = x->type.element;
  image->n_batches = x->type.shape.dim[dims.n];
  image->x_batch_step = x->stride[dims.n];
  image->y_batch_step = y->stride[dims.n];
  image->y_image = cleave_shape_n_elements (&y->type.shape) / MAX (image->n_batches, 1);
  image->y_is_dense = cleave_pixels_are_dense (y, dims);
}

/* Limit on the bytes of scratch that are read to compute a band, a few rows of y. Together with the
 * weights, these bytes stay in the L2 cache. */
#define CLEAVE_BYTE_BAND (64 << 10)

static inline void
cleave_byte_image_init (CleaveByteImage *image,
                        const CleaveKernelInstance *instance,
                        const CleaveView *w,
                        CleaveDims dims)
{
  const CleaveView *x = &instance->operands[0];
  gint64 row;

  cleave_byte_image_init_views (image, instance, w, dims);
  image->n_channels = x->type.shape.dim[dims.c];
  image->channel_step = image->n_channels == 1 ? 1 : x->stride[dims.c];
  image->n_columns = cleave_byte_axis_reach (&image->axis[2], image->axis[2].n_y);
  row = image->n_columns * image->n_channels * image->multiplier *
        cleave_byte_unit_size (image->unit);
  image->band = CLEAVE_BYTE_BAND / MAX (row * image->axis[0].n_taps * image->axis[1].stride, 1);
  image->band = CLAMP (image->band, 1, MAX (image->axis[1].n_y, 1));
  image->n_rows = cleave_byte_axis_reach (&image->axis[1], image->band);
}

/* cleave_byte_image_pixel() returns the bytes of a pixel in scratch. cleave_byte_image_n_bytes()
 * returns the bytes of the image in scratch, plus 64 bytes, since a kernel may read one vector
 * beyond the image's end. */
static inline gint64
cleave_byte_image_pixel (const CleaveByteImage *image)
{
  return image->n_channels * image->multiplier * cleave_byte_unit_size (image->unit);
}

static inline gint64
cleave_byte_image_n_bytes (const CleaveByteImage *image)
{
  return image->axis[0].n_taps * image->n_rows * image->n_columns *
             cleave_byte_image_pixel (image) +
         64;
}

/* Copies pixels [begin, end) of a row of the image from the row of x at `from`. None of these
 * pixels is padding. */
static inline void
cleave_byte_image_make (
    const CleaveByteImage *image, gint32 zero, const char *from, gint64 begin, gint64 end, char *to)
{
  const CleaveAxis *axis = &image->axis[2];
  gint64 n = image->n_channels, pixel = cleave_byte_image_pixel (image);
  gint64 step = image->step[2] * axis->x_step, size = cleave_byte_unit_size (image->unit);

  from += (begin * image->step[2] - axis->pad) * axis->x_step;
  to += begin * pixel;
  if (image->multiplier == 1 && image->channel_step == 1 && (step == n || end - begin == 1))
    cleave_byte_units_make (image->unit, image->element, zero, from, 1, to, 1, (end - begin) * n);
  else if (image->multiplier == 1 && image->channel_step == 1 && n > 4)
    for (gint64 i = begin; i < end; i++, from += step, to += pixel)
      cleave_byte_units_make (image->unit, image->element, zero, from, 1, to, 1, n);
  else
    for (gint64 c = 0; c < n * image->multiplier; c++)
      cleave_byte_units_make (image->unit, image->element, zero,
                              from + c / image->multiplier * image->channel_step, step,
                              to + c * size, n * image->multiplier, end - begin);
}

/* Copies a row of x, with its padding, to a row of the image. `from` NULL: the whole row is
 * padding. */
static inline void
cleave_byte_image_make_row (const CleaveByteImage *image, gint32 zero, const char *from, char *to)
{
  const CleaveAxis *axis = &image->axis[2];
  gint64 n = image->n_columns, per = image->n_channels * image->multiplier;
  gint64 pixel = cleave_byte_image_pixel (image);
  gint64 begin = MIN ((MAX (axis->pad, 0) + image->step[2] - 1) / image->step[2], n), end = begin;

  if (from != NULL && axis->n_x + axis->pad > 0)
    end = CLAMP ((axis->n_x + axis->pad - 1) / image->step[2] + 1, begin, n);
  cleave_byte_units_pad (image->unit, image->element, zero, to, begin * per);
  if (end > begin)
    cleave_byte_image_make (image, zero, from, begin, end, to);
  cleave_byte_units_pad (image->unit, image->element, zero, to + end * pixel, (n - end) * per);
}

/* Returns the address in x of position `i` of the image along axis `d`. Returns NULL if the
 * position is padding. */
static inline const char *
cleave_byte_image_find (const CleaveByteImage *image, guint d, gint64 i, const char *x)
{
  const CleaveAxis *axis = &image->axis[d];
  gint64 at = i * image->step[d] - axis->pad;

  return x == NULL || at < 0 || at >= axis->n_x ? NULL : x + at * axis->x_step;
}

/* Copies rows of x to `to`: the rows that the kernel needs to compute rows [row, row + n) of y.
 * `depth` is the index of these rows of y along the outermost spatial axis. */
static inline void
cleave_byte_image_fill (const CleaveByteImage *image,
                        gint32 zero,
                        const char *x,
                        gint64 depth,
                        gint64 row,
                        gint64 n,
                        char *to)
{
  const CleaveAxis *outer = &image->axis[0], *rows = &image->axis[1];
  gint64 n_rows = cleave_byte_axis_reach (rows, n);
  gint64 row_bytes = image->n_columns * cleave_byte_image_pixel (image);

  for (gint64 t = 0; t < outer->n_taps; t++)
    {
      const char *slice =
          cleave_byte_image_find (image, 0, depth * outer->stride + t * outer->dilation, x);

      for (gint64 i = 0; i < n_rows; i++)
        cleave_byte_image_make_row (
            image, zero, cleave_byte_image_find (image, 1, row * rows->stride + i, slice),
            to + (t * image->n_rows + i) * row_bytes);
    }
}
