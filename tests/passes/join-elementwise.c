/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "graphs.h"
#include "test.h"

static CleaveNode *
split (CleaveGraph *graph, CleaveResult *x)
{
  const gint64 sizes[] = { 1, 2, 3 };

  return cleave_graph_add_split (graph, "s", x, 0, sizes, 3, NULL);
}

static CleaveResult *
unary (CleaveGraph *graph, const char *op, CleaveResult *x)
{
  return cleave_graph_add_unary (graph, op, NULL, x, NULL, NULL);
}

static CleaveResult *
leaky (CleaveGraph *graph, CleaveResult *x, double alpha)
{
  CleaveElementwiseAttrs attrs = { .alpha = alpha };

  return cleave_graph_add_unary (graph, "LeakyRelu", NULL, x, &attrs, NULL);
}

static void
finish (CleaveGraph *graph, CleaveResult *const *parts, guint n)
{
  cleave_graph_add_output (graph, "y", cleave_graph_add_concat (graph, "c", parts, n, 0, NULL),
                           NULL);
}

static gboolean
run (CleaveGraph *graph)
{
  static const CleavePass passes[] = {
    { "join-elementwise", cleave_pass_join_elementwise, NULL },
    { "remove-dead", cleave_pass_remove_dead, NULL },
  };
  gboolean changed = FALSE;

  ck_assert (cleave_passes_run_to_end (graph, passes, 2, &changed, NULL));
  return changed;
}

static void
assert_stays (CleaveGraph *graph)
{
  g_autofree char *before = cleave_graph_print (graph);

  ck_assert (!run (graph));
  cleave_assert_dump (graph, before);
}

#define X(...) cleave_test_input (graph, "x", CLEAVE_SHAPE (__VA_ARGS__))
#define PART(i) cleave_node_get_result (s, i)

START_TEST (work_on_all_parts_is_done_once)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *s = split (graph, X (6));
  CleaveResult *parts[3];

  for (guint i = 0; i < 3; i++)
    parts[i] = unary (graph, "Neg", leaky (graph, PART (i), 0.5));
  finish (graph, parts, 3);
  ck_assert (run (graph));
  cleave_assert_dump (graph, "%0 = Input : float32 6  # x\n"
                             "%1 = LeakyRelu %0 alpha=0.5 : float32 6  # leakyrelu_3\n"
                             "%2 = Neg %1 : float32 6  # c\n"
                             "output %2  # y\n");
}
END_TEST

START_TEST (other_work_on_one_part_stays)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *s = split (graph, X (6));
  CleaveResult *parts[] = { unary (graph, "Neg", PART (0)), unary (graph, "Abs", PART (1)),
                            unary (graph, "Neg", PART (2)) };

  finish (graph, parts, 3);
  assert_stays (graph);
}
END_TEST

START_TEST (other_attributes_stay)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *s = split (graph, X (6));
  CleaveResult *parts[3];

  for (guint i = 0; i < 3; i++)
    parts[i] = leaky (graph, PART (i), i == 1 ? 0.25 : 0.5);
  finish (graph, parts, 3);
  assert_stays (graph);
}
END_TEST

START_TEST (another_order_stays)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *s = split (graph, X (6));
  CleaveResult *parts[] = { unary (graph, "Neg", PART (1)), unary (graph, "Neg", PART (0)),
                            unary (graph, "Neg", PART (2)) };

  finish (graph, parts, 3);
  assert_stays (graph);
}
END_TEST

START_TEST (some_of_the_parts_stay)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *s = split (graph, X (6));
  CleaveResult *parts[] = { unary (graph, "Neg", PART (0)), unary (graph, "Neg", PART (1)) };

  finish (graph, parts, 2);
  assert_stays (graph);
}
END_TEST

START_TEST (another_user_of_the_work_stays)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *s = split (graph, X (6));
  CleaveResult *parts[3];

  for (guint i = 0; i < 3; i++)
    parts[i] = unary (graph, "Neg", PART (i));
  cleave_graph_add_output (graph, "z", parts[1], NULL);
  finish (graph, parts, 3);
  assert_stays (graph);
}
END_TEST

/* Softmax is not element by element along its axis. */
START_TEST (work_along_the_axis_stays)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *s = split (graph, X (6, 2));
  CleaveAxisAttrs attrs = { .axis = 0 };
  CleaveResult *parts[3];

  for (guint i = 0; i < 3; i++)
    {
      CleaveResult *part = PART (i);
      CleaveNode *node =
          cleave_graph_add (graph, cleave_op_lookup ("Softmax"), NULL, &part, 1, 1, &attrs, NULL);

      parts[i] = cleave_node_get_result (node, 0);
    }
  finish (graph, parts, 3);
  assert_stays (graph);
}
END_TEST

START_TEST (a_split_of_ours_is_not_undone)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  const gint64 count = 3;
  g_autoptr (CleaveTiling) option = cleave_tiling_by_num_chunks ("0", &count, 1);
  g_autoptr (CleaveSplitReport) report = NULL;
  CleaveResult *y = unary (graph, "Relu", X (6));
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
  cleave_add_case (suite, "join", work_on_all_parts_is_done_once, other_work_on_one_part_stays,
                   other_attributes_stay, another_order_stays, some_of_the_parts_stay,
                   another_user_of_the_work_stays, work_along_the_axis_stays,
                   a_split_of_ours_is_not_undone, NULL);
}

CLEAVE_TEST_SUITE ("join-elementwise", add_tests)
