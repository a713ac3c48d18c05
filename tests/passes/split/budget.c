/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests that searches use at most their budget of work, and report the smallest number of bytes
 * that they reach. A search with this number as the limit succeeds. */

#include "graphs.h"
#include "test.h"

typedef enum { PIECES, SUBGRAPHS, SCHEDULE, N_LIMITS } Limit;

static CleaveConstraint
make_limit (Limit limit, gint64 bytes)
{
  CleaveConstraint constraint = { 0 };

  *(limit == PIECES      ? &constraint.max_memory
    : limit == SUBGRAPHS ? &constraint.max_subgraph_memory
                         : &constraint.max_schedule_memory) = bytes;
  return constraint;
}

/* Makes a chain of convolutions with 3x3 kernels and Relus. The input has 8 channels, `h` rows and
 * `w` columns. */
static CleaveGraph *
make_chain (guint n, gint64 h, gint64 w)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveResult *y = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 8, h, w));
  CleaveResult *k = cleave_test_weights (graph, "k", CLEAVE_SHAPE (8, 8, 3, 3));

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("n%u", i);

      y = i % 2 == 0 ? cleave_graph_add_conv (graph, name, y, k, NULL, &attrs, NULL)
                     : cleave_graph_add_unary (graph, "Relu", name, y, NULL, NULL);
    }
  cleave_graph_add_output (graph, "y", y, NULL);
  return graph;
}

/* Splits all nodes if `depth` is 0. Otherwise splits the last node recursively to this depth. */
static CleaveSplitReport *
split (CleaveGraph *graph, guint depth, const CleaveConstraint *constraint)
{
  CleaveRecursion recursion = { .depth = depth };
  CleaveNode *last = cleave_graph_get_first_node (graph);
  g_autoptr (GError) error = NULL;
  CleaveSplitReport *report;

  while (cleave_node_get_next (last) != NULL)
    last = cleave_node_get_next (last);
  report = depth == 0 ? cleave_split_all_nodes (graph, NULL, constraint, &error)
                      : cleave_split_node_recursively (last, NULL, constraint, &recursion, &error);
  cleave_assert_no_error (error);
  return report;
}

/* Searches on a copy of the graph. Returns whether the limit is met. Sets `reached` to the smallest
 * number of bytes that a split of the search reached. */
static gboolean
is_met (const CleaveGraph *graph, guint depth, const CleaveConstraint *constraint, gint64 *reached)
{
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  g_autofree char *before = cleave_graph_print (copy);
  g_autoptr (CleaveSplitReport) report = split (copy, depth, constraint);
  const CleaveSplitLimit *limit = cleave_split_report_get_limit (report, 0);

  ck_assert_uint_eq (cleave_split_report_get_n_limits (report), 1);
  ck_assert (limit->is_met == (limit->reached <= limit->asked));
  if (!limit->is_met && constraint->max_memory == 0)
    cleave_assert_dump (copy, before);
  if (limit->is_met && constraint->max_schedule_memory != 0)
    ck_assert_int_eq (cleave_split_report_get_totals (report)->peak_bytes_after,
                      (gint64) limit->reached);
  *reached = (gint64) limit->reached;
  return limit->is_met;
}

static gint64
work_of (guint n, guint depth, Limit limit, gint64 bytes)
{
  g_autoptr (CleaveGraph) graph = make_chain (n, 24, 10);
  CleaveConstraint constraint = make_limit (limit, bytes);
  g_autoptr (CleaveSplitReport) report = NULL;
  const CleaveSplitTotals *totals;

  constraint.search_budget = 8000 * n;
  report = split (graph, depth, &constraint);
  totals = cleave_split_report_get_totals (report);

  /* The search checks its budget between candidates, so the last candidate may exceed the budget.
   */
  ck_assert_int_le (totals->search_work, 2 * totals->search_budget);
  return totals->search_work;
}

/* The work of a search is linear in the number of nodes, even for low limits. */
START_TEST (work_is_linear_in_the_graph)
{
  static const gint64 bytes[] = { 1, 5000 };
  Limit limit = (Limit) _i;

  for (guint i = 0; i < G_N_ELEMENTS (bytes); i++)
    {
      gint64 one = work_of (10, 0, limit, bytes[i]), two = work_of (20, 0, limit, bytes[i]),
             four = work_of (40, 0, limit, bytes[i]);

      ck_assert_int_gt (one, 0);
      ck_assert_msg ((double) two <= 2.3 * (double) one && (double) four <= 2.3 * (double) two,
                     "limit %d of %d: %d, %d, %d", limit, (int) bytes[i], (int) one, (int) two,
                     (int) four);
    }
}
END_TEST

static CleaveConstraint
small_search (Limit limit, gint64 bytes)
{
  CleaveConstraint constraint = make_limit (limit, bytes);

  constraint.search_budget = 2000;
  return constraint;
}

/* Asserts that the search meets a limit if and only if the limit is at least the smallest number of
 * bytes that the search reports. */
static void
check_reached (const CleaveGraph *graph, guint depth, Limit limit, guint seed)
{
  CleaveConstraint nothing = small_search (limit, -1);
  gint64 least, reached;

  ck_assert (!is_met (graph, depth, &nothing, &least));
  for (gint64 asked = least, i = 0; i < 4; i++, asked += 1 + asked / 3)
    {
      CleaveConstraint constraint = small_search (limit, asked);

      ck_assert_msg (is_met (graph, depth, &constraint, &reached),
                     "seed %u, depth %u, limit %d: %d was reached, %d is not, but %d", seed, depth,
                     limit, (int) least, (int) asked, (int) reached);
    }
  for (gint64 asked = least - 1; asked > 0; asked /= 3)
    {
      CleaveConstraint constraint = small_search (limit, asked);

      ck_assert_msg (!is_met (graph, depth, &constraint, &reached) && reached == least,
                     "seed %u, depth %u, limit %d: at %d it is %d, but %d was reported", seed,
                     depth, limit, (int) asked, (int) reached, (int) least);
    }
}

START_TEST (the_least_value_is_met_as_a_limit)
{
  for (guint32 seed = (guint32) _i; seed < 18; seed += 6)
    {
      g_autoptr (CleaveGraph) graph = cleave_random_graph (seed, 3 + seed % 9);

      for (Limit limit = PIECES; limit < N_LIMITS; limit++)
        for (guint depth = 0; depth < 4; depth++)
          check_reached (graph, depth, limit, seed);
    }
}
END_TEST

/* There are too many grids for the budget of the search. The search uses up the budget, and the
 * report says so. With a larger budget of the search, the smallest number of bytes that the search
 * reaches is not larger. The limit is on the memory of a piece, of a subgraph or of the whole
 * schedule. */
START_TEST (a_larger_budget_reaches_no_less)
{
  g_autoptr (CleaveGraph) graph = make_chain (6, 56, 48);

  for (Limit limit = PIECES; limit < N_LIMITS; limit++)
    for (guint depth = 0; depth < 7; depth += 6)
      {
        gint64 before = G_MAXINT64, reached;

        for (gint64 budget = 10; budget < 100000; budget *= 10)
          {
            CleaveConstraint constraint = make_limit (limit, 1);

            constraint.search_budget = budget;
            ck_assert (!is_met (graph, depth, &constraint, &reached));
            ck_assert_msg (reached <= before, "limit %d, depth %u, budget %d: %d after %d", limit,
                           depth, (int) budget, (int) reached, (int) before);
            before = reached;
          }
      }
}
END_TEST

START_TEST (the_budget_is_linear_in_the_nodes)
{
  for (guint n = 2; n < 100; n *= 4)
    {
      g_autoptr (CleaveGraph) graph = make_chain (n, 4, 4);
      CleaveConstraint constraint = make_limit (PIECES, 2000);
      g_autoptr (CleaveSplitReport) report = split (graph, 0, &constraint);

      ck_assert_int_eq (cleave_split_report_get_totals (report)->search_budget, 500000 + 2000 * n);
    }
}
END_TEST

START_TEST (an_incomplete_search_is_reported)
{
  g_autoptr (CleaveGraph) graph = make_chain (4, 56, 48);
  CleaveConstraint constraint = make_limit (SUBGRAPHS, 1);
  g_autoptr (CleaveSplitReport) report = NULL;
  const CleaveSplitTotals *totals;
  const char *message;

  constraint.search_budget = 3000;
  report = split (graph, 0, &constraint);
  totals = cleave_split_report_get_totals (report);
  ck_assert_int_eq (totals->search_budget, 3000);
  ck_assert (totals->search_gave_up);
  ck_assert_ptr_nonnull (strstr (cleave_split_report_get_not_split (report, 0)->message,
                                 "not found within a search budget of 3000"));
  message = cleave_split_report_get_not_split (report, 0)->message;
  ck_assert_msg (g_regex_match_simple (
                     "its largest value, of [A-Z][a-z]+ '[a-z]+[0-9_.a-zX]*', has", message, 0, 0),
                 "%s", message);
}
END_TEST

static void
watch (gint64 done, gint64 budget, gpointer data)
{
  gint64 *last = data;

  ck_assert_int_ge (done, *last);
  ck_assert_int_le (done, budget);
  *last = done;
}

START_TEST (progress_is_reported)
{
  g_autoptr (CleaveGraph) graph = make_chain (4, 56, 48);
  CleaveConstraint constraint = make_limit (SCHEDULE, 1);
  gint64 last = 0;
  g_autoptr (CleaveSplitReport) report = NULL;

  constraint.watch = watch;
  constraint.watch_data = &last;
  report = split (graph, 3, &constraint);
  ck_assert_int_gt (last, 0);
}
END_TEST

/* If a constraint rejects the requested split, the report has, for each limit, the value that this
 * split reaches, such as 4 pieces. */
START_TEST (a_veto_reports_the_value_reached)
{
  static const char *const names[] = { "max-memory", "max-subgraph-memory", "max-schedule-memory",
                                       "max-added-macs", "max-pieces" };
  g_autoptr (CleaveGraph) graph = make_chain (3, 12, 10);
  const gint64 four = 4;
  g_autoptr (CleaveTiling) rows = cleave_tiling_by_num_chunks ("H", &four, 1);
  CleaveConstraint constraint = { .max_memory = 1,
                                  .max_subgraph_memory = 1,
                                  .max_schedule_memory = 1,
                                  .max_added_macs = -1,
                                  .max_pieces = 3 };
  g_autoptr (CleaveSplitReport) report =
      cleave_split_node (cleave_graph_find_node (graph, "n2"), rows, &constraint, NULL);

  ck_assert_uint_eq (cleave_split_report_get_n_limits (report), 5);
  for (guint i = 0; i < 5; i++)
    {
      const CleaveSplitLimit *limit = cleave_split_report_get_limit (report, i);

      ck_assert_uint_eq (limit->kind, i);
      ck_assert_str_eq (cleave_limit_kind_get_name (limit->kind), names[i]);
      ck_assert (limit->is_met == (i == CLEAVE_LIMIT_ADDED_MACS)); /* a cut of rows adds no MACs */
    }
  /* The largest piece reads five rows of its operand, computes three rows of its result, and reads
   * 8 x 72 weights. A row has 8 channels x 10 columns. */
  ck_assert_double_eq (cleave_split_report_get_limit (report, 0)->reached,
                       4 * (5 * 80 + 3 * 80 + 8 * 72));
  ck_assert_double_eq (cleave_split_report_get_limit (report, 4)->reached, 4);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *slow = tcase_create ("reached");

  cleave_add_case (suite, "budget", a_larger_budget_reaches_no_less,
                   the_budget_is_linear_in_the_nodes, an_incomplete_search_is_reported,
                   progress_is_reported, a_veto_reports_the_value_reached, NULL);
  tcase_set_timeout (slow, 120);
  tcase_add_loop_test (slow, work_is_linear_in_the_graph, 0, N_LIMITS);
  tcase_add_loop_test (slow, the_least_value_is_met_as_a_limit, 0, 6);
  suite_add_tcase (suite, slow);
}

CLEAVE_TEST_SUITE ("split-budget", add_tests)
