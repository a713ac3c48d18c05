/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Recursive splits of chains and blocks, and assertions about their pieces. The suites region.c and
 * region-needs.c build a chain such as c0 → c1 → c2, split its last node, and check the rows of
 * each piece. */

#include "graphs.h"
#include "interpret.h"
#include "test.h"

#include <math.h>

/* The functions below make and split the graphs of the tests. */

static inline CleaveResult *
conv (CleaveGraph *graph, const char *name, CleaveResult *x, gint64 k)
{
  CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (k / 2, k / 2, k / 2, k / 2) };
  gint64 channels = cleave_result_get_type (x)->shape.dim[1];
  CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (channels, channels, k, k));

  return cleave_graph_add_conv (graph, name, x, w, NULL, &attrs, NULL);
}

static inline CleaveResult *
unary (CleaveGraph *graph, const char *op, const char *name, CleaveResult *x)
{
  CleaveNode *node = cleave_graph_add (graph, cleave_op_lookup (op), name, &x, 1, 1, NULL, NULL);

  ck_assert_ptr_nonnull (node);
  return cleave_node_get_result (node, 0);
}

/* Makes a chain of an input x 1x2xNxN and `n_convs` convolutions c0, c1, … */
static inline CleaveGraph *
conv_chain (guint n_convs, gint64 n, gint64 k)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *y = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 2, n, n));

  for (guint i = 0; i < n_convs; i++)
    {
      g_autofree char *name = g_strdup_printf ("c%u", i);

      y = conv (graph, name, y, k);
    }
  cleave_graph_add_output (graph, "y", y, NULL);
  return graph;
}

/* Splits a node recursively, asserts that the bits stay the same, and returns the report. */
static inline CleaveSplitReport *
split (CleaveGraph *graph,
       const char *node,
       const char *dims,
       gint64 a,
       gint64 b,
       const CleaveRecursion *recursion)
{
  const gint64 counts[] = { a, b };
  g_autoptr (CleaveTiling) by = cleave_tiling_by_num_chunks (dims, counts, b == 0 ? 1 : 2);
  g_autoptr (GPtrArray) inputs = cleave_random_inputs (graph, 1, FALSE);
  g_autoptr (GPtrArray) expected = cleave_interpret (graph, (CleaveTensor *const *) inputs->pdata);
  g_autoptr (GPtrArray) got = NULL;
  g_autoptr (GError) error = NULL;
  CleaveSplitReport *report = cleave_split_node_recursively (cleave_graph_find_node (graph, node),
                                                             by, NULL, recursion, &error);

  cleave_assert_no_error (error);
  cleave_graph_validate (graph, &error);
  cleave_assert_no_error (error);
  got = cleave_interpret (graph, (CleaveTensor *const *) inputs->pdata);
  ck_assert_int_eq (cleave_compare_outputs (expected, got), -1);
  return report;
}

static inline void
assert_split (const CleaveSplitReport *report, const char *node, const char *expected)
{
  g_autofree char *got = cleave_describe_split (report, node);

  ck_assert_msg (got != NULL, "%s is not in the report", node);
  ck_assert_str_eq (got, expected);
}

static inline double
added_macs (const CleaveSplitReport *report)
{
  const CleaveSplitTotals *totals = cleave_split_report_get_totals (report);

  return (double) totals->macs_after / (double) totals->macs_before;
}
