/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TfliteAveragePool: AVERAGE_POOL_2D on integers.
 *
 * Adds up the taps that are not padding, and divides the sum by their number. Rounds the mean to
 * the nearest integer, ties away from zero, and clamps it to [min, max]. Source:
 * reference/integer_ops/pooling.h. */

#include <string.h>

#include "pool.h"
#include "reference.h"
#include "tflite.h"

enum { X };

/* The kernel sums at most this many channels at a time: the sums are in an array on the stack. */
#define BLOCK 64
/* A window has at most this many taps: 32 bits then hold a sum of int16. */
#define MAX_TAPS 65535

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTflitePoolAttrs *a = call->attrs;
  CleaveDims dims = cleave_call_dims (call);
  CleaveWindow windows[CLEAVE_MAX_RANK];
  double n_taps = 1;

  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENTS_TFLITE, error) ||
      !cleave_call_check_rank (call, X, 3, CLEAVE_MAX_RANK, error))
    return FALSE;
  if (a->pool.kernel_shape.n != dims.n_spatial)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "kernel_shape has %u entries, but must have %u", a->pool.kernel_shape.n,
                        dims.n_spatial);
  for (guint i = 0; i < dims.n_spatial; i++)
    n_taps *= (double) a->pool.kernel_shape.v[i];
  if (n_taps > MAX_TAPS)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "the windows have %g elements, at most %d are supported", n_taps, MAX_TAPS);
  if (!cleave_window_check_list (&a->pool.kernel_shape, dims.n_spatial, "kernel_shape", error) ||
      !cleave_window_check_lists (&a->pool.strides, &a->pool.dilations, &a->pool.pads,
                                  dims.n_spatial, error) ||
      !cleave_tflite_check_bounds (call->operands[X].element, a->min, a->max, error))
    return FALSE;
  results[0] = call->operands[X];
  cleave_pool_init_windows (call, windows);
  for (guint i = 0; i < dims.n_spatial; i++)
    if (!cleave_window_count (&windows[i], i, FALSE, &results[0].shape.dim[dims.h + i], error))
      return FALSE;
  return TRUE;
}

/* Adds n elements of type Type, which are `stride` apart, to the n sums. Compilers vectorize the
 * loop for the stride 1. */
#define ADD_UP(Type)                                                                               \
  do                                                                                               \
    {                                                                                              \
      const Type *values = x;                                                                      \
                                                                                                   \
      if (stride == 1)                                                                             \
        for (gint64 c = 0; c < n; c++)                                                             \
          sums[c] += values[c];                                                                    \
      else                                                                                         \
        for (gint64 c = 0; c < n; c++)                                                             \
          sums[c] += values[c * stride];                                                           \
    }                                                                                              \
  while (0)

static void
add_tap (CleaveElement element, gconstpointer x, gint64 stride, gint64 n, gint32 *sums)
{
  if (element == CLEAVE_INT8)
    ADD_UP (gint8);
  else
    ADD_UP (gint16);
}

/* Sets `sums` to the sums of the taps of `n` channels, for the result element at `out`, an index in
 * the spatial dimensions. Returns the number of taps that are not padding. `x` is a view that
 * begins at the first of the `n` channels. */
static gint64
add_taps (const CleaveWindow *windows,
          const CleaveDims *dims,
          const CleaveView *x,
          const gint64 *out,
          gint64 n,
          gint32 *sums)
{
  CleaveShape taps = { .rank = dims->n_spatial };
  gint64 tap[CLEAVE_MAX_RANK], offset, count = 0;

  memset (sums, 0, BLOCK * sizeof (*sums));
  for (guint i = 0; i < taps.rank; i++)
    taps.dim[i] = windows[i].kernel;
  CLEAVE_EACH_INDEX (tap, &taps)
    if (cleave_window_tap (windows, taps.rank, out, tap, x->stride + dims->h, &offset))
      {
        add_tap (x->type.element, cleave_view_element (x, offset), x->stride[dims->c], n, sums);
        count++;
      }
  return count;
}

/* Divides a sum by the number of taps; returns 0 if all taps are padding. */
static gint64
divide (gint64 sum, gint64 count)
{
  if (count == 0)
    return 0;
  return sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTflitePoolAttrs *a = call->attrs;
  CleaveDims dims = cleave_call_dims (call);
  CleaveWindow windows[CLEAVE_MAX_RANK];
  const CleaveView *x = &operands[X], *y = &results[0];
  CleaveShape blocks = y->type.shape;
  gint64 at[CLEAVE_MAX_RANK];
  gint32 sums[BLOCK];

  cleave_pool_init_windows (call, windows);
  blocks.dim[dims.c] = (blocks.dim[dims.c] + BLOCK - 1) / BLOCK;
  CLEAVE_EACH_INDEX (at, &blocks)
    {
      gint64 first = at[dims.c] * BLOCK, n = MIN (y->type.shape.dim[dims.c] - first, BLOCK);
      gint64 to[CLEAVE_MAX_RANK], count;
      CleaveView from = *x;

      memcpy (to, at, sizeof (to));
      from.data =
          cleave_view_element (x, at[dims.n] * x->stride[dims.n] + first * x->stride[dims.c]);
      count = add_taps (windows, &dims, &from, at + dims.h, n, sums);
      for (gint64 c = 0; c < n; c++)
        {
          to[dims.c] = first + c;
          cleave_tflite_store (y->type.element, cleave_view_at (y, to),
                               CLAMP (divide (sums[c], count), a->min, a->max));
        }
    }
}

static const CleaveAttr attrs[] = {
  { "layout", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveTflitePoolAttrs, pool.layout),
    .names = cleave_layout_names, .flags = CLEAVE_ATTR_NOT_ONNX },
  { "kernel_shape", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveTflitePoolAttrs, pool.kernel_shape),
    CLEAVE_AT_LEAST (1), .flags = CLEAVE_ATTR_NO_DEFAULT },
  { "strides", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveTflitePoolAttrs, pool.strides), .fallback = 1,
    CLEAVE_AT_LEAST (1) },
  { "dilations", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveTflitePoolAttrs, pool.dilations),
    .fallback = 1, CLEAVE_AT_LEAST (1) },
  { "pads", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveTflitePoolAttrs, pool.pads),
    CLEAVE_AT_LEAST (0) },
  CLEAVE_TFLITE_INT (CleaveTflitePoolAttrs, min),
  CLEAVE_TFLITE_INT (CleaveTflitePoolAttrs, max),
  { 0 },
};

const CleaveOp cleave_op_tflite_average_pool = {
  .name = "TfliteAveragePool",
  .operands = (const char *const[]){ "X", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_NOT_ONNX,
  .attrs_size = sizeof (CleaveTflitePoolAttrs),
  .attrs = attrs,
  .infer = infer,
  .maps = cleave_pool_maps,
  .narrow = cleave_pool_narrow,
  .layout = cleave_call_letters,
  .compute = compute,
};
