/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Properties of the pass `join-elementwise` that tests/passes/text cannot express. */

#include "graphs.h"
#include "test.h"

static void
assert_stays (CleaveGraph *graph)
{
  g_autoptr (CleavePipeline) pipeline =
      cleave_pipeline_parse ("repeat(join-elementwise,remove-dead)", NULL);
  g_autofree char *before = cleave_graph_print (graph);
  gboolean changed = FALSE;

  ck_assert (cleave_pipeline_run (pipeline, graph, NULL, NULL, &changed, NULL));
  ck_assert (!changed);
  cleave_assert_dump (graph, before);
}

START_TEST (a_split_is_not_undone)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  const gint64 count = 3;
  g_autoptr (CleaveTiling) option = cleave_tiling_by_num_chunks ("0", &count, 1);
  g_autoptr (CleaveSplitReport) report = NULL;
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (6));
  CleaveResult *y = cleave_graph_add_unary (graph, "Relu", NULL, x, NULL, NULL);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (CleaveGraph) again = NULL;

  cleave_graph_add_output (graph, "y", y, NULL);
  report = cleave_split_node (cleave_result_get_node (y), option, NULL, NULL);
  ck_assert_ptr_nonnull (report);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
  assert_stays (graph);
  bytes = cleave_onnx_serialize (graph, NULL);
  again = cleave_onnx_parse (bytes, NULL, NULL, NULL);
  ck_assert_ptr_nonnull (again);
  assert_stays (again);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "join-elementwise", a_split_is_not_undone, NULL);
}

CLEAVE_TEST_SUITE ("join-elementwise", add_tests)
