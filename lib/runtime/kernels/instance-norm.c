/* SPDX-License-Identifier: GPL-2.0-or-later */

/* InstanceNormalization of floats, where channels or the pixels of each lie side by side.  Each
 * channel has the order of the reference kernel: eight sums, as lanes.h says.  Channels that lie
 * side by side are summed side by side. */

#include "level.h"
#include "loops.h"

#include "../../ops/lanes.h"

#include <math.h>

enum { X, SCALE, B };

/* Some channels of an image and their pixels; steps in elements. */
typedef struct
{
  const float *x;
  float *y;
  gint64 n_channels, n_pixels; /* of what lies side by side, the one or the other is 1 apart */
  gint64 x_step, y_step;       /* of the other */
  float *mean, *factor, *lane; /* of each channel; eight lanes of each */
} Image;

typedef struct
{
  guint n, c;
  gint64 n_channels, n_pixels, x_step, y_step;
  gboolean by_pixels; /* channels side by side */
} InstanceNorm;

/* How far apart the pixels are in row-major order; 0: not evenly. */
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
  gint64 x_step, y_step, n_pixels = 1;
  gboolean by_pixels;
  CleaveDims dims;

  if (cleave_shape_n_elements (&x->type.shape) == 0)
    return FALSE;
  dims = dims_of (instance);
  x_step = pixel_step (x, dims);
  y_step = pixel_step (y, dims);
  for (guint i = 0; i < dims.n_spatial; i++)
    n_pixels *= x->type.shape.dim[dims.h + i];
  /* One channel alone has its pixels side by side, too. */
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
  *n_scratch = (gsize) norm->n_channels * (CLEAVE_N_LANES + 2) * sizeof (float);
  *state = norm;
  return TRUE;
}

/* What is added for one element. */
static inline float
term (float x, float mean, gboolean squares)
{
  float distance = x - mean;

  return squares ? distance * distance : distance;
}

/* The lanes of each channel lie `apart`. */
static inline void
join_lanes (float *lane, gint64 apart, gint64 n)
{
  for (gint64 half = CLEAVE_N_LANES / 2; half > 0; half /= 2)
    for (gint64 j = 0; j < half; j++)
      for (gint64 c = 0; c < n; c++)
        lane[j * apart + c] = lane[j * apart + c] + lane[(j + half) * apart + c];
}

/* Into lane 0 of each channel. */
static CLEAVE_SPECIALISED void
sum_pixels (const Image *image, gboolean squares)
{
  const gint64 n = image->n_channels;

  memset (image->lane, 0, (gsize) (n * CLEAVE_N_LANES) * sizeof *image->lane);
  for (gint64 i = 0; i < image->n_pixels; i++)
    {
      const float *x = image->x + i * image->x_step, *mean = image->mean;
      float *lane = image->lane + i % CLEAVE_N_LANES * n;

      CLEAVE_INDEPENDENT
      for (gint64 c = 0; c < n; c++)
        lane[c] += term (x[c], squares ? mean[c] : 0, squares);
    }
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
    sum_pixels (image, TRUE);
  else
    sum_pixels (image, FALSE);
}

static void
write_lines (const InstanceNorm *norm, const Image *image, const float *b, gint64 b_step)
{
  const float *mean = image->mean, *factor = image->factor;

  if (norm->by_pixels && b_step == 1)
    for (gint64 i = 0; i < image->n_pixels; i++)
      {
        const float *x = image->x + i * image->x_step;
        float *y = image->y + i * image->y_step;

        CLEAVE_INDEPENDENT
        for (gint64 c = 0; c < image->n_channels; c++)
          y[c] = __builtin_fmaf (x[c] - mean[c], factor[c], b[c]);
      }
  else
    for (gint64 c = 0; c < image->n_channels; c++)
      {
        const gint64 apart = norm->by_pixels ? 1 : image->x_step;
        const gint64 y_apart = norm->by_pixels ? 1 : image->y_step;
        const gint64 x_step = norm->by_pixels ? image->x_step : 1;
        const gint64 y_step = norm->by_pixels ? image->y_step : 1;
        const float by = b[c * b_step];

        CLEAVE_INDEPENDENT
        for (gint64 i = 0; i < image->n_pixels; i++)
          image->y[c * y_apart + i * y_step] =
              __builtin_fmaf (image->x[c * apart + i * x_step] - mean[c], factor[c], by);
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
  sum (norm, image, TRUE);
  for (gint64 c = 0; c < norm->n_channels; c++)
    {
      float variance = (float) ((double) image->lane[c] / n);

      image->factor[c] = ((const float *) scale->data)[c * scale->stride[0]] /
                         sqrtf (variance + (float) a->epsilon);
    }
  write_lines (norm, image, b->data, b->type.shape.dim[0] == 1 ? 1 : b->stride[0]);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const InstanceNorm *norm = state;
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];
  float *at = scratch;
  Image image = { .n_channels = norm->n_channels,
                  .n_pixels = norm->n_pixels,
                  .x_step = norm->x_step,
                  .y_step = norm->y_step,
                  .mean = at,
                  .factor = at + norm->n_channels,
                  .lane = at + 2 * norm->n_channels };

  for (gint64 n = 0; n < x->type.shape.dim[norm->n]; n++)
    {
      image.x = (const float *) x->data + n * x->stride[norm->n];
      image.y = (float *) y->data + n * y->stride[norm->n];
      run_image (norm, instance, &image);
    }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_instance_norm); /* for levels.h */
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_instance_norm) = { .prepare = prepare,
                                                                           .run = run,
                                                                           .free = g_free };
