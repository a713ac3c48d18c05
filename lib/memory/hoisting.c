/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "hoisting.h"

/* A node, and the position after which it is to run, or its own. */
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

/* What is hoisted follows what it waits for, as it did before. */
static GPtrArray *
sort (GArray *slots)
{
  GPtrArray *order = g_ptr_array_sized_new (slots->len);

  g_array_sort (slots, compare_slots); /* stable */
  for (guint i = 0; i < slots->len; i++)
    g_ptr_array_add (order, g_array_index (slots, Slot, i).node);
  return order;
}

/* The one of a node in slots that are in the storage's order. */
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

/* For each position, the last node of those that overwrite its result right after it: they are done
 * along with it. */
static guint *
find_in_place_ends (const GPtrArray *order)
{
  guint *ends = g_new (guint, order->len + 1);

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
cleave_order_hoist_kept (const CleaveGraph *graph, const GPtrArray *order)
{
  g_autofree guint *position = cleave_order_positions (graph, order);
  g_autoptr (GArray) slots = g_array_sized_new (FALSE, FALSE, sizeof (Slot), order->len);
  g_autofree guint *ends = find_in_place_ends (order);
  gboolean changed = FALSE;

  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];
      guint after = cleave_storage_keep_after (position, node);
      Slot slot = { node, after >= i ? i : MIN (i, ends[after]) };

      changed |= slot.at + 1 < i;
      g_array_append_val (slots, slot);
    }
  return changed ? sort (slots) : NULL;
}

/* Positions of nodes whose steps are the first or the last that some buffer is there for. */
typedef struct
{
  gboolean *begins, *ends; /* by position */
  guint *from, *to;        /* of each buffer: position */
} Lives;

static void
lives_clear (Lives *lives)
{
  g_clear_pointer (&lives->begins, g_free);
  g_clear_pointer (&lives->ends, g_free);
  g_clear_pointer (&lives->from, g_free);
  g_clear_pointer (&lives->to, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Lives, lives_clear)

/* Outputs go out at the end. */
static guint
get_position (const CleaveStorage *storage, guint step)
{
  const CleaveNode *node = g_array_index (storage->steps, CleaveStep, step).node;

  return node == NULL ? storage->n_nodes : cleave_storage_position (storage, node);
}

static void
lives_init (Lives *lives, const CleaveStorage *storage)
{
  lives->begins = g_new0 (gboolean, storage->n_nodes + 1);
  lives->ends = g_new0 (gboolean, storage->n_nodes + 1);
  lives->from = g_new (guint, storage->buffers->len + 1);
  lives->to = g_new (guint, storage->buffers->len + 1);
  for (guint b = 0; b < storage->buffers->len; b++)
    {
      const CleaveBuffer *buffer = &g_array_index (storage->buffers, CleaveBuffer, b);

      lives->from[b] = get_position (storage, buffer->first);
      lives->to[b] = get_position (storage, buffer->last);
      lives->begins[lives->from[b]] = TRUE;
      lives->ends[lives->to[b]] = TRUE;
    }
}

/* The position after which all that a node reads is there, as nodes before it are hoisted, and so
 * are the buffers that it writes to. */
static guint
find_earliest (const CleaveNode *node,
               const CleaveStorage *storage,
               const Lives *lives,
               const GArray *slots)
{
  guint earliest = 0;

  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      earliest = MAX (earliest, slot_of (slots, storage, node->operands[i].result->node)->at);
  for (guint r = 0; r < node->n_results; r++)
    {
      const CleaveHome *home = cleave_storage_home (storage, &node->results[r]);
      guint buffer = storage->buffer[home->place.root];

      if (buffer != CLEAVE_NEVER)
        earliest = MAX (earliest, lives->from[buffer]);
    }
  return earliest;
}

/* It is there from the begin on. */
static gboolean
is_source (const CleaveNode *node)
{
  return cleave_node_is_input (node) || cleave_node_is_fixed (node);
}

GPtrArray *
cleave_order_hoist_last (const GPtrArray *order, const CleaveStorage *storage)
{
  g_autoptr (GArray) slots = g_array_sized_new (FALSE, FALSE, sizeof (Slot), order->len);
  g_autofree guint *ends = find_in_place_ends (order);
  g_auto (Lives) lives = { 0 };
  gboolean changed = FALSE;

  lives_init (&lives, storage);
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];
      Slot slot = { node, i };

      if (is_source (node))
        slot.at = 0;
      else if (node->n_operands > 0 && lives.ends[i] && !lives.begins[i])
        slot.at = MIN (i, ends[find_earliest (node, storage, &lives, slots)]);
      changed |= !is_source (node) && slot.at + 1 < i;
      g_array_append_val (slots, slot);
    }
  return changed ? sort (slots) : NULL;
}

/* The last position at which a node may run: before all that read its results, and before what it
 * reads itself has had its last other reader. */
static guint
find_latest (const CleaveNode *node,
             const CleaveStorage *storage,
             const Lives *lives,
             const GArray *slots)
{
  guint at = cleave_storage_position (storage, node), latest = storage->n_nodes;

  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (use->node != NULL)
        latest = MIN (latest, slot_of (slots, storage, use->node)->at);
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveHome *home = node->operands[i].result == NULL
                                   ? NULL
                                   : cleave_storage_home (storage, node->operands[i].result);
      guint buffer = home == NULL ? CLEAVE_NEVER : storage->buffer[home->place.root];

      if (buffer != CLEAVE_NEVER)
        latest = MIN (latest, lives->to[buffer]);
    }
  return latest == storage->n_nodes ? at : MAX (latest, at);
}

GPtrArray *
cleave_order_sink (const GPtrArray *order, const CleaveStorage *storage)
{
  g_autoptr (GArray) slots = g_array_sized_new (FALSE, FALSE, sizeof (Slot), order->len);
  g_auto (Lives) lives = { 0 };
  gboolean changed = FALSE;

  lives_init (&lives, storage);
  g_array_set_size (slots, order->len);
  for (guint i = order->len; i-- > 0;)
    {
      CleaveNode *node = order->pdata[i];
      Slot slot = { node, i };

      if (node->n_results > 0 && (node->op->flags & CLEAVE_OP_VIEW) == 0 && !is_source (node) &&
          cleave_storage_is_small_part (storage, cleave_storage_home (storage, &node->results[0])))
        slot.at = find_latest (node, storage, &lives, slots);
      changed |= slot.at > i + 1;
      g_array_index (slots, Slot, i) = slot;
    }
  return changed ? sort (slots) : NULL;
}
