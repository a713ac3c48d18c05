/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Plans of the fit, the graphs that they split, and assertions about both. The suites in
 * tests/passes/fit find a plan for a budget. assert_holds() checks that the split graph has the
 * arena and the MACs that the plan reports, and computes the same bits as the unsplit graph. */

#include "../../../passes/fit/measurement.h"
#include "graphs.h"
#include "random-graph.h"
#include "run-help.h"

#include <math.h>

/* The number of budgets for each graph. */
#define N_BUDGETS 3

static inline CleaveFitPlan *
find_plan (const CleaveGraph *graph, gint64 max_memory, GError **error)
{
  const CleaveFitOptions options = { .max_memory = max_memory };

  return cleave_fit_plan_new (graph, &options, error);
}

/* Returns a copy of the graph, split by the plan. */
static inline CleaveGraph *
apply (const CleaveGraph *graph, const CleaveFitPlan *plan)
{
  CleaveGraph *copy = cleave_graph_copy (graph);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report = cleave_fit_plan_apply (plan, copy, &error);

  cleave_assert_no_error (error);
  ck_assert (cleave_graph_validate (copy, &error));
  return copy;
}

static inline CleaveGraph *
read_again (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, &error);
  CleaveGraph *again = bytes == NULL ? NULL : cleave_onnx_parse (bytes, NULL, NULL, &error);

  cleave_assert_no_error (error);
  again->exclude_inputs = graph->exclude_inputs;
  return again;
}

/* Exports the split graph to ONNX and imports the file. Asserts that the imported graph needs at
 * most the arena of the plan. */
static inline void
assert_same_again (const CleaveGraph *split, const CleaveFitPlan *plan, guint n_threads)
{
  g_autoptr (CleaveGraph) again = read_again (split);

  ck_assert_int_le (run_get_stats (again, n_threads).arena_bytes,
                    cleave_fit_plan_get_totals (plan)->arena_after);
}

/* Splits the graph by the plan. Asserts that the result has the arena and the MACs of the plan, and
 * computes the same bits with one thread and with two. */
static inline void
assert_holds (const CleaveGraph *graph, const CleaveFitPlan *plan, gint64 budget, guint32 seed)
{
  const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plan);
  g_autoptr (CleaveGraph) copy = apply (graph, plan), before = cleave_graph_copy (graph);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, seed);
  g_autoptr (GPtrArray) whole = run_graph (graph, inputs, 1), split = run_graph (copy, inputs, 2);
  g_autoptr (GPtrArray) lapped = run_graph (copy, inputs, 1);
  CleaveProgramStats stats = run_get_stats (copy, 1);

  ck_assert_msg (stats.arena_bytes <= budget, "seed %u", seed);
  ck_assert_int_eq (stats.arena_bytes, totals->arena_after);
  ck_assert_int_eq (cleave_graph_get_macs (copy), totals->macs_after);
  cleave_pass_remove_dead (before, NULL, NULL, NULL);
  ck_assert_int_eq (run_get_stats (before, 1).arena_bytes, totals->arena_before);
  ck_assert_msg (cleave_compare_outputs (whole, split) < 0, "seed %u", seed);
  ck_assert_msg (cleave_compare_outputs (whole, lapped) < 0, "seed %u", seed);
}

/* Finds a plan for a budget of `budget` bytes, and checks the plan with assert_holds(). If no plan
 * meets the budget, the message must name the smallest budget that a plan meets, and this budget
 * must be at most `least` bytes. The function then checks the plan for the named budget. */
static inline void
assert_reported (const CleaveGraph *graph, gint64 budget, gint64 least, guint32 seed)
{
  static const char *const says = "the smallest that a plan meets is ";
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, budget, &error);
  gint64 reported = budget;

  if (plan == NULL)
    {
      ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT));
      reported = g_ascii_strtoll (strstr (error->message, says) + strlen (says), NULL, 10);
      ck_assert_msg (reported <= least, "seed %u: %s", seed, error->message);
      g_clear_error (&error);
      plan = find_plan (graph, reported, &error);
      cleave_assert_no_error (error);
    }
  assert_holds (graph, plan, reported, seed);
}

/* Asserts that there is a plan for the smallest possible budget, but none for one byte less.
 * Returns the smallest budget in bytes. */
static inline gint64
assert_least (const CleaveGraph *graph, guint32 seed)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) least = find_plan (graph, 0, &error);
  gint64 n = cleave_fit_plan_get_totals (least)->arena_after;
  g_autofree char *says =
      g_strdup_printf ("the budget is %" G_GINT64_FORMAT " bytes, the "
                       "smallest that a plan meets is %" G_GINT64_FORMAT " bytes;",
                       n - 1, n);

  cleave_assert_no_error (error);
  if (n <= 1)
    return n; /* the graph computes nothing */
  assert_reported (graph, n, n, seed);
  ck_assert_ptr_null (find_plan (graph, n - 1, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT));
  ck_assert_msg (g_str_has_prefix (error->message, says), "seed %u: %s", seed, error->message);
  assert_reported (graph, MAX (2 * n / 3, 1), n, seed);
  return n;
}

static inline void
try_budgets (const CleaveGraph *graph, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  gint64 least = assert_least (graph, seed), all = run_get_stats (graph, 1).arena_bytes;

  for (guint i = 0; i < N_BUDGETS && all > least; i++)
    {
      gint64 budget = least + (gint64) (g_rand_double (rand) * (double) (all - least));
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveFitPlan) plan = find_plan (graph, budget, &error);

      cleave_assert_no_error (error);
      assert_holds (graph, plan, budget, seed);
    }
}

/* Makes a residual block: a 3x3 convolution of x, a 1x1 convolution to 32 channels and a 3x3
 * convolution, with Relus between. The output is the sum of the last convolution and x. */
static inline CleaveGraph *
make_residual (CleaveLayout layout)
{
  CleaveGraph *graph = cleave_graph_new ("residual");
  CleaveResult *x = run_input (graph, layout == CLEAVE_LAYOUT_NCHW ? &CLEAVE_SHAPE (1, 4, 48, 32)
                                                                   : &CLEAVE_SHAPE (1, 48, 32, 4));
  CleaveResult *y = run_conv (graph, x, 4, 3, layout);

  y = run_conv (graph, run_unary (graph, "Relu", y), 32, 1, layout);
  y = run_conv (graph, run_unary (graph, "Relu", y), 4, 3, layout);
  run_output (graph, run_binary (graph, "Add", x, y));
  return graph;
}

/* Makes softmax (q k) v, with the Softmax along the last axis. */
static inline CleaveGraph *
make_attention (void)
{
  CleaveGraph *graph = cleave_graph_new ("attention");
  CleaveResult *q = run_input (graph, &CLEAVE_SHAPE (2, 64, 8));
  CleaveResult *k = run_input (graph, &CLEAVE_SHAPE (2, 8, 64));
  CleaveResult *v = run_input (graph, &CLEAVE_SHAPE (2, 64, 8));
  CleaveResult *scores = run_binary (graph, "MatMul", q, k);
  const CleaveAxisAttrs last = { .axis = -1 };
  CleaveResult *weights = run_add (graph, "Softmax", &scores, 1, &last);

  run_output (graph, run_binary (graph, "MatMul", weights, v));
  return graph;
}
