/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Functions for the suites tests/passes/split/glow-*.c. Each suite has cases in which the node
 * splitting of the compiler Glow is wrong. The cases of all suites are numbered together, from 1 to
 * 40. The suites test that Cleave splits with the same bits or reports an error. */

#include "graphs.h"
#include "interpret.h"
#include "test.h"

/* The functions below make graphs to split. */

static inline CleaveResult *
relu (CleaveGraph *graph, const char *name, CleaveResult *x)
{
  return cleave_graph_add_unary (graph, "Relu", name, x, NULL, NULL);
}

static inline CleaveGraph *
relu_graph (CleaveShape shape)
{
  CleaveGraph *graph = cleave_graph_new (NULL);

  cleave_graph_add_output (graph, "y", relu (graph, "relu", cleave_test_input (graph, "x", shape)),
                           NULL);
  return graph;
}

/* Adds a convolution in the layout NHWC without bias: `out` channels, a k x k kernel, stride s, and
 * p elements of padding on each side. */
static inline CleaveResult *
conv (
    CleaveGraph *graph, const char *name, CleaveResult *x, gint64 out, gint64 k, gint64 s, gint64 p)
{
  CleaveConvAttrs attrs = { .layout = CLEAVE_LAYOUT_NHWC,
                            .strides = CLEAVE_INTS (s, s),
                            .pads = CLEAVE_INTS (p, p, p, p) };
  gint64 in = cleave_result_get_type (x)->shape.dim[3];
  g_autofree char *weights = g_strdup_printf ("%s_w", name);
  CleaveResult *w = cleave_test_weights (graph, weights, CLEAVE_SHAPE (out, in, k, k));
  g_autoptr (GError) error = NULL;
  CleaveResult *y = cleave_graph_add_conv (graph, name, x, w, NULL, &attrs, &error);

  cleave_assert_no_error (error);
  return y;
}

/* Returns a graph with a MaxPool of 3x7x8x4. If `n_results` is 2, result 1 has the indices of
 * maxima. */
static inline CleaveGraph *
pool_graph (guint n_results)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleavePoolAttrs attrs = { .layout = CLEAVE_LAYOUT_NHWC, .kernel_shape = CLEAVE_INTS (2, 2) };
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (3, 7, 8, 4));
  CleaveNode *pool = cleave_graph_add (graph, cleave_op_lookup ("MaxPool"), "pool", &x, 1,
                                       n_results, &attrs, NULL);

  cleave_graph_add_output (graph, "y", cleave_node_get_result (pool, 0), NULL);
  return graph;
}

static inline CleaveNode *
find (CleaveGraph *graph, const char *name)
{
  CleaveNode *node = cleave_graph_find_node (graph, name);

  ck_assert_msg (node != NULL, "no node %s", name);
  return node;
}

static inline const char *
read_by (CleaveGraph *graph, const char *node)
{
  CleaveOperand *operand = cleave_node_get_operand (find (graph, node), 0);

  return cleave_node_get_name (cleave_result_get_node (cleave_operand_get_result (operand)));
}

/* The functions below return tilings, the arguments of cleave_split_node(). */

static inline CleaveTiling *
chunks (const char *dims, gint64 a)
{
  return cleave_tiling_by_num_chunks (dims, &a, 1);
}

static inline CleaveTiling *
chunks2 (const char *dims, gint64 a, gint64 b)
{
  const gint64 counts[] = { a, b };

  return cleave_tiling_by_num_chunks (dims, counts, 2);
}

/* A graph under test, random inputs, and the outputs before the graph was split. check_equal()
 * asserts that the graph still computes these outputs. */
typedef struct
{
  CleaveGraph *graph;
  GPtrArray *inputs, *expected;
} Check;

static inline Check
check_begin (CleaveGraph *graph)
{
  Check check = { graph, cleave_random_inputs (graph, 1, FALSE), NULL };

  check.expected = cleave_interpret (graph, (CleaveTensor *const *) check.inputs->pdata);
  return check;
}

static inline void
check_equal (const Check *check)
{
  g_autoptr (GPtrArray) outputs =
      cleave_interpret (check->graph, (CleaveTensor *const *) check->inputs->pdata);
  g_autoptr (GError) error = NULL;

  cleave_graph_validate (check->graph, &error);
  cleave_assert_no_error (error);
  ck_assert_int_eq (cleave_compare_outputs (check->expected, outputs), -1);
}

static inline void
check_end (Check *check)
{
  check_equal (check);
  g_ptr_array_unref (check->inputs);
  g_ptr_array_unref (check->expected);
}

static inline CleaveSplitReport *
split (CleaveGraph *graph, const char *node, CleaveTiling *by, const CleaveConstraint *constraint)
{
  g_autoptr (CleaveTiling) owned = by;
  g_autoptr (GError) error = NULL;
  CleaveSplitReport *report = cleave_split_node (find (graph, node), owned, constraint, &error);

  cleave_assert_no_error (error);
  return report;
}

static inline CleaveSplitReport *
split_deep (CleaveGraph *graph, const char *node, CleaveTiling *by, guint depth)
{
  g_autoptr (CleaveTiling) owned = by;
  CleaveRecursion recursion = { .depth = depth };
  g_autoptr (GError) error = NULL;
  CleaveSplitReport *report =
      cleave_split_node_recursively (find (graph, node), owned, NULL, &recursion, &error);

  cleave_assert_no_error (error);
  return report;
}

static inline void
assert_split (const CleaveSplitReport *report, const char *node, const char *expected)
{
  g_autofree char *got = cleave_describe_split (report, node);

  ck_assert_msg (got != NULL, "%s is not in the report", node);
  ck_assert_str_eq (got, expected);
}

/* Asserts that splitting `node` fails with `message`, and does not change the graph. */
static inline void
assert_wrong (CleaveGraph *graph, const char *node, CleaveTiling *by, const char *message)
{
  g_autoptr (CleaveTiling) owned = by;
  g_autofree char *before = cleave_graph_print (graph);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_split_node (find (graph, node), owned, NULL, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, message);
  cleave_assert_dump (graph, before);
}

static inline void
assert_counts (const CleaveGraph *graph, const char *op, guint n)
{
  guint got = cleave_count_nodes (graph, op);

  if (got != n)
    {
      g_autofree char *dump = cleave_graph_print (graph);

      ck_abort_msg ("%u nodes %s, not %u\n%s", got, op, n, dump);
    }
}
