/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The fit of random graphs: the split graph meets the budget and computes the same bits. */

#include "fitted.h"

/* The number of random graphs. */
#define N_SEEDS CLEAVE_TRIALS (60)

/* Asserts that a program for two threads has the arena of a plan for two threads. */
static void
try_threads (const CleaveGraph *graph, guint32 seed)
{
  gint64 all = run_get_stats (graph, 2).arena_bytes;
  const CleaveFitOptions options = { .max_memory = MAX (all / 4 * 3, 1), .n_threads = 2 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error);
  g_autoptr (CleaveGraph) copy = NULL;

  if (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT))
    return;
  cleave_assert_no_error (error);
  copy = apply (graph, plan);
  ck_assert_int_eq (run_get_stats (copy, 2).arena_bytes,
                    cleave_fit_plan_get_totals (plan)->arena_after);
  ck_assert_msg (run_get_stats (copy, 2).arena_bytes <= options.max_memory, "seed %u", seed);
}

START_TEST (budgets_hold_in_random_images)
{
  g_autoptr (CleaveGraph) graph = cleave_random_graph ((guint32) _i, 12);

  try_budgets (graph, (guint32) _i);
  try_threads (graph, (guint32) _i);
}
END_TEST

START_TEST (budgets_hold_in_random_graphs)
{
  g_autoptr (CleaveGraph) graph = random_graph ((guint32) _i, 14);

  try_budgets (graph, (guint32) _i);
}
END_TEST

/* A larger limit on added MACs also allows all plans of a smaller limit, so the plan for the larger
 * limit needs no more memory. */
START_TEST (more_macs_are_no_worse)
{
  static const double limits[] = { -1, 0.1, 0.3, 0 };
  g_autoptr (CleaveGraph) graph = cleave_random_graph ((guint32) _i, 12);
  gint64 before = G_MAXINT64;

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      const CleaveFitOptions options = { .max_added_macs = limits[i], .exclude_inputs = TRUE };
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error);

      cleave_assert_no_error (error);
      ck_assert_int_le (cleave_fit_plan_get_totals (plan)->arena_after, before);
      before = cleave_fit_plan_get_totals (plan)->arena_after;
    }
}
END_TEST

/* The graph is imported before it is split, and exported and imported again afterwards. */
START_TEST (imported_random_graphs_need_the_planned_memory)
{
  const guint32 seed = (guint32) _i / 2;
  g_autoptr (CleaveGraph) built =
      _i % 2 == 0 ? cleave_random_graph (seed, 12) : random_graph (seed, 14);
  g_autoptr (CleaveGraph) graph = read_again (built);

  for (guint n_threads = 1; n_threads <= 2; n_threads++)
    {
      const CleaveFitOptions options = { .n_threads = n_threads };
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error);
      g_autoptr (CleaveGraph) split = NULL;

      cleave_assert_no_error (error);
      split = apply (graph, plan);
      assert_same_again (split, plan, n_threads);
    }
}
END_TEST

/* Makes a chain of convolutions. If `has_dead`, adds a large convolution whose result nobody
 * reads. */
static CleaveGraph *
make_chain (gboolean has_dead)
{
  CleaveGraph *graph = cleave_graph_new ("chain");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 32, 32));

  for (guint i = 0; i < 3; i++)
    x = run_unary (graph, "Relu", run_conv (graph, x, 8, 3, CLEAVE_LAYOUT_NCHW));
  if (has_dead)
    run_conv (graph, x, 64, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, x);
  return graph;
}

static void
assert_equal_totals (const CleaveFitPlan *a, const CleaveFitPlan *b)
{
  const CleaveFitTotals *x = cleave_fit_plan_get_totals (a), *y = cleave_fit_plan_get_totals (b);

  ck_assert_int_eq (x->arena_before, y->arena_before);
  ck_assert_int_eq (x->arena_after, y->arena_after);
  ck_assert_int_eq (x->macs_before, y->macs_before);
  ck_assert_int_eq (x->macs_after, y->macs_after);
  ck_assert_uint_eq (x->nodes_before, y->nodes_before);
  ck_assert_uint_eq (x->nodes_after, y->nodes_after);
  ck_assert_double_eq (x->latency_after, y->latency_after);
}

START_TEST (dead_nodes_have_no_part_in_a_plan)
{
  g_autoptr (CleaveGraph) graph = make_chain (FALSE), with_dead = make_chain (TRUE);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) expected = find_plan (graph, 0, &error);
  g_autoptr (CleaveFitPlan) plan = find_plan (with_dead, 0, &error), again = NULL;
  g_autoptr (GVariant) data = g_variant_ref_sink (cleave_fit_plan_to_data (plan));
  g_autoptr (CleaveGraph) split = apply (graph, expected), split_with_dead = NULL;

  assert_equal_totals (plan, expected);
  again = cleave_fit_plan_new_from_data (with_dead, data, &error);
  cleave_assert_no_error (error);
  assert_equal_totals (again, expected);
  split_with_dead = apply (with_dead, again);
  ck_assert_uint_eq (cleave_graph_count_operators (split_with_dead),
                     cleave_graph_count_operators (split));
  ck_assert_int_lt (cleave_fit_plan_get_totals (plan)->arena_after,
                    cleave_fit_plan_get_totals (plan)->arena_before);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *random = tcase_create ("random");

  tcase_set_timeout (random, 0);
  tcase_add_loop_test (random, budgets_hold_in_random_images, 0, N_SEEDS);
  /* in the graph of seed 89, tiles copy carried values */
  tcase_add_loop_test (random, budgets_hold_in_random_images, 89, 90);
  tcase_add_loop_test (random, budgets_hold_in_random_graphs, 0, N_SEEDS);
  tcase_add_loop_test (random, more_macs_are_no_worse, 0, 2 * N_SEEDS);
  tcase_add_loop_test (random, imported_random_graphs_need_the_planned_memory, 0, 2 * N_SEEDS);
  suite_add_tcase (suite, random);
  cleave_add_case (suite, "dead", dead_nodes_have_no_part_in_a_plan, NULL);
}

CLEAVE_TEST_SUITE ("fit", add_tests)
