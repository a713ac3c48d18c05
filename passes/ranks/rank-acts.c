/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lists the acts of each rank.
 *
 * All ranks follow one common order of the nodes of the whole graph, and of the acts between them.
 * Before a node, ranks post buffers for messages that they read soon (EXPECT), and the rank of the
 * node receives the values that the node reads (RECEIVE). After the node, its rank sends the node's
 * results (SEND), and ranks wait for the ends of messages that they sent earlier (FINISH).
 *
 * Two acts wait for another rank: RECEIVE waits for SEND, and FINISH waits for EXPECT. In the
 * common order, SEND and EXPECT come before the acts that wait for them. Consider the first of all
 * waiting acts in that order. This act waits for an earlier act, on a rank that is not waiting yet.
 * Therefore, ranks never wait for each other in a circle. */

#include "rank-acts.h"

#include "flights.h"

typedef struct
{
  const CleavePlacement *p;
  CleaveActs *acts;
  GArray **expects, **finishes; /* indexed by position in the order: indices of the messages that
                                   are expected before this node, or finished after it */
  gboolean *is_received;        /* indexed by message: the RECEIVE of the message is listed */
  guint *rank_index; /* indexed by rank: number of the rank's nodes that are listed so far */
} Listing;

static void
add (Listing *l, guint rank, CleaveActKind kind, guint message)
{
  const CleaveAct act = { kind, message, l->rank_index[rank] };

  g_array_append_val (l->acts->of_rank[rank], act);
}

static void
receive (Listing *l, const CleaveResult *value, guint rank)
{
  guint message;

  if (value == NULL || cleave_node_is_fixed (value->node) || l->p->rank[value->node->id] == rank)
    return;
  message = cleave_placement_find_message (l->p, value, rank);
  if (!l->is_received[message])
    add (l, rank, CLEAVE_ACT_RECEIVE, message);
  l->is_received[message] = TRUE;
}

static void
send (Listing *l, const CleaveResult *value, guint rank)
{
  guint first = GPOINTER_TO_UINT (g_hash_table_lookup (l->p->first_of, value));

  for (guint m = first; m > 0 && m <= l->p->values->len && l->p->values->pdata[m - 1] == value; m++)
    add (l, rank, CLEAVE_ACT_SEND, m - 1);
}

static void
note (GArray **lists, guint position, guint message)
{
  if (lists[position] == NULL)
    lists[position] = g_array_new (FALSE, FALSE, sizeof (guint));
  g_array_append_val (lists[position], message);
}

static void
add_all (Listing *l, const GArray *messages, CleaveActKind kind)
{
  for (guint i = 0; messages != NULL && i < messages->len; i++)
    {
      guint message = g_array_index (messages, guint, i);
      const CleaveMessage *m = cleave_placement_get_message (l->p, message);

      add (l, kind == CLEAVE_ACT_EXPECT ? m->to : m->from, kind, message);
    }
}

static void
add_node (Listing *l, guint position)
{
  const CleaveNode *node = l->p->order->pdata[position];
  guint rank = l->p->rank[node->id];

  add_all (l, l->expects[position], CLEAVE_ACT_EXPECT);
  for (guint i = 0; i < node->n_operands; i++)
    receive (l, node->operands[i].result, rank);
  l->rank_index[rank]++;
  for (guint r = 0; r < node->n_results; r++)
    send (l, &node->results[r], rank);
  add_all (l, l->finishes[position], CLEAVE_ACT_FINISH);
}

static void
find_flights (Listing *l)
{
  g_auto (CleaveFlights) flights = { 0 };

  cleave_flights_init (&flights, l->p);
  for (guint m = 0; m < l->p->messages->len; m++)
    {
      note (l->expects, flights.expected[m], m);
      note (l->finishes, flights.finished[m], m);
    }
}

static void
free_lists (GArray **lists, guint n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&lists[i], g_array_unref);
}

void
cleave_acts_init (CleaveActs *acts, const CleavePlacement *p)
{
  const GPtrArray *order = p->order;
  g_autofree GArray **expects = g_new0 (GArray *, (gsize) order->len + 1);
  g_autofree GArray **finishes = g_new0 (GArray *, (gsize) order->len + 1);
  g_autofree gboolean *is_received = g_new0 (gboolean, (gsize) p->messages->len + 1);
  g_autofree guint *rank_index = g_new0 (guint, p->n_ranks);
  Listing l = { p, acts, expects, finishes, is_received, rank_index };

  acts->n_ranks = p->n_ranks;
  acts->of_rank = g_new (GArray *, p->n_ranks);
  for (guint r = 0; r < p->n_ranks; r++)
    acts->of_rank[r] = g_array_new (FALSE, FALSE, sizeof (CleaveAct));
  find_flights (&l);
  for (guint i = 0; i < order->len; i++)
    add_node (&l, i);
  for (guint i = 0; i < p->graph->outputs->len; i++)
    receive (&l, cleave_graph_get_output (p->graph, i)->result, 0);
  free_lists (expects, order->len);
  free_lists (finishes, order->len);
}

void
cleave_acts_clear (CleaveActs *acts)
{
  for (guint r = 0; acts->of_rank != NULL && r < acts->n_ranks; r++)
    g_array_unref (acts->of_rank[r]);
  g_clear_pointer (&acts->of_rank, g_free);
}
