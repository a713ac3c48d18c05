/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Cases 29 to 40 of the Glow suites (glow.h): splits that continue to the producers, and the effect
 * of later passes. */

#include "glow.h"

/* The tests below are cases 29 to 37 of the Glow suites. They split a node and its producers. */

/* The convolution has stride 2, so its pieces read rows [0, 3) and [4, 7) of the Relu. The Relu is
 * also an output of the graph, which needs rows 3 and 7. Glow does not compute these rows. */
START_TEST (case_29_gaps_are_completed)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *r = relu (graph, "relu", cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 8, 1, 1)));
  g_autoptr (CleaveSplitReport) report = NULL;
  Check check;

  cleave_graph_add_output (graph, "y", conv (graph, "conv", r, 1, 1, 2, 0), NULL);
  cleave_graph_add_output (graph, "r", r, NULL);
  check = check_begin (graph);
  report = split_deep (graph, "conv", chunks ("H", 2), 2);
  assert_split (report, "relu", "relu.0 0:1,0:4,0:1,0:1 relu.1 0:1,4:8,0:1,0:1");
  check_end (&check);
}
END_TEST

START_TEST (case_30_a_diamond_is_split_once)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *r = relu (graph, "relu", cleave_test_input (graph, "x", CLEAVE_SHAPE (4, 4)));
  CleaveResult *a = cleave_graph_add_unary (graph, "Tanh", "tanh", r, NULL, NULL);
  CleaveResult *b = cleave_graph_add_unary (graph, "Exp", "exp", r, NULL, NULL);
  g_autoptr (CleaveSplitReport) report = NULL;
  Check check;

  cleave_graph_add_output (graph, "y", cleave_graph_add_binary (graph, "Add", "add", a, b, NULL),
                           NULL);
  check = check_begin (graph);
  report = split_deep (graph, "add", chunks ("0", 2), 3);
  assert_counts (graph, "Relu", 2);
  assert_counts (graph, "Tanh", 2);
  assert_counts (graph, "Exp", 2);
  assert_counts (graph, "Add", 2);
  assert_counts (graph, "Slice", 2);
  assert_counts (graph, "Assemble", 1);
  ck_assert_uint_eq (cleave_split_report_get_totals (report)->n_parallel_subgraphs, 2);
  check_end (&check);
}
END_TEST

START_TEST (case_31_both_operands_read_the_piece)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *r = relu (graph, "relu", cleave_test_input (graph, "x", CLEAVE_SHAPE (4, 4)));
  g_autoptr (CleaveSplitReport) report = NULL;
  Check check;

  cleave_graph_add_output (graph, "y", cleave_graph_add_binary (graph, "Add", "add", r, r, NULL),
                           NULL);
  check = check_begin (graph);
  report = split_deep (graph, "add", chunks ("0", 2), 2);
  assert_counts (graph, "Relu", 2);
  assert_counts (graph, "Add", 2);
  assert_counts (graph, "Slice", 2);
  assert_counts (graph, "Assemble", 1);
  check_end (&check);
}
END_TEST

START_TEST (case_32_a_residual_is_split_once)
{
  for (guint swap = 0; swap < 2; swap++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *r =
          relu (graph, "relu0", cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 8, 8, 2)));
      CleaveResult *y = relu (graph, "relu1", conv (graph, "conv0", r, 2, 3, 1, 1));
      g_autoptr (CleaveSplitReport) report = NULL;
      Check check;

      y = conv (graph, "conv1", y, 2, 3, 1, 1);
      y = cleave_graph_add_binary (graph, "Add", "add", swap ? r : y, swap ? y : r, NULL);
      cleave_graph_add_output (graph, "y", y, NULL);
      check = check_begin (graph);
      report = split_deep (graph, "add", chunks ("1", 2), 5);
      assert_split (report, "relu0", "relu0.0 0:1,0:6,0:8,0:2 relu0.1 0:1,2:8,0:8,0:2");
      assert_counts (graph, "Conv", 4);
      assert_counts (graph, "Relu", 4);
      assert_counts (graph, "Add", 2);
      assert_counts (graph, "Slice", 4);
      assert_counts (graph, "Assemble", 1);
      check_end (&check);
    }
}
END_TEST

/* Makes two consecutive convolutions of an image of 4x4, both with kernel k and pads p. */
static CleaveGraph *
two_convs (gint64 k, gint64 p)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 4, 4, 2));

  cleave_graph_add_output (
      graph, "y", conv (graph, "second", conv (graph, "first", x, 2, k, 1, p), 2, k, 1, p), NULL);
  return graph;
}

START_TEST (case_33_values_that_all_pieces_need_are_shared)
{
  g_autoptr (CleaveGraph) graph = two_convs (1, 0);
  Check check = check_begin (graph);
  g_autoptr (CleaveSplitReport) report = split_deep (graph, "second", chunks ("C", 2), 2);

  assert_split (report, "first", "one-piece: Conv 'second' needs the whole value for one piece");
  assert_counts (graph, "Conv", 3);
  ck_assert_str_eq (read_by (graph, "second.0"), "first");
  ck_assert_str_eq (read_by (graph, "second.1"), "first");
  check_end (&check);
}
END_TEST

START_TEST (case_34_equal_needs_are_one_piece)
{
  g_autoptr (CleaveGraph) graph = two_convs (3, 1);
  Check check = check_begin (graph);
  g_autoptr (CleaveSplitReport) report = split_deep (graph, "second", chunks2 ("H,C", 2, 2), 2);

  assert_split (report, "first", "first.0 0:1,0:3,0:4,0:2 first.1 0:1,1:4,0:4,0:2");
  assert_counts (graph, "Conv", 6);
  check_end (&check);
}
END_TEST

START_TEST (case_35_single_use_counts_users_outside)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *r = relu (graph, "relu", cleave_test_input (graph, "x", CLEAVE_SHAPE (4, 4)));
  CleaveResult *y = cleave_graph_add_binary (graph, "Add", "add", r, r, NULL);
  CleaveRecursion single = { .depth = 2, .single_use = TRUE };
  g_autoptr (CleaveTiling) two = chunks ("0", 2);
  g_autoptr (CleaveSplitReport) report = NULL;

  cleave_graph_add_output (graph, "y", y, NULL);
  cleave_graph_add_output (graph, "again", y, NULL);
  report = cleave_split_node_recursively (find (graph, "add"), two, NULL, &single, NULL);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 2);
}
END_TEST

START_TEST (case_36_nothing_else_is_touched)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (4, 4));
  CleaveRecursion none = { .depth = 0 };
  g_autoptr (CleaveTiling) two = chunks ("0", 2);
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GError) error = NULL;

  relu (graph, "dead", cleave_graph_get_input (graph, 0));
  ck_assert_ptr_null (
      cleave_split_node_recursively (find (graph, "relu"), two, NULL, &none, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "depth must be at least 1, not 0");
  report = split (graph, "relu", chunks ("0", 2), NULL);
  ck_assert_ptr_nonnull (cleave_graph_find_node (graph, "dead"));
}
END_TEST

static char *
print_all (guint32 seed)
{
  g_autoptr (CleaveGraph) graph = cleave_test_figure ();
  g_autoptr (CleaveSplitReport) report = split_deep (graph, "pool", chunks2 ("H,W", 2, 2), 3);
  g_autofree char *print = cleave_graph_print (graph);
  g_autofree char *split_conv = cleave_describe_split (report, "conv");
  g_autofree char *dot = cleave_dot_print (graph, NULL, NULL);

  return g_strconcat (print, split_conv, dot, NULL);
}

START_TEST (case_37_the_result_is_deterministic)
{
  g_autofree char *first = print_all (1);
  g_autofree char *second = print_all (2);

  ck_assert_str_eq (first, second);
}
END_TEST

/* The tests below, cases 38 to 40, run passes after a split. */

START_TEST (case_38_no_pass_merges_pieces)
{
  for (guint d = 0; d < 2; d++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *a = cleave_test_input (graph, "a", CLEAVE_SHAPE (12, 32));
      CleaveResult *b = cleave_test_input (graph, "b", CLEAVE_SHAPE (32, 32));
      g_autoptr (CleaveSplitReport) report = NULL;
      Check check;

      cleave_graph_add_output (graph, "y", cleave_graph_add_matmul (graph, "mm", a, b, NULL), NULL);
      check = check_begin (graph);
      report = split (graph, "mm", chunks (d == 0 ? "0" : "1", 2), NULL);
      ck_assert (cleave_clean_up (graph, NULL, NULL));
      assert_counts (graph, "MatMul", 2);
      check_end (&check);
    }
}
END_TEST

START_TEST (case_39_different_pieces_stay_separate)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (4, 4));
  CleaveResult *a = relu (graph, "a", x), *b = relu (graph, "b", x);
  g_autoptr (CleaveSplitReport) first = NULL, second = NULL;

  cleave_graph_add_output (graph, "ya", a, NULL);
  cleave_graph_add_output (graph, "yb", b, NULL);
  first = split (graph, "a", chunks ("0", 2), NULL);
  second = split (graph, "b", chunks ("0", 2), NULL);
  ck_assert_uint_eq (cleave_split_report_get_n_split (first), 1);
  ck_assert_uint_eq (cleave_split_report_get_n_split (second), 1);
  ck_assert (cleave_clean_up (graph, NULL, NULL));
  assert_counts (graph, "Relu", 2);
  assert_counts (graph, "Assemble", 1);
}
END_TEST

static gint64
constant_bytes (const CleaveGraph *graph)
{
  gint64 n = 0;

  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    if (cleave_node_get_constant (node) != NULL)
      n += cleave_tensor_type_n_bytes (cleave_tensor_get_type (cleave_node_get_constant (node)));
  return n;
}

START_TEST (case_40_parameters_do_not_grow)
{
  for (guint by_channel = 0; by_channel < 2; by_channel++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 8, 8, 2));
      g_autoptr (CleaveSplitReport) report = NULL;
      g_autoptr (GBytes) whole = NULL, pieces = NULL;
      gint64 before;
      Check check;

      cleave_graph_add_output (graph, "y", conv (graph, "conv", x, 1024, 3, 1, 1), NULL);
      check = check_begin (graph);
      before = constant_bytes (graph);
      whole = cleave_onnx_serialize (graph, NULL);
      report = split (graph, "conv", by_channel ? chunks ("C", 2) : chunks2 ("H,W", 4, 4), NULL);
      ck_assert_int_eq (constant_bytes (graph), before);
      ck_assert (cleave_clean_up (graph, NULL, NULL));
      ck_assert_int_eq (constant_bytes (graph), before);
      pieces = cleave_onnx_serialize (graph, NULL);
      ck_assert_uint_lt (g_bytes_get_size (pieces), g_bytes_get_size (whole) + (gsize) before / 2);
      check_end (&check);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "recursion", case_29_gaps_are_completed, case_30_a_diamond_is_split_once,
                   case_31_both_operands_read_the_piece, case_32_a_residual_is_split_once,
                   case_33_values_that_all_pieces_need_are_shared,
                   case_34_equal_needs_are_one_piece, case_35_single_use_counts_users_outside,
                   case_36_nothing_else_is_touched, case_37_the_result_is_deterministic, NULL);
  cleave_add_case (suite, "afterwards", case_38_no_pass_merges_pieces,
                   case_39_different_pieces_stay_separate, case_40_parameters_do_not_grow, NULL);
}

CLEAVE_TEST_SUITE ("glow-recursion", add_tests)
