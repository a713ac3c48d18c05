/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Where Glow's node splitting goes wrong, case by case: what Cleave does instead.  "Equal" is bit
 * for bit. */

#include <math.h>
#include <string.h>

#include "graphs.h"
#include "interpret.h"
#include "test.h"

#define KIB 1024
#define MIB (1024 * KIB)
#define GIB ((gint64) 1024 * MIB)

/* Graphs. */

static CleaveResult *
relu (CleaveGraph *graph, const char *name, CleaveResult *x)
{
  return cleave_graph_add_unary (graph, "Relu", name, x, NULL, NULL);
}

static CleaveGraph *
relu_graph (CleaveShape shape)
{
  CleaveGraph *graph = cleave_graph_new (NULL);

  cleave_graph_add_output (graph, "y", relu (graph, "relu", cleave_test_input (graph, "x", shape)),
                           NULL);
  return graph;
}

/* NHWC, square kernel, no bias unless asked. */
static CleaveResult *
conv (
    CleaveGraph *graph, const char *name, CleaveResult *x, gint64 out, gint64 k, gint64 s, gint64 p)
{
  CleaveConvAttrs attrs = { .layout = CLEAVE_LAYOUT_NHWC,
                            .strides = CLEAVE_INTS (s, s),
                            .pads = CLEAVE_INTS (p, p, p, p) };
  gint64 in = cleave_result_get_type (x)->shape.dim[3];
  g_autofree char *weights = g_strdup_printf ("%s_w", name);
  CleaveResult *w = cleave_test_weights (graph, weights, CLEAVE_SHAPE (out, in, k, k));
  g_autoptr (GError) error = NULL;
  CleaveResult *y = cleave_graph_add_conv (graph, name, x, w, NULL, &attrs, &error);

  cleave_assert_no_error (error);
  return y;
}

static CleaveNode *
find (CleaveGraph *graph, const char *name)
{
  CleaveNode *node = cleave_graph_find_node (graph, name);

  ck_assert_msg (node != NULL, "no node %s", name);
  return node;
}

/* Requests. */

static CleaveSplit *
chunks (const char *dims, gint64 a)
{
  return cleave_split_by_num_chunks (dims, &a, 1);
}

static CleaveSplit *
chunks2 (const char *dims, gint64 a, gint64 b)
{
  const gint64 counts[] = { a, b };

  return cleave_split_by_num_chunks (dims, counts, 2);
}

/* Splits, and expects the same bits before, after, and after cleaning up. */
typedef struct
{
  CleaveGraph *graph;
  GPtrArray *inputs, *expected;
} Check;

static Check
check_begin (CleaveGraph *graph)
{
  Check check = { graph, cleave_random_inputs (graph, 1, FALSE), NULL };

  check.expected = cleave_interpret (graph, (CleaveTensor *const *) check.inputs->pdata);
  return check;
}

static void
check_equal (const Check *check)
{
  g_autoptr (GPtrArray) outputs =
      cleave_interpret (check->graph, (CleaveTensor *const *) check->inputs->pdata);
  g_autoptr (GError) error = NULL;

  cleave_graph_validate (check->graph, &error);
  cleave_assert_no_error (error);
  ck_assert_int_eq (cleave_compare_outputs (check->expected, outputs), -1);
}

static void
check_end (Check *check)
{
  check_equal (check);
  g_ptr_array_unref (check->inputs);
  g_ptr_array_unref (check->expected);
}

static CleaveSplitReport *
split (CleaveGraph *graph, const char *node, CleaveSplit *by, const CleaveConstraint *constraint)
{
  g_autoptr (CleaveSplit) owned = by;
  g_autoptr (GError) error = NULL;
  CleaveSplitReport *report = cleave_split_node (find (graph, node), owned, constraint, &error);

  cleave_assert_no_error (error);
  return report;
}

static CleaveSplitReport *
split_deep (CleaveGraph *graph, const char *node, CleaveSplit *by, guint depth)
{
  g_autoptr (CleaveSplit) owned = by;
  CleaveRecursion recursion = { .depth = depth };
  g_autoptr (GError) error = NULL;
  CleaveSplitReport *report =
      cleave_split_node_recursively (find (graph, node), owned, NULL, &recursion, &error);

  cleave_assert_no_error (error);
  return report;
}

static void
assert_split (const CleaveSplitReport *report, const char *node, const char *expected)
{
  g_autofree char *got = cleave_describe_split (report, node);

  ck_assert_msg (got != NULL, "%s is not in the report", node);
  ck_assert_str_eq (got, expected);
}

/* The request is wrong, and nothing changes. */
static void
assert_wrong (CleaveGraph *graph, const char *node, CleaveSplit *by, const char *message)
{
  g_autoptr (CleaveSplit) owned = by;
  g_autofree char *before = cleave_graph_print (graph);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_split_node (find (graph, node), owned, NULL, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, message);
  cleave_assert_dump (graph, before);
}

static void
assert_counts (const CleaveGraph *graph, const char *op, guint n)
{
  guint got = cleave_count_nodes (graph, op);

  if (got != n)
    {
      g_autofree char *dump = cleave_graph_print (graph);

      ck_abort_msg ("%u nodes %s, not %u\n%s", got, op, n, dump);
    }
}

/* Requests: 1 to 10. */

static CleaveSplit *
by_sizes (const char *dims, gint64 a, gint64 b, gint64 c)
{
  const gint64 sizes[] = { a, b, c };
  const gint64 *list = sizes;
  const guint n = 3;

  return cleave_split_by_chunk_sizes (dims, &list, &n, 1);
}

static CleaveSplit *
by_weights (const double *weights, guint n)
{
  return cleave_split_by_chunk_weights ("1", &weights, &n, 1);
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
  assert_wrong (graph, "relu", cleave_split_by_chunk_size ("1", &zero, 1),
                "Relu 'relu': dimension 1: chunk size must be between 1 and 10, not 0");
  assert_wrong (graph, "relu", cleave_split_by_chunk_size ("1", &eleven, 1),
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

  assert_wrong (graph, "relu", cleave_split_by_slice_ranges (ranges, 2),
                "Relu 'relu': the ranges must cover 0:5, but none covers 2:3");
  assert_wrong (graph, "relu", cleave_split_by_slice_ranges (NULL, 0),
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
  assert_wrong (graph, "conv", cleave_split_by_slice_ranges (empty, 2),
                "Conv 'conv': range 1, 0:1,3:3,0:6,0:2, is empty");
  assert_wrong (graph, "conv", cleave_split_by_slice_ranges (back, 1),
                "Conv 'conv': range 0, 0:1,4:2,0:6,0:2, is empty");
}
END_TEST

START_TEST (case_5_ranges_may_overlap)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (5));
  const CleaveRange ranges[] = { CLEAVE_RANGE (0, 4), CLEAVE_RANGE (2, 5) };
  Check check = check_begin (graph);
  g_autoptr (CleaveSplitReport) report =
      split (graph, "relu", cleave_split_by_slice_ranges (ranges, 2), NULL);

  assert_split (report, "relu", "relu.0 0:4 relu.1 2:5");
  check_end (&check);
}
END_TEST

START_TEST (case_6_those_that_cannot_take_the_option_are_refused)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleavePoolAttrs pool = { .layout = CLEAVE_LAYOUT_NHWC,
                           .kernel_shape = CLEAVE_INTS (4, 4),
                           .strides = CLEAVE_INTS (4, 4) };
  CleaveResult *y =
      conv (graph, "conv", cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 8, 8, 8)), 8, 3, 1, 1);
  g_autoptr (CleaveSplit) four = chunks ("2", 4);
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
  g_autoptr (CleaveSplit) five = chunks ("0", 5);
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
  g_autoptr (CleaveSplit) good = chunks ("0", 2);
  g_autoptr (CleaveSplit) bad = chunks ("0", 5);
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
  g_autoptr (CleaveSplit) two = chunks ("H", 2);
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

START_TEST (case_9_nodes_may_be_split_as_they_come)
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

/* Constraint and search: 11 to 17. */

static gint64
largest_piece (const CleavePlan *plan)
{
  gint64 most = 0;

  for (guint i = 0; i < cleave_plan_get_n_chunks (plan); i++)
    most = MAX (most, cleave_plan_get_n_bytes (plan, i));
  return most;
}

/* What the search last asked about. */
typedef struct
{
  guint n_pieces;
  gint64 largest;
  gboolean answer;
} Seen;

static gboolean
look (const CleavePlan *plan, gpointer data, GString *why)
{
  Seen *seen = data;

  seen->n_pieces = cleave_plan_get_n_chunks (plan);
  seen->largest = largest_piece (plan);
  if (!seen->answer)
    g_string_append (why, "only looking");
  return seen->answer;
}

/* With bias. */
static CleaveGraph *
wide_conv (gint64 n, gint64 channels)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveConvAttrs attrs = { .layout = CLEAVE_LAYOUT_NHWC, .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, n, n, channels));
  CleaveResult *w = cleave_test_input (graph, "w", CLEAVE_SHAPE (channels, channels, 3, 3));
  CleaveResult *b = cleave_test_input (graph, "b", CLEAVE_SHAPE (channels));
  CleaveResult *y = cleave_graph_add_conv (graph, "conv", x, w, b, &attrs, NULL);

  cleave_graph_add_output (graph, "y", y, NULL);
  return graph;
}

START_TEST (case_11_the_search_knows_all_dimensions)
{
  g_autoptr (CleaveGraph) graph = wide_conv (14, 512);
  Seen seen = { .answer = TRUE };
  CleaveConstraint constraint = { .max_memory = 4 * MIB, .predicate = look, .data = &seen };
  g_autoptr (CleaveSplitReport) report = split (graph, "conv", NULL, &constraint);

  ck_assert_uint_eq (seen.n_pieces, 3);
  ck_assert_int_eq (seen.largest, 3688028);
  assert_split (
      report, "conv",
      "conv.0 0:1,0:14,0:14,0:171 conv.1 0:1,0:14,0:14,171:342 conv.2 0:1,0:14,0:14,342:512");
}
END_TEST

START_TEST (case_12_the_search_combines_dimensions)
{
  g_autoptr (CleaveGraph) graph = wide_conv (16, 64);
  Seen seen = { .answer = TRUE };
  CleaveConstraint constraint = { .max_memory = 40 * KIB, .predicate = look, .data = &seen };
  g_autoptr (CleaveSplitReport) report = split (graph, "conv", NULL, &constraint);

  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
  ck_assert_uint_eq (seen.n_pieces, 40);
  ck_assert_int_eq (seen.largest, 38684);
}
END_TEST

START_TEST (case_13_impossible_is_said_at_once)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (1, 112, 112, 256));
  CleaveConstraint constraint = { .max_memory = 1 };
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (CleaveSplitReport) report = split (graph, "relu", NULL, &constraint);

  ck_assert_int_lt (g_get_monotonic_time () - begin, 1000000); /* 10 ms where nothing slows it */
  assert_split (report, "relu",
                "constraint: the smallest piece needs 8 bytes, 4 of them for X; the limit is 1");
}
END_TEST

START_TEST (case_14_bytes_have_64_bits)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (1, 1024, 1024, 1024));
  Seen seen = { .answer = TRUE };
  CleaveConstraint constraint = { .max_memory = 5 * GIB, .predicate = look, .data = &seen };
  g_autoptr (CleaveSplitReport) report = split (graph, "relu", NULL, &constraint);

  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
  ck_assert_uint_eq (seen.n_pieces, 2);
  ck_assert_int_eq (seen.largest, 4 * GIB);
}
END_TEST

/* 3x7x8x4, with or without its indices as a second result. */
static CleaveGraph *
pool_graph (guint n_results)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleavePoolAttrs attrs = { .layout = CLEAVE_LAYOUT_NHWC, .kernel_shape = CLEAVE_INTS (2, 2) };
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (3, 7, 8, 4));
  CleaveNode *pool = cleave_graph_add (graph, cleave_op_lookup ("MaxPool"), "pool", &x, 1,
                                       n_results, &attrs, NULL);

  cleave_graph_add_output (graph, "y", cleave_node_get_result (pool, 0), NULL);
  return graph;
}

START_TEST (case_15_results_that_nobody_uses_are_not_counted)
{
  g_autoptr (CleaveGraph) graph = pool_graph (2);
  Seen seen = { .answer = FALSE };
  CleaveConstraint look_only = { .predicate = look, .data = &seen };
  CleaveConstraint half = { .max_memory = 4368, .predicate = look, .data = &seen };
  const CleaveRange whole = CLEAVE_RANGE (0, 3, 0, 6, 0, 7, 0, 4);
  g_autoptr (CleaveSplitReport) report = NULL, third = NULL;

  report = split (graph, "pool", NULL, &look_only);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 0);
  third = split (graph, "pool", cleave_split_by_slice_ranges (&whole, 1), &half);
  assert_split (third, "pool", "one-piece: it would be one piece");
  seen.answer = TRUE;
  half.max_memory = 4704;
  g_clear_pointer (&report, cleave_split_report_free);
  report = split (graph, "pool", NULL, &half);
  ck_assert_int_eq (seen.largest, 4704);
  assert_split (report, "pool", "one-piece: it meets the constraint as it is");
}
END_TEST

/* A chain of convolutions whose every node meets a budget that the chain does not. */
static CleaveGraph *
conv_chain (void)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *y = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 32, 8, 4));

  y = conv (graph, "a", y, 16, 3, 1, 1);
  y = conv (graph, "b", y, 16, 3, 1, 1);
  y = conv (graph, "c", y, 4, 3, 1, 1);
  cleave_graph_add_output (graph, "y", y, NULL);
  return graph;
}

START_TEST (case_16_the_whole_schedule_has_a_budget)
{
  static const gint64 budgets[] = { 24 * KIB, 4 * KIB };

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (CleaveGraph) graph = conv_chain ();
      CleaveConstraint constraint = { .max_schedule_memory = budgets[i] };
      CleaveRecursion recursion = { .depth = 3 };
      g_autofree char *before = cleave_graph_print (graph);
      Check check = check_begin (graph);
      g_autoptr (CleaveSplitReport) report = NULL;
      const CleaveSplitTotals *totals;

      report =
          cleave_split_node_recursively (find (graph, "c"), NULL, &constraint, &recursion, NULL);
      totals = cleave_split_report_get_totals (report);
      ck_assert_int_eq (totals->peak_bytes_before, 32 * KIB);
      if (i == 0)
        ck_assert_int_le (totals->peak_bytes_after, budgets[0]);
      else
        cleave_assert_dump (graph, before);
      ck_assert_uint_eq (cleave_split_report_get_n_split (report), i == 0 ? 3 : 0);
      check_end (&check);
    }
}
END_TEST

START_TEST (case_16_a_subgraph_has_a_budget)
{
  g_autoptr (CleaveGraph) graph = conv_chain ();
  CleaveConstraint large = { .max_subgraph_memory = 24 * KIB },
                   small = { .max_subgraph_memory = 4 * KIB };
  CleaveRecursion recursion = { .depth = 3 };
  g_autoptr (CleaveSplit) two = chunks ("H", 2);
  g_autoptr (CleaveSplitReport) refused = NULL, report = NULL;
  Check check = check_begin (graph);

  refused = cleave_split_node_recursively (find (graph, "c"), two, &small, &recursion, NULL);
  assert_split (
      refused, "c",
      "constraint: a subgraph would need 17920 bytes, the limit is 4096; its largest value, "
      "of Conv 'a.0', has 9216");
  report = cleave_split_node_recursively (find (graph, "c"), two, &large, &recursion, NULL);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 3);
  check_end (&check);
}
END_TEST

START_TEST (case_17_the_halo_has_a_price)
{
  g_autoptr (CleaveGraph) graph = cleave_test_figure ();
  CleaveConstraint cheap = { .max_added_macs = 0.1 };
  CleaveRecursion recursion = { .depth = 3 };
  g_autoptr (CleaveSplit) two = chunks ("H", 2);
  g_autoptr (CleaveSplitReport) report = NULL;
  const CleaveSplitTotals *totals;

  report = cleave_split_node_recursively (find (graph, "pool"), two, &cheap, &recursion, NULL);
  assert_split (
      report, "conv",
      "constraint: the halo would add 12.5 % to the MACs of the graph, the limit is 10 %");
  totals = cleave_split_report_get_totals (report);
  ck_assert_int_eq (totals->macs_before, 5 * 8 * 8 * 16 * 9 * 4);
  ck_assert_int_eq (totals->macs_after, totals->macs_before);
}
END_TEST

START_TEST (the_figure_has_its_numbers)
{
  g_autoptr (CleaveGraph) graph = cleave_test_figure ();
  Check check = check_begin (graph);
  g_autoptr (CleaveSplitReport) report = split_deep (graph, "pool", chunks ("H", 2), 3);
  const CleaveSplitTotals *totals = cleave_split_report_get_totals (report);

  assert_split (report, "pool", "pool.0 0:5,0:2,0:4,0:16 pool.1 0:5,2:4,0:4,0:16");
  assert_split (report, "relu", "relu.0 0:5,0:4,0:8,0:16 relu.1 0:5,3:8,0:8,0:16");
  assert_split (report, "conv", "conv.0 0:5,0:4,0:8,0:16 conv.1 0:5,3:8,0:8,0:16");
  ck_assert_int_eq (totals->macs_after * 8, totals->macs_before * 9);
  ck_assert_uint_eq (totals->n_parallel_subgraphs, 2);
  cleave_assert_dump (
      graph, "%0 = Input : float32 5x16x16x4  # x\n"
             "%1 = Constant : float32 16x4x3x3  # w\n"
             "%2 = Slice %0 0:5,0:8,0:16,0:4 : float32 5x8x16x4  # conv.0.X\n"
             "%3 = Conv %2, %1 layout=NHWC strides=2,2 pads=1,1,0,0 : float32 5x4x8x16  # conv.0\n"
             "%4 = Slice %0 0:5,5:16,0:16,0:4 : float32 5x11x16x4  # conv.1.X\n"
             "%5 = Conv %4, %1 layout=NHWC strides=2,2 pads=0,1,0,0 : float32 5x5x8x16  # conv.1\n"
             "%6 = Relu %3 : float32 5x4x8x16  # relu.0\n"
             "%7 = Relu %5 : float32 5x5x8x16  # relu.1\n"
             "%8 = MaxPool %6 layout=NHWC kernel_shape=3,3 strides=2,2 pads=1,1,0,0 : float32 "
             "5x2x4x16  # pool.0\n"
             "%9 = MaxPool %7 layout=NHWC kernel_shape=3,3 strides=2,2 pads=0,1,0,0 : float32 "
             "5x2x4x16  # pool.1\n"
             "%10 = Assemble %8, %9 0:5,0:2,0:4,0:16 0:5,2:4,0:4,0:16 : float32 5x4x4x16  # pool\n"
             "output %10  # y\n");
  check_end (&check);
}
END_TEST

START_TEST (the_figure_carried_computes_nothing_twice)
{
  g_autoptr (CleaveGraph) graph = cleave_test_figure ();
  CleaveRecursion recursion = { .depth = 3, .halo = CLEAVE_HALO_CARRY };
  Check check = check_begin (graph);
  g_autoptr (CleaveSplit) two = chunks ("H", 2);
  g_autoptr (CleaveSplitReport) report = NULL;
  const CleaveSplitTotals *totals;

  report = cleave_split_node_recursively (find (graph, "pool"), two, NULL, &recursion, NULL);
  totals = cleave_split_report_get_totals (report);
  assert_split (report, "relu", "relu.0 0:5,0:4,0:8,0:16 relu.1 0:5,4:8,0:8,0:16");
  assert_split (report, "conv", "conv.0 0:5,0:4,0:8,0:16 conv.1 0:5,4:8,0:8,0:16");
  ck_assert_int_eq (totals->macs_after, totals->macs_before);
  check_end (&check);
}
END_TEST

/* Maps: 18 to 23. */

START_TEST (case_18_padding_only_is_refused)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleavePoolAttrs attrs = { .layout = CLEAVE_LAYOUT_NHWC,
                            .kernel_shape = CLEAVE_INTS (2, 2),
                            .pads = CLEAVE_INTS (0, 2, 1, 3) };
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 4, 4, 1));
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *before = NULL, *got = NULL;

  cleave_graph_add_pool (graph, "MaxPool", "pool", x, &attrs, &error);
  if (error != NULL) /* ONNX wants pads below the kernel's size: then a Conv, which does not */
    {
      CleaveConvAttrs conv_attrs = { .layout = CLEAVE_LAYOUT_NHWC,
                                     .pads = CLEAVE_INTS (0, 2, 1, 3) };

      cleave_graph_add_conv (graph, "pool", x,
                             cleave_test_weights (graph, "w", CLEAVE_SHAPE (1, 1, 2, 2)), NULL,
                             &conv_attrs, NULL);
    }
  before = cleave_graph_print (graph);
  report = split (graph, "pool", chunks ("W", 8), NULL);
  got = cleave_describe_split (report, "pool");
  ck_assert_msg (g_str_has_prefix (got, "refused: ") && strstr (got, "W [0,1)") != NULL &&
                     strstr (got, "padding only") != NULL && strstr (got, "reach 2") != NULL,
                 "%s", got);
  cleave_assert_dump (graph, before);
}
END_TEST

static CleaveGraph *
group_graph (gint64 group)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveConvAttrs attrs = { .group = group };
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 8, 3, 3));
  CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (8, 8 / group, 1, 1));

  cleave_graph_add_output (graph, "y",
                           cleave_graph_add_conv (graph, "conv", x, w, NULL, &attrs, NULL), NULL);
  return graph;
}

START_TEST (case_19_straddled_groups_are_refused)
{
  g_autoptr (CleaveGraph) graph = group_graph (2);
  g_autofree char *before = cleave_graph_print (graph);
  g_autoptr (CleaveSplitReport) refused = split (graph, "conv", chunks ("C", 3), NULL);
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autofree char *got = cleave_describe_split (refused, "conv");
  Check check = check_begin (graph);

  ck_assert_msg (g_str_has_prefix (got, "refused: ") && strstr (got, "4") != NULL, "%s", got);
  cleave_assert_dump (graph, before);
  report = split (graph, "conv", chunks ("C", 4), NULL);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
  check_end (&check);
}
END_TEST

static CleaveResult *
bytes (CleaveGraph *graph, CleaveElement element, CleaveShape shape)
{
  CleaveTensorType type = { element, shape };
  g_autoptr (CleaveTensor) tensor = cleave_random_tensor (&type, 20, FALSE);

  return cleave_graph_add_constant (graph, NULL, tensor);
}

/* A float for each channel; one channel stands for all. */
static CleaveResult *
scales (CleaveGraph *graph, gint64 n)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, n);
  g_autoptr (CleaveTensor) tensor = NULL;
  float values[4];

  if (n == 1)
    type = CLEAVE_SCALAR (CLEAVE_FLOAT32);
  for (gint64 i = 0; i < 4; i++)
    values[i] = 0.01f * (float) (i + 1);
  tensor = cleave_tensor_new_copy (&type, values, NULL);
  return cleave_graph_add_constant (graph, NULL, tensor);
}

START_TEST (case_20_quantised_convolutions_are_split)
{
  static const char *const dims[] = { "H,W", "C,H" };
  const CleaveShape scalar = { 0, { 0 } };

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveTensorType type = CLEAVE_TYPE (CLEAVE_UINT8, 1, 1, 16, 18);
      CleaveConvAttrs attrs = { .strides = CLEAVE_INTS (2, 2), .pads = CLEAVE_INTS (1, 1, 0, 0) };
      CleaveResult *operands[] = { cleave_graph_add_input (graph, "x", &type, NULL),
                                   scales (graph, 1),
                                   bytes (graph, CLEAVE_UINT8, scalar),
                                   bytes (graph, CLEAVE_INT8, CLEAVE_SHAPE (4, 1, 2, 2)),
                                   scales (graph, 4),
                                   bytes (graph, CLEAVE_INT8, CLEAVE_SHAPE (4)),
                                   scales (graph, 1),
                                   bytes (graph, CLEAVE_UINT8, scalar) };
      g_autoptr (CleaveSplitReport) report = NULL;
      g_autoptr (GError) error = NULL;
      CleaveNode *node = cleave_graph_add (graph, cleave_op_lookup ("QLinearConv"), "conv",
                                           operands, 8, 1, &attrs, &error);
      Check check;

      cleave_assert_no_error (error);
      cleave_graph_add_output (graph, "y", cleave_node_get_result (node, 0), NULL);
      check = check_begin (graph);
      report = split (graph, "conv", chunks2 (dims[i], 3, 3), NULL);
      ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
      ck_assert_uint_eq (cleave_split_report_get_split (report, 0)->n_pieces, 9);
      check_end (&check);
    }
}
END_TEST

/* The same convolution and pooling in both layouts, 1 to 3 spatial dimensions. */
static CleaveGraph *
spatial_graph (CleaveLayout layout, guint n_spatial)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveShape x = { n_spatial + 2, { 1 } }, w = { n_spatial + 2, { 4, 2 } };
  CleaveConvAttrs conv_attrs = { .layout = layout, .pads.n = 2 * n_spatial };
  CleavePoolAttrs pool_attrs = { .layout = layout,
                                 .kernel_shape.n = n_spatial,
                                 .strides.n = n_spatial };
  g_autoptr (GError) error = NULL;
  CleaveResult *y;

  for (guint i = 0; i < n_spatial; i++)
    {
      x.dim[layout == CLEAVE_LAYOUT_NHWC ? 1 + i : 2 + i] = 8;
      w.dim[2 + i] = 3;
      conv_attrs.pads.v[i] = conv_attrs.pads.v[n_spatial + i] = 1;
      pool_attrs.kernel_shape.v[i] = pool_attrs.strides.v[i] = 2;
    }
  x.dim[layout == CLEAVE_LAYOUT_NHWC ? n_spatial + 1 : 1] = 2;
  y = cleave_test_input (graph, "x", x);
  y = cleave_graph_add_conv (graph, "conv", y, cleave_test_weights (graph, "w", w), NULL,
                             &conv_attrs, &error);
  cleave_assert_no_error (error);
  y = cleave_graph_add_pool (graph, "AveragePool", "pool", y, &pool_attrs, &error);
  cleave_assert_no_error (error);
  cleave_graph_add_output (graph, "y", y, NULL);
  return graph;
}

START_TEST (cases_21_and_22_layout_and_rank_do_not_matter)
{
  for (guint n_spatial = 1; n_spatial <= 3; n_spatial++)
    for (guint layout = 0; layout < 2; layout++)
      {
        g_autoptr (CleaveGraph) graph = spatial_graph ((CleaveLayout) layout, n_spatial);
        Check check = check_begin (graph);
        const char *dim = n_spatial == 1 ? "W" : "H";
        guint h = layout == CLEAVE_LAYOUT_NHWC ? n_spatial == 3 ? 2 : 1 : n_spatial == 3 ? 3 : 2;
        g_autoptr (CleaveSplitReport) report = split_deep (graph, "pool", chunks (dim, 2), 2);

        for (guint i = 0; i < 2; i++)
          {
            const CleaveSplitNode *node = cleave_split_report_get_split (report, i);

            ck_assert_uint_eq (node->n_pieces, 2);
            ck_assert_int_eq (node->ranges[1].dim[h].begin, i == 0 ? 2 : 4);
            ck_assert_int_eq (node->ranges[1].dim[h].end, i == 0 ? 4 : 8);
          }
        check_end (&check);
      }
}
END_TEST

/* Glow refuses; here they count in the whole, whatever was cut. */
START_TEST (case_23_used_indices_are_those_of_the_whole)
{
  static const char *const dims[] = { "N", "H", "W", "C" };

  for (guint d = 0; d < G_N_ELEMENTS (dims); d++)
    {
      g_autoptr (CleaveGraph) graph = pool_graph (2);
      CleaveResult *indices = cleave_node_get_result (find (graph, "pool"), 1);
      g_autoptr (CleaveSplitReport) report = NULL;
      Check check;

      cleave_graph_add_output (graph, "i", indices, NULL);
      check = check_begin (graph);
      report = split (graph, "pool", chunks (dims[d], 2), NULL);
      ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
      check_end (&check);
    }
}
END_TEST

/* Assembling and seams: 24 to 28. */

START_TEST (case_24_pieces_do_not_follow_each_other)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (8));
  g_autoptr (CleaveSplitReport) report = split (graph, "relu", chunks ("0", 8), NULL);
  const CleaveSplitNode *node = cleave_split_report_get_split (report, 0);

  assert_counts (graph, "Assemble", 1);
  ck_assert_uint_eq (cleave_node_get_n_operands (find (graph, "relu")), 8);
  for (guint i = 0; i < 8; i++)
    {
      CleaveResult *result = cleave_node_get_result (node->pieces[i], 0);

      ck_assert_uint_eq (cleave_result_get_n_uses (result), 1);
      ck_assert_ptr_eq (cleave_operand_get_node (cleave_result_get_first_use (result)),
                        find (graph, "relu"));
    }
}
END_TEST

START_TEST (case_25_equal_slices_are_one)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 4, 4, 2));
  g_autoptr (CleaveSplitReport) report = NULL;

  cleave_graph_add_output (graph, "y", cleave_graph_add_binary (graph, "Mul", "mul", x, x, NULL),
                           NULL);
  report = split (graph, "mul", chunks ("1", 2), NULL);
  assert_counts (graph, "Slice", 2);
  assert_counts (graph, "Mul", 2);
  for (guint i = 0; i < 2; i++)
    {
      CleaveNode *piece = cleave_split_report_get_split (report, 0)->pieces[i];

      ck_assert_ptr_eq (cleave_operand_get_result (cleave_node_get_operand (piece, 0)),
                        cleave_operand_get_result (cleave_node_get_operand (piece, 1)));
    }
}
END_TEST

/* x → conv 3x3 → Relu, with this many rows. */
static CleaveGraph *
conv_relu (gint64 h)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, h, 4, 2));

  cleave_graph_add_output (graph, "y", relu (graph, "relu", conv (graph, "conv", x, 2, 3, 1, 1)),
                           NULL);
  return graph;
}

static const char *
read_by (CleaveGraph *graph, const char *node)
{
  CleaveOperand *operand = cleave_node_get_operand (find (graph, node), 0);

  return cleave_node_get_name (cleave_result_get_node (cleave_operand_get_result (operand)));
}

START_TEST (case_26_seams_of_separate_splits_close)
{
  for (guint order = 0; order < 2; order++)
    {
      g_autoptr (CleaveGraph) graph = conv_relu (8);
      Check check = check_begin (graph);
      g_autoptr (CleaveSplitReport) first = NULL, second = NULL;

      first = order == 0 ? split (graph, "conv", chunks ("H", 2), NULL)
                         : split (graph, "relu", chunks ("1", 2), NULL);
      second = order == 1 ? split (graph, "conv", chunks ("H", 2), NULL)
                          : split (graph, "relu", chunks ("1", 2), NULL);
      check_equal (&check);
      ck_assert (cleave_clean_up (graph, NULL, NULL));
      assert_counts (graph, "Assemble", 1);
      assert_counts (graph, "Slice", 2); /* of x */
      ck_assert_str_eq (read_by (graph, "relu.0"), "conv.0");
      ck_assert_str_eq (read_by (graph, "relu.1"), "conv.1");
      check_end (&check);
    }
}
END_TEST

START_TEST (case_27_a_finer_consumer_slices_the_pieces)
{
  g_autoptr (CleaveGraph) graph = conv_relu (8);
  Check check = check_begin (graph);
  g_autoptr (CleaveSplitReport) first = split (graph, "conv", chunks ("H", 2), NULL);
  g_autoptr (CleaveSplitReport) second = split (graph, "relu", chunks ("1", 4), NULL);

  ck_assert_uint_eq (cleave_split_report_get_n_split (first), 1);
  ck_assert_uint_eq (cleave_split_report_get_n_split (second), 1);
  ck_assert (cleave_clean_up (graph, NULL, NULL));
  assert_counts (graph, "Assemble", 1);
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *piece = g_strdup_printf ("relu.%u", i);
      const char *slice = read_by (graph, piece);

      ck_assert_str_eq (read_by (graph, slice), i < 2 ? "conv.0" : "conv.1");
    }
  check_end (&check);
}
END_TEST

START_TEST (case_28_a_straddling_consumer_assembles_what_it_reads)
{
  g_autoptr (CleaveGraph) graph = conv_relu (6);
  Check check = check_begin (graph);
  g_autoptr (CleaveSplitReport) first = split (graph, "conv", chunks ("H", 2), NULL);
  g_autoptr (CleaveSplitReport) second = split (graph, "relu", chunks ("1", 3), NULL);
  CleaveNode *middle;

  ck_assert_uint_eq (cleave_split_report_get_n_split (first), 1);
  ck_assert_uint_eq (cleave_split_report_get_n_split (second), 1);
  ck_assert (cleave_clean_up (graph, NULL, NULL));
  middle = find (graph, read_by (graph, "relu.1"));
  ck_assert_str_eq (cleave_op_get_name (cleave_node_get_op (middle)), "Assemble");
  ck_assert_uint_eq (cleave_node_get_n_operands (middle), 2);
  assert_counts (graph, "Assemble", 2);
  ck_assert_ptr_null (cleave_graph_find_node (graph, "conv"));
  check_end (&check);
}
END_TEST

/* Recursion: 29 to 37. */

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
  assert_split (report, "relu",
                "relu.0 0:1,0:3,0:1,0:1 relu.1 0:1,4:7,0:1,0:1 relu.2 0:1,3:4,0:1,0:1 relu.3 "
                "0:1,7:8,0:1,0:1");
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

/* conv → conv, on 4x4. */
static CleaveGraph *
two_convs (gint64 k, gint64 p)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 4, 4, 2));

  cleave_graph_add_output (
      graph, "y", conv (graph, "second", conv (graph, "first", x, 2, k, 1, p), 2, k, 1, p), NULL);
  return graph;
}

START_TEST (case_33_what_all_need_is_shared)
{
  g_autoptr (CleaveGraph) graph = two_convs (1, 0);
  Check check = check_begin (graph);
  g_autoptr (CleaveSplitReport) report = split_deep (graph, "second", chunks ("C", 2), 2);

  assert_split (report, "first", "one-piece: Conv 'second' needs all of it for a piece");
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
  g_autoptr (CleaveSplit) two = chunks ("0", 2);
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
  g_autoptr (CleaveSplit) two = chunks ("0", 2);
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

START_TEST (case_37_twice_is_the_same)
{
  g_autofree char *first = print_all (1);
  g_autofree char *second = print_all (2);

  ck_assert_str_eq (first, second);
}
END_TEST

/* Afterwards: 38 to 40. */

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

START_TEST (case_39_different_pieces_stay_apart)
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
  cleave_add_case (suite, "requests", case_1_wrong_numbers_are_errors,
                   cases_2_and_3_gaps_are_errors, case_4_empty_ranges_are_errors,
                   case_5_ranges_may_overlap, case_6_those_that_cannot_take_the_option_are_refused,
                   case_6_an_option_that_no_node_can_take_is_an_error,
                   case_7_one_wrong_request_changes_nothing,
                   case_8_each_way_of_staying_whole_has_a_name,
                   case_9_nodes_may_be_split_as_they_come, case_10_any_name_can_be_split, NULL);
  cleave_add_case (suite, "search", case_11_the_search_knows_all_dimensions,
                   case_12_the_search_combines_dimensions, case_13_impossible_is_said_at_once,
                   case_14_bytes_have_64_bits, case_15_results_that_nobody_uses_are_not_counted,
                   case_16_the_whole_schedule_has_a_budget, case_16_a_subgraph_has_a_budget,
                   case_17_the_halo_has_a_price, NULL);
  cleave_add_case (suite, "figure", the_figure_has_its_numbers,
                   the_figure_carried_computes_nothing_twice, NULL);
  cleave_add_case (suite, "maps", case_18_padding_only_is_refused,
                   case_19_straddled_groups_are_refused, case_20_quantised_convolutions_are_split,
                   cases_21_and_22_layout_and_rank_do_not_matter,
                   case_23_used_indices_are_those_of_the_whole, NULL);
  cleave_add_case (suite, "seams", case_24_pieces_do_not_follow_each_other,
                   case_25_equal_slices_are_one, case_26_seams_of_separate_splits_close,
                   case_27_a_finer_consumer_slices_the_pieces,
                   case_28_a_straddling_consumer_assembles_what_it_reads, NULL);
  cleave_add_case (suite, "recursion", case_29_gaps_are_completed, case_30_a_diamond_is_split_once,
                   case_31_both_operands_read_the_piece, case_32_a_residual_is_split_once,
                   case_33_what_all_need_is_shared, case_34_equal_needs_are_one_piece,
                   case_35_single_use_counts_users_outside, case_36_nothing_else_is_touched,
                   case_37_twice_is_the_same, NULL);
  cleave_add_case (suite, "afterwards", case_38_no_pass_merges_pieces,
                   case_39_different_pieces_stay_apart, case_40_parameters_do_not_grow, NULL);
}

CLEAVE_TEST_MAIN ("glow-cases", add_tests)
