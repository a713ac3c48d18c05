/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Carried halos on chains: no row is computed twice, and the peak has only a few rows of each
 * value. */

#include "run-help.h"

/* Functions that build the first stage of MobileNetV2: the stem and four blocks, with twelve
 * convolutions. The stage turns 224 rows with 3 channels into 28 rows with 32 channels. */

static CleaveResult *
add_conv (CleaveGraph *graph, CleaveResult *x, gint64 channels, gint64 kernel, gint64 stride)
{
  gint64 from = cleave_result_get_type (x)->shape.dim[1], pad = kernel / 2;
  gboolean is_depthwise = channels == 0;
  CleaveConvAttrs attrs = { .group = is_depthwise ? from : 1,
                            .strides = CLEAVE_INTS (stride, stride),
                            .pads = CLEAVE_INTS (pad, pad, pad, pad) };
  CleaveShape filter =
      CLEAVE_SHAPE (is_depthwise ? from : channels, is_depthwise ? 1 : from, kernel, kernel);
  CleaveResult *w = run_constant (graph, &filter, cleave_graph_get_n_nodes (graph));
  g_autoptr (GError) error = NULL;
  CleaveResult *y = cleave_graph_add_conv (graph, NULL, x, w, NULL, &attrs, &error);

  cleave_assert_no_error (error);
  return y;
}

static CleaveResult *
add_relu6 (CleaveGraph *graph, CleaveResult *x)
{
  return run_add (graph, "Clip", &x, 1, &(CleaveClipAttrs){ .min = 0, .max = 6 });
}

static CleaveResult *
add_block (CleaveGraph *graph, CleaveResult *x, gint64 expansion, gint64 channels, gint64 stride)
{
  gint64 from = cleave_result_get_type (x)->shape.dim[1];
  CleaveResult *y = x;

  if (expansion > 1)
    y = add_relu6 (graph, add_conv (graph, y, from * expansion, 1, 1));
  y = add_relu6 (graph, add_conv (graph, y, 0, 3, stride));
  y = add_conv (graph, y, channels, 1, 1);
  return stride == 1 && from == channels ? run_binary (graph, "Add", x, y) : y;
}

/* Makes the first blocks of MobileNetV2 for an image of 224 rows. Only rows are cut, so a quarter
 * of the columns suffices. */
static CleaveGraph *
make_stage (void)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 224, 56));

  x = add_relu6 (graph, add_conv (graph, x, 32, 3, 2));
  x = add_block (graph, x, 1, 16, 1);
  x = add_block (graph, x, 6, 24, 2);
  x = add_block (graph, x, 6, 24, 1);
  x = add_block (graph, x, 6, 32, 2);
  run_output (graph, x);
  return graph;
}

static CleaveNode *
get_last (const CleaveGraph *graph)
{
  return cleave_result_get_node (cleave_operand_get_result (cleave_graph_get_output (graph, 0)));
}

static void
assert_same (const GPtrArray *want,
             const CleaveGraph *graph,
             const GPtrArray *inputs,
             guint threads)
{
  g_autoptr (GPtrArray) got = run_graph (graph, inputs, threads);

  ck_assert_msg (cleave_tensor_equal (want->pdata[0], got->pdata[0]), "%u threads: other bits",
                 threads);
}

/* Splits the last node and all nodes before it along the rows. Returns the totals of the split. */
static CleaveSplitTotals
split_rows (CleaveGraph *graph, gint64 n_strips, CleaveRecursion recursion)
{
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("2", &n_strips, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report =
      cleave_split_node_recursively (get_last (graph), split, NULL, &recursion, &error);

  cleave_assert_no_error (error);
  ck_assert_uint_eq (cleave_split_report_get_n_not_split (report), 0);
  return *cleave_split_report_get_totals (report);
}

/* With carried halos, the live values at the peak are the input of the graph, its output, and a few
 * rows of each value between them. */
START_TEST (a_stage_in_28_strips_computes_nothing_twice)
{
  g_autoptr (CleaveGraph) graph = make_stage ();
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1);
  g_autoptr (GPtrArray) want = run_graph (graph, inputs, 1);
  CleaveProgramStats before = run_get_stats (graph, 1), after;
  CleaveRecursion recursion = { .depth = 1000, .halo = CLEAVE_HALO_CARRY };
  CleaveSplitTotals totals = split_rows (graph, 28, recursion);

  ck_assert_int_eq (totals.macs_after, totals.macs_before);
  after = run_get_stats (graph, 1);
  g_print ("peak %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT ", arena %" G_GINT64_FORMAT
           " to %" G_GINT64_FORMAT " bytes (%s)\n",
           before.peak_activation_bytes, after.peak_activation_bytes, before.arena_bytes,
           after.arena_bytes, CLEAVE_MEMORY_CONVENTION);
  /* At the peak, the operand (16 channels) and the result (96 channels) of the first 1x1
   * convolution of a block are live. The depthwise convolution overwrites this result, and needs
   * memory for one more row of its own result. */
  ck_assert_int_eq (before.peak_activation_bytes, (112 * 28 * (16 + 96) + 14 * 96) * 4);
  ck_assert_int_eq (after.peak_activation_bytes, totals.peak_bytes_after);
  ck_assert_int_lt (after.peak_activation_bytes * 4, before.peak_activation_bytes);
  ck_assert_int_le (after.arena_bytes * 20, after.peak_activation_bytes * 21);
  for (guint threads = 1; threads <= 4; threads *= 2)
    {
      CleaveProgramStats stats = run_get_stats (graph, threads);

      assert_same (want, graph, inputs, threads);
      /* threads share the memory for strips: a thread that is ahead waits until memory is free */
      ck_assert_int_le (stats.arena_bytes * 100, stats.peak_activation_bytes * 105);
      ck_assert_int_le (stats.arena_bytes, after.arena_bytes * 2);
    }
}
END_TEST

START_TEST (bands_recompute_only_at_their_border)
{
  gint64 macs = 0;

  for (guint per_band = 0; per_band <= 14; per_band += 7)
    {
      g_autoptr (CleaveGraph) graph = make_stage ();
      g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1);
      g_autoptr (GPtrArray) want = run_graph (graph, inputs, 1);
      CleaveRecursion recursion = { .depth = 1000,
                                    .halo = CLEAVE_HALO_CARRY,
                                    .strips_per_band = per_band };
      CleaveSplitTotals totals = split_rows (graph, 28, recursion);

      assert_same (want, graph, inputs, 2);
      ck_assert_uint_eq (totals.n_parallel_subgraphs, per_band == 0 ? 0 : 28 / per_band);
      if (per_band == 7)
        macs = totals.macs_after;
      if (per_band == 14) /* four bands have three borders, two bands have one border */
        ck_assert_int_eq ((macs - totals.macs_before),
                          3 * (totals.macs_after - totals.macs_before));
    }
}
END_TEST

/* The graph is a chain of 3x3 convolutions. Near the end of the image, a strip may need no new row
 * of the chain's first values. */
START_TEST (deep_chains_carry_only_the_needed_rows)
{
  for (gint64 n_strips = 2; n_strips <= 32; n_strips += 1 + n_strips / 12)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 32, 5));
      g_autoptr (GPtrArray) inputs = NULL, want = NULL;
      CleaveRecursion recursion = { .depth = 12, .halo = CLEAVE_HALO_CARRY };
      CleaveSplitTotals totals;

      for (guint i = 0; i < 8; i++)
        x = run_conv (graph, x, 2, 3, CLEAVE_LAYOUT_NCHW);
      run_output (graph, x);
      inputs = run_random_inputs (graph, 1);
      want = run_graph (graph, inputs, 1);
      totals = split_rows (graph, n_strips, recursion);
      ck_assert_int_eq (totals.macs_after, totals.macs_before);
      ck_assert_uint_eq (totals.n_parallel_subgraphs, 0); /* strips run one after the other */
      assert_same (want, graph, inputs, 1);
      assert_same (want, graph, inputs, 4);
    }
}
END_TEST

/* A 3x3 convolution and a residual addition read the same value. The convolution and the addition
 * read the rows of a strip without a copy. Only the two rows that the next strip needs are copied
 * twice: once to keep them, and once to place them before the rows of the next strip. */
START_TEST (a_residual_shares_the_rows_of_the_convolution)
{
  const gint64 n_strips = 4, row_bytes = 2 * 5 * 4;
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 32, 5)), *first;
  g_autoptr (GPtrArray) inputs = NULL, want = NULL;
  CleaveRecursion recursion = { .depth = 3, .halo = CLEAVE_HALO_CARRY };

  first = run_conv (graph, x, 2, 1, CLEAVE_LAYOUT_NCHW);
  run_output (graph,
              run_binary (graph, "Add", first, run_conv (graph, first, 2, 3, CLEAVE_LAYOUT_NCHW)));
  inputs = run_random_inputs (graph, 1);
  want = run_graph (graph, inputs, 1);
  split_rows (graph, n_strips, recursion);
  ck_assert_int_le (run_get_stats (graph, 1).copied_bytes, 2 * 2 * (n_strips - 1) * row_bytes);
  assert_same (want, graph, inputs, 1);
  assert_same (want, graph, inputs, 2);
}
END_TEST

/* Makes a chain with strides, dilations, poolings, and different pads on both sides. */
static CleaveGraph *
make_mixed (void)
{
  const CleaveConvAttrs convs[] = {
    { .group = 1, .pads = CLEAVE_INTS (2, 0, 1, 3) },
    { .group = 4, .dilations = CLEAVE_INTS (2, 2), .pads = CLEAVE_INTS (2, 2, 2, 2) },
    { .group = 1, .strides = CLEAVE_INTS (2, 2), .pads = CLEAVE_INTS (1, 1, 0, 0) },
    { .group = 1, .dilations = CLEAVE_INTS (3, 1), .pads = CLEAVE_INTS (0, 4, 5, 1) },
    { .group = 2, .strides = CLEAVE_INTS (1, 2), .pads = CLEAVE_INTS (1, 2, 0, 1) },
  };
  const CleavePoolAttrs pools[] = {
    { .kernel_shape = CLEAVE_INTS (3, 2), .pads = CLEAVE_INTS (1, 0, 1, 1) },
    { .kernel_shape = CLEAVE_INTS (2, 3),
      .strides = CLEAVE_INTS (1, 1),
      .pads = CLEAVE_INTS (0, 2, 1, 1),
      .count_include_pad = TRUE },
  };
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *y = run_input (graph, &CLEAVE_SHAPE (1, 4, 61, 67));
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (convs); i++)
    {
      CleaveShape filter = CLEAVE_SHAPE (4, 4 / convs[i].group, 3, 5 - 2 * (i % 2));

      y = cleave_graph_add_conv (graph, NULL, y, run_constant (graph, &filter, i), NULL, &convs[i],
                                 &error);
      cleave_assert_no_error (error);
      if (i < G_N_ELEMENTS (pools))
        y = run_add (graph, i == 0 ? "MaxPool" : "AveragePool", &y, 1, &pools[i]);
    }
  run_output (graph, y);
  return graph;
}

static gint64
macs_of_mixed (void)
{
  g_autoptr (CleaveGraph) graph = make_mixed ();
  gint64 macs = 0;

  for (const CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    macs += cleave_node_get_macs (node);
  return macs;
}

static gint64
macs_in_bands (const char *dims, gint64 a, gint64 b, CleaveHalo halo, guint per_band)
{
  const gint64 counts[] = { a, b };
  g_autoptr (CleaveGraph) graph = make_mixed ();
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1);
  g_autoptr (GPtrArray) want = run_graph (graph, inputs, 1);
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks (dims, counts, b == 0 ? 1 : 2);
  CleaveRecursion recursion = { .depth = 100, .halo = halo, .strips_per_band = per_band };
  g_autoptr (CleaveSplitReport) report =
      cleave_split_node_recursively (get_last (graph), split, NULL, &recursion, NULL);

  ck_assert_uint_eq (cleave_split_report_get_n_not_split (report), 0);
  assert_same (want, graph, inputs, 2);
  return cleave_split_report_get_totals (report)->macs_after;
}

static gint64
macs_of (const char *dims, gint64 a, gint64 b, CleaveHalo halo)
{
  return macs_in_bands (dims, a, b, halo, 0);
}

START_TEST (no_window_is_computed_twice)
{
  gint64 macs = macs_of_mixed ();

  for (gint64 n = 2; n < 2 + CLEAVE_TRIALS (8); n++)
    {
      ck_assert_int_eq (macs_of ("H", n, 0, CLEAVE_HALO_CARRY), macs);
      ck_assert_int_eq (macs_of ("W", n, 0, CLEAVE_HALO_CARRY), macs);
      for (guint per_band = 0; per_band <= 5; per_band += CLEAVE_SANITIZED ? 2 : 1)
        ck_assert_int_eq (macs_in_bands ("H", n, 0, CLEAVE_HALO_EXCHANGE, per_band), macs);
    }
}
END_TEST

/* A grid cuts rows and columns. If all pieces carry or exchange their rows and columns, the grid
 * computes nothing twice. If bands cut one dimension, and the strips of a band carry only along the
 * other dimension, only the rows or columns at band boundaries are computed twice. Their number
 * does not depend on the number of strips. */
START_TEST (grids_recompute_across_bands_only)
{
  gint64 macs = macs_of_mixed ();

  for (gint64 columns = 2; columns <= 3; columns++)
    {
      gint64 across = macs_of ("W", columns, 0, CLEAVE_HALO_RECOMPUTE);
      gint64 down = macs_of ("H", columns, 0, CLEAVE_HALO_RECOMPUTE);

      for (gint64 strips = 2; strips <= 6; strips += CLEAVE_SANITIZED ? 4 : 2)
        {
          guint n = (guint) strips;

          ck_assert_int_eq (macs_of ("H,W", strips, columns, CLEAVE_HALO_CARRY), macs);
          ck_assert_int_eq (macs_of ("W,H", strips, columns, CLEAVE_HALO_EXCHANGE), macs);
          ck_assert_int_eq (macs_in_bands ("H,W", strips, columns, CLEAVE_HALO_CARRY, n), across);
          ck_assert_int_eq (macs_in_bands ("W,H", strips, columns, CLEAVE_HALO_CARRY, n), down);
          ck_assert_int_gt (macs_of ("H,W", strips, columns, CLEAVE_HALO_RECOMPUTE), across);
        }
    }
}
END_TEST

/* Each of two adjacent bands begins at the border between the bands and continues away from it. At
 * the border, the bands exchange rows. Then two bands need little more memory than one band: the
 * rows that the second band carries. */
START_TEST (two_adjacent_bands_need_little_more_memory_than_one)
{
  g_autoptr (CleaveGraph) one = make_stage (), two = make_stage ();
  g_autoptr (GPtrArray) inputs = run_random_inputs (two, 1);
  g_autoptr (GPtrArray) want = run_graph (two, inputs, 1);
  CleaveRecursion recursion = { .depth = 1000, .halo = CLEAVE_HALO_CARRY };
  CleaveSplitTotals carried = split_rows (one, 28, recursion), exchanged;

  recursion.halo = CLEAVE_HALO_EXCHANGE;
  recursion.strips_per_band = 14;
  exchanged = split_rows (two, 28, recursion);
  ck_assert_int_eq (exchanged.macs_after, exchanged.macs_before);
  ck_assert_int_le (exchanged.peak_bytes_after * 5, carried.peak_bytes_after * 8);
  for (guint threads = 1; threads <= 4; threads *= 2)
    assert_same (want, two, inputs, threads);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "stage", a_stage_in_28_strips_computes_nothing_twice,
                   bands_recompute_only_at_their_border,
                   two_adjacent_bands_need_little_more_memory_than_one, NULL);
  cleave_add_case (suite, "chain", deep_chains_carry_only_the_needed_rows,
                   a_residual_shares_the_rows_of_the_convolution, no_window_is_computed_twice,
                   grids_recompute_across_bands_only, NULL);
}

CLEAVE_TEST_SUITE ("carry", add_tests)
