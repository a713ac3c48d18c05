/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the order in which the elements of each value lie in memory. If an order moves one
 * dimension to the end, writes the order as letters: C for this dimension, and X for each other
 * dimension. */

#include "wire-order.h"

void
cleave_wire_orders_init (CleaveWireOrders *wire, const CleaveGraph *graph)
{
  g_autofree CleaveNode **nodes = g_new (CleaveNode *, graph->n_nodes + 1);
  CleaveNode *node = graph->first;

  wire->position = g_new0 (guint, graph->n_ids + 1);
  wire->first_value = g_new0 (guint, (gsize) graph->n_nodes + 1);
  for (guint i = 0; i < graph->n_nodes; i++, node = node->next)
    {
      nodes[i] = node;
      wire->position[node->id] = i;
      wire->first_value[i + 1] = wire->first_value[i] + node->n_results;
    }
  wire->orders = cleave_memory_orders (nodes, graph->n_nodes, wire->position, wire->first_value);
}

void
cleave_wire_orders_clear (CleaveWireOrders *wire)
{
  g_clear_pointer (&wire->position, g_free);
  g_clear_pointer (&wire->first_value, g_free);
  g_clear_pointer (&wire->orders, g_free);
}

const char *
cleave_wire_orders_get_letters (const CleaveWireOrders *wire,
                                const CleaveResult *value,
                                char letters[CLEAVE_MAX_RANK + 1])
{
  guint rank = value->type.shape.rank, c;
  CleaveMemoryOrder order =
      wire->orders[wire->first_value[wire->position[value->node->id]] + value->index];

  if (order == 0 || rank < 2 || (c = cleave_memory_order_at (order, rank - 1)) == rank - 1)
    return NULL;
  for (guint place = 0; place + 1 < rank; place++)
    if (cleave_memory_order_at (order, place) != place + (place >= c))
      return NULL;
  for (guint d = 0; d < rank; d++)
    letters[d] = d == c ? 'C' : 'X';
  letters[rank] = '\0';
  return letters;
}
