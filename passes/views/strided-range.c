/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts ranges and the dimension maps of views to strided ranges (windows), and composes and
 * compares windows. */

#include "strided-range.h"

#include <string.h>

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

gboolean
cleave_dim_map_read (const CleaveDimMap *map,
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

/* Sets `window` to the strided range of operand 0 that a view selects. Finds this range by the
 * view's dimension maps. Returns FALSE if the view selects no strided range. */
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
      if (!cleave_dim_map_read (&map[d], d, from->dim[d], to->dim[d], &window->begin[d],
                                &window->step[d]))
        return FALSE;
      /* set unused fields to fixed values, so that windows with the same elements compare equal. If
       * two Slices of the same single element had different steps, each would replace the other
       * without end */
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
