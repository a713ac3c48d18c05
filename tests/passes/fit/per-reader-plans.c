/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Plans of the fit that split values per reader. */

#include "../../../passes/fit/order.h"

#include <cleave/cleave-fit.h>

#include "per-reader.h"
#include "run-help.h"

/* An attention layer on 64 rows. `@` and `#` stand for the numbers of its operand and its result. A
 * plan can compute a few rows of queries at a time. */
#define LAYER                                                                                      \
  "%w@ = Constant seed=@ : float32 16x48\n%n@ = Softmax %x@ axis=-1\n%m@ = MatMul %n@, %w@\n"      \
  "%r@ = Reshape %m@ shape=1,64,3,1,16\n%t@ = Transpose %r@ perm=2,0,3,1,4\n"                      \
  "%q@, %k@, %v@ = Split %t@ axis=0 split=1,1,1\n%kt@ = Transpose %k@ perm=0,1,2,4,3\n"            \
  "%s@ = MatMul %q@, %kt@\n%p@ = Softmax %s@ axis=-1\n%y@ = MatMul %p@, %v@\n"                     \
  "%o@ = Reshape %y@ shape=1,64,16\n%x# = Add %x@, %o@\n"

static CleaveGraph *
make_attention (void)
{
  g_autoptr (GString) text = g_string_new ("graph attention\n%x0 = Input : float32 1x64x16\n");

  g_string_append (text, LAYER);
  g_string_replace (text, "@", "0", 0);
  g_string_replace (text, "#", "1", 0);
  g_string_append (text, LAYER);
  g_string_replace (text, "@", "1", 0);
  g_string_replace (text, "#", "2", 0);
  g_string_append (text, "output %x2\n");
  return parse (text->str);
}

static CleaveFitPlan *
find_plan (const CleaveGraph *graph, gint64 max_memory)
{
  const CleaveFitOptions options = { .max_memory = max_memory, .max_added_macs = -1 };
  g_autoptr (GError) error = NULL;
  CleaveFitPlan *plan = cleave_fit_plan_new (graph, &options, &error);

  ck_assert (plan != NULL || g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT));
  return plan;
}

/* Finds the plan with the least memory. Asserts that the split graph has the totals that the plan
 * reports and needs less than `max_bytes`. Also asserts that the plan's arena is the smallest
 * budget that a plan meets. */
static void
check (const CleaveGraph *graph, gint64 max_bytes)
{
  g_autoptr (CleaveGraph) split = cleave_graph_copy (graph);
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, 0), same = NULL;
  const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plan);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report = cleave_fit_plan_apply (plan, split, &error);

  cleave_assert_no_error (error);
  ck_assert (cleave_fit_plan_changes (plan));
  ck_assert_int_eq (run_get_stats (graph, 1).arena_bytes, totals->arena_before);
  ck_assert_int_eq (run_get_stats (split, 1).arena_bytes, totals->arena_after);
  ck_assert_int_lt (totals->arena_after, max_bytes);
  ck_assert_int_eq (totals->macs_after, totals->macs_before);
  run_assert_same (split, 3);
  same = find_plan (graph, totals->arena_after);
  ck_assert_ptr_nonnull (same);
  ck_assert_int_eq (cleave_fit_plan_get_totals (same)->arena_after, totals->arena_after);
  ck_assert_ptr_null (find_plan (graph, totals->arena_after - 1));
}

/* At the peak of a layer, its residual sum, keys, values and a few rows of queries are alive: less
 * than five values of 64 x 16. If all queries were alive too, the plan would need more. */
START_TEST (plans_cut_values_that_are_read_in_parts)
{
  g_autoptr (CleaveGraph) graph = make_attention ();

  check (graph, 5 * 64 * 16 * 4);
}
END_TEST

/* A recurrent layer between a convolution, which is cut into columns, and a product, which is cut
 * into rows. */
#define RECURRENT                                                                                  \
  "graph recurrent\n%x = Input : float32 1x4x96\n%c = Constant seed=1 : float32 64x4x3\n"          \
  "%n = Conv %x, %c pads=1,1\n%a = Relu %n\n%t = Transpose %a perm=2,0,1\n"                        \
  "%w = Constant seed=2 : float32 1x256x64\n%u = Constant seed=3 : float32 1x256x64\n"             \
  "%h, %l, %m = LSTM %t, %w, %u hidden_size=64\n%s = Squeeze %h axes=1\n"                          \
  "%v = Constant seed=4 : float32 64x4\n%y = MatMul %s, %v\noutput %y\n"

START_TEST (plans_cut_recurrent_layers)
{
  g_autoptr (CleaveGraph) graph = parse (RECURRENT);

  check (graph, 96 * 64 * 4 / 2);
}
END_TEST

/* If a value is split per reader, a run takes more time. If the added time exceeds
 * `max_added_latency`, the search finds another plan. */
START_TEST (added_latency_is_limited)
{
  static const char *const texts[] = { PACKED, STEPS, RECURRENT };
  static const double limits[] = { -1, 0.01, 0.1, 0.25 };

  for (guint t = 0; t < G_N_ELEMENTS (texts); t++)
    for (guint l = 0; l < G_N_ELEMENTS (limits); l++)
      {
        g_autoptr (CleaveGraph) graph = parse (texts[t]);
        const CleaveFitOptions options = { .max_added_macs = -1, .max_added_latency = limits[l] };
        g_autoptr (GError) error = NULL;
        g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error);
        const CleaveFitTotals *totals;

        cleave_assert_no_error (error);
        totals = cleave_fit_plan_get_totals (plan);
        ck_assert_int_le (totals->arena_after, totals->arena_before);
        ck_assert_double_le (totals->latency_after,
                             (1 + MAX (limits[l], 0)) * totals->latency_before);
      }
}
END_TEST

/* A plan can compute the two halves of a product separately. The plan then needs less memory, even
 * without segments. */
#define HALVES                                                                                     \
  "graph halves\n%x0 = Input : float32 1x12x24\n%c1 = Constant seed=912 : float32 24x96\n"         \
  "%v2 = MatMul %x0, %c1\n%a3, %b3 = Split %v2 axis=2 split=48,48\n%v4 = Sigmoid %a3\n"            \
  "%v5 = Mul %v4, %b3\n%c6 = Constant seed=897 : float32 48x24\n%v7 = MatMul %v5, %c6\n"           \
  "%c8 = Constant seed=766 : float32 24x96\n%v9 = MatMul %v7, %c8\n%v10 = Relu %v9\n"              \
  "%v11 = ReduceMean %v10 axes=1 keepdims=1\n%c12 = Constant seed=921 : float32 96x24\n"           \
  "%v13 = MatMul %v11, %c12\n%v14 = Sigmoid %v13\n%c15 = Constant seed=560 : float32 24x96\n"      \
  "%v16 = MatMul %v14, %c15\n%v17 = Mul %v10, %v16\n%c18 = Constant seed=7 : float32 96x24\n"      \
  "%v19 = MatMul %v17, %c18\n%c20 = Constant seed=906 : float32 24x96\n"                           \
  "%v21 = MatMul %v19, %c20\n%a22, %b22 = Split %v21 axis=2 split=48,48\n%v23 = Sigmoid %a22\n"    \
  "%v24 = Mul %v23, %b22\n%c25 = Constant seed=910 : float32 48x24\n%v26 = MatMul %v24, %c25\n"    \
  "output %v26\n"

START_TEST (plans_without_segments_are_found_again)
{
  g_autoptr (CleaveGraph) graph = parse (HALVES);
  CleaveFitOptions options = { .max_added_macs = -1, .max_added_latency = 0.25 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error), same = NULL;

  cleave_assert_no_error (error);
  ck_assert_uint_eq (cleave_fit_plan_get_n_segments (plan), 0);
  options.max_memory = cleave_fit_plan_get_totals (plan)->arena_after;
  ck_assert_int_lt (options.max_memory, cleave_fit_plan_get_totals (plan)->arena_before);
  same = cleave_fit_plan_new (graph, &options, &error);
  cleave_assert_no_error (error);
}
END_TEST

/* A plan can be applied only to the graph for which it was made. If the plan is applied to another
 * graph, the call fails and the other graph stays unchanged. The test uses another graph in which a
 * value could also be split per reader. */
START_TEST (plans_with_parts_need_their_graph)
{
  g_autoptr (CleaveGraph) graph = make_attention (), other = parse (PACKED);
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, 0);
  g_autofree char *before = cleave_graph_print (other);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_fit_plan_apply (plan, other, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
  cleave_assert_dump (other, before);
}
END_TEST

START_TEST (without_its_segments_a_plan_has_no_parts)
{
  g_autoptr (CleaveGraph) graph = make_attention ();
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, 0), some = NULL, none = NULL;
  const guint n = cleave_fit_plan_get_n_segments (plan);
  const CleaveFitTotals *totals;
  guint all[16];
  g_autoptr (GError) error = NULL;

  ck_assert (n > 1 && n <= G_N_ELEMENTS (all));
  for (guint i = 0; i < n; i++)
    all[i] = i;
  some = cleave_fit_plan_new_without (plan, graph, 1, all, &error);
  cleave_assert_no_error (error);
  totals = cleave_fit_plan_get_totals (some);
  ck_assert_int_gt (totals->nodes_after, totals->nodes_before);
  none = cleave_fit_plan_new_without (plan, graph, n, all, &error);
  cleave_assert_no_error (error);
  totals = cleave_fit_plan_get_totals (none);
  ck_assert_uint_eq (totals->nodes_after, totals->nodes_before);
  ck_assert_int_eq (totals->arena_after, totals->arena_before);
}
END_TEST

START_TEST (frontiers_have_plans_of_parts)
{
  g_autoptr (CleaveGraph) graph = make_attention ();
  const CleaveFitOptions options = { .max_added_macs = -1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) plans = cleave_fit_plan_new_frontier (graph, &options, &error);
  g_autoptr (CleaveFitPlan) least = find_plan (graph, 0);

  cleave_assert_no_error (error);
  ck_assert_int_eq (cleave_fit_plan_get_totals (plans->pdata[plans->len - 1])->arena_after,
                    cleave_fit_plan_get_totals (least)->arena_after);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "plans", plans_cut_values_that_are_read_in_parts,
                   plans_cut_recurrent_layers, added_latency_is_limited,
                   plans_without_segments_are_found_again, plans_with_parts_need_their_graph,
                   without_its_segments_a_plan_has_no_parts, frontiers_have_plans_of_parts, NULL);
}

CLEAVE_TEST_SUITE ("fit-reads-plans", add_tests)
