/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "tflite.h"

gboolean
cleave_tflite_check (const char *name, gint64 value, gint64 least, gint64 most, GError **error)
{
  if (value >= least && value <= most)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                      "%s is %" G_GINT64_FORMAT ", but must be %" G_GINT64_FORMAT
                      " to %" G_GINT64_FORMAT,
                      name, value, least, most);
}

gboolean
cleave_tflite_check_zero (const char *name, CleaveElement element, gint64 value, GError **error)
{
  return cleave_tflite_check (name, value, cleave_tflite_lowest (element),
                              cleave_tflite_highest (element), error);
}

gboolean
cleave_tflite_check_bounds (CleaveElement element, gint64 min, gint64 max, GError **error)
{
  return cleave_tflite_check_zero ("max", element, max, error) &&
         cleave_tflite_check ("min", min, cleave_tflite_lowest (element), max, error);
}

gboolean
cleave_tflite_check_factor (gint64 multiplier, gint64 shift, GError **error)
{
  return cleave_tflite_check ("multiplier", multiplier, G_MININT32, G_MAXINT32, error) &&
         cleave_tflite_check ("shift", shift, -31, 31, error);
}
