/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Shared code of the integer ops that give the bits of TensorFlow Lite for Microcontrollers: checks
 * of attributes, stores, maps. The importer (lib/tflite) computes multipliers and shifts from the
 * scales of a file. The ops compute with integers alone, so that no split and no processor can
 * change a bit. ONNX has no such ops. */

#include <cleave/cleave-tflite.h>

#include "../ir/op.h"
#include "fixed-point.h"

#define CLEAVE_ELEMENTS_TFLITE                                                                     \
  (CLEAVE_ELEMENT_BIT (CLEAVE_INT8) | CLEAVE_ELEMENT_BIT (CLEAVE_INT16))

#define CLEAVE_TFLITE_INT(type, field)                                                             \
  {                                                                                                \
#field, CLEAVE_ATTR_INT, CLEAVE_FIELD(type, field), .flags = CLEAVE_ATTR_NOT_ONNX              \
  }

/* cleave_tflite_lowest() returns the smallest integer, and cleave_tflite_highest() the largest, of
 * a signed element type of at most 32 bits. */
static inline gint64
cleave_tflite_lowest (CleaveElement element)
{
  return -((gint64) 1 << (8 * cleave_element_size (element) - 1));
}

static inline gint64
cleave_tflite_highest (CleaveElement element)
{
  return -(cleave_tflite_lowest (element) + 1);
}

/* Stores an integer that fits the element type. */
static inline void
cleave_tflite_store (CleaveElement element, gpointer at, gint64 value)
{
  if (element == CLEAVE_INT8)
    *(gint8 *) at = (gint8) value;
  else if (element == CLEAVE_INT16)
    *(gint16 *) at = (gint16) value;
  else
    *(gint32 *) at = (gint32) value;
}

/* Returns `value`, from which the zero point was subtracted, times one of two multipliers: one for
 * values of 0 or more, one for negative values. */
static inline gint32
cleave_tflite_rescale (const CleaveTfliteRescaleAttrs *a, gint32 value)
{
  return value >= 0 ? cleave_fixed_multiply (value, (gint32) a->multiplier, (gint) a->shift)
                    : cleave_fixed_multiply (value, (gint32) a->negative_multiplier,
                                             (gint) a->negative_shift);
}

/* Fails unless `value`, the attribute with the name `name`, is in the range [least, most]. */
gboolean
cleave_tflite_check (const char *name, gint64 value, gint64 least, gint64 most, GError **error);
/* The next three functions return FALSE, and set the error, if attributes are not legal. They check
 * a zero point, the bounds of a result, and a multiplier with its shift. */
gboolean
cleave_tflite_check_zero (const char *name, CleaveElement element, gint64 value, GError **error);
gboolean cleave_tflite_check_bounds (CleaveElement element, gint64 min, gint64 max, GError **error);
gboolean cleave_tflite_check_factor (gint64 multiplier, gint64 shift, GError **error);
/* Checks that an operand is a vector of `n` values of an element type. */
gboolean cleave_tflite_check_table (
    const CleaveCall *call, guint operand, CleaveElement element, gint64 n, GError **error);
/* Sets the maps of a softmax along the last dimension. Operand 0 holds the values; all other
 * operands are tables, which each piece reads whole. */
void cleave_tflite_softmax_maps (const CleaveCall *call, guint operand, CleaveDimMap *map);
/* Refuses a chunk that cuts the last dimension of a softmax: the sums of the piece would have fewer
 * terms. */
gboolean cleave_tflite_softmax_narrow (const CleaveCall *call,
                                       const CleaveChunk *chunk,
                                       gpointer attrs,
                                       GString *why);
