/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The join sinker: it moves an element-wise node from a join to the parts of the join. The graphs
 * are split into strips. Before the split, each layer of a graph reads the results of all previous
 * layers, as in DenseNet. */

#include "../../../lib/ir/graph-private.h"
#include "graphs.h"
#include "run-help.h"

#include <string.h>

#define ROWS 19

/* Adds nodes that read the concatenated value x; returns their result. */
typedef CleaveResult *Step (CleaveGraph *graph, CleaveResult *x);

static CleaveResult *
normalize (CleaveGraph *graph, CleaveResult *x)
{
  return run_unary (graph, "Relu", run_normalize_for_good (graph, x));
}

static CleaveResult *
slope (CleaveGraph *graph, CleaveResult *x)
{
  CleaveResult *slopes =
      run_constant (graph, &CLEAVE_SHAPE (cleave_result_get_type (x)->shape.dim[1], 1, 1), 3);

  return run_binary (graph, "PRelu", x, slopes);
}

/* Subtracts x from a constant with one element, which is the first operand. */
static CleaveResult *
subtract (CleaveGraph *graph, CleaveResult *x)
{
  return run_binary (graph, "Sub", run_constant (graph, &CLEAVE_SHAPE (1), 4), x);
}

/* Adds a Softmax, which needs all channels. */
static CleaveResult *
softmax (CleaveGraph *graph, CleaveResult *x)
{
  return run_add (graph, "Softmax", &x, 1, &(CleaveAxisAttrs){ .axis = 1 });
}

/* Adds a constant with nine columns. If x has one column, x is broadcast. Columns are never cut. */
static CleaveResult *
add_up (CleaveGraph *graph, CleaveResult *x)
{
  CleaveResult *operands[] = { x, run_constant (graph, &CLEAVE_SHAPE (1, 1, 1, 9), 5) };

  return run_add (graph, "Add", operands, 2, NULL);
}

/* Computes x * x, so one node reads the join twice. */
static CleaveResult *
square (CleaveGraph *graph, CleaveResult *x)
{
  return run_binary (graph, "Mul", x, x);
}

/* Adds two nodes that read x, which is a join. So neither node is the only reader of the join. */
static CleaveResult *
branch (CleaveGraph *graph, CleaveResult *x)
{
  return run_binary (graph, "Add", run_unary (graph, "Relu", x), run_unary (graph, "Neg", x));
}

/* Makes layers of convolutions. Each layer reads the results of all previous layers. */
static CleaveGraph *
make_block_of (gint64 columns, gint64 kernel, Step *step, Step *last)
{
  CleaveGraph *graph = cleave_graph_new ("block");
  CleaveResult *made[4] = { run_conv (graph, run_input (graph, &CLEAVE_SHAPE (1, 3, ROWS, columns)),
                                      6, 3, CLEAVE_LAYOUT_NCHW) };
  CleaveResult *y;

  for (guint i = 1; i < G_N_ELEMENTS (made); i++)
    {
      y = i == 1 ? made[0] : run_concat (graph, made, i, 1);
      y = run_conv (graph, step (graph, y), 8, 1, CLEAVE_LAYOUT_NCHW);
      made[i] = run_conv (graph, y, 4, kernel, CLEAVE_LAYOUT_NCHW);
    }
  y = last (graph, run_concat (graph, made, G_N_ELEMENTS (made), 1));
  run_output (graph, run_conv (graph, y, 2, 1, CLEAVE_LAYOUT_NCHW));
  return graph;
}

static CleaveGraph *
make_block (Step *step, gint64 kernel)
{
  return make_block_of (9, kernel, step, step);
}

static CleaveSplitReport *
split (CleaveGraph *graph, gint64 n_strips, CleaveHalo halo)
{
  const CleaveRecursion recursion = { .depth = 100, .halo = halo };
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("H", &n_strips, 1);
  CleaveResult *y = cleave_operand_get_result (cleave_graph_get_output (graph, 0));
  g_autoptr (GError) error = NULL;
  CleaveSplitReport *report =
      cleave_split_node_recursively (cleave_result_get_node (y), split, NULL, &recursion, &error);

  cleave_assert_no_error (error);
  ck_assert (cleave_graph_validate (graph, &error));
  cleave_assert_no_error (error);
  return report;
}

static void
assert_same (const GPtrArray *want,
             const CleaveGraph *graph,
             const GPtrArray *inputs,
             guint n_threads)
{
  g_autoptr (GPtrArray) got = run_graph (graph, inputs, n_threads);

  ck_assert_int_eq (cleave_compare_outputs (want, got), -1);
}

/* Returns whether the test tries this combination of step, halo and number of strips. All
 * combinations take 22 seconds of processor time, so the test tries a third of them. For any two of
 * the three settings, every pair of values occurs. With a sanitizer or in an emulator, the test
 * tries a third of the steps. */
static gboolean
is_tried (guint step, gint64 n_strips, guint halo)
{
  gboolean is_slow = CLEAVE_SANITIZED || CLEAVE_EMULATED;

  return (step + (guint) n_strips / 8 + halo) % 3 == 0 && (!is_slow || step % 3 == 0);
}

static void
assert_bits_stay (Step *step, guint32 seed, gint64 n_strips, CleaveHalo halo)
{
  g_autoptr (CleaveGraph) graph = make_block (step, 3);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, seed);
  g_autoptr (GPtrArray) want = run_graph (graph, inputs, 1);
  g_autoptr (CleaveSplitReport) report = split (graph, n_strips, halo);
  g_autoptr (GError) error = NULL;

  ck_assert_uint_eq (cleave_split_report_get_n_not_split (report), 0);
  assert_same (want, graph, inputs, 1);
  assert_same (want, graph, inputs, 2);
  cleave_clean_up (graph, NULL, &error);
  cleave_assert_no_error (error);
  assert_same (want, graph, inputs, 1);
  assert_same (want, graph, inputs, 4);
}

START_TEST (bits_stay_the_same)
{
  Step *const steps[] = { normalize, slope, subtract, softmax, add_up, square, branch };

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    for (gint64 n_strips = 2; n_strips <= ROWS; n_strips += 8)
      for (guint halo = 0; halo < 3; halo++)
        if (is_tried (i, n_strips, halo))
          assert_bits_stay (steps[i], i, n_strips, (CleaveHalo) halo);
}
END_TEST

static gboolean
is_join (const CleaveResult *value)
{
  return (value->node->op->flags & CLEAVE_OP_JOIN) != 0;
}

static gboolean
has_view (const CleaveNode *join)
{
  for (guint i = 0; i < join->n_operands; i++)
    {
      const CleaveResult *part = join->operands[i].result;

      if ((part->node->op->flags & CLEAVE_OP_VIEW) != 0 ||
          (is_join (part) && has_view (part->node)))
        return TRUE;
    }
  return FALSE;
}

/* Counts the nodes with the op `op` that read a join as operand 0. Does not count a node if no
 * operand of the join is a view. */
static guint
count_after_views (const CleaveGraph *graph, const char *op)
{
  guint n = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    if (g_str_equal (node->op->name, op) && is_join (node->operands[0].result) &&
        has_view (node->operands[0].result->node))
      n++;
  return n;
}

static guint
count_nodes (const CleaveGraph *graph, const char *op)
{
  guint n = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    n += g_str_equal (node->op->name, op) ? 1 : 0;
  return n;
}

/* No concatenated value is copied. Only carried rows are copied: a 3x3 convolution joins the
 * carried rows with the rows of its own strip. */
START_TEST (parts_are_read_without_a_copy)
{
  const gint64 n_strips = 6, row_bytes = 8 * 9 * 4, halo = 2;
  g_autoptr (CleaveGraph) graph = make_block (normalize, 3);
  g_autoptr (CleaveSplitReport) report = split (graph, n_strips, CLEAVE_HALO_CARRY);
  g_autofree char *pieces = cleave_describe_split (report, "relu_2");

  /* in the last strip, one join contains all operands of another join, so the other join becomes a
   * view of it */
  ck_assert_uint_le (count_after_views (graph, "BatchNormalization"), 1);
  ck_assert_uint_eq (count_after_views (graph, "Relu"), 0);
  ck_assert_uint_gt (count_nodes (graph, "Relu"), 4 * (guint) n_strips);
  ck_assert_uint_eq (count_nodes (graph, "Relu"), count_nodes (graph, "BatchNormalization"));
  ck_assert_int_le (run_get_stats (graph, 1).copied_bytes,
                    3 * (n_strips - 1) * 2 * halo * row_bytes);
  /* the join of the parts has the name of the strip */
  ck_assert_msg (strstr (pieces, "relu_2.5 ") != NULL, "%s", pieces);
}
END_TEST

START_TEST (a_join_whose_operands_are_in_place_stays)
{
  g_autoptr (CleaveGraph) graph = make_block (normalize, 1);
  g_autoptr (CleaveSplitReport) report = split (graph, 3, CLEAVE_HALO_CARRY);

  ck_assert_uint_eq (count_nodes (graph, "Relu"), 4 * 3);
  ck_assert_uint_eq (count_nodes (graph, "BatchNormalization"), 4 * 3);
  ck_assert_uint_eq (count_nodes (graph, "Concat"), 3 * 3);
}
END_TEST

START_TEST (other_readers_keep_their_join)
{
  static const struct
  {
    Step *step;
    const char *op;
  } cases[] = { { softmax, "Softmax" }, { square, "Mul" }, { branch, "Neg" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = make_block (cases[i].step, 3);
      g_autoptr (CleaveSplitReport) report = split (graph, 6, CLEAVE_HALO_CARRY);

      ck_assert_uint_le (count_nodes (graph, cases[i].op), 4 * 6);
      ck_assert_uint_ge (count_after_views (graph, cases[i].op), 3 * 4);
    }
}
END_TEST

/* The sum broadcasts a join of one column to nine columns, so the join sinker does not move the sum
 * to the parts of the join. */
START_TEST (a_broadcast_join_stays)
{
  g_autoptr (CleaveGraph) graph = make_block_of (1, 3, normalize, add_up);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1);
  g_autoptr (GPtrArray) want = run_graph (graph, inputs, 1);
  g_autoptr (CleaveSplitReport) report = split (graph, 6, CLEAVE_HALO_CARRY);

  ck_assert_uint_eq (count_nodes (graph, "Add"), 6);
  assert_same (want, graph, inputs, 2);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "spread", bits_stay_the_same, parts_are_read_without_a_copy,
                   a_join_whose_operands_are_in_place_stays, other_readers_keep_their_join,
                   a_broadcast_join_stays, NULL);
}

CLEAVE_TEST_SUITE ("sink-joins", add_tests)
