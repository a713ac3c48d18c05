/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Cases 1 to 10 of the Glow suites (glow.h): valid and invalid requests, and their messages. */

#include "glow.h"

#include <math.h>

static CleaveTiling *
by_sizes (const char *dims, gint64 a, gint64 b, gint64 c)
{
  const gint64 sizes[] = { a, b, c };
  const gint64 *list = sizes;
  const guint n = 3;

  return cleave_tiling_by_chunk_sizes (dims, &list, &n, 1);
}

static CleaveTiling *
by_weights (const double *weights, guint n)
{
  return cleave_tiling_by_chunk_weights ("1", &weights, &n, 1);
}

START_TEST (case_1_wrong_numbers_are_errors)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (1, 10, 4, 2));
  const double weights[] = { 1, 0, 1, -2, 1, NAN, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
  const gint64 zero = 0, eleven = 11;
  g_autoptr (CleaveSplitReport) report = NULL;

  assert_wrong (graph, "relu", chunks ("1", 0),
                "Relu 'relu': dimension 1: number of chunks must be between 1 and 10, not 0");
  assert_wrong (graph, "relu", chunks ("1", 11),
                "Relu 'relu': dimension 1: number of chunks must be between 1 and 10, not 11");
  assert_wrong (graph, "relu", chunks ("1", -1),
                "Relu 'relu': dimension 1: number of chunks must be between 1 and 10, not -1");
  assert_wrong (graph, "relu", cleave_tiling_by_chunk_size ("1", &zero, 1),
                "Relu 'relu': dimension 1: chunk size must be between 1 and 10, not 0");
  assert_wrong (graph, "relu", cleave_tiling_by_chunk_size ("1", &eleven, 1),
                "Relu 'relu': dimension 1: chunk size must be between 1 and 10, not 11");
  assert_wrong (graph, "relu", by_sizes ("1", 3, 4, 4),
                "Relu 'relu': dimension 1: chunk sizes add up to 11, not to 10");
  assert_wrong (graph, "relu", by_sizes ("1", 5, 0, 5),
                "Relu 'relu': dimension 1: chunk size 1 must be at least 1, not 0");
  assert_wrong (graph, "relu", by_weights (weights, 2),
                "Relu 'relu': dimension 1: chunk weight 1 must be positive and finite, not 0");
  assert_wrong (graph, "relu", by_weights (weights + 2, 2),
                "Relu 'relu': dimension 1: chunk weight 1 must be positive and finite, not -2");
  assert_wrong (graph, "relu", by_weights (weights + 4, 2),
                "Relu 'relu': dimension 1: chunk weight 1 must be positive and finite, not nan");
  assert_wrong (graph, "relu", by_weights (weights + 6, 11),
                "Relu 'relu': dimension 1: number of weights must be between 1 and 10, not 11");
  assert_wrong (graph, "relu", chunks2 ("1,1", 2, 2),
                "Relu 'relu': dimension 1 is listed twice in '1,1'");
  assert_wrong (graph, "relu", chunks ("4", 2),
                "Relu 'relu': dimension must be between -4 and 3, not '4'");
  assert_wrong (graph, "relu", chunks ("-5", 2),
                "Relu 'relu': dimension must be between -4 and 3, not '-5'");
  assert_wrong (graph, "relu", chunks ("1,2", 2),
                "Relu 'relu': '1,2' lists 2 dimensions, but numbers of chunks are given for 1");
  report = split (graph, "relu", by_sizes ("1", 3, -1, 4), NULL);
  assert_split (report, "relu",
                "relu.0 0:1,0:3,0:4,0:2 relu.1 0:1,3:6,0:4,0:2 relu.2 0:1,6:10,0:4,0:2");
}
END_TEST

START_TEST (cases_2_and_3_gaps_are_errors)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (5));
  const CleaveRange ranges[] = { CLEAVE_RANGE (0, 2), CLEAVE_RANGE (3, 5) };

  assert_wrong (graph, "relu", cleave_tiling_by_slice_ranges (ranges, 2),
                "Relu 'relu': the ranges must cover 0:5, but none covers 2:3");
  assert_wrong (graph, "relu", cleave_tiling_by_slice_ranges (NULL, 0),
                "Relu 'relu': no range is given; together they must cover 0:5");
}
END_TEST

START_TEST (case_4_empty_ranges_are_errors)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  const CleaveRange empty[] = { CLEAVE_RANGE (0, 1, 0, 6, 0, 6, 0, 2),
                                CLEAVE_RANGE (0, 1, 3, 3, 0, 6, 0, 2) };
  const CleaveRange back[] = { CLEAVE_RANGE (0, 1, 4, 2, 0, 6, 0, 2) };

  conv (graph, "conv", cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 6, 6, 2)), 2, 3, 1, 1);
  assert_wrong (graph, "conv", cleave_tiling_by_slice_ranges (empty, 2),
                "Conv 'conv': range 1, 0:1,3:3,0:6,0:2, is empty");
  assert_wrong (graph, "conv", cleave_tiling_by_slice_ranges (back, 1),
                "Conv 'conv': range 0, 0:1,4:2,0:6,0:2, is empty");
}
END_TEST

START_TEST (case_5_ranges_may_overlap)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (5));
  const CleaveRange ranges[] = { CLEAVE_RANGE (0, 4), CLEAVE_RANGE (2, 5) };
  Check check = check_begin (graph);
  g_autoptr (CleaveSplitReport) report =
      split (graph, "relu", cleave_tiling_by_slice_ranges (ranges, 2), NULL);

  assert_split (report, "relu", "relu.0 0:4 relu.1 2:5");
  check_end (&check);
}
END_TEST

START_TEST (case_6_nodes_that_cannot_take_the_option_are_refused)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleavePoolAttrs pool = { .layout = CLEAVE_LAYOUT_NHWC,
                           .kernel_shape = CLEAVE_INTS (4, 4),
                           .strides = CLEAVE_INTS (4, 4) };
  CleaveResult *y =
      conv (graph, "conv", cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 8, 8, 8)), 8, 3, 1, 1);
  g_autoptr (CleaveTiling) four = chunks ("2", 4);
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GError) error = NULL;
  Check check;

  y = cleave_graph_add_pool (graph, "MaxPool", "pool", y, &pool, NULL);
  y = cleave_graph_add_flatten (graph, "flatten", y, 1, NULL);
  y = cleave_graph_add_gemm (
      graph, "gemm", y, cleave_test_weights (graph, "b", CLEAVE_SHAPE (32, 5)), NULL, NULL, NULL);
  y = cleave_graph_add_softmax (graph, "softmax", y, 1, NULL);
  cleave_graph_add_output (graph, "y", y, NULL);
  check = check_begin (graph);
  report = cleave_split_all_nodes (graph, four, NULL, &error);
  cleave_assert_no_error (error);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
  ck_assert_uint_eq (cleave_split_report_get_split (report, 0)->n_pieces, 4);
  assert_split (report, "pool", "refused: W: number of chunks must be between 1 and 2, not 4");
  assert_split (report, "flatten", "refused: dimension must be between -2 and 1, not '2'");
  assert_split (report, "gemm", "refused: dimension must be between -2 and 1, not '2'");
  assert_split (report, "softmax", "refused: dimension must be between -2 and 1, not '2'");
  check_end (&check);
}
END_TEST

START_TEST (case_6_an_option_that_no_node_can_take_is_an_error)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (4, 4));
  g_autoptr (CleaveTiling) five = chunks ("0", 5);
  g_autoptr (GError) error = NULL;
  g_autofree char *before = cleave_graph_print (graph);

  ck_assert_ptr_null (cleave_split_all_nodes (graph, five, NULL, &error));
  cleave_assert_error (
      &error, CLEAVE_ERROR_OPTION,
      "no node can take the option; Relu 'relu': dimension 0: number of chunks must "
      "be between 1 and 4, not 5");
  cleave_assert_dump (graph, before);
}
END_TEST

START_TEST (case_7_one_wrong_request_changes_nothing)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (4, 4));
  g_autoptr (CleaveTiling) good = chunks ("0", 2);
  g_autoptr (CleaveTiling) bad = chunks ("0", 5);
  g_autoptr (GError) error = NULL;
  g_autofree char *before = NULL;
  CleaveSplitRequest requests[2];

  relu (graph, "second", cleave_graph_get_input (graph, 0));
  before = cleave_graph_print (graph);
  requests[0] = (CleaveSplitRequest){ find (graph, "relu"), good, NULL };
  requests[1] = (CleaveSplitRequest){ find (graph, "second"), bad, NULL };
  ck_assert_ptr_null (cleave_split_nodes (graph, requests, 2, &error));
  cleave_assert_error (
      &error, CLEAVE_ERROR_OPTION,
      "Relu 'second': dimension 0: number of chunks must be between 1 and 4, not 5");
  cleave_assert_dump (graph, before);
}
END_TEST

static gboolean
never (const CleavePlan *plan, gpointer data, GString *why)
{
  g_string_append (why, "never");
  return FALSE;
}

START_TEST (case_8_each_way_of_staying_whole_has_a_name)
{
  g_autoptr (CleaveGraph) graph = cleave_test_figure ();
  CleaveConstraint none = { .max_memory = -1 };
  CleaveConstraint predicate = { .predicate = never };
  CleaveRecursion single = { .depth = 2, .single_use = TRUE };
  g_autoptr (CleaveSplitReport) whole = NULL, budget = NULL, veto = NULL, outside = NULL,
                                input = NULL;
  g_autoptr (CleaveTiling) two = chunks ("H", 2);
  g_autofree char *before = cleave_graph_print (graph);

  whole = split (graph, "pool", chunks ("H", 1), NULL);
  assert_split (whole, "pool", "one-piece: it would be one piece");
  input = split (graph, "x", chunks ("0", 2), NULL);
  assert_split (input, "x", "unsupported: Input cannot be split");
  budget = split (graph, "pool", chunks ("H", 2), &none);
  assert_split (budget, "pool", "constraint: piece 0 needs 12800 bytes, the limit is 0");
  veto = split (graph, "pool", chunks ("H", 2), &predicate);
  assert_split (veto, "pool", "constraint: never");
  cleave_assert_dump (graph, before);
  cleave_graph_add_output (graph, "more", cleave_node_get_result (find (graph, "relu"), 0), NULL);
  outside = cleave_split_node_recursively (find (graph, "pool"), two, NULL, &single, NULL);
  assert_split (outside, "relu", "outside-user: it is the output 'more'");
}
END_TEST

START_TEST (case_9_nodes_may_be_split_in_any_order)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = cleave_test_input (graph, "x", CLEAVE_SHAPE (4, 4));
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  Check check;

  for (guint i = 0; i < 100; i++)
    {
      char *name = g_strdup_printf ("relu%u", i);

      y = relu (graph, name, y);
      g_ptr_array_add (names, name);
    }
  cleave_graph_add_output (graph, "y", y, NULL);
  check = check_begin (graph);
  for (guint i = 0; i < names->len; i++)
    {
      g_autoptr (CleaveSplitReport) report =
          split (graph, g_ptr_array_index (names, i), chunks ("0", 2), NULL);
      const CleaveSplitNode *node = cleave_split_report_get_split (report, 0);

      ck_assert_uint_eq (node->n_pieces, 2);
      for (guint p = 0; p < 2; p++)
        ck_assert_ptr_eq (find (graph, node->piece_names[p]), node->pieces[p]);
    }
  check_equal (&check);
  assert_counts (graph, "Relu", 200);
  assert_counts (graph, "Assemble", 1);
  check_end (&check);
}
END_TEST

START_TEST (case_10_any_name_can_be_split)
{
  static const char *const names[] = { "a\"b", "{c|d}", "<e>", "f\\", "g\nh" };
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = cleave_test_input (graph, "x", CLEAVE_SHAPE (4));
  g_autofree char *dot = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    y = relu (graph, names[i], y);
  cleave_graph_add_output (graph, "y", y, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (CleaveSplitReport) report = split (graph, names[i], chunks ("0", 2), NULL);
      g_autofree char *piece = g_strdup_printf ("%s.1", names[i]);

      ck_assert_str_eq (cleave_split_report_get_split (report, 0)->piece_names[1], piece);
    }
  dot = cleave_dot_print (graph, NULL, &error);
  cleave_assert_no_error (error);
  ck_assert_ptr_nonnull (dot);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "requests", case_1_wrong_numbers_are_errors,
                   cases_2_and_3_gaps_are_errors, case_4_empty_ranges_are_errors,
                   case_5_ranges_may_overlap, case_6_nodes_that_cannot_take_the_option_are_refused,
                   case_6_an_option_that_no_node_can_take_is_an_error,
                   case_7_one_wrong_request_changes_nothing,
                   case_8_each_way_of_staying_whole_has_a_name,
                   case_9_nodes_may_be_split_in_any_order, case_10_any_name_can_be_split, NULL);
}

CLEAVE_TEST_SUITE ("glow-requests", add_tests)
