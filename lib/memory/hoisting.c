/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Moves nodes in an order to lower the peak (hoisting.h). */

#include "hoisting.h"

#include "../ir/memory.h"
#include "../ir/node-queries.h"
#include "materialized.h"
#include "order-facts.h"

/* A node, and the position after which it should run. For a node that does not move, `at` is the
 * node's own position in the order. */
typedef struct
{
  CleaveNode *node;
  guint at;
} Slot;

static int
compare_slots (gconstpointer a, gconstpointer b)
{
  guint x = ((const Slot *) a)->at, y = ((const Slot *) b)->at;

  return (x > y) - (x < y);
}

/* Sorts `slots` by `at`, and returns the nodes of the slots in this order. The sort is stable: a
 * moved node still follows its operands. */
static GPtrArray *
sort (GArray *slots)
{
  GPtrArray *order = g_ptr_array_sized_new (slots->len);

  g_array_sort (slots, compare_slots);
  for (guint i = 0; i < slots->len; i++)
    g_ptr_array_add (order, g_array_index (slots, Slot, i).node);
  return order;
}

/* Returns the Slot of a node. `slots` is indexed by the position of the node in the order of
 * `storage`. */
static Slot *
slot_of (const GArray *slots, const CleaveStorage *storage, const CleaveNode *node)
{
  return &g_array_index (slots, Slot, cleave_storage_position (storage, node));
}

static gboolean
is_read_by (const CleaveNode *node, const CleaveNode *reader)
{
  for (guint i = 0; i < reader->n_operands; i++)
    if (reader->operands[i].result != NULL && reader->operands[i].result->node == node)
      return TRUE;
  return FALSE;
}

/* Returns an array indexed by position: last position of the chain that the node begins. In a
 * chain, each node runs right after the previous node and overwrites the result of the previous
 * node. One kernel runs a chain, so no node may move into a chain. */
static guint *
find_in_place_ends (const GPtrArray *order)
{
  guint *ends = CLEAVE_NEW (guint, order->len + 1);

  for (guint at = order->len; at-- > 0;)
    {
      const CleaveNode *next = at + 1 < order->len ? order->pdata[at + 1] : NULL;
      gboolean is_overwritten = next != NULL && (next->op->flags & CLEAVE_OP_IN_PLACE) != 0 &&
                                is_read_by (order->pdata[at], next);

      ends[at] = is_overwritten ? ends[at + 1] : at;
    }
  return ends;
}

GPtrArray *
cleave_order_hoist_carried (const CleaveGraph *graph, const GPtrArray *order)
{
  g_autofree guint *position = cleave_order_positions (graph, order);
  g_autofree guint *done = cleave_storage_find_done (graph, order, position);
  g_autoptr (GArray) slots = NULL;
  g_autofree guint *ends = NULL;
  gboolean changed = FALSE;

  if (done == NULL)
    return NULL;
  slots = g_array_sized_new (FALSE, FALSE, sizeof (Slot), order->len);
  ends = find_in_place_ends (order);
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];
      guint after = cleave_storage_materialize_after (done, node);
      Slot slot = { node, after >= i ? i : MIN (i, ends[after]) };

      changed |= slot.at + 1 < i;
      g_array_append_val (slots, slot);
    }
  return changed ? sort (slots) : NULL;
}

/* The lifetimes of buffers, as positions of nodes. */
typedef struct
{
  gboolean *begins, *ends; /* indexed by position: whether a buffer's lifetime begins, or ends, at
                            * the node */
  guint *from, *to;        /* indexed by buffer: positions at which its lifetime begins and ends */
} BufferEnds;

static void
buffer_ends_clear (BufferEnds *buffer_ends)
{
  g_clear_pointer (&buffer_ends->begins, g_free);
  g_clear_pointer (&buffer_ends->ends, g_free);
  g_clear_pointer (&buffer_ends->from, g_free);
  g_clear_pointer (&buffer_ends->to, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (BufferEnds, buffer_ends_clear)

/* Returns the position of the node of a step, or the number of nodes if the step delivers an
 * output. */
static guint
get_position (const CleaveStorage *storage, guint step)
{
  const CleaveNode *node = g_array_index (storage->steps, CleaveStep, step).node;

  return node == NULL ? storage->n_nodes : cleave_storage_position (storage, node);
}

static void
buffer_ends_init (BufferEnds *buffer_ends, const CleaveStorage *storage)
{
  buffer_ends->begins = CLEAVE_NEW0 (gboolean, storage->n_nodes + 1);
  buffer_ends->ends = CLEAVE_NEW0 (gboolean, storage->n_nodes + 1);
  buffer_ends->from = CLEAVE_NEW (guint, storage->buffers->len + 1);
  buffer_ends->to = CLEAVE_NEW (guint, storage->buffers->len + 1);
  for (guint b = 0; b < storage->buffers->len; b++)
    {
      const CleaveBuffer *buffer = &g_array_index (storage->buffers, CleaveBuffer, b);

      buffer_ends->from[b] = get_position (storage, buffer->first);
      buffer_ends->to[b] = get_position (storage, buffer->last);
      buffer_ends->begins[buffer_ends->from[b]] = TRUE;
      buffer_ends->ends[buffer_ends->to[b]] = TRUE;
    }
}

/* Returns the position after which all operands of a node, and all buffers that the node writes,
 * exist. Takes the positions of moved nodes from `slots`. */
static guint
find_earliest (const CleaveNode *node,
               const CleaveStorage *storage,
               const BufferEnds *buffer_ends,
               const GArray *slots)
{
  guint earliest = 0;

  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      earliest = MAX (earliest, slot_of (slots, storage, node->operands[i].result->node)->at);
  for (guint r = 0; r < node->n_results; r++)
    {
      const CleaveAssignment *assignment = cleave_storage_assignment (storage, &node->results[r]);
      guint buffer = storage->buffer[assignment->location.root];

      if (buffer != CLEAVE_NEVER)
        earliest = MAX (earliest, buffer_ends->from[buffer]);
    }
  return earliest;
}

GPtrArray *
cleave_order_hoist_last (const GPtrArray *order, const CleaveStorage *storage)
{
  g_autoptr (GArray) slots = g_array_sized_new (FALSE, FALSE, sizeof (Slot), order->len);
  g_autofree guint *ends = find_in_place_ends (order);
  g_auto (BufferEnds) buffer_ends = { 0 };
  gboolean changed = FALSE;

  buffer_ends_init (&buffer_ends, storage);
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];
      Slot slot = { node, i };

      if (cleave_node_is_source (node))
        slot.at = 0;
      else if (node->n_operands > 0 && buffer_ends.ends[i] && !buffer_ends.begins[i])
        slot.at = MIN (i, ends[find_earliest (node, storage, &buffer_ends, slots)]);
      changed |= !cleave_node_is_source (node) && slot.at + 1 < i;
      g_array_append_val (slots, slot);
    }
  return changed ? sort (slots) : NULL;
}

/* Returns the last position at which a node may run. The node must run before every reader of its
 * results, and may not extend the lifetime of a buffer that holds an operand. */
static guint
find_latest (const CleaveNode *node,
             const CleaveStorage *storage,
             const BufferEnds *buffer_ends,
             const GArray *slots)
{
  guint at = cleave_storage_position (storage, node), latest = storage->n_nodes;

  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (use->node != NULL)
        latest = MIN (latest, slot_of (slots, storage, use->node)->at);
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveAssignment *assignment =
          node->operands[i].result == NULL
              ? NULL
              : cleave_storage_assignment (storage, node->operands[i].result);
      guint buffer = assignment == NULL ? CLEAVE_NEVER : storage->buffer[assignment->location.root];

      if (buffer != CLEAVE_NEVER)
        latest = MIN (latest, buffer_ends->to[buffer]);
    }
  return latest == storage->n_nodes ? at : MAX (latest, at);
}

GPtrArray *
cleave_order_sink (const GPtrArray *order, const CleaveStorage *storage)
{
  g_autoptr (GArray) slots = g_array_sized_new (FALSE, FALSE, sizeof (Slot), order->len);
  g_auto (BufferEnds) buffer_ends = { 0 };
  gboolean changed = FALSE;

  buffer_ends_init (&buffer_ends, storage);
  g_array_set_size (slots, order->len);
  for (guint i = order->len; i-- > 0;)
    {
      CleaveNode *node = order->pdata[i];
      Slot slot = { node, i };

      if (node->n_results > 0 && (node->op->flags & CLEAVE_OP_VIEW) == 0 &&
          !cleave_node_is_source (node) &&
          cleave_storage_is_small_part (storage,
                                        cleave_storage_assignment (storage, &node->results[0])))
        slot.at = find_latest (node, storage, &buffer_ends, slots);
      changed |= slot.at > i + 1;
      g_array_index (slots, Slot, i) = slot;
    }
  return changed ? sort (slots) : NULL;
}

/* Delay the copies of carried rows by at most this many nodes. */
#define MAX_DELAY 8

/* Bytes in use, indexed by position. `during`: while the node at this position runs; `after`:
 * between this node and the next node. */
typedef struct
{
  gint64 *during, *after;
} Levels;

static void
levels_clear (Levels *levels)
{
  g_clear_pointer (&levels->during, g_free);
  g_clear_pointer (&levels->after, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Levels, levels_clear)

static void
levels_init (Levels *levels, const CleaveStorage *storage, const BufferEnds *buffer_ends)
{
  levels->during = cleave_storage_get_live (storage);
  levels->after = CLEAVE_NEW0 (gint64, storage->n_nodes + 2);
  for (guint b = 0; b < storage->buffers->len; b++)
    {
      gint64 n_bytes = g_array_index (storage->buffers, CleaveBuffer, b).n_bytes;

      levels->after[buffer_ends->from[b]] += n_bytes;
      levels->after[buffer_ends->to[b]] -= n_bytes;
    }
  for (guint i = 1; i <= storage->n_nodes; i++)
    levels->after[i] += levels->after[i - 1];
}

/* A group: adjacent nodes that copy carried rows of one value. The last copy frees the value. */
typedef struct
{
  guint begin, end;          /* positions [begin, end) of the copies */
  guint limit;               /* position of the first node that reads a copy */
  gint64 n_whole, n_carried; /* bytes of the copied value's buffer, and of all copies */
} CarriedGroup;

static gboolean
is_carried_from (const CleaveStorage *storage, const CleaveNode *node, guint base)
{
  return node->n_results == 1 && node->n_operands > 0 && node->operands[0].result != NULL &&
         (cleave_storage_assignment (storage, &node->results[0])->flags &
          CLEAVE_ASSIGNMENT_MATERIALIZED) != 0 &&
         cleave_storage_assignment (storage, node->operands[0].result)->base == base;
}

/* Finds the group of copies whose first copy has the position `begin`. Returns FALSE if the node at
 * this position is no copy of carried rows, or if the last copy does not free the copied value. */
static gboolean
find_group (const CleaveStorage *storage,
            const BufferEnds *buffer_ends,
            guint begin,
            CarriedGroup *group)
{
  const CleaveNode *first = storage->nodes[begin];
  const CleaveAssignment *x;
  guint base, buffer;

  if (first->n_operands == 0 || first->operands[0].result == NULL)
    return FALSE;
  x = cleave_storage_assignment (storage, first->operands[0].result);
  base = x->base;
  buffer = storage->buffer[x->location.root];
  *group = (CarriedGroup){ .begin = begin, .end = begin, .limit = storage->n_nodes };
  for (;
       group->end < storage->n_nodes && is_carried_from (storage, storage->nodes[group->end], base);
       group->end++)
    {
      const CleaveResult *carried = &storage->nodes[group->end]->results[0];

      group->n_carried += cleave_tensor_type_n_bytes (&carried->type);
      for (const CleaveOperand *use = carried->first_use; use != NULL; use = use->next_use)
        if (use->node != NULL)
          group->limit = MIN (group->limit, cleave_storage_position (storage, use->node));
    }
  if (group->end == begin || buffer == CLEAVE_NEVER || buffer_ends->to[buffer] + 1 != group->end)
    return FALSE;
  group->n_whole = g_array_index (storage->buffers, CleaveBuffer, buffer).n_bytes;
  return TRUE;
}

/* Returns the position after which a group of copies should run. A delay keeps the copied value in
 * memory instead of its carried rows, but pays if another value dies meanwhile. */
static guint
find_delay (const CarriedGroup *group, const Levels *levels)
{
  gint64 least = 0, most = 0, more = group->n_whole - group->n_carried;
  guint best = group->end - 1;

  for (guint i = group->begin; i < group->end; i++)
    least = MAX (least, levels->during[i]);
  for (guint i = group->end; i < MIN (group->end + MAX_DELAY, group->limit); i++)
    {
      gint64 bytes;

      most = MAX (most, levels->during[i] + more);
      bytes = MAX (most, levels->after[i] + group->n_whole);
      if (bytes >= least)
        continue;
      least = bytes;
      best = i;
    }
  return best;
}

GPtrArray *
cleave_order_delay_carried (const GPtrArray *order, const CleaveStorage *storage)
{
  g_autoptr (GArray) slots = g_array_sized_new (FALSE, FALSE, sizeof (Slot), order->len);
  g_auto (Levels) levels = { 0 };
  g_auto (BufferEnds) buffer_ends = { 0 };
  gboolean changed = FALSE;
  CarriedGroup group;

  if (!storage->materializes)
    return NULL;
  buffer_ends_init (&buffer_ends, storage);
  levels_init (&levels, storage, &buffer_ends);
  for (guint i = 0; i < order->len; i++)
    {
      Slot slot = { order->pdata[i], 2 * i };

      g_array_append_val (slots, slot);
    }
  for (guint i = 0; i < order->len; i++)
    {
      guint at;

      if (!find_group (storage, &buffer_ends, i, &group))
        continue;
      at = find_delay (&group, &levels);
      for (; i < group.end; i++)
        g_array_index (slots, Slot, i).at =
            MAX (2 * at + 1, 2 * i); /* slots count half positions: 2 * at + 1 is right after the
                                      * node at position `at` */
      for (; i <= at; i++)
        {
          levels.during[i] += group.n_whole - group.n_carried;
          levels.after[i] += group.n_whole - group.n_carried;
          changed = TRUE;
        }
      i = group.end - 1;
    }
  return changed ? sort (slots) : NULL;
}
