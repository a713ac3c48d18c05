/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "strided-range.h"

#include <string.h>

/* Windows: a part of a value, with steps. */

CleaveStridedRange
cleave_strided_range_of_range (const CleaveRange *range)
{
  CleaveStridedRange window = { .rank = range->rank };

  for (guint d = 0; d < range->rank; d++)
    {
      window.begin[d] = range->dim[d].begin;
      window.step[d] = 1;
      window.count[d] = range->dim[d].end - range->dim[d].begin;
    }
  return window;
}

/* The smallest range that has all of a window. */
CleaveRange
cleave_strided_range_hull (const CleaveStridedRange *window)
{
  CleaveRange range = { .rank = window->rank };

  for (guint d = 0; d < window->rank; d++)
    {
      gint64 last = window->begin[d] + (window->count[d] - 1) * window->step[d];

      range.dim[d] =
          (CleaveSpan){ window->begin[d], window->count[d] == 0 ? window->begin[d] : last + 1 };
    }
  return range;
}

gboolean
cleave_strided_range_has_steps (const CleaveStridedRange *window)
{
  for (guint d = 0; d < window->rank; d++)
    if (window->step[d] != 1 && window->count[d] > 1)
      return TRUE;
  return FALSE;
}

gboolean
cleave_strided_range_is_whole (const CleaveStridedRange *window, const CleaveShape *shape)
{
  for (guint d = 0; d < shape->rank; d++)
    if (window->begin[d] != 0 || window->count[d] != shape->dim[d] ||
        (window->step[d] != 1 && shape->dim[d] > 1))
      return FALSE;
  return TRUE;
}

/* A window of a window, as a window of what the outer one is taken from. */
CleaveStridedRange
cleave_strided_range_compose (const CleaveStridedRange *outer, const CleaveStridedRange *inner)
{
  CleaveStridedRange window = *inner;

  for (guint d = 0; d < inner->rank; d++)
    {
      window.begin[d] = outer->begin[d] + inner->begin[d] * outer->step[d];
      window.step[d] = outer->step[d] * inner->step[d];
    }
  return window;
}

/* Begin and step of a map that takes elements one by one. */
static gboolean
read_map (const CleaveDimMap *map,
          guint d,
          gint64 n_operand,
          gint64 n_result,
          gint64 *begin,
          gint64 *step)
{
  if (map->stride == 0 && n_operand == 1 && n_result == 1)
    {
      *begin = 0;
      *step = 1;
      return TRUE;
    }
  *begin = map->shift * map->stride + map->offset;
  *step = map->stride;
  return map->from == d && map->block == 1 && map->window == 1 && map->stride > 0;
}

/* Reads the maps of a view. */
static gboolean
read_window (const CleaveResult *result, CleaveStridedRange *window)
{
  const CleaveNode *node = result->node;
  const CleaveShape *from = &node->operands[0].result->type.shape, *to = &result->type.shape;
  CleaveDimMap map[CLEAVE_MAX_RANK];
  g_auto (CleaveNodeCall) call;

  cleave_node_call_init (&call, node);
  call.call.result = result->index;
  node->op->maps (&call.call, 0, map);
  window->rank = to->rank;
  for (guint d = 0; d < to->rank; d++)
    {
      window->count[d] = to->dim[d];
      if (!read_map (&map[d], d, from->dim[d], to->dim[d], &window->begin[d], &window->step[d]))
        return FALSE;
      /* One way to write each window, or two that are equal would be made of each other for ever.
       */
      if (to->dim[d] < 2)
        window->step[d] = 1;
      if (to->dim[d] == 0)
        window->begin[d] = 0;
    }
  return TRUE;
}

gboolean
cleave_result_get_strided_range (const CleaveResult *result, CleaveStridedRange *window)
{
  const CleaveNode *node = result->node;

  return (node->op->flags & CLEAVE_OP_VIEW) != 0 && node->op->maps != NULL &&
         node->operands[0].result->type.shape.rank == result->type.shape.rank &&
         read_window (result, window);
}

gboolean
cleave_strided_range_equal (const CleaveStridedRange *a, const CleaveStridedRange *b)
{
  gsize n = a->rank * sizeof (gint64);

  return a->rank == b->rank && memcmp (a->begin, b->begin, n) == 0 &&
         memcmp (a->step, b->step, n) == 0 && memcmp (a->count, b->count, n) == 0;
}

/* Joins. */

void
cleave_join_free (gpointer data)
{
  CleaveJoin *join = data;

  if (join == NULL)
    return;
  g_free (join->place);
  g_free (join->by_begin);
  g_free (join);
}

static int
compare_places (gconstpointer a, gconstpointer b, gpointer data)
{
  const CleaveJoin *join = data;
  guint i = *(const guint *) a, j = *(const guint *) b;
  gint64 x = join->place[i].dim[join->dim].begin, y = join->place[j].dim[join->dim].begin;

  if (x != y)
    return x < y ? -1 : 1;
  return (i > j) - (i < j);
}

static gboolean
find_places (CleaveJoin *join, const CleaveNode *node)
{
  const CleaveShape *to = &node->results[0].type.shape;
  g_auto (CleaveNodeCall) call;
  CleaveDimMap map[CLEAVE_MAX_RANK];

  cleave_node_call_init (&call, node);
  for (guint i = 0; i < join->n; i++)
    {
      const CleaveShape *from = &call.call.operands[i].shape;

      node->op->maps (&call.call, i, map);
      join->place[i].rank = to->rank;
      if (from->rank != to->rank)
        return FALSE;
      for (guint d = 0; d < to->rank; d++)
        {
          CleaveSpan *span = &join->place[i].dim[d];
          gint64 offset, step;

          if (!read_map (&map[d], d, from->dim[d], to->dim[d], &offset, &step) || step != 1)
            return FALSE;
          *span = (CleaveSpan){ -offset, -offset + from->dim[d] };
          join->joined[d] |= span->begin != 0 || span->end != to->dim[d];
        }
    }
  return TRUE;
}

CleaveJoin *
cleave_join_new (const CleaveNode *node)
{
  CleaveJoin *join = g_new0 (CleaveJoin, 1);

  join->n = node->n_operands;
  join->place = g_new0 (CleaveRange, join->n);
  join->by_begin = g_new (guint, join->n);
  if (!find_places (join, node))
    {
      cleave_join_free (join);
      return NULL;
    }
  while (join->dim + 1 < node->results[0].type.shape.rank && !join->joined[join->dim])
    join->dim++;
  for (guint i = 0; i < join->n; i++)
    {
      join->by_begin[i] = i;
      if (join->place[i].rank > 0)
        join->longest = MAX (join->longest, join->place[i].dim[join->dim].end -
                                                join->place[i].dim[join->dim].begin);
    }
  if (node->results[0].type.shape.rank > 0)
    g_qsort_with_data (join->by_begin, (gint) join->n, sizeof (guint), compare_places, join);
  return join;
}

/* The operands that meet a range, in their order. */
GArray *
cleave_join_find (const CleaveJoin *join, const CleaveRange *range)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (guint));
  guint low = 0, high = join->n;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (join->place[join->by_begin[middle]].dim[join->dim].begin + join->longest <=
          range->dim[join->dim].begin)
        low = middle + 1;
      else
        high = middle;
    }
  for (; low < join->n; low++)
    {
      guint i = join->by_begin[low];
      CleaveRange both = cleave_range_intersect (&join->place[i], range);

      if (join->place[i].dim[join->dim].begin >= range->dim[join->dim].end)
        break;
      if (!cleave_range_is_empty (&both))
        g_array_append_val (found, i);
    }
  return found;
}
