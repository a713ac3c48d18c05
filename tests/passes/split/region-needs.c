/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Recursive splits: the rows that each node must compute, and the nodes of a region. The bands of a
 * ShuffleNet block and of a DenseNet block can run in parallel. */

#include "regions.h"

/* A 1x1 convolution of stride 2 reads rows 0, 2, 4, … of the value c0, and an output needs all rows
 * of c0. So each piece that computes rows of c0 also computes an odd last row, which the 1x1
 * convolution skips. */
START_TEST (skipped_rows_belong_to_adjacent_pieces)
{
  for (guint halo = CLEAVE_HALO_RECOMPUTE; halo <= CLEAVE_HALO_CARRY_NARROW; halo++)
    {
      g_autoptr (CleaveGraph) graph = conv_chain (1, 8, 3);
      CleaveRecursion recursion = { .depth = 2, .halo = (CleaveHalo) halo };
      CleaveConvAttrs skip = { .strides = CLEAVE_INTS (2, 2) };
      g_autoptr (CleaveSplitReport) report = NULL;
      CleaveResult *c0 = cleave_node_get_result (cleave_graph_find_node (graph, "c0"), 0);
      CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (2, 2, 1, 1));

      cleave_graph_add_output (
          graph, "z", cleave_graph_add_conv (graph, "skip", c0, w, NULL, &skip, NULL), NULL);
      report = split (graph, "skip", "H", 2, 0, &recursion);
      assert_split (report, "c0", "c0.0 0:1,0:2,0:4,0:8 c0.1 0:1,0:2,4:8,0:8");
      ck_assert_double_eq (added_macs (report), 1);
    }
}
END_TEST

START_TEST (overlapping_required_regions_of_a_chunk_merge)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *r =
      unary (graph, "Relu", "r", cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 2, 8, 8)));
  CleaveRecursion recursion = { .depth = 3 };
  g_autoptr (CleaveSplitReport) report = NULL;

  r = cleave_graph_add_binary (graph, "Add", "add", conv (graph, "c", r, 3), r, NULL);
  cleave_graph_add_output (graph, "y", r, NULL);
  report = split (graph, "add", "2", 2, 0, &recursion);
  assert_split (report, "r", "r.0 0:1,0:2,0:5,0:8 r.1 0:1,0:2,3:8,0:8");
}
END_TEST

START_TEST (disjoint_required_regions_stay_separate)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *r = unary (graph, "Relu", "r", cleave_test_input (graph, "x", CLEAVE_SHAPE (8, 4)));
  const gint64 sizes[] = { 4, 4 };
  CleaveNode *halves = cleave_graph_add_split (graph, "halves", r, 0, sizes, 2, NULL);
  CleaveRecursion recursion = { .depth = 3 };
  g_autoptr (CleaveSplitReport) report = NULL;

  r = cleave_graph_add_binary (graph, "Add", "add", cleave_node_get_result (halves, 0),
                               cleave_node_get_result (halves, 1), NULL);
  cleave_graph_add_output (graph, "y", r, NULL);
  report = split (graph, "add", "0", 2, 0, &recursion);
  assert_split (report, "r", "r.0 0:2,0:4 r.1 4:6,0:4 r.2 2:4,0:4 r.3 6:8,0:4");
  ck_assert_uint_eq (cleave_count_nodes (graph, "Split"), 0);
  ck_assert_uint_eq (cleave_count_nodes (graph, "Slice"), 4);
}
END_TEST

/* A region extends through Concat, Split, Slice, Reshape and Transpose. */
START_TEST (views_do_not_stop_a_region)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 4, 8, 6));
  CleaveResult *a = unary (graph, "Relu", "a", x), *b = unary (graph, "Tanh", "b", x);
  CleaveResult *parts[] = { a, b };
  CleaveResult *y = cleave_graph_add_concat (graph, "concat", parts, 2, 1, NULL);
  const CleaveInts perm = CLEAVE_INTS (0, 2, 1, 3), shape = CLEAVE_INTS (8, 48);
  const CleaveRange part = CLEAVE_RANGE (0, 1, 0, 8, 0, 8, 0, 6);
  CleaveRecursion recursion = { .depth = 9 };
  g_autoptr (CleaveSplitReport) report = NULL;

  y = cleave_graph_add_slice_range (graph, "slice", y, &part, NULL);
  y = cleave_graph_add_transpose (graph, "transpose", y, &perm, NULL);
  y = cleave_graph_add_reshape (graph, "reshape", y, &shape, NULL);
  y = unary (graph, "Neg", "end", y);
  cleave_graph_add_output (graph, "y", y, NULL);
  report = split (graph, "end", "0", 2, 0, &recursion);
  assert_split (report, "a", "a.0 0:1,0:4,0:4,0:6 a.1 0:1,0:4,4:8,0:6");
  assert_split (report, "b", "b.0 0:1,0:4,0:4,0:6 b.1 0:1,0:4,4:8,0:6");
  ck_assert_uint_eq (cleave_count_nodes (graph, "Assemble"), 1);
}
END_TEST

START_TEST (several_roots_share_their_producers)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *r = unary (graph, "Relu", "r", cleave_test_input (graph, "x", CLEAVE_SHAPE (4, 4)));
  CleaveResult *a = unary (graph, "Neg", "a", r), *b = unary (graph, "Abs", "b", r);
  const gint64 two = 2;
  g_autoptr (CleaveTiling) by = cleave_tiling_by_num_chunks ("0", &two, 1);
  CleaveRecursion recursion = { .depth = 2, .single_use = TRUE };
  CleaveSplitRequest requests[2];
  g_autoptr (CleaveSplitReport) report = NULL;

  cleave_graph_add_output (graph, "a", a, NULL);
  cleave_graph_add_output (graph, "b", b, NULL);
  requests[0] = (CleaveSplitRequest){ cleave_result_get_node (a), by, NULL };
  requests[1] = (CleaveSplitRequest){ cleave_result_get_node (b), by, NULL };
  report = cleave_split_nodes_recursively (graph, requests, 2, &recursion, NULL);
  assert_split (report, "r", "r.0 0:2,0:4 r.1 2:4,0:4");
  ck_assert_uint_eq (cleave_count_nodes (graph, "Relu"), 2);
  ck_assert_uint_eq (cleave_count_nodes (graph, "Assemble"), 2);
}
END_TEST

static void
assert_wrong_request (CleaveGraph *graph,
                      const CleaveSplitRequest *requests,
                      guint n,
                      const char *message)
{
  CleaveRecursion recursion = { .depth = 2 };
  g_autofree char *before = cleave_graph_print (graph);
  g_autofree char *after = NULL;
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_split_nodes_recursively (graph, requests, n, &recursion, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, message);
  after = cleave_graph_print (graph);
  ck_assert_str_eq (after, before);
}

START_TEST (a_wrong_request_changes_nothing)
{
  g_autoptr (CleaveGraph) graph = conv_chain (2, 8, 3), other = conv_chain (1, 8, 3);
  CleaveNode *c0 = cleave_graph_find_node (graph, "c0"), *c1 = cleave_graph_find_node (graph, "c1");
  const gint64 two = 2;
  g_autoptr (CleaveTiling) by = cleave_tiling_by_num_chunks ("H", &two, 1);
  CleaveConstraint nan_macs = { .max_added_macs = (double) NAN };
  CleaveSplitRequest twice[] = { { c1, by, NULL }, { c1, by, NULL } };
  CleaveSplitRequest strange[] = { { c0, by, NULL },
                                   { cleave_graph_find_node (other, "c0"), by, NULL } };
  CleaveSplitRequest misspelt[] = { { cleave_graph_find_node (graph, "c33"), by, NULL } };
  CleaveSplitRequest nothing[] = { { c0, by, NULL }, { c1, NULL, NULL } };
  CleaveSplitRequest number[] = { { c0, by, NULL }, { c1, by, &nan_macs } };

  assert_wrong_request (graph, twice, 2, "Conv 'c1' is listed twice: list each node once");
  assert_wrong_request (graph, strange, 2, "a node to split belongs to another graph");
  assert_wrong_request (graph, misspelt, 1,
                        "the node to split is NULL: look it up by its exact name");
  assert_wrong_request (graph, nothing, 2, "Conv 'c1': give a tiling or a constraint to split it");
  assert_wrong_request (graph, number, 2, "Conv 'c1': the limit on added MACs is not a number");
}
END_TEST

static gboolean
has_four (const CleavePlan *plan, gpointer data, GString *why)
{
  guint *n_asked = data;

  (*n_asked)++;
  g_string_append (why, "there are not four");
  return cleave_plan_get_n_chunks (plan) == 4;
}

/* The search measures the peak on a split copy of the graph, but only for plans that the caller's
 * predicate accepts. */
START_TEST (a_predicate_and_a_schedule_go_together)
{
  g_autoptr (CleaveGraph) graph = conv_chain (3, 16, 3);
  guint n_asked = 0;
  CleaveConstraint constraint = { .max_schedule_memory = 3 * 2 * 16 * 16 * 4,
                                  .predicate = has_four,
                                  .data = &n_asked };
  CleaveRecursion recursion = { .depth = 3 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report = cleave_split_node_recursively (
      cleave_graph_find_node (graph, "c2"), NULL, &constraint, &recursion, &error);

  cleave_assert_no_error (error);
  ck_assert_uint_gt (n_asked, 1);
  ck_assert_uint_eq (cleave_count_nodes (graph, "Conv"), 3 * 4);
  ck_assert_int_le (cleave_graph_get_peak_bytes (graph, NULL), constraint.max_schedule_memory);
}
END_TEST

/* Both results of a Split have uses, so the recursive split joins the pieces of both. */
START_TEST (all_used_results_are_assembled)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (4, 5));
  const gint64 sizes[] = { 2, 3 };
  CleaveNode *node = cleave_graph_add_split (graph, "s", x, 1, sizes, 2, NULL);
  CleaveRecursion alone = { .depth = 1 };
  g_autoptr (CleaveSplitReport) report = NULL;

  for (guint r = 0; r < 2; r++)
    cleave_graph_add_output (graph, r == 0 ? "a" : "b", cleave_node_get_result (node, r), NULL);
  report = split (graph, "s", "0", 2, 0, &alone);
  assert_split (report, "s", "s.0 0:2,0:2 s.1 2:4,0:2");
  ck_assert_uint_eq (cleave_count_nodes (graph, "Assemble"), 2);
}
END_TEST

START_TEST (the_root_keeps_its_pieces)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *a = unary (graph, "Relu", "a", cleave_test_input (graph, "x", CLEAVE_SHAPE (8)));
  CleaveResult *b = unary (graph, "Neg", "b", a);
  const gint64 two = 2, four = 4;
  g_autoptr (CleaveTiling) halves = cleave_tiling_by_num_chunks ("0", &two, 1);
  g_autoptr (CleaveTiling) quarters = cleave_tiling_by_num_chunks ("0", &four, 1);
  CleaveSplitRequest requests[2];
  g_autoptr (CleaveSplitReport) report = NULL;

  cleave_graph_add_output (graph, "y", b, NULL);
  requests[0] = (CleaveSplitRequest){ cleave_result_get_node (b), quarters, NULL };
  requests[1] = (CleaveSplitRequest){ cleave_result_get_node (a), halves, NULL };
  report = cleave_split_nodes (graph, requests, 2, NULL);
  assert_split (report, "a", "a.0 0:4 a.1 4:8");
  assert_split (report, "b", "b.0 0:2 b.1 2:4 b.2 4:6 b.3 6:8");
  ck_assert_uint_eq (cleave_count_nodes (graph, "Assemble"), 1);
}
END_TEST

/* The graph has the nodes Relu, Concat (not split) and Identity. Column 0 of the Concat is the
 * whole result of the Relu. The piece of the Identity for this column copies nothing, so its value
 * is the result of the Relu. But the split replaces the Relu by its pieces. */
START_TEST (a_piece_may_be_the_value_of_a_node_that_is_replaced)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (2, 1));
  CleaveResult *a = unary (graph, "Relu", "a", x);
  CleaveResult *parts[] = { a, x, a };
  CleaveResult *joined = cleave_graph_add_concat (graph, "joined", parts, 3, 1, NULL);
  CleaveResult *b = unary (graph, "Identity", "b", joined);
  const gint64 two = 2, three = 3;
  g_autoptr (CleaveTiling) rows = cleave_tiling_by_num_chunks ("0", &two, 1);
  g_autoptr (CleaveTiling) columns = cleave_tiling_by_num_chunks ("1", &three, 1);
  CleaveSplitRequest requests[] = { { cleave_result_get_node (a), rows, NULL },
                                    { cleave_result_get_node (b), columns, NULL } };
  g_autoptr (CleaveSplitReport) report = NULL;

  cleave_graph_add_output (graph, "y", b, NULL);
  report = cleave_split_nodes (graph, requests, 2, NULL);
  assert_split (report, "a", "a.0 0:1,0:1 a.1 1:2,0:1");
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 2);
  ck_assert (cleave_clean_up (graph, NULL, NULL));
  cleave_assert_dump (graph, "%0 = Input : float32 2x1  # x\n"
                             "%1 = Slice %0 0:1,0:1 : float32 1x1  # a.0.X\n"
                             "%2 = Relu %1 : float32 1x1  # a.0\n"
                             "%3 = Slice %0 1:2,0:1 : float32 1x1  # a.1.X\n"
                             "%4 = Relu %3 : float32 1x1  # a.1\n"
                             "%5 = Assemble %2, %4 0:1,0:1 1:2,0:1 : float32 2x1  # a\n"
                             "%6 = Assemble %5, %0, %5 0:2,0:1 0:2,1:2 0:2,2:3 : float32 2x3  # b\n"
                             "output %6  # y\n");
}
END_TEST

START_TEST (a_long_chain_is_split_in_linear_time)
{
  const guint n = 100000;
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = cleave_test_input (graph, "x", CLEAVE_SHAPE (4));
  CleaveRecursion recursion = { .depth = G_MAXUINT };
  const gint64 two = 2;
  g_autoptr (CleaveTiling) by = cleave_tiling_by_num_chunks ("0", &two, 1);
  g_autoptr (CleaveSplitReport) report = NULL;

  g_unsetenv ("CLEAVE_DEBUG");
  for (guint i = 0; i < n; i++)
    y = unary (graph, "Relu", NULL, y);
  cleave_graph_add_output (graph, "y", y, NULL);
  report = cleave_split_node_recursively (cleave_result_get_node (y), by, NULL, &recursion, NULL);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), n);
  ck_assert_uint_eq (cleave_graph_get_n_nodes (graph), 1 + 2 + 2 * n + 1);
  ck_assert (cleave_clean_up (graph, NULL, NULL));
  ck_assert_uint_eq (cleave_graph_get_n_nodes (graph), 1 + 2 + 2 * n + 1);
}
END_TEST

static guint
count (CleaveGraph *graph, const char *op)
{
  guint n = 0;

  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    n += g_str_equal (cleave_op_get_name (cleave_node_get_op (node)), op);
  return n;
}

static void
assert_all_parallel (const CleaveSplitReport *report)
{
  const CleaveSplitTotals *totals = cleave_split_report_get_totals (report);

  ck_assert_int_eq (totals->parallel_macs, totals->macs_after);
}

/* The graph is a block of ShuffleNet. Half of the channels stay unchanged, and three convolutions
 * read the other half. Then the channels of both halves are shuffled. */
START_TEST (a_shuffle_block_stays_parallel)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y =
      unary (graph, "Relu", "r", cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 4, 8, 8)));
  const gint64 halves[] = { 2, 2 };
  CleaveNode *two = cleave_graph_add_split (graph, "split", y, 1, halves, 2, NULL);
  CleaveInts apart = CLEAVE_INTS (1, 2, 2, 8, 8), mixed = CLEAVE_INTS (0, 2, 1, 3, 4);
  CleaveInts together = CLEAVE_INTS (1, 4, 8, 8);
  CleaveRecursion deep = { .depth = 20 };
  g_autoptr (CleaveSplitReport) report = NULL;
  CleaveResult *branches[2] = { cleave_node_get_result (two, 0) };

  y = unary (graph, "Relu", "r0", conv (graph, "c0", cleave_node_get_result (two, 1), 1));
  branches[1] = unary (graph, "Relu", "r1", conv (graph, "c2", conv (graph, "c1", y, 3), 1));
  y = cleave_graph_add_concat (graph, "concat", branches, 2, 1, NULL);
  y = cleave_graph_add_reshape (graph, "apart", y, &apart, NULL);
  y = cleave_graph_add_transpose (graph, "mixed", y, &mixed, NULL);
  y = cleave_graph_add_reshape (graph, "together", y, &together, NULL);
  cleave_graph_add_output (graph, "y", conv (graph, "end", y, 1), NULL);
  report = split (graph, "end", "H", 2, 0, &deep);
  ck_assert_uint_eq (count (graph, "Conv"), 8);
  ck_assert_uint_eq (
      count (graph, "Relu"),
      8); /* in each band, the two halves of the channels need different rows of the first Relu */
  ck_assert_uint_eq (count (graph, "Concat"), 2);
  ck_assert_uint_eq (count (graph, "Transpose"), 2);
  ck_assert_uint_eq (count (graph, "Reshape"), 4);
  ck_assert_uint_eq (count (graph, "Assemble"), 1);
  /* Each of the two bands has three subgraphs: the unchanged half of the channels, the convolutions
   * of the other half, and the shuffle. */
  ck_assert_uint_eq (cleave_split_report_get_totals (report)->n_parallel_subgraphs, 6);
  assert_all_parallel (report);
}
END_TEST

/* The graph is a block of DenseNet: each layer reads the results of all previous layers. */
START_TEST (a_dense_block_stays_parallel)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 2, 8, 8));
  CleaveRecursion deep = { .depth = 20 };
  g_autoptr (CleaveSplitReport) report = NULL;

  y = unary (graph, "Relu", "r", y);
  for (guint i = 0; i < 3; i++)
    {
      CleaveResult *all[] = { y, unary (graph, "Relu", NULL, conv (graph, NULL, y, 3)) };

      y = cleave_graph_add_concat (graph, NULL, all, 2, 1, NULL);
    }
  cleave_graph_add_output (graph, "y", conv (graph, "end", y, 1), NULL);
  report = split (graph, "end", "H", 2, 0, &deep);
  ck_assert_uint_eq (count (graph, "Conv"), 8);
  ck_assert_uint_eq (count (graph, "Relu"), 8);
  ck_assert_uint_eq (count (graph, "Concat"), 6);
  ck_assert_uint_eq (count (graph, "Assemble"), 1);
  ck_assert_uint_eq (cleave_split_report_get_totals (report)->n_parallel_subgraphs, 2);
  assert_all_parallel (report);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "needs", skipped_rows_belong_to_adjacent_pieces,
                   overlapping_required_regions_of_a_chunk_merge,
                   disjoint_required_regions_stay_separate, views_do_not_stop_a_region,
                   several_roots_share_their_producers, all_used_results_are_assembled,
                   the_root_keeps_its_pieces, a_piece_may_be_the_value_of_a_node_that_is_replaced,
                   a_wrong_request_changes_nothing, a_predicate_and_a_schedule_go_together, NULL);
  cleave_add_case (suite, "blocks", a_shuffle_block_stays_parallel, a_dense_block_stays_parallel,
                   NULL);
  cleave_add_case (suite, "cost", a_long_chain_is_split_in_linear_time, NULL);
}

CLEAVE_TEST_SUITE ("region-needs", add_tests)
