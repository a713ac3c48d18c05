/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Functions of one int8 element. convert-tables.c and convert-functions.c compute a function for
 * all 256 elements during the import; a TfliteLookup reads the table. */

#include "convert.h"

/* The parameters of a function: its scales, and constants for the rule that computes it
 * (CleaveTfliteRule). Each rule reads only some of the constants. */
typedef struct
{
  CleaveTfliteScale x, y;
  CleaveTfliteFactor factor;
  gint32 radius;        /* bound of |x|: beyond the bound, the result is the smallest or largest
                         * integer */
  gint64 min, max;      /* bounds of the result of RELU */
  gint32 reluish, gain; /* HARD_SWISH: two factors of 16 bits, for the gate and for the product */
  gint reluish_shift, gain_shift;
  float (*real) (float x); /* function on real numbers; NULL unless the rule (CleaveTfliteRule)
                            * computes with floats */
} CleaveTfliteFunction;

/* Returns the table's entry for x. x is the operand minus its zero point. */
typedef gint64 (*CleaveTfliteRule) (const CleaveTfliteFunction *f, gint32 x);

/* Reads the scales of input 0 and output 0 into `f`. */
gboolean
cleave_tflite_read_function (CleaveTfliteImport *import, CleaveTfliteFunction *f, GError **error);
/* Adds a TfliteLookup of input 0 with the table of a function, and sets output 0. */
gboolean cleave_tflite_set_table (CleaveTfliteImport *import,
                                  const CleaveTfliteFunction *f,
                                  CleaveTfliteRule rule,
                                  GError **error);
