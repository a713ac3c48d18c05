/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of InstanceNormalization of floats. Either the channels or the pixels of each
 * channel must be contiguous. Sums each channel in the order of the reference kernel, in eight
 * partial sums (lanes.h). Contiguous channels are summed in parallel. */

#include "level.h"
#include "loops.h"

#include "../../ops/lanes.h"

#include <math.h>

enum { X, SCALE, B };

/* Some channels of an image, with all their pixels. */
typedef struct
{
  const float *x;
  float *y;
  gint64 n_channels, n_pixels;
  /* distances in x and in y, in elements: of adjacent pixels if channels are contiguous, of
   * adjacent channels if the pixels of a channel are contiguous */
  gint64 x_step, y_step;
  float *mean, *factor, *bias; /* mean, factor and bias of each channel, repeated for the pixels
                                  that one iteration of a loop normalizes */
  float *lane;                 /* eight partial sums of each channel */
} Image;

typedef struct
{
  guint n, c;
  gint64 n_channels, n_pixels, x_step, y_step;
  gboolean by_pixels; /* TRUE: channels are contiguous; FALSE: the pixels of each channel are
                         contiguous */
  gint64 x_together, y_together; /* number of pixels that one iteration of a loop sums; number of
                                    pixels that one iteration normalizes */
} InstanceNorm;

/* With fewer channels than FEW_CHANNELS, one iteration of a loop processes eight pixels instead of
 * one pixel. 8 channels of 16,384 pixels then take 34 us instead of 205 us, and 48 channels of
 * 4,096 pixels take 42 us instead of 50 us. */
#define FEW_CHANNELS 64

/* Returns the distance of adjacent pixels in row-major order, in elements; 0 if the distance
 * varies. */
static gint64
pixel_step (const CleaveView *view, CleaveDims dims)
{
  gint64 step = 0, size = 1;

  for (guint i = dims.h + dims.n_spatial; i-- > dims.h;)
    {
      if (view->type.shape.dim[i] == 1)
        continue;
      if (step == 0)
        step = view->stride[i];
      else if (view->stride[i] != step * size)
        return 0;
      size *= view->type.shape.dim[i];
    }
  return step == 0 ? 1 : step;
}

static gint64
count_pixels (const CleaveView *view, CleaveDims dims)
{
  gint64 n = 1;

  for (guint i = 0; i < dims.n_spatial; i++)
    n *= view->type.shape.dim[dims.h + i];
  return n;
}

static gboolean
has_channels_innermost (const CleaveView *view, guint c)
{
  return view->type.shape.dim[c] == 1 || view->stride[c] == 1;
}

static CleaveDims
dims_of (const CleaveKernelInstance *instance)
{
  const CleaveNormAttrs *attrs = instance->call.attrs;

  return cleave_layout_dims (attrs->layout, instance->operands[X].type.shape.rank);
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];
  InstanceNorm *norm;
  gint64 x_step, y_step, n_pixels;
  gboolean by_pixels, few;
  CleaveDims dims;

  if (cleave_shape_n_elements (&x->type.shape) == 0)
    return FALSE;
  dims = dims_of (instance);
  x_step = pixel_step (x, dims);
  y_step = pixel_step (y, dims);
  n_pixels = count_pixels (x, dims);
  /* TRUE: a loop runs over the channels of a pixel. FALSE: the pixels of each channel are
   * contiguous, for example if there is one channel */
  by_pixels = x_step != 1 || y_step != 1 || n_pixels == 1;
  if (x_step == 0 || y_step == 0 ||
      (by_pixels && !(has_channels_innermost (x, dims.c) && has_channels_innermost (y, dims.c))))
    return FALSE;
  norm = g_new0 (InstanceNorm, 1);
  *norm = (InstanceNorm){ .n = dims.n,
                          .c = dims.c,
                          .n_channels = x->type.shape.dim[dims.c],
                          .n_pixels = n_pixels,
                          .x_step = by_pixels ? x_step : x->stride[dims.c],
                          .y_step = by_pixels ? y_step : y->stride[dims.c],
                          .by_pixels = by_pixels };
  few = by_pixels && norm->n_channels < FEW_CHANNELS;
  norm->x_together = few && x_step == norm->n_channels ? CLEAVE_N_LANES : 1;
  norm->y_together = y_step == norm->n_channels ? norm->x_together : 1;
  *n_scratch =
      (gsize) (norm->n_channels * (CLEAVE_N_LANES + 3 * norm->x_together)) * sizeof (float);
  *state = norm;
  return TRUE;
}

/* Returns the term that an element x adds to a sum: x - mean or, if `squares`, the square of x -
 * mean. */
static inline float
term (float x, float mean, gboolean squares)
{
  float distance = x - mean;

  return squares ? distance * distance : distance;
}

/* Adds the eight partial sums of each of n channels pairwise, so that partial sum 0 is their total.
 * Partial sums with the same index are contiguous for adjacent channels; the partial sums of a
 * channel are `apart` floats apart. */
static inline void
join_lanes (float *lane, gint64 apart, gint64 n)
{
  for (gint64 half = CLEAVE_N_LANES / 2; half > 0; half /= 2)
    for (gint64 j = 0; j < half; j++)
      for (gint64 c = 0; c < n; c++)
        lane[j * apart + c] = lane[j * apart + c] + lane[(j + half) * apart + c];
}

/* Adds n contiguous elements, from pixel i on, to the partial sums of their channels. The elements
 * are one pixel, or eight adjacent pixels. Pixel p adds to partial sum p modulo 8 of each
 * channel. */
static inline void
add_pixels (const Image *image, gint64 i, gint64 n, gboolean squares)
{
  const float *x = image->x + i * image->x_step, *mean = image->mean;
  float *lane = image->lane + i % CLEAVE_N_LANES * image->n_channels;

  CLEAVE_INDEPENDENT
  for (gint64 c = 0; c < n; c++)
    lane[c] += term (x[c], squares ? mean[c] : 0, squares);
}

/* Sums all pixels of each channel into partial sum 0 of the channel. One iteration of the loop adds
 * `together` pixels. */
static CLEAVE_SPECIALISED void
sum_pixels (const Image *image, gint64 together, gboolean squares)
{
  const gint64 n = image->n_channels;
  gint64 i = 0;

  memset (image->lane, 0, (gsize) (n * CLEAVE_N_LANES) * sizeof *image->lane);
  for (; i + together <= image->n_pixels; i += together)
    add_pixels (image, i, together * n, squares);
  for (; i < image->n_pixels; i++)
    add_pixels (image, i, n, squares);
  join_lanes (image->lane, n, n);
}

static CLEAVE_SPECIALISED float
sum_channel (const float *x, gint64 n, float mean, gboolean squares)
{
  float lane[CLEAVE_N_LANES] = { 0 };
  gint64 i = 0;

  for (; i + CLEAVE_N_LANES <= n; i += CLEAVE_N_LANES)
    for (gint64 j = 0; j < CLEAVE_N_LANES; j++)
      lane[j] += term (x[i + j], mean, squares);
  for (gint64 j = 0; i < n; i++, j++)
    lane[j] += term (x[i], mean, squares);
  join_lanes (lane, 1, 1);
  return lane[0];
}

static void
sum_channels (const Image *image, gboolean squares)
{
  for (gint64 c = 0; c < image->n_channels; c++)
    {
      const float *x = image->x + c * image->x_step;

      image->lane[c] = squares ? sum_channel (x, image->n_pixels, image->mean[c], TRUE)
                               : sum_channel (x, image->n_pixels, 0, FALSE);
    }
}

static void
sum (const InstanceNorm *norm, const Image *image, gboolean squares)
{
  if (!norm->by_pixels)
    sum_channels (image, squares);
  else if (squares)
    sum_pixels (image, norm->x_together, TRUE);
  else
    sum_pixels (image, norm->x_together, FALSE);
}

/* Repeats the first `n_channels` values of an array, so that all pixels that one iteration
 * processes have a copy of the values. */
static void
repeat (const InstanceNorm *norm, float *values)
{
  for (gint64 i = norm->n_channels; i < norm->n_channels * norm->x_together; i++)
    values[i] = values[i - norm->n_channels];
}

static inline void
write_pixels (const Image *image, gint64 i, gint64 n)
{
  const float *x = image->x + i * image->x_step, *mean = image->mean;
  const float *factor = image->factor, *bias = image->bias;
  float *y = image->y + i * image->y_step;

  CLEAVE_INDEPENDENT
  for (gint64 c = 0; c < n; c++)
    y[c] = __builtin_fmaf (x[c] - mean[c], factor[c], bias[c]);
}

static void
write_image (const InstanceNorm *norm, const Image *image)
{
  gint64 i = 0;

  if (norm->by_pixels)
    {
      for (; i + norm->y_together <= image->n_pixels; i += norm->y_together)
        write_pixels (image, i, norm->y_together * image->n_channels);
      for (; i < image->n_pixels; i++)
        write_pixels (image, i, image->n_channels);
    }
  else
    for (gint64 c = 0; c < image->n_channels; c++)
      {
        const float *x = image->x + c * image->x_step;
        float *y = image->y + c * image->y_step;
        const float mean = image->mean[c], factor = image->factor[c], bias = image->bias[c];

        CLEAVE_INDEPENDENT
        for (i = 0; i < image->n_pixels; i++)
          y[i] = __builtin_fmaf (x[i] - mean, factor, bias);
      }
}

static void
run_image (const InstanceNorm *norm, const CleaveKernelInstance *instance, const Image *image)
{
  const CleaveNormAttrs *a = instance->call.attrs;
  const CleaveView *scale = &instance->operands[SCALE], *b = &instance->operands[B];
  const double n = (double) norm->n_pixels;

  sum (norm, image, FALSE);
  for (gint64 c = 0; c < norm->n_channels; c++)
    image->mean[c] = (float) ((double) image->lane[c] / n);
  repeat (norm, image->mean);
  sum (norm, image, TRUE);
  for (gint64 c = 0; c < norm->n_channels; c++)
    {
      float variance = (float) ((double) image->lane[c] / n);

      image->factor[c] = ((const float *) scale->data)[c * scale->stride[0]] /
                         sqrtf (variance + (float) a->epsilon);
      image->bias[c] = ((const float *) b->data)[c * b->stride[0]];
    }
  repeat (norm, image->factor);
  repeat (norm, image->bias);
  write_image (norm, image);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const InstanceNorm *norm = state;
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];
  const gint64 n = norm->n_channels * norm->x_together;
  float *at = scratch;
  Image image = { .n_channels = norm->n_channels,
                  .n_pixels = norm->n_pixels,
                  .x_step = norm->x_step,
                  .y_step = norm->y_step,
                  .mean = at,
                  .factor = at + n,
                  .bias = at + 2 * n,
                  .lane = at + 3 * n };

  for (gint64 i = 0; i < x->type.shape.dim[norm->n]; i++)
    {
      image.x = (const float *) x->data + i * x->stride[norm->n];
      image.y = (float *) y->data + i * y->stride[norm->n];
      run_image (norm, instance, &image);
    }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_instance_norm);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_instance_norm) = { .prepare = prepare,
                                                                           .run = run,
                                                                           .free = g_free };
