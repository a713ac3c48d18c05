/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes and caches the properties of one order of nodes (order-facts.h). */

#include "order-facts.h"

#include "../ir/memory.h"
#include "materialized.h"

guint *
cleave_order_positions (const CleaveGraph *graph, const GPtrArray *order)
{
  guint *position = CLEAVE_NEW (guint, graph->n_ids + 1);

  for (guint i = 0; i < order->len; i++)
    position[((const CleaveNode *) order->pdata[i])->id] = i;
  return position;
}

static void
number (CleaveOrderFacts *facts)
{
  facts->first_value = CLEAVE_NEW (guint, facts->n_nodes + 1);
  facts->joins = g_ptr_array_new ();
  for (guint i = 0; i < facts->n_nodes; i++)
    {
      facts->first_value[i] = facts->n_values;
      facts->n_values += facts->nodes[i]->n_results;
      if ((facts->nodes[i]->op->flags & CLEAVE_OP_JOIN) != 0)
        g_ptr_array_add (facts->joins, facts->nodes[i]);
    }
  facts->first_value[facts->n_nodes] = facts->n_values;
}

static void
copy_orders (CleaveOrderFacts *facts)
{
  facts->orders = CLEAVE_NEW (CleaveMemoryOrder, facts->n_values);
  for (guint i = 0; i < facts->n_nodes; i++)
    {
      const CleaveMemoryOrder *orders =
          cleave_graph_facts_of_orders (facts->graph, facts->nodes[i]);

      for (guint r = 0; r < facts->nodes[i]->n_results; r++)
        facts->orders[facts->first_value[i] + r] = orders[r];
    }
}

CleaveOrderFacts *
cleave_order_facts_new (const CleaveGraph *graph,
                        CleaveGraphFacts *of_graph,
                        const GPtrArray *order)
{
  CleaveOrderFacts *facts = g_atomic_rc_box_new0 (CleaveOrderFacts);

  facts->graph = of_graph;
  facts->nodes = (CleaveNode *const *) order->pdata;
  facts->n_nodes = order->len;
  facts->position = cleave_order_positions (graph, order);
  facts->done = cleave_storage_find_done (graph, order, facts->position);
  facts->strides = cleave_pool_new ();
  number (facts);
  copy_orders (facts);
  return facts;
}

static void
order_facts_clear (gpointer data)
{
  CleaveOrderFacts *facts = data;

  g_free (facts->position);
  g_free (facts->done);
  g_free (facts->first_value);
  g_ptr_array_unref (facts->joins);
  g_free (facts->orders);
  cleave_pool_free (facts->strides);
  for (guint i = 0; i < G_N_ELEMENTS (facts->first); i++)
    g_free (facts->first[i]);
}

void
cleave_order_facts_unref (CleaveOrderFacts *facts)
{
  g_atomic_rc_box_release_full (facts, order_facts_clear);
}

void
cleave_order_facts_finish (CleaveOrderFacts *facts)
{
  facts->graph = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (facts->first); i++)
    g_clear_pointer (&facts->first[i], g_free);
  cleave_order_facts_unref (facts);
}
