/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "view.h"

#include <string.h>

void
cleave_shape_strides (const CleaveShape *shape, gint64 *stride)
{
  gint64 n = 1;

  for (guint d = shape->rank; d > 0; d--)
    {
      stride[d - 1] = n;
      n *= shape->dim[d - 1];
    }
}

CleaveView
cleave_view_dense (const CleaveTensorType *type, gpointer data)
{
  CleaveView view = { .data = data, .type = *type };

  cleave_shape_strides (&type->shape, view.stride);
  return view;
}

CleaveView
cleave_view_tensor (const CleaveTensor *tensor)
{
  const CleaveTensorType *type = cleave_tensor_get_type (tensor);
  CleaveView view = { .data = (gpointer) cleave_tensor_get_data (tensor), .type = *type };

  for (guint d = 0; d < type->shape.rank; d++)
    view.stride[d] = cleave_tensor_get_strides (tensor)[d];
  return view;
}

CleaveView
cleave_view_slice (const CleaveView *view, const CleaveRange *range)
{
  CleaveView part = *view;
  gint64 offset = 0;

  for (guint d = 0; d < range->rank; d++)
    offset += range->dim[d].begin * view->stride[d];
  part.type.shape = cleave_range_shape (range);
  if (view->data != NULL)
    part.data = (char *) view->data + offset * (gint64) cleave_element_size (view->type.element);
  return part;
}

gboolean
cleave_view_is_dense (const CleaveView *view)
{
  gint64 n = 1;

  for (guint d = view->type.shape.rank; d > 0; d--)
    {
      if (view->type.shape.dim[d - 1] != 1 && view->stride[d - 1] != n)
        return FALSE;
      n *= view->type.shape.dim[d - 1];
    }
  return TRUE;
}

/* A copy as nested loops, strides in bytes, innermost last. */
typedef struct
{
  guint rank;
  gint64 n[CLEAVE_MAX_RANK], to[CLEAVE_MAX_RANK], from[CLEAVE_MAX_RANK];
} Loops;

/* Dimensions by how far they step in `to`, the farthest first: whatever the order of the shape,
 * memory is written from its begin to its end. */
static void
sort_dims (const CleaveView *to, guint *dims)
{
  for (guint d = 0; d < to->type.shape.rank; d++)
    {
      guint at = d;

      for (; at > 0 && to->stride[dims[at - 1]] < to->stride[d]; at--)
        dims[at] = dims[at - 1];
      dims[at] = d;
    }
}

/* Leaves out extents of 1 and joins neighbours that follow each other on both sides. */
static Loops
make_loops (const CleaveView *to, const CleaveView *from, gint64 size)
{
  Loops loops = { 0 };
  guint dims[CLEAVE_MAX_RANK];

  sort_dims (to, dims);
  for (guint i = 0; i < to->type.shape.rank; i++)
    {
      guint d = dims[i], last = loops.rank - 1;
      gint64 n = to->type.shape.dim[d];

      if (n == 1)
        continue;
      if (loops.rank > 0 && loops.to[last] == n * to->stride[d] * size &&
          loops.from[last] == n * from->stride[d] * size)
        {
          loops.n[last] *= n;
          loops.to[last] = to->stride[d] * size;
          loops.from[last] = from->stride[d] * size;
          continue;
        }
      loops.n[loops.rank] = n;
      loops.to[loops.rank] = to->stride[d] * size;
      loops.from[loops.rank] = from->stride[d] * size;
      loops.rank++;
    }
  return loops;
}

/* The innermost loop is worth its while only if it is long: three channels are not. */
static void
lengthen_inner (Loops *loops)
{
  guint inner = loops->rank - 1, outer = inner - 1;

  if (loops->rank < 2 || loops->n[inner] >= 8 || loops->n[outer] <= loops->n[inner] ||
      loops->to[inner] == loops->from[inner])
    return;
  for (guint k = 0; k < 3; k++)
    {
      gint64 *field = k == 0 ? loops->n : k == 1 ? loops->to : loops->from;
      gint64 keep = field[inner];

      field[inner] = field[outer];
      field[outer] = keep;
    }
}

/* A row may be filled with one element. */
/* clang-format off */
#define COPY_LOOP(type)                                                                            \
  {                                                                                                \
    const type first = *(const type *) from;                                                       \
                                                                                                   \
    if (from_stride == 0 && to_stride == (gint64) sizeof (type))                                   \
      for (gint64 i = 0; i < n; i++)                                                               \
        ((type *) to)[i] = first;                                                                  \
    else                                                                                           \
      for (gint64 i = 0; i < n; i++)                                                               \
        *(type *) (to + i * to_stride) = *(const type *) (from + i * from_stride);                 \
  }
/* clang-format on */

static void
copy_row (char *to, gint64 to_stride, const char *from, gint64 from_stride, gint64 n, gint64 size)
{
  if (to_stride == size && from_stride == size)
    memcpy (to, from, (gsize) (n * size));
  else if (size == 4)
    COPY_LOOP (guint32)
  else if (size == 8)
    COPY_LOOP (guint64)
  else if (size == 2)
    COPY_LOOP (guint16)
  else
    COPY_LOOP (guint8)
}

void
cleave_view_copy (const CleaveView *to, const CleaveView *from)
{
  gint64 size = (gint64) cleave_element_size (to->type.element);
  Loops loops = make_loops (to, from, size);
  gint64 index[CLEAVE_MAX_RANK] = { 0 };
  char *t = to->data;
  const char *f = from->data;
  guint inner = loops.rank - 1, d;

  if (cleave_shape_n_elements (&to->type.shape) == 0)
    return;
  if (loops.rank == 0)
    {
      memcpy (t, f, (gsize) size);
      return;
    }
  lengthen_inner (&loops);
  do
    {
      copy_row (t, loops.to[inner], f, loops.from[inner], loops.n[inner], size);
      for (d = inner; d > 0; d--)
        {
          t += loops.to[d - 1];
          f += loops.from[d - 1];
          if (++index[d - 1] < loops.n[d - 1])
            break;
          t -= loops.n[d - 1] * loops.to[d - 1];
          f -= loops.n[d - 1] * loops.from[d - 1];
          index[d - 1] = 0;
        }
    }
  while (d > 0);
}
