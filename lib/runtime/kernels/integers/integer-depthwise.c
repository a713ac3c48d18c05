/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of depthwise convolutions of bytes, computed in integer arithmetic. A run
 * copies elements of x to scratch, as 16-bit integers: the elements that a few rows of y read. It
 * then adds up the taps with one channel in each lane. QDQ-exact results need fused multiply-add
 * (qdq.h). integer-depthwise-plan.h packs the weights. */

#include "integer-depthwise-plan.h"

#include "byte-slide.h"

#include <cleave/cleave-tflite.h>

#define MAX_PIXELS 4
#define TILE_PIXELS MAX (MAX_PIXELS, CLEAVE_SLIDE_PIXELS)

/* State of a run. */
typedef struct
{
  const Plan *s;
  const CleaveKernelInstance *instance;
  /* Describes y, and the conversion of sums to elements of y. The other fields of this struct,
   * which describe a matrix product, are not used. */
  CleaveByteProduct product;
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
 * Returns the quantized byte. */
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

/* Converts the sums of a tile to QDQ-exact bytes. The first loop converts all sums, and calls no
 * function, so that its constants stay in registers. The last loop recomputes ambiguous sums. */
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

/* Computes n_rows rows with a function of byte-slide.h. Divides each row into blocks that have
 * about the same number of pixels. */
static void
slide_band (const Work *work, CleaveByteSlide slide, gint64 n_rows)
{
  const Plan *s = work->s;
  const CleaveAxis *rows = &s->image.axis[1];
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
  const CleaveAxis *columns = &work->s->image.axis[2];
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
  const CleaveAxis *rows = &s->image.axis[1];
  gint64 size = (gint64) cleave_element_size (work->product.finish.element);
  gint64 row_size = s->image.y_image / MAX (rows->n_y, 1);
  const char *x = (const char *) work->instance->operands[X].data + batch * s->image.x_batch_step;
  char *y = (char *) work->instance->results[0].data + batch * s->image.y_batch_step * size;

  for (gint64 i = 0, n; i < rows->n_y; i += n)
    {
      gint64 at = batch * s->image.y_image + i * row_size;

      n = MIN (s->image.band, rows->n_y - i);
      cleave_byte_image_fill (&s->image, work->x_zero, x, 0, i, n, (char *) work->x);
      work->product.y = y + i * rows->y_step * size;
      run_band (work, n);
      if (s->image.y_is_dense)
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
  if (s->image.n_batches == 0 || s->image.y_image == 0)
    return;
  work = begin_work (s, instance, scratch);
  for (gint64 n = 0; n < s->image.n_batches; n++)
    run_image (&work, n);
}

static gboolean
reports_progress (gconstpointer state)
{
  const Plan *s = state;

  return s->better != NULL ? s->better->reports_progress (s->state) : s->image.y_is_dense;
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
