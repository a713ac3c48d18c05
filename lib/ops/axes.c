/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Shapes, maps and views of reductions. */

#include "axes.h"

static gboolean
is_axis (guint axes, guint d)
{
  return (axes >> d & 1) != 0;
}

CleaveShape
cleave_axes_shape (const CleaveShape *x, guint axes, gboolean keepdims)
{
  CleaveShape y = { 0 };

  for (guint d = 0; d < x->rank; d++)
    if (!is_axis (axes, d))
      y.dim[y.rank++] = x->dim[d];
    else if (keepdims)
      y.dim[y.rank++] = 1;
  return y;
}

void
cleave_axes_maps (const CleaveShape *x, guint axes, gboolean keepdims, CleaveDimMap *map)
{
  guint from = 0;

  for (guint d = 0; d < x->rank; d++)
    {
      map[d] = is_axis (axes, d) ? cleave_dim_map_whole (x->dim[d]) : cleave_dim_map_same (from);
      if (keepdims || !is_axis (axes, d))
        from++;
    }
}

CleaveView
cleave_axes_expand (const CleaveView *y, const CleaveShape *x, guint axes, gboolean keepdims)
{
  CleaveView expanded = { .data = y->data,
                          .type = { y->type.element, cleave_axes_shape (x, axes, TRUE) } };
  guint from = 0;

  for (guint d = 0; d < x->rank; d++)
    {
      expanded.stride[d] = is_axis (axes, d) ? 0 : y->stride[from];
      if (keepdims || !is_axis (axes, d))
        from++;
    }
  return expanded;
}
