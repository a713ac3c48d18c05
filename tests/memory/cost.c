/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The estimated cost of a step (lib/memory/cost.h). Searches compare plans by this cost. */

#include "../../lib/memory/cost.h"
#include "../../lib/memory/quantized-group.h"
#include "run-help.h"

static double
cost_of (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, &error);

  cleave_assert_no_error (error);
  return cleave_cost_of_shared (cleave_graph_find_node (graph, "y"));
}

/* Products of bytes cost less than products of floats, in integer ops and between DequantizeLinear
 * and QuantizeLinear. If one operand is a float, a product costs as much as a product of floats. */
START_TEST (products_of_bytes_cost_less)
{
  static const char *const floats = "%x = Input : float32 64x256\n"
                                    "%w = Constant : float32 256x128\n"
                                    "%y = MatMul %x, %w\noutput %y\n";
  static const struct
  {
    const char *text;
    double times;
  } cases[] = {
    { "%x = Input : uint8 64x256\n%w = Constant : int8 256x128\n"
      "%y = MatMulInteger %x, %w\noutput %y\n",
      3 },
    { "%b = Input : uint8 64x256\n%c = Constant : int8 256x128\n%s = Constant : float32 scalar\n"
      "%x = DequantizeLinear %b, %s\n%w = DequantizeLinear %c, %s\n"
      "%y = MatMul %x, %w\noutput %y\n",
      3 },
    { "%x = Input : float32 64x256\n%c = Constant : int8 256x128\n%s = Constant : float32 scalar\n"
      "%w = DequantizeLinear %c, %s\n%y = MatMul %x, %w\noutput %y\n",
      1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    ck_assert_double_eq_tol (cost_of (floats) / cost_of (cases[i].text), cases[i].times, 1e-9);
}
END_TEST

/* A step with few rows costs more per row than a step with many, since each step reads all weights.
 */
START_TEST (steps_with_few_rows_cost_more)
{
  static const char *const text = "%%x = Input : float32 20x%ux8\n"
                                  "%%w = Constant : float32 1x64x8\n"
                                  "%%r = Constant : float32 1x64x64\n"
                                  "%%y, %%h = RNN %%x, %%w, %%r\noutput %%y\n";
  double costs[4];

  for (guint i = 0; i < G_N_ELEMENTS (costs); i++)
    {
      g_autofree char *of_rows = g_strdup_printf (text, i + 1);

      costs[i] = cost_of (of_rows);
    }
  ck_assert_double_eq_tol (costs[1] / costs[0], (2.0 * 72 + 64) / (72 + 64), 1e-9);
  ck_assert_double_eq_tol (costs[3] / costs[1], (4.0 * 72 + 64) / (2.0 * 72 + 64), 1e-9);
}
END_TEST

/* A product of two quantized activations costs as much as a product of floats: neither operand is a
 * constant, so both are converted to floats. */
START_TEST (products_of_two_activations_cost_as_floats)
{
  static const char *const text = "%b = Input : uint8 64x256\n%c = Input : int8 256x128\n"
                                  "%s = Constant : float32 scalar\n"
                                  "%x = DequantizeLinear %b, %s\n%w = DequantizeLinear %c, %s\n"
                                  "%y = MatMul %x, %w\noutput %y\n";

  ck_assert_double_eq_tol (cost_of (text), cleave_cost_of_macs (64 * 256 * 128), 1e-9);
}
END_TEST

/* Returns the cost of a step that runs a quantized group with this op. */
static double
cost_of_group (const char *op, const char *attrs)
{
  g_autofree char *text = g_strdup_printf ("%%b = Input : uint8 64x512\n"
                                           "%%s = Constant : float32 scalar\n"
                                           "%%x = DequantizeLinear %%b, %%s\n"
                                           "%%z = %s %%x%s\n"
                                           "%%y = QuantizeLinear %%z, %%s\noutput %%y\n",
                                           op, attrs);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, &error), lowered = NULL;

  cleave_assert_no_error (error);
  lowered = cleave_group_quantized (graph);
  ck_assert (cleave_node_is_group (lowered->last));
  return cleave_cost_of_node (lowered->last) - CLEAVE_COST_OF_STEP;
}

/* The cost of a quantized group depends on the element-wise op inside. A Softmax, which converts
 * bytes to floats first, costs twice as much as a Relu, which is a table of bytes. */
START_TEST (the_cost_of_a_group_is_that_of_its_elements)
{
  double table = cost_of_group ("Relu", "");

  ck_assert_double_gt (table, 2 * cleave_cost_of_bytes (2 * 64 * 512));
  ck_assert_double_eq_tol (cost_of_group ("Softmax", " axis=1"), 2 * table, 1e-9);
}
END_TEST

static CleaveNode *
parse_node (const char *text, CleaveGraph **graph)
{
  g_autoptr (GError) error = NULL;

  *graph = cleave_graph_parse (text, NULL, &error);
  cleave_assert_no_error (error);
  return cleave_graph_find_node (*graph, "y");
}

static double
time_of (const char *text)
{
  g_autoptr (GHashTable) read = g_hash_table_new (NULL, NULL);
  g_autoptr (CleaveGraph) graph = NULL;
  CleaveNode *node = parse_node (text, &graph);

  return cleave_cost_of_piece (node, read);
}

static double
time_of_conv (guint n_channels, const char *attrs)
{
  g_autofree char *text =
      g_strdup_printf ("%%x = Input : float32 1x32x64x64\n%%w = Constant : float32 %ux32x3x3\n"
                       "%%y = Conv %%x, %%w pads=1,1,1,1%s\noutput %%y\n",
                       n_channels, attrs);

  return time_of (text);
}

/* A convolution to 6 channels costs as much as a convolution to 16 channels, which fill a vector. A
 * 17th channel nearly doubles the cost. */
START_TEST (few_channels_cost_as_much_as_a_full_vector)
{
  ck_assert_double_eq_tol (time_of_conv (6, ""), time_of_conv (16, ""), 1e-9);
  ck_assert_double_gt (time_of_conv (17, ""), 1.8 * time_of_conv (16, ""));
  ck_assert_double_lt (time_of_conv (32, " winograd=0,0"), 0.8 * time_of_conv (32, ""));
}
END_TEST

/* Returns the cost that a cut of 32 channels into chunks of `n` channels adds. */
static double
added_by_chunks (guint n, const char *attrs)
{
  g_autofree char *text =
      g_strdup_printf ("%%x = Input : float32 1x32x64x64\n%%w = Constant : float32 32x32x3x3\n"
                       "%%y = Conv %%x, %%w pads=1,1,1,1%s\noutput %%y\n",
                       attrs);
  g_autoptr (CleaveGraph) graph = NULL;
  CleaveNode *node = parse_node (text, &graph);
  CleaveRange made = cleave_range_whole (&node->results[0].type.shape);

  made.dim[1].end = n;
  return cleave_cost_of_channels (node, &made);
}

START_TEST (chunks_of_channels_leave_vectors_partly_empty)
{
  const double begin = 120; /* fixed cost of a product, in nanoseconds */
  double all = time_of_conv (32, "") - begin;

  ck_assert_double_eq_tol (added_by_chunks (32, ""), 0, 1e-9);
  ck_assert_double_eq_tol (added_by_chunks (16, ""), 0, 1e-9);
  ck_assert_double_eq_tol (added_by_chunks (8, ""), all, 1e-6 * all);
  ck_assert_double_gt (added_by_chunks (16, " winograd=0,0"), 0);
  ck_assert_double_eq_tol (added_by_chunks (0, ""), 0, 1e-9);
}
END_TEST

/* The estimated time of a convolution is the time of its MACs plus a time for each element of the
 * result. A depthwise convolution of bytes has few MACs for each element, so the time for the
 * elements is a large part of its estimated time. */
START_TEST (results_have_a_cost_besides_sums)
{
  static const char *const text =
      "%%x = Input : uint8 1x64x32x32\n%%s = Constant : float32 scalar\n"
      "%%z = Constant : uint8 scalar\n%%w = Constant : uint8 64x%ux3x3\n"
      "%%y = QLinearConv %%x, %%s, %%z, %%w, %%s, %%z, %%s, %%z "
      "pads=1,1,1,1 group=%u\noutput %%y\n";
  g_autofree char *depthwise = g_strdup_printf (text, 1, 64);
  g_autofree char *dense = g_strdup_printf (text, 64, 1);

  ck_assert_double_gt (time_of (depthwise), 6 * time_of (dense) / 64);
}
END_TEST

/* Each index of a Gather has a cost, even if it copies few elements. A larger operand costs no
 * more, since only the selected rows are read. */
START_TEST (lookups_have_a_cost)
{
  static const char *const text = "%%x = Input : float32 %ux%u\n%%i = Input : int64 5000\n"
                                  "%%y = Gather %%x, %%i axis=0\noutput %%y\n";
  g_autofree char *narrow = g_strdup_printf (text, 1000, 16);
  g_autofree char *wider = g_strdup_printf (text, 1000, 64);
  g_autofree char *longer = g_strdup_printf (text, 5000, 64);
  g_autofree char *longest = g_strdup_printf (text, 500000, 64);

  ck_assert_double_gt (time_of (wider), time_of (narrow));
  ck_assert_double_lt (time_of (wider), 1.5 * time_of (narrow));
  ck_assert_double_eq_tol (time_of (longest), time_of (longer), 1e-9);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "cost", products_of_bytes_cost_less, steps_with_few_rows_cost_more,
                   products_of_two_activations_cost_as_floats,
                   the_cost_of_a_group_is_that_of_its_elements, NULL);
  cleave_add_case (suite, "pieces", few_channels_cost_as_much_as_a_full_vector,
                   chunks_of_channels_leave_vectors_partly_empty, results_have_a_cost_besides_sums,
                   lookups_have_a_cost, NULL);
}

CLEAVE_TEST_SUITE ("cost", add_tests)
