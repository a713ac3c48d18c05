/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The nodes of one rank, with what it sends and receives.
 *
 * All ranks follow one order of the whole graph's nodes, and in it one order of what is done for
 * messages.  Before a node runs, its messages are expected where they go, and its rank receives
 * what it reads.  After it, its messages are sent, and others, whose time is over, are finished.
 * Each rank does what it has to do of that in this order.
 *
 * Two of those wait for another rank: Receive until the message is sent, Finish until it is
 * expected.  Both come before them in that order.  So ranks never wait for each other in a circle:
 * of all that wait, the first in that order waits for something that comes before it, on a rank
 * that waits for nothing before that. */

#include "../../lib/ir/fixed.h"
#include "../../lib/memory/transfer.h"
#include "flights.h"
#include "own-weights.h"
#include "wire-order.h"

/* What is done for a message at a position in the order. */
typedef struct
{
  guint position, message;
} Event;

typedef struct
{
  const CleavePlacement *p;
  guint rank;
  CleaveTransfers transfers;
  CleaveWireOrders wire;
  GHashTable *values;         /* its results by the whole graph's */
  GHashTable *expected;       /* those that are to be received, likewise */
  GHashTable *fixed;          /* its nodes by the whole graph's, of what constants decide */
  GHashTable *own;            /* constants that are copied; NULL: none, since it never runs */
  GArray *expects, *finishes; /* Event, in order */
  guint n_expects, n_finishes;
  GHashTable *origins; /* the whole graph's nodes by its own, of a rank that is looked at by itself;
                          else NULL */
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
find_value (Builder *b, CleaveResult *value)
{
  CleaveResult *own;

  if (value == NULL)
    return NULL;
  if (cleave_node_is_fixed (value->node))
    return find_fixed (b, value);
  own = g_hash_table_lookup (b->values, value);
  return own != NULL ? own : receive (b, value);
}

static void
send (Builder *b, CleaveResult *value)
{
  guint first = GPOINTER_TO_UINT (g_hash_table_lookup (b->p->first_of, value));

  for (guint m = first; m > 0 && m <= b->p->values->len && b->p->values->pdata[m - 1] == value; m++)
    {
      const CleaveMessage *message = cleave_placement_get_message (b->p, m - 1);
      g_autofree char *name = g_strdup_printf ("%s to %u", message->value, message->to);
      char letters[CLEAVE_MAX_RANK + 1];
      CleaveTransferMessage transfer = describe (b, m - 1, letters);

      cleave_transfers_add_send (&b->transfers, name, &transfer,
                                 g_hash_table_lookup (b->values, value));
    }
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

/* Does what is to be done at a position. */
static void
do_events (Builder *b,
           const GArray *events,
           guint *n_done,
           guint position,
           void (*function) (Builder *b, guint message))
{
  for (; *n_done < events->len; (*n_done)++)
    {
      const Event *event = &g_array_index (events, Event, *n_done);

      if (event->position != position)
        break;
      function (b, event->message);
    }
}

static int
compare_events (gconstpointer a, gconstpointer b)
{
  const Event *e = a, *f = b;

  if (e->position != f->position)
    return e->position < f->position ? -1 : 1;
  return e->message < f->message ? -1 : e->message > f->message;
}

static void
find_events (Builder *b)
{
  g_auto (CleaveFlights) flights = { 0 };

  cleave_flights_init (&flights, b->p);
  for (guint m = 0; m < b->p->messages->len; m++)
    {
      const CleaveMessage *message = cleave_placement_get_message (b->p, m);
      const Event expected = { flights.expected[m], m }, finished = { flights.finished[m], m };

      if (message->to == b->rank)
        g_array_append_val (b->expects, expected);
      if (message->from == b->rank)
        g_array_append_val (b->finishes, finished);
    }
  g_array_sort (b->expects, compare_events);
  g_array_sort (b->finishes, compare_events);
}

static void
add_node (Builder *b, CleaveNode *node)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);
  CleaveNode *copy;

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = find_value (b, node->operands[i].result);
  copy = cleave_graph_add_like (b->transfers.graph, node, node->name, operands);
  if (b->origins != NULL)
    g_hash_table_insert (b->origins, copy, node);
  for (guint r = 0; r < node->n_results; r++)
    {
      g_hash_table_insert (b->values, &node->results[r], &copy->results[r]);
      if (node->results[r].name != NULL)
        cleave_result_set_name (&copy->results[r], node->results[r].name);
    }
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

/* Its name is no input's. */
static void
add_token (Builder *b)
{
  g_autoptr (GString) name = g_string_new ("begin");

  while ((b->transfers.token = cleave_graph_add_input (b->transfers.graph, name->str,
                                                       &cleave_transfer_token, NULL)) == NULL)
    g_string_append_c (name, '\'');
}

static void
add_nodes (Builder *b)
{
  for (guint i = 0; i < b->p->order->len; i++)
    {
      CleaveNode *node = b->p->order->pdata[i];
      gboolean is_here = b->p->rank[node->id] == b->rank;

      do_events (b, b->expects, &b->n_expects, i, expect);
      if (is_here && !cleave_node_is_input (node))
        add_node (b, node);
      for (guint r = 0; is_here && b->origins == NULL && r < node->n_results; r++)
        send (b, &node->results[r]);
      do_events (b, b->finishes, &b->n_finishes, i, finish);
    }
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
  g_autoptr (GArray) expects = g_array_new (FALSE, FALSE, sizeof (Event)),
                     finishes = g_array_new (FALSE, FALSE, sizeof (Event));
  g_autofree char *name = g_strdup_printf ("%s-%u", placement->graph->name, rank);
  Builder b = { .p = placement,
                .rank = rank,
                .transfers = { cleave_graph_new (name), array, NULL },
                .values = values,
                .expected = expected,
                .fixed = fixed,
                .own = own,
                .expects = expects,
                .finishes = finishes,
                .origins = origins };

  g_array_append_val (array, *transport);
  cleave_wire_orders_init (&b.wire, placement->graph);
  if (origins == NULL)
    find_events (&b);
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
 * @transport: what carries the messages; it is copied
 *
 * Makes a graph of the nodes of one rank, which reads what other ranks compute from the transport,
 * and gives it what they read.  Its inputs are, on rank 0, those of the whole graph; and on all
 * ranks one more, the last, a byte that is not looked at.  Its outputs are on rank 0 those of the
 * whole graph; other ranks have none.  Constants are those that the rank reads.
 *
 * Such a graph is to be run, with a number of threads, and not to be written to a file.  All ranks
 * run once for each run of the whole.
 *
 * Returns: (transfer full): the graph
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
