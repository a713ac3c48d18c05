/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The plan of a depthwise convolution of bytes for AVX512-VNNI (channel-dot4.c): packed weights,
 * the layout of scratch, and the constants that convert sums. Only channel-dot4.c includes this
 * file. */

#include "../../../ops/reference.h"
#include "../../digest.h"
#include "../pixels.h"
#include "byte-image.h"
#include "qdq.h"

enum { X };

#define DOT4_BYTES 64               /* size of a vector in bytes */
#define DOT4_LANES (DOT4_BYTES / 4) /* number of channels of a vector: each has four bytes */
/* Number of bytes of the weights of four adjacent taps, for a block of 64 channels. */
#define DOT4_BLOCK (4 * DOT4_BYTES)
/* Limit on the number of rows from the first to the last row of taps, dilation included. The ring
 * holds all these rows of x. */
#define MAX_ROWS 16
/* Limit on the number of 8-bit integers that represent one weight. A weight minus its zero point
 * may exceed 8 bits; it is then stored as a sum of 8-bit integers, its parts. */
#define MAX_PARTS 3

typedef struct
{
  CleavePlaces places;
  /* The axes and strides of x and y, and the element type of x (cleave_byte_image_init_views()).
   * This kernel has a ring in scratch instead of a byte image. So the fields of CleaveByteImage
   * that lay out scratch are 0. */
  CleaveByteImage image;
  const gint8 *packed;
  const gint32 *w_sums; /* indexed by lane: the sum of the weights of the lane's channel */
  gint64 n_channels;
  /* `n_places`: number of positions in each row of the ring; `n_ring`: number of rows of the ring;
   * `n_groups`: number of groups of four taps in each row of taps; `n_variants`: number of copies
   * of the weights: 1, or 2 for even and odd pixels */
  gint64 n_places, n_groups, n_variants, n_ring;
  gint64 n_rows; /* number of rows of taps, multiplied by the number of 8-bit parts of a weight */
  gint64 band;   /* number of rows of y that are computed for one block of channels before the next
                    block begins */
  /* byte offsets in scratch. `at_ring`: the ring; `at_bias`, `at_scale`, `at_pad`: the biases, the
   * scales and the padding; `at_lanes`: masks of ambiguous lanes, one mask for each pixel of a
   * row */
  gsize at_ring, at_bias, at_scale, at_pad, at_lanes;
  const CleaveQdqConv *conv; /* the convolution whose results are QDQ-exact (qdq.h); NULL: results
                                are computed from the integer sums alone */
  /* constants that convert sums to bytes, indexed by lane of the vectors */
  CleaveQdqColumns columns;
} Plan;

/* Returns the bytes of the weights of a block of channels. If `n_variants` is 2, the weights of
 * each row of taps are stored twice: for pixels with an even index, and for pixels with an odd
 * index. */
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

/* Returns the index of the lane that holds channel `channel` of a block. A block has four vectors,
 * whose 32-bit lanes are counted one vector after the other. Each vector consists of four quarters
 * of 128 bits. Quarter j of vector k holds channels 16 j + 4 k to 16 j + 4 k + 3. */
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

/* Returns the number of 8-bit parts into which the weights, minus their zero points, must be split.
 * All weights are split into equally many parts. */
static gint64
count_parts (const Packing *p)
{
  const CleaveAxis *axis = p->plan->image.axis;
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
  const CleaveAxis *axis = p->plan->image.axis;
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

/* Returns whether the kernel may write y, even if y overlaps x. Returns FALSE if writing y could
 * destroy elements of x that a later row or another block of channels reads. */
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
  const CleaveView *x = &instance->operands[X];
  const CleaveAxis *columns = &s->image.axis[2];
  gint64 last;

  cleave_byte_image_init_views (&s->image, instance, &instance->operands[s->places.w], dims);
  s->n_channels = x->type.shape.dim[dims.c];
  s->n_variants = 1 + columns->stride % 2;
  s->n_groups = (columns->n_taps + s->n_variants - 1 + 3) / 4;
  last = (columns->n_y - 1) * columns->stride / 2 + 2 * (s->n_groups - 1);
  s->n_places = MAX (last, 0) + 1;
  s->n_ring = cleave_byte_axis_reach (&s->image.axis[1], 1);
  s->band = CLEAVE_BYTE_BAND / MAX (columns->n_y * s->n_channels, 1);
  s->band = MAX (s->band, 4 * s->n_ring);
}

/* Computes two sums for the error bound of a channel. `sum` is the sum of the channel's weights.
 * `weighed` is the sum of (n + 3) * |w| over the weights w, where n is the number of weights after
 * w. */
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

/* Computes the constants that convert integer sums to QDQ-exact bytes (qdq.h). Returns FALSE if a
 * scale or sum is too large or too small for the error bound. With 9 taps, one sum in 2,000 is
 * ambiguous. */
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
  /* two copies of the biases (or scales): the first copy in the order of lanes, the second copy in
   * the order of channels */
  gint64 n_lanes = 2 * n_blocks (s) * DOT4_BYTES;
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
