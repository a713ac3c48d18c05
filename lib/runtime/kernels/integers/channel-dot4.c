/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Depthwise convolutions of bytes: one AVX512-VNNI instruction adds four taps of a row (a dot-4
 * group). Weights that need more than 8 bits after subtracting their zero points are split into
 * sums of 8-bit parts. Each part has its own rows of taps.
 *
 * A block is 64 channels; it is computed from the top of the image to the bottom. Each row of x is
 * converted once, into a ring of rows that all rows of taps read. For each channel, the ring
 * contains a group of four bytes for every second pixel: the bytes of this pixel and of the three
 * pixels after it. A pixel with an odd index reads the group of the pixel before it, with weights
 * shifted by one byte.
 *
 * Over 400 lines: sums and results depend on the layout of weights and rows. */

#include "channel-dot4.h"

#include "../pixels.h"
#include "byte-image.h"
#include "qdq.h"

#include "../../../ops/reference.h"
#include "../../digest.h"

#include <math.h>

enum { X };

#define DOT4_BYTES 64               /* bytes of a vector */
#define DOT4_LANES (DOT4_BYTES / 4) /* channels of a vector: each has four bytes */
/* Bytes of the weights of four taps for a block of 64 channels. */
#define DOT4_BLOCK (4 * DOT4_BYTES)
#define PIXELS 4    /* number of pixels that are computed at once */
#define MAX_ROWS 16 /* limit on the rows of taps: each needs a row of x in the ring */
#define MAX_PARTS 3 /* limit on the number of 8-bit parts of a weight minus its zero point */

typedef struct
{
  CleavePlaces places;
  CleaveByteImage image; /* the axes of the instance; the fields that describe scratch are unused */
  const gint8 *packed;
  const gint32 *w_sums; /* sum of each channel's weights, in the order of the vectors' lanes */
  gint64 n_channels, n_batches, x_batch_step, y_batch_step, y_image;
  gint64 n_places, n_groups, n_variants, n_ring; /* `n_ring`: number of rows of x in the ring */
  gint64 n_rows; /* number of rows of taps for each part of the weights */
  gint64 band;
  gboolean reports_progress;
  gsize at_ring, at_bias, at_scale, at_pad, at_lanes; /* byte offsets of arrays in scratch */
  const CleaveQdqConv *conv; /* the convolution whose results are QDQ-exact (qdq.h); NULL: results
                                are computed from the integer sums alone */
  /* constants that convert sums to bytes, indexed by lane of the vectors */
  CleaveQdqColumns columns;
} Plan;

/* The following functions plan a convolution. */

/* Returns the bytes of the weights of a block of channels. The weights of each row of taps are
 * stored twice: for pixels with an even index, and for pixels with an odd index. */
static gint64
block_bytes (const Plan *s)
{
  return s->n_variants * s->n_rows * s->n_groups * DOT4_BLOCK;
}

static gint64
n_blocks (const Plan *s)
{
  return (s->n_channels + DOT4_BYTES - 1) / DOT4_BYTES;
}

/* Returns the lane that holds channel `channel` of a block. Lanes are counted over all vectors of
 * the block. Each 128-bit lane of a vector holds four of every 16 channels. */
static gint64
find_lane (gint64 channel)
{
  return channel % 16 / 4 * DOT4_LANES + channel / 16 * 4 + channel % 4;
}

typedef struct
{
  const Plan *plan;
  const CleaveKernelInstance *instance;
} Packing;

/* Returns the zero point that is subtracted from the weights of a channel. */
static gint32
find_zero (const Packing *p, gint64 channel)
{
  guint w = p->plan->places.w;

  if (cleave_is_qdq_conv (&p->instance->call))
    return p->instance->operands[w].type.element == CLEAVE_UINT8 ? 128 : 0;
  return (gint32) cleave_places_load (p->instance, p->plan->places.w_zero, channel);
}

static gint32
find_weight (const Packing *p, gint64 channel, gint64 row, gint64 column)
{
  const CleaveView *w = &p->instance->operands[p->plan->places.w];
  guint last = w->type.shape.rank - 1;
  gint64 row_step = last == 3 ? w->stride[2] : 0;
  const char *at =
      (const char *) w->data + channel * w->stride[0] + row * row_step + column * w->stride[last];

  return w->type.element == CLEAVE_INT8 ? *(const gint8 *) at : *(const guint8 *) at;
}

/* Returns the number of 8-bit parts into which each weight minus its zero point must be split. */
static gint64
count_parts (const Packing *p)
{
  const CleaveByteAxis *axis = p->plan->image.axis;
  gint32 least = 0, most = 0;

  for (gint64 c = 0; c < p->plan->n_channels; c++)
    {
      gint32 zero = find_zero (p, c);

      for (gint64 t = 0; t < axis[1].n_taps; t++)
        for (gint64 j = 0; j < axis[2].n_taps; j++)
          {
            gint32 value = find_weight (p, c, t, j) - zero;

            least = MIN (least, value);
            most = MAX (most, value);
          }
    }
  return MAX (1, MAX ((-least + 127) / 128, (most + 126) / 127));
}

static void
pack_channel (const Packing *p, gint64 channel, gint8 *to)
{
  const Plan *s = p->plan;
  gint64 n_taps = s->image.axis[1].n_taps, n = s->image.axis[2].n_taps;
  gint32 zero = find_zero (p, channel);

  to += channel / DOT4_BYTES * block_bytes (s) + find_lane (channel % DOT4_BYTES) * 4;
  for (gint64 t = 0; t < n_taps; t++)
    for (gint64 j = 0; j < n; j++)
      {
        gint32 left = find_weight (p, channel, t, j) - zero;

        for (gint64 row = t; row < s->n_rows; row += n_taps)
          {
            gint8 part = (gint8) CLAMP (left, G_MININT8, G_MAXINT8);

            for (gint64 v = 0; v < s->n_variants; v++)
              to[((v * s->n_rows + row) * s->n_groups + (j + v) / 4) * DOT4_BLOCK + (j + v) % 4] =
                  part;
            left -= part;
          }
      }
}

static gint32
sum_weights (const Packing *p, gint64 channel)
{
  const CleaveByteAxis *axis = p->plan->image.axis;
  gint32 sum = 0, zero = find_zero (p, channel);

  for (gint64 t = 0; t < axis[1].n_taps; t++)
    for (gint64 j = 0; j < axis[2].n_taps; j++)
      sum += find_weight (p, channel, t, j) - zero;
  return sum;
}

/* Packs the weights of all blocks of channels, followed by the sum of the weights of each
 * channel. */
static void
pack_constant (const CleaveTensor *base, gconstpointer data, gpointer to)
{
  const Packing *p = data;
  const Plan *s = p->plan;
  gint64 n_groups = n_blocks (s) * block_bytes (s);
  gint32 *sums = (gint32 *) (void *) ((char *) to + n_groups);

  memset (to, 0, (gsize) n_groups);
  memset (sums, 0, (gsize) (n_blocks (s) * DOT4_BYTES) * sizeof *sums);
  for (gint64 c = 0; c < s->n_channels; c++)
    {
      pack_channel (p, c, to);
      sums[c / DOT4_BYTES * DOT4_BYTES + find_lane (c % DOT4_BYTES)] = sum_weights (p, c);
    }
}

static void
pack_weights (Plan *s,
              const CleaveKernelInstance *instance,
              CleaveWeights *weights,
              gboolean has_zeros)
{
  Packing packing = { s, instance };
  gint64 n_groups;
  g_autofree char *key = NULL, *zeros = NULL;

  s->n_rows = s->image.axis[1].n_taps * (has_zeros ? count_parts (&packing) : 1);
  if (has_zeros && cleave_call_has (&instance->call, s->places.w_zero))
    zeros = cleave_constant_dup_digest (instance->constants[s->places.w_zero]);
  key = g_strdup_printf ("dot-4 groups of taps of channels, %d variants, zero points: %s",
                         (int) s->n_variants,
                         zeros != NULL ? zeros
                         : has_zeros   ? "none"
                                       : "middle of the type");
  n_groups = n_blocks (s) * block_bytes (s);
  s->packed = cleave_weights_get (weights, instance->constants[s->places.w], key,
                                  (gsize) n_groups +
                                      (gsize) (n_blocks (s) * DOT4_BYTES) * sizeof *s->w_sums,
                                  pack_constant, &packing);
  if (s->packed != NULL)
    s->w_sums = (const gint32 *) (gconstpointer) (s->packed + n_groups);
}

/* Returns whether y may share memory with x. In this case, each row of x must be read before y
 * overwrites it, and no block of channels may overwrite elements of x that another block reads. */
static gboolean
lies_well (const CleaveView *x, const CleaveView *y, gint64 n_channels)
{
  return !cleave_places_overlap (x, y) ||
         (cleave_element_size (y->type.element) == 1 &&
          ((const char *) y->data - (const char *) x->data) % n_channels == 0);
}

static gboolean
serves (const CleaveKernelInstance *instance, const CleavePlaces *p, CleaveDims dims)
{
  const CleaveConvAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];
  const CleaveView *w = &instance->operands[p->w];
  gint64 n = w->type.shape.dim[0];
  guint last = w->type.shape.rank - 1;

  return instance->constants[p->w] != NULL &&
         (!cleave_call_has (&instance->call, p->w_zero) ||
          instance->constants[p->w_zero] != NULL) &&
         n == x->type.shape.dim[dims.c] && (n == 1 || x->stride[dims.c] == 1) &&
         (n == 1 || y->stride[dims.c] == 1) &&
         cleave_ints_at (&a->dilations, dims.n_spatial - 1, 1) == 1 &&
         (last == 2 ||
          (w->type.shape.dim[2] - 1) * cleave_ints_at (&a->dilations, 0, 1) + 1 <= MAX_ROWS) &&
         lies_well (x, y, n);
}

static void
init_plan (Plan *s, const CleaveKernelInstance *instance, CleaveDims dims)
{
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];
  const CleaveByteAxis *columns = &s->image.axis[2];
  gint64 last;

  cleave_byte_image_init_axes (&s->image, instance, &instance->operands[s->places.w], dims);
  s->image.element = x->type.element;
  s->n_channels = x->type.shape.dim[dims.c];
  s->n_batches = x->type.shape.dim[dims.n];
  s->x_batch_step = x->stride[dims.n];
  s->y_batch_step = y->stride[dims.n];
  s->y_image = cleave_shape_n_elements (&y->type.shape) / MAX (s->n_batches, 1);
  s->n_variants = 1 + columns->stride % 2;
  s->n_groups = (columns->n_taps + s->n_variants - 1 + 3) / 4;
  last = (columns->n_y - 1) * columns->stride / 2 + 2 * (s->n_groups - 1);
  s->n_places = MAX (last, 0) + 1;
  s->n_ring = cleave_byte_axis_reach (&s->image.axis[1], 1);
  s->band = CLEAVE_BYTE_BAND / MAX (columns->n_y * s->n_channels, 1);
  s->band = MAX (s->band, 4 * s->n_ring);
  s->reports_progress = cleave_pixels_are_dense (y, dims);
}

/* Computes two sums for the error bound of a channel. `sum` is the sum of its weights. `weighed` is
 * the sum of the magnitudes of its weights, each multiplied by 3 plus the number of weights after
 * it. */
static void
add_weights (const Plan *s, gint64 channel, gint64 *sum, gint64 *weighed)
{
  const gint8 *w =
      s->packed + channel / DOT4_BYTES * block_bytes (s) + find_lane (channel % DOT4_BYTES) * 4;
  gint64 n_rows = s->n_rows, n_columns = s->image.axis[2].n_taps;

  *sum = *weighed = 0;
  for (gint64 t = 0; t < n_rows; t++)
    for (gint64 j = 0; j < n_columns; j++)
      {
        gint64 by = w[(t * s->n_groups + j / 4) * DOT4_BLOCK + j % 4];

        *sum += by;
        *weighed += (n_rows * n_columns - t * n_columns - j + 2) * ABS (by);
      }
}

/* Computes the constants with which integer sums give the bits of the float sequence (qdq.h).
 * Returns FALSE if the bounds do not fit. A sum too near a rounding boundary is computed again in
 * floats: with 9 taps, one sum in 2,000. */
static gboolean
prepare_qdq (Plan *s, const CleaveKernelInstance *instance)
{
  const CleaveQdqConv *conv = instance->call.attrs;
  gint64 n_taps = s->image.axis[1].n_taps * s->image.axis[2].n_taps;
  gint32 stands = cleave_byte_unit_zero (CLEAVE_DOT4, s->image.element, conv->x_zero);
  CleaveQdqSums sums = { .conv = conv, .length = n_taps };
  gboolean fits = TRUE;

  sums.x_norm = MAX (abs (stands), abs (255 - stands));
  cleave_qdq_columns_init (&s->columns, &sums, n_blocks (s) * DOT4_BYTES);
  for (gint64 c = 0; fits && c < s->n_channels; c++)
    {
      gint64 lane = c / DOT4_BYTES * DOT4_BYTES + find_lane (c % DOT4_BYTES), sum, weighed;

      add_weights (s, c, &sum, &weighed);
      fits = cleave_qdq_columns_set (
          &s->columns, &sums,
          (CleaveQdqColumn){ .norm = (double) weighed, .zero = -(double) (stands * sum) }, c, lane);
    }
  s->conv = conv;
  return fits;
}

static gsize
lay_out (Plan *s)
{
  gint64 n_lanes = 2 * n_blocks (s) * DOT4_BYTES; /* memory for one row of bytes in the order of
                                                     lanes, and one in the order of channels */
  gsize n = 0;

  s->at_ring = cleave_take_scratch (&n, s->n_ring * s->n_places * DOT4_LANES * 4);
  s->at_bias = cleave_take_scratch (&n, n_lanes);
  s->at_scale = cleave_take_scratch (&n, n_lanes);
  s->at_pad = cleave_take_scratch (&n, DOT4_LANES);
  s->at_lanes = cleave_take_scratch (&n, s->conv == NULL ? 0 : 2 * s->image.axis[2].n_y);
  return n;
}

static void
plan_free (gpointer state)
{
  Plan *s = state;

  cleave_qdq_columns_clear (&s->columns);
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
  CleavePlaces places = cleave_places_find (&instance->call);
  gboolean is_qdq = cleave_is_qdq_conv (&instance->call);
  Plan *s;

  if (dims.n_spatial > 2 || !serves (instance, &places, dims))
    return FALSE;
  s = g_new0 (Plan, 1);
  s->places = places;
  init_plan (s, instance, dims);
  pack_weights (s, instance, weights, !is_qdq && cleave_places_have_w_zeros (&places, instance));
  if (is_qdq && s->packed != NULL && !prepare_qdq (s, instance))
    {
      plan_free (s);
      return FALSE;
    }
  *n_scratch = lay_out (s);
  *state = s;
  return TRUE;
}

/* The following functions run a convolution. */

/* A row of x that is converted and written to the ring (channel-dot4-rows.h). */
typedef struct
{
  const char *x; /* address of the row of x; NULL: the row is padding */
  const char *pad;
  const CleaveByteAxis *columns;
  gint64 n_places;
  guint8 flip;
  guint64 mask; /* mask of the lanes that hold a channel */
} Fill;

static inline const char *
find_byte (const Fill *f, gint64 i)
{
  const char *at = cleave_byte_image_find (f->columns, i, f->x);

  return at == NULL ? f->pad : at;
}

/* A row of y, for one block of channels. */
typedef struct
{
  const char *x;
  gint64 row_at[MAX_ROWS * MAX_PARTS]; /* indexed by row of taps: byte offset in the ring of the row
                                          of x that it reads */
  gint64 n_rows, n_columns, n_groups, n_places, stride, n_pixels;
  const gint8 *w;
  gint64 later; /* distance in bytes from the weights for even positions to the weights for odd
                   positions */
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
  gint64 column, lane; /* index of the block's first column; index of the block's first lane */
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

/* Defines the functions for vectors of 32 bytes, which compute the last channels if at most half a
 * block of channels is left. */
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
  const CleaveByteAxis *columns = &s->image.axis[2];

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
  const CleaveByteAxis *columns = &s->image.axis[2];
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
              .columns = columns,
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
  const CleaveByteAxis *rows = &s->image.axis[1];
  gint64 filled = begin * rows->stride, row_bytes = s->n_places * DOT4_BLOCK;
  gint64 size = work->row.is_whole ? sizeof (gint32) : 1;
  gboolean is_half = work->row.n <= DOT4_BYTES / 2;

  for (gint64 i = begin; i < end; i++)
    {
      for (filled = MAX (filled, i * rows->stride); filled < i * rows->stride + s->n_ring; filled++)
        {
          char *to = work->ring + filled % s->n_ring * row_bytes;

          work->fill.x = cleave_byte_image_find (rows, filled, x + c);
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
  gint64 n_rows = s->image.axis[1].n_y, row_size = s->y_image / MAX (n_rows, 1);
  gint64 size = (gint64) cleave_element_size (instance->results[0].type.element);
  Work work;

  if (s->n_batches == 0 || s->y_image == 0)
    return;
  work = begin_work (s, instance, scratch);
  for (gint64 b = 0; b < s->n_batches; b++)
    for (gint64 i = 0, end; i < n_rows; i = end)
      {
        end = MIN (i + s->band, n_rows);
        run_band (&work, (const char *) instance->operands[X].data + b * s->x_batch_step,
                  (char *) instance->results[0].data + b * s->y_batch_step * size, i, end);
        if (s->reports_progress)
          cleave_kernel_range_done (instance, b * s->y_image + i * row_size,
                                    b * s->y_image + end * row_size);
      }
}

static gboolean
reports_progress (gconstpointer state)
{
  const Plan *s = state;

  return s->reports_progress;
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
