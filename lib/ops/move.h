/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the ops that only move data share.  They move 1, 2, 4 or 8 bytes and never look at a value.
 */

#include "build.h"
#include "reference.h"

/* Moves one element, from one offset to another. */
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

/* Of ops whose record copies by itself as fast as memory goes. */
static inline CleaveKernel
cleave_move_kernel (const CleaveCall *call)
{
  return CLEAVE_KERNEL_COPY;
}

/* An index of an INT32 or INT64 view, negative from the end.  One outside the dimension goes to its
 * nearest end: a kernel cannot fail, and must not read elsewhere. */
static inline gint64
cleave_move_index (const CleaveView *indices, gint64 offset, gint64 extent)
{
  gint64 i = indices->type.element == CLEAVE_INT32 ? ((const gint32 *) indices->data)[offset]
                                                   : ((const gint64 *) indices->data)[offset];

  return CLAMP (i < 0 ? i + extent : i, 0, extent - 1);
}

#define CLEAVE_ELEMENTS_INDEX                                                                      \
  (CLEAVE_ELEMENT_BIT (CLEAVE_INT32) | CLEAVE_ELEMENT_BIT (CLEAVE_INT64))

/* Whether there is something in dimension `d` of data, if there are any indices; the error says
 * what they cannot do. */
gboolean cleave_move_check_indexed (
    const CleaveShape *data, guint d, const CleaveShape *indices, const char *what, GError **error);
/* Whether indices, of the rank of data, reach no further than data but along the axis. */
gboolean cleave_move_check_within (const CleaveShape *indices,
                                   const CleaveShape *data,
                                   guint axis,
                                   GError **error);
/* `view` without the dimensions first … first + n - 1, from `offset` on. */
CleaveView cleave_move_drop_dims (const CleaveView *view, guint first, guint n, gint64 offset);

/* The result of Reshape and Expand: its shape is the attribute, its elements are the operand's. */
gboolean
cleave_infer_shape_attr (const CleaveCall *call, CleaveTensorType *results, GError **error);

/* The elements of `view` as indices of this shape go through them: all the first of the axis. */
static inline CleaveView
cleave_move_first_along (const CleaveView *view, const CleaveShape *shape, guint axis)
{
  CleaveView first = *view;

  first.type.shape = *shape;
  first.stride[axis] = 0;
  return first;
}

/* Moves an element for each index: from where it says along the axis of `x`, or, in scattering, to
 * where it says along the axis of `y`, the last one in row-major order winning. */
void cleave_move_picked (const CleaveView *y,
                         const CleaveView *x,
                         const CleaveView *indices,
                         guint axis,
                         gboolean scatters);
/* Fills a view with one element. */
void cleave_move_fill (const CleaveView *view, gconstpointer element);
/* The bytes of an element with this value; integers round towards zero and stay in their range. */
void cleave_move_from_double (CleaveElement element, double value, guint64 *bytes);
