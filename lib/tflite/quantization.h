/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Scales, and fixed-point factors computed from them. The converters of operators on integers
 * (convert-*.c) use these functions: the kernels of such operators multiply by factors, not by
 * floats. */

#include "import.h"

/* A positive real number in fixed point: multiplier * 2^(shift - 31). */
typedef struct
{
  gint32 multiplier;
  gint shift;
} CleaveTfliteFactor;

typedef struct
{
  CleaveTfliteScale x, y; /* scale of input 0; scale of output 0 */
} CleaveTfliteScales;

gboolean
cleave_tflite_read_scales (CleaveTfliteImport *import, CleaveTfliteScales *scales, GError **error);
/* Converts a real number to fixed point, as QuantizeMultiplier() of TensorFlow Lite does. A number
 * below 2^-32 becomes 0. */
gboolean cleave_tflite_read_factor (double real, CleaveTfliteFactor *factor, GError **error);
/* Reads the activation that option `field` names. Sets `min` and `max` to the bounds of the
 * activation, as integers of output 0. `y` is the scale of output 0. */
gboolean cleave_tflite_read_bounds (CleaveTfliteImport *import,
                                    guint field,
                                    const CleaveTfliteScale *y,
                                    gint64 *min,
                                    gint64 *max,
                                    GError **error);
/* Adds a TfliteRescale of input 0, and makes its result output 0. `factor` is for values from the
 * zero point on, and `negative` for values below the zero point. */
gboolean cleave_tflite_set_rescaled (CleaveTfliteImport *import,
                                     const CleaveTfliteScales *s,
                                     const CleaveTfliteFactor *factor,
                                     const CleaveTfliteFactor *negative,
                                     GError **error);
