/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Cases 18 to 28 of the Glow suites (glow.h): the ranges that a piece reads, and how pieces are
 * joined. */

#include "glow.h"

#include <string.h>

/* The tests below, cases 18 to 23, are about dimension maps. */

START_TEST (case_18_padding_only_is_refused)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleavePoolAttrs attrs = { .layout = CLEAVE_LAYOUT_NHWC,
                            .kernel_shape = CLEAVE_INTS (2, 2),
                            .pads = CLEAVE_INTS (0, 2, 1, 3) };
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 4, 4, 1));
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *before = NULL, *got = NULL;

  cleave_graph_add_pool (graph, "MaxPool", "pool", x, &attrs, &error);
  if (error != NULL) /* ONNX limits the pads of a pooling to less than the kernel; a Conv has no
                        such limit */
    {
      CleaveConvAttrs conv_attrs = { .layout = CLEAVE_LAYOUT_NHWC,
                                     .pads = CLEAVE_INTS (0, 2, 1, 3) };

      cleave_graph_add_conv (graph, "pool", x,
                             cleave_test_weights (graph, "w", CLEAVE_SHAPE (1, 1, 2, 2)), NULL,
                             &conv_attrs, NULL);
    }
  before = cleave_graph_print (graph);
  report = split (graph, "pool", chunks ("W", 8), NULL);
  got = cleave_describe_split (report, "pool");
  ck_assert_msg (g_str_has_prefix (got, "refused: ") && strstr (got, "W [0,1)") != NULL &&
                     strstr (got, "padding only") != NULL && strstr (got, "reach 2") != NULL,
                 "%s", got);
  cleave_assert_dump (graph, before);
}
END_TEST

static CleaveGraph *
group_graph (gint64 group)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveConvAttrs attrs = { .group = group };
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 8, 3, 3));
  CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (8, 8 / group, 1, 1));

  cleave_graph_add_output (graph, "y",
                           cleave_graph_add_conv (graph, "conv", x, w, NULL, &attrs, NULL), NULL);
  return graph;
}

START_TEST (case_19_straddled_groups_are_refused)
{
  g_autoptr (CleaveGraph) graph = group_graph (2);
  g_autofree char *before = cleave_graph_print (graph);
  g_autoptr (CleaveSplitReport) refused = split (graph, "conv", chunks ("C", 3), NULL);
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autofree char *got = cleave_describe_split (refused, "conv");
  Check check = check_begin (graph);

  ck_assert_msg (g_str_has_prefix (got, "refused: ") && strstr (got, "4") != NULL, "%s", got);
  cleave_assert_dump (graph, before);
  report = split (graph, "conv", chunks ("C", 4), NULL);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
  check_end (&check);
}
END_TEST

static CleaveResult *
bytes (CleaveGraph *graph, CleaveElement element, CleaveShape shape)
{
  CleaveTensorType type = { element, shape };
  g_autoptr (CleaveTensor) tensor = cleave_random_tensor (&type, 20, FALSE);

  return cleave_graph_add_constant (graph, NULL, tensor);
}

/* Adds a constant of n floats: one for each channel, or one for all channels if n is 1. */
static CleaveResult *
scales (CleaveGraph *graph, gint64 n)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, n);
  g_autoptr (CleaveTensor) tensor = NULL;
  float values[4];

  if (n == 1)
    type = CLEAVE_SCALAR (CLEAVE_FLOAT32);
  for (gint64 i = 0; i < 4; i++)
    values[i] = 0.01f * (float) (i + 1);
  tensor = cleave_tensor_new_copy (&type, values, NULL);
  return cleave_graph_add_constant (graph, NULL, tensor);
}

START_TEST (case_20_quantized_convolutions_are_split)
{
  static const char *const dims[] = { "H,W", "C,H" };
  const CleaveShape scalar = { 0, { 0 } };

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveTensorType type = CLEAVE_TYPE (CLEAVE_UINT8, 1, 1, 16, 18);
      CleaveConvAttrs attrs = { .strides = CLEAVE_INTS (2, 2), .pads = CLEAVE_INTS (1, 1, 0, 0) };
      CleaveResult *operands[] = { cleave_graph_add_input (graph, "x", &type, NULL),
                                   scales (graph, 1),
                                   bytes (graph, CLEAVE_UINT8, scalar),
                                   bytes (graph, CLEAVE_INT8, CLEAVE_SHAPE (4, 1, 2, 2)),
                                   scales (graph, 4),
                                   bytes (graph, CLEAVE_INT8, CLEAVE_SHAPE (4)),
                                   scales (graph, 1),
                                   bytes (graph, CLEAVE_UINT8, scalar) };
      g_autoptr (CleaveSplitReport) report = NULL;
      g_autoptr (GError) error = NULL;
      CleaveNode *node = cleave_graph_add (graph, cleave_op_lookup ("QLinearConv"), "conv",
                                           operands, 8, 1, &attrs, &error);
      Check check;

      cleave_assert_no_error (error);
      cleave_graph_add_output (graph, "y", cleave_node_get_result (node, 0), NULL);
      check = check_begin (graph);
      report = split (graph, "conv", chunks2 (dims[i], 3, 3), NULL);
      ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
      ck_assert_uint_eq (cleave_split_report_get_split (report, 0)->n_pieces, 9);
      check_end (&check);
    }
}
END_TEST

/* Splits a convolution and a pooling in both layouts, with 1 to 3 spatial dimensions. */
static CleaveGraph *
spatial_graph (CleaveLayout layout, guint n_spatial)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveShape x = { n_spatial + 2, { 1 } }, w = { n_spatial + 2, { 4, 2 } };
  CleaveConvAttrs conv_attrs = { .layout = layout, .pads.n = 2 * n_spatial };
  CleavePoolAttrs pool_attrs = { .layout = layout,
                                 .kernel_shape.n = n_spatial,
                                 .strides.n = n_spatial };
  g_autoptr (GError) error = NULL;
  CleaveResult *y;

  for (guint i = 0; i < n_spatial; i++)
    {
      x.dim[layout == CLEAVE_LAYOUT_NHWC ? 1 + i : 2 + i] = 8;
      w.dim[2 + i] = 3;
      conv_attrs.pads.v[i] = conv_attrs.pads.v[n_spatial + i] = 1;
      pool_attrs.kernel_shape.v[i] = pool_attrs.strides.v[i] = 2;
    }
  x.dim[layout == CLEAVE_LAYOUT_NHWC ? n_spatial + 1 : 1] = 2;
  y = cleave_test_input (graph, "x", x);
  y = cleave_graph_add_conv (graph, "conv", y, cleave_test_weights (graph, "w", w), NULL,
                             &conv_attrs, &error);
  cleave_assert_no_error (error);
  y = cleave_graph_add_pool (graph, "AveragePool", "pool", y, &pool_attrs, &error);
  cleave_assert_no_error (error);
  cleave_graph_add_output (graph, "y", y, NULL);
  return graph;
}

START_TEST (cases_21_and_22_layout_and_rank_do_not_matter)
{
  for (guint n_spatial = 1; n_spatial <= 3; n_spatial++)
    for (guint layout = 0; layout < 2; layout++)
      {
        g_autoptr (CleaveGraph) graph = spatial_graph ((CleaveLayout) layout, n_spatial);
        Check check = check_begin (graph);
        const char *dim = n_spatial == 1 ? "W" : "H";
        guint h = layout == CLEAVE_LAYOUT_NHWC ? n_spatial == 3 ? 2 : 1 : n_spatial == 3 ? 3 : 2;
        g_autoptr (CleaveSplitReport) report = split_deep (graph, "pool", chunks (dim, 2), 2);

        for (guint i = 0; i < 2; i++)
          {
            const CleaveSplitNode *node = cleave_split_report_get_split (report, i);

            ck_assert_uint_eq (node->n_pieces, 2);
            ck_assert_int_eq (node->ranges[1].dim[h].begin, i == 0 ? 2 : 4);
            ck_assert_int_eq (node->ranges[1].dim[h].end, i == 0 ? 4 : 8);
          }
        check_end (&check);
      }
}
END_TEST

/* The second result of a MaxPool has the indices of the largest elements. Glow refuses to split
 * this node if another node reads the indices. In Cleave, the indices of each piece refer to the
 * whole operand, whatever dimension is cut. */
START_TEST (case_23_used_indices_refer_to_the_whole)
{
  static const char *const dims[] = { "N", "H", "W", "C" };

  for (guint d = 0; d < G_N_ELEMENTS (dims); d++)
    {
      g_autoptr (CleaveGraph) graph = pool_graph (2);
      CleaveResult *indices = cleave_node_get_result (find (graph, "pool"), 1);
      g_autoptr (CleaveSplitReport) report = NULL;
      Check check;

      cleave_graph_add_output (graph, "i", indices, NULL);
      check = check_begin (graph);
      report = split (graph, "pool", chunks (dims[d], 2), NULL);
      ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
      check_end (&check);
    }
}
END_TEST

/* The tests below, cases 24 to 28, are about joins and about pieces that read each other. */

START_TEST (case_24_pieces_do_not_depend_on_each_other)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (8));
  g_autoptr (CleaveSplitReport) report = split (graph, "relu", chunks ("0", 8), NULL);
  const CleaveSplitNode *node = cleave_split_report_get_split (report, 0);

  assert_counts (graph, "Assemble", 1);
  ck_assert_uint_eq (cleave_node_get_n_operands (find (graph, "relu")), 8);
  for (guint i = 0; i < 8; i++)
    {
      CleaveResult *result = cleave_node_get_result (node->pieces[i], 0);

      ck_assert_uint_eq (cleave_result_get_n_uses (result), 1);
      ck_assert_ptr_eq (cleave_operand_get_node (cleave_result_get_first_use (result)),
                        find (graph, "relu"));
    }
}
END_TEST

START_TEST (case_25_equal_slices_are_one)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 4, 4, 2));
  g_autoptr (CleaveSplitReport) report = NULL;

  cleave_graph_add_output (graph, "y", cleave_graph_add_binary (graph, "Mul", "mul", x, x, NULL),
                           NULL);
  report = split (graph, "mul", chunks ("1", 2), NULL);
  assert_counts (graph, "Slice", 2);
  assert_counts (graph, "Mul", 2);
  for (guint i = 0; i < 2; i++)
    {
      CleaveNode *piece = cleave_split_report_get_split (report, 0)->pieces[i];

      ck_assert_ptr_eq (cleave_operand_get_result (cleave_node_get_operand (piece, 0)),
                        cleave_operand_get_result (cleave_node_get_operand (piece, 1)));
    }
}
END_TEST

/* Makes a 3x3 convolution of an input with `h` rows, and a Relu of the result. */
static CleaveGraph *
conv_relu (gint64 h)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, h, 4, 2));

  cleave_graph_add_output (graph, "y", relu (graph, "relu", conv (graph, "conv", x, 2, 3, 1, 1)),
                           NULL);
  return graph;
}

START_TEST (case_26_seams_of_separate_splits_close)
{
  for (guint order = 0; order < 2; order++)
    {
      g_autoptr (CleaveGraph) graph = conv_relu (8);
      Check check = check_begin (graph);
      g_autoptr (CleaveSplitReport) first = NULL, second = NULL;

      first = order == 0 ? split (graph, "conv", chunks ("H", 2), NULL)
                         : split (graph, "relu", chunks ("1", 2), NULL);
      second = order == 1 ? split (graph, "conv", chunks ("H", 2), NULL)
                          : split (graph, "relu", chunks ("1", 2), NULL);
      check_equal (&check);
      ck_assert (cleave_clean_up (graph, NULL, NULL));
      assert_counts (graph, "Assemble", 1);
      assert_counts (graph, "Slice",
                     2); /* only the two pieces of the convolution read Slices, of x */
      ck_assert_str_eq (read_by (graph, "relu.0"), "conv.0");
      ck_assert_str_eq (read_by (graph, "relu.1"), "conv.1");
      check_end (&check);
    }
}
END_TEST

START_TEST (case_27_a_finer_consumer_slices_the_pieces)
{
  g_autoptr (CleaveGraph) graph = conv_relu (8);
  Check check = check_begin (graph);
  g_autoptr (CleaveSplitReport) first = split (graph, "conv", chunks ("H", 2), NULL);
  g_autoptr (CleaveSplitReport) second = split (graph, "relu", chunks ("1", 4), NULL);

  ck_assert_uint_eq (cleave_split_report_get_n_split (first), 1);
  ck_assert_uint_eq (cleave_split_report_get_n_split (second), 1);
  ck_assert (cleave_clean_up (graph, NULL, NULL));
  assert_counts (graph, "Assemble", 1);
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *piece = g_strdup_printf ("relu.%u", i);
      const char *slice = read_by (graph, piece);

      ck_assert_str_eq (read_by (graph, slice), i < 2 ? "conv.0" : "conv.1");
    }
  check_end (&check);
}
END_TEST

START_TEST (case_28_a_straddling_consumer_assembles_its_operand)
{
  g_autoptr (CleaveGraph) graph = conv_relu (6);
  Check check = check_begin (graph);
  g_autoptr (CleaveSplitReport) first = split (graph, "conv", chunks ("H", 2), NULL);
  g_autoptr (CleaveSplitReport) second = split (graph, "relu", chunks ("1", 3), NULL);
  CleaveNode *middle;

  ck_assert_uint_eq (cleave_split_report_get_n_split (first), 1);
  ck_assert_uint_eq (cleave_split_report_get_n_split (second), 1);
  ck_assert (cleave_clean_up (graph, NULL, NULL));
  middle = find (graph, read_by (graph, "relu.1"));
  ck_assert_str_eq (cleave_op_get_name (cleave_node_get_op (middle)), "Assemble");
  ck_assert_uint_eq (cleave_node_get_n_operands (middle), 2);
  assert_counts (graph, "Assemble", 2);
  ck_assert_ptr_null (cleave_graph_find_node (graph, "conv"));
  check_end (&check);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "maps", case_18_padding_only_is_refused,
                   case_19_straddled_groups_are_refused, case_20_quantized_convolutions_are_split,
                   cases_21_and_22_layout_and_rank_do_not_matter,
                   case_23_used_indices_refer_to_the_whole, NULL);
  cleave_add_case (suite, "seams", case_24_pieces_do_not_depend_on_each_other,
                   case_25_equal_slices_are_one, case_26_seams_of_separate_splits_close,
                   case_27_a_finer_consumer_slices_the_pieces,
                   case_28_a_straddling_consumer_assembles_its_operand, NULL);
}

CLEAVE_TEST_SUITE ("glow-cases", add_tests)
