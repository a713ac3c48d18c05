/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Ranges: the public functions, subtraction and order. */

#include "range.h"

static gboolean
are_of_one_rank (const CleaveRange *a, const CleaveRange *b)
{
  return cleave_range_is_legal (a) && cleave_range_is_legal (b) && a->rank == b->rank;
}

/**
 * cleave_range_whole: (skip)
 * @shape: a shape
 *
 * Returns: the range of all elements: `[0, extent)` in each dimension
 *
 * Since: 0.1
 */
CleaveRange
cleave_range_whole (const CleaveShape *shape)
{
  g_return_val_if_fail (cleave_shape_is_legal (shape), (CleaveRange){ 0 });

  CleaveRange range = { .rank = shape->rank };

  for (guint d = 0; d < shape->rank; d++)
    range.dim[d].end = shape->dim[d];
  return range;
}

/**
 * cleave_range_shape: (skip)
 * @range: a range
 *
 * Returns: the extents of the range; 0 for a span whose end is not after its begin
 *
 * Since: 0.1
 */
CleaveShape
cleave_range_shape (const CleaveRange *range)
{
  g_return_val_if_fail (cleave_range_is_legal (range), (CleaveShape){ 0 });

  CleaveShape shape = { .rank = range->rank };

  for (guint d = 0; d < range->rank; d++)
    shape.dim[d] = MAX (range->dim[d].end - range->dim[d].begin, 0);
  return shape;
}

/**
 * cleave_range_n_elements:
 * @range: a range
 *
 * Returns: the number of elements in the range
 *
 * Since: 0.1
 */
gint64
cleave_range_n_elements (const CleaveRange *range)
{
  g_return_val_if_fail (cleave_range_is_legal (range), 0);
  return cleave_range_count (range);
}

/**
 * cleave_range_is_empty:
 * @range: a range
 *
 * Returns: whether the range has no element
 *
 * Since: 0.1
 */
gboolean
cleave_range_is_empty (const CleaveRange *range)
{
  g_return_val_if_fail (cleave_range_is_legal (range), FALSE);
  return cleave_range_holds_none (range);
}

gboolean
cleave_span_equal (const CleaveSpan *a, const CleaveSpan *b)
{
  return a->begin == b->begin && a->end == b->end;
}

/**
 * cleave_range_equal:
 * @a: a range
 * @b: a range
 *
 * Returns: whether rank and all spans are the same
 *
 * Since: 0.1
 */
gboolean
cleave_range_equal (const CleaveRange *a, const CleaveRange *b)
{
  g_return_val_if_fail (cleave_range_is_legal (a) && cleave_range_is_legal (b), FALSE);
  if (a->rank != b->rank)
    return FALSE;
  for (guint d = 0; d < a->rank; d++)
    if (!cleave_span_equal (&a->dim[d], &b->dim[d]))
      return FALSE;
  return TRUE;
}

/**
 * cleave_range_contains:
 * @outer: a range
 * @inner: a range of the same rank
 *
 * Returns: whether all elements of @inner are in @outer; %TRUE if @inner is empty
 *
 * Since: 0.1
 */
gboolean
cleave_range_contains (const CleaveRange *outer, const CleaveRange *inner)
{
  g_return_val_if_fail (are_of_one_rank (outer, inner), FALSE);
  if (cleave_range_is_empty (inner))
    return TRUE;
  for (guint d = 0; d < outer->rank; d++)
    if (inner->dim[d].begin < outer->dim[d].begin || inner->dim[d].end > outer->dim[d].end)
      return FALSE;
  return TRUE;
}

/**
 * cleave_range_intersect: (skip)
 * @a: a range
 * @b: a range of the same rank
 *
 * Returns: the elements that are in both ranges. If two spans do not meet, the span of the result
 * is empty and begins at the later of their begins
 *
 * Since: 0.1
 */
CleaveRange
cleave_range_intersect (const CleaveRange *a, const CleaveRange *b)
{
  g_return_val_if_fail (are_of_one_rank (a, b), (CleaveRange){ 0 });

  CleaveRange both = { .rank = a->rank };

  for (guint d = 0; d < a->rank; d++)
    {
      both.dim[d].begin = MAX (a->dim[d].begin, b->dim[d].begin);
      both.dim[d].end = MAX (MIN (a->dim[d].end, b->dim[d].end), both.dim[d].begin);
    }
  return both;
}

/**
 * cleave_range_hull: (skip)
 * @a: a range
 * @b: a range of the same rank
 *
 * Returns: the smallest range that contains both ranges; if one range is empty, the other range
 *
 * Since: 0.1
 */
CleaveRange
cleave_range_hull (const CleaveRange *a, const CleaveRange *b)
{
  g_return_val_if_fail (are_of_one_rank (a, b), (CleaveRange){ 0 });

  CleaveRange hull = *a;

  if (cleave_range_is_empty (a))
    return *b;
  if (cleave_range_is_empty (b))
    return *a;
  for (guint d = 0; d < a->rank; d++)
    {
      hull.dim[d].begin = MIN (a->dim[d].begin, b->dim[d].begin);
      hull.dim[d].end = MAX (a->dim[d].end, b->dim[d].end);
    }
  return hull;
}

/**
 * cleave_range_to_string:
 * @range: a range
 *
 * Returns: (transfer full): the range as text, such as `0:1,0:16,0:4,0:8`
 *
 * Since: 0.1
 */
char *
cleave_range_to_string (const CleaveRange *range)
{
  g_return_val_if_fail (cleave_range_is_legal (range), NULL);
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint d = 0; d < range->rank; d++)
    g_string_append_printf (out, "%s%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT, d == 0 ? "" : ",",
                            range->dim[d].begin, range->dim[d].end);
  return g_string_free (g_steal_pointer (&out), FALSE);
}

CleaveRange
cleave_range_relative (const CleaveRange *range, const CleaveRange *frame)
{
  CleaveRange relative = *range;

  for (guint d = 0; d < range->rank; d++)
    {
      relative.dim[d].begin -= frame->dim[d].begin;
      relative.dim[d].end -= frame->dim[d].begin;
    }
  return relative;
}

CleaveRange
cleave_range_absolute (const CleaveRange *range, const CleaveRange *frame)
{
  CleaveRange absolute = *range;

  for (guint d = 0; d < range->rank; d++)
    {
      absolute.dim[d].begin += frame->dim[d].begin;
      absolute.dim[d].end += frame->dim[d].begin;
    }
  return absolute;
}

void
cleave_range_subtract (const CleaveRange *range, const CleaveRange *without, GArray *rest)
{
  CleaveRange both = cleave_range_intersect (range, without);
  CleaveRange left = *range;

  if (cleave_range_is_empty (range))
    return;
  if (cleave_range_is_empty (&both))
    {
      g_array_append_val (rest, left);
      return;
    }
  for (guint d = 0; d < range->rank; d++)
    {
      CleaveRange part = left;

      part.dim[d] = (CleaveSpan){ left.dim[d].begin, both.dim[d].begin };
      if (!cleave_range_is_empty (&part))
        g_array_append_val (rest, part);
      part.dim[d] = (CleaveSpan){ both.dim[d].end, left.dim[d].end };
      if (!cleave_range_is_empty (&part))
        g_array_append_val (rest, part);
      left.dim[d] = both.dim[d];
    }
}

GArray *
cleave_range_subtract_all (const CleaveRange *range, const CleaveRange *others, guint n_others)
{
  g_autoptr (GArray) left = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

  g_array_append_vals (left, range, 1);
  for (guint i = 0; i < n_others && left->len > 0; i++)
    {
      g_autoptr (GArray) rest = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

      for (guint j = 0; j < left->len; j++)
        cleave_range_subtract (&g_array_index (left, CleaveRange, j), &others[i], rest);
      g_array_unref (left);
      left = g_steal_pointer (&rest);
    }
  return g_steal_pointer (&left);
}

guint
cleave_range_hash (gconstpointer data)
{
  const CleaveRange *range = data;
  guint64 hash = range->rank;

  for (guint d = 0; d < range->rank; d++)
    hash = (hash ^ (guint64) range->dim[d].begin ^ ((guint64) range->dim[d].end << 32)) *
           0x9e3779b97f4a7c15u;
  return (guint) (hash ^ (hash >> 32));
}

gboolean
cleave_ranges_equal (gconstpointer a, gconstpointer b)
{
  return cleave_range_equal (a, b);
}

gboolean
cleave_range_join (const CleaveRange *a, const CleaveRange *b, CleaveRange *both)
{
  *both = cleave_range_hull (a, b);
  return cleave_range_n_elements (both) ==
         cleave_range_n_elements (a) + cleave_range_n_elements (b);
}

int
cleave_span_compare (gconstpointer a, gconstpointer b)
{
  const CleaveSpan *s = a, *t = b;

  if (s->begin != t->begin)
    return s->begin < t->begin ? -1 : 1;
  return (s->end > t->end) - (s->end < t->end);
}

int
cleave_range_compare (const CleaveRange *a, const CleaveRange *b)
{
  int order = 0;

  for (guint d = 0; d < a->rank && order == 0; d++)
    order = cleave_span_compare (&a->dim[d], &b->dim[d]);
  return order;
}
