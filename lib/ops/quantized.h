/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Scales, zero points and sums of quantized ops: QuantizeLinear, QLinearConv, QLinearMatMul,
 * ConvInteger and similar ops. A scale or zero point is a scalar, a vector of one element, or a
 * vector with an element for each index of one dimension of the result. The fast kernels for bytes
 * read scales with these functions, too. */

#include "../ir/op.h"

#define CLEAVE_ELEMENTS_BYTE (CLEAVE_ELEMENT_BIT (CLEAVE_INT8) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT8))

/* The 16-bit integer types, which only QuantizeLinear and DequantizeLinear support. */
#define CLEAVE_ELEMENTS_SHORT                                                                      \
  (CLEAVE_ELEMENT_BIT (CLEAVE_INT16) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT16))

static inline gboolean
cleave_is_byte (CleaveElement element)
{
  return (CLEAVE_ELEMENT_BIT (element) & CLEAVE_ELEMENTS_BYTE) != 0;
}

/* Checks that a scale or zero point has an element type of the set `elements` (CLEAVE_ELEMENT_BIT),
 * and is a scalar or has `extent` elements. An absent operand is legal. */
gboolean cleave_quantized_check (
    const CleaveCall *call, guint operand, guint elements, gint64 extent, GError **error);
/* Sets the map of a scale or zero point that has one element for each index of dimension `axis` of
 * the result, or only one element. */
void cleave_quantized_maps (const CleaveCall *call, guint operand, guint axis, CleaveDimMap *map);
/* Returns the index of the operand with this name. If the op has no such operand, returns an index
 * for which cleave_call_has() is FALSE. */
guint cleave_quantized_find (const CleaveCall *call, const char *name);
/* Returns element `index` of a scale or zero point, or the only element if there is just one; 0 if
 * the operand is absent. */
double cleave_quantized_load (const CleaveCall *call,
                              const CleaveView *operands,
                              guint operand,
                              gint64 index);
/* Rounds `value` to the nearest integer, ties to even, and adds the zero point. Stores the sum,
 * clamped to the range of the element type, an integer of 8 or 16 bits. */
void cleave_quantized_store (CleaveElement element, gpointer at, float value, double zero_point);

/* For an operand of a matrix product of bytes, sets stride[d] for each dimension d of the result.
 * stride[d] is the stride of dimension d in the operand, in elements. Returns the operand's stride
 * along K, in elements. The operand must be present. */
gint64 cleave_quantized_matmul_strides (const CleaveCall *call,
                                        guint operand,
                                        const CleaveView *view,
                                        gint64 *stride);

/* A sum of products of bytes, each minus its zero point. Strides are in elements. */
typedef struct
{
  gconstpointer x, w;
  gint64 x_stride, w_stride;
  gint32 x_zero, w_zero;
} CleaveByteDot;

/* Returns the sum of n products of an element of type `x` and one of type `w`, modulo 2^32. */
guint32 cleave_byte_dot (CleaveElement x, CleaveElement w, const CleaveByteDot *dot, gint64 n);
