/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "graphs.h"
#include "test.h"

/* What stands in the graph after a split, to the letter. */

static void
split (CleaveGraph *graph, const char *node, const char *dims, gint64 n)
{
  g_autoptr (CleaveTiling) by = cleave_tiling_by_num_chunks (dims, &n, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report =
      cleave_split_node (cleave_graph_find_node (graph, node), by, NULL, &error);

  cleave_assert_no_error (error);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
}

static CleaveResult *
conv (CleaveGraph *graph, CleaveResult *x, gint64 group)
{
  CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (1, 1, 1, 1), .group = group };
  CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (4, 2 / group, 3, 3));
  CleaveResult *b = cleave_test_weights (graph, "b", CLEAVE_SHAPE (4));

  return cleave_graph_add_conv (graph, "conv", x, w, b, &attrs, NULL);
}

START_TEST (rows_read_slices)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = conv (graph, cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 2, 8, 8)), 1);

  cleave_result_set_name (y, "value");
  cleave_graph_add_output (graph, "y", y, NULL);
  split (graph, "conv", "H", 2);
  cleave_assert_dump (graph, "%0 = Input : float32 1x2x8x8  # x\n"
                             "%1 = Constant : float32 4x2x3x3  # w\n"
                             "%2 = Constant : float32 4  # b\n"
                             "%3 = Slice %0 0:1,0:2,0:5,0:8 : float32 1x2x5x8  # conv.0.X\n"
                             "%4 = Conv %3, %1, %2 pads=1,1,0,1 : float32 1x4x4x8  # conv.0\n"
                             "%5 = Slice %0 0:1,0:2,3:8,0:8 : float32 1x2x5x8  # conv.1.X\n"
                             "%6 = Conv %5, %1, %2 pads=0,1,1,1 : float32 1x4x4x8  # conv.1\n"
                             "%7 = Assemble %4, %6 0:1,0:4,0:4,0:8 0:1,0:4,4:8,0:8 : float32 "
                             "1x4x8x8  # conv\n"
                             "output %7  # y\n");
  y = cleave_node_get_result (cleave_graph_find_node (graph, "conv"), 0);
  {
    g_autofree char *name = cleave_result_dup_name (y);

    ck_assert_str_eq (name, "value");
  }
}
END_TEST

START_TEST (channels_take_their_weights)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);

  cleave_graph_add_output (
      graph, "y", conv (graph, cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 2, 4, 4)), 2), NULL);
  split (graph, "conv", "C", 2);
  cleave_assert_dump (graph, "%0 = Input : float32 1x2x4x4  # x\n"
                             "%1 = Slice %0 0:1,0:1,0:4,0:4 : float32 1x1x4x4  # conv.0.X\n"
                             "%2 = Constant : float32 2x1x3x3  # conv.0.W\n"
                             "%3 = Constant : float32 2  # conv.0.B\n"
                             "%4 = Conv %1, %2, %3 pads=1,1,1,1 : float32 1x2x4x4  # conv.0\n"
                             "%5 = Slice %0 0:1,1:2,0:4,0:4 : float32 1x1x4x4  # conv.1.X\n"
                             "%6 = Constant : float32 2x1x3x3  # conv.1.W\n"
                             "%7 = Constant : float32 2  # conv.1.B\n"
                             "%8 = Conv %5, %6, %7 pads=1,1,1,1 : float32 1x2x4x4  # conv.1\n"
                             "%9 = Assemble %4, %8 0:1,0:2,0:4,0:4 0:1,2:4,0:4,0:4 : float32 "
                             "1x4x4x4  # conv\n"
                             "output %9  # y\n");
}
END_TEST

START_TEST (a_piece_may_be_split_again)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (8));

  cleave_graph_add_output (graph, "y", cleave_graph_add_unary (graph, "Relu", "r", x, NULL, NULL),
                           NULL);
  split (graph, "r", "0", 2);
  split (graph, "r.0", "0", 2);
  cleave_assert_dump (graph, "%0 = Input : float32 8  # x\n"
                             "%1 = Slice %0 4:8 : float32 4  # r.1.X\n"
                             "%2 = Relu %1 : float32 4  # r.1\n"
                             "%3 = Slice %0 0:2 : float32 2  # r.0.0.X\n"
                             "%4 = Relu %3 : float32 2  # r.0.0\n"
                             "%5 = Slice %0 2:4 : float32 2  # r.0.1.X\n"
                             "%6 = Relu %5 : float32 2  # r.0.1\n"
                             "%7 = Assemble %4, %6 0:2 2:4 : float32 4  # r.0\n"
                             "%8 = Assemble %7, %2 0:4 4:8 : float32 8  # r\n"
                             "output %8  # y\n");
}
END_TEST

START_TEST (an_operand_that_drops_out_is_not_read)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *parts[] = { cleave_test_input (graph, "x", CLEAVE_SHAPE (2)),
                            cleave_test_input (graph, "y", CLEAVE_SHAPE (2)) };

  cleave_graph_add_output (graph, "y", cleave_graph_add_concat (graph, "c", parts, 2, 0, NULL),
                           NULL);
  split (graph, "c", "0", 2);
  cleave_assert_dump (graph, "%0 = Input : float32 2  # x\n"
                             "%1 = Input : float32 2  # y\n"
                             "%2 = Assemble %0, %1 0:2 2:4 : float32 4  # c\n"
                             "output %2  # y\n");
}
END_TEST

START_TEST (names_that_are_taken_get_a_number)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "r.0", CLEAVE_SHAPE (4));

  cleave_graph_add_output (graph, "y", cleave_graph_add_unary (graph, "Relu", "r", x, NULL, NULL),
                           NULL);
  split (graph, "r", "0", 2);
  ck_assert_ptr_nonnull (cleave_graph_find_node (graph, "r.0_1"));
  ck_assert_ptr_nonnull (cleave_graph_find_node (graph, "r.1"));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "apply", rows_read_slices, channels_take_their_weights,
                   a_piece_may_be_split_again, an_operand_that_drops_out_is_not_read,
                   names_that_are_taken_get_a_number, NULL);
}

CLEAVE_TEST_SUITE ("split-apply", add_tests)
