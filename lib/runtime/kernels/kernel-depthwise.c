/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions with one input channel in each group.  Channels are innermost and independent of
 * each other, so a block of them is a few vectors; the sums of several pixels stay in registers
 * over all taps. */

#include "axis.h"
#include "level.h"
#include "vector.h"

enum { X, W, B };

/* Sums in registers at once. */
#define MAX_PIXELS 4
#define MAX_VECTORS 2
#define SLIDE_PIXELS 6
#define SLIDE_COLUMNS 5

typedef struct
{
  CleaveAxis axis[2];
  gint64 begin_inner, end_inner; /* columns of y that read no padding */
  gint64 n_out, multiplier;      /* channels of y, for each of x */
  gint64 n_batches, x_batch_step, y_batch_step;
  const float *w; /* packed for good; NULL: by each run */
  gint64 w_step;  /* from tap to tap */
} Depthwise;

/* A run of pixels of one row that all read the same taps. */
typedef struct
{
  const float *x, *w, *bias; /* of the first tap; bias may be NULL */
  float *y;
  gint64 n_rows, n_columns; /* taps */
  gint64 x_row, x_column, x_pixel;
  gint64 w_row, w_column;
  gint64 y_pixel;
} Run;

/* Taps first, channels side by side. */
static void
pack (const CleaveView *w, float *to)
{
  guint n = w->type.shape.rank - 2;
  gint64 height = n == 2 ? w->type.shape.dim[2] : 1, width = w->type.shape.dim[1 + n];
  gint64 row = n == 2 ? w->stride[2] : 0, column = w->stride[1 + n];

  for (gint64 h = 0; h < height; h++)
    for (gint64 k = 0; k < width; k++)
      for (gint64 c = 0; c < w->type.shape.dim[0]; c++)
        *to++ = ((const float *) w->data)[c * w->stride[0] + h * row + k * column];
}

static void
pack_constant (const CleaveTensor *base, gconstpointer data, gpointer to)
{
  CleaveView view = cleave_view_tensor (base);

  pack (&view, to);
}

/* A constant is packed whole, so that all pieces share it. */
static void
pack_for_good (Depthwise *d, CleaveTensor *constant, CleaveWeights *weights)
{
  CleaveRange range;
  CleaveTensor *base = cleave_tensor_get_base (constant, &range);
  const CleaveTensorType *type = cleave_tensor_get_type (base);
  gint64 first = range.dim[0].begin;

  for (guint i = 1; i < type->shape.rank; i++)
    if (range.dim[i].begin != 0 || range.dim[i].end != type->shape.dim[i])
      base = constant;
  if (base == constant)
    first = 0;
  type = cleave_tensor_get_type (base);
  d->w_step = type->shape.dim[0];
  d->w = cleave_weights_get (weights, base, "taps first", (gsize) cleave_tensor_type_n_bytes (type),
                             pack_constant, NULL);
  if (d->w != NULL)
    d->w += first;
}

static gboolean
can_serve (const CleaveSite *site, CleaveDims dims)
{
  const CleaveView *x = &site->operands[X];
  const CleaveView *y = &site->results[0];

  return x->type.element == CLEAVE_FLOAT32 && dims.n_spatial >= 1 && dims.n_spatial <= 2 &&
         cleave_has_channels_innermost (x, dims.c) && cleave_has_channels_innermost (y, dims.c) &&
         (!cleave_call_has (&site->call, B) || y->type.shape.dim[dims.c] == 1 ||
          site->operands[B].stride[0] == 1);
}

static void
find_inner (Depthwise *d)
{
  const CleaveAxis *axis = &d->axis[1];
  gint64 last = axis->n_x - 1 + axis->pad - (axis->n_taps - 1) * axis->dilation;

  d->begin_inner = MAX ((axis->pad + axis->stride - 1) / axis->stride, 0);
  d->end_inner = last < 0 ? 0 : MIN (last / axis->stride + 1, axis->n_y);
}

static gboolean
prepare (const CleaveSite *site, CleaveWeights *weights, gpointer *state, gsize *n_scratch)
{
  const CleaveConvAttrs *a = site->call.attrs;
  const CleaveView *x = &site->operands[X];
  const CleaveView *w = &site->operands[W];
  CleaveDims dims = cleave_layout_dims (a->layout, x->type.shape.rank);
  Depthwise *d;

  if (!can_serve (site, dims))
    return FALSE;
  d = g_new0 (Depthwise, 1);
  cleave_axes_init (d->axis, x, &site->results[0], dims, w->type.shape.dim + 2, &a->strides,
                    &a->dilations, &a->pads);
  find_inner (d);
  d->n_out = w->type.shape.dim[0];
  d->multiplier = d->n_out / x->type.shape.dim[dims.c];
  d->n_batches = x->type.shape.dim[dims.n];
  d->x_batch_step = x->stride[dims.n];
  d->y_batch_step = site->results[0].stride[dims.n];
  d->w_step = d->n_out;
  if (site->constants[W] != NULL)
    pack_for_good (d, site->constants[W], weights);
  else
    *n_scratch = (gsize) cleave_tensor_type_n_bytes (&w->type);
  *state = d;
  return TRUE;
}

/* `pixels` times `vectors` of sums at once, both known to the compiler; x is one channel if
 * `spread`. */
static CLEAVE_SPECIALISED void
sum_block (const Run *run,
           gint64 pixel,
           gint64 channel,
           int pixels,
           int vectors,
           gboolean spread,
           gint64 n_columns)
{
  const float *x = run->x + pixel * run->x_pixel + (spread ? 0 : channel);
  const float *w = run->w + channel;
  float *y = run->y + pixel * run->y_pixel + channel;
  CleaveVector sum[MAX_PIXELS * MAX_VECTORS];

  for (int p = 0; p < pixels; p++)
    for (int v = 0; v < vectors; v++)
      sum[p * vectors + v] = run->bias == NULL
                                 ? cleave_vector_all (0)
                                 : cleave_vector_load (run->bias + channel + v * CLEAVE_VECTOR);
  for (gint64 i = 0; i < run->n_rows; i++)
    for (gint64 j = 0; j < n_columns; j++)
      {
        const float *from = x + i * run->x_row + j * run->x_column;
        const float *by = w + i * run->w_row + j * run->w_column;

        for (int p = 0; p < pixels; p++)
          for (int v = 0; v < vectors; v++)
            {
              const float *at = from + p * run->x_pixel;
              CleaveVector a =
                  spread ? cleave_vector_all (*at) : cleave_vector_load (at + v * CLEAVE_VECTOR);

              sum[p * vectors + v] = cleave_vector_fma (
                  a, cleave_vector_load (by + v * CLEAVE_VECTOR), sum[p * vectors + v]);
            }
      }
  for (int p = 0; p < pixels; p++)
    for (int v = 0; v < vectors; v++)
      cleave_vector_store (y + p * run->y_pixel + v * CLEAVE_VECTOR, sum[p * vectors + v]);
}

/* Three columns are common enough to be known to the compiler. */
static CLEAVE_SPECIALISED void
sum_block_of (
    const Run *run, gint64 pixel, gint64 channel, int pixels, int vectors, gboolean spread)
{
  if (run->n_columns == 3)
    sum_block (run, pixel, channel, pixels, vectors, spread, 3);
  else
    sum_block (run, pixel, channel, pixels, vectors, spread, run->n_columns);
}

static void
sum_one_channel (const Run *run, gint64 pixel, gint64 channel, gboolean spread)
{
  const float *x = run->x + pixel * run->x_pixel + (spread ? 0 : channel);
  float sum = run->bias == NULL ? 0 : run->bias[channel];

  for (gint64 i = 0; i < run->n_rows; i++)
    for (gint64 j = 0; j < run->n_columns; j++)
      sum = __builtin_fmaf (x[i * run->x_row + j * run->x_column],
                            run->w[channel + i * run->w_row + j * run->w_column], sum);
  run->y[pixel * run->y_pixel + channel] = sum;
}

/* The last vector may overlap the one before: the same bits are written twice. */
static CLEAVE_SPECIALISED void
sum_channels (const Run *run, gint64 pixel, int pixels, gint64 n_channels, gboolean spread)
{
  gint64 channel = 0;

  for (; channel + MAX_VECTORS * CLEAVE_VECTOR <= n_channels;
       channel += MAX_VECTORS * CLEAVE_VECTOR)
    sum_block_of (run, pixel, channel, pixels, MAX_VECTORS, spread);
  for (; channel + CLEAVE_VECTOR <= n_channels; channel += CLEAVE_VECTOR)
    sum_block_of (run, pixel, channel, pixels, 1, spread);
  if (channel < n_channels && n_channels >= CLEAVE_VECTOR)
    sum_block_of (run, pixel, n_channels - CLEAVE_VECTOR, pixels, 1, spread);
  else
    for (; channel < n_channels; channel++)
      for (int p = 0; p < pixels; p++)
        sum_one_channel (run, pixel + p, channel, spread);
}

static CLEAVE_SPECIALISED void
sum_pixels (const Run *run, gint64 n_pixels, gint64 n_channels, gboolean spread)
{
  gint64 pixel = 0;

  for (; pixel + MAX_PIXELS <= n_pixels; pixel += MAX_PIXELS)
    sum_channels (run, pixel, MAX_PIXELS, n_channels, spread);
  for (; pixel < n_pixels; pixel++)
    sum_channels (run, pixel, 1, n_channels, spread);
}

/* Windows that overlap: each vector of x is loaded once for all pixels of the block that read it.
 * All but the rows is known to the compiler; sums, a row of weights and a vector of x are in
 * registers. */
static CLEAVE_SPECIALISED void
slide_block (const Run *run, gint64 pixel, gint64 channel, int pixels, int stride, int n_columns)
{
  const float *x = run->x + pixel * run->x_pixel + channel;
  const float *w = run->w + channel;
  float *y = run->y + pixel * run->y_pixel + channel;
  CleaveVector first =
      run->bias == NULL ? cleave_vector_all (0) : cleave_vector_load (run->bias + channel);
  CleaveVector sum[SLIDE_PIXELS], by[SLIDE_COLUMNS];

  for (int p = 0; p < pixels; p++)
    sum[p] = first;
  for (gint64 i = 0; i < run->n_rows; i++, x += run->x_row, w += run->w_row)
    {
      for (int j = 0; j < n_columns; j++)
        by[j] = cleave_vector_load (w + j * run->w_column);
#pragma GCC unroll 16
      for (int c = 0; c < (pixels - 1) * stride + n_columns; c++)
        {
          CleaveVector a = cleave_vector_load (x + c * run->x_column);

#pragma GCC unroll 16
          for (int p = 0; p < pixels; p++)
            if (c >= p * stride && c < p * stride + n_columns)
              sum[p] = cleave_vector_fma (a, by[c - p * stride], sum[p]);
        }
    }
  for (int p = 0; p < pixels; p++)
    cleave_vector_store (y + p * run->y_pixel, sum[p]);
}

/* There is at least a vector of channels. */
static CLEAVE_SPECIALISED void
slide_channels (
    const Run *run, gint64 pixel, gint64 n_channels, int pixels, int stride, int n_columns)
{
  gint64 channel = 0;

  for (; channel + CLEAVE_VECTOR <= n_channels; channel += CLEAVE_VECTOR)
    slide_block (run, pixel, channel, pixels, stride, n_columns);
  if (channel < n_channels)
    slide_block (run, pixel, n_channels - CLEAVE_VECTOR, pixels, stride, n_columns);
}

/* What is left over is cut so that no block is short: its sums wait for each other. */
static CLEAVE_SPECIALISED void
slide_pixels (const Run *run, gint64 n_pixels, gint64 n_channels, int stride, int n_columns)
{
  for (gint64 pixel = 0, n; pixel < n_pixels; pixel += n)
    {
      gint64 left = n_pixels - pixel;

      n = left >= 6 && left != 7 ? 6 : left == 5 ? 5 : left >= 4 ? 4 : left;
      if (n == 6)
        slide_channels (run, pixel, n_channels, 6, stride, n_columns);
      else if (n == 5)
        slide_channels (run, pixel, n_channels, 5, stride, n_columns);
      else if (n == 4)
        slide_channels (run, pixel, n_channels, 4, stride, n_columns);
      else if (n == 3)
        slide_channels (run, pixel, n_channels, 3, stride, n_columns);
      else if (n == 2)
        slide_channels (run, pixel, n_channels, 2, stride, n_columns);
      else
        slide_channels (run, pixel, n_channels, 1, stride, n_columns);
    }
}

/* FALSE: neither stride nor columns are of the common ones. */
static gboolean
slide (const Run *run, gint64 n_pixels, gint64 n_channels)
{
  gint64 stride = run->x_pixel == run->x_column ? 1 : run->x_pixel == 2 * run->x_column ? 2 : 0;

  if (n_channels < CLEAVE_VECTOR)
    return FALSE;
  if (run->n_columns == 3 && stride == 1)
    slide_pixels (run, n_pixels, n_channels, 1, 3);
  else if (run->n_columns == 3 && stride == 2)
    slide_pixels (run, n_pixels, n_channels, 2, 3);
  else if (run->n_columns == 5 && stride == 1)
    slide_pixels (run, n_pixels, n_channels, 1, 5);
  else if (run->n_columns == 5 && stride == 2)
    slide_pixels (run, n_pixels, n_channels, 2, 5);
  else
    return FALSE;
  return TRUE;
}

static void
sum_run (const Depthwise *d, const Run *run, gint64 n_pixels)
{
  Run part = *run;

  if (d->multiplier == 1)
    {
      if (!slide (run, n_pixels, d->n_out))
        sum_pixels (run, n_pixels, d->n_out, FALSE);
      return;
    }
  for (gint64 c = 0; c < d->n_out; c += d->multiplier, part.x++)
    {
      part.w = run->w + c;
      part.y = run->y + c;
      part.bias = run->bias == NULL ? NULL : run->bias + c;
      sum_pixels (&part, n_pixels, d->multiplier, TRUE);
    }
}

/* Pixels on a border one by one, those between at once. */
static void
run_row (const Depthwise *d, const Run *row, const CleaveTaps *rows, const float *x, float *y)
{
  const CleaveAxis *axis = &d->axis[1];
  Run run = *row;

  for (gint64 pixel = 0, end; pixel < axis->n_y; pixel = end)
    {
      CleaveTaps columns = cleave_axis_taps (axis, pixel);

      end = pixel == d->begin_inner ? MAX (d->end_inner, pixel + 1) : pixel + 1;
      run.n_columns = rows->last == 0 ? 0 : columns.last - columns.first;
      run.x = x + columns.at * axis->x_step;
      run.w = row->w + columns.first * run.w_column;
      run.y = y + pixel * axis->y_step;
      sum_run (d, &run, end - pixel);
    }
}

/* `y_at`: where the image begins in the result. */
static void
run_image (const Depthwise *d,
           const CleaveSite *site,
           const float *x,
           const float *w,
           const float *bias,
           gint64 y_at)
{
  float *y = (float *) site->results[0].data + y_at;
  const CleaveAxis *rows = &d->axis[0];
  const CleaveAxis *columns = &d->axis[1];
  Run run = { .bias = bias,
              .x_row = rows->dilation * rows->x_step,
              .x_column = columns->dilation * columns->x_step,
              .x_pixel = columns->stride * columns->x_step,
              .w_row = columns->n_taps * d->w_step,
              .w_column = d->w_step,
              .y_pixel = columns->y_step };

  for (gint64 i = 0; i < rows->n_y; i++)
    {
      CleaveTaps taps = cleave_axis_taps (rows, i);

      run.n_rows = taps.last - taps.first;
      run.w = w + taps.first * run.w_row;
      run_row (d, &run, &taps, x + taps.at * rows->x_step, y + i * rows->y_step);
      cleave_site_made (site, y_at + i * rows->y_step, y_at + (i + 1) * rows->y_step);
    }
}

static void
run (gconstpointer state, const CleaveSite *site, gpointer scratch)
{
  const Depthwise *d = state;
  const float *bias = cleave_call_has (&site->call, B) ? site->operands[B].data : NULL;
  const float *w = d->w;

  if (w == NULL)
    {
      pack (&site->operands[W], scratch);
      w = scratch;
    }
  for (gint64 n = 0; n < d->n_batches; n++)
    run_image (d, site, (const float *) site->operands[X].data + n * d->x_batch_step, w, bias,
               n * d->y_batch_step);
}

static gboolean
tells (gconstpointer state)
{
  const Depthwise *d = state;

  return cleave_axes_nest (d->axis, d->n_out, d->n_batches, d->y_batch_step);
}

static gboolean
reads (gconstpointer state, guint operand)
{
  const Depthwise *d = state;

  return operand != W || d->w == NULL;
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_depthwise); /* for levels.h */
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_depthwise) = {
  .prepare = prepare, .run = run, .free = g_free, .tells = tells, .reads = reads
};
