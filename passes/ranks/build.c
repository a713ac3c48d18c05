/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The nodes of one rank, with what it sends and receives.
 *
 * All ranks follow one order of the whole graph's nodes: a value is received before the first node
 * that reads it, and sent after the node that makes it; and sends and receives of a rank run in the
 * order in which they stand here.  So they never wait for each other in a circle: of all that wait,
 * the receive that comes first in that order has its send before it, which waits for nothing. */

#include "../../lib/ir/fixed.h"
#include "../../lib/memory/transfer.h"
#include "placement.h"

typedef struct
{
  const CleavePlacement *p;
  guint rank;
  GArray *transport;
  CleaveGraph *graph;
  GHashTable *values; /* its results by the whole graph's */
  GHashTable *fixed;  /* its nodes by the whole graph's, of what constants decide */
  CleaveResult *token;
} Builder;

static CleaveResult *
receive (Builder *b, CleaveResult *value)
{
  g_autofree char *name = cleave_result_dup_name (value);
  guint message = cleave_placement_find_message (b->p, value, b->rank);
  CleaveResult *own =
      cleave_transfer_add_receive (b->graph, name, b->transport, message, &value->type, &b->token);

  g_hash_table_insert (b->values, value, own);
  return own;
}

static CleaveResult *
find_value (Builder *b, CleaveResult *value)
{
  CleaveResult *own;

  if (value == NULL)
    return NULL;
  if (cleave_node_is_fixed (value->node))
    return cleave_fixed_copy (b->graph, value, b->fixed);
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

      cleave_transfer_add_send (b->graph, name, b->transport, m - 1,
                                g_hash_table_lookup (b->values, value), &b->token);
    }
}

static void
add_node (Builder *b, CleaveNode *node)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);
  CleaveNode *copy;

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = find_value (b, node->operands[i].result);
  copy = cleave_graph_add_like (b->graph, node, node->name, operands);
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
                           cleave_graph_add_input (b->graph, name, &value->type, NULL));
    }
}

/* Its name is no input's. */
static void
add_token (Builder *b)
{
  g_autoptr (GString) name = g_string_new ("begin");

  while ((b->token = cleave_graph_add_input (b->graph, name->str, &cleave_transfer_token, NULL)) ==
         NULL)
    g_string_append_c (name, '\'');
}

static void
add_outputs (Builder *b)
{
  for (guint i = 0; b->rank == 0 && i < b->p->graph->outputs->len; i++)
    cleave_graph_add_output (b->graph, cleave_graph_get_output_name (b->p->graph, i),
                             find_value (b, cleave_graph_get_output (b->p->graph, i)->result),
                             NULL);
}

CleaveGraph *
cleave_ranks_build (const CleavePlacement *placement, guint rank, const CleaveTransport *transport)
{
  g_autoptr (GArray) array = g_array_new (FALSE, FALSE, sizeof (CleaveTransport));
  g_autoptr (GHashTable) values = g_hash_table_new (NULL, NULL),
                         fixed = g_hash_table_new (NULL, NULL);
  g_autofree char *name = g_strdup_printf ("%s-%u", placement->graph->name, rank);
  Builder b = { placement, rank, array, cleave_graph_new (name), values, fixed, NULL };

  g_array_append_val (array, *transport);
  add_inputs (&b);
  add_token (&b);
  for (guint i = 0; i < placement->order->len; i++)
    {
      CleaveNode *node = placement->order->pdata[i];

      if (placement->rank[node->id] != rank)
        continue;
      if (!cleave_node_is_input (node))
        add_node (&b, node);
      for (guint r = 0; r < node->n_results; r++)
        send (&b, &node->results[r]);
    }
  add_outputs (&b);
  return b.graph;
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
  g_return_val_if_fail (transport != NULL && transport->reserve != NULL, NULL);
  g_return_val_if_fail (transport->send != NULL && transport->receive != NULL, NULL);
  return cleave_ranks_build (placement, rank, transport);
}
