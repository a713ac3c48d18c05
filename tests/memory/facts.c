/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The cache of properties of a graph that buffer assignment needs (lib/memory/facts.h). */

#include "../../lib/memory/facts.h"

#include "../../lib/memory/broadcasts.h"
#include "random-graph.h"
#include "run-help.h"

/* Asserts that the cached ranges of a join's parts equal the ranges of the node, and that a second
 * request returns the same cache entry. Returns whether the parts overlap. */
static gboolean
check_join (CleaveGraphFacts *facts, const CleaveNode *join)
{
  const CleaveJoinFacts *known = cleave_graph_facts_of_join (facts, join);
  g_autofree CleaveRange *ranges = cleave_join_ranges (join);
  gint64 n = 0;

  ck_assert_ptr_eq (cleave_graph_facts_of_join (facts, join), known);
  for (guint i = 0; i < join->n_operands; i++)
    {
      ck_assert (cleave_range_equal (&known->ranges[i], &ranges[i]));
      n += cleave_range_n_elements (&ranges[i]);
    }
  ck_assert_int_eq (known->overlap, n != cleave_shape_n_elements (&join->results[0].type.shape));
  return known->overlap;
}

/* Asserts that the cached views of a node agree with the node. Returns how many results of the node
 * are views. */
static guint
check_view (CleaveGraphFacts *facts, const CleaveNode *node)
{
  g_auto (CleaveNodeCall) call = { 0 };
  guint n = 0;

  cleave_node_call_init (&call, node);
  for (guint r = 0; r < node->n_results; r++)
    {
      const CleaveViewFacts *known = cleave_graph_facts_of_view (facts, node, r);
      CleaveViewDim dims[CLEAVE_MAX_RANK];

      call.call.result = r;
      ck_assert_ptr_eq (cleave_graph_facts_of_view (facts, node, r), known);
      ck_assert_int_eq (known->is_view,
                        cleave_call_is_view (&call.call) || cleave_node_is_broadcast (node));
      if (!known->is_view)
        continue;
      n++;
      cleave_location_get_view_dims (&call.call, dims);
      for (guint d = 0; d < call.call.operands[0].shape.rank; d++)
        {
          ck_assert_int_eq (known->dims[d].offset, dims[d].offset);
          ck_assert_int_eq (known->dims[d].stride, dims[d].stride);
          ck_assert_uint_eq (known->dims[d].from, dims[d].from);
        }
    }
  return n;
}

START_TEST (cached_facts_agree_with_the_nodes)
{
  guint n_views = 0, n_overlapping = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (200); seed++)
    {
      g_autoptr (CleaveGraph) graph =
          seed % 3 == 0 ? random_graph (seed, 40) : random_split_graph (seed);
      g_autoptr (CleaveGraphFacts) facts = cleave_graph_facts_new (graph);

      for (CleaveNode *node = graph->first; node != NULL; node = node->next)
        if ((node->op->flags & CLEAVE_OP_JOIN) != 0)
          n_overlapping += check_join (facts, node) ? 1 : 0;
        else if ((node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_BROADCAST)) != 0)
          n_views += check_view (facts, node);
    }
  ck_assert_uint_gt (n_views, CLEAVE_TRIALS (200));
  ck_assert_uint_gt (n_overlapping, 0);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "facts", cached_facts_agree_with_the_nodes, NULL);
}

CLEAVE_TEST_SUITE ("facts", add_tests)
