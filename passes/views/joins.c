/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the place of each operand of a join: the range of the result that the operand fills.
 * Sorts the operands by place, so that cleave_join_find() can search them, and adds joins of
 * parts. A part is a value and its place. */

#include "joins.h"

#include "known-ops.h"
#include "strided-range.h"

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

/* Sets `place` of each operand to the range of the result that the operand fills. Returns FALSE if
 * an operand is not copied unchanged to a box of the result. */
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

          if (!cleave_dim_map_read (&map[d], d, from->dim[d], to->dim[d], &offset, &step) ||
              step != 1)
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

gboolean
cleave_join_list (const CleaveNode *node, const CleaveRange *place, GArray *parts)
{
  g_autoptr (CleaveJoin) join = cleave_join_new (node);

  for (guint i = 0; join != NULL && i < join->n; i++)
    {
      CleaveJoinPart part = { node->operands[i].result,
                              cleave_range_absolute (&join->place[i], place) };

      g_array_append_val (parts, part);
    }
  return join != NULL;
}

CleaveNode *
cleave_join_add (CleaveGraph *graph,
                 const CleaveNode *like,
                 const char *name,
                 const GArray *parts,
                 const CleaveTensorType *type)
{
  const CleaveOp *assemble = cleave_known_op (CLEAVE_KNOWN_ASSEMBLE),
                 *op = like == NULL ? assemble : like->op;
  g_autofree CleaveResult **values = g_new (CleaveResult *, parts->len + 1);
  gpointer attrs;

  if (op == assemble)
    {
      CleaveAssembleAttrs *made = g_new0 (CleaveAssembleAttrs, 1);

      made->ranges = g_array_sized_new (FALSE, FALSE, sizeof (CleaveRange), parts->len);
      for (guint i = 0; i < parts->len; i++)
        g_array_append_val (made->ranges, g_array_index (parts, CleaveJoinPart, i).place);
      attrs = made;
    }
  else
    attrs = cleave_attrs_copy (op, like->attrs);
  for (guint i = 0; i < parts->len; i++)
    values[i] = g_array_index (parts, CleaveJoinPart, i).value;
  return cleave_graph_add_checked (graph, op, name, values, parts->len, type, 1, attrs);
}
