/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Halos of recursive splits: rows are recomputed, carried or exchanged. */

#include "regions.h"

static CleaveResult *
quantize (CleaveGraph *graph,
          const char *op,
          const char *name,
          CleaveResult *x,
          CleaveResult *scale,
          CleaveResult *zero)
{
  CleaveResult *operands[] = { x, scale, zero };
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup (op), name, operands, 3, 1, NULL, NULL);

  ck_assert_ptr_nonnull (node);
  return cleave_node_get_result (node, 0);
}

static CleaveResult *
scalar (CleaveGraph *graph, const char *name, CleaveElement element)
{
  CleaveTensorType type = CLEAVE_SCALAR (element);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new (&type, NULL);

  memset (cleave_tensor_get_mutable_data (tensor), 1, (gsize) cleave_tensor_type_n_bytes (&type));
  return cleave_graph_add_constant (graph, name, tensor);
}

/* The split carries rows as bytes, since dequantized floats would take four times the memory. */
START_TEST (quantized_rows_are_carried_as_bytes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 2, 8, 8));
  CleaveResult *scale = scalar (graph, "s", CLEAVE_FLOAT32);
  CleaveResult *zero = scalar (graph, "z", CLEAVE_INT8);
  CleaveRecursion carry = { .depth = 3, .halo = CLEAVE_HALO_CARRY };
  g_autoptr (CleaveSplitReport) report = NULL;

  x = quantize (graph, "QuantizeLinear", "q", x, scale, zero);
  x = quantize (graph, "DequantizeLinear", "d", x, scale, zero);
  cleave_graph_add_output (graph, "y", conv (graph, "c", x, 3), NULL);
  report = split (graph, "c", "H", 2, 0, &carry);
  assert_split (report, "q", "q.0 0:1,0:2,0:5,0:8 q.1 0:1,0:2,5:8,0:8");
  assert_split (report, "d", "d.0 0:1,0:2,0:5,0:8 d.1 0:1,0:2,3:8,0:8");
}
END_TEST

/* Tests each depth from 1 to 6, with each number of strips from 2 to 16. */
START_TEST (carry_computes_each_element_once)
{
  for (guint depth = 1; depth <= 6; depth++)
    for (gint64 strips = 2; strips <= 16; strips++)
      {
        g_autoptr (CleaveGraph) graph = conv_chain (6, 16, depth % 2 == 0 ? 3 : 5);
        CleaveRecursion carry = { .depth = depth, .halo = CLEAVE_HALO_CARRY };
        g_autoptr (CleaveSplitReport) report = split (graph, "c5", "H", strips, 0, &carry);

        ck_assert_double_eq (added_macs (report), 1);
      }
}
END_TEST

START_TEST (recomputing_costs_the_documented_amount)
{
  static const double costs[][2] = { { 2, 1.09 }, { 4, 1.28 }, { 8, 1.66 }, { 12, 2.00 } };

  for (guint i = 0; i < G_N_ELEMENTS (costs); i++)
    {
      guint n = (guint) costs[i][0];
      g_autoptr (CleaveGraph) graph = conv_chain (n, 32, 3);
      CleaveRecursion recursion = { .depth = n };
      g_autofree char *last = g_strdup_printf ("c%u", n - 1);
      g_autoptr (CleaveSplitReport) report = split (graph, last, "H", 4, 0, &recursion);

      ck_assert_double_eq_tol (added_macs (report), costs[i][1], 0.005);
      ck_assert_uint_eq (cleave_split_report_get_totals (report)->n_parallel_subgraphs, 4);
    }
}
END_TEST

START_TEST (bands_recompute_and_strips_in_them_carry)
{
  g_autoptr (CleaveGraph) graph = conv_chain (2, 8, 3);
  CleaveRecursion carry = { .depth = 2, .halo = CLEAVE_HALO_CARRY, .strips_per_band = 2 };
  g_autoptr (CleaveSplitReport) report = split (graph, "c1", "H", 4, 0, &carry);

  assert_split (
      report, "c0",
      "c0.0 0:1,0:2,0:3,0:8 c0.1 0:1,0:2,3:5,0:8 c0.2 0:1,0:2,3:7,0:8 c0.3 0:1,0:2,7:8,0:8");
  ck_assert_uint_eq (cleave_split_report_get_totals (report)->n_parallel_subgraphs, 2);
}
END_TEST

/* The second and the third of four strips, counted from the top, lie at the common border of their
 * bands. Each of the two strips computes half of the rows that both strips need. */
START_TEST (adjacent_bands_exchange_shared_rows)
{
  g_autoptr (CleaveGraph) graph = conv_chain (2, 8, 3);
  CleaveRecursion exchange = { .depth = 2, .halo = CLEAVE_HALO_EXCHANGE, .strips_per_band = 2 };
  g_autoptr (CleaveSplitReport) report = split (graph, "c1", "H", 4, 0, &exchange);

  assert_split (
      report, "c0",
      "c0.0 0:1,0:2,1:4,0:8 c0.1 0:1,0:2,4:7,0:8 c0.2 0:1,0:2,0:1,0:8 c0.3 0:1,0:2,7:8,0:8");
}
END_TEST

/* With three bands, the first and the last band are computed downwards. With four bands, bands 0
 * and 1 begin at their common border, and bands 2 and 3 begin at their common border. */
START_TEST (bands_alternate_their_direction)
{
  g_autoptr (CleaveGraph) three = conv_chain (2, 12, 3), four = conv_chain (2, 16, 3);
  CleaveRecursion exchange = { .depth = 2, .halo = CLEAVE_HALO_EXCHANGE, .strips_per_band = 2 };
  g_autoptr (CleaveSplitReport) report = split (three, "c1", "H", 6, 0, &exchange);
  g_autoptr (CleaveSplitReport) other = split (four, "c1", "H", 8, 0, &exchange);

  assert_split (report, "c0",
                "c0.0 0:1,0:2,0:3,0:12 c0.1 0:1,0:2,5:8,0:12 c0.2 0:1,0:2,8:11,0:12 "
                "c0.3 0:1,0:2,3:4,0:12 c0.4 0:1,0:2,4:5,0:12 c0.5 0:1,0:2,11:12,0:12");
  assert_split (other, "c0",
                "c0.0 0:1,0:2,1:4,0:16 c0.1 0:1,0:2,4:7,0:16 c0.2 0:1,0:2,9:12,0:16 "
                "c0.3 0:1,0:2,12:15,0:16 c0.4 0:1,0:2,0:1,0:16 c0.5 0:1,0:2,7:8,0:16 "
                "c0.6 0:1,0:2,8:9,0:16 c0.7 0:1,0:2,15:16,0:16");
}
END_TEST

START_TEST (a_grid_carries_along_both_dimensions)
{
  g_autoptr (CleaveGraph) graph = conv_chain (2, 8, 3);
  CleaveRecursion carry = { .depth = 2, .halo = CLEAVE_HALO_CARRY };
  g_autoptr (CleaveSplitReport) report = split (graph, "c1", "H,W", 2, 2, &carry);

  assert_split (
      report, "c0",
      "c0.0 0:1,0:2,0:5,0:5 c0.1 0:1,0:2,0:5,5:8 c0.2 0:1,0:2,5:8,0:5 c0.3 0:1,0:2,5:8,5:8");
  ck_assert_double_eq (added_macs (report), 1);
}
END_TEST

START_TEST (columns_of_a_grid_are_bands)
{
  g_autoptr (CleaveGraph) graph = conv_chain (2, 8, 3);
  CleaveRecursion carry = { .depth = 2, .halo = CLEAVE_HALO_CARRY, .strips_per_band = 2 };
  g_autoptr (CleaveSplitReport) report = split (graph, "c1", "H,W", 2, 2, &carry);

  assert_split (
      report, "c0",
      "c0.0 0:1,0:2,0:5,0:5 c0.1 0:1,0:2,0:5,3:8 c0.2 0:1,0:2,5:8,0:5 c0.3 0:1,0:2,5:8,3:8");
}
END_TEST

/* Makes an inverted bottleneck. With the policy carry-narrow, rows of the wide results are
 * recomputed from carried rows of the narrow result, and columns of all results are carried. */
static CleaveGraph *
make_bottleneck (void)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveConvAttrs none = { 0 }, pads = { .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 2, 8, 8));
  CleaveResult *wide = cleave_test_weights (graph, "w", CLEAVE_SHAPE (8, 2, 1, 1));
  CleaveResult *back = cleave_test_weights (graph, "b", CLEAVE_SHAPE (2, 8, 3, 3));

  x = conv (graph, "narrow", x, 3);
  x = cleave_graph_add_conv (graph, "wide", x, wide, NULL, &none, NULL);
  x = unary (graph, "Relu", "relu", x);
  x = cleave_graph_add_conv (graph, "back", x, back, NULL, &pads, NULL);
  cleave_graph_add_output (graph, "y", x, NULL);
  return graph;
}

START_TEST (rows_of_expanded_values_are_recomputed)
{
  CleaveRecursion recursion = { .depth = 9, .halo = CLEAVE_HALO_CARRY_NARROW };
  g_autoptr (CleaveGraph) graph = make_bottleneck (), tiles = make_bottleneck ();
  g_autoptr (CleaveSplitReport) report = split (graph, "back", "H", 2, 0, &recursion);
  g_autoptr (CleaveSplitReport) of_tiles = split (tiles, "back", "H,W", 2, 2, &recursion);

  assert_split (report, "narrow", "narrow.0 0:1,0:2,0:5,0:8 narrow.1 0:1,0:2,5:8,0:8");
  assert_split (report, "wide", "wide.0 0:1,0:8,0:5,0:8 wide.1 0:1,0:8,3:8,0:8");
  assert_split (report, "relu", "relu.0 0:1,0:8,0:5,0:8 relu.1 0:1,0:8,3:8,0:8");
  assert_split (of_tiles, "narrow",
                "narrow.0 0:1,0:2,0:5,0:5 narrow.1 0:1,0:2,0:5,5:8 narrow.2 0:1,0:2,5:8,0:5 "
                "narrow.3 0:1,0:2,5:8,5:8");
  assert_split (of_tiles, "wide",
                "wide.0 0:1,0:8,0:5,0:5 wide.1 0:1,0:8,0:5,5:8 wide.2 0:1,0:8,3:8,0:5 "
                "wide.3 0:1,0:8,3:8,5:8");
}
END_TEST

START_TEST (a_strip_may_compute_nothing_new)
{
  g_autoptr (CleaveGraph) graph = conv_chain (2, 8, 7);
  CleaveRecursion carry = { .depth = 2, .halo = CLEAVE_HALO_CARRY };
  g_autoptr (CleaveSplitReport) report = split (graph, "c1", "H", 4, 0, &carry);

  assert_split (report, "c0", "c0.0 0:1,0:2,0:5,0:8 c0.1 0:1,0:2,5:7,0:8 c0.2 0:1,0:2,7:8,0:8");
  ck_assert_double_eq (added_macs (report), 1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "halo", quantized_rows_are_carried_as_bytes,
                   carry_computes_each_element_once, recomputing_costs_the_documented_amount,
                   bands_recompute_and_strips_in_them_carry, adjacent_bands_exchange_shared_rows,
                   bands_alternate_their_direction, a_grid_carries_along_both_dimensions,
                   columns_of_a_grid_are_bands, rows_of_expanded_values_are_recomputed,
                   a_strip_may_compute_nothing_new, NULL);
}

CLEAVE_TEST_SUITE ("split-region", add_tests)
