/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Copies joins to several ranks. A join takes no time: its parts are computed, or received, in its
 * memory. If only one rank made the join, this rank would send the whole join to each rank that
 * reads the join, even the parts that the reading rank has computed. Therefore, each rank that
 * reads the join and has some of its parts makes the join itself. Only parts are sent, in both
 * directions at once. Views of a join are copied, too, unless a view has fewer bytes than the
 * missing parts. */

#include "joins.h"

#include "../../lib/ir/hash.h"

typedef struct
{
  const GPtrArray *order;
  const guint *rank; /* indexed by node id: rank of the node */
  /* indexed by the node id of a join or view: bytes of the operands that are not on the current
   * rank. A view has only operand 0 */
  gint64 *missing;
  /* indexed by the node id of a join or view: an operand is on the current rank */
  gboolean *has_part;
  gboolean *is_made; /* indexed by node id: the current rank makes its own copy of the node */
} Broadcast;

static gboolean
is_join (const CleaveNode *node)
{
  return (node->op->flags & CLEAVE_OP_JOIN) != 0 && !cleave_node_is_fixed (node);
}

static gboolean
is_view (const CleaveNode *node)
{
  return (node->op->flags & CLEAVE_OP_VIEW) != 0 && !cleave_node_is_fixed (node);
}

static gint64
count_bytes (const CleaveNode *node)
{
  gint64 n_bytes = 0;

  for (guint r = 0; r < node->n_results; r++)
    n_bytes += cleave_tensor_type_n_bytes (&node->results[r].type);
  return n_bytes;
}

/* Sets `missing` of a join or view to the bytes of the operands that are not on `rank`. Sets
 * `has_part` to whether an operand is on `rank`. If an operand is itself a join or view that is
 * partly on `rank`, counts only the missing bytes of this operand. If the node is a view, visits
 * only operand 0. */
static void
find_missing (Broadcast *s, const CleaveNode *node, guint rank)
{
  guint n = is_view (node) ? MIN (node->n_operands, 1) : is_join (node) ? node->n_operands : 0;

  s->missing[node->id] = 0;
  s->has_part[node->id] = FALSE;
  for (guint i = 0; i < n; i++)
    {
      const CleaveResult *x = node->operands[i].result;

      if (x == NULL || cleave_node_is_fixed (x->node))
        continue;
      if (s->rank[x->node->id] == rank)
        s->has_part[node->id] = TRUE;
      else if (s->has_part[x->node->id])
        {
          s->has_part[node->id] = TRUE;
          s->missing[node->id] += s->missing[x->node->id];
        }
      else
        s->missing[node->id] += cleave_tensor_type_n_bytes (&x->type);
    }
}

static gboolean
is_read (const Broadcast *s, const CleaveNode *node, guint rank)
{
  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (use->node == NULL ? rank == 0
                            : s->rank[use->node->id] == rank || s->is_made[use->node->id])
        return TRUE;
  return FALSE;
}

/* Returns whether a copy of a join or view on the current rank saves bytes that would be sent. The
 * copy of a view always saves bytes if the rank makes the operand of the view anyway. */
static gboolean
is_worth_it (const Broadcast *s, const CleaveNode *node)
{
  gint64 missing = s->missing[node->id];

  if (!s->has_part[node->id])
    return FALSE;
  if (is_view (node))
    return missing <= count_bytes (node) || s->is_made[node->operands[0].result->node->id];
  return missing < count_bytes (node);
}

static void
find_made (Broadcast *s, guint rank)
{
  for (guint i = s->order->len; i-- > 0;)
    {
      const CleaveNode *node = s->order->pdata[i];

      s->is_made[node->id] =
          s->rank[node->id] != rank && is_worth_it (s, node) && is_read (s, node, rank);
    }
}

/* Finds the joins and views that `rank` makes although they are placed on other ranks, and adds
 * them to `copies`. Whether a copy of a view is worth it depends on whether the rank also makes the
 * view's operand (is_worth_it()). find_made() decides about a view before it decides about the
 * view's operand. Therefore, this function calls find_made() twice: the second call knows the
 * operands. */
static void
find_copies_on_rank (Broadcast *s, guint rank, GHashTable *copies)
{
  for (guint i = 0; i < s->order->len; i++)
    {
      const CleaveNode *node = s->order->pdata[i];

      s->is_made[node->id] = FALSE;
      find_missing (s, node, rank);
    }
  find_made (s, rank);
  find_made (s, rank);
  for (guint i = 0; i < s->order->len; i++)
    {
      const CleaveNode *node = s->order->pdata[i];
      guint64 key = (guint64) node->id << 32 | rank;

      if (s->is_made[node->id])
        g_hash_table_insert (copies, g_memdup2 (&key, sizeof key), NULL);
    }
}

static GHashTable *
find_copies (const CleaveGraph *graph, const GPtrArray *order, guint n_ranks, const guint *rank)
{
  GHashTable *copies = g_hash_table_new_full (cleave_hash_pair, g_int64_equal, g_free, NULL);
  g_autofree gint64 *missing = g_new0 (gint64, graph->n_ids + 1);
  g_autofree gboolean *has_part = g_new0 (gboolean, graph->n_ids + 1);
  g_autofree gboolean *is_made = g_new0 (gboolean, graph->n_ids + 1);
  Broadcast s = { order, rank, missing, has_part, is_made };

  for (guint r = 0; r < n_ranks; r++)
    find_copies_on_rank (&s, r, copies);
  return copies;
}

/* Returns the node of the new graph that makes the result of `node` on a rank. This node is the
 * copy on the rank, if there is a copy. If not, this node is `nodes[id]`, where id is the id of
 * `node`. */
static CleaveNode *
find_node (GHashTable *copies, CleaveNode **nodes, const CleaveNode *node, guint rank)
{
  guint64 key = (guint64) node->id << 32 | rank;
  CleaveNode *copy = g_hash_table_lookup (copies, &key);

  return copy != NULL ? copy : nodes[node->id];
}

static CleaveNode *
add_copy (
    CleaveGraph *graph, GHashTable *copies, CleaveNode **nodes, const CleaveNode *node, guint rank)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);
  g_autofree char *name = g_strdup_printf ("%s on %u", node->name, rank);

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;

      if (x != NULL)
        operands[i] = &find_node (copies, nodes, x->node, rank)->results[x->index];
    }
  return cleave_graph_add_like (graph, node, name, operands);
}

/* Makes `operand`, an operand of a node that runs on `rank`, read the result that replaces `x` on
 * this rank. This result belongs to the node that find_node() returns, and has the same index as
 * `x`. Does nothing if `x` is NULL. */
static void
connect (CleaveOperand *operand,
         const CleaveResult *x,
         GHashTable *copies,
         CleaveNode **nodes,
         guint rank)
{
  if (x != NULL)
    cleave_operand_set (operand, &find_node (copies, nodes, x->node, rank)->results[x->index]);
}

static gboolean
has_uses (const CleaveNode *node)
{
  for (guint r = 0; r < node->n_results; r++)
    if (node->results[r].first_use != NULL)
      return TRUE;
  return FALSE;
}

/* A node of the new graph, and its rank. */
typedef struct
{
  CleaveNode *node;
  guint rank;
} Placed;

/* Returns a list of all nodes of the new graph (Placed). For each node of `order`, the list has the
 * node with the same id in `nodes`, followed by the copies of this node for other ranks. Sets
 * `place[i]` to the index in the list of the entry for node number i of `order`. */
static GArray *
add_copies (CleaveGraph *graph,
            const GPtrArray *order,
            guint n_ranks,
            const guint *rank,
            GHashTable *copies,
            CleaveNode **nodes,
            guint *place)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (Placed));

  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];
      const Placed own = { nodes[node->id], rank[node->id] };

      place[i] = all->len;
      g_array_append_val (all, own);
      for (guint r = 0; r < n_ranks && (is_join (node) || is_view (node)); r++)
        {
          guint64 key = (guint64) node->id << 32 | r;
          Placed copy = { NULL, r };

          if (!g_hash_table_contains (copies, &key))
            continue;
          copy.node = add_copy (graph, copies, nodes, node, r);
          g_hash_table_insert (copies, g_memdup2 (&key, sizeof key), copy.node);
          g_array_append_val (all, copy);
        }
    }
  place[order->len] = all->len;
  return all;
}

static void
connect_all (CleaveGraph *copy,
             const CleaveGraph *graph,
             const guint *rank,
             GHashTable *copies,
             CleaveNode **nodes)
{
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    for (guint o = 0; !cleave_node_is_fixed (node) && o < node->n_operands; o++)
      connect (&nodes[node->id]->operands[o], node->operands[o].result, copies, nodes,
               rank[node->id]);
  for (guint i = 0; i < graph->outputs->len; i++)
    connect (cleave_graph_get_output (copy, i), cleave_graph_get_output (graph, i)->result, copies,
             nodes, 0);
}

/* Removes each node that has copies on other ranks, if no node reads the results of the original
 * node. Sets the entry of the removed node in `rank` to the rank of the first copy. */
static void
remove_unread (
    GArray *all, CleaveGraph *graph, const GPtrArray *order, const guint *place, guint *rank)
{
  for (guint i = order->len; i-- > 0;)
    {
      Placed *own = &g_array_index (all, Placed, place[i]);

      if (place[i + 1] == place[i] + 1 || has_uses (own->node))
        continue;
      rank[((const CleaveNode *) order->pdata[i])->id] = own[1].rank;
      cleave_graph_remove (graph, own->node);
      own->node = NULL;
    }
}

static void
make_copies (CleaveRankJoins *joins,
             const CleaveGraph *graph,
             const GPtrArray *order,
             guint n_ranks,
             guint *rank,
             GHashTable *copies)
{
  g_autofree CleaveNode **nodes = g_new0 (CleaveNode *, graph->n_ids + 1);
  g_autofree guint *place = g_new (guint, (gsize) order->len + 1);
  g_autoptr (GArray) all = NULL;
  CleaveNode *copy;

  joins->graph = cleave_graph_copy (graph);
  copy = joins->graph->first;
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next, copy = copy->next)
    nodes[node->id] = copy;
  all = add_copies (joins->graph, order, n_ranks, rank, copies, nodes, place);
  connect_all (joins->graph, graph, rank, copies, nodes);
  remove_unread (all, joins->graph, order, place, rank);
  joins->order = g_ptr_array_new ();
  joins->rank = g_new0 (guint, (gsize) joins->graph->n_ids + 1);
  for (guint i = 0; i < all->len; i++)
    {
      const Placed *placed = &g_array_index (all, Placed, i);

      if (placed->node == NULL)
        continue;
      g_ptr_array_add (joins->order, placed->node);
      joins->rank[placed->node->id] = placed->rank;
    }
}

void
cleave_rank_joins_make (
    CleaveRankJoins *joins, CleaveGraph *graph, const GPtrArray *order, guint n_ranks, guint *rank)
{
  g_autoptr (GHashTable) copies = find_copies (graph, order, n_ranks, rank);

  if (g_hash_table_size (copies) > 0)
    {
      make_copies (joins, graph, order, n_ranks, rank, copies);
      return;
    }
  joins->graph = cleave_graph_ref (graph);
  joins->order = g_ptr_array_copy ((GPtrArray *) order, NULL, NULL);
  joins->rank = g_memdup2 (rank, ((gsize) graph->n_ids + 1) * sizeof *rank);
}
