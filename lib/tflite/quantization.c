/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the scales of an operator's operands, and computes fixed-point factors and bounds from
 * them. */

#include "quantization.h"

#include <math.h>

#include "../ops/tflite.h"

gboolean
cleave_tflite_read_scales (CleaveTfliteImport *import, CleaveTfliteScales *scales, GError **error)
{
  return cleave_tflite_read_scale (cleave_tflite_input (import, 0), &scales->x, error) &&
         cleave_tflite_read_scale (cleave_tflite_output (import, 0), &scales->y, error);
}

gboolean
cleave_tflite_check_same_scale (CleaveTfliteImport *import, guint i, GError **error)
{
  const CleaveTfliteTensor *x = cleave_tflite_input (import, i);
  const CleaveTfliteTensor *y = cleave_tflite_output (import, 0);
  CleaveTfliteScale from, to;

  if (x == NULL || !cleave_tflite_is_quantized (x) || !cleave_tflite_is_quantized (y))
    return TRUE;
  if (!cleave_tflite_read_scale (x, &from, error) || !cleave_tflite_read_scale (y, &to, error))
    return FALSE;
  if (from.scale == to.scale && from.zero == to.zero)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_MODEL,
                      "input %u has the scale %g and the zero point %d, the output %g and %d; this "
                      "operator is supported only if they are equal",
                      i, (double) from.scale, from.zero, (double) to.scale, to.zero);
}

gboolean
cleave_tflite_read_factor (double real, CleaveTfliteFactor *factor, GError **error)
{
  double fraction;
  gint64 multiplier;
  int shift;

  if (!(real >= 0 && isfinite (real)))
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "the scales have the ratio %g", real);
  fraction = frexp (real, &shift);
  multiplier = (gint64) round (fraction * 0x1p31);
  if (multiplier == (gint64) 1 << 31)
    {
      multiplier /= 2;
      shift++;
    }
  if (multiplier == 0 || shift < -31)
    multiplier = shift = 0;
  if (shift > 30)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "the scales have the ratio %g: too large", real);
  *factor = (CleaveTfliteFactor){ (gint32) multiplier, shift };
  return TRUE;
}

/* Sets `value` to the integer of output 0 that stands for the bound of an activation, a real
 * number. `y` is the scale of output 0. */
static gboolean
quantize_bound (const CleaveTfliteScale *y, float bound, gint64 *value, GError **error)
{
  float whole = roundf (bound / y->scale);

  if (!(fabsf (whole) < 0x1p31f))
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "the scale %g is too small for an activation",
                        (double) y->scale);
  *value = y->zero + (gint64) whole;
  return TRUE;
}

gboolean
cleave_tflite_read_bounds (CleaveTfliteImport *import,
                           guint field,
                           const CleaveTfliteScale *y,
                           gint64 *min,
                           gint64 *max,
                           GError **error)
{
  CleaveElement element = cleave_tflite_output (import, 0)->type.element;
  gint64 activation, low, high;

  *min = low = cleave_tflite_lowest (element);
  *max = high = cleave_tflite_highest (element);
  if (!cleave_tflite_option (import, field, 1, 0, &activation, error))
    return FALSE;
  if (activation == CLEAVE_TFLITE_NONE)
    return TRUE;
  if (activation != CLEAVE_TFLITE_RELU && activation != CLEAVE_TFLITE_RELU6 &&
      activation != CLEAVE_TFLITE_RELU_N1_TO_1)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "activation %" G_GINT64_FORMAT " on integers is not supported", activation);
  if (!quantize_bound (y, activation == CLEAVE_TFLITE_RELU_N1_TO_1 ? -1 : 0, &low, error) ||
      (activation == CLEAVE_TFLITE_RELU6 && !quantize_bound (y, 6, &high, error)) ||
      (activation == CLEAVE_TFLITE_RELU_N1_TO_1 && !quantize_bound (y, 1, &high, error)))
    return FALSE;
  *min = MIN (MAX (*min, low), *max);
  *max = MAX (MIN (*max, high), *min);
  return TRUE;
}

CleaveResult *
cleave_tflite_float_weights (CleaveTfliteImport *import, guint i, CleaveResult *w, GError **error)
{
  const CleaveTfliteTensor *tensor = cleave_tflite_input (import, i);
  const CleaveTfliteQuantization *q = tensor == NULL ? NULL : &tensor->quantization;
  CleaveAxisAttrs attrs = { q == NULL ? 0 : q->axis };
  g_autofree float *scales = NULL;
  g_autofree gint8 *zeros = NULL;
  guint n;

  if (w == NULL || tensor->type.element != CLEAVE_INT8 || q->scales.n == 0)
    return w;
  n = q->scales.n;
  scales = g_new (float, n);
  zeros = g_new0 (gint8, n);
  for (guint c = 0; c < n; c++)
    {
      gint64 zero = cleave_tflite_zero_point (tensor, c);

      scales[c] = cleave_flat_float (&q->scales, c);
      zeros[c] = (gint8) CLAMP (zero, G_MININT8, G_MAXINT8);
    }
  w = cleave_tflite_add (
      import, "DequantizeLinear",
      (CleaveResult *[]){ w, cleave_tflite_add_data (import, CLEAVE_FLOAT32, n, scales),
                          cleave_tflite_add_data (import, CLEAVE_INT8, n, zeros) },
      3, &attrs, error);
  return cleave_tflite_fold (import, w, error);
}
