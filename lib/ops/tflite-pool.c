/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TfliteAveragePool: AVERAGE_POOL_2D on integers.
 *
 * Adds up the taps that are no padding, divides by their number, rounding to the nearest integer,
 * ties away from zero, and clamps to [min, max]. Source: reference/integer_ops/pooling.h. */

#include "reference.h"
#include "tflite.h"
#include "window.h"

enum { X };

static guint
init_windows (const CleaveCall *call, CleaveWindow *windows)
{
  const CleaveTflitePoolAttrs *a = call->attrs;
  CleaveDims dims = cleave_call_dims (call);

  cleave_windows_init (windows, dims.n_spatial, call->operands[X].shape.dim + dims.h,
                       a->pool.kernel_shape.v, &a->pool.strides, &a->pool.dilations, &a->pool.pads);
  return dims.n_spatial;
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTflitePoolAttrs *a = call->attrs;
  CleaveDims dims = cleave_call_dims (call);
  CleaveWindow windows[CLEAVE_MAX_RANK];

  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENTS_TFLITE, error) ||
      !cleave_call_check_rank (call, X, 3, CLEAVE_MAX_RANK, error))
    return FALSE;
  if (a->pool.kernel_shape.n != dims.n_spatial)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "kernel_shape has %u entries, but must have %u", a->pool.kernel_shape.n,
                        dims.n_spatial);
  if (!cleave_window_check_list (&a->pool.kernel_shape, dims.n_spatial, "kernel_shape", error) ||
      !cleave_window_check_lists (&a->pool.strides, &a->pool.dilations, &a->pool.pads,
                                  dims.n_spatial, error) ||
      !cleave_tflite_check_bounds (call->operands[X].element, a->min, a->max, error))
    return FALSE;
  results[0] = call->operands[X];
  init_windows (call, windows);
  for (guint i = 0; i < dims.n_spatial; i++)
    if (!cleave_window_count (&windows[i], i, FALSE, &results[0].shape.dim[dims.h + i], error))
      return FALSE;
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  CleaveDims dims = cleave_call_dims (call);
  CleaveWindow windows[CLEAVE_MAX_RANK];

  init_windows (call, windows);
  cleave_window_maps (&dims, windows, map);
}

static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  CleaveTflitePoolAttrs *a = attrs;
  CleaveDims dims = cleave_call_dims (call);

  cleave_pads_from_slice (&a->pool.pads, dims.n_spatial, &chunk->slices[X], dims.h);
  return TRUE;
}

/* Returns the mean of the window of the result element at `out`, a place in the spatial
 * dimensions; 0 if it is all padding. */
static gint64
average (const CleaveWindow *windows, guint n, const CleaveView *x, guint h, const gint64 *out)
{
  CleaveShape taps = { .rank = n };
  gint64 tap[CLEAVE_MAX_RANK], offset, sum = 0, count = 0;

  for (guint i = 0; i < n; i++)
    taps.dim[i] = windows[i].kernel;
  CLEAVE_EACH_INDEX (tap, &taps)
    if (cleave_window_tap (windows, n, out, tap, x->stride + h, &offset))
      {
        sum += cleave_integer_load (x->type.element, cleave_view_element (x, offset));
        count++;
      }
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
  gint64 at[CLEAVE_MAX_RANK];

  init_windows (call, windows);
  CLEAVE_EACH_INDEX (at, &y->type.shape)
    {
      CleaveView from = *x;
      gint64 value;

      from.data =
          cleave_view_element (x, at[dims.n] * x->stride[dims.n] + at[dims.c] * x->stride[dims.c]);
      value = average (windows, dims.n_spatial, &from, dims.h, at + dims.h);
      cleave_tflite_store (y->type.element, cleave_view_at (y, at), CLAMP (value, a->min, a->max));
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
  .maps = maps,
  .narrow = narrow,
  .layout = cleave_call_letters,
  .compute = compute,
};
