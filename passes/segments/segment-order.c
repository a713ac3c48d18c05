/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lists the nodes that a cut of a segment may reach, in topological order. A cut may reach the
 * nodes of the segment, and the nodes that compute their operands. From a view or an in-place node,
 * the cut may continue to the nodes that compute the operands of this node. */

#include "segment-order.h"

#include "../../lib/ir/heap.h"

/* The nodes of a graph that a cut may reach. */
typedef struct
{
  GPtrArray *nodes;
  GHashTable *place; /* maps a CleaveNode to 1 plus its index in `nodes` */
} Reach;

static void
add_node (Reach *reach, CleaveNode *node)
{
  if (cleave_node_is_input (node) || cleave_node_is_fixed (node) ||
      g_hash_table_contains (reach->place, node))
    return;
  g_ptr_array_add (reach->nodes, node);
  g_hash_table_insert (reach->place, node, GUINT_TO_POINTER (reach->nodes->len));
}

/* Returns whether strips may also cut `node`, a node outside of the segment whose result the strips
 * read. The node must be a view or an in-place node. The strips may then also reach the nodes that
 * compute the operands of `node`. */
static gboolean
is_passed (const CleaveNode *node)
{
  return (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_IN_PLACE)) != 0;
}

static void
find_reach (Reach *reach, const CleaveSegment *segment)
{
  for (guint i = 0; i < segment->order->len; i++)
    add_node (reach, segment->order->pdata[i]);
  for (guint i = 0; i < reach->nodes->len; i++)
    {
      const CleaveNode *node = reach->nodes->pdata[i];

      if (!is_passed (node) && !cleave_segment_contains (segment, node))
        continue;
      for (guint o = 0; o < node->n_operands; o++)
        if (node->operands[o].result != NULL)
          add_node (reach, node->operands[o].result->node);
    }
}

static guint
find_place (const Reach *reach, const CleaveNode *node)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (reach->place, node));
}

/* Returns an array that has a number for each node of `reach->nodes`: the number of operands that
 * other nodes of `reach` compute. Fills `ready` with the ids of the nodes for which this number is
 * 0. Fills `by_id`, which maps the id of each node to the node. */
static guint *
count_operands (const Reach *reach, GArray *ready, GHashTable *by_id)
{
  guint *n_missing = g_new0 (guint, reach->nodes->len + 1);

  for (guint i = 0; i < reach->nodes->len; i++)
    {
      CleaveNode *node = reach->nodes->pdata[i];

      g_hash_table_insert (by_id, GUINT_TO_POINTER (node->id), node);
      for (guint o = 0; o < node->n_operands; o++)
        if (node->operands[o].result != NULL)
          n_missing[i] += find_place (reach, node->operands[o].result->node) > 0;
      if (n_missing[i] == 0)
        cleave_heap_push (ready, node->id);
    }
  return n_missing;
}

/* Returns a list of arrays (guint), one array for each node of `reach->nodes`. The array has the
 * indices in `reach->nodes` of the nodes that read the results of this node. */
static GPtrArray *
list_users (const Reach *reach)
{
  GPtrArray *users = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);

  for (guint i = 0; i < reach->nodes->len; i++)
    g_ptr_array_add (users, g_array_new (FALSE, FALSE, sizeof (guint)));
  for (guint i = 0; i < reach->nodes->len; i++)
    {
      const CleaveNode *node = reach->nodes->pdata[i];

      for (guint o = 0; o < node->n_operands; o++)
        {
          guint place = node->operands[o].result == NULL
                            ? 0
                            : find_place (reach, node->operands[o].result->node);

          if (place > 0)
            g_array_append_val (users->pdata[place - 1], i);
        }
    }
  return users;
}

/* Returns the nodes, sorted by Kahn's algorithm. Among the nodes that are ready, the node with the
 * smallest id, which was added to the graph first, comes first. */
static GPtrArray *
sort (const Reach *reach)
{
  g_autoptr (GArray) ready = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GHashTable) by_id = g_hash_table_new (NULL, NULL);
  g_autofree guint *n_missing = count_operands (reach, ready, by_id);
  g_autoptr (GPtrArray) users = list_users (reach);
  GPtrArray *order = g_ptr_array_sized_new (reach->nodes->len);

  while (ready->len > 0)
    {
      CleaveNode *node = g_hash_table_lookup (by_id, GUINT_TO_POINTER (cleave_heap_pop (ready)));
      const GArray *mine = users->pdata[find_place (reach, node) - 1];

      g_ptr_array_add (order, node);
      for (guint i = 0; i < mine->len; i++)
        {
          guint user = g_array_index (mine, guint, i);

          if (--n_missing[user] == 0)
            cleave_heap_push (ready, ((const CleaveNode *) reach->nodes->pdata[user])->id);
        }
    }
  return order;
}

GPtrArray *
cleave_segment_list_reach (const CleaveSegment *segment)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();
  g_autoptr (GHashTable) place = g_hash_table_new (NULL, NULL);
  Reach reach = { nodes, place };

  find_reach (&reach, segment);
  return sort (&reach);
}
