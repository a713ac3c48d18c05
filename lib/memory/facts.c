/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "facts.h"

#include "../ir/memory.h"
#include "broadcasts.h"

struct _CleaveGraphFacts
{
  CleavePool *pool;
  CleaveJoinFacts **joins; /* by id; NULL: not looked at yet */
  CleaveViewFacts **views; /* likewise, of each result */
};

CleaveGraphFacts *
cleave_graph_facts_new (const CleaveGraph *graph)
{
  CleaveGraphFacts *facts = g_new0 (CleaveGraphFacts, 1);

  facts->pool = cleave_pool_new ();
  facts->joins = CLEAVE_NEW0 (CleaveJoinFacts *, graph->n_ids + 1);
  facts->views = CLEAVE_NEW0 (CleaveViewFacts *, graph->n_ids + 1);
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
