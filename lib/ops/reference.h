/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Loops over the elements of views, and loads and stores of elements as double, for reference
 * kernels. lines.h is for kernels that compute whole lines. Example:
 *
 *   gint64 i[CLEAVE_MAX_RANK];
 *
 *   CLEAVE_EACH_INDEX (i, &y->type.shape) … cleave_view_at (y, i) …
 *
 * visits every index of a shape in row-major order: none if an extent is 0, one if the rank is 0.
 */

#include "../ir/view.h"
#include "half.h"

/* Sets `index` to the first index of a shape. Returns FALSE if the shape has no elements. */
static inline gboolean
cleave_index_first (const CleaveShape *shape, gint64 *index)
{
  gboolean some = TRUE;

  for (guint d = 0; d < shape->rank; d++)
    {
      index[d] = 0;
      some = some && shape->dim[d] > 0;
    }
  return some;
}

/* Moves `index` to the next index in row-major order. Returns FALSE after the last index. */
static inline gboolean
cleave_index_next (const CleaveShape *shape, gint64 *index)
{
  for (guint d = shape->rank; d-- > 0;)
    {
      if (++index[d] < shape->dim[d])
        return TRUE;
      index[d] = 0;
    }
  return FALSE;
}

#define CLEAVE_EACH_INDEX(index, shape)                                                            \
  for (gboolean more = cleave_index_first (shape, index); more;                                    \
       more = cleave_index_next (shape, index))

/* Returns the offset of the element at `index`, in elements. `stride` may have zeros, for a view
 * that is broadcast. */
static inline gint64
cleave_index_offset (guint rank, const gint64 *index, const gint64 *stride)
{
  gint64 offset = 0;

  for (guint d = 0; d < rank; d++)
    offset += index[d] * stride[d];
  return offset;
}

static inline gint64
cleave_view_offset (const CleaveView *view, const gint64 *index)
{
  return cleave_index_offset (view->type.shape.rank, index, view->stride);
}

/* cleave_view_element() returns the address of the element at an offset from the begin of the view,
 * in elements. cleave_view_at() returns the address of the element at an index. */
static inline gpointer
cleave_view_element (const CleaveView *view, gint64 offset)
{
  return (char *) view->data + offset * (gint64) cleave_element_size (view->type.element);
}

static inline gpointer
cleave_view_at (const CleaveView *view, const gint64 *index)
{
  return cleave_view_element (view, cleave_view_offset (view, index));
}

/* Sets the strides for reading `view` at indices of a result of rank `rank`, to which the view is
 * broadcast. The stride is 0 where the view has extent 1 or no such dimension. */
static inline void
cleave_view_broadcast_strides (const CleaveView *view, guint rank, gint64 *stride)
{
  const CleaveShape *shape = &view->type.shape;
  guint missing = rank - shape->rank;

  for (guint d = 0; d < rank; d++)
    stride[d] = d < missing || shape->dim[d - missing] == 1 ? 0 : view->stride[d - missing];
}

/* Returns an element as a double. The conversion is exact, except for 64-bit integers beyond 2^53.
 */
static inline double
cleave_real_load (CleaveElement element, gconstpointer at)
{
  switch (element)
    {
    case CLEAVE_FLOAT32:
      return *(const float *) at;
    case CLEAVE_FLOAT64:
      return *(const double *) at;
    case CLEAVE_FLOAT16:
      return cleave_half_to_float (*(const guint16 *) at);
    case CLEAVE_BFLOAT16:
      return cleave_bfloat16_to_float (*(const guint16 *) at);
    case CLEAVE_INT8:
      return *(const gint8 *) at;
    case CLEAVE_INT16:
      return *(const gint16 *) at;
    case CLEAVE_INT32:
      return *(const gint32 *) at;
    case CLEAVE_INT64:
      return (double) *(const gint64 *) at;
    case CLEAVE_UINT16:
      return *(const guint16 *) at;
    case CLEAVE_UINT32:
      return *(const guint32 *) at;
    case CLEAVE_UINT64:
      return (double) *(const guint64 *) at;
    case CLEAVE_UINT8:
    case CLEAVE_BOOL:
      return *(const guint8 *) at;
    case CLEAVE_NONE:
      break;
    }
  return 0;
}

/* Returns an element of an integer type or bool as a gint64. Returns the bits of a uint64. */
static inline gint64
cleave_integer_load (CleaveElement element, gconstpointer at)
{
  gsize size = cleave_element_size (element);
  guint unused = (guint) (64 - 8 * size);
  gboolean is_signed = element >= CLEAVE_INT8 && element <= CLEAVE_INT64;
  guint64 value = 0;

  memcpy (&value, at, size);
  return is_signed ? (gint64) (value << unused) >> unused : (gint64) value;
}

/* Stores a number as an element of a float type. A 16-bit float is rounded to float32 first, since
 * its ops compute in float32. Does nothing for other types. */
static inline void
cleave_real_store (CleaveElement element, gpointer at, double value)
{
  if (element == CLEAVE_FLOAT32)
    *(float *) at = (float) value;
  else if (element == CLEAVE_FLOAT64)
    *(double *) at = value;
  else if (element == CLEAVE_FLOAT16)
    *(guint16 *) at = cleave_half_from_float ((float) value);
  else if (element == CLEAVE_BFLOAT16)
    *(guint16 *) at = cleave_bfloat16_from_float ((float) value);
}

/* Rounds a number to the type in which ops with this element type compute: float64 for float64,
 * else float32. */
static inline double
cleave_real_round (CleaveElement element, double value)
{
  return element == CLEAVE_FLOAT64 ? value : (double) (float) value;
}
