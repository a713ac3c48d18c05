/* SPDX-License-Identifier: GPL-2.0-or-later */

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

START_TEST (what_reads_constants_only_is_one)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (3));
  CleaveResult *y = cleave_graph_add_binary (graph, "Add", "sum", w, w, NULL);
  const float *data,
      *from = cleave_tensor_get_data (cleave_node_get_constant (cleave_result_get_node (w)));
  float doubled[3];

  for (guint i = 0; i < 3; i++)
    doubled[i] = from[i] + from[i];
  y = cleave_graph_add_unary (graph, "Neg", "y", y, NULL, NULL);
  cleave_graph_add_output (graph, "y", y, NULL);
  fold (graph);
  cleave_assert_dump (graph, "%0 = Constant : float32 3  # y\n"
                             "output %0  # y\n");
  data = cleave_tensor_get_data (cleave_node_get_constant (cleave_graph_find_node (graph, "y")));
  for (guint i = 0; i < 3; i++)
    ck_assert (data[i] == -doubled[i]);
}
END_TEST

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

START_TEST (what_would_be_large_is_left)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (1));
  CleaveInts shape = CLEAVE_INTS (1 << 20);

  cleave_graph_add_output (graph, "y",
                           cleave_test_add (graph, "Expand", "expand", (CleaveResult *[]){ w }, 1,
                                            &(CleaveReshapeAttrs){ .shape = shape }, NULL),
                           NULL);
  fold (graph);
  ck_assert_uint_eq (cleave_count_nodes (graph, "Expand"), 1);
}
END_TEST

START_TEST (what_reads_an_input_is_left)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (3));
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (3));
  gboolean changed = FALSE;

  cleave_graph_add_output (graph, "y", cleave_graph_add_binary (graph, "Add", NULL, w, x, NULL),
                           NULL);
  ck_assert (cleave_pass_fold_constants (graph, NULL, &changed, NULL));
  ck_assert (!changed);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "fold-constants", what_reads_constants_only_is_one,
                   results_of_a_split_share_bytes, what_would_be_large_is_left,
                   what_reads_an_input_is_left, NULL);
}

CLEAVE_TEST_SUITE ("fold-constants", add_tests)
