/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of depthwise convolutions of bytes in integers. A run copies the elements of x
 * that a few rows of y read to scratch, as 16-bit integers, and adds up the taps with one channel
 * in each lane. QDQ-exact results need fused multiply-add (qdq.h).
 *
 * Over 400 lines: layout and loops form one plan. */

#include "byte-depthwise.h"
#include "byte-image.h"
#include "byte-product.h"
#include "byte-slide.h"
#include "channel-dot4.h"
#include "qdq-words.h"

#include "../pixels.h"

#include <cleave/cleave-tflite.h>

#include "../../../ops/reference.h"
#include "../../digest.h"
#include "../../qdq-conv.h"

enum { X };

#define MAX_PIXELS 4
#define TILE_PIXELS MAX (MAX_PIXELS, CLEAVE_SLIDE_PIXELS)

typedef struct
{
  /* a faster family that runs instead, with its state in `state`; NULL: none */
  const CleaveKernelFamily *better;
  gpointer state;
  CleavePlaces places;
  CleaveByteImage image;
  const gint16 *packed; /* packed weights; NULL: each run packs the weights */
  gint64 n_out, n_taps, n_batches, x_batch_step, y_batch_step, y_image, column_step;
  gboolean reports_progress;
  /* offsets within a band of rows, in elements: of taps, of pixels of x, and of pixels of y. If the
   * number of taps is odd, `tap_at` contains the last tap twice */
  gint64 *tap_at, *x_at, *y_at;
  gsize at_multiplier, at_shift;
  gsize at_x, at_bias, at_scale, at_packed; /* byte offsets of arrays in scratch */
  const CleaveQdqConv *conv; /* parameters of QDQ-exact results (qdq.h); NULL: the result depends on
                                the integer sums alone */
  CleaveQdqColumns columns;  /* constants that convert sums to bytes */
} Plan;

/* The weights minus their zero points, as they are packed: tap after tap, and in each tap a row of
 * channels in whole vectors. */
typedef struct
{
  const CleaveKernelInstance *instance;
  const CleavePlaces *places;
  gint64 n_taps;
} Packing;

static gint64
padded (gint64 n_channels)
{
  return (n_channels + CLEAVE_CHANNELS - 1) / CLEAVE_CHANNELS * CLEAVE_CHANNELS;
}

/* Returns the zero point of a channel's weights. */
static gint32
find_w_zero (const Packing *p, gint64 channel)
{
  if (cleave_is_qdq_conv (&p->instance->call))
    return p->instance->operands[p->places->w].type.element == CLEAVE_UINT8 ? 128 : 0;
  return (gint32) cleave_places_load (p->instance, p->places->w_zero, channel);
}

static void
pack (const Packing *p, gint16 *to)
{
  const CleaveView *w = &p->instance->operands[p->places->w];
  gint64 n = padded (w->type.shape.dim[0]);
  CleaveShape shape = w->type.shape;
  gint64 at[CLEAVE_MAX_RANK], t = 0;

  memset (to, 0, (gsize) ((p->n_taps + p->n_taps % 2) * n) * sizeof *to);
  for (gint64 c = 0; c < w->type.shape.dim[0]; c++, t = 0)
    {
      gint32 zero = find_w_zero (p, c);
      const char *from = (const char *) w->data + c * w->stride[0];

      shape.dim[0] = 1;
      CLEAVE_EACH_INDEX (at, &shape)
        {
          const char *byte = from + cleave_view_offset (w, at);
          gint32 value =
              w->type.element == CLEAVE_INT8 ? *(const gint8 *) byte : *(const guint8 *) byte;

          to[t++ * n + c] = (gint16) (value - zero);
        }
    }
}

static void
pack_constant (const CleaveTensor *base, gconstpointer data, gpointer to)
{
  pack (data, to);
}

static gsize
n_packed_bytes (const Plan *s)
{
  return (gsize) ((s->n_taps + s->n_taps % 2) * padded (s->n_out)) * sizeof (gint16);
}

static void
pack_weights (Plan *s, const CleaveKernelInstance *instance, CleaveWeights *weights)
{
  const CleavePlaces *p = &s->places;
  gboolean has_zero = cleave_call_has (&instance->call, p->w_zero);
  Packing packing = { instance, p, s->n_taps };
  g_autofree char *key = NULL, *zeros = NULL;

  if (instance->constants[p->w] == NULL || (has_zero && instance->constants[p->w_zero] == NULL))
    return;
  if (has_zero)
    zeros = cleave_constant_dup_digest (instance->constants[p->w_zero]);
  key = g_strconcat ("taps of channels, zero points ",
                     has_zero                               ? zeros
                     : cleave_is_qdq_conv (&instance->call) ? "middle of the type"
                                                            : "0",
                     NULL);
  s->packed = cleave_weights_get (weights, instance->constants[p->w], key, n_packed_bytes (s),
                                  pack_constant, &packing);
}

/* The following functions plan a convolution. */

static void
list_taps (Plan *s)
{
  const CleaveByteImage *image = &s->image;
  const CleaveByteAxis *rows = &image->axis[1], *columns = &image->axis[2];
  gint64 n = 0;

  s->n_taps = rows->n_taps * columns->n_taps;
  s->tap_at = g_new (gint64, (gsize) s->n_taps + 1);
  for (gint64 i = 0; i < rows->n_taps; i++)
    for (gint64 j = 0; j < columns->n_taps; j++)
      s->tap_at[n++] = (i * rows->dilation * image->n_columns + j * columns->dilation) * s->n_out;
  s->tap_at[n] = s->tap_at[n - 1];
}

static void
list_pixels (Plan *s)
{
  const CleaveByteImage *image = &s->image;
  const CleaveByteAxis *rows = &image->axis[1], *columns = &image->axis[2];
  gint64 at = 0;

  s->x_at = g_new (gint64, (gsize) (image->band * columns->n_y));
  s->y_at = g_new (gint64, (gsize) (image->band * columns->n_y));
  for (gint64 i = 0; i < image->band; i++)
    for (gint64 j = 0; j < columns->n_y; j++, at++)
      {
        s->x_at[at] = (i * rows->stride * image->n_columns + j * columns->stride) * s->n_out;
        s->y_at[at] = i * rows->y_step + j * columns->y_step;
      }
}

static void
init_plan (Plan *s, const CleaveKernelInstance *instance, CleaveDims dims)
{
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0], *w;

  s->places = cleave_places_find (&instance->call);
  w = &instance->operands[s->places.w];
  s->n_out = w->type.shape.dim[0];
  s->image.unit = CLEAVE_DOT2;
  s->image.multiplier = s->n_out / MAX (x->type.shape.dim[dims.c], 1);
  cleave_byte_image_init (&s->image, instance, w, dims);
  s->n_batches = x->type.shape.dim[dims.n];
  s->x_batch_step = x->stride[dims.n];
  s->y_batch_step = y->stride[dims.n];
  s->y_image = cleave_shape_n_elements (&y->type.shape) / MAX (s->n_batches, 1);
  s->column_step = y->stride[dims.c];
  s->reports_progress = cleave_pixels_are_dense (y, dims);
  list_taps (s);
  list_pixels (s);
}

/* Computes the constants of QDQ-exact results (qdq.h). Returns FALSE if the error bounds do not
 * hold for the scales of this instance. */
static gboolean
prepare_qdq (Plan *s, const CleaveKernelInstance *instance)
{
#if defined(CLEAVE_HAS_FMA)
  const CleaveQdqConv *conv = instance->call.attrs;
  gint32 zero = cleave_byte_unit_zero (CLEAVE_DOT4, s->image.element, conv->x_zero);
  CleaveQdqSums sums = { .conv = conv, .length = s->n_taps };
  gboolean fits = s->packed != NULL && s->column_step == 1;

  sums.x_norm = MAX (abs (zero), abs (255 - zero));
  cleave_qdq_columns_init (&s->columns, &sums, padded (s->n_out) + CLEAVE_BYTE_PANEL);
  for (gint64 c = 0; fits && c < s->n_out; c++)
    {
      CleaveQdqColumn column = { 0 };

      for (gint64 t = 0; t < s->n_taps; t++)
        column.norm += (double) ((s->n_taps - t + 2) * abs (s->packed[t * padded (s->n_out) + c]));
      fits = cleave_qdq_columns_set (&s->columns, &sums, column, c, c);
    }
  s->conv = conv;
  return fits;
#else
  return FALSE;
#endif
}

static gsize
lay_out (Plan *s)
{
  gint64 n_columns = padded (s->n_out) + CLEAVE_BYTE_PANEL;
  gsize n = 0;

  s->at_x = cleave_take_scratch (&n, (cleave_byte_image_n_bytes (&s->image) + 3) / 4);
  s->at_bias = cleave_take_scratch (&n, n_columns);
  s->at_scale = cleave_take_scratch (&n, n_columns);
  s->at_multiplier = cleave_take_scratch (&n, n_columns);
  s->at_shift = cleave_take_scratch (&n, n_columns);
  s->at_packed = n;
  return s->packed == NULL ? n + n_packed_bytes (s) : n;
}

/* Prepares channel-dot4.c to run the instance if the processor has AVX512-VNNI. Returns FALSE if
 * the processor lacks this feature, or channel-dot4.c does not serve the instance. */
static gboolean
prepare_better (Plan *s,
                const CleaveKernelInstance *instance,
                CleaveWeights *weights,
                gsize *n_scratch)
{
#if defined(CLEAVE_HAS_DOT4)
  if (__builtin_cpu_supports ("avx512vnni") &&
      cleave_kernel_channel_dot4.prepare (instance, weights, &s->state, n_scratch))
    s->better = &cleave_kernel_channel_dot4;
#endif
  return s->better != NULL;
}

/* Returns whether the instance multiplies sums by fixed-point factors instead of scales. */
static gboolean
has_factors (const CleaveKernelInstance *instance)
{
  CleavePlaces places = cleave_places_find (&instance->call);

  return cleave_places_are_fixed (&places, instance);
}

static void
plan_free (gpointer state)
{
  Plan *s = state;

  if (s->better != NULL)
    s->better->free (s->state);
  cleave_qdq_columns_clear (&s->columns);
  g_free (s->tap_at);
  g_free (s->x_at);
  g_free (s->y_at);
  g_free (s);
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveConvAttrs *a = instance->call.attrs;
  CleaveDims dims = cleave_layout_dims (a->layout, instance->operands[X].type.shape.rank);
  Plan *s;

  if (dims.n_spatial < 1 || dims.n_spatial > 2)
    return FALSE;
  s = g_new0 (Plan, 1);
  *state = s;
  if (!has_factors (instance) && prepare_better (s, instance, weights, n_scratch))
    return TRUE;
  init_plan (s, instance, dims);
  pack_weights (s, instance, weights);
  if (cleave_is_qdq_conv (&instance->call) && !prepare_qdq (s, instance))
    {
      plan_free (s);
      return FALSE;
    }
  *n_scratch = lay_out (s);
  return TRUE;
}

/* The following functions run a convolution. */

/* State of a run. */
typedef struct
{
  const Plan *s;
  const CleaveKernelInstance *instance;
  CleaveByteProduct product; /* the product whose `finish` converts the sums; only the fields that
                                the conversion reads are set */
  gint32 x_zero;
  const gint16 *w;
  gint16 *x;
} Work;

static Work
begin_work (const Plan *s, const CleaveKernelInstance *instance, char *scratch)
{
  const CleavePlaces *p = &s->places;
  Packing packing = { instance, p, s->n_taps };
  gint32 *bias = (gint32 *) (void *) (scratch + s->at_bias);
  float *scale = (float *) (void *) (scratch + s->at_scale);
  gboolean has_scales = cleave_places_read_scales (p, instance, s->n_out, bias, scale);
  Work work = { .s = s,
                .instance = instance,
                .x_zero = s->conv != NULL ? s->conv->x_zero
                                          : (gint32) cleave_places_load (instance, p->x_zero, 0),
                .w = s->packed,
                .x = (gint16 *) (void *) (scratch + s->at_x) };

  if (work.w == NULL)
    {
      pack (&packing, (gint16 *) (void *) (scratch + s->at_packed));
      work.w = (const gint16 *) (void *) (scratch + s->at_packed);
    }
  work.product = (CleaveByteProduct){
    .y_at = s->y_at,
    .column_step = s->column_step,
    .finish = { .element = instance->results[0].type.element,
                .bias = bias,
                .scale = scale,
                .zero = (gint32) cleave_places_load (instance, p->y_zero, 0),
                .has_odd_scales = has_scales && cleave_byte_has_odd_scales (scale, s->n_out) }
  };
  if (cleave_places_are_fixed (p, instance))
    {
      const CleaveTfliteConvAttrs *a = instance->call.attrs;
      CleaveByteFinish *f = &work.product.finish;
      gint32 *multiplier = (gint32 *) (void *) (scratch + s->at_multiplier);
      gint32 *shift = (gint32 *) (void *) (scratch + s->at_shift);

      cleave_places_read_factors (p, instance, s->n_out, CLEAVE_BYTE_PANEL, multiplier, shift);
      f->multiplier = multiplier;
      f->shift = shift;
      f->min = (gint32) a->min;
      f->max = (gint32) a->max;
    }
  return work;
}

/* Computes the sums of `pixels` pixels over all taps, for the channels whose weights begin at
 * `w`. */
static inline __attribute__ ((always_inline)) void
add_taps (
    const Plan *s, const gint16 *x, const gint64 *x_at, const gint16 *w, int pixels, gint32 *sums)
{
  gint64 w_step = padded (s->n_out);
  CleaveChannelSums sum[MAX_PIXELS];

  CLEAVE_EACH (p, pixels)
    sum[p] = (CleaveChannelSums){ 0 };
  for (gint64 t = 0; t < s->n_taps; t += 2, w += 2 * w_step)
    {
      CleaveChannelPairs by =
          cleave_channels_pair (cleave_channels_load (w), cleave_channels_load (w + w_step));

      CLEAVE_EACH (p, pixels)
        {
          const gint16 *from = x + x_at[p];

          sum[p] = cleave_channels_add (
              sum[p],
              cleave_channels_pair (cleave_channels_load (from + s->tap_at[t]),
                                    cleave_channels_load (from + s->tap_at[t + 1])),
              by);
        }
    }
  CLEAVE_EACH (p, pixels)
    cleave_channels_store (sums + p * CLEAVE_BYTE_PANEL, sum[p]);
}

#if defined(CLEAVE_HAS_FMA)
/* Recomputes the sum of one pixel and channel in float, in the order of the reference kernel.
 * Returns its quantized byte. */
static char __attribute__ ((noinline)) recompute (const Work *work, gint64 pixel, gint64 channel)
{
  const Plan *s = work->s;
  const CleaveQdqConv *conv = s->conv;
  const gint16 *x = work->x + s->x_at[pixel] + channel, *w = work->w + channel;
  float sum = conv->bias[channel];

  for (gint64 t = 0; t < s->n_taps; t++)
    sum = __builtin_fmaf ((float) x[s->tap_at[t]] * conv->x_scale,
                          (float) w[t * padded (s->n_out)] * conv->w_scale[channel], sum);
  return (char) (cleave_qdq_conv_round (conv, sum) + conv->y_zero);
}

/* Converts the sums of a tile to QDQ-exact bytes. The first loop, which handles almost all sums,
 * calls no function, so that its constants stay in registers. */
static void
finish_qdq (const Work *work, const CleaveByteTile *tile)
{
  enum { VECTORS = CLEAVE_CHANNELS / CLEAVE_LANES };
  const CleaveQdqFinish finish =
      cleave_qdq_finish_load (&work->s->columns, tile->column, VECTORS, CLEAVE_QDQ_CONSTANT);
  const gint64 *y_at = work->s->y_at + tile->pixel;
  char *y = work->product.y + tile->column;
  guint8 bytes[TILE_PIXELS][CLEAVE_WORDS];
  guint32 doubt[TILE_PIXELS], any = 0;
  gint64 n_pixels = tile->n_pixels;

  for (gint64 p = 0; p < n_pixels; p++)
    {
      const gint32 *sums = tile->sums + p * CLEAVE_BYTE_PANEL;
      CleaveIntVector sum[VECTORS];
      CleaveWords words;

      CLEAVE_EACH (v, VECTORS)
        sum[v] = cleave_ints_load (sums + v * CLEAVE_LANES);
      any |= doubt[p] = cleave_qdq_finish (&finish, finish.margin, sum, VECTORS, &words);
      cleave_words_store_bytes (bytes[p], words);
    }
  for (gint64 p = 0; p < n_pixels; p++)
    if (tile->n == CLEAVE_CHANNELS)
      memcpy (y + y_at[p], bytes[p], CLEAVE_CHANNELS);
    else
      memcpy (y + y_at[p], bytes[p], (gsize) tile->n);
  for (gint64 p = 0; any != 0 && p < n_pixels; p++)
    for (; doubt[p] != 0; doubt[p] &= doubt[p] - 1)
      if (__builtin_ctz (doubt[p]) < tile->n)
        y[y_at[p] + __builtin_ctz (doubt[p])] =
            recompute (work, tile->pixel + p, tile->column + __builtin_ctz (doubt[p]));
}
#endif

/* Converts the sums of a tile to elements of the result. */
static void
finish_tile (const Work *work, const CleaveByteTile *tile)
{
#if defined(CLEAVE_HAS_FMA)
  if (work->s->conv != NULL)
    {
      finish_qdq (work, tile);
      return;
    }
#endif
  cleave_byte_finish_tile (&work->product, tile);
}

/* Computes all channels of n_pixels adjacent pixels. The weights are loaded once for all these
 * pixels. */
static void
run_pixels (const Work *work, gint64 pixel, gint64 n_pixels)
{
  const Plan *s = work->s;
  gint32 sums[MAX_PIXELS * CLEAVE_BYTE_PANEL];
  CleaveByteTile tile = { .pixel = pixel, .n_pixels = n_pixels, .sums = sums };
  const gint64 *x_at = s->x_at + pixel;

  for (; tile.column < s->n_out; tile.column += CLEAVE_CHANNELS)
    {
      tile.n = MIN (CLEAVE_CHANNELS, s->n_out - tile.column);
      if (n_pixels == MAX_PIXELS)
        add_taps (s, work->x + tile.column, x_at, work->w + tile.column, MAX_PIXELS, sums);
      else
        add_taps (s, work->x + tile.column, x_at, work->w + tile.column, 1, sums);
      finish_tile (work, &tile);
    }
}

/* Computes n_rows rows with a function of byte-slide.h, in blocks of pixels of similar size. */
static void
slide_band (const Work *work, CleaveByteSlide slide, gint64 n_rows)
{
  const Plan *s = work->s;
  const CleaveByteAxis *rows = &s->image.axis[1];
  const CleaveByteSlideSteps steps = { .n_rows = rows->n_taps,
                                       .x_column = s->n_out,
                                       .x_row = rows->dilation * s->image.n_columns * s->n_out,
                                       .w = padded (s->n_out) };
  gint64 n_y = s->image.axis[2].n_y;
  gint64 n_blocks = (n_y + CLEAVE_SLIDE_PIXELS - 1) / CLEAVE_SLIDE_PIXELS;
  gint32 sums[CLEAVE_SLIDE_PIXELS * CLEAVE_BYTE_PANEL];
  CleaveByteTile tile = { .sums = sums };

  for (gint64 i = 0; i < n_rows * n_blocks; i++, tile.pixel += tile.n_pixels)
    {
      gint64 left = (i / n_blocks + 1) * n_y - tile.pixel, n_left = n_blocks - i % n_blocks;

      tile.n_pixels = (left + n_left - 1) / n_left;
      for (tile.column = 0; tile.column < s->n_out; tile.column += CLEAVE_CHANNELS)
        {
          tile.n = MIN (CLEAVE_CHANNELS, s->n_out - tile.column);
          slide (&steps, work->x + s->x_at[tile.pixel] + tile.column, work->w + tile.column,
                 tile.n_pixels, sums);
          finish_tile (work, &tile);
        }
    }
}

static void
run_band (const Work *work, gint64 n_rows)
{
  const CleaveByteAxis *columns = &work->s->image.axis[2];
  CleaveByteSlide slide =
      cleave_byte_slide_find (columns->n_taps, columns->stride, columns->dilation);
  gint64 n_pixels = n_rows * columns->n_y;

  if (slide != NULL)
    slide_band (work, slide, n_rows);
  else
    for (gint64 pixel = 0, n; pixel < n_pixels; pixel += n)
      {
        n = n_pixels - pixel >= MAX_PIXELS ? MAX_PIXELS : 1;
        run_pixels (work, pixel, n);
      }
}

static void
run_image (Work *work, gint64 batch)
{
  const Plan *s = work->s;
  const CleaveByteAxis *rows = &s->image.axis[1];
  gint64 size = (gint64) cleave_element_size (work->product.finish.element);
  gint64 row_size = s->y_image / MAX (rows->n_y, 1);
  const char *x = (const char *) work->instance->operands[X].data + batch * s->x_batch_step;
  char *y = (char *) work->instance->results[0].data + batch * s->y_batch_step * size;

  for (gint64 i = 0, n; i < rows->n_y; i += n)
    {
      gint64 at = batch * s->y_image + i * row_size;

      n = MIN (s->image.band, rows->n_y - i);
      cleave_byte_image_fill (&s->image, work->x_zero, x, 0, i, n, (char *) work->x);
      work->product.y = y + i * rows->y_step * size;
      run_band (work, n);
      if (s->reports_progress)
        cleave_kernel_range_done (work->instance, at, at + n * row_size);
    }
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Plan *s = state;
  Work work;

  if (s->better != NULL)
    {
      s->better->run (s->state, instance, scratch);
      return;
    }
  if (s->n_batches == 0 || s->y_image == 0)
    return;
  work = begin_work (s, instance, scratch);
  for (gint64 n = 0; n < s->n_batches; n++)
    run_image (&work, n);
}

static gboolean
reports_progress (gconstpointer state)
{
  const Plan *s = state;

  return s->better != NULL ? s->better->reports_progress (s->state) : s->reports_progress;
}

static gboolean
reads (gconstpointer state, guint operand)
{
  const Plan *s = state;

  if (s->better != NULL)
    return s->better->reads (s->state, operand);
  return s->packed == NULL || operand != s->places.w;
}

static void
add_memory (gconstpointer state, GArray *lines)
{
  const Plan *s = state;
  gsize n = (gsize) (s->image.band * s->image.axis[2].n_y) * sizeof (gint64);

  if (s->better != NULL)
    {
      cleave_kernel_add_memory (s->better, s->state, lines);
      return;
    }
  cleave_qdq_columns_add_memory (&s->columns, lines);
  cleave_memory_lines_add (lines, s->tap_at, (gsize) (s->n_taps + 1) * sizeof *s->tap_at);
  cleave_memory_lines_add (lines, s->x_at, n);
  cleave_memory_lines_add (lines, s->y_at, n);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_integer_depthwise);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_integer_depthwise) = {
  .prepare = prepare,
  .run = run,
  .free = plan_free,
  .reports_progress = reports_progress,
  .reads = reads,
  .n_state = sizeof (Plan),
  .add_memory = add_memory,
};
