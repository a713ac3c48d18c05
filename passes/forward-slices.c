/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "forward-slices.h"

#include <cleave/cleave-pass.h>

#include "../lib/ir/topology.h"

#include <string.h>

/*    a     b              a    b
 *     \   /               |    |
 *    Assemble             |    |        Slices that take one part read the part, those that take
 * less of it a Slice of /   |  \      =>     |    |        it; one that takes from several becomes
 * a smaller Assemble of Slices.  So with Slice  |  Slice         |    |        Concat; a Slice of a
 * Slice or of a Split's result reads their operand. Slice              |    |        A Slice that
 * takes everything is the value.
 *
 * Before: a valid graph.  After: no Slice reads a Slice (but backwards), a Split or, unless its
 * steps straddle parts, an Assemble or a Concat that is joined along a dimension it cuts.  Run it
 * after splitting nodes one by one. */

/* Windows: a part of a value, with steps. */

static CleaveWindow
window_of_range (const CleaveRange *range)
{
  CleaveWindow window = { .rank = range->rank };

  for (guint d = 0; d < range->rank; d++)
    {
      window.begin[d] = range->dim[d].begin;
      window.step[d] = 1;
      window.count[d] = range->dim[d].end - range->dim[d].begin;
    }
  return window;
}

/* The smallest range that has all of a window. */
static CleaveRange
window_hull (const CleaveWindow *window)
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

static gboolean
window_has_steps (const CleaveWindow *window)
{
  for (guint d = 0; d < window->rank; d++)
    if (window->step[d] != 1 && window->count[d] > 1)
      return TRUE;
  return FALSE;
}

gboolean
cleave_window_is_whole (const CleaveWindow *window, const CleaveShape *shape)
{
  for (guint d = 0; d < shape->rank; d++)
    if (window->begin[d] != 0 || window->count[d] != shape->dim[d] ||
        (window->step[d] != 1 && shape->dim[d] > 1))
      return FALSE;
  return TRUE;
}

/* A window of a window, as a window of what the outer one is taken from. */
static CleaveWindow
window_compose (const CleaveWindow *outer, const CleaveWindow *inner)
{
  CleaveWindow window = *inner;

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
read_window (const CleaveResult *result, CleaveWindow *window)
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
    }
  return TRUE;
}

gboolean
cleave_result_get_window (const CleaveResult *result, CleaveWindow *window)
{
  const CleaveNode *node = result->node;

  return (node->op->flags & CLEAVE_OP_VIEW) != 0 && node->op->maps != NULL &&
         node->operands[0].result->type.shape.rank == result->type.shape.rank &&
         read_window (result, window);
}

/* Joins: where the operands of a Concat or an Assemble lie in its result. */

typedef struct
{
  guint n;
  CleaveRange *place;               /* of each operand */
  gboolean joined[CLEAVE_MAX_RANK]; /* dimensions along which places differ */
  guint dim;                        /* one of them; operands are found by where they begin in it */
  guint *by_begin;                  /* operands in this order */
  gint64 longest;
} Join;

static void
join_free (gpointer data)
{
  Join *join = data;

  if (join == NULL)
    return;
  g_free (join->place);
  g_free (join->by_begin);
  g_free (join);
}

static int
compare_places (gconstpointer a, gconstpointer b, gpointer data)
{
  const Join *join = data;
  guint i = *(const guint *) a, j = *(const guint *) b;
  gint64 x = join->place[i].dim[join->dim].begin, y = join->place[j].dim[join->dim].begin;

  if (x != y)
    return x < y ? -1 : 1;
  return (i > j) - (i < j);
}

static gboolean
find_places (Join *join, const CleaveNode *node)
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

static Join *
join_new (const CleaveNode *node)
{
  Join *join = g_new0 (Join, 1);

  join->n = node->n_operands;
  join->place = g_new0 (CleaveRange, join->n);
  join->by_begin = g_new (guint, join->n);
  if (!find_places (join, node))
    {
      join_free (join);
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
static GArray *
join_find (const Join *join, const CleaveRange *range)
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

/* The slicer. */

/* A part that was made before. */
typedef struct
{
  CleaveResult *value;
  CleaveWindow window;
} Part;

struct _CleaveSlicer
{
  CleaveGraph *graph;
  const CleaveOp *slice, *concat, *assemble;
  GHashTable *parts; /* Part, to the CleaveResult that has it */
  GHashTable *joins; /* CleaveNode, to its Join or NULL */
  GQueue pending;    /* CleaveResult of Slices that may be read further back */
  GHashTable *stops; /* CleaveNode */
  GPtrArray *spent;  /* CleaveNode: Slices that were, and have no users any more */
  CleaveNode *made;
};

static guint
part_hash (gconstpointer data)
{
  const Part *part = data;
  guint64 hash = (guint64) (gsize) part->value;

  for (guint d = 0; d < part->window.rank; d++)
    hash = (hash ^ (guint64) part->window.begin[d] ^ ((guint64) part->window.count[d] << 32)) *
               0x9e3779b97f4a7c15u +
           (guint64) part->window.step[d];
  return (guint) (hash ^ (hash >> 32));
}

static gboolean
window_equal (const CleaveWindow *a, const CleaveWindow *b)
{
  gsize n = a->rank * sizeof (gint64);

  return a->rank == b->rank && memcmp (a->begin, b->begin, n) == 0 &&
         memcmp (a->step, b->step, n) == 0 && memcmp (a->count, b->count, n) == 0;
}

static gboolean
part_equal (gconstpointer a, gconstpointer b)
{
  const Part *p = a, *q = b;

  return p->value == q->value && window_equal (&p->window, &q->window);
}

CleaveSlicer *
cleave_slicer_new (CleaveGraph *graph)
{
  CleaveSlicer *slicer = g_new0 (CleaveSlicer, 1);

  slicer->graph = graph;
  slicer->slice = cleave_op_lookup ("Slice");
  slicer->concat = cleave_op_lookup ("Concat");
  slicer->assemble = cleave_op_lookup ("Assemble");
  slicer->parts = g_hash_table_new_full (part_hash, part_equal, g_free, NULL);
  slicer->joins = g_hash_table_new_full (NULL, NULL, NULL, join_free);
  slicer->stops = g_hash_table_new (NULL, NULL);
  slicer->spent = g_ptr_array_new ();
  g_queue_init (&slicer->pending);
  return slicer;
}

void
cleave_slicer_free (CleaveSlicer *slicer)
{
  if (slicer == NULL)
    return;
  g_hash_table_unref (slicer->parts);
  g_hash_table_unref (slicer->joins);
  g_hash_table_unref (slicer->stops);
  g_queue_clear (&slicer->pending);
  g_ptr_array_unref (slicer->spent);
  g_free (slicer);
}

gboolean
cleave_slicer_made (const CleaveSlicer *slicer, const CleaveResult *result)
{
  return slicer->made == result->node;
}

void
cleave_slicer_stop_at (CleaveSlicer *slicer, CleaveNode *node)
{
  g_hash_table_add (slicer->stops, node);
}

static const Join *
get_join (CleaveSlicer *slicer, CleaveNode *node)
{
  gpointer join;

  if ((node->op->flags & CLEAVE_OP_JOIN) == 0 || node->op->maps == NULL ||
      g_hash_table_contains (slicer->stops, node))
    return NULL;
  if (!g_hash_table_lookup_extended (slicer->joins, node, NULL, &join))
    {
      join = join_new (node);
      g_hash_table_insert (slicer->joins, node, join);
    }
  return join;
}

/* The operand that has all of a range: the one that is it, else the first. */
static guint
find_holder (const Join *join, const CleaveRange *range)
{
  g_autoptr (GArray) found = join_find (join, range);
  guint holder = G_MAXUINT;

  for (guint j = 0; j < found->len; j++)
    {
      guint i = g_array_index (found, guint, j);

      if (cleave_range_equal (&join->place[i], range))
        return i;
      if (holder == G_MAXUINT && cleave_range_contains (&join->place[i], range))
        holder = i;
    }
  return holder;
}

/* One step back towards where a window of a value is made.  FALSE: it is there. */
static gboolean
step_back (CleaveSlicer *slicer, CleaveResult **value, CleaveWindow *window)
{
  CleaveNode *node = (*value)->node;
  const Join *join = get_join (slicer, node);
  CleaveWindow outer;
  CleaveRange hull;
  guint holder;

  if (g_hash_table_contains (slicer->stops, node))
    return FALSE;
  if (cleave_result_get_window (*value, &outer))
    {
      *window = window_compose (&outer, window);
      *value = node->operands[0].result;
      return TRUE;
    }
  if (join == NULL || window->rank == 0)
    return FALSE;
  hull = window_hull (window);
  holder = find_holder (join, &hull);
  if (holder == G_MAXUINT)
    return FALSE;
  for (guint d = 0; d < window->rank; d++)
    window->begin[d] -= join->place[holder].dim[d].begin;
  *value = node->operands[holder].result;
  return TRUE;
}

static void
step_back_all (CleaveSlicer *slicer, CleaveResult **value, CleaveWindow *window)
{
  for (guint d = 0; d < window->rank; d++)
    if (window->count[d] == 0)
      return;
  while (!cleave_window_is_whole (window, &(*value)->type.shape))
    if (!step_back (slicer, value, window))
      return;
}

static CleaveResult *
add_slice (CleaveSlicer *slicer, CleaveResult *value, const CleaveWindow *window, const char *name)
{
  CleaveSliceAttrs attrs = { .starts.n = window->rank,
                             .ends.n = window->rank,
                             .steps.n = window->rank };
  CleaveRange hull = window_hull (window);
  g_autoptr (GError) error = NULL;

  attrs.axes.n = window->rank;
  for (guint d = 0; d < window->rank; d++)
    {
      attrs.starts.v[d] = hull.dim[d].begin;
      attrs.ends.v[d] = hull.dim[d].end;
      attrs.axes.v[d] = d;
      attrs.steps.v[d] = window->count[d] > 1 ? window->step[d] : 1;
    }
  slicer->made =
      cleave_graph_add (slicer->graph, slicer->slice, name, &value, 1, 1, &attrs, &error);
  if (slicer->made == NULL)
    g_error ("a Slice of '%s' was refused: %s", value->node->name, error->message);
  return &slicer->made->results[0];
}

static CleaveResult *
add_constant (CleaveSlicer *slicer,
              CleaveTensor *tensor,
              const CleaveWindow *window,
              const char *name)
{
  CleaveRange hull = window_hull (window);
  g_autoptr (CleaveTensor) part = cleave_tensor_new_slice (tensor, &hull);
  CleaveResult *result = cleave_graph_add_constant (slicer->graph, name, part);

  slicer->made = result->node;
  return result;
}

/* A Slice or a Constant with this part of the value, made once. */
static CleaveResult *
get_plain (CleaveSlicer *slicer, CleaveResult *value, const CleaveWindow *window, const char *name)
{
  Part key = { value, *window };
  CleaveTensor *tensor = cleave_node_get_constant (value->node);
  CleaveResult *part;

  if (cleave_window_is_whole (window, &value->type.shape))
    return value;
  part = g_hash_table_lookup (slicer->parts, &key);
  if (part != NULL)
    return part;
  part = tensor != NULL && !window_has_steps (window) ? add_constant (slicer, tensor, window, name)
                                                      : add_slice (slicer, value, window, name);
  g_hash_table_insert (slicer->parts, g_memdup2 (&key, sizeof key), part);
  return part;
}

/* Whether a window that lies in no single operand is worth reading from several: only where it cuts
 * across the seams. */
static gboolean
cuts_seams (const Join *join, const CleaveWindow *window, const CleaveShape *shape)
{
  if (join == NULL || window_has_steps (window))
    return FALSE;
  for (guint d = 0; d < window->rank; d++)
    if (window->count[d] == 0)
      return FALSE;
  for (guint d = 0; d < window->rank; d++)
    if (join->joined[d] && window->count[d] != shape->dim[d])
      return TRUE;
  return FALSE;
}

/* Leaves out parts of an Assemble that lie in others. */
static void
drop_contained (GArray *found, const Join *join, const CleaveRange *range)
{
  guint n = 0;

  for (guint j = 0; j < found->len; j++)
    {
      guint i = g_array_index (found, guint, j);
      CleaveRange mine = cleave_range_intersect (&join->place[i], range);
      gboolean needed = TRUE;

      for (guint k = 0; k < found->len && needed; k++)
        {
          CleaveRange other =
              cleave_range_intersect (&join->place[g_array_index (found, guint, k)], range);

          needed = k == j || !cleave_range_contains (&other, &mine) ||
                   (cleave_range_equal (&other, &mine) && k > j);
        }
      if (needed)
        g_array_index (found, guint, n++) = i;
    }
  g_array_set_size (found, n);
}

static CleaveNode *
add_join (CleaveSlicer *slicer,
          const CleaveNode *like,
          CleaveResult *const *parts,
          GArray *ranges,
          const CleaveTensorType *type,
          const char *name)
{
  gpointer attrs;

  if (like != NULL && like->op != slicer->assemble)
    attrs = cleave_attrs_copy (like->op, like->attrs);
  else
    {
      CleaveAssembleAttrs *assemble = g_new0 (CleaveAssembleAttrs, 1);

      assemble->ranges = g_array_ref (ranges);
      attrs = assemble;
    }
  return cleave_graph_add_checked (slicer->graph, like != NULL ? like->op : slicer->assemble, name,
                                   parts, ranges->len, type, 1, attrs);
}

/* A smaller join of the parts that a window meets.  They may have to be read further back: that is
 * left pending, so that joins of joins cost no recursion. */
static CleaveResult *
get_joined (CleaveSlicer *slicer, CleaveResult *value, const CleaveWindow *window, const char *name)
{
  const Join *join = get_join (slicer, value->node);
  CleaveRange range = window_hull (window);
  g_autoptr (GArray) found = join_find (join, &range);
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  g_autoptr (GPtrArray) parts = g_ptr_array_new ();
  CleaveTensorType type = { value->type.element, cleave_range_shape (&range) };
  Part key = { value, *window };
  CleaveResult *joined = g_hash_table_lookup (slicer->parts, &key);

  if (joined != NULL)
    return joined;
  if (value->node->op == slicer->assemble && found->len <= 64)
    drop_contained (found, join, &range);
  for (guint j = 0; j < found->len; j++)
    {
      guint i = g_array_index (found, guint, j);
      CleaveRange place = cleave_range_intersect (&join->place[i], &range);
      CleaveWindow local = window_of_range (&place);
      CleaveResult *part;

      for (guint d = 0; d < range.rank; d++)
        {
          local.begin[d] -= join->place[i].dim[d].begin;
          place.dim[d].begin -= range.dim[d].begin;
          place.dim[d].end -= range.dim[d].begin;
        }
      part = get_plain (slicer, value->node->operands[i].result, &local, name);
      if (part != value->node->operands[i].result && part->node->op == slicer->slice)
        g_queue_push_tail (&slicer->pending, part);
      g_ptr_array_add (parts, part);
      g_array_append_val (ranges, place);
    }
  slicer->made =
      add_join (slicer, value->node, (CleaveResult *const *) parts->pdata, ranges, &type, name);
  joined = &slicer->made->results[0];
  g_hash_table_insert (slicer->parts, g_memdup2 (&key, sizeof key), joined);
  return joined;
}

/* The window of the value, where `value` is as far back as one can read it. */
static CleaveResult *
get_there (CleaveSlicer *slicer, CleaveResult *value, const CleaveWindow *window, const char *name)
{
  if (cuts_seams (get_join (slicer, value->node), window, &value->type.shape))
    return get_joined (slicer, value, window, name);
  return get_plain (slicer, value, window, name);
}

/* The same value as a part, read as far back as can be; the part itself if it is read there
 * already. */
static CleaveResult *
forward (CleaveSlicer *slicer, CleaveResult *part)
{
  CleaveResult *value = part->node->operands[0].result;
  CleaveResult *there = value;
  CleaveWindow window;

  slicer->made = NULL;
  if (!cleave_result_get_window (part, &window))
    return part;
  step_back_all (slicer, &there, &window);
  if (there == value && !cleave_window_is_whole (&window, &value->type.shape) &&
      cleave_node_get_constant (value->node) == NULL &&
      !cuts_seams (get_join (slicer, value->node), &window, &value->type.shape))
    return part;
  return get_there (slicer, there, &window, part->node->name);
}

/* Reads further back what get_joined() could not.  Slices that this leaves without users stay, as
 * remembered parts; the next time, what came in their place is found. */
static void
settle (CleaveSlicer *slicer)
{
  CleaveNode *made = slicer->made;

  while (!g_queue_is_empty (&slicer->pending))
    {
      CleaveResult *part = g_queue_pop_head (&slicer->pending);
      CleaveResult *forwarded = forward (slicer, part);
      Part key = { .value = part->node->operands[0].result };

      if (forwarded == part)
        continue;
      cleave_result_get_window (part, &key.window);
      g_hash_table_insert (slicer->parts, g_memdup2 (&key, sizeof key), forwarded);
      cleave_result_replace_uses (part, forwarded);
      g_ptr_array_add (slicer->spent, part->node);
    }
  slicer->made = made;
}

CleaveResult *
cleave_slicer_get (CleaveSlicer *slicer,
                   CleaveResult *value,
                   const CleaveRange *range,
                   const char *name)
{
  CleaveWindow window = window_of_range (range);
  CleaveResult *part;

  slicer->made = NULL;
  step_back_all (slicer, &value, &window);
  part = get_there (slicer, value, &window, name);
  settle (slicer);
  return part;
}

CleaveResult *
cleave_slicer_forward (CleaveSlicer *slicer, CleaveResult *part)
{
  CleaveResult *forwarded = forward (slicer, part);

  settle (slicer);
  return forwarded;
}

const GPtrArray *
cleave_slicer_get_spent (const CleaveSlicer *slicer)
{
  return slicer->spent;
}

/**
 * cleave_pass_forward_slices:
 * @graph: a graph
 * @options: unused
 * @changed: (out) (optional): set to %TRUE if the graph was changed
 * @error: return location for a [struct@GLib.Error]
 *
 * Lets a Slice of an Assemble, a Concat, a Split or a Slice read the part itself, so that nodes
 * that were split one by one meet piece to piece.  Slices that lose their users stay for
 * [func@Cleave.pass_remove_dead].  Near-linear.
 *
 * Fails with %CLEAVE_ERROR_CYCLE.
 *
 * Returns: whether it worked
 */
gboolean
cleave_pass_forward_slices (CleaveGraph *graph,
                            gconstpointer options,
                            gboolean *changed,
                            GError **error)
{
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, error);
  g_autoptr (CleaveSlicer) slicer = cleave_slicer_new (graph);

  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (order, i);
      CleaveResult *forwarded;

      if (node->op != slicer->slice || node->results[0].n_uses == 0)
        continue;
      forwarded = cleave_slicer_forward (slicer, &node->results[0]);
      if (forwarded == &node->results[0])
        continue;
      cleave_result_replace_uses (&node->results[0], forwarded);
      if (cleave_slicer_made (slicer, forwarded))
        cleave_node_take_names (forwarded->node, node);
      if (changed != NULL)
        *changed = TRUE;
    }
  return TRUE;
}
