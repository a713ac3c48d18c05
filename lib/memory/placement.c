/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes the locations of views, of parts and of reshaped values (placement.h). */

#include "placement.h"

#include <string.h>

#include "../ir/graph-private.h"

void
cleave_location_get_view_dims (const CleaveCall *call, CleaveViewDim *dims)
{
  CleaveDimMap map[CLEAVE_MAX_RANK];

  call->op->maps (call, 0, map);
  for (guint d = 0; d < call->operands[0].shape.rank; d++)
    dims[d] = (CleaveViewDim){ map[d].offset, map[d].stride, map[d].from };
}

CleaveLocation
cleave_location_view (const CleaveLocation *operand,
                      const CleaveViewDim *dims,
                      guint rank,
                      gint64 *stride)
{
  CleaveLocation location = { operand->root, operand->offset, stride };

  memset (stride, 0, CLEAVE_MAX_RANK * sizeof *stride);
  for (guint d = 0; d < rank; d++)
    {
      location.offset += dims[d].offset * operand->stride[d];
      if (dims[d].stride != 0)
        stride[dims[d].from] += dims[d].stride * operand->stride[d];
    }
  return location;
}

CleaveLocation
cleave_location_part (const CleaveLocation *whole, const CleaveRange *range)
{
  CleaveLocation location = *whole;

  for (guint d = 0; d < range->rank; d++)
    location.offset += range->dim[d].begin * whole->stride[d];
  return location;
}

/* Writes the dimensions whose extent is not 1 to `dims`. Returns the number of these dimensions. */
static guint
dims_that_count (const CleaveShape *shape, guint *dims)
{
  guint n = 0;

  for (guint d = 0; d < shape->rank; d++)
    if (shape->dim[d] != 1)
      dims[n++] = d;
  return n;
}

/* Returns whether the dimensions dims[begin … end) of `shape` are contiguous in memory. */
static gboolean
is_one_run (
    const CleaveShape *shape, const gint64 *stride, const guint *dims, guint begin, guint end)
{
  for (guint i = begin; i + 1 < end; i++)
    if (stride[dims[i]] != stride[dims[i + 1]] * shape->dim[dims[i + 1]])
      return FALSE;
  return TRUE;
}

static void
spread_run (const CleaveShape *shape,
            const guint *dims,
            guint begin,
            guint end,
            gint64 innermost,
            gint64 *stride)
{
  for (guint i = end; i-- > begin;)
    {
      stride[dims[i]] = innermost;
      innermost *= shape->dim[dims[i]];
    }
}

/* Sets the strides of dimensions of extent 1 to the strides that these dimensions would have in a
 * dense value. All other entries of `stride` are already set. */
static void
stride_ones (const CleaveShape *shape, gint64 *stride)
{
  gint64 next = 1;

  for (guint d = shape->rank; d-- > 0;)
    {
      if (shape->dim[d] == 1)
        stride[d] = next;
      next = stride[d] * shape->dim[d];
    }
}

CleaveSpan
cleave_location_get_span (const CleaveLocation *location, const CleaveShape *shape)
{
  CleaveSpan span = { location->offset, location->offset + 1 };

  for (guint d = 0; d < shape->rank; d++)
    {
      const gint64 reach = (shape->dim[d] - 1) * location->stride[d];

      if (shape->dim[d] == 0)
        return (CleaveSpan){ location->offset, location->offset };
      *(reach < 0 ? &span.begin : &span.end) += reach;
    }
  return span;
}

gboolean
cleave_location_reshape (const CleaveShape *from,
                         const gint64 *from_stride,
                         const CleaveShape *to,
                         gint64 *to_stride)
{
  guint from_dims[CLEAVE_MAX_RANK], to_dims[CLEAVE_MAX_RANK];
  guint n_from = dims_that_count (from, from_dims), n_to = dims_that_count (to, to_dims);
  guint f = 0, t = 0;

  cleave_shape_strides (to, to_stride);
  if (cleave_shape_n_elements (from) == 0)
    return TRUE;
  while (f < n_from)
    {
      guint f_end = f + 1, t_end = t + 1;
      gint64 n_f = from->dim[from_dims[f]], n_t = to->dim[to_dims[t]];

      while (n_f != n_t) /* find the shortest groups of consecutive dimensions of `from` and of `to`
                          * with equal numbers of elements */
        if (n_f < n_t)
          n_f *= from->dim[from_dims[f_end++]];
        else
          n_t *= to->dim[to_dims[t_end++]];
      if (!is_one_run (from, from_stride, from_dims, f, f_end))
        return FALSE;
      spread_run (to, to_dims, t, t_end, from_stride[from_dims[f_end - 1]], to_stride);
      f = f_end;
      t = t_end;
    }
  g_assert (t == n_to);
  stride_ones (to, to_stride);
  return TRUE;
}

gboolean
cleave_strides_equal (const CleaveShape *shape, const gint64 *a, const gint64 *b)
{
  for (guint d = 0; d < shape->rank; d++)
    if (shape->dim[d] > 1 && a[d] != b[d])
      return FALSE;
  return TRUE;
}
