/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/join.h"

/* Locations of values in buffers, and the location of a view, computed from the location of its
 * operand: a Slice adds to the offset, a Transpose permutes the strides. Buffer assignment
 * (assignments.c) stores these locations, and lib/runtime computes addresses from the locations.
 * Example: rows [2, 4) of a dense [8, 10] value have offset 20 and strides 10, 1. */

/* The location of a value: a buffer, an offset in elements, and strides. */
typedef struct
{
  guint root; /* index of the value for which the buffer was made */
  gint64 offset;
  const gint64 *stride; /* indexed by dimension, in elements; may be shared with other locations */
} CleaveLocation;

/* One dimension d of the operand of a VIEW op. The element of the result with the index i in
 * dimension `from` has the index `offset` + `stride` * i in dimension d of the operand. If `stride`
 * is 0, no dimension of the result stands for d, and all elements have the index `offset` in d. */
typedef struct
{
  gint64 offset, stride;
  guint from;
} CleaveViewDim;

/* Fills `dims` for a VIEW op: dims[d] maps each element of the result to an index in dimension d of
 * operand 0 (CleaveViewDim). */
void cleave_location_get_view_dims (const CleaveCall *call, CleaveViewDim *dims);
/* Returns the location of a result of a VIEW op whose operand has `rank` dimensions and is stored
 * at `operand`. Writes the strides to `stride`, which has room for CLEAVE_MAX_RANK. */
CleaveLocation cleave_location_view (const CleaveLocation *operand,
                                     const CleaveViewDim *dims,
                                     guint rank,
                                     gint64 *stride);
/* Returns the location of the part `range` of a value. */
CleaveLocation cleave_location_part (const CleaveLocation *whole, const CleaveRange *range);
/* Returns the elements of the buffer from the first to the last element of a value, which has the
 * shape `shape`. Strides may be negative. Returns an empty span if the value has no elements. */
CleaveSpan cleave_location_get_span (const CleaveLocation *location, const CleaveShape *shape);
/* Finds the strides of a Reshape that copies nothing. The operand has the shape `from` and the
 * strides `from_stride`. Sets `to_stride` to the strides with which the same memory holds the same
 * elements, in row-major order, as a value of shape `to`. Returns FALSE if there are no such
 * strides; a Reshape must then copy. */
gboolean cleave_location_reshape (const CleaveShape *from,
                                  const gint64 *from_stride,
                                  const CleaveShape *to,
                                  gint64 *to_stride);
/* Returns whether strides are equal in all dimensions with more than one element. */
gboolean cleave_strides_equal (const CleaveShape *shape, const gint64 *a, const gint64 *b);
