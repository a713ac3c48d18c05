/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Channels are independent of each other, so a block of them is a few vectors; the sums of several
 * pixels stay in registers over all taps.
 *
 * Over 400 lines: one loop nest in its forms, which share their registers and pointers. */

#include "depthwise-rows.h"
#include "upcast.h"

/* Sums in registers at once. */
#define MAX_PIXELS 4
#define MAX_VECTORS 2
#define SLIDE_PIXELS 6
#define SLIDE_COLUMNS 5

enum { X };

static void
find_inner (CleaveDepthwise *d)
{
  const CleaveAxis *axis = &d->axis[1];
  gint64 last = axis->n_x - 1 + axis->pad - (axis->n_taps - 1) * axis->dilation;

  d->begin_inner = MAX ((axis->pad + axis->stride - 1) / axis->stride, 0);
  d->end_inner = last < 0 ? 0 : MIN (last / axis->stride + 1, axis->n_y);
}

void
cleave_depthwise_init (CleaveDepthwise *d,
                       const CleaveKernelInstance *instance,
                       const CleaveView *w,
                       CleaveDims dims)
{
  const CleaveConvAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[X];

  cleave_axes_init (d->axis, x, &instance->results[0], dims, w->type.shape.dim + 2, &a->strides,
                    &a->dilations, &a->pads);
  d->depth = (CleaveAxis) CLEAVE_AXIS_NONE;
  if (dims.n_spatial == 3)
    d->depth = cleave_axis_of (0, x, &instance->results[0], dims, w->type.shape.dim + 2,
                               &a->strides, &a->dilations, &a->pads);
  if (d->depth.n_y == 1)
    d->depth.y_step = d->axis[0].n_y * d->axis[0].y_step;
  find_inner (d);
  d->n_out = w->type.shape.dim[0];
  d->multiplier = d->n_out / x->type.shape.dim[dims.c];
  d->w_step = d->n_out;
}

void
cleave_depthwise_pack (const CleaveView *w, float *to)
{
  gint64 extent[3] = { 1, 1, 1 }, step[3] = { 0 };
  guint n = w->type.shape.rank - 2;
  gint64 size = (gint64) cleave_element_size (w->type.element), n_out = w->type.shape.dim[0];

  for (guint i = 0; i < n; i++)
    {
      extent[3 - n + i] = w->type.shape.dim[2 + i];
      step[3 - n + i] = w->stride[2 + i];
    }
  for (gint64 d = 0; d < extent[0]; d++)
    for (gint64 h = 0; h < extent[1]; h++)
      for (gint64 k = 0; k < extent[2]; k++, to += n_out)
        cleave_upcast (w->type.element,
                       (const char *) w->data + (d * step[0] + h * step[1] + k * step[2]) * size,
                       w->stride[0], 0, to, n_out);
}

/* A run of pixels of one row that all read the same taps. */
typedef struct
{
  const float *x, *w, *bias; /* of the first tap; bias may be NULL */
  float *y;
  gint64 n_planes, n_rows, n_columns; /* taps */
  gint64 x_plane, x_row, x_column, x_pixel;
  gint64 w_plane, w_row, w_column;
  gint64 y_pixel;
  gint64 period;                  /* channels after which weights begin again */
  const CleaveEpilogue *epilogue; /* NULL: none */
} Run;

/* A vector of what there is one of for each channel, from channel `at` on. */
static CLEAVE_SPECIALISED CleaveVector
load_channels (const Run *run, const float *from, gint64 at, gboolean paired)
{
  gint64 high = at + CLEAVE_HALF;

  if (!paired)
    return cleave_vector_load (from + at);
  return cleave_vector_load_halves (from + (at < run->period ? at : at - run->period),
                                    from + (high < run->period ? high : high - run->period));
}

/* Of sums that are all there. */
static CLEAVE_SPECIALISED void
do_epilogue (const Run *run, const float *y, int pixels, int vectors, CleaveVector *sum)
{
  const CleaveEpilogueAt at = { .y = y, .step = run->y_pixel, .column = { 0, CLEAVE_VECTOR } };

  if (run->epilogue != NULL)
    cleave_epilogue_do (run->epilogue, &at, pixels, vectors, sum);
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
  for (gint64 h = 0; h < run->n_planes; h++, x += run->x_plane, w += run->w_plane)
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
  do_epilogue (run, y, pixels, vectors, sum);
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
  const float *w = run->w + channel;
  float sum = run->bias == NULL ? 0 : run->bias[channel];

  for (gint64 h = 0; h < run->n_planes; h++, x += run->x_plane, w += run->w_plane)
    for (gint64 i = 0; i < run->n_rows; i++)
      for (gint64 j = 0; j < run->n_columns; j++)
        sum = __builtin_fmaf (x[i * run->x_row + j * run->x_column],
                              w[i * run->w_row + j * run->w_column], sum);
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
  if (n_channels >= CLEAVE_VECTOR)
    for (; channel < n_channels; channel += CLEAVE_VECTOR)
      sum_block_of (run, pixel, MIN (channel, n_channels - CLEAVE_VECTOR), pixels, 1, spread);
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

/* A row of taps: each vector of x is loaded once for all pixels of the block that read it. */
static CLEAVE_SPECIALISED void
slide_row (const Run *run,
           const float *x,
           const float *w,
           gint64 channel,
           int pixels,
           int stride,
           int n_columns,
           gboolean paired,
           CleaveVector *sum)
{
  CleaveVector by[SLIDE_COLUMNS];

  CLEAVE_EACH (j, n_columns)
    by[j] = cleave_vector_keep (load_channels (run, w + j * run->w_column, channel, paired));
  CLEAVE_EACH (c, (pixels - 1) * stride + n_columns)
    {
      CleaveVector a = cleave_vector_keep (cleave_vector_load (x));

      CLEAVE_EACH (p, pixels)
        if (c >= p * stride && c < p * stride + n_columns)
          sum[p] = cleave_vector_fma (a, by[c - p * stride], sum[p]);
      x += run->x_column;
    }
}

/* Windows that overlap.  All but the planes and rows is known to the compiler; sums, a row of
 * weights and a vector of x are in registers. */
static CLEAVE_SPECIALISED void
slide_block (const Run *run,
             gint64 pixel,
             gint64 channel,
             int pixels,
             int stride,
             int n_columns,
             gboolean paired)
{
  const float *x = run->x + pixel * run->x_pixel + channel;
  const float *w = run->w;
  float *y = run->y + pixel * run->y_pixel + channel;
  CleaveVector first =
      run->bias == NULL ? cleave_vector_all (0) : load_channels (run, run->bias, channel, paired);
  CleaveVector sum[SLIDE_PIXELS];

  CLEAVE_EACH (p, pixels)
    sum[p] = first;
  for (gint64 h = 0; h < run->n_planes; h++)
    for (gint64 i = 0; i < run->n_rows; i++)
      slide_row (run, x + h * run->x_plane + i * run->x_row, w + h * run->w_plane + i * run->w_row,
                 channel, pixels, stride, n_columns, paired, sum);
  do_epilogue (run, y, pixels, 1, sum);
  CLEAVE_EACH (p, pixels)
    cleave_vector_store (y + p * run->y_pixel, sum[p]);
}

/* There is at least a vector of channels. */
static CLEAVE_SPECIALISED void
slide_channels (const Run *run,
                gint64 pixel,
                gint64 n_channels,
                int pixels,
                int stride,
                int n_columns,
                gboolean paired)
{
  for (gint64 channel = 0; channel < n_channels; channel += CLEAVE_VECTOR)
    slide_block (run, pixel, MIN (channel, n_channels - CLEAVE_VECTOR), pixels, stride, n_columns,
                 paired);
}

/* What is left over is cut so that no block is short: its sums wait for each other. */
static CLEAVE_SPECIALISED void
slide_pixels (
    const Run *run, gint64 n_pixels, gint64 n_channels, int stride, int n_columns, gboolean paired)
{
  for (gint64 pixel = 0, n; pixel < n_pixels; pixel += n)
    {
      gint64 left = n_pixels - pixel;

      n = left >= 6 && left != 7 ? 6 : left == 5 ? 5 : left >= 4 ? 4 : left;
      if (n == 6)
        slide_channels (run, pixel, n_channels, 6, stride, n_columns, paired);
      else if (n == 5)
        slide_channels (run, pixel, n_channels, 5, stride, n_columns, paired);
      else if (n == 4)
        slide_channels (run, pixel, n_channels, 4, stride, n_columns, paired);
      else if (n == 3)
        slide_channels (run, pixel, n_channels, 3, stride, n_columns, paired);
      else if (n == 2)
        slide_channels (run, pixel, n_channels, 2, stride, n_columns, paired);
      else
        slide_channels (run, pixel, n_channels, 1, stride, n_columns, paired);
    }
}

/* Where channels fill vectors and a half, and pixels lie side by side, two neighbours are one pixel
 * of twice as many channels, with the same weights again; windows are two columns apart.  Tells how
 * many pixels it made. */
static gint64
slide_pairs (const Run *run, gint64 n_pixels, gint64 n_channels)
{
  Run pairs = *run;

  if (n_channels % CLEAVE_VECTOR != CLEAVE_HALF || run->x_pixel != n_channels ||
      run->x_column != n_channels || run->y_pixel != n_channels ||
      (run->epilogue != NULL && run->epilogue->by_channels))
    return 0;
  pairs.x_pixel *= 2;
  pairs.y_pixel *= 2;
  pairs.period = n_channels;
  if (run->n_columns == 3)
    slide_pixels (&pairs, n_pixels / 2, 2 * n_channels, 2, 3, TRUE);
  else if (run->n_columns == 5)
    slide_pixels (&pairs, n_pixels / 2, 2 * n_channels, 2, 5, TRUE);
  else
    return 0;
  return n_pixels / 2 * 2;
}

/* FALSE: neither stride nor columns are of the common ones. */
static gboolean
slide (const Run *run, gint64 n_pixels, gint64 n_channels)
{
  gint64 stride = run->x_pixel == run->x_column ? 1 : run->x_pixel == 2 * run->x_column ? 2 : 0;

  if (n_channels < CLEAVE_VECTOR)
    return FALSE;
  if (run->n_columns == 3 && stride == 1)
    slide_pixels (run, n_pixels, n_channels, 1, 3, FALSE);
  else if (run->n_columns == 3 && stride == 2)
    slide_pixels (run, n_pixels, n_channels, 2, 3, FALSE);
  else if (run->n_columns == 5 && stride == 1)
    slide_pixels (run, n_pixels, n_channels, 1, 5, FALSE);
  else if (run->n_columns == 5 && stride == 2)
    slide_pixels (run, n_pixels, n_channels, 2, 5, FALSE);
  else
    return FALSE;
  return TRUE;
}

static void
sum_channels_of_x (const Run *run, gint64 n_pixels, gint64 n_channels)
{
  gint64 done = slide_pairs (run, n_pixels, n_channels);
  Run rest = *run;

  rest.x += done * run->x_pixel;
  rest.y += done * run->y_pixel;
  if (done < n_pixels && !slide (&rest, n_pixels - done, n_channels))
    sum_pixels (&rest, n_pixels - done, n_channels, FALSE);
}

static void
sum_run (const CleaveDepthwise *d, const Run *run, gint64 n_pixels)
{
  Run part = *run;

  if (d->multiplier == 1)
    {
      sum_channels_of_x (run, n_pixels, d->n_out);
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

/* Pixels on a I/O binding one by one, those between at once. */
void
cleave_depthwise_run_row (const CleaveDepthwise *d, const CleaveDepthwiseRow *row)
{
  const CleaveAxis *rows = &d->axis[0], *axis = &d->axis[1];
  gint64 w_row = axis->n_taps * d->w_step;
  gint64 w_plane = rows->n_taps * w_row;
  Run run = { .bias = row->bias,
              .n_planes = row->planes.last - row->planes.first,
              .n_rows = row->taps.last - row->taps.first,
              .x_plane = d->depth.dilation * d->depth.x_step,
              .x_row = rows->dilation * rows->x_step,
              .x_column = axis->dilation * axis->x_step,
              .x_pixel = axis->stride * axis->x_step,
              .w_plane = w_plane,
              .w_row = w_row,
              .w_column = d->w_step,
              .y_pixel = axis->y_step,
              .epilogue = row->epilogue };

  for (gint64 pixel = 0, end; pixel < axis->n_y; pixel = end)
    {
      CleaveTaps columns = cleave_axis_taps (axis, pixel);

      end = pixel == d->begin_inner ? MAX (d->end_inner, pixel + 1) : pixel + 1;
      run.n_columns = row->taps.last == 0 ? 0 : columns.last - columns.first;
      run.x = row->x + columns.at * axis->x_step;
      run.w = row->w + row->planes.first * w_plane + row->taps.first * w_row +
              columns.first * d->w_step;
      run.y = row->y + pixel * axis->y_step;
      sum_run (d, &run, end - pixel);
    }
}
