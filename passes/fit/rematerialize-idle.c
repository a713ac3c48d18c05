/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Recomputes values that idle. A value idles at a step if the value only waits for a reader and
 * takes most of the live bytes. A gap lies between two consecutive readers of a value if the value
 * idles at a step between these readers. The late readers are the readers after the first gap. They
 * read copies of the backward slice of the value: the nodes that compute the value from much
 * smaller values (backward-slice.h). */

#include "rematerialize-idle.h"

#include "../../lib/ir/topology.h"
#include "backward-slice.h"
#include "move-nodes.h"

/* A value idles at a step if the bytes that are live at the step are at most this many times the
 * bytes of the value. Live bytes include the value. */
#define MAX_BESIDE 1.5

/* The order in which the nodes of a graph run. */
typedef struct
{
  GPtrArray *order; /* CleaveNode: all nodes, in the order of a run */
  guint *position;  /* indexed by node id: position of the node in `order` */
  gint64 *live;     /* indexed by position: live bytes, if each value has a buffer of its own */
} Order;

/* A node whose value idles, as defined at the begin of this file. */
typedef struct
{
  CleaveNode *node;
  GPtrArray *readers;    /* CleaveNode: the readers after the steps in which the value idles */
  GPtrArray *recomputed; /* CleaveNode: the backward slice to recompute for `readers` */
} Idle;

static void
idle_free (gpointer data)
{
  Idle *idle = data;

  g_ptr_array_unref (idle->readers);
  g_ptr_array_unref (idle->recomputed);
  g_free (idle);
}

static void
order_clear (Order *o)
{
  g_clear_pointer (&o->order, g_ptr_array_unref);
  g_clear_pointer (&o->position, g_free);
  g_clear_pointer (&o->live, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Order, order_clear)

/* Returns the position of the last reader of a value. Returns the number of nodes if the value is
 * an output. */
static guint
find_last (const Order *o, const CleaveResult *value)
{
  guint last = o->position[value->node->id];

  for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
    last = MAX (last, use->node == NULL ? o->order->len : o->position[use->node->id]);
  return last;
}

static void
order_init (Order *o, const CleaveGraph *graph)
{
  gint64 sum = 0;

  o->order = cleave_topology_sort (graph, NULL);
  o->position = g_new0 (guint, graph->n_ids + 1);
  o->live = g_new0 (gint64, o->order->len + 2);
  for (guint i = 0; i < o->order->len; i++)
    o->position[((const CleaveNode *) o->order->pdata[i])->id] = i;
  for (guint i = 0; i < o->order->len; i++)
    {
      const CleaveNode *node = o->order->pdata[i];

      for (guint r = 0; r < node->n_results && !cleave_node_is_fixed (node); r++)
        {
          gint64 n_bytes = cleave_fit_count_bytes (&node->results[r]);

          o->live[i] += n_bytes;
          o->live[find_last (o, &node->results[r]) + 1] -= n_bytes;
        }
    }
  for (guint i = 0; i <= o->order->len; i++)
    o->live[i] = sum += o->live[i];
}

static int
compare_positions (gconstpointer a, gconstpointer b, gpointer data)
{
  const guint *position = data;
  guint x = position[(*(CleaveNode *const *) a)->id], y = position[(*(CleaveNode *const *) b)->id];

  return (x > y) - (x < y);
}

/* Lists the nodes that read a value, in order. Returns NULL if the value is an output. */
static GPtrArray *
list_readers (const Order *o, const CleaveResult *value)
{
  g_autoptr (GPtrArray) readers = g_ptr_array_new ();

  for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
    if (use->node == NULL)
      return NULL;
    else if (!g_ptr_array_find (readers, use->node, NULL))
      g_ptr_array_add (readers, use->node);
  g_ptr_array_sort_with_data (readers, compare_positions, o->position);
  return g_steal_pointer (&readers);
}

/* Returns whether a value idles at a step between its readers `from` and `to`. */
static gboolean
is_idle (const Order *o, const CleaveResult *value, const CleaveNode *from, const CleaveNode *to)
{
  for (guint s = o->position[from->id] + 1; s < o->position[to->id]; s++)
    if ((double) o->live[s] <= MAX_BESIDE * (double) cleave_fit_count_bytes (value))
      return TRUE;
  return FALSE;
}

/* Returns the bytes of the values that the nodes in `recomputed` read and that die before position
 * `until`. If these nodes run again at `until`, the values must live longer. Does not count
 * constants, or values that nodes in `recomputed` compute. */
static gint64
count_extended_bytes (const Order *o, const GPtrArray *recomputed, guint until)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  gint64 n_bytes = 0;

  for (guint i = 0; i < recomputed->len; i++)
    g_hash_table_add (seen, recomputed->pdata[i]);
  for (guint i = 0; i < recomputed->len; i++)
    {
      const CleaveNode *node = recomputed->pdata[i];

      for (guint n = 0; n < node->n_operands; n++)
        {
          const CleaveResult *read = node->operands[n].result;

          if (read != NULL && !cleave_node_is_fixed (read->node) &&
              g_hash_table_add (seen, read->node) && find_last (o, read) < until)
            n_bytes += cleave_fit_count_bytes (read);
        }
    }
  return n_bytes;
}

/* Finds the first gap: two consecutive readers of a node's value between which the value idles.
 * Returns the node, the readers after the gap, and the backward slice to recompute. Returns NULL if
 * there is no gap or no short backward slice, or if the recomputation saves too little memory. */
static Idle *
idle_new (const Order *o, CleaveNode *node)
{
  const CleaveResult *value = &node->results[0];
  g_autoptr (GPtrArray) readers = list_readers (o, value), recomputed = g_ptr_array_new ();
  gint64 n_bytes = cleave_fit_count_bytes (value);
  guint first = 1;
  Idle *idle;

  while (readers != NULL && first < readers->len &&
         !is_idle (o, value, readers->pdata[first - 1], readers->pdata[first]))
    first++;
  if (readers == NULL || first >= readers->len ||
      !cleave_fit_add_backward_slice (recomputed, value, n_bytes) ||
      CLEAVE_FIT_MUCH_LARGER * count_extended_bytes (o, recomputed, find_last (o, value)) > n_bytes)
    return NULL;
  g_ptr_array_remove_range (readers, 0, first);
  idle = g_new0 (Idle, 1);
  idle->node = node;
  idle->readers = g_steal_pointer (&readers);
  idle->recomputed = g_steal_pointer (&recomputed);
  return idle;
}

static int
compare_sizes (gconstpointer a, gconstpointer b)
{
  gint64 x = cleave_fit_count_bytes (&(*(Idle *const *) a)->node->results[0]);
  gint64 y = cleave_fit_count_bytes (&(*(Idle *const *) b)->node->results[0]);

  return (x < y) - (x > y);
}

GPtrArray *
cleave_fit_rematerialize_idle (CleaveGraph *graph, gint64 min_bytes, double max_macs)
{
  GPtrArray *copies = cleave_fit_copies_new ();
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (idle_free);
  g_auto (Order) o = { 0 };

  order_init (&o, graph);
  for (guint i = 0; i < o.order->len; i++)
    {
      CleaveNode *node = o.order->pdata[i];
      Idle *idle = node->n_results != 1 || !cleave_fit_can_copy (node) ||
                           cleave_fit_count_bytes (&node->results[0]) < min_bytes
                       ? NULL
                       : idle_new (&o, node);

      if (idle != NULL)
        g_ptr_array_add (all, idle);
    }
  g_ptr_array_sort (all, compare_sizes); /* the sort is stable: nodes with equal sizes keep their
                                          * order */
  for (guint i = 0; i < all->len; i++)
    {
      const Idle *idle = all->pdata[i];
      double macs = cleave_fit_copies_count_macs (idle->recomputed);

      if (macs > max_macs)
        continue;
      max_macs -= macs;
      cleave_fit_rematerialize (copies, graph, idle->readers, idle->recomputed, o.position);
    }
  if (copies->len > 0)
    cleave_fit_moves_arrange (copies, graph);
  return copies;
}
