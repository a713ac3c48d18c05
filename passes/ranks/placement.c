/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes a placement from the rank of each node: copies joins to several ranks (joins.c), and
 * lists the messages. The other functions copy, compare and describe placements. */

#include "placement.h"

#include "../../lib/ir/boxed.h"
#include "joins.h"

CLEAVE_DEFINE_VALUE (CleaveNetwork, network)
CLEAVE_DEFINE_VALUE (CleaveRankEstimate, rank_estimate)

static void
message_clear (gpointer data)
{
  g_free (((CleaveMessage *) data)->value);
}

static CleaveMessage *
message_copy (const CleaveMessage *message)
{
  CleaveMessage *copy = g_memdup2 (message, sizeof *message);

  copy->value = g_strdup (message->value);
  return copy;
}

static void
message_free (CleaveMessage *message)
{
  message_clear (message);
  g_free (message);
}

CLEAVE_DEFINE_BOXED (CleaveMessage, message, message_copy, message_free)

/* Adds the messages of one value: a message to each rank that reads the value and does not compute
 * it, in ascending order of ranks. `needs`, indexed by rank, is working memory; all entries are
 * FALSE before and after the call. */
static void
add_messages (CleavePlacement *p, CleaveResult *value, gboolean *needs)
{
  guint from = p->rank[value->node->id], low = p->n_ranks, high = 0;

  for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
    {
      guint to = use->node == NULL ? 0 : p->rank[use->node->id];

      if (to == from)
        continue;
      needs[to] = TRUE;
      low = MIN (low, to);
      high = MAX (high, to + 1);
    }
  for (guint to = low; to < high; to++)
    {
      CleaveMessage message = { NULL, from, to, cleave_tensor_type_n_bytes (&value->type) };

      if (!needs[to])
        continue;
      needs[to] = FALSE;
      message.value = cleave_result_dup_name (value);
      g_array_append_val (p->messages, message);
      g_ptr_array_add (p->values, value);
      if (!g_hash_table_contains (p->first_of, value))
        g_hash_table_insert (p->first_of, value, GUINT_TO_POINTER (p->messages->len));
    }
}

/* Finds all messages. Constant expressions cause no messages, since every rank that reads them has
 * a copy. */
static void
find_messages (CleavePlacement *p, const GPtrArray *order)
{
  g_autofree gboolean *needs = g_new0 (gboolean, p->n_ranks);

  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];

      if (cleave_node_is_fixed (node))
        continue;
      g_ptr_array_add (p->order, node);
      for (guint r = 0; r < node->n_results; r++)
        add_messages (p, &node->results[r], needs);
    }
}

/* Returns a new placement of the graph `given`. `joins` is the copy of that graph with more joins.
 * Takes ownership of `rank` and of the fields of `joins`. */
static CleavePlacement *
make (CleaveGraph *given, guint n_ranks, guint *rank, const CleaveRankJoins *joins)
{
  CleavePlacement *p = g_atomic_rc_box_new0 (CleavePlacement);

  p->given = cleave_graph_ref (given);
  p->given_rank = rank;
  p->graph = joins->graph;
  p->n_ranks = n_ranks;
  p->rank = joins->rank;
  p->all = joins->order;
  p->order = g_ptr_array_new ();
  p->messages = g_array_new (FALSE, FALSE, sizeof (CleaveMessage));
  g_array_set_clear_func (p->messages, message_clear);
  p->values = g_ptr_array_new ();
  p->first_of = g_hash_table_new (NULL, NULL);
  find_messages (p, p->all);
  return p;
}

CleavePlacement *
cleave_placement_make (CleaveGraph *graph, const GPtrArray *order, guint n_ranks, guint *rank)
{
  CleaveRankJoins joins;

  for (guint i = 0; i < graph->inputs->len; i++)
    rank[((const CleaveResult *) graph->inputs->pdata[i])->node->id] = 0;
  cleave_rank_joins_make (&joins, graph, order, n_ranks, rank);
  return make (graph, n_ranks, rank, &joins);
}

static guint *
dup_ranks (const CleaveGraph *graph, const guint *rank)
{
  return g_memdup2 (rank, ((gsize) graph->n_ids + 1) * sizeof *rank);
}

CleavePlacement *
cleave_placement_copy (const CleavePlacement *p, const GPtrArray *order)
{
  const CleaveRankJoins joins = { cleave_graph_ref (p->graph),
                                  g_ptr_array_copy ((GPtrArray *) order, NULL, NULL),
                                  dup_ranks (p->graph, p->rank) };

  return make (p->given, p->n_ranks, dup_ranks (p->given, p->given_rank), &joins);
}

guint
cleave_placement_find_message (const CleavePlacement *p, const CleaveResult *value, guint to)
{
  guint message = GPOINTER_TO_UINT (g_hash_table_lookup (p->first_of, value)) - 1;

  while (g_array_index (p->messages, CleaveMessage, message).to != to)
    message++;
  return message;
}

gboolean
cleave_placement_is_alike (const CleavePlacement *a, const CleavePlacement *b)
{
  if (a->order->len != b->order->len || a->messages->len != b->messages->len)
    return FALSE;
  for (guint i = 0; i < a->messages->len; i++)
    {
      const CleaveMessage *x = &g_array_index (a->messages, CleaveMessage, i);
      const CleaveMessage *y = &g_array_index (b->messages, CleaveMessage, i);

      if (x->from != y->from || x->to != y->to || x->n_bytes != y->n_bytes)
        return FALSE;
    }
  return TRUE;
}

static void
clear (gpointer data)
{
  CleavePlacement *p = data;

  g_free (p->given_rank);
  cleave_graph_unref (p->given);
  g_free (p->rank);
  g_free (p->begin);
  g_free (p->cost);
  g_ptr_array_unref (p->all);
  g_ptr_array_unref (p->order);
  g_array_unref (p->messages);
  g_ptr_array_unref (p->values);
  g_hash_table_unref (p->first_of);
  cleave_graph_unref (p->graph);
}

/**
 * cleave_placement_ref:
 * @placement: a placement
 *
 * Adds a reference.
 *
 * Returns: (transfer full): @placement
 *
 * Since: 0.2
 */

/**
 * cleave_placement_unref:
 * @placement: (transfer full) (nullable): a placement
 *
 * Drops a reference; the last one frees the placement.
 *
 * Since: 0.2
 */

CLEAVE_DEFINE_COUNTED (CleavePlacement, placement, clear)

/**
 * cleave_placement_get_graph:
 * @placement: a placement
 *
 * Returns: (transfer none): the graph of the placement
 *
 * Since: 0.2
 */
CleaveGraph *
cleave_placement_get_graph (const CleavePlacement *placement)
{
  g_return_val_if_fail (placement != NULL, NULL);
  return placement->given;
}

/**
 * cleave_placement_get_n_ranks:
 * @placement: a placement
 *
 * Returns: the number of ranks, some of which may have no nodes
 *
 * Since: 0.2
 */
guint
cleave_placement_get_n_ranks (const CleavePlacement *placement)
{
  g_return_val_if_fail (placement != NULL, 0);
  return placement->n_ranks;
}

/**
 * cleave_placement_get_rank:
 * @placement: a placement
 * @node: a node of its graph
 *
 * Returns: the rank of the node; -1 for a node that depends on constants alone: each rank that
 * reads its value computes it
 *
 * Since: 0.2
 */
int
cleave_placement_get_rank (const CleavePlacement *placement, const CleaveNode *node)
{
  g_return_val_if_fail (placement != NULL && node != NULL && node->graph == placement->given, -1);
  return cleave_node_is_fixed (node) ? -1 : (int) placement->given_rank[node->id];
}

/**
 * cleave_placement_get_n_messages:
 * @placement: a placement
 *
 * Returns: the number of messages in a run; a value that is sent to two ranks is two messages
 *
 * Since: 0.2
 */
guint
cleave_placement_get_n_messages (const CleavePlacement *placement)
{
  g_return_val_if_fail (placement != NULL, 0);
  return placement->messages->len;
}

/**
 * cleave_placement_get_message:
 * @placement: a placement
 * @index: index of the message
 *
 * Returns: (transfer none): the message
 *
 * Since: 0.2
 */
const CleaveMessage *
cleave_placement_get_message (const CleavePlacement *placement, guint index)
{
  g_return_val_if_fail (placement != NULL && index < placement->messages->len, NULL);
  return &g_array_index (placement->messages, CleaveMessage, index);
}
