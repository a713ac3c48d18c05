/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Depthwise convolution of one row of the result. Channels are independent, so a block of channels
 * is a few vectors. The sums of several pixels stay in registers over all taps.
 *
 * Over 400 lines: one loop over pixels and taps in several variants, which share registers and
 * pointers. */

#include "depthwise-rows.h"
#include "grouped-sums.h"
#include "in-place.h"
#include "upcast.h"

/* MAX_PIXELS and MAX_VECTORS: numbers of pixels and of vectors of channels whose sums are in
 * registers at the same time. slide_block() has limits of its own: SLIDE_PIXELS pixels and
 * SLIDE_COLUMNS columns of taps. */
#define MAX_PIXELS 4
#define MAX_VECTORS 2
#define SLIDE_COLUMNS 7
/* Number of vectors of x that a block may load before it multiplies them; more loads would spill
 * registers. */
#define LOADS_AT_ONCE 3
/* Number of pixels of slide_block(). NEON multiplies two vectors per cycle and takes four cycles
 * for a sum, so with fewer than 8 sums it waits. */
#if defined(CLEAVE_NEON)
#define SLIDE_PIXELS 8
#else
#define SLIDE_PIXELS 6
#endif

enum { X };

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
  d->apart =
      d->axis[1].dilation % d->axis[1].stride == 0 ? d->axis[1].dilation / d->axis[1].stride : 1;
  cleave_axis_find_inner (&d->axis[1], &d->begin_inner, &d->end_inner);
  d->n_out = w->type.shape.dim[0];
  d->multiplier = d->n_out / x->type.shape.dim[dims.c];
  d->n_in = w->type.shape.dim[1];
  d->w_channel = d->n_out;
  d->w_step = d->n_in * d->n_out;
}

void
cleave_depthwise_pack (const CleaveView *w, float *to)
{
  gint64 extent[3] = { 1, 1, 1 }, step[3] = { 0 };
  guint n = w->type.shape.rank - 2;
  gint64 size = (gint64) cleave_element_size (w->type.element), n_out = w->type.shape.dim[0];
  gint64 n_in = w->type.shape.dim[1];

  for (guint i = 0; i < n; i++)
    {
      extent[3 - n + i] = w->type.shape.dim[2 + i];
      step[3 - n + i] = w->stride[2 + i];
    }
  for (gint64 d = 0; d < extent[0]; d++)
    for (gint64 h = 0; h < extent[1]; h++)
      for (gint64 k = 0; k < extent[2]; k++)
        for (gint64 i = 0; i < n_in; i++, to += n_out)
          cleave_upcast (w->type.element,
                         (const char *) w->data +
                             (d * step[0] + h * step[1] + k * step[2] + i * w->stride[1]) * size,
                         w->stride[0], 0, to, n_out);
}

/* The assignment of channels to the lanes of a vector. */
typedef enum {
  ALL,    /* each lane holds a channel */
  PAIRED, /* the lanes hold the channels of two adjacent pixels; each pixel fills a vector and a
             half */
  SOME /* the first `n_some` lanes hold channels; a block neither reads nor writes the other lanes
        */
} Lanes;

typedef CleaveDepthwiseRun Run;

static CLEAVE_SPECIALISED CleaveVector
load (const Run *run, const float *from, Lanes lanes)
{
  return lanes == SOME ? cleave_vector_load_some (from, run->n_some) : cleave_vector_load (from);
}

static CLEAVE_SPECIALISED void
store (const Run *run, float *to, CleaveVector v, Lanes lanes)
{
  if (lanes == SOME)
    cleave_vector_store_some (to, v, run->n_some);
  else
    cleave_vector_store (to, v);
}

/* Loads one value per channel into each lane. Lane 0 gets channel `at`. */
static CLEAVE_SPECIALISED CleaveVector
load_channels (const Run *run, const float *from, gint64 at, Lanes lanes)
{
  gint64 high = at + CLEAVE_HALF;

  if (lanes != PAIRED)
    return load (run, from + at, lanes);
  return cleave_vector_load_halves (from + (at < run->period ? at : at - run->period),
                                    from + (high < run->period ? high : high - run->period));
}

/* Applies the epilogue ops to the sums of a block, before the block is stored at `y`. */
static CLEAVE_SPECIALISED void
do_epilogue (
    const Run *run, const float *y, int pixels, int vectors, Lanes lanes, CleaveVector *sum)
{
  const CleaveEpilogueAt at = { .y = y,
                                .step = run->y_pixel,
                                .column = { 0, CLEAVE_VECTOR },
                                .m = run->n_some,
                                .some = lanes == SOME };

  if (run->epilogue != NULL)
    cleave_epilogue_do (run->epilogue, &at, pixels, vectors, sum);
}

/* Computes the sums of `pixels` pixels times `vectors` vectors of channels; both numbers are
 * compile-time constants. `spread`: x has a single channel, which all channels of y read. */
static CLEAVE_SPECIALISED void
sum_block (const Run *run,
           gint64 pixel,
           gint64 channel,
           int pixels,
           int vectors,
           Lanes lanes,
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
                                 : load (run, run->bias + channel + v * CLEAVE_VECTOR, lanes);
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
                    spread ? cleave_vector_all (*at) : load (run, at + v * CLEAVE_VECTOR, lanes);

                sum[p * vectors + v] = cleave_vector_fma (
                    a, load (run, by + v * CLEAVE_VECTOR, lanes), sum[p * vectors + v]);
              }
        }
  do_epilogue (run, y, pixels, vectors, lanes, sum);
  for (int p = 0; p < pixels; p++)
    for (int v = 0; v < vectors; v++)
      store (run, y + p * run->y_pixel + v * CLEAVE_VECTOR, sum[p * vectors + v], lanes);
}

/* Calls sum_block(). In the common case of three columns of taps, passes the number of columns as a
 * compile-time constant. */
static CLEAVE_SPECIALISED void
sum_block_of (const Run *run,
              gint64 pixel,
              gint64 channel,
              int pixels,
              int vectors,
              Lanes lanes,
              gboolean spread)
{
  if (run->n_columns == 3)
    sum_block (run, pixel, channel, pixels, vectors, lanes, spread, 3);
  else
    sum_block (run, pixel, channel, pixels, vectors, lanes, spread, run->n_columns);
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

/* Computes all channels of `pixels` pixels. If the channels do not fill whole vectors, the last
 * vector overlaps the vector before it, and both vectors compute equal results for the shared
 * channels. */
static CLEAVE_SPECIALISED void
sum_channels (const Run *run, gint64 pixel, int pixels, gint64 n_channels, gboolean spread)
{
  gint64 channel = 0;

  for (; channel + MAX_VECTORS * CLEAVE_VECTOR <= n_channels;
       channel += MAX_VECTORS * CLEAVE_VECTOR)
    sum_block_of (run, pixel, channel, pixels, MAX_VECTORS, ALL, spread);
  if (n_channels >= CLEAVE_VECTOR)
    for (; channel < n_channels; channel += CLEAVE_VECTOR)
      sum_block_of (run, pixel, MIN (channel, n_channels - CLEAVE_VECTOR), pixels, 1, ALL, spread);
  else if (CLEAVE_DEPTHWISE_PARTIAL)
    {
      sum_block_of (run, pixel, 0, pixels, 1, SOME, spread);
      return;
    }
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

/* The functions below keep a row of weights and the sums of a block in registers. At v1, each
 * multiply-add is a call that overwrites all registers: the functions would save no load, and would
 * compile for a minute. */
#if defined(CLEAVE_HAS_FMA)
/* Multiplies a row of taps by x and adds the products to the sums. Loads each vector of x once for
 * all pixels of the block that read it. */
static CLEAVE_SPECIALISED void
slide_row (const Run *run,
           const float *x,
           const float *w,
           gint64 channel,
           int pixels,
           int stride,
           int n_columns,
           Lanes lanes,
           CleaveVector *sum)
{
  CleaveVector by[SLIDE_COLUMNS];

  CLEAVE_EACH (j, n_columns)
    by[j] = cleave_vector_keep (load_channels (run, w + j * run->w_column, channel, lanes));
  CLEAVE_EACH (c, (pixels - 1) * stride + n_columns)
    {
      CleaveVector a = cleave_vector_keep (load (run, x, lanes));

      CLEAVE_EACH (p, pixels)
        if (c >= p * stride && c < p * stride + n_columns)
          sum[p] = cleave_in_place_fma (a, by[c - p * stride], sum[p]);
      x += run->x_column;
      if (c % LOADS_AT_ONCE == LOADS_AT_ONCE - 1)
        CLEAVE_LOADS_END (x);
    }
}

/* Computes a block of pixels with overlapping windows. The numbers of planes and rows are
 * variables; all other numbers are compile-time constants. The sums, a row of weights and a vector
 * of x are in registers. */
static CLEAVE_SPECIALISED void
slide_block (const Run *run,
             gint64 pixel,
             gint64 channel,
             int pixels,
             int stride,
             int n_columns,
             Lanes lanes)
{
  const float *x = run->x + pixel * run->x_pixel + channel;
  const float *w = run->w;
  float *y = run->y + pixel * run->y_pixel + channel;
  CleaveVector first =
      run->bias == NULL ? cleave_vector_all (0) : load_channels (run, run->bias, channel, lanes);
  CleaveVector sum[SLIDE_PIXELS];

  CLEAVE_EACH (p, pixels)
    sum[p] = first;
  for (gint64 h = 0; h < run->n_planes; h++)
    for (gint64 i = 0; i < run->n_rows; i++)
      slide_row (run, x + h * run->x_plane + i * run->x_row, w + h * run->w_plane + i * run->w_row,
                 channel, pixels, stride, n_columns, lanes, sum);
  do_epilogue (run, y, pixels, 1, lanes, sum);
  CLEAVE_EACH (p, pixels)
    store (run, y + p * run->y_pixel, sum[p], lanes);
}

static CLEAVE_SPECIALISED void
slide_channels (const Run *run,
                gint64 pixel,
                gint64 n_channels,
                int pixels,
                int stride,
                int n_columns,
                Lanes lanes)
{
  if (lanes == SOME)
    slide_block (run, pixel, 0, pixels, stride, n_columns, lanes);
  else
    for (gint64 channel = 0; channel < n_channels; channel += CLEAVE_VECTOR)
      slide_block (run, pixel, MIN (channel, n_channels - CLEAVE_VECTOR), pixels, stride, n_columns,
                   lanes);
}

/* Computes n_pixels pixels in as few blocks as possible, of similar size. A short block would be
 * slow, since each addition waits for the addition before it. */
static CLEAVE_SPECIALISED void
slide_pixels (
    const Run *run, gint64 n_pixels, gint64 n_channels, int stride, int n_columns, Lanes lanes)
{
  gint64 n_blocks = (n_pixels + SLIDE_PIXELS - 1) / SLIDE_PIXELS;

  for (gint64 pixel = 0, n; n_blocks > 0; pixel += n, n_blocks--)
    {
      n = (n_pixels - pixel + n_blocks - 1) / n_blocks;
      CLEAVE_EACH (i, SLIDE_PIXELS)
        if (n == i + 1)
          slide_channels (run, pixel, n_channels, i + 1, stride, n_columns, lanes);
    }
}

/* Computes a row for one combination of lanes, columns and stride. Each combination has a function
 * of its own: in a single function, compilers keep fewer values in registers (measured). */
typedef void (*Slide) (const Run *run, gint64 n_pixels, gint64 n_channels);

/* clang-format off */
#define SLIDE(lanes, columns, stride)                                                              \
  static void slide_##lanes##_##columns##_##stride (const Run *of, gint64 n_pixels,                \
                                                    gint64 n_channels)                             \
  {                                                                                                \
    const Run run = *of; /* a local copy, so that the compiler knows that stores do not change it */                             \
                                                                                                   \
    slide_pixels (&run, n_pixels, n_channels, stride, columns, lanes);                             \
  }
#define SLIDES(lanes)                                                                              \
  SLIDE (lanes, 3, 1) SLIDE (lanes, 3, 2) SLIDE (lanes, 5, 1) SLIDE (lanes, 5, 2)                  \
  SLIDE (lanes, 7, 1) SLIDE (lanes, 7, 2)
#define SLIDES_OF(lanes)                                                                           \
  { { slide_##lanes##_3_1, slide_##lanes##_3_2 }, { slide_##lanes##_5_1, slide_##lanes##_5_2 },    \
    { slide_##lanes##_7_1, slide_##lanes##_7_2 } }
SLIDES (ALL)
SLIDES (PAIRED)
SLIDES (SOME)
static const Slide slides[][3][2] = { SLIDES_OF (ALL), SLIDES_OF (PAIRED), SLIDES_OF (SOME) };
#undef SLIDE
#undef SLIDES
#undef SLIDES_OF
/* clang-format on */

/* Runs the row with the function for its stride and its number of columns of taps. Returns FALSE if
 * no function serves these numbers. */
static gboolean
slide_once (const Run *run, gint64 n_pixels, gint64 n_channels)
{
  gint64 stride = run->x_pixel == run->x_column ? 1 : run->x_pixel == 2 * run->x_column ? 2 : 0;
  Lanes lanes = run->period > 0 ? PAIRED : n_channels < CLEAVE_VECTOR ? SOME : ALL;

  if (stride == 0 || run->n_columns % 2 == 0 || run->n_columns < 3 ||
      run->n_columns > SLIDE_COLUMNS)
    return FALSE;
  slides[lanes][run->n_columns / 2 - 1][stride - 1](run, n_pixels, n_channels);
  return TRUE;
}
#else
static gboolean
slide_once (const Run *run, gint64 n_pixels, gint64 n_channels)
{
  return FALSE;
}
#endif

/* Runs a row of dilated windows. The windows of pixel p and of pixel p + `apart` share elements of
 * x, but the windows of adjacent pixels do not. So the function runs `apart` rows, each with every
 * `apart`-th pixel. */
static gboolean
slide_dilated (const Run *run, gint64 n_pixels, gint64 n_channels)
{
  Run each = *run;

  each.x_pixel *= run->apart;
  each.y_pixel *= run->apart;
  for (gint64 i = 0; i < run->apart; i++, each.x += run->x_pixel, each.y += run->y_pixel)
    if (!slide_once (&each, (n_pixels - i + run->apart - 1) / run->apart, n_channels))
      return FALSE;
  return TRUE;
}

static gboolean
slide (const Run *run, gint64 n_pixels, gint64 n_channels)
{
  if (run->apart > 1 && n_pixels >= MAX_PIXELS * run->apart)
    return slide_dilated (run, n_pixels, n_channels);
  return slide_once (run, n_pixels, n_channels);
}

/* Runs two adjacent pixels as one pixel with twice the channels and repeated weights. Returns the
 * number of pixels computed; 0 unless channels fill one and a half vectors and pixels are
 * contiguous. */
static gint64
slide_pairs (const Run *run, gint64 n_pixels, gint64 n_channels)
{
  Run pairs = *run;

  if (n_channels % CLEAVE_VECTOR != CLEAVE_HALF || run->x_pixel != n_channels ||
      run->y_pixel != n_channels || (run->epilogue != NULL && run->epilogue->by_channels))
    return 0;
  pairs.x_pixel *= 2;
  pairs.y_pixel *= 2;
  pairs.period = n_channels;
  pairs.apart = run->apart % 2 == 0 ? run->apart / 2 : 1;
  return slide (&pairs, n_pixels / 2, 2 * n_channels) ? n_pixels / 2 * 2 : 0;
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

  if (d->n_in > 1)
    {
      cleave_grouped_sum (run, n_pixels, d->n_out, d->n_in);
      return;
    }
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

/* Computes one row of y: the pixels near the edges one by one, the pixels without padding in
 * blocks. */
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
              .w_channel = d->w_channel,
              .y_pixel = axis->y_step,
              .apart = d->apart,
              .n_some = (int) MIN (d->multiplier == 1 ? d->n_out : d->multiplier, CLEAVE_VECTOR),
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
