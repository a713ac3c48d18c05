/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests properties of a split graph that tests/passes/text cannot express. */

#include "graphs.h"
#include "test.h"

static void
split (CleaveGraph *graph, const char *node, const char *dims, gint64 n)
{
  g_autoptr (CleaveTiling) by = cleave_tiling_by_num_chunks (dims, &n, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report =
      cleave_split_node (cleave_graph_find_node (graph, node), by, NULL, &error);

  cleave_assert_no_error (error);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
}

START_TEST (a_value_keeps_its_name)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 2, 8, 8));
  CleaveResult *y = cleave_graph_add_unary (graph, "Relu", "relu", x, NULL, NULL);
  g_autofree char *name = NULL;

  cleave_result_set_name (y, "value");
  cleave_graph_add_output (graph, "y", y, NULL);
  split (graph, "relu", "2", 2);
  y = cleave_node_get_result (cleave_graph_find_node (graph, "relu"), 0);
  ck_assert_str_eq (cleave_op_get_name (cleave_node_get_op (cleave_result_get_node (y))),
                    "Assemble");
  name = cleave_result_dup_name (y);
  ck_assert_str_eq (name, "value");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "apply", a_value_keeps_its_name, NULL);
}

CLEAVE_TEST_SUITE ("split-apply", add_tests)
