/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Rematerialization in the fit: nodes are copied, so that a large value is computed again for a
 * late reader instead of kept. */

#include "../../../passes/fit/rematerialize-idle.h"

#include <cleave/cleave-fit.h>

#include "graphs.h"
#include "run-help.h"

/* Makes three layers that all read one expanded value, which is much larger than all other
 * values. */
static CleaveGraph *
make_layers (void)
{
  CleaveGraph *graph = cleave_graph_new ("layers");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (200, 1));
  const CleaveReshapeAttrs wide = { .shape = CLEAVE_INTS (200, 64) };
  const CleaveReduceAttrs rows = { .axes = CLEAVE_INTS (0), .keepdims = TRUE };
  CleaveResult *all = run_add (graph, "Expand", &x, 1, &wide);
  CleaveResult *y = run_input (graph, &CLEAVE_SHAPE (1, 64));

  for (guint i = 0; i < 3; i++)
    {
      y = run_binary (graph, "Mul", all, y);
      y = run_add (graph, "ReduceMean", &y, 1, &rows);
    }
  run_output (graph, y);
  return graph;
}

/* Makes a squeeze-and-excitation block: the pool needs all rows of the value that is then scaled.
 */
static CleaveGraph *
make_squeeze (void)
{
  CleaveGraph *graph = cleave_graph_new ("squeeze");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 32, 32)), *wide, *scale;
  const CleaveGlobalPoolAttrs pool = { .layout = CLEAVE_LAYOUT_NCHW };
  g_autoptr (GError) error = NULL;

  wide = run_unary (graph, "Relu", run_conv (graph, x, 64, 1, CLEAVE_LAYOUT_NCHW));
  wide = run_unary (graph, "Relu", run_depthwise (graph, wide));
  scale = cleave_graph_add_global_pool (graph, "GlobalAveragePool", NULL, wide, &pool, &error);
  cleave_assert_no_error (error);
  scale = run_unary (graph, "Sigmoid", run_conv (graph, scale, 64, 1, CLEAVE_LAYOUT_NCHW));
  wide = run_conv (graph, run_binary (graph, "Mul", wide, scale), 4, 1, CLEAVE_LAYOUT_NCHW);
  run_output (graph, wide);
  return graph;
}

/* Makes a network of 512 points with 64 features each. The maxima of the features over all points
 * are joined to the features of each point. */
static CleaveGraph *
make_points (void)
{
  CleaveGraph *graph = cleave_graph_new ("points");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 512, 4)), *wide, *most;
  const CleaveReduceAttrs points = { .axes = CLEAVE_INTS (1), .keepdims = TRUE };
  const CleaveReshapeAttrs all = { .shape = CLEAVE_INTS (1, 512, 64) };

  wide = run_binary (graph, "MatMul", x, run_constant (graph, &CLEAVE_SHAPE (4, 64), 1));
  wide = run_unary (graph, "Relu", wide);
  most = run_add (graph, "ReduceMax", &wide, 1, &points);
  most = run_add (graph, "Expand", &most, 1, &all);
  wide = run_concat (graph, (CleaveResult *[]){ wide, most }, 2, 2);
  wide = run_binary (graph, "MatMul", wide, run_constant (graph, &CLEAVE_SHAPE (128, 4), 2));
  run_output (graph, wide);
  return graph;
}

static void
assert_print (const CleaveGraph *graph, const char *print)
{
  g_autofree char *now = cleave_graph_print (graph);

  ck_assert_str_eq (now, print);
}

static CleaveFitPlan *
find_plan (const CleaveGraph *graph, gint64 max_memory, double max_macs)
{
  const CleaveFitOptions options = { .max_memory = max_memory, .max_added_macs = max_macs };
  g_autoptr (GError) error = NULL;
  CleaveFitPlan *plan = cleave_fit_plan_new (graph, &options, &error);

  if (plan == NULL)
    ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT));
  return plan;
}

/* Finds the plan with the least memory. Asserts that the split graph has the totals that the plan
 * reports, and computes the same bits as the unsplit graph. Also asserts that the plan's arena is
 * the smallest budget that a plan meets. Returns the arena as a fraction of the arena of the
 * unsplit graph. */
static double
check (const CleaveGraph *graph, double max_macs)
{
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, 0, max_macs), same = NULL;
  const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plan);
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1), whole = NULL, split = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report = cleave_fit_plan_apply (plan, copy, &error);

  cleave_assert_no_error (error);
  ck_assert (cleave_graph_validate (copy, &error));
  whole = run_graph (graph, inputs, 1);
  split = run_graph (copy, inputs, 2);
  ck_assert_int_lt (cleave_compare_outputs (whole, split), 0);
  ck_assert_int_eq (run_get_stats (graph, 1).arena_bytes, totals->arena_before);
  ck_assert_int_eq (run_get_stats (copy, 1).arena_bytes, totals->arena_after);
  ck_assert_int_eq (cleave_graph_get_macs (graph), totals->macs_before);
  ck_assert_int_eq (cleave_graph_get_macs (copy), totals->macs_after);
  ck_assert_int_le (totals->macs_after,
                    (gint64) ((1 + MAX (max_macs, 0)) * (double) totals->macs_before));
  same = find_plan (graph, totals->arena_after, max_macs);
  ck_assert_ptr_nonnull (same);
  ck_assert_int_eq (cleave_fit_plan_get_totals (same)->arena_after, totals->arena_after);
  ck_assert_ptr_null (find_plan (graph, totals->arena_after - 1, max_macs));
  return (double) totals->arena_after / (double) totals->arena_before;
}

START_TEST (cheap_large_values_are_made_for_each_reader)
{
  g_autoptr (CleaveGraph) graph = make_layers ();

  ck_assert_double_lt (check (graph, -1), 0.2);
}
END_TEST

/* Asserts that plans with added MACs need far less memory than plans without. */
static void
check_recomputed (const CleaveGraph *graph)
{
  double none = check (graph, -1), some = check (graph, 1);

  ck_assert_double_gt (none, 0.5);
  ck_assert_double_lt (some, 0.6 * none);
}

START_TEST (values_that_a_reduction_needs_whole_are_recomputed)
{
  g_autoptr (CleaveGraph) squeeze = make_squeeze (), points = make_points ();

  check_recomputed (squeeze);
  check_recomputed (points);
}
END_TEST

/* A plan with even strips may copy nodes to recompute their values. The test also makes a plan
 * without all segments of the first plan. The plan without segments copies no node. */
START_TEST (even_strips_use_copies)
{
  g_autoptr (CleaveGraph) graph = make_squeeze (), copy = cleave_graph_copy (graph);
  const CleaveFitOptions options = { .even_strips = TRUE, .max_added_macs = 1 };
  const guint all[] = { 0, 1, 2, 3 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error), whole = NULL;
  g_autoptr (CleaveSplitReport) report = NULL;
  const CleaveFitTotals *totals;
  guint n = cleave_fit_plan_get_n_segments (plan);

  cleave_assert_no_error (error);
  totals = cleave_fit_plan_get_totals (plan);
  ck_assert_int_lt (2 * totals->arena_after, totals->arena_before);
  ck_assert_int_gt (totals->macs_after, totals->macs_before);
  ck_assert (n >= 2 && n <= G_N_ELEMENTS (all));
  whole = cleave_fit_plan_new_without (plan, graph, n, all, &error);
  cleave_assert_no_error (error);
  totals = cleave_fit_plan_get_totals (whole);
  ck_assert_int_eq (totals->arena_after, totals->arena_before);
  ck_assert_uint_eq (totals->nodes_after, totals->nodes_before);
  report = cleave_fit_plan_apply (whole, copy, &error);
  cleave_assert_no_error (error);
  ck_assert_int_eq (cleave_graph_get_macs (copy), cleave_graph_get_macs (graph));
}
END_TEST

static void
assert_unlike (const CleaveFitTotals *a, const CleaveFitTotals *b)
{
  ck_assert (a->arena_after != b->arena_after || a->macs_after != b->macs_after ||
             a->latency_after < b->latency_after || a->latency_after > b->latency_after);
}

/* A frontier has plans that copy nodes to recompute values, and plans that do not. Each split graph
 * has the arena of its plan, and consecutive plans differ. */
START_TEST (frontiers_have_plans_with_copies)
{
  g_autoptr (CleaveGraph) graph = make_squeeze ();
  const CleaveFitOptions options = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) plans = cleave_fit_plan_new_frontier (graph, &options, &error);
  gboolean with = FALSE, without = FALSE;

  cleave_assert_no_error (error);
  for (guint i = 0; i < plans->len; i++)
    {
      const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plans->pdata[i]);
      g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
      g_autoptr (CleaveSplitReport) report = cleave_fit_plan_apply (plans->pdata[i], copy, &error);

      cleave_assert_no_error (error);
      ck_assert_int_eq (run_get_stats (copy, 1).arena_bytes, totals->arena_after);
      with |= totals->macs_after > totals->macs_before;
      without |= totals->macs_after == totals->macs_before;
      if (i > 0)
        assert_unlike (totals, cleave_fit_plan_get_totals (plans->pdata[i - 1]));
    }
  ck_assert (with && without);
}
END_TEST

/* A list of copied nodes that was made for a graph can be applied to an equal graph. If the list is
 * applied to another graph, that is an error and the other graph stays unchanged. */
START_TEST (copies_can_be_applied)
{
  g_autoptr (CleaveGraph) graph = make_squeeze (), made = cleave_graph_copy (graph);
  g_autoptr (CleaveGraph) other = make_layers ();
  g_autoptr (GPtrArray) copies = cleave_fit_rematerialize_pooled (made, 1024, 1e9, 0);
  g_autofree char *of_other = cleave_graph_print (other);
  g_autofree char *of_made = cleave_graph_print (made);
  g_autoptr (GError) error = NULL;

  ck_assert_uint_eq (copies->len, 4);
  ck_assert (cleave_fit_copies_apply (copies, graph, &error));
  cleave_assert_no_error (error);
  assert_print (graph, of_made);
  ck_assert (!cleave_fit_copies_apply (copies, other, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
  assert_print (other, of_other);
  g_clear_error (&error);
  /* `made` already has the copied nodes, so `copies` cannot be applied to `made` again. */
  ck_assert (!cleave_fit_copies_apply (copies, made, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
  assert_print (made, of_made);
}
END_TEST

/* A feature pyramid with two levels:
 *
 *   x → b (16 channels) ─┬─ r2 (2 channels) → l2 (32 channels) ──────────────── s → o2
 *                        └─ c → d → r3 → l3 → … (half of the rows) ─ Resize ─ u ─┘
 *
 * To save memory, r2 must run early, so that b can be freed, and l2 must run late, right before its
 * reader s. */
#define PYRAMID                                                                                    \
  "graph pyramid\n%x = Input : float32 1x2x128x1\n%w = Constant seed=1 : float32 16x2x3x1\n"       \
  "%wd = Constant seed=2 : float32 16x16x3x1\n%wr = Constant seed=3 : float32 2x16x1x1\n"          \
  "%wl = Constant seed=4 : float32 32x2x1x1\n%ws = Constant seed=5 : float32 32x32x1x1\n"          \
  "%wo = Constant seed=6 : float32 4x32x3x1\n%wy = Constant seed=7 : float32 1x8x3x1\n"            \
  "%b = Conv %x, %w pads=1,0,1,0\n%c = MaxPool %b kernel_shape=2,1 strides=2,1\n"                  \
  "%d = Conv %c, %wd pads=1,0,1,0\n%r2 = Conv %b, %wr\n%l2 = Conv %r2, %wl\n%r3 = Conv %d, %wr\n"  \
  "%l3 = Conv %r3, %wl\n%g = GlobalAveragePool %l3\n%k = Conv %g, %ws\n%m3 = Mul %l3, %k\n"        \
  "%u = Resize %m3 scales=1,1,2,1\n%s = Add %l2, %u\n%o2 = Conv %s, %wo pads=1,0,1,0\n"            \
  "%o3 = Conv %m3, %wo pads=1,0,1,0\n%v = Resize %o3 scales=1,1,2,1\n%j = Concat %o2, %v axis=1\n" \
  "%y = Conv %j, %wy pads=1,0,1,0\noutput %y\n"

START_TEST (nodes_move_so_that_small_values_wait)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (PYRAMID, NULL, &error);

  cleave_assert_no_error (error);
  ck_assert_double_lt (check (graph, 0.1), 0.25);
}
END_TEST

/* Returns a line for each moved node: whether it runs early or late, and its name. */
static char *
list_moves (const GPtrArray *copies)
{
  GString *list = g_string_new (NULL);

  for (guint i = 0; i < copies->len; i++)
    {
      const CleaveFitCopy *noted = copies->pdata[i];

      if (noted->copy == NULL)
        g_string_append_printf (list, "%s %s\n", noted->is_early ? "early" : "late", noted->node);
    }
  return g_string_free (list, FALSE);
}

static guint
find_position (const CleaveGraph *graph, const char *name)
{
  guint position = 0;

  for (const CleaveNode *node = graph->first; !g_str_equal (node->name, name); node = node->next)
    position++;
  return position;
}

START_TEST (moves_can_be_applied_and_undone)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (PYRAMID, NULL, NULL);
  g_autoptr (CleaveGraph) made = cleave_graph_copy (graph), other = make_layers ();
  g_autoptr (GPtrArray) copies = cleave_fit_rematerialize_pooled (made, 1 << 30, 0, 5000);
  g_autofree char *moves = list_moves (copies);
  g_autofree char *of_made = cleave_graph_print (made);
  g_autoptr (GError) error = NULL;

  /* b (16 channels), r2 (2 channels) and l2 (32 channels) are a chain, and one of them stays in
   * memory until a late node needs l2. r2 needs the least memory. So r2 is computed early, and l2
   * late. */
  ck_assert_ptr_nonnull (strstr (moves, "early r2\n"));
  ck_assert_ptr_nonnull (strstr (moves, "late l2\n"));
  ck_assert_ptr_null (strstr (moves, "y\n"));
  ck_assert_uint_lt (find_position (made, "r2"), find_position (made, "c"));
  ck_assert_uint_gt (find_position (made, "l2"), find_position (made, "k"));
  ck_assert (cleave_fit_copies_apply (copies, graph, &error));
  cleave_assert_no_error (error);
  assert_print (graph, of_made);
  ck_assert (!cleave_fit_copies_apply (copies, other, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
}
END_TEST

/* A U-net. Few MACs compute the value of the skip connection from a small value. The nodes between
 * the two ends of the skip connection need little memory. */
#define SKIPPED                                                                                    \
  "graph skipped\n%x = Input : float32 1x1x96x1\n%w = Constant seed=1 : float32 16x1x3x1\n"        \
  "%a = Conv %x, %w pads=1,0,1,0\n%s = Relu %a\n%p = MaxPool %s kernel_shape=8,1 strides=8,1\n"    \
  "%v = Constant seed=2 : float32 16x16x3x1\n%c = Conv %p, %v pads=1,0,1,0\n%r = Relu %c\n"        \
  "%d = Conv %r, %v pads=1,0,1,0\n%u = Resize %d scales=1,1,8,1\n%j = Concat %u, %s axis=1\n"      \
  "%z = Constant seed=3 : float32 1x32x3x1\n%y = Conv %j, %z pads=1,0,1,0\noutput %y\n"

START_TEST (values_with_late_readers_are_recomputed)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (SKIPPED, NULL, NULL);
  double none = check (graph, -1), some = check (graph, 1);

  ck_assert_double_gt (none, 0.2);
  ck_assert_double_lt (some, 0.6 * none);
}
END_TEST

/* A first search, without a budget, finds the plan with the least memory. A second search has the
 * bytes of this plan's arena as the budget, and must find a plan, too. */
#define NESTED                                                                                     \
  "graph nested\n%x0 = Input : float32 1x8x64x8\n%c1 = Constant seed=705 : float32 8x8x3x3\n"      \
  "%v2 = Conv %x0, %c1 pads=1,1,1,1\n%v3 = Relu %v2\n"                                             \
  "%v4 = MaxPool %v3 kernel_shape=2,2 strides=2,2\n%c5 = Constant seed=911 : float32 16x8x3x3\n"   \
  "%v6 = Conv %v4, %c5 pads=1,1,1,1\n%v7 = Sigmoid %v6\n"                                          \
  "%c8 = Constant seed=84 : float32 32x16x1x1\n%v9 = Conv %v7, %c8 pads=0,0,0,0\n"                 \
  "%v10 = Relu %v9\n%v11 = GlobalAveragePool %v10\n"                                               \
  "%c12 = Constant seed=227 : float32 32x32x1x1\n%v13 = Conv %v11, %c12 pads=0,0,0,0\n"            \
  "%v14 = Sigmoid %v13\n%v15 = Mul %v10, %v14\n%c16 = Constant seed=597 : float32 16x32x1x1\n"     \
  "%v17 = Conv %v15, %c16 pads=0,0,0,0\n%v18 = MaxPool %v17 kernel_shape=2,2 strides=2,2\n"        \
  "%c19 = Constant seed=45 : float32 16x16x3x3\n%v20 = Conv %v18, %c19 pads=1,1,1,1\n"             \
  "%v21 = Relu %v20\n%v22 = MaxPool %v21 kernel_shape=2,2 strides=2,2\n"                           \
  "%c23 = Constant seed=187 : float32 32x16x3x3\n%v24 = Conv %v22, %c23 pads=1,1,1,1\n"            \
  "%v25 = Tanh %v24\n%c26 = Constant seed=419 : float32 32x32x3x3\n"                               \
  "%v27 = Conv %v25, %c26 pads=1,1,1,1\n%v28 = Tanh %v27\n%v29 = Resize %v28 scales=1,1,2,2\n"     \
  "%v30 = Concat %v29, %v21 axis=1\n%c31 = Constant seed=688 : float32 16x48x3x3\n"                \
  "%v32 = Conv %v30, %c31 pads=1,1,1,1\n%v33 = Sigmoid %v32\n"                                     \
  "%v34 = Resize %v33 scales=1,1,2,2\n%v35 = Concat %v34, %v17 axis=1\n"                           \
  "%c36 = Constant seed=673 : float32 16x32x3x3\n%v37 = Conv %v35, %c36 pads=1,1,1,1\n"            \
  "%v38 = Tanh %v37\n%v39 = Resize %v38 scales=1,1,2,2\n%v40 = Concat %v39, %v3 axis=1\n"          \
  "%c41 = Constant seed=632 : float32 8x24x3x3\n%v42 = Conv %v40, %c41 pads=1,1,1,1\n"             \
  "%v43 = Relu %v42\n%c44 = Constant seed=377 : float32 1x8x1x1\n"                                 \
  "%v45 = Conv %v43, %c44 pads=0,0,0,0\noutput %v45\n"

START_TEST (the_smallest_plan_is_found_again)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (NESTED, NULL, NULL);
  g_autoptr (CleaveFitPlan) least = find_plan (graph, 0, 0.1);
  g_autoptr (CleaveFitPlan) same =
      find_plan (graph, cleave_fit_plan_get_totals (least)->arena_after, 0.1);

  ck_assert_ptr_nonnull (same);
}
END_TEST

static char *
list_copies (const GPtrArray *copies)
{
  GString *list = g_string_new (NULL);

  for (guint i = 0; i < copies->len; i++)
    {
      const CleaveFitCopy *noted = copies->pdata[i];
      g_autofree char *readers = g_strjoinv (",", noted->readers);

      g_string_append_printf (list, "%s for %s\n", noted->node, readers);
    }
  return g_string_free (list, FALSE);
}

START_TEST (values_with_late_readers_are_found)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (SKIPPED, NULL, NULL);
  g_autoptr (CleaveGraph) dear = cleave_graph_copy (graph), small = cleave_graph_copy (graph);
  g_autoptr (GPtrArray) copies = cleave_fit_rematerialize_idle (graph, 96 * 16 * 4, 96 * 16 * 3);
  g_autoptr (GPtrArray) no_macs =
      cleave_fit_rematerialize_idle (dear, 96 * 16 * 4, 96 * 16 * 3 - 1);
  g_autoptr (GPtrArray) no_size =
      cleave_fit_rematerialize_idle (small, 96 * 16 * 4 + 1, 96 * 16 * 3);
  g_autofree char *list = list_copies (copies);
  g_autoptr (GError) error = NULL;

  ck_assert_str_eq (list, "s for j\na for s_1\n");
  ck_assert_uint_eq (no_macs->len, 0);
  ck_assert_uint_eq (no_size->len, 0);
  ck_assert (cleave_graph_validate (graph, &error));
}
END_TEST

/* In these graphs, recomputation saves no memory. In `large`, the operand of the recomputed value
 * is as large as that value, and would stay alive instead. In `residual`, other values are large at
 * the same time. */
START_TEST (recomputation_must_save_memory)
{
  const char *large = "graph large\n%x = Input : float32 1x16x96x1\n%s = Relu %x\n"
                      "%p = GlobalAveragePool %s\n%g = Sigmoid %p\n%h = Tanh %g\n%y = Mul %s, %h\n"
                      "output %y\n";
  const char *residual =
      "graph residual\n%x = Input : float32 1x1x96x1\n"
      "%w = Constant seed=1 : float32 16x1x3x1\n%s = Conv %x, %w pads=1,0,1,0\n"
      "%v = Constant seed=2 : float32 16x16x3x1\n%c = Conv %s, %v pads=1,0,1,0\n"
      "%r = Relu %c\n%d = Conv %r, %v pads=1,0,1,0\n%y = Add %s, %d\noutput %y\n";
  g_autoptr (CleaveGraph) a = cleave_graph_parse (large, NULL, NULL);
  g_autoptr (CleaveGraph) b = cleave_graph_parse (residual, NULL, NULL);
  g_autoptr (GPtrArray) of_a = cleave_fit_rematerialize_idle (a, 1, 1e9);
  g_autoptr (GPtrArray) of_b = cleave_fit_rematerialize_idle (b, 1, 1e9);

  ck_assert_uint_eq (of_a->len, 0);
  ck_assert_uint_eq (of_b->len, 0);
}
END_TEST

/* The operand of the second pool depends on the first pool, so nodes are copied for both pools. A
 * copy is never copied again. */
START_TEST (pools_after_pools_get_copies_of_original_nodes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph =
      cleave_graph_parse ("%x = Input : float32 1x64x2x2\n%w = Constant : float32 1024x64x1x1\n"
                          "%a = Conv %x, %w\n%p = GlobalAveragePool %a\n"
                          "%b = Mul %a, %p\n%q = GlobalAveragePool %b\n"
                          "%d = Mul %b, %q\noutput %d\n",
                          NULL, &error);
  g_autoptr (CleaveGraph) made = cleave_graph_copy (graph);
  g_autoptr (GPtrArray) copies = NULL;

  cleave_assert_no_error (error);
  copies = cleave_fit_rematerialize_pooled (made, 1024, 1e9, 0);
  ck_assert_uint_eq (copies->len, 3);
  for (guint i = 0; i < copies->len; i++)
    {
      const CleaveFitCopy *copy = copies->pdata[i];

      ck_assert_ptr_nonnull (cleave_graph_find_node (graph, copy->node));
    }
  ck_assert (cleave_graph_validate (made, NULL));
  run_assert_same (made, 1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "late", values_with_late_readers_are_recomputed,
                   values_with_late_readers_are_found, recomputation_must_save_memory,
                   the_smallest_plan_is_found_again, NULL);
  cleave_add_case (suite, "moves", nodes_move_so_that_small_values_wait,
                   moves_can_be_applied_and_undone, NULL);
  cleave_add_case (suite, "copies", cheap_large_values_are_made_for_each_reader,
                   values_that_a_reduction_needs_whole_are_recomputed, even_strips_use_copies,
                   frontiers_have_plans_with_copies, copies_can_be_applied,
                   pools_after_pools_get_copies_of_original_nodes, NULL);
}

CLEAVE_TEST_SUITE ("fit-copies", add_tests)
