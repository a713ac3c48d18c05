/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Depthwise convolution of one row of the result. Channels are independent, so a block of channels
 * is a few vectors. The sums of several pixels stay in registers over all taps. */

#include "depthwise-rows.h"
#include "depthwise-sums.h"
#include "grouped-sums.h"
#include "in-place.h"
#include "upcast.h"

/* Largest number of columns of taps that slide_block() serves: the weights of a row of taps stay in
 * registers. */
#define SLIDE_COLUMNS 7
/* Largest number of pixels that slide_block() computes at once. NEON multiplies two vectors per
 * cycle and takes four cycles for a sum, so it waits if there are fewer than 8 sums. */
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
  d->is_paired = d->n_in == 1 && d->multiplier == 1 && d->n_out % CLEAVE_VECTOR == CLEAVE_HALF;
  d->w_channel = d->n_out;
  d->w_step = d->n_in * d->n_out * (d->is_paired ? 2 : 1);
}

void
cleave_depthwise_pack (const CleaveView *w, gboolean is_paired, float *to)
{
  gint64 extent[3] = { 1, 1, 1 }, step[3] = { 0 };
  guint n = w->type.shape.rank - 2;
  gint64 size = (gint64) cleave_element_size (w->type.element), n_out = w->type.shape.dim[0];
  gint64 n_in = is_paired ? 2 : w->type.shape.dim[1], in_step = is_paired ? 0 : w->stride[1];

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
                             (d * step[0] + h * step[1] + k * step[2] + i * in_step) * size,
                         w->stride[0], 0, to, n_out);
}

/* The functions below keep a row of weights and the sums of a block in registers. At v1, each
 * multiply-add is a call that overwrites all registers. There, the functions would save no load,
 * and the compiler would need a minute for them. */
#if defined(CLEAVE_HAS_FMA)
/* Adds the products of a row of taps to the sums of a block of pixels. `x`: the elements that the
 * taps read; `w`: the weights. Loads each vector of x once for all pixels that read it. */
static CLEAVE_SPECIALISED void
slide_row (const Run *run,
           const float *x,
           const float *w,
           int pixels,
           int stride,
           int n_columns,
           Lanes lanes,
           CleaveVector *sum)
{
  CleaveVector by[SLIDE_COLUMNS];

  CLEAVE_EACH (j, n_columns)
    by[j] = cleave_vector_keep (load (run, w + j * run->w_column, lanes));
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
  const float *w = run->w + channel;
  float *y = run->y + pixel * run->y_pixel + channel;
  CleaveVector first = load_bias (run, channel, lanes);
  CleaveVector sum[SLIDE_PIXELS];

  CLEAVE_EACH (p, pixels)
    sum[p] = first;
  for (gint64 h = 0; h < run->n_planes; h++)
    for (gint64 i = 0; i < run->n_rows; i++)
      slide_row (run, x + h * run->x_plane + i * run->x_row, w + h * run->w_plane + i * run->w_row,
                 pixels, stride, n_columns, lanes, sum);
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
SLIDES (SOME)
static const Slide slides[][3][2] = { SLIDES_OF (ALL), SLIDES_OF (SOME) };
#undef SLIDE
#undef SLIDES
#undef SLIDES_OF
/* clang-format on */

/* Runs the row with the function that serves its stride and its number of columns of taps. Returns
 * FALSE if there is no such function. */
static gboolean
slide_once (const Run *run, gint64 n_pixels, gint64 n_channels)
{
  gint64 stride = run->x_pixel == run->x_column ? 1 : run->x_pixel == 2 * run->x_column ? 2 : 0;
  Lanes lanes = n_channels < CLEAVE_VECTOR ? SOME : ALL;

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
 * `apart`-th pixel. Returns FALSE if slide_once() does not serve these rows. */
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

/* Computes two adjacent pixels as one pixel with twice the channels. Returns the number of pixels
 * computed. Returns 0 if pixels are not contiguous, if the packed weights do not contain the
 * channels of each tap twice, or if no function serves the row. */
static gint64
slide_pairs (const Run *run, gint64 n_pixels, gint64 n_channels)
{
  Run pairs = *run;

  if (!run->is_paired || run->x_pixel != n_channels || run->y_pixel != n_channels ||
      (run->epilogue != NULL && run->epilogue->by_channels))
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
              .is_paired = d->is_paired,
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
