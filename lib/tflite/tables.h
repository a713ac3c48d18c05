/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Functions of one int8 value, which the import computes as tables of 256 values. */

#include "convert.h"

/* The constants that the rules of functions read. Each rule reads some of them. */
typedef struct
{
  CleaveTfliteScale x, y;
  CleaveTfliteFactor factor;
  gint32 radius;        /* if |x| exceeds this, the result is the smallest or largest integer */
  gint64 min, max;      /* RELU: smallest and largest result */
  gint32 reluish, gain; /* HARD_SWISH: factors of 16 bits */
  gint reluish_shift, gain_shift;
  float (*real) (float x); /* function of real numbers, for a rule that computes in float32 */
} CleaveTfliteFunction;

/* Returns the entry of the table for x, the operand minus its zero point. */
typedef gint64 (*CleaveTfliteRule) (const CleaveTfliteFunction *f, gint32 x);

/* Reads the scales of input 0 and output 0 into `f`. */
gboolean
cleave_tflite_read_function (CleaveTfliteImport *import, CleaveTfliteFunction *f, GError **error);
/* Adds a TfliteLookup of input 0 with the table of a function, and sets output 0. */
gboolean cleave_tflite_set_table (CleaveTfliteImport *import,
                                  const CleaveTfliteFunction *f,
                                  CleaveTfliteRule rule,
                                  GError **error);
