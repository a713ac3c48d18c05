/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Cases 11 to 17 of the Glow suites (glow.h): constraints, and the search for the smallest split
 * that meets them. */

#include "glow.h"

#include <time.h>

#define KIB 1024
#define MIB (1024 * KIB)
#define GIB ((gint64) 1024 * MIB)

static gint64
largest_piece (const CleavePlan *plan)
{
  gint64 most = 0;

  for (guint i = 0; i < cleave_plan_get_n_chunks (plan); i++)
    most = MAX (most, cleave_plan_get_n_bytes (plan, i));
  return most;
}

/* The plan that a predicate saw last. */
typedef struct
{
  guint n_pieces;
  gint64 largest;
  gboolean answer;
} Seen;

static gboolean
record_plan (const CleavePlan *plan, gpointer data, GString *why)
{
  Seen *seen = data;

  seen->n_pieces = cleave_plan_get_n_chunks (plan);
  seen->largest = largest_piece (plan);
  if (!seen->answer)
    g_string_append (why, "only looking");
  return seen->answer;
}

/* Makes a convolution with bias. */
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
  CleaveConstraint constraint = { .max_memory = 4 * MIB, .predicate = record_plan, .data = &seen };
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
  CleaveConstraint constraint = { .max_memory = 40 * KIB, .predicate = record_plan, .data = &seen };
  g_autoptr (CleaveSplitReport) report = split (graph, "conv", NULL, &constraint);

  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
  ck_assert_uint_eq (seen.n_pieces, 40);
  ck_assert_int_eq (seen.largest, 38684);
}
END_TEST

START_TEST (case_13_impossible_limits_are_reported_at_once)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (1, 112, 112, 256));
  CleaveConstraint constraint = { .max_memory = 1 };
  clock_t begin = clock ();
  g_autoptr (CleaveSplitReport) report = split (graph, "relu", NULL, &constraint);

  /* the search takes 10 ms on an idle machine; the limit is 1 s */
  ck_assert_int_lt (clock () - begin, 1000000);
  assert_split (report, "relu",
                "constraint: the smallest piece needs 8 bytes, 4 of them for X; the limit is 1; "
                "with at most 100400 pieces the largest needs 256; not found within a search "
                "budget of 502000");
}
END_TEST

START_TEST (case_14_bytes_are_counted_in_64_bits)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (1, 1024, 1024, 1024));
  Seen seen = { .answer = TRUE };
  CleaveConstraint constraint = { .max_memory = 5 * GIB, .predicate = record_plan, .data = &seen };
  g_autoptr (CleaveSplitReport) report = split (graph, "relu", NULL, &constraint);

  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
  ck_assert_uint_eq (seen.n_pieces, 2);
  ck_assert_int_eq (seen.largest, 4 * GIB);
}
END_TEST

START_TEST (case_15_unused_results_are_not_counted)
{
  g_autoptr (CleaveGraph) graph = pool_graph (2);
  Seen seen = { .answer = FALSE };
  CleaveConstraint look_only = { .predicate = record_plan, .data = &seen };
  CleaveConstraint half = { .max_memory = 4368, .predicate = record_plan, .data = &seen };
  const CleaveRange whole = CLEAVE_RANGE (0, 3, 0, 6, 0, 7, 0, 4);
  g_autoptr (CleaveSplitReport) report = NULL, third = NULL;

  report = split (graph, "pool", NULL, &look_only);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 0);
  third = split (graph, "pool", cleave_tiling_by_slice_ranges (&whole, 1), &half);
  assert_split (third, "pool", "one-piece: it would be one piece");
  seen.answer = TRUE;
  half.max_memory = 4704;
  g_clear_pointer (&report, cleave_split_report_unref);
  report = split (graph, "pool", NULL, &half);
  ck_assert_int_eq (seen.largest, 4704);
  assert_split (report, "pool", "one-piece: it meets the constraint unsplit");
}
END_TEST

/* Makes a chain of convolutions. Every node meets the budget of the test, but the whole chain does
 * not. */
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
  g_autoptr (CleaveTiling) two = chunks ("H", 2);
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
  g_autoptr (CleaveTiling) two = chunks ("H", 2);
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

START_TEST (the_example_graph_has_the_documented_numbers)
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
  check_end (&check);
}
END_TEST

START_TEST (the_carried_example_graph_computes_nothing_twice)
{
  g_autoptr (CleaveGraph) graph = cleave_test_figure ();
  CleaveRecursion recursion = { .depth = 3, .halo = CLEAVE_HALO_CARRY };
  Check check = check_begin (graph);
  g_autoptr (CleaveTiling) two = chunks ("H", 2);
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

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "search", case_11_the_search_knows_all_dimensions,
                   case_12_the_search_combines_dimensions,
                   case_13_impossible_limits_are_reported_at_once,
                   case_14_bytes_are_counted_in_64_bits, case_15_unused_results_are_not_counted,
                   case_16_the_whole_schedule_has_a_budget, case_16_a_subgraph_has_a_budget,
                   case_17_the_halo_has_a_price, NULL);
  cleave_add_case (suite, "figure", the_example_graph_has_the_documented_numbers,
                   the_carried_example_graph_computes_nothing_twice, NULL);
}

CLEAVE_TEST_SUITE ("glow-search", add_tests)
