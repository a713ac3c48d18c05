/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Properties of the pass `fold-constants` that tests/passes/text cannot express. */

#include "graphs.h"
#include "test.h"

static void
fold (CleaveGraph *graph)
{
  static const CleavePass passes[] = { { "fold-constants", cleave_pass_fold_constants, NULL },
                                       { "remove-dead", cleave_pass_remove_dead, NULL } };
  g_autoptr (GError) error = NULL;

  ck_assert (cleave_passes_run (graph, passes, 2, NULL, &error));
}

START_TEST (results_of_a_split_share_bytes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (6));
  g_autoptr (CleaveTensor) whole =
      cleave_tensor_ref (cleave_node_get_constant (cleave_result_get_node (w)));
  const gint64 sizes[] = { 2, 4 };
  CleaveNode *split = cleave_graph_add_split (graph, "split", w, 0, sizes, 2, NULL);
  CleaveRange range;

  for (guint i = 0; i < 2; i++)
    cleave_graph_add_output (graph, i == 0 ? "a" : "b", cleave_node_get_result (split, i), NULL);
  fold (graph);
  ck_assert_uint_eq (cleave_count_nodes (graph, "Split"), 0);
  for (guint i = 0; i < 2; i++)
    {
      CleaveResult *value = cleave_operand_get_result (cleave_graph_get_output (graph, i));
      CleaveTensor *tensor = cleave_node_get_constant (cleave_result_get_node (value));

      ck_assert_ptr_eq (cleave_tensor_get_base (tensor, &range), whole);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "fold-constants", results_of_a_split_share_bytes, NULL);
}

CLEAVE_TEST_SUITE ("fold-constants", add_tests)
