/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Helpers of ops that only move data, such as Gather and Pad, for their records and reference
 * kernels. The helpers move elements of 1, 2, 4 or 8 bytes and do not depend on the element type.
 */

#include "build.h"
#include "reference.h"

/* Copies one element. `to_offset` and `from_offset` are in elements. */
static inline void
cleave_move_element (const CleaveView *to,
                     gint64 to_offset,
                     const CleaveView *from,
                     gint64 from_offset)
{
  switch (cleave_element_size (to->type.element))
    {
    case 1:
      ((guint8 *) to->data)[to_offset] = ((const guint8 *) from->data)[from_offset];
      break;
    case 2:
      ((guint16 *) to->data)[to_offset] = ((const guint16 *) from->data)[from_offset];
      break;
    case 4:
      ((guint32 *) to->data)[to_offset] = ((const guint32 *) from->data)[from_offset];
      break;
    default:
      ((guint64 *) to->data)[to_offset] = ((const guint64 *) from->data)[from_offset];
      break;
    }
}

/* Returns CLEAVE_KERNEL_COPY. This function is the field `kernel` in the record of an op whose
 * reference kernel already copies at the speed of memory. */
static inline CleaveKernel
cleave_move_kernel (const CleaveCall *call)
{
  return CLEAVE_KERNEL_COPY;
}

/* Returns an index from a view of int32 or int64. Negative indices count from the end. An index
 * outside of the dimension is clamped, since a kernel cannot fail and must not read other memory.
 */
static inline gint64
cleave_move_index (const CleaveView *indices, gint64 offset, gint64 extent)
{
  gint64 i = indices->type.element == CLEAVE_INT32 ? ((const gint32 *) indices->data)[offset]
                                                   : ((const gint64 *) indices->data)[offset];

  return CLAMP (i < 0 ? i + extent : i, 0, extent - 1);
}

#define CLEAVE_ELEMENTS_INDEX                                                                      \
  (CLEAVE_ELEMENT_BIT (CLEAVE_INT32) | CLEAVE_ELEMENT_BIT (CLEAVE_INT64))

/* Checks that dimension `d` of data has elements if there are any indices. `what` is a verb for the
 * message, such as "gather". */
gboolean cleave_move_check_indexed (
    const CleaveShape *data, guint d, const CleaveShape *indices, const char *what, GError **error);
/* Checks that in each dimension except the axis, `indices` has at most the extent of `data`. Both
 * shapes have the same rank. */
gboolean cleave_move_check_within (const CleaveShape *indices,
                                   const CleaveShape *data,
                                   guint axis,
                                   GError **error);
/* Returns a view of a part of `view`: the part begins at element `offset`, and lacks n dimensions,
 * from dimension `first` on. */
CleaveView cleave_move_drop_dims (const CleaveView *view, guint first, guint n, gint64 offset);

/* Infers the result of Reshape and Expand: the shape is the attribute `shape`, and the element type
 * is the element type of operand 0. */
gboolean
cleave_infer_shape_attr (const CleaveCall *call, CleaveTensorType *results, GError **error);

/* Returns a view of `view` with the shape `shape`, which is the shape of the indices, and with
 * stride 0 along the axis. Because of the stride 0, each element of the returned view is at index 0
 * of the axis of `view`. To reach the element at another index, the caller adds the index times the
 * stride of `view`. */
static inline CleaveView
cleave_move_first_along (const CleaveView *view, const CleaveShape *shape, guint axis)
{
  CleaveView first = *view;

  first.type.shape = *shape;
  first.stride[axis] = 0;
  return first;
}

/* Copies one element of x to y for each index. Without `scatters`, the index is the position along
 * the axis of x (gather). With `scatters`, the index is the position along the axis of y. If
 * several elements have the same index, y keeps the last of these elements in row-major order. */
void cleave_move_picked (const CleaveView *y,
                         const CleaveView *x,
                         const CleaveView *indices,
                         guint axis,
                         gboolean scatters);
/* Sets all elements of a view to `element`. */
void cleave_move_fill (const CleaveView *view, gconstpointer element);
/* Converts `value` to the bytes of an element. For integer types, truncates and clamps the value.
 */
void cleave_move_from_double (CleaveElement element, double value, guint64 *bytes);
