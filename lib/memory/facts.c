/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Caches the ranges of joins, the strides of views and the preferred memory orders of one graph
 * (facts.h). */

#include "facts.h"

#include "../ir/memory.h"
#include "broadcasts.h"

struct _CleaveGraphFacts
{
  CleavePool *pool;
  CleaveJoinFacts **joins; /* indexed by node id: facts of a join; NULL: not computed yet */
  CleaveViewFacts **views; /* indexed by node id, then by result: facts of a view; NULL: not
                            * computed yet */
  guint *position;         /* indexed by node id: position in the graph's list of nodes */
  guint *first_value;      /* indexed by position: index of the node's first result */
  CleaveMemoryOrder *orders;
};

static void
find_orders (CleaveGraphFacts *facts, const CleaveGraph *graph)
{
  g_autofree CleaveNode **nodes = CLEAVE_NEW (CleaveNode *, graph->n_nodes + 1);
  guint n = 0, n_values = 0;

  facts->position = CLEAVE_NEW (guint, graph->n_ids + 1);
  facts->first_value = CLEAVE_NEW (guint, graph->n_nodes + 1);
  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      facts->position[node->id] = n;
      facts->first_value[n] = n_values;
      n_values += node->n_results;
      nodes[n++] = node;
    }
  facts->first_value[n] = n_values;
  facts->orders = cleave_memory_orders (nodes, n, facts->position, facts->first_value);
}

CleaveGraphFacts *
cleave_graph_facts_new (const CleaveGraph *graph)
{
  CleaveGraphFacts *facts = g_new0 (CleaveGraphFacts, 1);

  facts->pool = cleave_pool_new ();
  facts->joins = CLEAVE_NEW0 (CleaveJoinFacts *, graph->n_ids + 1);
  facts->views = CLEAVE_NEW0 (CleaveViewFacts *, graph->n_ids + 1);
  find_orders (facts, graph);
  return facts;
}

void
cleave_graph_facts_free (CleaveGraphFacts *facts)
{
  if (facts == NULL)
    return;
  cleave_pool_free (facts->pool);
  g_free (facts->joins);
  g_free (facts->views);
  g_free (facts->position);
  g_free (facts->first_value);
  g_free (facts->orders);
  g_free (facts);
}

const CleaveJoinFacts *
cleave_graph_facts_of_join (CleaveGraphFacts *facts, const CleaveNode *join)
{
  CleaveJoinFacts **of_join = &facts->joins[join->id];
  gint64 n_elements = 0;

  if (*of_join != NULL)
    return *of_join;
  *of_join = cleave_pool_alloc (facts->pool,
                                sizeof **of_join + join->n_operands * sizeof *(*of_join)->ranges);
  cleave_join_get_ranges (join, (*of_join)->ranges);
  for (guint i = 0; i < join->n_operands; i++)
    n_elements += cleave_range_n_elements (&(*of_join)->ranges[i]);
  (*of_join)->overlap = n_elements != cleave_shape_n_elements (&join->results[0].type.shape);
  return *of_join;
}

const CleaveMemoryOrder *
cleave_graph_facts_of_orders (const CleaveGraphFacts *facts, const CleaveNode *node)
{
  return facts->orders + facts->first_value[facts->position[node->id]];
}

static const CleaveViewDim *
make_dims (CleaveGraphFacts *facts, const CleaveCall *call)
{
  const guint rank = call->operands[0].shape.rank;
  CleaveViewDim *dims = cleave_pool_alloc (facts->pool, (rank + 1) * sizeof *dims);

  cleave_location_get_view_dims (call, dims);
  return dims;
}

static CleaveViewFacts *
make_views (CleaveGraphFacts *facts, const CleaveNode *node)
{
  CleaveViewFacts *views = cleave_pool_alloc (facts->pool, node->n_results * sizeof *views);
  g_auto (CleaveNodeCall) call = { 0 };

  cleave_node_call_init (&call, node);
  for (guint r = 0; r < node->n_results; r++)
    {
      call.call.result = r;
      views[r].is_view = cleave_call_is_view (&call.call) || cleave_node_is_broadcast (node);
      if (views[r].is_view)
        views[r].dims = make_dims (facts, &call.call);
    }
  return views;
}

const CleaveViewFacts *
cleave_graph_facts_of_view (CleaveGraphFacts *facts, const CleaveNode *view, guint result)
{
  if (facts->views[view->id] == NULL)
    facts->views[view->id] = make_views (facts, view);
  return &facts->views[view->id][result];
}
