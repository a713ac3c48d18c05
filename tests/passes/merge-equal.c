/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "graphs.h"
#include "test.h"

static const CleavePass passes[] = { { "merge-equal", cleave_pass_merge_equal, NULL },
                                     { "remove-dead", cleave_pass_remove_dead, NULL } };

static CleaveResult *
part (CleaveGraph *graph, CleaveResult *x, gint64 begin, gint64 end)
{
  CleaveRange range = CLEAVE_RANGE (begin, end);

  return cleave_graph_add_slice_range (graph, NULL, x, &range, NULL);
}

START_TEST (equal_nodes_are_one)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (4));
  CleaveResult *a = cleave_graph_add_unary (graph, "Relu", "a", part (graph, x, 0, 2), NULL, NULL);
  CleaveResult *b = cleave_graph_add_unary (graph, "Relu", "b", part (graph, x, 0, 2), NULL, NULL);

  cleave_graph_add_output (graph, "y", cleave_graph_add_binary (graph, "Add", "add", a, b, NULL),
                           NULL);
  ck_assert (cleave_passes_run (graph, passes, 2, NULL, NULL));
  cleave_assert_dump (graph, "%0 = Input : float32 4  # x\n"
                             "%1 = Slice %0 0:2 : float32 2  # slice\n"
                             "%2 = Relu %1 : float32 2  # a\n"
                             "%3 = Add %2, %2 : float32 2  # add\n"
                             "output %3  # y\n");
}
END_TEST

START_TEST (different_ranges_stay_apart)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (4));
  gboolean changed = FALSE;

  cleave_graph_add_output (graph, "a", part (graph, x, 0, 2), NULL);
  cleave_graph_add_output (graph, "b", part (graph, x, 2, 4), NULL);
  ck_assert (cleave_passes_run (graph, passes, 2, &changed, NULL));
  ck_assert (!changed);
}
END_TEST

START_TEST (inputs_stay_apart)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  gboolean changed = FALSE;

  cleave_graph_add_output (graph, "a", cleave_test_input (graph, "x", CLEAVE_SHAPE (4)), NULL);
  cleave_graph_add_output (graph, "b", cleave_test_input (graph, "y", CLEAVE_SHAPE (4)), NULL);
  ck_assert (cleave_passes_run (graph, passes, 2, &changed, NULL));
  ck_assert (!changed);
}
END_TEST

START_TEST (equal_constants_are_one)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 3);
  g_autoptr (CleaveTensor) a = cleave_random_tensor (&type, 1, FALSE);
  g_autoptr (CleaveTensor) b = cleave_random_tensor (&type, 1, FALSE);
  g_autoptr (CleaveTensor) c = cleave_random_tensor (&type, 2, FALSE);
  CleaveResult *sum =
      cleave_graph_add_binary (graph, "Add", NULL, cleave_graph_add_constant (graph, "a", a),
                               cleave_graph_add_constant (graph, "b", b), NULL);

  sum = cleave_graph_add_binary (graph, "Add", NULL, sum, cleave_graph_add_constant (graph, "c", c),
                                 NULL);
  cleave_graph_add_output (graph, "y", sum, NULL);
  ck_assert (cleave_passes_run (graph, passes, 2, NULL, NULL));
  ck_assert_uint_eq (cleave_count_nodes (graph, "Constant"), 2);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "merge-equal", equal_nodes_are_one, different_ranges_stay_apart,
                   inputs_stay_apart, equal_constants_are_one, NULL);
}

CLEAVE_TEST_MAIN ("merge-equal", add_tests)
