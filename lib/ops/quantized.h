/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Scales and zero points, which the quantised ops share.  Each is a scalar, a vector of one
 * element, or a vector with an element for each index of one dimension of the result. */

#include "../ir/op.h"

#define CLEAVE_ELEMENTS_BYTE (CLEAVE_ELEMENT_BIT (CLEAVE_INT8) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT8))

/* QuantizeLinear and DequantizeLinear alone have 16 bits as well. */
#define CLEAVE_ELEMENTS_SHORT                                                                      \
  (CLEAVE_ELEMENT_BIT (CLEAVE_INT16) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT16))

static inline gboolean
cleave_is_byte (CleaveElement element)
{
  return (CLEAVE_ELEMENT_BIT (element) & CLEAVE_ELEMENTS_BYTE) != 0;
}

/* Of one of these element types, and for that many indices; an absent operand is right. */
gboolean cleave_quantized_check (
    const CleaveCall *call, guint operand, guint elements, gint64 extent, GError **error);
/* What dimension `axis` of the result needs of it. */
void cleave_quantized_maps (const CleaveCall *call, guint operand, guint axis, CleaveDimMap *map);
/* The operand with this name; one that is absent from every call where the op has none. */
guint cleave_quantized_find (const CleaveCall *call, const char *name);
/* Its element for an index; 0 if the operand is absent. */
double cleave_quantized_load (const CleaveCall *call,
                              const CleaveView *operands,
                              guint operand,
                              gint64 index);
/* Stores `value` rounded to the nearest integer, ties to even, plus the zero point, clamped to the
 * range of the element type, an integer of 8 or 16 bits. */
void cleave_quantized_store (CleaveElement element, gpointer at, float value, double zero_point);

/* How far one step along each dimension of the result goes in an operand, which is there, of a
 * matrix product of bytes; returns the step along K. */
gint64 cleave_quantized_matmul_strides (const CleaveCall *call,
                                        guint operand,
                                        const CleaveView *view,
                                        gint64 *stride);

/* A sum of products of bytes, from each of which its zero point is taken away; strides are in
 * elements. */
typedef struct
{
  gconstpointer x, w;
  gint64 x_stride, w_stride;
  gint32 x_zero, w_zero;
} CleaveByteDot;

/* Of `n` products of elements of these types; wraps around. */
guint32 cleave_byte_dot (CleaveElement x, CleaveElement w, const CleaveByteDot *dot, gint64 n);
