/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests plans that split a graph for a memory budget: their limits, the frontier, the files of
 * split graphs, and the search. */

#include "fitted.h"
#include "networks.h"

/* Makes a chain of residual blocks. */
static CleaveGraph *
make_blocks (guint n_blocks)
{
  CleaveGraph *graph = cleave_graph_new ("blocks");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 16, 16));

  for (guint i = 0; i < n_blocks; i++)
    {
      CleaveResult *y = run_conv (graph, x, 16, 1, CLEAVE_LAYOUT_NCHW);

      y = run_conv (graph, run_unary (graph, "Relu", y), 4, 3, CLEAVE_LAYOUT_NCHW);
      x = run_binary (graph, "Add", x, y);
    }
  run_output (graph, x);
  return graph;
}

/* A plan can leave out segments: their nodes stay whole, and the totals count only the other
 * segments. */
START_TEST (segments_may_stay_whole)
{
  g_autoptr (CleaveGraph) graph = make_blocks (3);
  const CleaveFitOptions options = { .even_strips = TRUE };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error);
  g_autoptr (CleaveFitPlan) rest = NULL;
  guint n = cleave_fit_plan_get_n_segments (plan);
  const guint last = n - 1;

  cleave_assert_no_error (error);
  ck_assert_uint_gt (n, 1);
  rest = cleave_fit_plan_new_without (plan, graph, 1, &last, &error);
  cleave_assert_no_error (error);
  ck_assert_uint_eq (cleave_fit_plan_get_n_segments (rest), n - 1);
  ck_assert_str_eq (cleave_fit_plan_get_segment (rest, 0)->nodes[0],
                    cleave_fit_plan_get_segment (plan, 0)->nodes[0]);
  assert_holds (graph, rest, cleave_fit_plan_get_totals (rest)->arena_after, 1);
  /* `plan` is freed, but `rest` still has the segments that both plans share */
  cleave_fit_plan_unref (g_steal_pointer (&plan));
  ck_assert_ptr_nonnull (
      cleave_graph_find_node (graph, cleave_fit_plan_get_segment (rest, 0)->ends[0]));
}
END_TEST

/* cleave_fit_plan_new_without() makes a plan without some segments of an earlier plan. It refuses a
 * graph that lacks nodes of the earlier plan, even if no segment remains in the new plan. */
START_TEST (segments_of_another_graph_are_refused)
{
  g_autoptr (CleaveGraph) graph = make_blocks (3), other = cleave_graph_new (NULL);
  const CleaveFitOptions options = { .even_strips = TRUE };
  g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, NULL);
  const guint segments[] = { 0, 1, 2, 3 };

  run_output (other, run_unary (other, "Relu", run_input (other, &CLEAVE_SHAPE (4, 6))));
  for (guint n = 0; n <= G_N_ELEMENTS (segments); n += G_N_ELEMENTS (segments))
    {
      g_autoptr (GError) error = NULL;
      CleaveFitPlan *rest = cleave_fit_plan_new_without (plan, other, n, segments, &error);

      ck_assert_ptr_null (rest);
      ck_assert_msg (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION), "%s",
                     error == NULL ? "no error" : error->message);
      ck_assert_uint_eq (cleave_graph_get_n_nodes (other), 2);
    }
}
END_TEST

/* If a graph already fits into the budget, the plan does not change the graph or the order of its
 * nodes. */
START_TEST (graphs_that_fit_are_unchanged)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (4, 6));
  CleaveResult *w = run_constant (graph, &CLEAVE_SHAPE (6, 6), 1);
  CleaveResult *y = run_unary (graph, "Relu", x);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = NULL;
  g_autofree char *before = NULL, *after = NULL;

  run_output (graph, run_binary (graph, "MatMul", y, w));
  before = cleave_graph_print (graph);
  plan = find_plan (graph, 1 << 20, &error);
  cleave_assert_no_error (error);
  cleave_split_report_unref (cleave_fit_plan_apply (plan, graph, &error));
  cleave_assert_no_error (error);
  after = cleave_graph_print (graph);
  ck_assert_str_eq (before, after);
}
END_TEST

/* If a graph that was already fitted is fitted again, its nodes stay in the same order, although
 * another order might take less time. */
START_TEST (fitted_graphs_are_unchanged)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (12); seed++)
    {
      g_autoptr (CleaveGraph) graph = seed == 0 ? make_blocks (3) : network_random (seed);
      g_autoptr (CleaveFitPlan) plan = find_plan (graph, 0, NULL), again = NULL;
      g_autofree char *before = NULL, *after = NULL;

      cleave_split_report_unref (cleave_fit_plan_apply (plan, graph, NULL));
      before = cleave_graph_print (graph);
      again = find_plan (graph, 1 << 30, NULL);
      cleave_split_report_unref (cleave_fit_plan_apply (again, graph, NULL));
      after = cleave_graph_print (graph);
      ck_assert_str_eq (before, after);
    }
}
END_TEST

START_TEST (added_macs_have_a_limit)
{
  g_autoptr (CleaveGraph) graph = make_residual (CLEAVE_LAYOUT_NCHW);
  const CleaveFitOptions none = { .max_added_macs = -1 }, some = { .max_added_macs = 0.1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) a = cleave_fit_plan_new (graph, &none, &error);
  g_autoptr (CleaveFitPlan) b = cleave_fit_plan_new (graph, &some, &error);
  const CleaveFitTotals *x, *y;

  cleave_assert_no_error (error);
  x = cleave_fit_plan_get_totals (a);
  y = cleave_fit_plan_get_totals (b);
  ck_assert_int_eq (x->macs_after, x->macs_before);
  ck_assert_double_le ((double) y->macs_after, 1.1 * (double) y->macs_before);
  ck_assert_int_le (y->arena_after, x->arena_after);
}
END_TEST

START_TEST (frontier_goes_down)
{
  g_autoptr (CleaveGraph) graph = make_residual (CLEAVE_LAYOUT_NCHW);
  const CleaveFitOptions options = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) plans = cleave_fit_plan_new_frontier (graph, &options, &error);
  g_autoptr (CleaveFitPlan) least = find_plan (graph, 0, &error);

  cleave_assert_no_error (error);
  ck_assert_uint_gt (plans->len, 2);
  for (guint i = 1; i < plans->len; i++)
    {
      const CleaveFitTotals *a = cleave_fit_plan_get_totals (plans->pdata[i - 1]);
      const CleaveFitTotals *b = cleave_fit_plan_get_totals (plans->pdata[i]);

      ck_assert_int_le (b->arena_after, a->arena_after);
      ck_assert (b->latency_after > a->latency_after || b->macs_after > a->macs_after ||
                 b->arena_after < a->arena_after);
    }
  ck_assert_int_eq (cleave_fit_plan_get_totals (plans->pdata[plans->len - 1])->arena_after,
                    cleave_fit_plan_get_totals (least)->arena_after);
}
END_TEST

/* Asserts that the id of each node is larger than the ids of its operands. A file lists nodes by
 * id, so the nodes of the file are in the order in which they run. */
static void
assert_in_order (const CleaveGraph *graph)
{
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    for (guint i = 0; i < node->n_operands; i++)
      if (node->operands[i].result != NULL)
        ck_assert_uint_lt (node->operands[i].result->node->id, node->id);
}

START_TEST (exported_graphs_need_the_planned_memory)
{
  g_autoptr (CleaveGraph) residual = make_residual (CLEAVE_LAYOUT_NCHW);
  g_autoptr (CleaveGraph) unet = run_unet (), attention = make_attention ();
  CleaveGraph *graphs[] = { residual, unet, attention };

  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveFitPlan) plan = find_plan (graphs[i], 0, &error);
      g_autoptr (CleaveGraph) copy = NULL;

      cleave_assert_no_error (error);
      copy = apply (graphs[i], plan);
      assert_in_order (copy);
      assert_same_again (copy, plan, 1);
    }
}
END_TEST

/* The plan moves nodes, so the readers of a value run in another order than in the list of uses.
 * The split graph nevertheless needs the memory of the plan. */
START_TEST (moved_nodes_need_the_planned_memory)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph =
      cleave_graph_parse ("%0 = Input : float32 2x4x6x7\n"
                          "%1 = Sub %0, %0\n"
                          "%2 = Add %1, %0\n"
                          "%3 = Constant : float32 4\n"
                          "%4 = BatchNormalization %2, %3, %3, %3, %3 epsilon=0\n"
                          "%5 = MaxPool %1 kernel_shape=2,3 strides=2,1 pads=1,0,0,0\n"
                          "%6 = Softmax %5 axis=1\n"
                          "%7, %8 = Split %0 axis=3 split=1,6\n"
                          "%9 = Constant : float32 4x1x2x3\n"
                          "%10 = Constant : float32 4\n"
                          "%11 = Conv %6, %9, %10 group=4 strides=1,2 pads=1,0,0,0\n"
                          "%12 = Softmax %7 axis=2\n"
                          "%13 = Concat %12, %4 axis=3\n"
                          "%14 = Mul %11, %11\n"
                          "output %2\noutput %4\noutput %8\noutput %13\noutput %14\n",
                          NULL, &error);

  cleave_assert_no_error (error);
  try_budgets (graph, 1);
}
END_TEST

/* The plan appends pieces to the list of nodes, after their readers, and then sorts the list. The
 * new order must be the order in which an import of the graph's file creates the nodes. */
START_TEST (nodes_are_in_the_order_of_a_file)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph =
      cleave_graph_parse ("%0 = Input : float32 1x3x7x6\n"
                          "%1 = Input : float32 2x6x7x7\n"
                          "%2 = Constant : float32 6\n"
                          "%3 = BatchNormalization %1, %2, %2, %2, %2 epsilon=0\n"
                          "%4 = Add %1, %3\n"
                          "%5 = Constant : float32 4x6x1x2\n"
                          "%6 = Constant : float32 4\n"
                          "%7 = Conv %1, %5, %6 pads=0,1,0,1\n"
                          "%8 = Constant : float32 2x6x1x2\n"
                          "%9 = Conv %4, %8 pads=0,1,0,1\n"
                          "%10 = Transpose %9 perm=0,2,1,3\n"
                          "%11 = Constant : float32 7x1x1x1\n"
                          "%12 = Conv %10, %11 group=7 strides=2,2 pads=1,0,2,0\n"
                          "%13 = Relu %10\n"
                          "%14 = Reshape %13 shape=2,7,8,2\n"
                          "%15, %16 = Split %12 axis=3 split=2,2\n"
                          "%17 = Identity %0\n"
                          "output %17\noutput %7\noutput %14\noutput %15\noutput %16\n",
                          NULL, &error);
  g_autoptr (CleaveFitPlan) plan = NULL;
  g_autoptr (CleaveGraph) split = NULL;

  cleave_assert_no_error (error);
  plan = find_plan (graph, 0, &error);
  cleave_assert_no_error (error);
  split = apply (graph, plan);
  assert_same_again (split, plan, 1);
}
END_TEST

static guint64
count_visits (guint n_blocks)
{
  g_autoptr (CleaveGraph) graph = make_blocks (n_blocks);
  g_auto (CleaveFitSteps) steps = { 0 };
  g_auto (CleaveFitCandidates) candidates = { 0 };
  const CleaveFitWatch watch = { .tile_bytes = G_MAXINT64 };
  g_autoptr (GError) error = NULL;

  ck_assert (cleave_fit_steps_init (&steps, graph, &error));
  ck_assert (cleave_fit_candidates_init (&candidates, &steps, &watch, &error));
  ck_assert (cleave_fit_candidates_add_tiles (&candidates, &watch, &error));
  return candidates.n_visits;
}

START_TEST (search_is_no_more_work_than_graphs_are_long)
{
  guint64 few = count_visits (20), more = count_visits (120), many = count_visits (960);

  ck_assert_uint_gt (few, 0);
  ck_assert_uint_lt (few, 320000);
  ck_assert_uint_lt (more, 2000000);
  ck_assert_uint_lt (many, 10 * more);
}
END_TEST

/* For each plan of the frontier, searches for a plan with the bytes of the frontier plan's arena as
 * the budget. The search finds a plan that is at most 1.4 times as slow as the frontier plan. The
 * found plan may be slower than the frontier plan, because the search measures few plans. If the
 * estimated arena of a plan is above the budget, the search may skip the plan without measuring its
 * arena. */
START_TEST (cheaper_plans_are_looked_for)
{
  g_autoptr (CleaveGraph) graph = make_residual (CLEAVE_LAYOUT_NCHW);
  const CleaveFitOptions all = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) plans = cleave_fit_plan_new_frontier (graph, &all, &error);

  cleave_assert_no_error (error);
  for (guint i = 0; i < plans->len; i++)
    {
      const CleaveFitTotals *known = cleave_fit_plan_get_totals (plans->pdata[i]), *found;
      g_autoptr (CleaveFitPlan) plan = find_plan (graph, known->arena_after, &error);

      cleave_assert_no_error (error);
      found = cleave_fit_plan_get_totals (plan);
      ck_assert_int_le (found->arena_after, known->arena_after);
      ck_assert_double_le (found->latency_after, 1.4 * MAX (known->latency_after, 1));
    }
}
END_TEST

static void
count (double part, gpointer data)
{
  double *last = data;

  ck_assert_double_ge (part, 0);
  ck_assert_double_le (part, 1);
  *last = part;
}

START_TEST (search_tells_and_can_be_cancelled)
{
  g_autoptr (CleaveGraph) graph = make_residual (CLEAVE_LAYOUT_NCHW);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  double last = -1;
  CleaveFitOptions options = { .cancellable = cancellable, .watch = count, .watch_data = &last };
  g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error);

  cleave_assert_no_error (error);
  ck_assert_double_gt (last, 0.5);
  g_cancellable_cancel (cancellable);
  ck_assert_ptr_null (cleave_fit_plan_new (graph, &options, &error));
  ck_assert (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
}
END_TEST

START_TEST (plan_of_another_graph_changes_nothing)
{
  g_autoptr (CleaveGraph) graph = make_residual (CLEAVE_LAYOUT_NCHW);
  g_autoptr (CleaveGraph) other = make_attention ();
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, 0, &error);
  g_autofree char *before = cleave_graph_print (other), *after = NULL;

  cleave_assert_no_error (error);
  ck_assert_ptr_null (cleave_fit_plan_apply (plan, other, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
  after = cleave_graph_print (other);
  ck_assert_str_eq (before, after);
}
END_TEST

START_TEST (options_must_make_sense)
{
  g_autoptr (CleaveGraph) graph = make_residual (CLEAVE_LAYOUT_NCHW);
  const CleaveFitOptions none = { .max_added_macs = (double) NAN }, many = { .n_threads = 5000 };
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (find_plan (graph, -1, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "max_memory must be positive, not -1");
  ck_assert_ptr_null (cleave_fit_plan_new (graph, &none, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "a limit is not a number");
  ck_assert_ptr_null (cleave_fit_plan_new (graph, &many, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "n_threads must be at most 1024, not 5000");
}
END_TEST

/* The pass `fit` meets its budget. If no plan meets the budget, the pipeline fails and the graph is
 * unchanged. */
START_TEST (fit_is_a_pass)
{
  g_autoptr (CleaveGraph) graph = make_residual (CLEAVE_LAYOUT_NCHW);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleavePipeline) fits = cleave_pipeline_parse ("fit{max-memory=128KiB}", &error);
  g_autoptr (CleavePipeline) does_not = cleave_pipeline_parse ("fit{max-memory=1KiB}", &error);
  g_autofree char *before = cleave_graph_print (graph), *after = NULL;
  gboolean changed = TRUE;

  cleave_assert_no_error (error);
  ck_assert (!cleave_pipeline_run (does_not, graph, NULL, NULL, &changed, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT));
  g_clear_error (&error);
  after = cleave_graph_print (graph);
  ck_assert_str_eq (before, after);
  ck_assert (cleave_pipeline_run (fits, graph, NULL, NULL, &changed, &error));
  cleave_assert_no_error (error);
  ck_assert (changed);
  ck_assert_int_le (run_get_stats (graph, 1).arena_bytes, 128 << 10);
}
END_TEST

/* Runs a pipeline on a residual chain. Returns the checksum of the printed graph, or NULL if the
 * pipeline fails. */
static char *
sum_after (const char *passes)
{
  g_autoptr (CleaveGraph) graph = make_residual (CLEAVE_LAYOUT_NCHW);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (passes, &error);

  cleave_assert_no_error (error);
  if (!cleave_pipeline_run (pipeline, graph, NULL, NULL, NULL, NULL))
    return NULL;
  text = cleave_graph_print (graph);
  return g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1);
}

/* Runs the pass `fit` with `option` on the residual chain. Returns the checksum of the printed
 * graph, or NULL if no plan meets the budget. The budget is one byte less than the smallest arena
 * that includes the graph's input. So a plan meets the budget only if `option` changes the
 * arena. */
static char *
sum_below_least (const char *option)
{
  g_autoptr (CleaveGraph) graph = make_residual (CLEAVE_LAYOUT_NCHW);
  g_autoptr (CleaveFitPlan) least = find_plan (graph, 0, NULL);
  g_autofree char *passes =
      g_strdup_printf ("fit{max-memory=%" G_GINT64_FORMAT " %s}",
                       cleave_fit_plan_get_totals (least)->arena_after - 1, option);

  return sum_after (passes);
}

/* Two options of the pass `fit` were renamed. An old name has the same effect as the new name. */
START_TEST (old_names_of_options_still_work)
{
  g_autofree char *least = sum_after ("fit"), *quick = sum_after ("fit{max-added-latency=0}"),
                  *quick_by_old_name = sum_after ("fit{max-latency-added=0}"),
                  *with_inputs = sum_below_least (""),
                  *without_inputs = sum_below_least ("exclude-inputs"),
                  *without_inputs_by_old_name = sum_below_least ("inputs-apart");

  ck_assert_str_eq (quick, quick_by_old_name);
  ck_assert_str_ne (quick, least);
  ck_assert_ptr_null (with_inputs);
  ck_assert_ptr_nonnull (without_inputs);
  ck_assert_str_eq (without_inputs, without_inputs_by_old_name);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "plans", segments_may_stay_whole, segments_of_another_graph_are_refused,
                   graphs_that_fit_are_unchanged, fitted_graphs_are_unchanged,
                   added_macs_have_a_limit, frontier_goes_down, cheaper_plans_are_looked_for,
                   plan_of_another_graph_changes_nothing, options_must_make_sense, fit_is_a_pass,
                   old_names_of_options_still_work, NULL);
  cleave_add_case (suite, "files", exported_graphs_need_the_planned_memory,
                   moved_nodes_need_the_planned_memory, nodes_are_in_the_order_of_a_file, NULL);
  cleave_add_case (suite, "search", search_is_no_more_work_than_graphs_are_long,
                   search_tells_and_can_be_cancelled, NULL);
}

CLEAVE_TEST_SUITE ("fit-plans", add_tests)
