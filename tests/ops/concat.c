/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op Concat, whose operands are placed side by side along an axis. */

#include "op-case.h"

#include "../../lib/ir/graph-private.h"
#include "../../lib/memory/placement.h"
#include "run-help.h"

START_TEST (extents_along_the_axis_add_up)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveTensorType other = CLEAVE_TYPE (CLEAVE_INT8, 2, 3);
  CleaveResult *a = cleave_case_input (graph, "a", CLEAVE_SHAPE (2, 3));
  CleaveResult *b = cleave_case_input (graph, "b", CLEAVE_SHAPE (2, 5));
  CleaveResult *e = cleave_case_input (graph, "e", CLEAVE_SHAPE (2, 0));
  CleaveResult *s = cleave_graph_add_input (graph, "s", &CLEAVE_SCALAR (CLEAVE_FLOAT32), NULL);
  CleaveResult *i = cleave_graph_add_input (graph, "i", &other, NULL);

#define CONCAT(axis, ...)                                                                          \
  cleave_graph_add_concat (graph, "c", (CleaveResult *[]){ __VA_ARGS__ },                          \
                           sizeof ((CleaveResult *[]){ __VA_ARGS__ }) / sizeof (CleaveResult *),   \
                           axis, &error)
  cleave_assert_infers (CONCAT (1, a, b), &error, "float32 2x8");
  cleave_assert_infers (CONCAT (-1, a, e, b), &error, "float32 2x8");
  cleave_assert_infers (CONCAT (0, a), &error, "float32 2x3");
  cleave_assert_infers (CONCAT (0, a, a, a), &error, "float32 6x3");
  cleave_assert_infers (
      CONCAT (0, a, b), &error,
      "Concat 'c': operand 0 is 2x3 and operand 1 is 2x5: they may differ in dimension 0 only");
  cleave_assert_infers (CONCAT (1, a, i), &error,
                        "Concat 'c': inputs is float32, but inputs is int8");
  cleave_assert_infers (CONCAT (2, a, b), &error,
                        "Concat 'c': axis must be between -2 and 1 for rank 2, not 2");
  cleave_assert_infers (CONCAT (0, s, s), &error,
                        "Concat 'c': inputs must have rank 1 to 8, not 0");
}
END_TEST

START_TEST (a_chunk_reads_the_operands_that_overlap_it)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *a = cleave_case_input (graph, "a", CLEAVE_SHAPE (2, 3));
  CleaveResult *b = cleave_case_input (graph, "b", CLEAVE_SHAPE (2, 5));
  CleaveResult *y = CONCAT (1, a, b, a);

  cleave_assert_chunk (y, "0:2,0:11", "0:2,0:3 0:2,0:5 0:2,0:3 axis=1");
  cleave_assert_chunk (y, "1:2,2:4", "1:2,2:3 1:2,0:1 - axis=1");
  cleave_assert_chunk (y, "0:2,4:5", "- 0:2,1:2 - axis=1");
  cleave_assert_chunk (y, "0:1,7:9", "- 0:1,4:5 0:1,0:1 axis=1");
}
END_TEST

START_TEST (operands_are_placed_side_by_side)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *a = cleave_case_steps (graph, CLEAVE_SHAPE (2, 1), 1, 1);
  CleaveResult *b = cleave_case_steps (graph, CLEAVE_SHAPE (2, 2), 5, 1);

  cleave_assert_values (CONCAT (1, a, b), "1 5 6 2 7 8");
  cleave_assert_values (CONCAT (0, b, b), "5 6 7 8 5 6 7 8");
}
END_TEST

START_TEST (offsets_of_operands_are_found_in_any_order)
{
  static const guint asked[] = { 0, 1, 3, 3, 2, 4, 0, 4 };
  static const gint64 begins[] = { 0, 3, 8, 8, 11 };
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *a = cleave_case_input (graph, "a", CLEAVE_SHAPE (2, 3));
  CleaveResult *b = cleave_case_input (graph, "b", CLEAVE_SHAPE (2, 5));
  CleaveResult *e = cleave_case_input (graph, "e", CLEAVE_SHAPE (2, 0));
  g_auto (CleaveNodeCall) call = { 0 };

  cleave_node_call_init (&call, CONCAT (1, a, b, e, a, b)->node);
  for (guint i = 0; i < G_N_ELEMENTS (asked); i++)
    {
      CleaveRange range = cleave_join_range (&call.call, asked[i]);

      ck_assert_int_eq (range.dim[1].begin, begins[asked[i]]);
    }
}
END_TEST

/* Splits a Concat of 15,000 parts and compares the bits. If the op added up the extents of all
 * previous parts for each part, the test would take minutes. */
START_TEST (the_cost_per_operand_is_constant)
{
  const guint n = 15000;
  const gint64 n_chunks = 4;
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autofree CleaveResult **parts = g_new (CleaveResult *, n);
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("0", &n_chunks, 1);
  g_autoptr (CleaveSplitReport) report = NULL;
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 3));

  x = cleave_graph_add_unary (graph, "Neg", NULL, x, NULL, NULL);
  for (guint i = 0; i < n; i++)
    parts[i] = x;
  x = cleave_graph_add_concat (graph, "c", parts, n, 0, &error);
  cleave_assert_no_error (error);
  cleave_graph_add_output (graph, "y", x, NULL);
  run_assert_same (graph, 1);
  report = cleave_split_node (x->node, split, NULL, &error);
  cleave_assert_no_error (error);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
  run_assert_same (graph, 1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "concat", extents_along_the_axis_add_up,
                   a_chunk_reads_the_operands_that_overlap_it, operands_are_placed_side_by_side,
                   offsets_of_operands_are_found_in_any_order, the_cost_per_operand_is_constant,
                   NULL);
}

CLEAVE_TEST_SUITE ("concat", add_tests)
