/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "../../../passes/auto-split/fit-try.h"
#include "graphs.h"
#include "random-graph.h"
#include "run-help.h"

#include <math.h>

/* The number of random graphs, and of budgets for each. */
#define N_SEEDS CLEAVE_TRIALS (60)
#define N_BUDGETS 3

static CleaveFitPlan *
find_plan (const CleaveGraph *graph, gint64 max_memory, GError **error)
{
  const CleaveFitOptions options = { .max_memory = max_memory };

  return cleave_fit_plan_new (graph, &options, error);
}

/* Returns a copy of the graph, split by the plan. */
static CleaveGraph *
apply (const CleaveGraph *graph, const CleaveFitPlan *plan)
{
  CleaveGraph *copy = cleave_graph_copy (graph);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report = cleave_fit_plan_apply (plan, copy, &error);

  cleave_assert_no_error (error);
  ck_assert (cleave_graph_validate (copy, &error));
  return copy;
}

static CleaveGraph *
read_again (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, &error);
  CleaveGraph *again = bytes == NULL ? NULL : cleave_onnx_parse (bytes, NULL, NULL, &error);

  cleave_assert_no_error (error);
  again->exclude_inputs = graph->exclude_inputs;
  return again;
}

/* Asserts that the split graph, exported and imported, needs at most the arena of the plan. */
static void
assert_same_again (const CleaveGraph *split, const CleaveFitPlan *plan, guint n_threads)
{
  g_autoptr (CleaveGraph) again = read_again (split);

  ck_assert_int_le (run_get_stats (again, n_threads).arena_bytes,
                    cleave_fit_plan_get_totals (plan)->arena_after);
}

/* Asserts that the split graph has the arena and the MACs that the plan says, and that it
 * computes the same bits with one thread and with two. */
static void
assert_holds (const CleaveGraph *graph, const CleaveFitPlan *plan, gint64 budget, guint32 seed)
{
  const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plan);
  g_autoptr (CleaveGraph) copy = apply (graph, plan);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, seed);
  g_autoptr (GPtrArray) whole = run_graph (graph, inputs, 1), split = run_graph (copy, inputs, 2);
  g_autoptr (GPtrArray) lapped = run_graph (copy, inputs, 1);
  CleaveProgramStats stats = run_get_stats (copy, 1);

  ck_assert_msg (stats.arena_bytes <= budget, "seed %u", seed);
  ck_assert_int_eq (stats.arena_bytes, totals->arena_after);
  ck_assert_int_eq (cleave_graph_get_macs (copy), totals->macs_after);
  ck_assert_int_eq (run_get_stats (graph, 1).arena_bytes, totals->arena_before);
  ck_assert_msg (cleave_compare_outputs (whole, split) < 0, "seed %u", seed);
  ck_assert_msg (cleave_compare_outputs (whole, lapped) < 0, "seed %u", seed);
}

/* Asserts that the split graph computes the same bits. The MACs that its segments add are in sum at
 * least those that the plan adds, and at most twice as many. */
static void
assert_bits (const CleaveGraph *graph, const CleaveFitPlan *plan)
{
  const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plan);
  g_autoptr (CleaveGraph) copy = apply (graph, plan);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1);
  g_autoptr (GPtrArray) whole = run_graph (graph, inputs, 1), split = run_graph (copy, inputs, 2);
  gint64 added = 0;

  for (guint i = 0; i < cleave_fit_plan_get_n_segments (plan); i++)
    added += cleave_fit_plan_get_segment (plan, i)->added_macs;
  ck_assert_int_lt (cleave_compare_outputs (whole, split), 0);
  ck_assert_int_gt (totals->macs_after, totals->macs_before);
  ck_assert_int_ge (added, totals->macs_after - totals->macs_before);
  ck_assert_int_le (added, 2 * (totals->macs_after - totals->macs_before));
}

/* Asserts that `asked` bytes give a plan that holds. If they do not, the message must name a
 * smallest possible budget of at most `least` bytes, for which there is a plan that holds. */
static void
assert_reported (const CleaveGraph *graph, gint64 asked, gint64 least, guint32 seed)
{
  static const char *const says = "the smallest that a plan meets is ";
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, asked, &error);
  gint64 reported = asked;

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
 * Returns that budget in bytes. */
static gint64
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

static void
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

/* x → Conv 3x3 → Relu → Conv 1x1 with 32 channels → Relu → Conv 3x3 → Add x. */
static CleaveGraph *
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

/* Makes a graph in which the first operand of the Concat is computed long before the second. The
 * second comes from Softmax nodes along each axis, so a value before it is whole whichever
 * dimension is cut. */
static CleaveGraph *
make_late_join (void)
{
  CleaveGraph *graph = cleave_graph_new ("late join");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 64, 64));
  CleaveResult *wide = run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW), *down, *both[2];
  CleaveDepthAttrs up = { .blocksize = 2 };

  down = run_conv (graph, run_halve (graph, wide), 64, 1, CLEAVE_LAYOUT_NCHW);
  for (gint64 axis = 1; axis < 4; axis++)
    down = run_add (graph, "Softmax", &down, 1, &(CleaveAxisAttrs){ .axis = axis });
  both[0] = run_add (graph, "DepthToSpace", &down, 1, &up);
  both[1] = wide;
  run_output (graph, run_conv (graph, run_concat (graph, both, 2, 1), 4, 1, CLEAVE_LAYOUT_NCHW));
  return graph;
}

/* Makes softmax (q k) v, with the Softmax along the last axis. */
static CleaveGraph *
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

static double
get_part (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, 0, &error);
  const CleaveFitTotals *totals;

  cleave_assert_no_error (error);
  totals = cleave_fit_plan_get_totals (plan);
  ck_assert_int_gt (cleave_fit_plan_get_n_segments (plan), 0);
  return (double) totals->arena_after / (double) totals->arena_before;
}

START_TEST (images_and_attention_come_down)
{
  g_autoptr (CleaveGraph) nchw = make_residual (CLEAVE_LAYOUT_NCHW);
  g_autoptr (CleaveGraph) nhwc = make_residual (CLEAVE_LAYOUT_NHWC);
  g_autoptr (CleaveGraph) unet = run_unet (), attention = make_attention ();

  /* the rest of the arena holds inputs, outputs and joined values */
  ck_assert_double_lt (get_part (nchw), 0.4);
  ck_assert_double_lt (get_part (nhwc), 0.4);
  ck_assert_double_lt (get_part (unet), 0.8);
  ck_assert_double_lt (get_part (attention), 0.4);
  try_budgets (nchw, 1);
  try_budgets (nhwc, 1);
  try_budgets (unet, 1);
  try_budgets (attention, 1);
}
END_TEST

/* In the unsplit graph, the result of the Concat is the largest value, and alive as soon as its
 * first part is. In strips, it is never whole. */
START_TEST (strips_take_the_place_of_a_join)
{
  g_autoptr (CleaveGraph) graph = make_late_join ();

  ck_assert_double_lt (get_part (graph), 0.75);
  try_budgets (graph, 1);
}
END_TEST

/* Makes a part of a feature pyramid: the second operand of the Concat is large too, but computed
 * from a small value, so that it can be computed in strips. */
static CleaveGraph *
make_pyramid (void)
{
  CleaveGraph *graph = cleave_graph_new ("pyramid");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 64, 64));
  CleaveResult *wide = run_conv (graph, x, 32, 3, CLEAVE_LAYOUT_NCHW), *down, *both[2];
  CleaveDepthAttrs up = { .blocksize = 2 };

  down = run_conv (graph, run_halve (graph, wide), 8, 1, CLEAVE_LAYOUT_NCHW);
  for (gint64 axis = 1; axis < 4; axis++)
    down = run_add (graph, "Softmax", &down, 1, &(CleaveAxisAttrs){ .axis = axis });
  both[0] =
      run_conv (graph, run_add (graph, "DepthToSpace", &down, 1, &up), 32, 1, CLEAVE_LAYOUT_NCHW);
  both[1] = wide;
  run_output (graph, run_conv (graph, run_concat (graph, both, 2, 1), 4, 1, CLEAVE_LAYOUT_NCHW));
  return graph;
}

START_TEST (even_strips_take_the_place_of_a_join)
{
  g_autoptr (CleaveGraph) graph = make_pyramid ();
  const CleaveFitOptions options = { .even_strips = TRUE };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error);
  const CleaveFitTotals *totals;

  cleave_assert_no_error (error);
  totals = cleave_fit_plan_get_totals (plan);
  ck_assert_double_lt ((double) totals->arena_after / (double) totals->arena_before, 0.7);
  assert_holds (graph, plan, totals->arena_after, 1);
}
END_TEST

static CleaveResult *
add_heads (CleaveGraph *graph, CleaveResult *x, gint64 n_rows, gint64 n_heads, gint64 n)
{
  const CleaveReshapeAttrs apart = { .shape = CLEAVE_INTS (1, n_rows, n_heads, n) };
  const CleaveTransposeAttrs perm = { .perm = CLEAVE_INTS (0, 2, 1, 3) };

  x = run_binary (graph, "MatMul", x,
                  run_constant (graph, &CLEAVE_SHAPE (n_heads * n, n_heads * n), 1));
  x = run_add (graph, "Reshape", &x, 1, &apart);
  return run_add (graph, "Transpose", &x, 1, &perm);
}

/* Adds attention with a residual connection: x stays live until it is added to the result. */
static CleaveResult *
add_attention (CleaveGraph *graph, CleaveResult *x, gint64 n_rows, gint64 n_heads, gint64 n)
{
  const CleaveTransposeAttrs keys = { .perm = CLEAVE_INTS (0, 1, 3, 2) };
  const CleaveTransposeAttrs back = { .perm = CLEAVE_INTS (0, 2, 1, 3) };
  const CleaveReshapeAttrs flat = { .shape = CLEAVE_INTS (1, n_rows, n_heads * n) };
  const CleaveAxisAttrs last = { .axis = -1 };
  CleaveResult *q = add_heads (graph, x, n_rows, n_heads, n),
               *k = add_heads (graph, x, n_rows, n_heads, n),
               *v = add_heads (graph, x, n_rows, n_heads, n);

  k = run_add (graph, "Transpose", &k, 1, &keys);
  q = run_binary (graph, "MatMul", q, k);
  q = run_binary (graph, "MatMul", run_add (graph, "Softmax", &q, 1, &last), v);
  q = run_add (graph, "Transpose", &q, 1, &back);
  return run_binary (graph, "Add", x, run_add (graph, "Reshape", &q, 1, &flat));
}

static CleaveGraph *
make_heads (guint n_layers, gint64 n_rows, gint64 n_heads, gint64 n)
{
  CleaveGraph *graph = cleave_graph_new ("heads");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, n_rows, n_heads * n));

  for (guint i = 0; i < n_layers; i++)
    x = add_attention (graph, x, n_rows, n_heads, n);
  run_output (graph, x);
  return graph;
}

/* Live at one time are the keys and values of one head, and the scores of some rows of this head.
 */
START_TEST (heads_are_cut_by_rows)
{
  const gint64 n_rows = 96, n_heads = 6, n = 16, whole = n_rows * n_heads * n * 4;
  g_autoptr (CleaveGraph) graph = make_heads (1, n_rows, n_heads, n);
  const CleaveFitOptions options = { .max_added_macs = -1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error);
  const CleaveFitTotals *totals;

  cleave_assert_no_error (error);
  totals = cleave_fit_plan_get_totals (plan);
  ck_assert_int_lt (totals->arena_after, 2 * whole + whole / 2);
  assert_holds (graph, plan, totals->arena_after, 1);
}
END_TEST

/* A plan without a limit on added MACs needs no more memory than one with a limit, even if no halo
 * can add MACs. */
START_TEST (long_graphs_come_down_without_a_limit)
{
  g_autoptr (CleaveGraph) graph = make_heads (16, 64, 4, 16);
  const CleaveFitOptions some = { .max_added_macs = 0.3 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) limited = cleave_fit_plan_new (graph, &some, &error);
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, 0, &error);

  cleave_assert_no_error (error);
  ck_assert_int_le (cleave_fit_plan_get_totals (plan)->arena_after,
                    cleave_fit_plan_get_totals (limited)->arena_after);
}
END_TEST

static CleaveGraph *
make_image_blocks (guint n)
{
  CleaveGraph *graph = cleave_graph_new ("blocks");
  const CleaveReduceAttrs image = { .axes = CLEAVE_INTS (1, 2), .keepdims = TRUE };
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 48, 24, 2));

  x = run_conv (graph, x, 32, 3, CLEAVE_LAYOUT_NHWC);
  for (guint i = 0; i < n; i++)
    {
      CleaveResult *y = run_conv (graph, x, 32, 3, CLEAVE_LAYOUT_NHWC);

      x = run_binary (graph, "Add", x, run_conv (graph, y, 32, 3, CLEAVE_LAYOUT_NHWC));
    }
  run_output (graph, run_add (graph, "ReduceMean", &x, 1, &image));
  return graph;
}

/* Strips of a block overwrite rows of its input that no later strip reads, in several blocks in
 * a row. */
START_TEST (blocks_overwrite_rows_that_they_have_read)
{
  const gint64 whole = 48 * 24 * 32 * 4;

  for (guint n = 1; n < 4; n++)
    {
      g_autoptr (CleaveGraph) graph = make_image_blocks (n);
      const CleaveFitOptions options = { .max_added_macs = -1 };
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error);
      const CleaveFitTotals *totals;

      cleave_assert_no_error (error);
      totals = cleave_fit_plan_get_totals (plan);
      ck_assert_int_lt (totals->arena_after, whole + whole / 4);
      assert_holds (graph, plan, totals->arena_after, n);
    }
}
END_TEST

/* The sequence is dimension W of the convolution and the rows of the matrices before it: cutting
 * its strips into tiles would cut it twice. */
START_TEST (a_sequence_is_cut_once)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph =
      cleave_graph_parse ("%0 = Input : float32 1x120x144\n"
                          "%1 = Input : float32 1x4x120x22\n"
                          "%2 = Input : float32 1x4x22x120\n"
                          "%3 = Input : float32 1x120x144\n"
                          "%4 = Reshape %3 shape=1,120,4,36\n"
                          "%5 = Transpose %4 perm=0,2,1,3\n"
                          "%6 = MatMul %1, %2\n"
                          "%7 = Constant value=0.166666672 : float32 scalar\n"
                          "%8 = Mul %6, %7\n"
                          "%9 = Softmax %8 axis=3\n"
                          "%10 = MatMul %9, %5\n"
                          "%11 = Transpose %10 perm=0,2,1,3\n"
                          "%12 = Reshape %11 shape=1,120,144\n"
                          "%13 = Add %0, %12\n"
                          "%14 = Transpose %13 perm=0,2,1\n"
                          "%15 = Constant : float32 144x144x1\n"
                          "%16 = Constant : float32 144\n"
                          "%17 = Conv %14, %15, %16\n"
                          "output %17\n",
                          NULL, &error);

  cleave_assert_no_error (error);
  ck_assert_double_lt (get_part (graph), 0.9);
  try_budgets (graph, 1);
}
END_TEST

/* A chain of residual blocks. */
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

/* A plan can leave out segments: their nodes stay whole, and the totals are those of the other
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
  cleave_fit_plan_unref (g_steal_pointer (&plan)); /* segments that both plans have stay valid */
  ck_assert_ptr_nonnull (
      cleave_graph_find_node (graph, cleave_fit_plan_get_segment (rest, 0)->ends[0]));
}
END_TEST

/* A plan leaves a graph that already fits unchanged, including the order of its nodes. */
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

/* A larger limit also allows all plans of a smaller one. */
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

/* Asserts that the ids of nodes follow those of their operands, so that a file lists the nodes
 * in the order in which they run. */
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

/* The plan moves nodes, so that the readers of a value are no longer in the order of the nodes. */
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

/* The plan adds pieces after their readers in the list of nodes. It then sorts the list into the
 * order in which a file has the nodes. */
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

/* The limit allows few added MACs, and rows are too long to be carried whole. Bands of columns
 * carry rows and recompute columns. */
START_TEST (columns_are_bands)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("long lines");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 1, 24, 128));
  const CleaveFitOptions options = { .max_added_macs = 0.04, .exclude_inputs = TRUE };
  g_autoptr (CleaveFitPlan) plan = NULL;
  g_autoptr (CleaveGraph) copy = NULL;
  g_autoptr (GError) error = NULL;
  gboolean found = FALSE;

  x = run_conv (graph, run_conv (graph, x, 24, 3, CLEAVE_LAYOUT_NCHW), 24, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_conv (graph, x, 1, 1, CLEAVE_LAYOUT_NCHW));
  plan = cleave_fit_plan_new (graph, &options, &error);
  cleave_assert_no_error (error);
  for (guint i = 0; i < cleave_fit_plan_get_n_segments (plan); i++)
    {
      const CleaveFitSegment *segment = cleave_fit_plan_get_segment (plan, i);

      found |= segment->halo == CLEAVE_HALO_CARRY && segment->column_halo == CLEAVE_HALO_RECOMPUTE;
    }
  ck_assert (found);
  assert_bits (graph, plan);
  copy = apply (graph, plan);
  copy->exclude_inputs = TRUE;
  assert_same_again (copy, plan, 1);
}
END_TEST

/* Adds an inverted bottleneck: a 1x1 convolution to `widening` times as many channels, a depthwise
 * convolution, and a 1x1 convolution back. */
static CleaveResult *
add_bottleneck (CleaveGraph *graph, CleaveResult *x, gint64 widening, gint64 kernel)
{
  const gint64 channels = cleave_result_get_type (x)->shape.dim[1], pad = kernel / 2;
  const gint64 wide = widening * channels;
  const CleaveShape filter = CLEAVE_SHAPE (wide, 1, kernel, kernel);
  const CleaveConvAttrs attrs = { .group = wide, .pads = CLEAVE_INTS (pad, pad, pad, pad) };

  x = run_conv (graph, x, wide, 1, CLEAVE_LAYOUT_NCHW);
  x = cleave_graph_add_conv (graph, NULL, x, run_constant (graph, &filter, 1), NULL, &attrs, NULL);
  return run_conv (graph, x, channels, 1, CLEAVE_LAYOUT_NCHW);
}

/* Rows of wide results are recomputed, and rows of other results are carried. */
START_TEST (rows_of_wide_results_are_recomputed)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("bottlenecks");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 48, 48));
  const CleaveFitOptions options = { .max_added_macs = 1, .exclude_inputs = TRUE };
  g_autoptr (CleaveFitPlan) plan = NULL;
  g_autoptr (CleaveGraph) copy = NULL;
  g_autoptr (GError) error = NULL;
  gboolean found = FALSE;

  x = run_conv (graph, x, 8, 3, CLEAVE_LAYOUT_NCHW);
  for (guint i = 0; i < 3; i++)
    x = add_bottleneck (graph, x, 6, 5);
  run_output (graph, run_conv (graph, x, 1, 1, CLEAVE_LAYOUT_NCHW));
  plan = cleave_fit_plan_new (graph, &options, &error);
  cleave_assert_no_error (error);
  for (guint i = 0; i < cleave_fit_plan_get_n_segments (plan); i++)
    found |= cleave_fit_plan_get_segment (plan, i)->halo == CLEAVE_HALO_CARRY_NARROW;
  ck_assert (found);
  assert_bits (graph, plan);
  copy = apply (graph, plan);
  copy->exclude_inputs = TRUE;
  assert_same_again (copy, plan, 1);
}
END_TEST
/* Returns the number of copies: Slices that take a whole value. */
static guint
count_copies (const CleaveGraph *graph)
{
  guint n = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    n += g_str_equal (node->op->name, "Slice") &&
                 cleave_shape_equal (&node->results[0].type.shape,
                                     &node->operands[0].result->type.shape)
             ? 1
             : 0;
  return n;
}

/* With 3x3 filters, two windows read all of a tile of two columns. The tile is computed in the
 * first window and copied into the second. If it were computed in the second, the plan would
 * need 19,072 bytes. */
START_TEST (carried_values_may_be_copied)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("bottlenecks");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 24, 24));
  const CleaveFitOptions options = { .max_added_macs = 1,
                                     .max_memory = 18000,
                                     .exclude_inputs = TRUE };
  g_autoptr (CleaveFitPlan) plan = NULL;
  g_autoptr (CleaveGraph) copy = NULL;
  g_autoptr (GError) error = NULL;

  x = run_conv (graph, x, 8, 3, CLEAVE_LAYOUT_NCHW);
  for (guint i = 0; i < 4; i++)
    x = add_bottleneck (graph, x, 6, 3);
  run_output (graph, run_conv (graph, x, 1, 1, CLEAVE_LAYOUT_NCHW));
  plan = cleave_fit_plan_new (graph, &options, &error);
  cleave_assert_no_error (error);
  assert_bits (graph, plan);
  copy = apply (graph, plan);
  copy->exclude_inputs = TRUE;
  ck_assert_uint_gt (count_copies (copy), 0);
  assert_same_again (copy, plan, 1);
}
END_TEST

static guint64
count_visits (guint n_blocks)
{
  g_autoptr (CleaveGraph) graph = make_blocks (n_blocks);
  g_auto (CleaveFitSteps) steps = { 0 };
  g_auto (CleaveFitCandidates) candidates = { 0 };
  const CleaveFitWatch watch = { .has_tiles = TRUE };
  g_autoptr (GError) error = NULL;

  ck_assert (cleave_fit_steps_init (&steps, graph, &error));
  ck_assert (cleave_fit_candidates_init (&candidates, &steps, &watch, &error));
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

/* For the arena of each plan of the frontier, the search finds a plan at most 1.4 times as slow. It
 * measures few plans, so it may skip a plan whose estimate is above the budget although its arena
 * is not. */
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

/* As a pass, `fit` meets the budget. If it cannot, the pipeline fails and the graph is unchanged.
 */
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

static void
add_tests (Suite *suite)
{
  TCase *random = tcase_create ("random");

  tcase_set_timeout (random, 0);
  tcase_add_loop_test (random, budgets_hold_in_random_images, 0, N_SEEDS);
  /* a graph in which tiles copy carried values */
  tcase_add_loop_test (random, budgets_hold_in_random_images, 89, 90);
  tcase_add_loop_test (random, budgets_hold_in_random_graphs, 0, N_SEEDS);
  tcase_add_loop_test (random, more_macs_are_no_worse, 0, 2 * N_SEEDS);
  tcase_add_loop_test (random, imported_random_graphs_need_the_planned_memory, 0, 2 * N_SEEDS);
  suite_add_tcase (suite, random);
  cleave_add_case (suite, "fit", images_and_attention_come_down, strips_take_the_place_of_a_join,
                   even_strips_take_the_place_of_a_join, heads_are_cut_by_rows,
                   long_graphs_come_down_without_a_limit, blocks_overwrite_rows_that_they_have_read,
                   a_sequence_is_cut_once, segments_may_stay_whole, graphs_that_fit_are_unchanged,
                   added_macs_have_a_limit, frontier_goes_down,
                   exported_graphs_need_the_planned_memory, moved_nodes_need_the_planned_memory,
                   nodes_are_in_the_order_of_a_file, columns_are_bands,
                   rows_of_wide_results_are_recomputed, carried_values_may_be_copied,
                   search_tells_and_can_be_cancelled, plan_of_another_graph_changes_nothing,
                   options_must_make_sense, search_is_no_more_work_than_graphs_are_long,
                   cheaper_plans_are_looked_for, fit_is_a_pass, NULL);
}

CLEAVE_TEST_SUITE ("fit", add_tests)
