/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/join.h"

/* Locations of values in buffers, and how a view derives its location from the location of its
 * operand: a Slice adds to the offset, a Transpose permutes the strides. */

/* The location of a value: a buffer, an offset in elements, and strides. */
typedef struct
{
  guint root; /* the value for which the buffer was made */
  gint64 offset;
  const gint64 *stride; /* indexed by dimension, in elements; may be shared with other locations */
} CleaveLocation;

/* The dimension of a VIEW op's result in which a dimension of its operand appears. */
typedef struct
{
  gint64 offset, stride; /* the operand's dimension adds `offset` plus `stride` times the index
                          * in the result's dimension `from` to the index in the operand; stride
                          * 0: the dimension does not appear in the result */
  guint from;            /* dimension of the result in which the operand's dimension appears */
} CleaveViewDim;

/* Fills `dims` for all dimensions of operand 0. */
void cleave_location_get_view_dims (const CleaveCall *call, CleaveViewDim *dims);
/* Returns the location of a result of a VIEW op whose operand has `rank` dimensions and is stored
 * at `operand`. Writes the strides to `stride`, which has room for CLEAVE_MAX_RANK. */
CleaveLocation cleave_location_view (const CleaveLocation *operand,
                                     const CleaveViewDim *dims,
                                     guint rank,
                                     gint64 *stride);
/* Returns the location of the part `range` of a value. */
CleaveLocation cleave_location_part (const CleaveLocation *whole, const CleaveRange *range);
/* Finds strides under which a value of shape `from` can be read with shape `to`, with the elements
 * in the same row-major order. Returns FALSE if there are no such strides, so that a Reshape must
 * copy. */
gboolean cleave_location_reshape (const CleaveShape *from,
                                  const gint64 *from_stride,
                                  const CleaveShape *to,
                                  gint64 *to_stride);
/* Returns whether strides are equal in all dimensions with more than one element. */
gboolean cleave_strides_equal (const CleaveShape *shape, const gint64 *a, const gint64 *b);
