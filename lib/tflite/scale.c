/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the scale and the zero point of a tensor that has one scale and one zero point. */

#include "import.h"

#include <math.h>

#include "../ops/tflite.h"

gboolean
cleave_tflite_is_quantized (const CleaveTfliteTensor *tensor)
{
  return tensor->quantization.scales.n > 0 && !cleave_element_is_float (tensor->type.element) &&
         tensor->type.element != CLEAVE_NONE;
}

static gboolean
check_scale (float scale, GError **error)
{
  return (scale > 0 && isfinite (scale)) ||
         cleave_fail (error, CLEAVE_ERROR_MODEL, "a scale is %g, it must be above 0",
                      (double) scale);
}

gboolean
cleave_tflite_read_scale (const CleaveTfliteTensor *tensor,
                          CleaveTfliteScale *scale,
                          GError **error)
{
  const CleaveTfliteQuantization *q = &tensor->quantization;
  const char *name = tensor->name == NULL ? "" : tensor->name;
  gint64 zero;

  if (q->scales.n != 1)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "'%s' has %u scales, it must have one", name,
                        q->scales.n);
  scale->scale = cleave_flat_float (&q->scales, 0);
  zero = cleave_tflite_zero_point (tensor, 0);
  if (cleave_element_size (tensor->type.element) > 4 || tensor->type.element == CLEAVE_UINT8 ||
      tensor->type.element == CLEAVE_UINT16 || tensor->type.element == CLEAVE_UINT32 ||
      tensor->type.element == CLEAVE_BOOL)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "'%s' is quantized to %s; int8, int16 and int32 are supported", name,
                        cleave_element_get_name (tensor->type.element));
  if (zero < cleave_tflite_lowest (tensor->type.element) ||
      zero > cleave_tflite_highest (tensor->type.element))
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "'%s' has the zero point %" G_GINT64_FORMAT ", beyond %s", name, zero,
                        cleave_element_get_name (tensor->type.element));
  scale->zero = (gint32) zero;
  return check_scale (scale->scale, error);
}
