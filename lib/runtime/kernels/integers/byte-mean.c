/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Means of dequantized bytes with contiguous channels, a few pixels at a time. Sums are computed as
 * in the reference kernels: in eight partial float sums per channel, or in doubles. Sums of doubles
 * are exact here, so their order does not matter. */

#include "../../qdq-conv.h"
#include "../level.h"
#include "../loops.h"
#include "../places.h"
#include "../pool-windows.h"
#include "../upcast.h"

#include "../../../ops/axes.h"

/* Number of floats of a block of pixels, which is dequantized and summed before the next block, so
 * that its floats stay in the L1 cache. */
#define BLOCK_FLOATS 4096
/* largest number of dequantized bytes whose sum is exact in double */
#define MAX_PIXELS (1 << 20)

typedef struct
{
  const CleaveQdqMean *mean;
  CleaveView y; /* view of the result with the rank of x; each run sets its data */
  guint channel;
  gint64 n_channels, width; /* number of channels; number of channels rounded up to whole vectors */
  gint64 n_pixels, step, block;
  gsize at_sums, at_means;
} Plan;

/* Sets the number of pixels of one mean, and the distance of adjacent pixels. Returns FALSE unless
 * these pixels are evenly spaced in memory. */
static gboolean
find_pixels (Plan *s, const CleaveView *x)
{
  s->n_pixels = 1;
  s->step = 0;
  for (guint d = x->type.shape.rank; d-- > 0;)
    {
      gint64 n = x->type.shape.dim[d];

      if ((s->mean->axes >> d & 1) == 0 || n == 1)
        continue;
      if (s->n_pixels == 1)
        s->step = x->stride[d];
      else if (x->stride[d] != s->step * s->n_pixels)
        return FALSE;
      s->n_pixels *= n;
    }
  return s->n_pixels > 0 && s->n_pixels <= MAX_PIXELS;
}

static gboolean
find_channel (Plan *s, const CleaveView *x)
{
  for (guint d = 0; d < x->type.shape.rank; d++)
    if ((s->mean->axes >> d & 1) == 0 && x->stride[d] == 1 && x->type.shape.dim[d] > 1)
      {
        s->channel = d;
        s->n_channels = x->type.shape.dim[d];
        return TRUE;
      }
  return FALSE;
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveView *x = &instance->operands[0];
  Plan *s = g_new0 (Plan, 1);

  s->mean = instance->call.attrs;
  if (cleave_places_overlap (x, &instance->results[0]) || !find_pixels (s, x) ||
      !find_channel (s, x))
    {
      g_free (s);
      return FALSE;
    }
  s->y =
      cleave_axes_expand (&instance->results[0], &x->type.shape, s->mean->axes, s->mean->keepdims);
  s->width = (s->n_channels + CLEAVE_VECTOR - 1) / CLEAVE_VECTOR * CLEAVE_VECTOR;
  s->block = MAX (BLOCK_FLOATS / s->width / CLEAVE_N_LANES, 1) * CLEAVE_N_LANES;
  cleave_take_scratch (n_scratch, s->block * s->width);
  s->at_sums =
      cleave_take_scratch (n_scratch, s->width * (s->mean->has_doubles ? 2 : CLEAVE_N_LANES));
  s->at_means = cleave_take_scratch (n_scratch, s->width);
  *state = s;
  return TRUE;
}

/* The following macros and functions run the kernel. */

/* clang-format off */
#define DEQUANTIZE(word, T)                                                                        \
  static void dequantize_##word (const T *x, const CleaveQdqX *by, float *to, gint64 n)        \
  {                                                                                                \
    const gint32 zero = by->zero;                                                                  \
    const float scale = by->scale;                                                                 \
                                                                                                   \
    CLEAVE_INDEPENDENT                                                                             \
    for (gint64 i = 0; i < n; i++)                                                                 \
      to[i] = (float) (x[i] - zero) * scale;                                                       \
  }
DEQUANTIZE (signed, gint8)
DEQUANTIZE (unsigned, guint8)
/* clang-format on */

static void
dequantize (const Plan *s, const char *x, gint64 n_pixels, float *to)
{
  gboolean is_signed = s->mean->x.element == CLEAVE_INT8;
  gboolean is_dense =
      s->step == s->width; /* the dequantized pixels are contiguous and form one line */
  gint64 n = is_dense ? n_pixels * s->width : s->n_channels;

  for (gint64 p = 0; p < (is_dense ? 1 : n_pixels); p++, x += s->step, to += s->width)
    if (is_signed)
      dequantize_signed ((const gint8 *) x, &s->mean->x, to, n);
    else
      dequantize_unsigned ((const guint8 *) x, &s->mean->x, to, n);
}

static void
add_to_lanes (const Plan *s, const float *x, gint64 n_pixels, float *sums)
{
  for (gint64 c = 0; c < s->width; c += CLEAVE_VECTOR, sums += CLEAVE_N_LANES * CLEAVE_VECTOR)
    {
      CleaveVector lane[CLEAVE_N_LANES];

      for (guint j = 0; j < CLEAVE_N_LANES; j++)
        lane[j] = cleave_vector_load (sums + j * CLEAVE_VECTOR);
      cleave_pool_add_to_lanes (x + c, s->width, n_pixels, 0, lane);
      for (guint j = 0; j < CLEAVE_N_LANES; j++)
        cleave_vector_store (sums + j * CLEAVE_VECTOR, lane[j]);
    }
}

static void
add_to_doubles (const Plan *s, const float *x, gint64 n_pixels, double *sums)
{
  for (gint64 p = 0; p < n_pixels; p++, x += s->width)
    CLEAVE_INDEPENDENT
  for (gint64 c = 0; c < s->width; c++)
    sums[c] += (double) x[c];
}

static void
divide (const Plan *s, const float *sums, float *mean)
{
  const double *doubles = (const double *) (const void *) sums;

  if (s->mean->has_doubles)
    for (gint64 c = 0; c < s->width; c++)
      mean[c] = (float) (doubles[c] / (double) s->n_pixels);
  else
    for (gint64 c = 0; c < s->width; c += CLEAVE_VECTOR, sums += CLEAVE_N_LANES * CLEAVE_VECTOR)
      {
        CleaveVector lane[CLEAVE_N_LANES];

        for (guint j = 0; j < CLEAVE_N_LANES; j++)
          lane[j] = cleave_vector_load (sums + j * CLEAVE_VECTOR);
        for (guint half = CLEAVE_N_LANES / 2; half > 0; half /= 2)
          for (guint j = 0; j < half; j++)
            lane[j] += lane[j + half];
        cleave_vector_store (mean + c, lane[0] / (float) s->n_pixels);
      }
}

/* Computes the means of all channels at one position of the result. `x` is the address of the first
 * pixel, `y` the address of the position in the result. */
static void
run_channels (const Plan *s, const char *x, guint8 *y, char *scratch)
{
  const CleaveQdqEnd *end = &s->mean->end;
  float *floats = (float *) (void *) scratch, *sums = (float *) (void *) (scratch + s->at_sums);
  float *means = (float *) (void *) (scratch + s->at_means);
  gint64 step = s->y.stride[s->channel];

  memset (sums, 0, s->at_means - s->at_sums);
  for (gint64 p = 0; p < s->n_pixels; p += s->block)
    {
      gint64 n = MIN (s->block, s->n_pixels - p);

      dequantize (s, x + p * s->step, n, floats);
      if (s->mean->has_doubles)
        add_to_doubles (s, floats, n, (double *) (void *) sums);
      else
        add_to_lanes (s, floats, n, sums);
    }
  divide (s, sums, means);
  for (gint64 c = 0; c < s->n_channels; c++)
    y[c * step] = (guint8) cleave_quantize_byte (means[c] / end->scale, end->zero,
                                                 end->least + end->zero, end->most + end->zero);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Plan *s = state;
  const CleaveView *x = &instance->operands[0];
  CleaveShape places = s->y.type.shape;
  gint64 at[CLEAVE_MAX_RANK];

  memset (scratch, 0,
          (gsize) (s->block * s->width) *
              sizeof (float)); /* set the lanes beyond the channels to 0 */
  places.dim[s->channel] = 1;
  CLEAVE_EACH_INDEX (at, &places)
    run_channels (s, (const char *) x->data + cleave_index_offset (places.rank, at, x->stride),
                  (guint8 *) instance->results[0].data +
                      cleave_index_offset (places.rank, at, s->y.stride),
                  scratch);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_byte_mean);
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_byte_mean) = { .prepare = prepare, .run = run, .free = g_free };
