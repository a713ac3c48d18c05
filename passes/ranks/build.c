/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Builds the graph of one rank. The graph has the nodes of the rank, and nodes that send and
 * receive messages. */

#include "../../lib/ir/extract.h"
#include "../../lib/ir/fixed.h"
#include "../../lib/memory/transfer.h"
#include "own-weights.h"
#include "rank-acts.h"
#include "wire-order.h"

typedef struct
{
  const CleavePlacement *p;
  guint rank;
  CleaveTransfers transfers;
  CleaveWireOrders wire;
  GHashTable *values;   /* maps results of the whole graph to results of the rank's graph */
  GHashTable *expected; /* maps results of the whole graph to their receive buffers */
  GHashTable *fixed;    /* maps constant nodes of the whole graph to their copies */
  GHashTable *own; /* set of the constants to copy (own-weights.h); NULL: copy none, since the graph
                      never runs */
  GHashTable *origins; /* maps nodes of the rank's graph to nodes of the whole graph, for
                          cleave_ranks_build_alone(); NULL for other callers */
} Builder;

static CleaveTransferMessage
describe (const Builder *b, guint message, char *letters)
{
  const CleaveResult *value = b->p->values->pdata[message];

  return (CleaveTransferMessage){ message,
                                  cleave_wire_orders_get_letters (&b->wire, value, letters) };
}

static void
expect (Builder *b, guint message)
{
  char letters[CLEAVE_MAX_RANK + 1];
  CleaveTransferMessage transfer = describe (b, message, letters);
  CleaveResult *value = b->p->values->pdata[message];
  g_autofree char *name =
      g_strdup_printf ("%s expected", cleave_placement_get_message (b->p, message)->value);

  g_hash_table_insert (b->expected, value,
                       cleave_transfers_add_expect (&b->transfers, name, &transfer, &value->type));
}

static CleaveResult *
receive (Builder *b, CleaveResult *value)
{
  guint message = cleave_placement_find_message (b->p, value, b->rank);
  const char *name = cleave_placement_get_message (b->p, message)->value;
  char letters[CLEAVE_MAX_RANK + 1];
  CleaveTransferMessage transfer = describe (b, message, letters);
  CleaveResult *own =
      b->origins != NULL
          ? cleave_transfers_add_arrival (&b->transfers, name, &transfer, &value->type)
          : cleave_transfers_add_receive (&b->transfers, name, &transfer,
                                          g_hash_table_lookup (b->expected, value));

  g_hash_table_insert (b->values, value, own);
  return own;
}

static CleaveResult *
find_fixed (Builder *b, const CleaveResult *value)
{
  CleaveNode *own = NULL;

  if (b->own != NULL && !g_hash_table_contains (b->fixed, value->node) &&
      g_hash_table_contains (b->own, value->node))
    own = cleave_own_weights_add (b->transfers.graph, value->node);
  if (own != NULL)
    g_hash_table_insert (b->fixed, value->node, own);
  return cleave_fixed_copy (b->transfers.graph, value, b->fixed);
}

static CleaveResult *
find_value (gpointer data, CleaveResult *value)
{
  Builder *b = data;
  CleaveResult *own;

  if (cleave_node_is_fixed (value->node))
    return find_fixed (b, value);
  own = g_hash_table_lookup (b->values, value);
  return own != NULL ? own : receive (b, value);
}

static void
send (Builder *b, guint number)
{
  const CleaveMessage *message = cleave_placement_get_message (b->p, number);
  g_autofree char *name = g_strdup_printf ("%s to %u", message->value, message->to);
  char letters[CLEAVE_MAX_RANK + 1];
  CleaveTransferMessage transfer = describe (b, number, letters);

  cleave_transfers_add_send (&b->transfers, name, &transfer,
                             g_hash_table_lookup (b->values, b->p->values->pdata[number]));
}

static void
finish (Builder *b, guint number)
{
  const CleaveMessage *message = cleave_placement_get_message (b->p, number);
  g_autofree char *name = g_strdup_printf ("%s sent to %u", message->value, message->to);
  char letters[CLEAVE_MAX_RANK + 1];
  CleaveTransferMessage transfer = describe (b, number, letters);

  cleave_transfers_add_finish (&b->transfers, name, &transfer,
                               g_hash_table_lookup (b->values, b->p->values->pdata[number]));
}

static void
do_act (Builder *b, const CleaveAct *act)
{
  switch (act->kind)
    {
    case CLEAVE_ACT_EXPECT:
      expect (b, act->message);
      break;
    case CLEAVE_ACT_RECEIVE:
      receive (b, b->p->values->pdata[act->message]);
      break;
    case CLEAVE_ACT_SEND:
      send (b, act->message);
      break;
    case CLEAVE_ACT_FINISH:
      finish (b, act->message);
      break;
    }
}

/* Adds a node to the graph of the rank for each act that runs before node number `rank_index` of
 * the rank. The first `*n_done` acts already have nodes; increases `*n_done`. */
static void
do_acts (Builder *b, const GArray *acts, guint *n_done, guint rank_index)
{
  for (; *n_done < acts->len && g_array_index (acts, CleaveAct, *n_done).rank_index <= rank_index;
       (*n_done)++)
    do_act (b, &g_array_index (acts, CleaveAct, *n_done));
}

static void
add_node (Builder *b, CleaveNode *node)
{
  CleaveNode *copy = cleave_extract_node (b->transfers.graph, node, find_value, b);

  if (b->origins != NULL)
    g_hash_table_insert (b->origins, copy, node);
  for (guint r = 0; r < node->n_results; r++)
    g_hash_table_insert (b->values, &node->results[r], &copy->results[r]);
}

static void
add_inputs (Builder *b)
{
  const GPtrArray *inputs = b->p->graph->inputs;

  for (guint i = 0; b->rank == 0 && i < inputs->len; i++)
    {
      CleaveResult *value = inputs->pdata[i];
      g_autofree char *name = cleave_result_dup_name (value);

      g_hash_table_insert (b->values, value,
                           cleave_graph_add_input (b->transfers.graph, name, &value->type, NULL));
    }
}

/* Adds an input for the first token, with a name that no other input has. A token is a value
 * without meaning. Each node that sends or receives computes a token, and reads the token of the
 * previous such node. Therefore, these nodes run in order. */
static void
add_token (Builder *b)
{
  g_autoptr (GString) name = g_string_new ("begin");

  while ((b->transfers.token = cleave_graph_add_input (b->transfers.graph, name->str,
                                                       &cleave_transfer_token, NULL)) == NULL)
    g_string_append_c (name, '\'');
}

/* Adds the nodes of the rank to the graph of the rank, and between these nodes a node for each act.
 * If `origins` is not NULL, adds no nodes for acts. When a node reads a value from another rank for
 * the first time, find_value() then adds a node for the arrival of the value. */
static void
add_nodes (Builder *b)
{
  const GPtrArray *order = b->p->order;
  g_auto (CleaveActs) acts = { 0 };
  const GArray *own = NULL;
  guint n_done = 0, rank_index = 0;

  if (b->origins == NULL)
    {
      cleave_acts_init (&acts, b->p);
      own = acts.of_rank[b->rank];
    }
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];

      if (b->p->rank[node->id] != b->rank)
        continue;
      if (own != NULL)
        do_acts (b, own, &n_done, rank_index++);
      if (!cleave_node_is_input (node))
        add_node (b, node);
    }
  if (own != NULL)
    do_acts (b, own, &n_done, rank_index);
}

static void
add_outputs (Builder *b)
{
  for (guint i = 0; b->rank == 0 && i < b->p->graph->outputs->len; i++)
    cleave_graph_add_output (b->transfers.graph, cleave_graph_get_output_name (b->p->graph, i),
                             find_value (b, cleave_graph_get_output (b->p->graph, i)->result),
                             NULL);
}

static CleaveGraph *
build (const CleavePlacement *placement,
       guint rank,
       const CleaveTransport *transport,
       GHashTable *origins)
{
  g_autoptr (GArray) array = g_array_new (FALSE, FALSE, sizeof (CleaveTransport));
  g_autoptr (GHashTable) values = g_hash_table_new (NULL, NULL),
                         expected = g_hash_table_new (NULL, NULL),
                         fixed = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) own =
      transport->send == NULL ? NULL : cleave_own_weights_find (placement, rank);
  g_autofree char *name = g_strdup_printf ("%s-%u", placement->graph->name, rank);
  Builder b = { .p = placement,
                .rank = rank,
                .transfers = { cleave_graph_new (name), array, NULL },
                .values = values,
                .expected = expected,
                .fixed = fixed,
                .own = own,
                .origins = origins };

  g_array_append_val (array, *transport);
  cleave_wire_orders_init (&b.wire, placement->graph);
  add_inputs (&b);
  add_token (&b);
  add_nodes (&b);
  add_outputs (&b);
  cleave_wire_orders_clear (&b.wire);
  return b.transfers.graph;
}

CleaveGraph *
cleave_ranks_build (const CleavePlacement *placement, guint rank, const CleaveTransport *transport)
{
  return build (placement, rank, transport, NULL);
}

CleaveGraph *
cleave_ranks_build_alone (const CleavePlacement *placement, guint rank, GHashTable *origins)
{
  const CleaveTransport none = { 0 };

  return build (placement, rank, &none, origins);
}

/**
 * cleave_placement_build:
 * @placement: a placement
 * @rank: one of its ranks
 * @transport: the functions that carry the messages; the struct is copied
 *
 * Builds the graph of one rank: its nodes, and nodes that receive values from other ranks and send
 * values to them through the transport. The graph of rank 0 has the inputs and outputs of the whole
 * graph. The graph of every rank has one more input, the last input: a byte whose value is ignored.
 * Graphs of other ranks have no other inputs, and no outputs. The graph contains the constants that
 * the rank reads.
 *
 * The graph can be run, with any number of threads, but not written to a file. For each run of the
 * whole graph, every rank runs once.
 *
 * Returns: (transfer full): the graph
 *
 * Since: 0.2
 */
CleaveGraph *
cleave_placement_build (const CleavePlacement *placement,
                        guint rank,
                        const CleaveTransport *transport)
{
  g_return_val_if_fail (placement != NULL && rank < placement->n_ranks, NULL);
  g_return_val_if_fail (transport != NULL, NULL);
  g_return_val_if_fail (transport->expect != NULL && transport->receive != NULL, NULL);
  g_return_val_if_fail (transport->send != NULL && transport->finish != NULL, NULL);
  return cleave_ranks_build (placement, rank, transport);
}
