/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes and slices strided views. */

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

gboolean
cleave_view_type_fits (const CleaveTensorType *a, const CleaveTensorType *b)
{
  return cleave_element_size (a->element) == cleave_element_size (b->element) &&
         cleave_shape_equal (&a->shape, &b->shape);
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
  gboolean is_empty = cleave_range_is_empty (range); /* an empty range may begin outside `view` */
  gint64 offset = 0;

  for (guint d = 0; d < range->rank && !is_empty; d++)
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
