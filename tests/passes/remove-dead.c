/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Properties of the pass `remove-dead` that tests/passes/text cannot express. */

#include "graphs.h"
#include "test.h"

static CleaveResult *
relu (CleaveGraph *graph, CleaveResult *x)
{
  return cleave_graph_add_unary (graph, "Relu", NULL, x, NULL, NULL);
}

START_TEST (a_long_chain_costs_no_stack)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = cleave_test_input (graph, "x", CLEAVE_SHAPE (2));

  for (guint i = 0; i < 100000; i++)
    y = relu (graph, y);
  ck_assert (cleave_pass_remove_dead (graph, NULL, NULL, NULL));
  ck_assert_uint_eq (cleave_graph_get_n_nodes (graph), 1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "remove-dead", a_long_chain_costs_no_stack, NULL);
}

CLEAVE_TEST_SUITE ("remove-dead", add_tests)
