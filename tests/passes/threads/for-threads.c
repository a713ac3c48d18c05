/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The split for threads: the nodes that are cut, and the dimensions along which they are cut. */

#include "threaded.h"

/* Makes a convolution of x, a Relu, and a second convolution. Both convolutions have 3x3 kernels
 * and 32 channels. If `is_residual`, adds x to the result, and a Relu after the sum. */
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

/* In this graph neural network, the ScatterElements adds several rows of `messages` to the same row
 * of x. So the ScatterElements is cut by columns. The GatherElements that computes the messages is
 * cut by columns too, although other nodes are cut by rows. */
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

/* `text`: a graph without the line of its output %y. `pieces`: the expected pieces of %y for two
 * threads.
 */
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

/* If a batch of few elements were cut, each piece would read all weights for little work. So a
 * product with two rows is cut by the columns of its weights. A bidirectional GRU with a batch of
 * two is cut by its directions. A larger batch is cut, and so is a batch of images. */
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

/* The split prefers to cut the rows of an image in every layout. It cuts channels or columns only
 * if the image has too few rows. A node without a layout attribute has the layout of its
 * operand. */
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

/* All values have 7 rows, which two threads can only share as 4 and 3. A value with 32 channels is
 * cut by rows nevertheless, since pieces of 16 channels would be slow. A value with 192 channels is
 * cut by channels. A Relu or Neg of any size is cut along the same dimension as the convolution
 * before it. A Concat only moves values, so its pieces may be less equal: it is cut by rows. */
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
  cleave_add_case (suite, "all", bits_stay_the_same, the_pass_reports_whether_it_changed_anything,
                   number_of_threads_must_make_sense, NULL);
  cleave_add_case (suite, "to run", split_to_run_reports_how_many_threads_have_work,
                   split_to_run_refuses_too_many_threads, NULL);
}

CLEAVE_TEST_SUITE ("split-for-threads", add_tests)
