/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/join.h"

/* Where a value lies in a buffer, in elements. */
typedef struct
{
  guint root; /* the value that the buffer is made for */
  gint64 offset;
  const gint64 *stride; /* of each dimension, in common with whoever lies alike */
} CleaveLocation;

/* How a dimension of the operand of a VIEW op goes into the result. */
typedef struct
{
  gint64 offset, stride; /* 0: not at all */
  guint from;            /* the dimension of the result */
} CleaveViewDim;

/* Those of all dimensions of the operand. */
void cleave_location_get_view_dims (const CleaveCall *call, CleaveViewDim *dims);
/* Where a result of a VIEW op lies when its operand, of so many dimensions, lies at `operand`; its
 * strides go to `stride`, which has room for CLEAVE_MAX_RANK. */
CleaveLocation cleave_location_view (const CleaveLocation *operand,
                                     const CleaveViewDim *dims,
                                     guint rank,
                                     gint64 *stride);
/* Where the part `range` of a value lies. */
CleaveLocation cleave_location_part (const CleaveLocation *whole, const CleaveRange *range);
/* Strides under which the elements of `from`, row-major by their indices, are those of `to` at the
 * same place. FALSE: there are none, and the value must be copied to have this shape. */
gboolean cleave_location_reshape (const CleaveShape *from,
                                  const gint64 *from_stride,
                                  const CleaveShape *to,
                                  gint64 *to_stride);
/* Whether strides are the same, where they matter. */
gboolean cleave_strides_equal (const CleaveShape *shape, const gint64 *a, const gint64 *b);
