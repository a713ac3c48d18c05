/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The plan of a depthwise convolution of bytes (integer-depthwise.c): packed weights, offsets of
 * taps and pixels, and the layout of scratch. Only integer-depthwise.c includes this file. */

#include "../../../ops/reference.h"
#include "../../digest.h"
#include "../../qdq-conv.h"
#include "../pixels.h"
#include "byte-depthwise.h"
#include "byte-image.h"
#include "byte-product.h"
#include "channel-dot4.h"
#include "qdq-words.h"

enum { X };

typedef struct
{
  /* a faster family that runs instead, with its state in `state`; NULL: none */
  const CleaveKernelFamily *better;
  gpointer state;
  CleavePlaces places;
  CleaveByteImage image;
  const gint16 *packed; /* packed weights; NULL: each run packs the weights */
  gint64 n_out, n_taps, column_step;
  /* Three arrays of offsets in elements, from the begin of a band of rows. `tap_at`: offset of each
   * tap in x. Taps are added in pairs; if their number is odd, `tap_at` contains the last tap
   * twice. `x_at` and `y_at`: offset of each pixel in x and in y */
  gint64 *tap_at, *x_at, *y_at;
  gsize at_multiplier, at_shift;
  gsize at_x, at_bias, at_scale, at_packed; /* byte offsets in scratch. `at_x`: the rows of x;
                                               `at_bias`: the biases; `at_scale`: the scales;
                                               `at_packed`: the packed weights */
  const CleaveQdqConv *conv; /* the convolution whose results are QDQ-exact (qdq.h); NULL: results
                                are computed from the integer sums alone */
  CleaveQdqColumns columns;  /* constants that convert sums to bytes */
} Plan;

/* The weights to pack. Packing subtracts their zero points. The order is tap after tap; in each
 * tap, channels are contiguous, rounded up to whole vectors. */
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

static void
list_taps (Plan *s)
{
  const CleaveByteImage *image = &s->image;
  const CleaveAxis *rows = &image->axis[1], *columns = &image->axis[2];
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
  const CleaveAxis *rows = &image->axis[1], *columns = &image->axis[2];
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
  s->column_step = y->stride[dims.c];
  list_taps (s);
  list_pixels (s);
}

/* Computes the constants that convert sums to QDQ-exact results (qdq.h). Returns FALSE if a scale
 * or sum is too large or too small for the error bound. */
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

/* If channel-dot4.c serves the instance and the processor has AVX512-VNNI, makes channel-dot4.c run
 * the instance. Returns FALSE otherwise. */
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
