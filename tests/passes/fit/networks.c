/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The fit of networks with known ways to save memory: strips, heads, overlays, bands and copies. */

#include "fitted.h"

/* Asserts that the split graph computes the same bits. Also asserts that the sum of the added MACs
 * of all segments is between one and two times the added MACs of the plan. */
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

/* Makes a graph in which the second operand of a Concat is computed long before the first operand.
 * The nodes between them include a Softmax along each axis. A segment cannot contain a Softmax
 * along the axis of its cut, so no segment contains all these nodes. */
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

  /* get_part() is the arena as a fraction of the unsplit arena. The fraction cannot be near 0,
   * since the arena still has the inputs, the outputs and joined values. */
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

/* In the unsplit graph, the result of the Concat is the largest value, and is alive as soon as its
 * first part is computed. If the graph runs in strips, the result is never whole. */
START_TEST (strips_take_the_place_of_a_join)
{
  g_autoptr (CleaveGraph) graph = make_late_join ();

  ck_assert_double_lt (get_part (graph), 0.75);
  try_budgets (graph, 1);
}
END_TEST

/* Makes a part of a feature pyramid, with a Concat of two large operands. Strips of the second
 * operand can be computed from a small value. */
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

/* In the plan, at most the keys and values of one head are live at the same time, with the scores
 * of only some rows of this head. */
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

/* A plan without a limit on added MACs needs at most the memory of a plan with a limit, even in a
 * graph without halos. */
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

/* A strip of a block overwrites rows of the input of this block if no later strip reads these rows.
 * The test has networks of one, two and three consecutive blocks. */
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

/* The sequence has 120 elements. They are the rows of the matrices before the Transpose, and
 * dimension W of the convolution after the Transpose. A cut of the rows into strips, and of W into
 * tiles, would cut the sequence twice. */
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
 * convolution, and a 1x1 convolution to the original number of channels. */
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

/* Returns the number of copies of values: Slices whose results have the shapes of their operands.
 */
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

/* The plan cuts a value into tiles of two columns, and 3x3 convolutions read the value in windows
 * that overlap. One tile lies within two windows, each of which has a buffer. The plan computes the
 * tile in the buffer of the first window and copies it into the buffer of the second window. If the
 * tile were computed in the buffer of the second window, the plan would need 19,072 bytes. */
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

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "networks", images_and_attention_come_down,
                   strips_take_the_place_of_a_join, even_strips_take_the_place_of_a_join,
                   heads_are_cut_by_rows, long_graphs_come_down_without_a_limit,
                   blocks_overwrite_rows_that_they_have_read, a_sequence_is_cut_once,
                   columns_are_bands, rows_of_wide_results_are_recomputed,
                   carried_values_may_be_copied, NULL);
}

CLEAVE_TEST_SUITE ("fit-networks", add_tests)
