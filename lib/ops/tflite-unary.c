/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Ops on the integers of one operand; all dimensions can be split anywhere.
 *
 * TfliteLookup: y is element x + 128 of a table of 256, or element x if x is uint8. LOGISTIC, TANH,
 * LEAKY_RELU, QUANTIZE and others on int8: the importer computes the table by the rule of the
 * operator. The importer also converts inputs of uint8 to int8, and outputs from int8 to uint8,
 * with such a table.
 *
 * TfliteRescale: y = (x - x_zero) times a multiplier, plus y_zero, clamped to the element type.
 * Values below x_zero are multiplied by another multiplier. The op computes QUANTIZE and LEAKY_RELU
 * on other integers. Sources: reference/requantize.h and reference/leaky_relu.h.
 *
 * TfliteQuantize: y = x / scale in float32, rounded to the nearest integer, ties away from zero,
 * plus the zero point, clamped to the element type. A NaN gives the zero point. Source:
 * reference/quantize.h. */

#include <math.h>

#include "lines.h"
#include "tflite.h"

enum { X, TABLE };

#define TABLE_SIZE 256

/* The code below defines the op TfliteLookup. */

static gboolean
infer_lookup (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const guint bytes = CLEAVE_ELEMENT_BIT (CLEAVE_INT8) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT8);

  if (!cleave_call_check_element (call, X, bytes, error) ||
      !cleave_call_check_rank (call, TABLE, 1, 1, error))
    return FALSE;
  if (call->operands[TABLE].shape.dim[0] != TABLE_SIZE)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "table has %" G_GINT64_FORMAT " elements, but must have %d",
                        call->operands[TABLE].shape.dim[0], TABLE_SIZE);
  results[0] = (CleaveTensorType){ call->operands[TABLE].element, call->operands[X].shape };
  return TRUE;
}

static void
maps_lookup (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  if (operand == X)
    cleave_maps_same (call, operand, map);
  else
    map[0] = cleave_dim_map_whole (TABLE_SIZE);
}

static void
compute_lookup (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *x = &operands[X], *y = &results[0], *table = &operands[TABLE];
  gsize size = cleave_element_size (y->type.element);
  gint64 first = x->type.element == CLEAVE_INT8 ? G_MININT8 : 0;
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &y->type.shape)
    {
      gint64 index = cleave_integer_load (x->type.element, cleave_view_at (x, at)) - first;

      memcpy (cleave_view_at (y, at), cleave_view_at (table, &index), size);
    }
}

/* Returns the fast kernel if the entries of the table have 8 bits, else the reference kernel. */
static CleaveKernel
kernel_lookup (const CleaveCall *call)
{
  return cleave_element_size (call->operands[TABLE].element) == 1 ? CLEAVE_KERNEL_CONVERT
                                                                  : CLEAVE_KERNEL_REFERENCE;
}

const CleaveOp cleave_op_tflite_lookup = {
  .name = "TfliteLookup",
  .operands = (const char *const[]){ "x", "table", NULL },
  .results = (const char *const[]){ "y", NULL },
  .min_operands = 2,
  .flags = CLEAVE_OP_NOT_ONNX | CLEAVE_OP_IN_PLACE,
  .infer = infer_lookup,
  .maps = maps_lookup,
  .work = cleave_work_once,
  .kernel = kernel_lookup,
  .compute = compute_lookup,
};

/* Returns the family of fast kernels for TfliteRescale and TfliteQuantize. */
static CleaveKernel
kernel_convert (const CleaveCall *call)
{
  return CLEAVE_KERNEL_CONVERT;
}

/* The code below defines the op TfliteRescale. */

#define INTEGERS (CLEAVE_ELEMENTS_TFLITE | CLEAVE_ELEMENT_BIT (CLEAVE_INT32))

static gboolean
check_result (CleaveElement to, guint elements, GError **error)
{
  if ((CLEAVE_ELEMENT_BIT (to) & elements) != 0)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "the element type of the result is %s",
                      to == CLEAVE_NONE ? "absent" : cleave_element_get_name (to));
}

static gboolean
infer_rescale (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTfliteRescaleAttrs *a = call->attrs;

  results[0] = (CleaveTensorType){ a->to, call->operands[X].shape };
  return cleave_call_check_element (call, X, INTEGERS, error) &&
         check_result (a->to, INTEGERS, error) &&
         cleave_tflite_check_zero ("x_zero", call->operands[X].element, a->x_zero, error) &&
         cleave_tflite_check_zero ("y_zero", a->to, a->y_zero, error) &&
         cleave_tflite_check_factor (a->multiplier, a->shift, error) &&
         cleave_tflite_check_factor (a->negative_multiplier, a->negative_shift, error);
}

static void
compute_rescale (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTfliteRescaleAttrs *a = call->attrs;
  const CleaveView *x = &operands[X], *y = &results[0];
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &y->type.shape)
    {
      gint32 value =
          (gint32) (guint32) (cleave_integer_load (x->type.element, cleave_view_at (x, at)) -
                              a->x_zero);
      gint64 scaled = a->y_zero + cleave_tflite_rescale (a, value);

      cleave_tflite_store (
          a->to, cleave_view_at (y, at),
          CLAMP (scaled, cleave_tflite_lowest (a->to), cleave_tflite_highest (a->to)));
    }
}

#define INT(field) CLEAVE_TFLITE_INT (CleaveTfliteRescaleAttrs, field)
static const CleaveAttr rescale_attrs[] = {
  { "to", CLEAVE_ATTR_ELEMENT, CLEAVE_FIELD (CleaveTfliteRescaleAttrs, to),
    .flags = CLEAVE_ATTR_NOT_ONNX },
  INT (x_zero),
  INT (y_zero),
  INT (multiplier),
  INT (shift),
  INT (negative_multiplier),
  INT (negative_shift),
  { 0 },
};
#undef INT

const CleaveOp cleave_op_tflite_rescale = {
  .name = "TfliteRescale",
  .operands = (const char *const[]){ "x", NULL },
  .results = (const char *const[]){ "y", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_NOT_ONNX | CLEAVE_OP_IN_PLACE,
  .attrs_size = sizeof (CleaveTfliteRescaleAttrs),
  .attrs = rescale_attrs,
  .infer = infer_rescale,
  .maps = cleave_maps_same,
  .kernel = kernel_convert,
  .compute = compute_rescale,
};

/* The code below defines the op TfliteQuantize. */

static gboolean
infer_quantize (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTfliteQuantizeAttrs *a = call->attrs;

  if (!(a->scale > 0 && isfinite (a->scale)))
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "scale is %g, but must be above 0",
                        a->scale);
  results[0] = (CleaveTensorType){ a->to, call->operands[X].shape };
  return cleave_call_check_element (call, X, CLEAVE_ELEMENT_BIT (CLEAVE_FLOAT32), error) &&
         check_result (a->to, CLEAVE_ELEMENTS_TFLITE, error) &&
         cleave_tflite_check_zero ("zero", a->to, a->zero, error);
}

static void
compute_quantize (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTfliteQuantizeAttrs *a = call->attrs;
  const CleaveView *views[] = { &results[0], &operands[X] };
  const float scale = (float) a->scale, beyond = 1 << 20; /* `beyond`: a finite bound that is larger
                                                           * than every result */
  gint64 lowest = cleave_tflite_lowest (a->to), highest = cleave_tflite_highest (a->to);
  CleaveLineBuffer from, to;
  CleaveLines lines;

  for (gboolean more = cleave_lines_init_views (&lines, views, 2); more;
       more = cleave_lines_next (&lines))
    for (gint64 at = 0; at < lines.length; at += CLEAVE_LINE)
      {
        gint64 n = MIN (lines.length - at, CLEAVE_LINE);
        const float *x = cleave_line_read (views[1], lines.offset[1] + at * lines.step[1],
                                           lines.step[1], n, CLEAVE_WIDE_F32, &from);

        for (gint64 i = 0; i < n; i++)
          {
            float value = roundf (x[i] / scale);
            gint64 whole = isnan (value) ? 0 : (gint64) CLAMP (value, -beyond, beyond);

            to.i64[i] = CLAMP (whole + a->zero, lowest, highest);
          }
        cleave_line_write (views[0], lines.offset[0] + at * lines.step[0], lines.step[0], n,
                           CLEAVE_WIDE_I64, to.i64);
      }
}

static const CleaveAttr quantize_attrs[] = {
  { "to", CLEAVE_ATTR_ELEMENT, CLEAVE_FIELD (CleaveTfliteQuantizeAttrs, to),
    .flags = CLEAVE_ATTR_NOT_ONNX },
  { "scale", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveTfliteQuantizeAttrs, scale),
    .flags = CLEAVE_ATTR_NOT_ONNX },
  CLEAVE_TFLITE_INT (CleaveTfliteQuantizeAttrs, zero),
  { 0 },
};

const CleaveOp cleave_op_tflite_quantize = {
  .name = "TfliteQuantize",
  .operands = (const char *const[]){ "x", NULL },
  .results = (const char *const[]){ "y", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_NOT_ONNX | CLEAVE_OP_IN_PLACE,
  .attrs_size = sizeof (CleaveTfliteQuantizeAttrs),
  .attrs = quantize_attrs,
  .infer = infer_quantize,
  .maps = cleave_maps_same,
  .kernel = kernel_convert,
  .compute = compute_quantize,
};
