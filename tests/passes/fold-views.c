/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Properties of the pass `fold-views` that tests/passes/text cannot express. */

#include "graphs.h"
#include "test.h"

START_TEST (parts_of_a_constant_share_its_bytes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 6);
  g_autoptr (CleaveTensor) tensor = cleave_random_tensor (&type, 1, FALSE);
  const gint64 sizes[] = { 2, 4 };
  CleaveResult *w = cleave_graph_add_constant (graph, "w", tensor);
  CleaveNode *s = cleave_graph_add_split (graph, "s", w, 0, sizes, 2, NULL);
  CleaveResult *y =
      cleave_graph_add_binary (graph, "Add", "y", cleave_test_input (graph, "x", CLEAVE_SHAPE (4)),
                               cleave_node_get_result (s, 1), NULL);
  const float *bytes = cleave_tensor_get_data (tensor);
  CleaveResult *part;

  cleave_graph_add_output (graph, "y", y, NULL);
  ck_assert (cleave_clean_up (graph, NULL, NULL));
  part = cleave_operand_get_result (cleave_node_get_operand (cleave_result_get_node (y), 1));
  ck_assert_ptr_eq (
      cleave_tensor_get_data (cleave_node_get_constant (cleave_result_get_node (part))), bytes + 2);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "fold-views", parts_of_a_constant_share_its_bytes, NULL);
}

CLEAVE_TEST_SUITE ("fold-views", add_tests)
