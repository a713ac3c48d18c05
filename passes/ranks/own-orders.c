/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds an order of all nodes that needs little memory on every rank. An order that needs little
 * memory in the whole graph may need much memory on a rank, since different ranks need different
 * orders. So the search measures several orders of the whole graph on each rank alone, as if the
 * rank never waited. At a position where a single value connects the earlier nodes with the later
 * nodes, the order of a rank may change from one of these orders to another (order-combine.h). */

#include "own-orders.h"

#include "../../lib/ir/node-queries.h"
#include "../../lib/memory/ordering.h"

/* A list of nodes, to which nodes are added in order. */
typedef struct
{
  gboolean *is_done; /* indexed by node id: whether the node is in `order` */
  GPtrArray *order;
} List;

/* A node on the stack, and the number of its operands that were visited. */
typedef struct
{
  CleaveNode *node;
  guint n_seen;
} Visit;

static void
add (List *list, CleaveNode *node)
{
  list->is_done[node->id] = TRUE;
  g_ptr_array_add (list->order, node);
}

/* Searches the operands of `node`, from index `*from` on, for an operand whose node is not in
 * `list`. Returns the node that computes this operand, and sets `*from` to the index of the
 * operand. Returns NULL if the list has the nodes that compute all these operands. */
static CleaveNode *
find_missing (const List *list, const CleaveNode *node, guint *from)
{
  for (; *from < node->n_operands; (*from)++)
    {
      const CleaveResult *x = node->operands[*from].result;

      if (x != NULL && !list->is_done[x->node->id])
        return x->node;
    }
  return NULL;
}

static gboolean
is_ready (const List *list, const CleaveNode *node)
{
  guint from = 0;

  return find_missing (list, node, &from) == NULL;
}

/* Adds a node after all nodes that it depends on. Uses a stack, since chains may be long. */
static void
add_all (List *list, CleaveNode *node)
{
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (Visit));
  Visit visit = { node, 0 };

  if (!list->is_done[node->id])
    g_array_append_val (stack, visit);
  while (stack->len > 0)
    {
      Visit *top = &g_array_index (stack, Visit, stack->len - 1);

      visit = (Visit){ find_missing (list, top->node, &top->n_seen), 0 };
      if (visit.node == NULL)
        {
          add (list, top->node);
          g_array_set_size (stack, stack->len - 1);
        }
      else
        g_array_append_val (stack, visit);
    }
}

/* A graph with the nodes of one rank, for measuring the memory of the rank alone. In this graph, a
 * value from another rank is available as soon as a node reads it, so no node waits for another
 * rank. */
typedef struct
{
  CleaveGraph *graph;
  GHashTable *origins; /* maps nodes of the rank's graph to nodes of the whole graph */
  /* indexed by node id of the whole graph: the copy in the rank's graph; NULL: none */
  CleaveNode **copies;
  gboolean *is_sent; /* indexed by node id of the rank's graph: the node takes no time, and only
                        other ranks read its results */
} RankGraph;

/* Returns whether a node takes no time, such as a view. A rank runs a node without time only when
 * another node reads the result. So two orders need the same memory if they differ only in the
 * positions of nodes without time. */
static gboolean
takes_no_time (const CleaveNode *node)
{
  return (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR)) != 0;
}

static gboolean
is_for_others (const RankGraph *alone, const CleaveNode *node)
{
  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (use->node == NULL || !alone->is_sent[use->node->id])
        return FALSE;
  return takes_no_time (node);
}

static void
alone_init (RankGraph *alone, const CleavePlacement *p, guint rank)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer own, whole;

  alone->origins = g_hash_table_new (NULL, NULL);
  alone->graph = cleave_ranks_build_alone (p, rank, alone->origins);
  alone->copies = g_new0 (CleaveNode *, (gsize) p->graph->n_ids + 1);
  alone->is_sent = g_new0 (gboolean, (gsize) alone->graph->n_ids + 1);
  g_hash_table_iter_init (&iter, alone->origins);
  while (g_hash_table_iter_next (&iter, &own, &whole))
    alone->copies[((const CleaveNode *) whole)->id] = own;
  for (CleaveNode *node = alone->graph->first; node != NULL; node = node->next)
    g_ptr_array_add (nodes, node);
  for (guint i = nodes->len; i-- > 0;)
    {
      const CleaveNode *node = nodes->pdata[i];

      alone->is_sent[node->id] = is_for_others (alone, node);
    }
}

static void
alone_clear (RankGraph *alone)
{
  g_clear_pointer (&alone->origins, g_hash_table_unref);
  g_clear_pointer (&alone->graph, cleave_graph_unref);
  g_clear_pointer (&alone->copies, g_free);
  g_clear_pointer (&alone->is_sent, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RankGraph, alone_clear)

/* Adds each reader of `node` whose results only other ranks read (`is_sent`), if the list has all
 * nodes that compute operands of the reader. Then does the same for the readers of each added node.
 * `node` must be in the list. */
static void
add_sent (const RankGraph *alone, List *list, const CleaveNode *node)
{
  g_autoptr (GQueue) queue = g_queue_new ();

  for (; node != NULL; node = g_queue_pop_head (queue))
    for (guint r = 0; r < node->n_results; r++)
      for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
        if (use->node != NULL && alone->is_sent[use->node->id] && !list->is_done[use->node->id] &&
            is_ready (list, use->node))
          {
            add (list, use->node);
            g_queue_push_tail (queue, use->node);
          }
}

/* Returns the nodes (CleaveNode) of the rank's graph in the order that their originals have in
 * `order`. */
static GPtrArray *
restrict_to (const RankGraph *alone, const GPtrArray *order)
{
  g_autofree gboolean *is_done = g_new0 (gboolean, (gsize) alone->graph->n_ids + 1);
  List list = { is_done, g_ptr_array_new () };

  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *own = alone->copies[((const CleaveNode *) order->pdata[i])->id];

      if (own == NULL || takes_no_time (own))
        continue;
      add_all (&list, own);
      add_sent (alone, &list, own);
    }
  for (CleaveNode *node = alone->graph->first; node != NULL; node = node->next)
    add_all (&list, node);
  return list.order;
}

/* Returns the nodes of a rank in the order that needs the least memory on this rank: one of the `n`
 * orders in `orders`, or a combination of these orders. The returned nodes are nodes of the whole
 * graph, not of the rank's graph. */
static GPtrArray *
find_own_order (const CleavePlacement *p, guint rank, const GPtrArray *const *orders, guint n)
{
  g_auto (RankGraph) alone = { 0 };
  g_autoptr (GPtrArray) own = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  g_autoptr (GPtrArray) best = NULL;
  GPtrArray *nodes = g_ptr_array_new ();

  alone_init (&alone, p, rank);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (own, restrict_to (&alone, orders[i]));
  best = cleave_order_best_of (alone.graph, own);
  for (guint i = 0; i < best->len; i++)
    {
      gpointer node = g_hash_table_lookup (alone.origins, best->pdata[i]);

      if (node != NULL)
        g_ptr_array_add (nodes, node);
    }
  return nodes;
}

typedef struct
{
  List list;
  GPtrArray **of_rank; /* indexed by rank: the nodes of the rank, in the order chosen for the
                        * rank */
  guint *next;         /* indexed by rank: index in `of_rank` of the rank's next node */
} Merge;

/* Adds the next nodes of a rank, up to the first node that needs a value from a node that is not
 * added yet. Returns whether the function added a node. */
static gboolean
go_on (Merge *merge, guint rank)
{
  const GPtrArray *own = merge->of_rank[rank];
  guint begin = merge->list.order->len;

  for (; merge->next[rank] < own->len; merge->next[rank]++)
    {
      CleaveNode *node = own->pdata[merge->next[rank]];

      if (merge->list.is_done[node->id])
        continue;
      if (!is_ready (&merge->list, node))
        break;
      add (&merge->list, node);
    }
  return merge->list.order->len > begin;
}

/* Merges the orders of all ranks into `merge->list`. If all ranks wait for each other, adds the
 * nodes for which the first unfinished rank waits. */
static void
merge_all (Merge *merge, guint n_ranks)
{
  for (gboolean moves = TRUE; moves;)
    {
      moves = FALSE;
      for (guint r = 0; r < n_ranks; r++)
        moves |= go_on (merge, r);
      for (guint r = 0; !moves && r < n_ranks; r++)
        if (merge->next[r] < merge->of_rank[r]->len)
          {
            add_all (&merge->list, merge->of_rank[r]->pdata[merge->next[r]]);
            moves = TRUE;
          }
    }
}

GPtrArray *
cleave_ranks_find_own_orders (const CleavePlacement *p, const GPtrArray *const *orders, guint n)
{
  g_autofree GPtrArray **of_rank = g_new0 (GPtrArray *, p->n_ranks);
  g_autofree guint *next = g_new0 (guint, p->n_ranks);
  g_autofree gboolean *is_done = g_new0 (gboolean, (gsize) p->graph->n_ids + 1);
  Merge merge = { { is_done, g_ptr_array_new () }, of_rank, next };

  for (guint i = 0; i < p->all->len; i++)
    {
      CleaveNode *node = p->all->pdata[i];

      if (cleave_node_is_source (node))
        add (&merge.list, node);
    }
  for (guint r = 0; r < p->n_ranks; r++)
    of_rank[r] = find_own_order (p, r, orders, n);
  merge_all (&merge, p->n_ranks);
  for (guint r = 0; r < p->n_ranks; r++)
    g_ptr_array_unref (of_rank[r]);
  return merge.list.order;
}
