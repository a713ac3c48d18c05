/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Functions that check the shapes, copy the elements and fill the results of ops that only move
 * data. */

#include "move.h"
#include "lines.h"

#include <math.h>
#include <string.h>

gboolean
cleave_infer_shape_attr (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveReshapeAttrs *a = call->attrs;

  results[0] = CLEAVE_SCALAR (call->operands[0].element);
  results[0].shape.rank = a->shape.n;
  for (guint d = 0; d < a->shape.n; d++)
    results[0].shape.dim[d] = a->shape.v[d];
  return TRUE;
}

gboolean
cleave_move_check_indexed (
    const CleaveShape *data, guint d, const CleaveShape *indices, const char *what, GError **error)
{
  return data->dim[d] > 0 || cleave_shape_n_elements (indices) == 0 ||
         cleave_fail (error, CLEAVE_ERROR_SHAPE, "dimension %u of data is empty: %s", d, what);
}

gboolean
cleave_move_check_within (const CleaveShape *indices,
                          const CleaveShape *data,
                          guint axis,
                          GError **error)
{
  for (guint d = 0; d < data->rank; d++)
    if (d != axis && indices->dim[d] > data->dim[d])
      return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                          "indices have %" G_GINT64_FORMAT
                          " in dimension %u, data has %" G_GINT64_FORMAT,
                          indices->dim[d], d, data->dim[d]);
  return TRUE;
}

CleaveView
cleave_move_drop_dims (const CleaveView *view, guint first, guint n, gint64 offset)
{
  CleaveView rest = { .data = cleave_view_element (view, offset),
                      .type = { .element = view->type.element } };
  CleaveShape *shape = &rest.type.shape;

  for (guint d = 0; d < view->type.shape.rank; d++)
    if (d < first || d >= first + n)
      {
        rest.stride[shape->rank] = view->stride[d];
        shape->dim[shape->rank++] = view->type.shape.dim[d];
      }
  return rest;
}

void
cleave_move_fill (const CleaveView *view, gconstpointer element)
{
  CleaveView from = { .data = (gpointer) element, .type = view->type };

  cleave_view_copy (view, &from);
}

static gint64
clamp_signed (double value, gint n_bits)
{
  double limit = ldexp (1, n_bits - 1);
  gint64 most = (gint64) (G_MAXUINT64 >> (65 - n_bits));

  if (isnan (value))
    return 0;
  if (value >= limit)
    return most;
  return value <= -limit ? -most - 1 : (gint64) value;
}

static guint64
clamp_unsigned (double value, gint n_bits)
{
  if (!(value > 0))
    return 0;
  return value >= ldexp (1, n_bits) ? G_MAXUINT64 >> (64 - n_bits) : (guint64) value;
}

void
cleave_move_from_double (CleaveElement element, double value, guint64 *bytes)
{
  gint n_bits = 8 * (gint) cleave_element_size (element);
  guint64 bits;

  if (cleave_element_is_float (element))
    {
      cleave_real_store (element, bytes, value);
      return;
    }
  if (element == CLEAVE_BOOL)
    bits = value != 0;
  else if (element >= CLEAVE_INT8 && element <= CLEAVE_INT64)
    bits = (guint64) clamp_signed (value, n_bits);
  else
    bits = clamp_unsigned (value, n_bits);
  /* Only little-endian machines are supported: their low bytes come first. */
  G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN);
  memcpy (bytes, &bits, sizeof bits);
}

/* A line of elements to gather or to scatter. `y_step`, `x_step` and `index_step`: distances, in
 * elements, of adjacent elements of the line in y, x and indices. `axis_step`: distance of adjacent
 * positions of the axis, by which an index is multiplied. `extent`: extent of the axis. */
typedef struct
{
  gpointer y;
  gconstpointer x, indices;
  gint64 y_step, x_step, index_step, axis_step, extent, n;
} Picks;

/* Returns whether a line is contiguous in x and y, and all its elements have the same index: the
 * indices are broadcast along the line. */
static inline gboolean
is_row (const Picks *p)
{
  return p->index_step == 0 && p->y_step == 1 && p->x_step == 1;
}

/* clang-format off */
#define PICK(name, T, Index)                                                                       \
  static inline gint64 at_##name (const Picks *p, gint64 i)                                        \
  {                                                                                                \
    const gint64 at = ((const Index *) p->indices)[i * p->index_step];                             \
                                                                                                   \
    return CLAMP (at < 0 ? at + p->extent : at, 0, p->extent - 1) * p->axis_step;                  \
  }                                                                                                \
  static void gather_##name (const Picks *p)                                                       \
  {                                                                                                \
    if (is_row (p))                                                                                \
      memcpy (p->y, (const T *) p->x + at_##name (p, 0), (gsize) p->n * sizeof (T));               \
    else                                                                                           \
      for (gint64 i = 0; i < p->n; i++)                                                            \
        ((T *) p->y)[i * p->y_step] = ((const T *) p->x)[i * p->x_step + at_##name (p, i)];        \
  }                                                                                                \
  static void scatter_##name (const Picks *p)                                                      \
  {                                                                                                \
    if (is_row (p))                                                                                \
      memcpy ((T *) p->y + at_##name (p, 0), p->x, (gsize) p->n * sizeof (T));                     \
    else                                                                                           \
      for (gint64 i = 0; i < p->n; i++)                                                            \
        ((T *) p->y)[i * p->y_step + at_##name (p, i)] = ((const T *) p->x)[i * p->x_step];        \
  }
#define SIZES(X)                                                                                   \
  X (i32_1, guint8, gint32) X (i32_2, guint16, gint32) X (i32_4, guint32, gint32)                  \
  X (i32_8, guint64, gint32) X (i64_1, guint8, gint64) X (i64_2, guint16, gint64)                  \
  X (i64_4, guint32, gint64) X (i64_8, guint64, gint64)
SIZES (PICK)
/* clang-format on */

static const struct
{
  gsize index_size, size;
  void (*run[2]) (const Picks *p); /* functions that copy a line: run[0] gathers, run[1] scatters */
} picks[] = {
#define X(name, T, Index) { sizeof (Index), sizeof (T), { gather_##name, scatter_##name } },
  SIZES (X)
#undef X
};

void
cleave_move_picked (const CleaveView *y,
                    const CleaveView *x,
                    const CleaveView *indices,
                    guint axis,
                    gboolean scatters)
{
  const CleaveShape *shape = &indices->type.shape;
  CleaveView to = scatters ? cleave_move_first_along (y, shape, axis) : *y;
  CleaveView from = scatters ? *x : cleave_move_first_along (x, shape, axis);
  const CleaveView *picked = scatters ? y : x, *views[] = { indices, &to, &from };
  Picks p = { .axis_step = picked->stride[axis], .extent = picked->type.shape.dim[axis] };
  CleaveLines lines;
  guint i = 0;

  while (picks[i].index_size != cleave_element_size (indices->type.element) ||
         picks[i].size != cleave_element_size (y->type.element))
    i++;
  for (gboolean more = cleave_lines_init_dims (&lines, views, 3, ~0u); more;
       more = cleave_lines_next (&lines))
    {
      p.indices = cleave_view_element (indices, lines.offset[0]);
      p.y = cleave_view_element (&to, lines.offset[1]);
      p.x = cleave_view_element (&from, lines.offset[2]);
      p.index_step = lines.step[0];
      p.y_step = lines.step[1];
      p.x_step = lines.step[2];
      p.n = lines.length;
      picks[i].run[scatters](&p);
    }
}
