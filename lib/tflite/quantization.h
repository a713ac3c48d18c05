/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Scales and fixed-point factors of operators on integers. */

#include "import.h"

/* A positive real number in fixed point: multiplier * 2^(shift - 31). */
typedef struct
{
  gint32 multiplier;
  gint shift;
} CleaveTfliteFactor;

typedef struct
{
  CleaveTfliteScale x, y; /* scales of input 0 and output 0 */
} CleaveTfliteScales;

gboolean
cleave_tflite_read_scales (CleaveTfliteImport *import, CleaveTfliteScales *scales, GError **error);
/* Converts a real number to fixed point, as QuantizeMultiplier() of TensorFlow Lite does. Numbers
 * below 2^-32 become 0. */
gboolean cleave_tflite_read_factor (double real, CleaveTfliteFactor *factor, GError **error);
/* Reads the activation in option `field`. Converts its bounds to integers of output 0. */
gboolean cleave_tflite_read_bounds (CleaveTfliteImport *import,
                                    guint field,
                                    const CleaveTfliteScale *y,
                                    gint64 *min,
                                    gint64 *max,
                                    GError **error);
/* Adds a TfliteRescale of input 0, and sets output 0. `negative` is the factor of values below the
 * zero point. */
gboolean cleave_tflite_set_rescaled (CleaveTfliteImport *import,
                                     const CleaveTfliteScales *s,
                                     const CleaveTfliteFactor *factor,
                                     const CleaveTfliteFactor *negative,
                                     GError **error);
