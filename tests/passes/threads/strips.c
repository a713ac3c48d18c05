/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The split for threads cuts segments of convolutions into strips, so that no value inside a
 * segment is ever whole. */

#include "threaded.h"

START_TEST (stage_is_cut_into_strips_that_halve_the_peak)
{
  for (guint n_threads = 1; n_threads <= 4; n_threads *= 2)
    {
      g_autoptr (CleaveGraph) graph = make_stage ();
      gint64 peak = cleave_graph_get_peak_bytes (graph, NULL);
      g_autoptr (CleaveSplitReport) report = split (graph, n_threads);
      const CleaveSplitTotals *totals = cleave_split_report_get_totals (report);

      ck_assert_int_eq (totals->peak_bytes_before, peak);
      ck_assert_int_le (totals->peak_bytes_after, peak / 2);
      ck_assert_double_le ((double) totals->macs_after, 1.08 * (double) totals->macs_before);
      ck_assert_uint_ge (totals->n_parallel_subgraphs, n_threads == 1 ? 0 : n_threads);
    }
}
END_TEST

/* As in a U-Net, a skip connection carries a value of 4 MiB past a branch. The branch has small
 * values, and convolutions with 19 MB of weights. */
START_TEST (strips_do_not_read_large_weights_again)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleavePoolAttrs pool = { .kernel_shape = CLEAVE_INTS (8, 8), .strides = CLEAVE_INTS (8, 8) };
  CleaveDepthAttrs blocks = { .blocksize = 8 };
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 128, 128)), *y;
  g_autoptr (CleaveSplitReport) report = NULL;

  x = run_unary (graph, "Relu", run_conv (graph, x, 64, 3, CLEAVE_LAYOUT_NCHW));
  y = run_conv (graph, run_add (graph, "MaxPool", &x, 1, &pool), 1024, 3, CLEAVE_LAYOUT_NCHW);
  y = run_conv (graph, y, 4096, 1, CLEAVE_LAYOUT_NCHW);
  y = run_add (graph, "DepthToSpace", &y, 1, &blocks);
  y = run_conv (graph, run_binary (graph, "Add", x, y), 64, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_add (graph, "MaxPool", &y, 1, &pool));
  report = split (graph, 2);
  assert_split (report, "conv_2", "conv_2.0 0:1,0:4096,0:8,0:16 conv_2.1 0:1,0:4096,8:16,0:16");
}
END_TEST

static CleaveResult *
add_depthwise (CleaveGraph *graph, CleaveResult *x, gint64 stride)
{
  gint64 n = cleave_result_get_type (x)->shape.dim[1];
  CleaveConvAttrs attrs = { .group = n,
                            .strides = CLEAVE_INTS (stride, stride),
                            .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveResult *w = run_constant (graph, &CLEAVE_SHAPE (n, 1, 3, 3), 5);

  return run_add (graph, "Conv", (CleaveResult *[]){ x, w }, 2, &attrs);
}

/* Makes many layers of little work on values of 1.6 MB. Their strips have few rows, and many of
 * these rows are halo rows. A small convolution follows, which takes a third of the time of the
 * graph. */
static CleaveGraph *
make_narrow_strips (void)
{
  CleaveGraph *graph = cleave_graph_new ("narrow");
  CleaveConvAttrs stem = { .strides = CLEAVE_INTS (2, 2), .pads = CLEAVE_INTS (2, 2, 2, 2) };
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 256, 256));
  CleaveResult *w = run_constant (graph, &CLEAVE_SHAPE (24, 3, 5, 5), 1);

  x = run_add (graph, "Conv", (CleaveResult *[]){ x, w }, 2, &stem);
  for (guint i = 0; i < 8; i++)
    {
      CleaveResult *y = run_conv (graph, add_depthwise (graph, x, 1), 24, 1, CLEAVE_LAYOUT_NCHW);

      x = run_unary (graph, "Relu", run_binary (graph, "Add", x, y));
    }
  x = run_conv (graph, add_depthwise (graph, x, 2), 24, 1, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_conv (graph, x, 64, 3, CLEAVE_LAYOUT_NCHW));
  return graph;
}

START_TEST (bands_exchange_halos_if_recomputing_is_expensive)
{
  g_autoptr (CleaveGraph) graph = make_narrow_strips ();
  g_autoptr (CleaveSplitReport) report = split (graph, 2);
  const CleaveSplitTotals *totals = cleave_split_report_get_totals (report);

  g_autofree char *strips = cleave_describe_split (report, "conv_8");

  ck_assert_int_eq (totals->macs_after, totals->macs_before);
  ck_assert_int_le (totals->peak_bytes_after, totals->peak_bytes_before / 2);
  ck_assert_msg (g_str_has_prefix (strips, "conv_8.0 0:1,0:24,55:69,0:128 "
                                           "conv_8.1 0:1,0:24,69:84,0:128 "),
                 "%s", strips);
}
END_TEST

START_TEST (values_needed_whole_are_recomputed_if_cheap)
{
  g_autoptr (CleaveGraph) cheap = make_squeeze (4), dear = make_squeeze (64);
  g_autoptr (CleaveSplitReport) report = split (cheap, 2), other = split (dear, 2);
  const CleaveSplitTotals *totals = cleave_split_report_get_totals (report);
  const CleaveSplitTotals *other_totals = cleave_split_report_get_totals (other);

  ck_assert_int_le (totals->peak_bytes_after, totals->peak_bytes_before / 2);
  ck_assert_int_gt (totals->macs_after, totals->macs_before);
  ck_assert_double_le ((double) totals->macs_after, 1.05 * (double) totals->macs_before);
  assert_split (report, "globalaveragepool",
                "globalaveragepool.0 0:1,0:32,0:1,0:1 globalaveragepool.1 0:1,32:64,0:1,0:1 "
                "globalaveragepool.2 0:1,64:96,0:1,0:1 globalaveragepool.3 0:1,96:128,0:1,0:1");
  ck_assert_int_eq (other_totals->macs_after, other_totals->macs_before);
}
END_TEST

/* Makes a Relu of x (if `with_relu`), a Transpose and a convolution, which does most of the work.
 * In the unsplit graph, the Relu overwrites its operand and the Transpose is a view. Each piece of
 * the Relu or the Transpose would be a copy. */
static CleaveGraph *
make_transposed (gboolean with_relu, gint64 n_channels)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 80, 1100));
  CleaveTransposeAttrs attrs = { .perm = CLEAVE_INTS (0, 2, 1) };
  CleaveConvAttrs conv = { .pads = CLEAVE_INTS (1, 1) };
  CleaveResult *w = run_constant (graph, &CLEAVE_SHAPE (n_channels, 1100, 3), 1);

  x = with_relu ? run_unary (graph, "Relu", x) : x;
  x = run_add (graph, "Transpose", &x, 1, &attrs);
  run_output (graph, run_add (graph, "Conv", (CleaveResult *[]){ x, w }, 2, &conv));
  return graph;
}

START_TEST (cuts_that_save_little_time_cost_no_memory)
{
  for (guint with_relu = 0; with_relu < 2; with_relu++)
    for (guint n_threads = 2; n_threads <= 4; n_threads++)
      {
        g_autoptr (CleaveGraph) graph = make_transposed (with_relu == 1, 96);
        gint64 before = cleave_graph_get_peak_bytes (graph, NULL);
        gint64 with_threads = cleave_graph_get_peak_bytes_with_threads (graph, n_threads, NULL);
        g_autoptr (CleaveSplitReport) report = split (graph, n_threads);

        ck_assert_uint_ge (cleave_split_report_get_n_split (report), 1);
        ck_assert (cleave_clean_up (graph, NULL, NULL));
        ck_assert_int_le (cleave_graph_get_peak_bytes (graph, NULL), before);
        ck_assert_int_le (cleave_graph_get_peak_bytes_with_threads (graph, n_threads, NULL),
                          with_threads);
        ck_assert_int_eq (run_get_stats (graph, n_threads).copied_bytes, 0);
      }
}
END_TEST

/* Both products are cut by rows, so the Transpose between them is cut by rows too. */
START_TEST (views_between_pieces_are_cut_alike)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 128, 64));
  CleaveTransposeAttrs attrs = { .perm = CLEAVE_INTS (1, 0, 2, 3) };
  CleaveResult *w = run_constant (graph, &CLEAVE_SHAPE (64, 256), 1);
  CleaveResult *y = run_binary (graph, "MatMul", x, w);
  g_autoptr (CleaveSplitReport) report = NULL;

  y = run_add (graph, "Transpose", &y, 1, &attrs);
  w = run_constant (graph, &CLEAVE_SHAPE (256, 64), 2);
  run_output (graph, run_binary (graph, "MatMul", y, w));
  report = split (graph, 2);
  assert_split (report, "transpose",
                "transpose.0 0:3,0:1,0:64,0:256 transpose.1 0:3,0:1,64:128,0:256");
}
END_TEST

/* Images of a batch are independent, so pieces need no halos and no rows of other pieces. */
START_TEST (a_batch_is_cut_into_images)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = run_input (graph, &CLEAVE_SHAPE (4, 32, 16, 16));
  g_autoptr (CleaveSplitReport) report = NULL;

  y = run_conv (graph, run_conv (graph, y, 32, 3, CLEAVE_LAYOUT_NCHW), 32, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, y);
  report = split (graph, 2);
  assert_split (report, "conv", "conv.0 0:2,0:32,0:16,0:16 conv.1 2:4,0:32,0:16,0:16");
  assert_split (report, "conv_1", "conv_1.0 0:2,0:32,0:16,0:16 conv_1.1 2:4,0:32,0:16,0:16");
  ck_assert_int_eq (cleave_split_report_get_totals (report)->n_parallel_subgraphs, 2);
}
END_TEST

/* Pieces of a dead node would be work that no output needs. */
START_TEST (dead_nodes_are_removed_before_the_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = run_input (graph, &CLEAVE_SHAPE (4, 32, 16, 16));
  g_autoptr (CleaveSplitReport) report = NULL;

  y = run_conv (graph, y, 32, 3, CLEAVE_LAYOUT_NCHW);
  run_conv (graph, y, 128, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_conv (graph, y, 32, 3, CLEAVE_LAYOUT_NCHW));
  report = split (graph, 2);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 2);
  ck_assert_int_eq (cleave_split_report_get_totals (report)->macs_before,
                    cleave_split_report_get_totals (report)->macs_after);
}
END_TEST

/* The graph has matrix products on patches of 2 x 2 pixels, and after them values of 2.6 MB. The
 * split for threads cuts the large values into strips. The strips do not reach back to the
 * products, which are cut separately. */
START_TEST (nodes_beyond_the_strips_are_cut_separately)
{
  g_autoptr (CleaveGraph) graph =
      cleave_graph_parse ("%x = Input : float32 1x4x64x64\n"
                          "%k = Constant : float32 16x4x3x3\n"
                          "%a = Conv %x, %k pads=1,1,1,1\n"
                          "%r = Relu %a\n"
                          "%p = Reshape %r shape=512,2,32,2\n"
                          "%q = Transpose %p perm=0,2,1,3\n"
                          "%s = Reshape %q shape=1,16,1024,4\n"
                          "%t = Transpose %s perm=0,3,2,1\n"
                          "%w = Constant : float32 16x96\n"
                          "%m = MatMul %t, %w\n"
                          "%w2 = Constant : float32 96x16\n"
                          "%m2 = MatMul %m, %w2\n"
                          "%u = Transpose %m2 perm=0,3,2,1\n"
                          "%v = Reshape %u shape=512,32,2,2\n"
                          "%n = Transpose %v perm=0,2,1,3\n"
                          "%o = Reshape %n shape=1,16,64,64\n"
                          "%c = Concat %r, %o axis=1\n"
                          "%l = Constant : float32 160x32x3x3\n"
                          "%d = Conv %c, %l pads=1,1,1,1\n"
                          "%e = Relu %d\n"
                          "%f = Constant : float32 160x160x3x3\n"
                          "%g = Conv %e, %f pads=1,1,1,1\n"
                          "%h = MaxPool %g kernel_shape=4,4 strides=4,4\n"
                          "output %h\n",
                          NULL, NULL);
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autofree char *pool = NULL;

  ck_assert_ptr_nonnull (graph);
  report = split (graph, 2);
  pool = cleave_describe_split (report, "h");
  ck_assert (g_str_has_prefix (pool, "h.0 0:1,0:160,0:4,0:16 "));
  assert_split (report, "m", "m.0 0:1,0:4,0:512,0:96 m.1 0:1,0:4,512:1024,0:96");
  assert_split (report, "m2", "m2.0 0:1,0:4,0:512,0:16 m2.1 0:1,0:4,512:1024,0:16");
}
END_TEST

/* %h, the last state, has another rank than %y. So the reader of %h is not cut like the readers of
 * %y. */
START_TEST (readers_of_another_result_are_cut_separately)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_parse ("%x = Input : float32 24x48x64\n"
                                                      "%w = Constant : float32 1x768x64\n"
                                                      "%r = Constant : float32 1x768x256\n"
                                                      "%y, %h = GRU %x, %w, %r hidden_size=256\n"
                                                      "%z = Relu %h\n"
                                                      "output %y\n"
                                                      "output %z\n",
                                                      NULL, NULL);

  ck_assert_ptr_nonnull (graph);
  for (guint n_threads = 2; n_threads <= 8; n_threads++)
    {
      g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
      g_autoptr (CleaveSplitReport) report = split (copy, n_threads);

      ck_assert_ptr_nonnull (report);
    }
}
END_TEST

/* The graph has matrix products on windows of 7 x 7 pixels. The split for threads cuts the products
 * in the middle of a window. The Reshape cannot be cut at this place, so the split first leaves the
 * Reshape whole, and cuts it later. The values of rank 6 are cut along the dimension that counts
 * rows of windows. */
START_TEST (nodes_split_later_are_not_reported_as_whole)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_parse ("%x = Input : float32 1x28x28x96\n"
                                                      "%g = Constant : float32 96\n"
                                                      "%n = LayerNormalization %x, %g axis=-1\n"
                                                      "%a = Reshape %n shape=1,4,7,4,7,96\n"
                                                      "%b = Transpose %a perm=0,1,3,2,4,5\n"
                                                      "%c = Reshape %b shape=16,49,96\n"
                                                      "%w = Constant : float32 96x288\n"
                                                      "%m = MatMul %c, %w\n"
                                                      "%v = Constant : float32 288x96\n"
                                                      "%o = MatMul %m, %v\n"
                                                      "%d = Reshape %o shape=1,4,4,7,7,96\n"
                                                      "%e = Transpose %d perm=0,1,3,2,4,5\n"
                                                      "%f = Reshape %e shape=1,28,28,96\n"
                                                      "%y = Add %x, %f\n"
                                                      "output %y\n",
                                                      NULL, NULL);
  g_autoptr (CleaveSplitReport) report = NULL;

  ck_assert_ptr_nonnull (graph);
  report = split (graph, 2);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 9);
  ck_assert_uint_eq (cleave_split_report_get_n_not_split (report), 0);
  run_assert_same (graph, 1);
}
END_TEST

/* Weights of any size are dequantized once, and not in pieces. */
START_TEST (computed_weights_stay_whole)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_parse ("%x = Input : float32 1x128x32x32\n"
                                                      "%q = Constant : int8 128x128x3x3\n"
                                                      "%s = Constant : float32 128\n"
                                                      "%w = DequantizeLinear %q, %s axis=0\n"
                                                      "%y = Conv %x, %w pads=1,1,1,1\n"
                                                      "output %y\n",
                                                      NULL, NULL);
  g_autoptr (CleaveSplitReport) report = NULL;

  ck_assert_ptr_nonnull (graph);
  report = split (graph, 2);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "stages", stage_is_cut_into_strips_that_halve_the_peak,
                   bands_exchange_halos_if_recomputing_is_expensive,
                   strips_do_not_read_large_weights_again,
                   values_needed_whole_are_recomputed_if_cheap, NULL);
  cleave_add_case (suite, "others", cuts_that_save_little_time_cost_no_memory,
                   views_between_pieces_are_cut_alike, a_batch_is_cut_into_images,
                   dead_nodes_are_removed_before_the_split,
                   nodes_beyond_the_strips_are_cut_separately,
                   readers_of_another_result_are_cut_separately, computed_weights_stay_whole,
                   nodes_split_later_are_not_reported_as_whole, NULL);
}

CLEAVE_TEST_SUITE ("threads-strips", add_tests)
