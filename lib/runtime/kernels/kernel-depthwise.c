/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions with one input channel in each group.  Channels are innermost and independent of
 * each other, so a block of them is a few vectors; the sums of several pixels stay in registers
 * over all taps.  Of bytes and of 16-bit floats, what a few rows read becomes floats in scratch. */

#include "axis.h"
#include "exact.h"
#include "level.h"
#include "pixels.h"
#include "places.h"
#include "vector.h"

enum { X, W, B }; /* of floats */

/* Rows of y that are made of one strip of widened x. */
#define STRIP 4
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

/* The same of bytes or 16-bit floats: the axes of `floats` are those of dense floats. */
typedef struct
{
  Depthwise floats;
  CleavePlaces places;
  CleavePixels x, y;
  gint64 x_image_step, y_image_step;         /* of the views */
  gsize at_x, at_y, at_w, at_bias, at_scale; /* in scratch */
  gboolean y_is_dense;
} Widened;

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
  gint64 size = (gint64) cleave_element_size (w->type.element), n_out = w->type.shape.dim[0];

  for (gint64 h = 0; h < height; h++)
    for (gint64 k = 0; k < width; k++, to += n_out)
      cleave_widen (w->type.element, (const char *) w->data + (h * row + k * column) * size,
                    w->stride[0], 0, to, n_out);
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

/* Without the weights. */
static void
plan (Depthwise *d, const CleaveSite *site, const CleaveView *w, CleaveDims dims)
{
  const CleaveConvAttrs *a = site->call.attrs;
  const CleaveView *x = &site->operands[X];

  cleave_axes_init (d->axis, x, &site->results[0], dims, w->type.shape.dim + 2, &a->strides,
                    &a->dilations, &a->pads);
  find_inner (d);
  d->n_out = w->type.shape.dim[0];
  d->multiplier = d->n_out / x->type.shape.dim[dims.c];
  d->n_batches = x->type.shape.dim[dims.n];
  d->x_batch_step = x->stride[dims.n];
  d->y_batch_step = site->results[0].stride[dims.n];
  d->w_step = d->n_out;
}

static gboolean
prepare_floats (const CleaveSite *site,
                CleaveDims dims,
                CleaveWeights *weights,
                gpointer *state,
                gsize *n_scratch)
{
  const CleaveView *w = &site->operands[W];
  Widened *s;

  if (!can_serve (site, dims))
    return FALSE;
  s = g_new0 (Widened, 1);
  plan (&s->floats, site, w, dims);
  if (site->constants[W] != NULL)
    pack_for_good (&s->floats, site->constants[W], weights);
  else
    *n_scratch = (gsize) cleave_tensor_type_n_bytes (&w->type);
  *state = s;
  return TRUE;
}

/* What rows [begin, end) of y read.  With dilation a later row may begin before an earlier one,
 * whose first taps are padding. */
static CleaveSpan
rows_of_x (const CleaveAxis *axis, gint64 begin, gint64 end)
{
  CleaveSpan rows = { 0, 0 };

  for (gint64 i = begin; i < end; i++)
    {
      CleaveTaps taps = cleave_axis_taps (axis, i);
      gint64 last = taps.at + (taps.last - taps.first - 1) * axis->dilation + 1;

      if (taps.last == 0)
        continue;
      rows.begin = rows.end == 0 ? taps.at : MIN (rows.begin, taps.at);
      rows.end = MAX (rows.end, last);
    }
  return rows;
}

static gsize
lay_out (Widened *s)
{
  const CleaveAxis *axis = s->floats.axis;
  gint64 n_rows = 0, n_taps = axis[0].n_taps * axis[1].n_taps;
  gsize n = 0;

  for (gint64 i = 0; i < axis[0].n_y; i += STRIP)
    {
      CleaveSpan rows = rows_of_x (&axis[0], i, MIN (i + STRIP, axis[0].n_y));

      n_rows = MAX (n_rows, rows.end - rows.begin);
    }
  s->at_x = cleave_take_scratch (&n, n_rows * axis[1].n_x * s->x.n_channels);
  s->at_y = cleave_take_scratch (&n, axis[1].n_y * s->y.n_channels);
  s->at_w = cleave_take_scratch (&n, n_taps * s->y.n_channels);
  s->at_bias = cleave_take_scratch (&n, s->y.n_channels);
  s->at_scale = cleave_take_scratch (&n, s->y.n_channels);
  return n;
}

/* Whether floats hold all sums of bytes there are. */
static gboolean
is_exact (const CleaveSite *site, const CleavePlaces *p)
{
  const CleaveTensorType *w = &site->operands[p->w].type;
  gint64 n_taps = cleave_shape_n_elements (&w->shape) / w->shape.dim[0];
  gint64 x = cleave_largest_byte (site->operands[X].type.element,
                                  cleave_call_has (&site->call, p->x_zero), NULL);

  return n_taps <= CLEAVE_EXACT &&
         n_taps * x *
                 cleave_largest_byte (w->element, cleave_call_has (&site->call, p->w_zero), NULL) <=
             CLEAVE_EXACT;
}

static gboolean
prepare_widened (const CleaveSite *site, CleaveDims dims, gpointer *state, gsize *n_scratch)
{
  CleaveView x = cleave_pixels_shadow (&site->operands[X], dims);
  CleaveView y = cleave_pixels_shadow (&site->results[0], dims);
  CleaveSite floats = { .call = site->call, .operands = &x, .results = &y };
  CleavePlaces places = cleave_places_find (&site->call);
  Widened *s;

  if (dims.n_spatial < 1 || dims.n_spatial > 2 ||
      (cleave_is_byte (site->operands[X].type.element) && !is_exact (site, &places)))
    return FALSE;
  s = g_new0 (Widened, 1);
  s->places = places;
  plan (&s->floats, &floats, &site->operands[places.w], dims);
  s->x = cleave_pixels_of (&site->operands[X], dims);
  s->y = cleave_pixels_of (&site->results[0], dims);
  s->x_image_step = site->operands[X].stride[dims.n];
  s->y_image_step = site->results[0].stride[dims.n];
  s->y_is_dense = cleave_pixels_are_dense (&site->results[0], dims);
  *n_scratch = lay_out (s);
  *state = s;
  return TRUE;
}

static gboolean
prepare (const CleaveSite *site, CleaveWeights *weights, gpointer *state, gsize *n_scratch)
{
  const CleaveConvAttrs *a = site->call.attrs;
  CleaveDims dims = cleave_layout_dims (a->layout, site->operands[X].type.shape.rank);

  return site->operands[X].type.element == CLEAVE_FLOAT32
             ? prepare_floats (site, dims, weights, state, n_scratch)
             : prepare_widened (site, dims, state, n_scratch);
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

/* What all rows have in common. */
static Run
begin_run (const Depthwise *d, const float *bias)
{
  const CleaveAxis *rows = &d->axis[0];
  const CleaveAxis *columns = &d->axis[1];

  return (Run){ .bias = bias,
                .x_row = rows->dilation * rows->x_step,
                .x_column = columns->dilation * columns->x_step,
                .x_pixel = columns->stride * columns->x_step,
                .w_row = columns->n_taps * d->w_step,
                .w_column = d->w_step,
                .y_pixel = columns->y_step };
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
  Run run = begin_run (d, bias);

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
run_floats (const Depthwise *d, const CleaveSite *site, gpointer scratch)
{
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

/* A run of bytes or 16-bit floats at work. */
typedef struct
{
  const Widened *s;
  const CleaveSite *site;
  gint32 x_zero;
  CleaveFinish finish;
  const float *bias;
  float *x, *y, *w;
} Work;

static Work
begin_work (const Widened *s, const CleaveSite *site, char *scratch)
{
  gint64 n_out = s->y.n_channels;
  gint64 n_taps = s->floats.axis[0].n_taps * s->floats.axis[1].n_taps;
  Work work = { .s = s,
                .site = site,
                .x_zero = (gint32) cleave_places_load (site, s->places.x_zero, 0),
                .finish = { .element = site->results[0].type.element },
                .x = (float *) (void *) (scratch + s->at_x),
                .y = (float *) (void *) (scratch + s->at_y),
                .w = (float *) (void *) (scratch + s->at_w) };

  pack (&site->operands[s->places.w], work.w);
  if (cleave_call_has (&site->call, s->places.w_zero))
    for (gint64 c = 0; c < n_out; c++)
      for (gint64 t = 0; t < n_taps; t++)
        work.w[t * n_out + c] -= (float) cleave_places_load (site, s->places.w_zero, c);
  work.bias = cleave_places_read_bias (&s->places, site, (float *) (void *) (scratch + s->at_bias));
  cleave_places_read_scales (&s->places, site, n_out, (guint32 *) (void *) (scratch + s->at_bias),
                             (float *) (void *) (scratch + s->at_scale), &work.finish);
  return work;
}

static void
finish_line (gconstpointer self, gint64 at, gpointer y, gint64 step, gint64 n)
{
  const Work *work = self;

  cleave_finish_floats (&work->finish, work->y + at, y, step, n);
}

/* Rows [begin, end) of an image. */
static void
run_strip (const Work *work, gconstpointer x, gpointer y, gint64 begin, gint64 end)
{
  const Widened *s = work->s;
  const Depthwise *d = &s->floats;
  const CleaveAxis *rows = &d->axis[0], *columns = &d->axis[1];
  CleaveSpan of_x = rows_of_x (rows, begin, end);
  Run run = begin_run (d, work->bias);

  cleave_pixels_widen (&s->x, work->site->operands[X].type.element, work->x_zero, x,
                       of_x.begin * columns->n_x, of_x.end * columns->n_x, work->x);
  for (gint64 i = begin; i < end; i++)
    {
      CleaveTaps taps = cleave_axis_taps (rows, i);

      run.n_rows = taps.last - taps.first;
      run.w = work->w + taps.first * run.w_row;
      run_row (d, &run, &taps, work->x + (taps.last == 0 ? 0 : taps.at - of_x.begin) * rows->x_step,
               work->y);
      cleave_pixels_finish (&s->y, (gint64) cleave_element_size (work->finish.element),
                            work->finish.scale != NULL, y, i * columns->n_y, (i + 1) * columns->n_y,
                            finish_line, work);
    }
}

static void
run_widened (const Widened *s, const CleaveSite *site, gpointer scratch)
{
  const CleaveAxis *rows = &s->floats.axis[0];
  gint64 x_size = (gint64) cleave_element_size (site->operands[X].type.element);
  gint64 y_size = (gint64) cleave_element_size (site->results[0].type.element);
  Work work = begin_work (s, site, scratch);

  for (gint64 n = 0; n < s->floats.n_batches; n++)
    for (gint64 i = 0, end; i < rows->n_y; i = end)
      {
        gint64 at = n * s->y_image_step;

        end = MIN (i + STRIP, rows->n_y);
        run_strip (&work, (const char *) site->operands[X].data + n * s->x_image_step * x_size,
                   (char *) site->results[0].data + at * y_size, i, end);
        if (s->y_is_dense)
          cleave_site_made (site, at + i * rows->y_step, at + end * rows->y_step);
      }
}

static gboolean
is_widened (const Widened *s)
{
  return s->y.n_dims > 0;
}

static void
run (gconstpointer state, const CleaveSite *site, gpointer scratch)
{
  const Widened *s = state;

  if (is_widened (s))
    run_widened (s, site, scratch);
  else
    run_floats (&s->floats, site, scratch);
}

static gboolean
tells (gconstpointer state)
{
  const Widened *s = state;
  const Depthwise *d = &s->floats;

  return is_widened (s) ? s->y_is_dense
                        : cleave_axes_nest (d->axis, d->n_out, d->n_batches, d->y_batch_step);
}

static gboolean
reads (gconstpointer state, guint operand)
{
  const Widened *s = state;

  return s->floats.w == NULL || operand != W;
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_depthwise); /* for levels.h */
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_depthwise) = {
  .prepare = prepare, .run = run, .free = g_free, .tells = tells, .reads = reads
};
