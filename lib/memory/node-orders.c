/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds candidate orders by walks over the graph: depth first from the outputs up, or from the
 * inputs down (node-orders.h). */

#include "node-orders.h"

#include "../ir/memory.h"
#include "../ir/node-queries.h"
#include "uses.h"

/* A node on the stack of the walk. The walk first enters the node (`leave` is FALSE), and leaves
 * the node when all its operands are in the order. */
typedef struct
{
  CleaveNode *node;
  gboolean leave;
} Visit;

typedef struct
{
  GArray *stack; /* Visit: nodes that the walk has entered, and operands that the walk must still
                  * enter */
  GPtrArray *order;
  gboolean *seen;       /* indexed by node id: whether the walk has entered the node */
  const gint64 *weight; /* indexed by node id: weight; the walk visits the heaviest operand first;
                         * NULL: operand 0 first */
} Walk;

static void
push (Walk *walk, CleaveNode *node, gboolean leave)
{
  Visit visit = { node, leave };

  g_array_append_val (walk->stack, visit);
}

static int
compare_weights (gconstpointer a, gconstpointer b, gpointer data)
{
  const gint64 *weight = ((const Walk *) data)->weight;
  gint64 x = weight[((const Visit *) a)->node->id], y = weight[((const Visit *) b)->node->id];

  return (x > y) - (x < y);
}

/* Pushes the operands of a node on the stack. The walk visits the topmost operand of the stack
 * first. */
static void
push_operands (Walk *walk, CleaveNode *node)
{
  guint begin = walk->stack->len;

  for (guint i = node->n_operands; i-- > 0;)
    {
      CleaveResult *operand = node->operands[i].result;

      if (operand != NULL && !walk->seen[operand->node->id])
        push (walk, operand->node, FALSE);
    }
  if (walk->weight != NULL && walk->stack->len > begin + 1)
    g_qsort_with_data (&g_array_index (walk->stack, Visit, begin), (int) (walk->stack->len - begin),
                       sizeof (Visit), compare_weights, walk); /* the sort is stable: operands of
                                                                * equal weight keep their order */
}

static void
visit_from (Walk *walk, CleaveNode *root)
{
  push (walk, root, FALSE);
  while (walk->stack->len > 0)
    {
      Visit visit = g_array_index (walk->stack, Visit, walk->stack->len - 1);

      g_array_set_size (walk->stack, walk->stack->len - 1);
      if (visit.leave)
        g_ptr_array_add (walk->order, visit.node);
      else if (!walk->seen[visit.node->id])
        {
          walk->seen[visit.node->id] = TRUE;
          push (walk, visit.node, TRUE);
          push_operands (walk, visit.node);
        }
    }
}

GPtrArray *
cleave_order_depth_first (const CleaveGraph *graph, const gint64 *weight)
{
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (Visit));
  g_autofree gboolean *seen = CLEAVE_NEW0 (gboolean, graph->n_ids + 1);
  Walk walk = { stack, cleave_memory_list (graph->n_nodes), seen, weight };

  for (guint i = 0; i < graph->outputs->len; i++)
    visit_from (&walk, cleave_operand_get_result (cleave_graph_get_output (graph, i))->node);
  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    if (!cleave_node_is_used (node))
      visit_from (&walk, node);
  return walk.order;
}

static gint64
n_result_bytes (const CleaveNode *node)
{
  gint64 n = 0;

  for (guint i = 0; i < node->n_results; i++)
    n += cleave_tensor_type_n_bytes (&node->results[i].type);
  return n;
}

typedef struct
{
  gint64 need, size;
} Subtree;

static int
compare_subtrees (gconstpointer a, gconstpointer b)
{
  gint64 x = ((const Subtree *) a)->need - ((const Subtree *) a)->size;
  gint64 y = ((const Subtree *) b)->need - ((const Subtree *) b)->size;

  return (x < y) - (x > y);
}

/* Returns the bytes needed to compute a node's value if its operands are computed one after the
 * other. An operand comes earlier if computing the operand needs more memory in addition to the
 * operand itself (Sethi and Ullman's rule, optimal for trees). */
static gint64
estimate (const CleaveNode *node, const Subtree *subtrees, GArray *operands)
{
  gint64 need = 0, held = 0;

  if (node->n_operands == 1 && node->operands[0].result != NULL) /* most nodes have one operand */
    {
      const Subtree *operand = &subtrees[node->operands[0].result->node->id];

      return MAX (operand->need, operand->size + subtrees[node->id].size);
    }
  g_array_set_size (operands, 0);
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      g_array_append_val (operands, subtrees[node->operands[i].result->node->id]);
  g_array_sort (operands, compare_subtrees);
  for (guint i = 0; i < operands->len; i++)
    {
      const Subtree *operand = &g_array_index (operands, Subtree, i);

      need = MAX (need, held + operand->need);
      held += operand->size;
    }
  return MAX (need, held + subtrees[node->id].size);
}

static gint64 *
weigh (const CleaveGraph *graph, const GPtrArray *order)
{
  g_autofree Subtree *subtrees = CLEAVE_NEW (Subtree, graph->n_ids + 1);
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (Subtree));
  gint64 *weight = CLEAVE_NEW (gint64, graph->n_ids + 1);

  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];
      Subtree *subtree = &subtrees[node->id];

      subtree->size = cleave_node_is_fixed (node) ? 0 : n_result_bytes (node);
      subtree->need = estimate (node, subtrees, operands);
      weight[node->id] = subtree->need - subtree->size;
    }
  return weight;
}

/* Returns whether some node has an operand with a larger weight than an earlier operand. The weight
 * is the result of weigh(): the bytes that computing a node needs in addition to its result. */
static gboolean
is_heavier_later (const CleaveGraph *graph, const gint64 *weight)
{
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      gint64 least = G_MAXINT64;

      for (guint i = 0; i < node->n_operands; i++)
        if (node->operands[i].result != NULL)
          {
            guint id = node->operands[i].result->node->id;

            if (weight[id] > least)
              return TRUE;
            least = weight[id];
          }
    }
  return FALSE;
}

GPtrArray *
cleave_order_heaviest_first (const CleaveGraph *graph, const GPtrArray *order)
{
  g_autofree gint64 *weight = weigh (graph, order);

  return is_heavier_later (graph, weight) ? cleave_order_depth_first (graph, weight) : NULL;
}

/* The functions below compute the eager order (cleave_order_eager()): a walk that begins at the
 * inputs and runs each node as soon as its operands exist. */

/* If a value has at most this many readers, its readers run as soon as possible. If the value has
 * more readers, the readers keep their places in the given order. The limit separates values whose
 * readers are tiles, which are few, from values whose readers are strips, which are many. With 4 in
 * place of 8, a ShuffleNet and a detector take 7 % more memory. */
#define MAX_READERS_AT_ONCE 8

typedef struct
{
  GPtrArray *order;   /* CleaveNode: nodes that have run */
  gboolean *seen;     /* indexed by node id: whether the node is in `order` */
  CleaveNode **base;  /* indexed by node id. For a view: the node whose memory the view reads,
                       * directly or through other views. For any other node: the node itself */
  guint *n_missing;   /* indexed by node id: number of operands that are not computed yet; a view
                       * counts as computed when its node in `base` has run */
  GPtrArray *ready;   /* CleaveNode: nodes whose operands exist; the last entry runs next */
  GPtrArray *pending; /* CleaveNode: views whose readers have not been visited yet */
  GPtrArray *uses;    /* CleaveOperand: uses of the current result */
} Eager;

static void
eager_clear (Eager *eager)
{
  g_free (eager->seen);
  g_free (eager->base);
  g_free (eager->n_missing);
  g_ptr_array_unref (eager->ready);
  g_ptr_array_unref (eager->pending);
  g_ptr_array_unref (eager->uses);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Eager, eager_clear)

/* Returns whether a node is a view. The walk runs a view right before the first node that reads it,
 * since a view can become a copy only if all other readers of its operand have run. */
static gboolean
is_view (const CleaveNode *node)
{
  return (node->op->flags & CLEAVE_OP_VIEW) != 0 && node->n_operands == 1 &&
         node->operands[0].result != NULL && !cleave_node_is_source (node);
}

static void
count_missing (Eager *eager, const GPtrArray *order)
{
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];

      eager->base[node->id] =
          is_view (node) ? eager->base[node->operands[0].result->node->id] : node;
      for (guint o = 0; o < node->n_operands && !is_view (node); o++)
        if (node->operands[o].result != NULL &&
            !cleave_node_is_source (eager->base[node->operands[o].result->node->id]))
          eager->n_missing[node->id]++;
    }
}

static void
add (Eager *eager, CleaveNode *node)
{
  if (eager->seen[node->id])
    return;
  eager->seen[node->id] = TRUE;
  g_ptr_array_add (eager->order, node);
}

/* Runs the views through which a node reads, then the node. */
static void
run (Eager *eager, CleaveNode *node)
{
  for (guint o = 0; o < node->n_operands; o++)
    {
      CleaveNode *from = cleave_node_get_producer (node, o);

      g_ptr_array_set_size (eager->pending, 0);
      for (; from != NULL && is_view (from) && !eager->seen[from->id];
           from = from->operands[0].result->node)
        g_ptr_array_add (eager->pending, from);
      for (guint i = eager->pending->len; i-- > 0;)
        add (eager, eager->pending->pdata[i]);
    }
  add (eager, node);
}

static void
note_read (Eager *eager, CleaveNode *reader, gboolean is_whole)
{
  if (is_view (reader))
    g_ptr_array_add (eager->pending, reader);
  else if (--eager->n_missing[reader->id] == 0 && !is_whole)
    g_ptr_array_add (eager->ready, reader);
}

static guint
count_uses (const CleaveNode *node)
{
  guint n = 0;

  for (guint r = 0; r < node->n_results; r++)
    n += node->results[r].n_uses;
  return n;
}

/* Decrements n_missing of all nodes that read a node, directly or through views. Adds the readers
 * whose operands all exist to `ready`. */
static void
note_operand_ready (Eager *eager, CleaveNode *node)
{
  guint begin = eager->ready->len;
  gboolean is_whole = count_uses (node) > MAX_READERS_AT_ONCE;

  g_ptr_array_set_size (eager->pending, 0);
  g_ptr_array_add (eager->pending, node);
  while (eager->pending->len > 0)
    {
      const CleaveNode *of = g_ptr_array_steal_index (eager->pending, eager->pending->len - 1);

      for (guint r = 0; r < of->n_results; r++)
        {
          cleave_uses_list (eager->uses, &of->results[r]);
          for (guint i = 0; i < eager->uses->len; i++)
            note_read (eager, ((const CleaveOperand *) eager->uses->pdata[i])->node, is_whole);
        }
    }
  for (guint i = begin, k = eager->ready->len; i + 1 < k; i++) /* reverse the new entries: the walk
                                                                * takes nodes from the end of
                                                                * `ready`, and the first reader must
                                                                * run first */
    {
      gpointer swapped = eager->ready->pdata[i];

      eager->ready->pdata[i] = eager->ready->pdata[--k];
      eager->ready->pdata[k] = swapped;
    }
}

GPtrArray *
cleave_order_eager (const CleaveGraph *graph, const GPtrArray *order)
{
  guint n = graph->n_ids + 1;
  g_auto (Eager) eager = { .order = cleave_memory_list (order->len),
                           .seen = CLEAVE_NEW0 (gboolean, n),
                           .base = CLEAVE_NEW0 (CleaveNode *, n),
                           .n_missing = CLEAVE_NEW0 (guint, n),
                           .ready = g_ptr_array_new (),
                           .pending = g_ptr_array_new (),
                           .uses = g_ptr_array_new () };

  count_missing (&eager, order);
  for (guint i = 0; i < order->len; i++)
    if (cleave_node_is_source (order->pdata[i]))
      add (&eager, order->pdata[i]);
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];

      if (!is_view (node) && !eager.seen[node->id])
        g_ptr_array_add (eager.ready, node);
      while (eager.ready->len > 0)
        {
          node = g_ptr_array_steal_index (eager.ready, eager.ready->len - 1);
          run (&eager, node);
          note_operand_ready (&eager, node);
        }
    }
  for (guint i = 0; i < order->len; i++)
    add (&eager, order->pdata[i]); /* append the views that no node reads */
  return eager.order;
}
