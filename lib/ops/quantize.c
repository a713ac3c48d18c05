/* SPDX-License-Identifier: GPL-2.0-or-later */

/* QuantizeLinear and DequantizeLinear, with one scale, or one scale for each index of an axis.
 * 16-bit integers need opset 21.
 *
 * QuantizeLinear: x / scale in float32, rounded to the nearest integer, ties to even, plus the zero
 * point, clamped to the range of the type.
 * DequantizeLinear: x - zero point, which is exact, times the scale in float32. */

#include "build.h"
#include "quantized.h"
#include "reference.h"

enum { X, SCALE, ZERO };

/* If there are several scales, makes the axis positive and checks the axis. With one scale, the
 * axis may be outside of X: ONNX's default is 1, also for a vector. */
static gboolean
normalize (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleaveAxisAttrs *a = attrs;
  const CleaveShape *scale = &call->operands[SCALE].shape;
  gint64 rank = call->operands[X].shape.rank;

  if (scale->rank == 0 || scale->dim[0] == 1)
    return TRUE;
  if (a->axis < -rank || a->axis >= rank)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "axis must be between %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                        ", not %" G_GINT64_FORMAT,
                        -rank, rank - 1, a->axis);
  if (a->axis < 0)
    a->axis += rank;
  return TRUE;
}

/* Returns the extent of the axis, or 1 if the axis is outside of X. */
static gint64
axis_extent (const CleaveCall *call)
{
  const CleaveAxisAttrs *a = call->attrs;

  return a->axis >= 0 && a->axis < call->operands[X].shape.rank
             ? call->operands[X].shape.dim[a->axis]
             : 1;
}

static gboolean
check_scales (const CleaveCall *call, guint zero_elements, GError **error)
{
  return cleave_quantized_check (call, SCALE, CLEAVE_ELEMENT_BIT (CLEAVE_FLOAT32),
                                 axis_extent (call), error) &&
         cleave_quantized_check (call, ZERO, zero_elements, axis_extent (call), error);
}

static gboolean
infer_quantize (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  guint elements = CLEAVE_ELEMENT_BIT (CLEAVE_FLOAT32) | CLEAVE_ELEMENT_BIT (CLEAVE_INT32);

  if (!cleave_call_check_element (call, X, elements, error) ||
      !check_scales (call, CLEAVE_ELEMENTS_BYTE | CLEAVE_ELEMENTS_SHORT, error))
    return FALSE;
  results[0].shape = call->operands[X].shape;
  results[0].element = cleave_call_has (call, ZERO) ? call->operands[ZERO].element : CLEAVE_UINT8;
  return TRUE;
}

static gboolean
infer_dequantize (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  guint elements = CLEAVE_ELEMENTS_BYTE | CLEAVE_ELEMENTS_SHORT | CLEAVE_ELEMENT_BIT (CLEAVE_INT32);

  if (!cleave_call_check_element (call, X, elements, error) ||
      !check_scales (call, CLEAVE_ELEMENT_BIT (call->operands[X].element), error))
    return FALSE;
  results[0] = (CleaveTensorType){ CLEAVE_FLOAT32, call->operands[X].shape };
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveAxisAttrs *a = call->attrs;

  if (operand == X)
    cleave_maps_same (call, X, map);
  else if (a->axis >= 0 && a->axis < call->operands[X].shape.rank)
    cleave_quantized_maps (call, operand, (guint) a->axis, map);
  else
    map[0] = cleave_dim_map_whole (1);
}

/* Returns at[axis], for the attribute `axis`; 0 if X has no dimension `axis`. */
static gint64
along_axis (const CleaveCall *call, const gint64 *at)
{
  const CleaveAxisAttrs *a = call->attrs;

  return a->axis >= 0 && a->axis < call->operands[X].shape.rank ? at[a->axis] : 0;
}

static void
compute_quantize (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *x = &operands[X], *y = &results[0];
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &y->type.shape)
    {
      gint64 i = along_axis (call, at);
      float value = (float) cleave_real_load (x->type.element, cleave_view_at (x, at));

      cleave_quantized_store (y->type.element, cleave_view_at (y, at),
                              value / (float) cleave_quantized_load (call, operands, SCALE, i),
                              cleave_quantized_load (call, operands, ZERO, i));
    }
}

static void
compute_dequantize (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *x = &operands[X], *y = &results[0];
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &y->type.shape)
    {
      gint64 i = along_axis (call, at);
      double value = cleave_real_load (x->type.element, cleave_view_at (x, at)) -
                     cleave_quantized_load (call, operands, ZERO, i);

      *(float *) cleave_view_at (y, at) =
          (float) value * (float) cleave_quantized_load (call, operands, SCALE, i);
    }
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return CLEAVE_KERNEL_CONVERT;
}

static guint
since_quantize (const CleaveCall *call)
{
  gboolean is_short =
      cleave_call_has (call, ZERO) &&
      (CLEAVE_ELEMENT_BIT (call->operands[ZERO].element) & CLEAVE_ELEMENTS_SHORT) != 0;

  return is_short ? 21 : 0;
}

static guint
since_dequantize (const CleaveCall *call)
{
  return (CLEAVE_ELEMENT_BIT (call->operands[X].element) & CLEAVE_ELEMENTS_SHORT) != 0 ? 21 : 0;
}

static const CleaveAttr attrs_table[] = {
  { "axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveAxisAttrs, axis), .fallback = 1 },
  { 0 },
};

/* Fields that the records of QuantizeLinear and DequantizeLinear share. */
#define STORAGE                                                                                    \
  .results = (const char *const[]){ "y", NULL }, .min_operands = 2, .flags = CLEAVE_OP_STORAGE,    \
  .attrs_size = sizeof (CleaveAxisAttrs), .attrs = attrs_table, .normalize = normalize,            \
  .maps = maps, .kernel = kernel

const CleaveOp cleave_op_quantize_linear = {
  .name = "QuantizeLinear",
  STORAGE,
  .operands = (const char *const[]){ "x", "y_scale", "y_zero_point", NULL },
  .since = since_quantize,
  .infer = infer_quantize,
  .compute = compute_quantize,
};

const CleaveOp cleave_op_dequantize_linear = {
  .name = "DequantizeLinear",
  STORAGE,
  .operands = (const char *const[]){ "x", "x_scale", "x_zero_point", NULL },
  .since = since_dequantize,
  .infer = infer_dequantize,
  .compute = compute_dequantize,
};
