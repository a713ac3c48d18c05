/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "graphs.h"
#include "run-help.h"

/* Splits the graph for threads and returns the report. */
static CleaveSplitReport *
split (CleaveGraph *graph, guint n_threads)
{
  g_autoptr (GError) error = NULL;
  CleaveSplitReport *report = cleave_split_for_threads (graph, n_threads, &error);

  cleave_assert_no_error (error);
  return report;
}

static void
assert_split (const CleaveSplitReport *report, const char *node, const char *want)
{
  g_autofree char *got = cleave_describe_split (report, node);

  ck_assert_pstr_eq (got, want);
}

static CleaveResult *
name_last (CleaveResult *value, const char *name)
{
  cleave_result_set_name (value, name);
  return value;
}

/* Makes x → Conv → Relu → Conv, 3x3 with 32 channels. If `is_residual`, Add x → Relu follow. */
static CleaveGraph *
make_chain (gint64 rows, gboolean is_residual)
{
  CleaveGraph *graph = cleave_graph_new ("chain");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 32, rows, 64)), *y;

  y = run_conv (graph, x, 32, 3, CLEAVE_LAYOUT_NCHW);
  y = run_conv (graph, run_unary (graph, "Relu", y), 32, 3, CLEAVE_LAYOUT_NCHW);
  if (is_residual)
    y = run_unary (graph, "Relu", run_binary (graph, "Add", x, y));
  run_output (graph, y);
  return graph;
}

/* Two threads cannot share seven rows evenly, so channels are cut. A matrix with one row is always
 * cut by columns. */
START_TEST (heavy_nodes_are_cut_evenly)
{
  static const struct
  {
    guint n_threads;
    const char *conv, *gemm;
  } cases[] = {
    { 2, "0:1,0:128,0:7,0:9 0:1,128:256,0:7,0:9", "0:1,0:512 0:1,512:1024" },
    { 7,
      "0:1,0:256,0:1,0:9 0:1,0:256,1:2,0:9 0:1,0:256,2:3,0:9 0:1,0:256,3:4,0:9 "
      "0:1,0:256,4:5,0:9 0:1,0:256,5:6,0:9 0:1,0:256,6:7,0:9",
      "0:1,0:147 0:1,147:294 0:1,294:440 0:1,440:586 0:1,586:732 0:1,732:878 0:1,878:1024" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 64, 7, 9));
      CleaveResult *v = run_input (graph, &CLEAVE_SHAPE (1, 2048));
      CleaveResult *w = run_constant (graph, &CLEAVE_SHAPE (2048, 1024), 1);
      g_autoptr (CleaveSplitReport) report = NULL;

      run_output (graph, name_last (run_conv (graph, x, 256, 3, CLEAVE_LAYOUT_NCHW), "conv"));
      run_output (graph, name_last (run_add (graph, "MatMul", (CleaveResult *[]){ v, w }, 2, NULL),
                                    "matmul"));
      report = split (graph, cases[i].n_threads);
      ck_assert_uint_eq (cleave_split_report_get_n_split (report), 2);
      for (guint n = 0; n < 2; n++)
        {
          const CleaveSplitNode *node = cleave_split_report_get_split (report, n);
          g_autoptr (GString) ranges = g_string_new (NULL);

          for (guint p = 0; p < node->n_pieces; p++)
            {
              g_autofree char *range = cleave_range_to_string (&node->ranges[p]);

              g_string_append_printf (ranges, "%s%s", p > 0 ? " " : "", range);
            }
          ck_assert_str_eq (ranges->str, n == 0 ? cases[i].conv : cases[i].gemm);
        }
    }
}
END_TEST

static CleaveResult *
input_indices (CleaveGraph *graph, const char *name, gint64 n)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, n, 1);
  g_autoptr (GError) error = NULL;
  CleaveResult *indices = cleave_graph_add_input (graph, name, &type, &error);

  cleave_assert_no_error (error);
  return indices;
}

/* The ScatterElements adds several messages to a row, so it is cut by columns. The GatherElements
 * that computes the messages is cut by columns too, although other nodes are cut by rows. */
START_TEST (nodes_that_move_values_are_cut_like_their_reader)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1000, 64)), *at[2], *messages;
  CleaveResult *w = run_constant (graph, &CLEAVE_SHAPE (64, 64), 1);
  CleaveScatterAttrs attrs = { .reduction = CLEAVE_SCATTER_ADD };
  g_autoptr (CleaveSplitReport) report = NULL;

  for (guint i = 0; i < 2; i++)
    at[i] = run_add (graph, "Expand",
                     (CleaveResult *[]){ input_indices (graph, i == 0 ? "from" : "to", 5000) }, 1,
                     &(CleaveReshapeAttrs){ .shape = CLEAVE_INTS (5000, 64) });
  messages = run_add (graph, "MatMul", (CleaveResult *[]){ x, w }, 2, NULL);
  messages = run_add (graph, "GatherElements", (CleaveResult *[]){ messages, at[0] }, 2, NULL);
  run_output (graph, run_add (graph, "ScatterElements", (CleaveResult *[]){ x, at[1], messages }, 3,
                              &attrs));
  report = split (graph, 2);
  assert_split (report, "matmul", "matmul.0 0:500,0:64 matmul.1 500:1000,0:64");
  assert_split (report, "gatherelements",
                "gatherelements.0 0:5000,0:32 gatherelements.1 0:5000,32:64");
  assert_split (report, "scatterelements",
                "scatterelements.0 0:1000,0:32 scatterelements.1 0:1000,32:64");
  run_assert_same (graph, 1);
}
END_TEST

/* A graph without the line of its output %y, and the pieces of %y for two threads. */
typedef struct
{
  const char *text, *pieces;
} TextCase;

static void
assert_cases (const TextCase *cases, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *text = g_strconcat (cases[i].text, "output %y\n", NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, &error);
      g_autoptr (CleaveSplitReport) report = NULL;

      cleave_assert_no_error (error);
      report = split (graph, 2);
      assert_split (report, "y", cases[i].pieces);
    }
}

/* With two rows, or with two directions of few sequences, each piece would read all weights for
 * half of the rows, so the weights are cut. With enough rows, and for images, the batch is cut. */
START_TEST (with_few_rows_the_weights_are_cut)
{
  static const TextCase cases[] = {
    { "%x = Input : float32 2x2048\n%w = Constant : float32 2048x4096\n%y = MatMul %x, %w\n",
      "y.0 0:2,0:2048 y.1 0:2,2048:4096" },
    { "%x = Input : float32 16x2048\n%w = Constant : float32 2048x4096\n%y = MatMul %x, %w\n",
      "y.0 0:8,0:4096 y.1 8:16,0:4096" },
    { "%x = Input : float32 50x2x64\n%w = Constant : float32 2x768x64\n"
      "%r = Constant : float32 2x768x256\n"
      "%y, %h = GRU %x, %w, %r hidden_size=256 direction=bidirectional\n",
      "y.0 0:50,0:1,0:2,0:256 y.1 0:50,1:2,0:2,0:256" },
    { "%x = Input : float32 2x50x64\n%w = Constant : float32 2x768x64\n"
      "%r = Constant : float32 2x768x256\n"
      "%y, %h = GRU %x, %w, %r hidden_size=256 direction=bidirectional layout=1\n",
      "y.0 0:2,0:50,0:1,0:256 y.1 0:2,0:50,1:2,0:256" },
    { "%x = Input : float32 50x16x64\n%w = Constant : float32 2x768x64\n"
      "%r = Constant : float32 2x768x256\n"
      "%y, %h = GRU %x, %w, %r hidden_size=256 direction=bidirectional\n",
      "y.0 0:50,0:2,0:8,0:256 y.1 0:50,0:2,8:16,0:256" },
    { "%x = Input : float32 2x64x24x24\n%w = Constant : float32 64x64x3x3\n%y = Conv %x, %w\n",
      "y.0 0:1,0:64,0:22,0:22 y.1 1:2,0:64,0:22,0:22" },
  };

  assert_cases (cases, G_N_ELEMENTS (cases));
}
END_TEST

/* Rows come before channels and columns in every layout. A node without a layout attribute has the
 * layout of its operand. */
START_TEST (images_are_cut_by_rows_in_every_layout)
{
  static const TextCase cases[] = {
    { "%x = Input : float32 1x64x64x64\n%w = Constant : float32 64x64x3x3\n"
      "%y = Conv %x, %w pads=1,1,1,1\n",
      "y.0 0:1,0:64,0:32,0:64 y.1 0:1,0:64,32:64,0:64" },
    { "%x = Input : float32 1x64x64x64\n%w = Constant : float32 64x64x3x3\n"
      "%y = Conv %x, %w pads=1,1,1,1 layout=NHWC\n",
      "y.0 0:1,0:32,0:64,0:64 y.1 0:1,32:64,0:64,0:64" },
    { "%x = Input : float32 1x128x128x64\n%w = Constant : float32 64x64x3x3\n"
      "%z = Conv %x, %w strides=2,2 layout=NHWC\n%y = Softmax %z axis=-1\n",
      "y.0 0:1,0:32,0:63,0:64 y.1 0:1,32:63,0:63,0:64" },
    { "%x = Input : float32 1x16x32x32x32\n%w = Constant : float32 32x32x3x3x3\n"
      "%y = Conv %x, %w pads=1,1,1,1,1,1 layout=NHWC\n",
      "y.0 0:1,0:8,0:32,0:32,0:32 y.1 0:1,8:16,0:32,0:32,0:32" },
    { "%x = Input : float32 1x3x3x3x4096\n%w = Constant : float32 3x3x3x3x3\n"
      "%y = Conv %x, %w pads=1,1,1,1,1,1\n",
      "y.0 0:1,0:3,0:3,0:3,0:2048 y.1 0:1,0:3,0:3,0:3,2048:4096" },
  };

  assert_cases (cases, G_N_ELEMENTS (cases));
}
END_TEST

START_TEST (values_of_every_rank_are_cut)
{
  static const TextCase cases[] = {
    { "%x = Input : float32 1000000\n%y = Erf %x\n", "y.0 0:500000 y.1 500000:1000000" },
    { "%x = Input : float32 1x1x2x1x1000x500\n%y = Erf %x\n",
      "y.0 0:1,0:1,0:1,0:1,0:1000,0:500 y.1 0:1,0:1,1:2,0:1,0:1000,0:500" },
    { "%x = Input : float32 1x1x1x3x1x1x1x500000\n%y = Erf %x\n",
      "y.0 0:1,0:1,0:1,0:3,0:1,0:1,0:1,0:250000 y.1 "
      "0:1,0:1,0:1,0:3,0:1,0:1,0:1,250000:500000" },
  };

  assert_cases (cases, G_N_ELEMENTS (cases));
}
END_TEST

/* Neither the axis of the DFT nor the real and imaginary parts can be cut. So the seven rows are
 * cut, although two threads cannot share them evenly. */
START_TEST (the_only_possible_dimension_is_cut)
{
  static const TextCase cases[] = {
    { "%x = Input : float32 7x2048x2\n%y = DFT %x axis=1\n",
      "y.0 0:4,0:2048,0:2 y.1 4:7,0:2048,0:2" },
  };

  assert_cases (cases, G_N_ELEMENTS (cases));
}
END_TEST

/* With few channels, the seven rows are cut. Nodes that follow a cut node are cut as it is, however
 * small they are. A node that only moves values may have less even pieces. */
START_TEST (few_channels_and_following_nodes_are_cut_by_rows)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 192, 7, 7)), *few, *wide;
  g_autoptr (CleaveSplitReport) report = NULL;

  few = run_unary (graph, "Relu", run_conv (graph, x, 32, 3, CLEAVE_LAYOUT_NCHW));
  wide = run_unary (graph, "Neg", run_conv (graph, x, 192, 3, CLEAVE_LAYOUT_NCHW));
  run_output (graph, run_concat (graph, (CleaveResult *[]){ few, wide }, 2, 1));
  report = split (graph, 2);
  assert_split (report, "conv", "conv.0 0:1,0:32,0:4,0:7 conv.1 0:1,0:32,4:7,0:7");
  assert_split (report, "relu", "relu.0 0:1,0:32,0:4,0:7 relu.1 0:1,0:32,4:7,0:7");
  assert_split (report, "conv_1", "conv_1.0 0:1,0:96,0:7,0:7 conv_1.1 0:1,96:192,0:7,0:7");
  assert_split (report, "neg", "neg.0 0:1,0:96,0:7,0:7 neg.1 0:1,96:192,0:7,0:7");
  assert_split (report, "concat", "concat.0 0:1,0:224,0:4,0:7 concat.1 0:1,0:224,4:7,0:7");
  run_assert_same (graph, 1);
}
END_TEST

START_TEST (few_channels_in_nhwc_are_cut_by_rows)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 7, 7, 192));
  g_autoptr (CleaveSplitReport) report = NULL;

  run_output (graph, run_conv (graph, x, 32, 3, CLEAVE_LAYOUT_NHWC));
  run_output (graph, run_conv (graph, x, 192, 3, CLEAVE_LAYOUT_NHWC));
  report = split (graph, 2);
  assert_split (report, "conv", "conv.0 0:1,0:4,0:7,0:32 conv.1 0:1,4:7,0:7,0:32");
  assert_split (report, "conv_1", "conv_1.0 0:1,0:7,0:7,0:96 conv_1.1 0:1,0:7,0:7,96:192");
}
END_TEST

/* The pool computes only 64 elements, but reads 200,000. */
START_TEST (nodes_with_large_operands_are_cut)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 64, 56, 56));
  g_autoptr (CleaveSplitReport) report = NULL;

  x = run_conv (graph, x, 64, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_unary (graph, "Relu", run_unary (graph, "GlobalAveragePool", x)));
  report = split (graph, 2);
  assert_split (report, "globalaveragepool",
                "globalaveragepool.0 0:1,0:32,0:1,0:1 globalaveragepool.1 0:1,32:64,0:1,0:1");
}
END_TEST

START_TEST (small_nodes_and_small_graphs_stay_whole)
{
  g_autoptr (CleaveGraph) small = cleave_test_figure (), large = make_chain (16, FALSE);
  g_autoptr (CleaveSplitReport) report = NULL;
  CleaveResult *x = run_input (large, &CLEAVE_SHAPE (1, 32, 8, 8));

  run_output (large, run_unary (large, "Sigmoid", x));
  report = split (small, 4);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 0);
  cleave_split_report_unref (report);
  report = split (large, 4);
  ck_assert_uint_ge (cleave_split_report_get_n_split (report), 2);
  assert_split (report, "conv",
                "conv.0 0:1,0:32,0:4,0:64 conv.1 0:1,0:32,4:8,0:64 "
                "conv.2 0:1,0:32,8:12,0:64 conv.3 0:1,0:32,12:16,0:64");
  assert_split (report, "sigmoid", NULL);
}
END_TEST

/* Makes two convolutions on values of 4 MiB, then pools with small results. */
static CleaveGraph *
make_stage (void)
{
  CleaveGraph *graph = cleave_graph_new ("stage");
  CleavePoolAttrs pool = { .kernel_shape = CLEAVE_INTS (2, 2), .strides = CLEAVE_INTS (2, 2) };
  CleaveResult *y = run_input (graph, &CLEAVE_SHAPE (1, 3, 128, 128));

  y = run_unary (graph, "Relu", run_conv (graph, y, 64, 3, CLEAVE_LAYOUT_NCHW));
  y = run_unary (graph, "Relu", run_conv (graph, y, 64, 3, CLEAVE_LAYOUT_NCHW));
  y = run_add (graph, "MaxPool", &y, 1, &pool);
  y = run_add (graph, "MaxPool", &y, 1, &pool);
  run_output (graph, name_last (y, "small"));
  y = run_unary (graph, "GlobalAveragePool", run_conv (graph, y, 64, 3, CLEAVE_LAYOUT_NCHW));
  run_output (graph, y);
  return graph;
}

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

/* Values of 4 MiB skip a branch of small values with weights of 19 MB, as in a U-Net. */
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

/* Makes many layers of little work on values of 1.6 MB, whose strips are narrow and consist of
 * halos for a large part. A small convolution follows, which takes a third of the time. */
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

/* Makes a value of 5 MB that a global pool needs whole. It is cheap to compute twice from 4
 * channels, but not from 64. */
static CleaveGraph *
make_squeeze (gint64 n_channels)
{
  CleaveGraph *graph = cleave_graph_new ("squeeze");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 96, 96)), *y, *s;

  x = run_unary (graph, "Relu", run_conv (graph, x, n_channels, 3, CLEAVE_LAYOUT_NCHW));
  y = run_conv (graph, x, 128, 1, CLEAVE_LAYOUT_NCHW);
  s = run_unary (graph, "GlobalAveragePool", y);
  s = run_unary (graph, "HardSigmoid", run_conv (graph, s, 128, 1, CLEAVE_LAYOUT_NCHW));
  y = run_binary (graph, "Add", y, run_binary (graph, "Mul", y, s));
  run_output (graph, run_conv (graph, y, 16, 3, CLEAVE_LAYOUT_NCHW));
  return graph;
}

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

/* No piece of a node has more than 1.1 times the mean number of elements of its pieces. */
START_TEST (pieces_are_nearly_equal)
{
  for (guint n_threads = 2; n_threads <= 8; n_threads++)
    {
      g_autoptr (CleaveGraph) graph = make_chain (40, TRUE);
      g_autoptr (CleaveSplitReport) report = split (graph, n_threads);

      ck_assert_uint_ge (cleave_split_report_get_n_split (report), 4);
      for (guint i = 0; i < cleave_split_report_get_n_split (report); i++)
        {
          const CleaveSplitNode *node = cleave_split_report_get_split (report, i);
          gint64 sum = 0, most = 0;

          for (guint p = 0; p < node->n_pieces; p++)
            {
              gint64 n = cleave_range_n_elements (&node->ranges[p]);

              sum += n;
              most = MAX (most, n);
            }
          ck_assert_uint_eq (node->n_pieces, n_threads);
          ck_assert_double_le ((double) (most * n_threads), 1.1 * (double) sum);
        }
    }
}
END_TEST

/* Makes x → Relu → Transpose → Conv, with most of the work in the convolution. In the unsplit
 * graph, the Relu overwrites its operand and the Transpose is a view. Each of their pieces would be
 * a copy. */
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

/* The strips at the end, of values of 2.6 MB, reach back only to the 2 x 2 patches. */
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

/* %h, the last state, has another rank than %y, so its reader is cut on its own. */
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

/* Attention in windows of 7 x 7. The Reshape cannot be cut like the products, in the middle of a
 * window, but it is cut in a later attempt. The values of rank 6 are cut along the rows of windows.
 */
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

/* Weights are dequantized once and not in pieces, whatever their size. */
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

START_TEST (bits_stay_the_same)
{
  for (guint n_threads = 1; n_threads <= 4; n_threads++)
    for (guint which = 0; which < 4; which++)
      {
        g_autoptr (CleaveGraph) graph = which == 0   ? make_stage ()
                                        : which == 3 ? make_squeeze (4)
                                                     : make_chain (23, which == 1);
        g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1);
        g_autoptr (GPtrArray) whole = run_graph (graph, inputs, 1), cut = NULL;
        g_autoptr (CleaveSplitReport) report = split (graph, n_threads);
        g_autoptr (GError) error = NULL;

        ck_assert (cleave_graph_validate (graph, &error));
        cut = run_graph (graph, inputs, n_threads);
        ck_assert_int_eq (cleave_compare_outputs (whole, cut), -1);
        cleave_clean_up (graph, NULL, &error);
        cleave_assert_no_error (error);
        g_ptr_array_unref (cut);
        cut = run_graph (graph, inputs, n_threads);
        ck_assert_int_eq (cleave_compare_outputs (whole, cut), -1);
      }
}
END_TEST

START_TEST (the_pass_reports_whether_it_changed_anything)
{
  g_autoptr (GHashTable) two = g_hash_table_new (g_str_hash, g_str_equal);
  const CleavePass passes[] = { { "split-for-threads", cleave_pass_split_for_threads, two } };
  g_autoptr (CleaveGraph) small = cleave_test_figure (), large = make_chain (16, FALSE);
  g_autoptr (GError) error = NULL;
  gboolean changed = FALSE;

  g_hash_table_insert (two, (gpointer) "threads", (gpointer) "2");
  ck_assert (cleave_passes_run (small, passes, 1, &changed, &error));
  ck_assert (!changed);
  ck_assert (cleave_passes_run (large, passes, 1, &changed, &error));
  ck_assert (changed);
  cleave_assert_no_error (error);
}
END_TEST

START_TEST (number_of_threads_must_make_sense)
{
  g_autoptr (CleaveGraph) graph = make_chain (16, FALSE);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_split_for_threads (graph, 0, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "number of threads must be 1 to 1024, not 0");
  ck_assert_ptr_null (cleave_split_for_threads (graph, 1025, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "number of threads must be 1 to 1024, not 1025");
}
END_TEST

START_TEST (split_to_run_reports_how_many_threads_have_work)
{
  const struct
  {
    guint asked, used;
    gboolean is_large;
  } cases[] = { { 1, 1, TRUE },
                { 2, 2, TRUE },
                { 3, 3, TRUE },
                { 2, 1, FALSE },
                { 0, MAX (g_get_num_processors (), 1), TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph =
          cases[i].is_large ? make_chain (16, FALSE) : cleave_test_figure ();
      guint n_before = cleave_graph_get_n_nodes (graph), n_threads = cases[i].asked;
      g_autoptr (GError) error = NULL;

      ck_assert (cleave_split_to_run (graph, &n_threads, &error));
      cleave_assert_no_error (error);
      ck_assert_uint_eq (n_threads, cases[i].used);
      ck_assert_int_eq (cleave_graph_get_n_nodes (graph) > n_before, n_threads > 1);
    }
}
END_TEST

START_TEST (split_to_run_refuses_too_many_threads)
{
  g_autoptr (CleaveGraph) graph = make_chain (16, FALSE);
  g_autoptr (GError) error = NULL;
  guint n_threads = 1025;

  ck_assert (!cleave_split_to_run (graph, &n_threads, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "number of threads must be 0 to 1024, not 1025");
  ck_assert_uint_eq (n_threads, 1025);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "nodes", heavy_nodes_are_cut_evenly, with_few_rows_the_weights_are_cut,
                   images_are_cut_by_rows_in_every_layout, values_of_every_rank_are_cut,
                   the_only_possible_dimension_is_cut,
                   few_channels_and_following_nodes_are_cut_by_rows,
                   nodes_that_move_values_are_cut_like_their_reader,
                   few_channels_in_nhwc_are_cut_by_rows, nodes_with_large_operands_are_cut,
                   small_nodes_and_small_graphs_stay_whole, pieces_are_nearly_equal, NULL);
  cleave_add_case (suite, "stages", stage_is_cut_into_strips_that_halve_the_peak,
                   bands_exchange_halos_if_recomputing_is_expensive,
                   strips_do_not_read_large_weights_again,
                   values_needed_whole_are_recomputed_if_cheap, NULL);
  cleave_add_case (
      suite, "all", bits_stay_the_same, cuts_that_save_little_time_cost_no_memory,
      views_between_pieces_are_cut_alike, a_batch_is_cut_into_images,
      nodes_beyond_the_strips_are_cut_separately, readers_of_another_result_are_cut_separately,
      computed_weights_stay_whole, nodes_split_later_are_not_reported_as_whole,
      the_pass_reports_whether_it_changed_anything, number_of_threads_must_make_sense, NULL);
  cleave_add_case (suite, "to run", split_to_run_reports_how_many_threads_have_work,
                   split_to_run_refuses_too_many_threads, NULL);
}

CLEAVE_TEST_SUITE ("split-for-threads", add_tests)
