/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Depthwise convolutions of bytes: one AVX512-VNNI instruction adds four taps of a row (a dot-4
 * group). Weights that need more than 8 bits after subtracting their zero points are split into
 * sums of 8-bit parts. Each part has its own rows of taps.
 *
 * A block is 64 channels; it is computed from the top of the image to the bottom. Each row of x is
 * converted once, into a ring of rows that all rows of taps read. For each channel, the ring
 * contains a group of four bytes for every second pixel: the bytes of this pixel and of the three
 * pixels after it. A pixel with an odd index reads the group of the pixel before it, with weights
 * shifted by one byte. channel-dot4-plan.h packs the weights. */

#include "channel-dot4.h"
#include "channel-dot4-plan.h"

#include <math.h>

#define PIXELS 4 /* number of pixels that are computed at once */

/* A row of x that is converted and written to the ring (channel-dot4-rows.h). */
typedef struct
{
  const char *x; /* address of the row of x; NULL: the row is padding */
  const char *pad;
  const CleaveByteImage *image;
  gint64 n_places;
  guint8 flip;
  guint64 mask; /* mask of the lanes that hold a channel */
} Fill;

static inline const char *
find_byte (const Fill *f, gint64 i)
{
  const char *at = cleave_byte_image_find (f->image, 2, i, f->x);

  return at == NULL ? f->pad : at;
}

/* A row of y, for one block of channels. */
typedef struct
{
  const char *x;
  gint64 row_at[MAX_ROWS * MAX_PARTS]; /* indexed by row of taps: byte offset, from the begin of the
                                          ring, of the row of x that these taps read */
  gint64 n_rows, n_columns, n_groups, n_places, stride, n_pixels;
  const gint8 *w;
  gint64 later; /* distance in bytes from the weights for pixels with an even index to the weights
                   for pixels with an odd index */
  const gint32 *bias;
  const float *scale;
  gint32 y_zero;
  /* `is_whole`: y is int32, so that the integer sums are the result; `has_odd_scales`: a scale is
   * infinite or a NaN */
  gboolean is_signed, is_whole, has_odd_scales;
  char *y;
  gint64 y_step, n; /* distance of adjacent pixels in bytes; number of channels of the block */
  guint64 mask;
  const CleaveQdqConv *conv; /* the convolution whose results are QDQ-exact (qdq.h); NULL: results
                                are computed from the integer sums alone */
  CleaveQdqColumns columns;
  gint64 column, lane; /* index of the first channel of the block in y; index of the first lane of
                          the block among the lanes of all blocks */
  gint32 x_stands;
  guint64 *lanes; /* indexed by pixel: mask of the lanes whose sums are ambiguous */
  char least, most;
} Row;

/* Reorders the sums of a block from the order of lanes to the order of channels. */
static inline void
put_in_order_64 (const __m512i *sum, __m512i *to)
{
  __m512i a = _mm512_shuffle_i32x4 (sum[0], sum[1], 0x44);
  __m512i b = _mm512_shuffle_i32x4 (sum[2], sum[3], 0x44);
  __m512i c = _mm512_shuffle_i32x4 (sum[0], sum[1], 0xee);
  __m512i d = _mm512_shuffle_i32x4 (sum[2], sum[3], 0xee);

  to[0] = _mm512_shuffle_i32x4 (a, b, 0x88);
  to[1] = _mm512_shuffle_i32x4 (a, b, 0xdd);
  to[2] = _mm512_shuffle_i32x4 (c, d, 0x88);
  to[3] = _mm512_shuffle_i32x4 (c, d, 0xdd);
}

static inline void
put_in_order_32 (const __m256i *sum, __m256i *to)
{
  to[0] = _mm256_permute2x128_si256 (sum[0], sum[1], 0x20);
  to[1] = _mm256_permute2x128_si256 (sum[2], sum[3], 0x20);
  to[2] = _mm256_permute2x128_si256 (sum[0], sum[1], 0x31);
  to[3] = _mm256_permute2x128_si256 (sum[2], sum[3], 0x31);
}

#define NAME(name) name##_64
#define V(name) _mm512_##name
#define VECTOR __m512i
#define FLOATS __m512
#define MASK __mmask64
#define LANE_MASK __mmask16
#define COLUMNS DOT4_LANES
#define WORDS(from) _mm512_loadu_si512 (from)
#include "channel-dot4-rows.h"

/* Defines the functions for vectors of 32 bytes. These functions compute the last channels if at
 * most 32 channels, half a block, are left. */
#define NAME(name) name##_32
#define V(name) _mm256_##name
#define VECTOR __m256i
#define FLOATS __m256
#define MASK __mmask32
#define LANE_MASK __mmask8
#define COLUMNS DOT4_LANES
#define WORDS(from)                                                                                \
  _mm256_loadu2_m128i ((const void *) ((from) + DOT4_LANES), (const void *) (from))
#include "channel-dot4-rows.h"

/* State of a run. */
typedef struct
{
  const Plan *s;
  const CleaveKernelInstance *instance;
  gint32 *bias;
  float *scale;
  char *ring;
  Fill fill;
  Row row;
} Work;

/* Reads biases and scales, and writes them in the order of lanes. */
static void
read_finish (Work *work, gint32 x_stands, gint32 *bias, float *scale)
{
  const Plan *s = work->s;

  if (s->conv != NULL)
    {
      memset (work->bias, 0, (gsize) (n_blocks (s) * DOT4_BYTES) * sizeof *bias);
      return;
    }
  work->row.is_whole =
      !cleave_places_read_scales (&s->places, work->instance, s->n_channels, bias, scale);
  work->row.has_odd_scales =
      !work->row.is_whole && cleave_byte_has_odd_scales (scale, s->n_channels);
  for (gint64 c = 0; c < s->n_channels; c++)
    {
      gint64 to = c / DOT4_BYTES * DOT4_BYTES + find_lane (c % DOT4_BYTES);

      work->bias[to] = (gint32) ((guint32) bias[c] - (guint32) x_stands * (guint32) s->w_sums[to]);
      if (!work->row.is_whole)
        work->scale[to] = scale[c];
    }
}

static Row
begin_row (const Plan *s, CleaveElement y_element, gint32 x_stands, gint32 y_zero, char *scratch)
{
  const CleaveAxis *columns = &s->image.axis[2];

  return (Row){
    .x = scratch + s->at_ring,
    .n_rows = s->n_rows,
    .n_columns = columns->n_taps,
    .n_groups = s->n_groups,
    .n_places = s->n_places,
    .stride = columns->stride,
    .n_pixels = columns->n_y,
    .later = block_bytes (s) / s->n_variants,
    .y_zero = y_zero,
    .conv = s->conv,
    .columns = s->columns,
    .x_stands = x_stands,
    .lanes = (guint64 *) (void *) (scratch + s->at_lanes),
    .is_signed = y_element == CLEAVE_INT8,
    .y_step = columns->y_step * (gint64) cleave_element_size (y_element),
  };
}

static Work
begin_work (const Plan *s, const CleaveKernelInstance *instance, char *scratch)
{
  const CleavePlaces *p = &s->places;
  gint32 x_zero =
      s->conv != NULL ? s->conv->x_zero : (gint32) cleave_places_load (instance, p->x_zero, 0);
  gint32 y_zero =
      s->conv != NULL ? s->conv->y_zero : (gint32) cleave_places_load (instance, p->y_zero, 0);
  gint32 x_stands = cleave_byte_unit_zero (CLEAVE_DOT4, s->image.element, x_zero);
  Work work = {
    .s = s,
    .instance = instance,
    .bias = (gint32 *) (void *) (scratch + s->at_bias),
    .scale = (float *) (void *) (scratch + s->at_scale),
    .ring = scratch + s->at_ring,
    .fill = { .pad = scratch + s->at_pad,
              .image = &s->image,
              .n_places = s->n_places,
              .flip = s->image.element == CLEAVE_INT8 ? 0x80 : 0 },
    .row = begin_row (s, instance->results[0].type.element, x_stands, y_zero, scratch),
  };

  memset (scratch + s->at_pad, x_zero, DOT4_BYTES);
  read_finish (&work, x_stands, work.bias + n_blocks (s) * DOT4_BYTES,
               work.scale + n_blocks (s) * DOT4_BYTES);
  if (s->conv != NULL)
    {
      work.row.least = (char) (s->conv->least + y_zero);
      work.row.most = (char) (s->conv->most + y_zero);
    }
  return work;
}

/* Computes rows [begin, end) of y for the block of channels that begins at channel `c`. */
static void
run_block (Work *work, const char *x, char *y, gint64 c, gint64 begin, gint64 end)
{
  const Plan *s = work->s;
  const CleaveAxis *rows = &s->image.axis[1];
  gint64 filled = begin * rows->stride, row_bytes = s->n_places * DOT4_BLOCK;
  gint64 size = work->row.is_whole ? sizeof (gint32) : 1;
  gboolean is_half = work->row.n <= DOT4_BYTES / 2;

  for (gint64 i = begin; i < end; i++)
    {
      for (filled = MAX (filled, i * rows->stride); filled < i * rows->stride + s->n_ring; filled++)
        {
          char *to = work->ring + filled % s->n_ring * row_bytes;

          work->fill.x = cleave_byte_image_find (&s->image, 1, filled, x + c);
          is_half ? fill_32 (&work->fill, to) : fill_64 (&work->fill, to);
        }
      for (gint64 t = 0; t < s->n_rows; t++)
        work->row.row_at[t] =
            (i * rows->stride + t % rows->n_taps * rows->dilation) % s->n_ring * row_bytes;
      work->row.y = y + (i * rows->y_step + c) * size;
      is_half ? run_row_32 (&work->row) : run_row_64 (&work->row);
    }
}

static void
run_band (Work *work, const char *x, char *y, gint64 begin, gint64 end)
{
  const Plan *s = work->s;

  for (gint64 c = 0; c < s->n_channels; c += DOT4_BYTES)
    {
      gint64 n = MIN (s->n_channels - c, DOT4_BYTES);

      work->fill.mask = work->row.mask = n == 64 ? G_MAXUINT64 : ((guint64) 1 << n) - 1;
      work->row.n = n;
      work->row.column = work->row.lane = c;
      work->row.w = s->packed + c / DOT4_BYTES * block_bytes (s);
      work->row.bias = work->bias + c;
      work->row.scale = work->scale + c;
      run_block (work, x, y, c, begin, end);
    }
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Plan *s = state;
  gint64 n_rows = s->image.axis[1].n_y, row_size = s->image.y_image / MAX (n_rows, 1);
  gint64 size = (gint64) cleave_element_size (instance->results[0].type.element);
  Work work;

  if (s->image.n_batches == 0 || s->image.y_image == 0)
    return;
  work = begin_work (s, instance, scratch);
  for (gint64 b = 0; b < s->image.n_batches; b++)
    for (gint64 i = 0, end; i < n_rows; i = end)
      {
        end = MIN (i + s->band, n_rows);
        run_band (&work, (const char *) instance->operands[X].data + b * s->image.x_batch_step,
                  (char *) instance->results[0].data + b * s->image.y_batch_step * size, i, end);
        if (s->image.y_is_dense)
          cleave_kernel_range_done (instance, b * s->image.y_image + i * row_size,
                                    b * s->image.y_image + end * row_size);
      }
}

static gboolean
reports_progress (gconstpointer state)
{
  const Plan *s = state;

  return s->image.y_is_dense;
}

static gboolean
reads (gconstpointer state, guint operand)
{
  const Plan *s = state;

  return operand != s->places.w;
}

static void
add_memory (gconstpointer state, GArray *lines)
{
  const Plan *s = state;

  cleave_qdq_columns_add_memory (&s->columns, lines);
}

const CleaveKernelFamily cleave_kernel_channel_dot4 = {
  .prepare = prepare,
  .run = run,
  .free = plan_free,
  .reports_progress = reports_progress,
  .reads = reads,
  .n_state = sizeof (Plan),
  .add_memory = add_memory,
};
