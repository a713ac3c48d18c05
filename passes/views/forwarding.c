/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes parts of values. Follows views and joins back to the node that computes the elements of a
 * part, and reads the part from this node. Cuts parts of constants out of the constants. A window
 * is the strided range that a part has in its value. */

#include "forwarding.h"

#include "forwarded-parts.h"
#include "joins.h"
#include "known-ops.h"

CleaveForwarder *
cleave_forwarder_new (CleaveGraph *graph)
{
  CleaveForwarder *forwarder = g_new0 (CleaveForwarder, 1);

  forwarder->graph = graph;
  forwarder->slice = cleave_known_op (CLEAVE_KNOWN_SLICE);
  forwarder->assemble = cleave_known_op (CLEAVE_KNOWN_ASSEMBLE);
  forwarder->parts =
      g_hash_table_new_full (cleave_forwarded_part_hash, cleave_forwarded_part_equal, g_free, NULL);
  forwarder->joins = g_hash_table_new_full (NULL, NULL, NULL, cleave_join_free);
  forwarder->stops = g_hash_table_new (NULL, NULL);
  forwarder->spent = g_ptr_array_new ();
  g_queue_init (&forwarder->pending);
  return forwarder;
}

void
cleave_forwarder_free (CleaveForwarder *forwarder)
{
  if (forwarder == NULL)
    return;
  g_hash_table_unref (forwarder->parts);
  g_hash_table_unref (forwarder->joins);
  g_hash_table_unref (forwarder->stops);
  g_queue_clear (&forwarder->pending);
  g_ptr_array_unref (forwarder->spent);
  g_free (forwarder);
}

gboolean
cleave_forwarder_made (const CleaveForwarder *forwarder, const CleaveResult *result)
{
  return forwarder->made == result->node;
}

void
cleave_forwarder_stop_at (CleaveForwarder *forwarder, CleaveNode *node)
{
  /* a forwarder reads past views and joins only, so no other node needs an entry in `stops` */
  if ((node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN)) != 0)
    g_hash_table_add (forwarder->stops, node);
}

void
cleave_forwarder_stop_among (CleaveForwarder *forwarder, GHashTable *nodes)
{
  forwarder->other_stops = nodes;
}

static gboolean
is_stop (const CleaveForwarder *forwarder, const CleaveNode *node)
{
  return g_hash_table_contains (forwarder->stops, node) ||
         (forwarder->other_stops != NULL && g_hash_table_contains (forwarder->other_stops, node));
}

static const CleaveJoin *
get_join (CleaveForwarder *forwarder, CleaveNode *node)
{
  gpointer join;

  if ((node->op->flags & CLEAVE_OP_JOIN) == 0 || node->op->maps == NULL ||
      is_stop (forwarder, node))
    return NULL;
  if (!g_hash_table_lookup_extended (forwarder->joins, node, NULL, &join))
    {
      join = cleave_join_new (node);
      g_hash_table_insert (forwarder->joins, node, join);
    }
  return join;
}

/* Returns the index of the operand whose range in the join equals `range`. If no range equals
 * `range`, returns the index of the first operand whose range contains `range`. Returns G_MAXUINT
 * if no operand contains `range`. */
static guint
find_holder (const CleaveJoin *join, const CleaveRange *range)
{
  g_autoptr (GArray) found = cleave_join_find (join, range);
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

/* Checks whether a view or a join computes `value`, and has an operand with all elements of
 * `window`. If so, sets `value` to this operand, and `window` to the window that these elements
 * have in the operand. If not, returns FALSE. */
static gboolean
step_back (CleaveForwarder *forwarder, CleaveResult **value, CleaveStridedRange *window)
{
  CleaveNode *node = (*value)->node;
  const CleaveJoin *join = get_join (forwarder, node);
  CleaveStridedRange outer;
  CleaveRange hull;
  guint holder;

  if (is_stop (forwarder, node))
    return FALSE;
  if (cleave_result_get_strided_range (*value, &outer))
    {
      *window = cleave_strided_range_compose (&outer, window);
      *value = node->operands[0].result;
      return TRUE;
    }
  if (join == NULL || window->rank == 0)
    return FALSE;
  hull = cleave_strided_range_hull (window);
  holder = find_holder (join, &hull);
  if (holder == G_MAXUINT)
    return FALSE;
  for (guint d = 0; d < window->rank; d++)
    window->begin[d] -= join->place[holder].dim[d].begin;
  *value = node->operands[holder].result;
  return TRUE;
}

static void
step_back_all (CleaveForwarder *forwarder, CleaveResult **value, CleaveStridedRange *window)
{
  for (guint d = 0; d < window->rank; d++)
    if (window->count[d] == 0)
      return;
  while (!cleave_strided_range_is_whole (window, &(*value)->type.shape))
    if (!step_back (forwarder, value, window))
      return;
}

/* Returns whether a window should be read from several operands of a join, since no operand
 * contains the whole window. This is useful only if the window cuts a joined dimension. */
static gboolean
cuts_joined_dim (const CleaveJoin *join, const CleaveStridedRange *window, const CleaveShape *shape)
{
  if (join == NULL || cleave_strided_range_has_steps (window))
    return FALSE;
  for (guint d = 0; d < window->rank; d++)
    if (window->count[d] == 0)
      return FALSE;
  for (guint d = 0; d < window->rank; d++)
    if (join->joined[d] && window->count[d] != shape->dim[d])
      return TRUE;
  return FALSE;
}

/* Removes operand a from `found` if `found` also has an operand b that, within `range`, has all
 * elements of a. If several operands have the same elements, keeps the first of these operands. */
static void
drop_contained (GArray *found, const CleaveJoin *join, const CleaveRange *range)
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

/* Returns a new join of parts of the operands that the window overlaps. A part may be a Slice of
 * another join. Does not follow this Slice by recursion, but puts the Slice into `pending`.
 * read_pending() later replaces the Slice by a part of an earlier value. */
static CleaveResult *
get_joined (CleaveForwarder *forwarder,
            CleaveResult *value,
            const CleaveStridedRange *window,
            const char *name)
{
  const CleaveJoin *join = get_join (forwarder, value->node);
  CleaveRange range = cleave_strided_range_hull (window);
  g_autoptr (GArray) found = cleave_join_find (join, &range);
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (CleaveJoinPart));
  CleaveTensorType type = { value->type.element, cleave_range_shape (&range) };
  CleaveForwardedPart key = { value, *window };
  CleaveResult *joined = g_hash_table_lookup (forwarder->parts, &key);

  if (joined != NULL)
    return joined;
  if (value->node->op == forwarder->assemble && found->len <= 64)
    drop_contained (found, join, &range);
  for (guint j = 0; j < found->len; j++)
    {
      guint i = g_array_index (found, guint, j);
      CleaveRange place = cleave_range_intersect (&join->place[i], &range);
      CleaveRange inside = cleave_range_relative (&place, &join->place[i]);
      CleaveStridedRange local = cleave_strided_range_of_range (&inside);
      CleaveResult *operand = value->node->operands[i].result;
      CleaveJoinPart part = { cleave_forwarded_part_get (forwarder, operand, &local, name),
                              cleave_range_relative (&place, &range) };

      if (part.value != operand && part.value->node->op == forwarder->slice)
        g_queue_push_tail (&forwarder->pending, part.value);
      g_array_append_val (parts, part);
    }
  forwarder->made = cleave_join_add (forwarder->graph, value->node, name, parts, &type);
  joined = &forwarder->made->results[0];
  g_hash_table_insert (forwarder->parts, g_memdup2 (&key, sizeof key), joined);
  return joined;
}

/* If a value has more readers than this, is_read_whole() does not examine the readers, so that
 * forwarding takes linear time. */
#define MAX_READERS 16

/* Returns whether a node other than a view reads the value, or the value is an output. The whole
 * value must then exist. Returns FALSE if the value has more than MAX_READERS readers. */
static gboolean
is_read_whole (const CleaveResult *value)
{
  if (value->n_uses > MAX_READERS)
    return FALSE;
  for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
    if (use->node == NULL || (use->node->op->flags & CLEAVE_OP_VIEW) == 0)
      return TRUE;
  return FALSE;
}

/* Returns whether the window is read from a new join of the operands that it overlaps. Returns
 * FALSE if the window overlaps all operands of the join, and another reader needs the join. A new
 * join would then wait for the same operands and copy them again. */
static gboolean
needs_new_join (const CleaveJoin *join, const CleaveStridedRange *window, const CleaveResult *value)
{
  CleaveRange hull = cleave_strided_range_hull (window);
  g_autoptr (GArray) found = NULL;

  if (!cuts_joined_dim (join, window, &value->type.shape))
    return FALSE;
  if (!is_read_whole (value))
    return TRUE;
  found = cleave_join_find (join, &hull);
  return found->len < join->n;
}

/* Returns the elements of `value` in `window`, as a new join of parts of `value` or as one part.
 * `value` must be the earliest value that contains these elements (step_back_all()). */
static CleaveResult *
get_there (CleaveForwarder *forwarder,
           CleaveResult *value,
           const CleaveStridedRange *window,
           const char *name)
{
  if (needs_new_join (get_join (forwarder, value->node), window, value))
    return get_joined (forwarder, value, window, name);
  return cleave_forwarded_part_get (forwarder, value, window, name);
}

/* Returns a value with the same elements as `part`, the result of a Slice or a Split. Goes from the
 * operand of the Slice towards the inputs, past views and joins, and makes the value from the
 * earliest value that contains these elements. Returns `part` if the operand itself is the earliest
 * such value. */
static CleaveResult *
forward (CleaveForwarder *forwarder, CleaveResult *part)
{
  CleaveResult *value = part->node->operands[0].result;
  CleaveResult *there = value;
  CleaveStridedRange window;

  forwarder->made = NULL;
  if (!cleave_result_get_strided_range (part, &window))
    return part;
  step_back_all (forwarder, &there, &window);
  if (there == value && !cleave_strided_range_is_whole (&window, &value->type.shape) &&
      !cleave_forwarded_part_is_constant (value, &window) &&
      !needs_new_join (get_join (forwarder, value->node), &window, value))
    return part;
  return get_there (forwarder, there, &window, part->node->name);
}

/* Empties `pending`, the queue of the Slices that get_joined() added to the graph. For each Slice,
 * forward() searches a value with the same elements past views and joins. If forward() finds a
 * value, replaces the Slice by this value. The key of the Slice in `parts` then maps to the value.
 */
static void
read_pending (CleaveForwarder *forwarder)
{
  CleaveNode *made = forwarder->made;

  while (!g_queue_is_empty (&forwarder->pending))
    {
      CleaveResult *part = g_queue_pop_head (&forwarder->pending);
      CleaveResult *forwarded = forward (forwarder, part);
      CleaveForwardedPart key = { .value = part->node->operands[0].result };

      if (forwarded == part)
        continue;
      cleave_result_get_strided_range (part, &key.window);
      g_hash_table_insert (forwarder->parts, g_memdup2 (&key, sizeof key), forwarded);
      cleave_result_replace_uses (part, forwarded);
      g_ptr_array_add (forwarder->spent, part->node);
    }
  forwarder->made = made;
}

CleaveResult *
cleave_forwarder_get (CleaveForwarder *forwarder,
                      CleaveResult *value,
                      const CleaveRange *range,
                      const char *name)
{
  CleaveStridedRange window = cleave_strided_range_of_range (range);
  CleaveResult *part;

  forwarder->made = NULL;
  step_back_all (forwarder, &value, &window);
  part = get_there (forwarder, value, &window, name);
  read_pending (forwarder);
  return part;
}

gboolean
cleave_forwarder_reads_back (CleaveForwarder *forwarder,
                             CleaveResult *value,
                             const CleaveRange *range)
{
  CleaveStridedRange window = cleave_strided_range_of_range (range);
  CleaveResult *there = value;

  step_back_all (forwarder, &there, &window);
  return there != value;
}

CleaveResult *
cleave_forwarder_forward (CleaveForwarder *forwarder, CleaveResult *part)
{
  CleaveResult *forwarded = forward (forwarder, part);

  read_pending (forwarder);
  return forwarded;
}

const GPtrArray *
cleave_forwarder_get_spent (const CleaveForwarder *forwarder)
{
  return forwarder->spent;
}
