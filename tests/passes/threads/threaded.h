/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Helpers of the suites for-threads.c and strips.c. They split a graph for threads, and compare the
 * names and ranges of the pieces with a text such as "conv.0 0:1,0:2". */

#include "graphs.h"
#include "run-help.h"

/* Splits the graph for threads and returns the report. */
static inline CleaveSplitReport *
split (CleaveGraph *graph, guint n_threads)
{
  g_autoptr (GError) error = NULL;
  CleaveSplitReport *report = cleave_split_for_threads (graph, n_threads, &error);

  cleave_assert_no_error (error);
  return report;
}

static inline void
assert_split (const CleaveSplitReport *report, const char *node, const char *want)
{
  g_autofree char *got = cleave_describe_split (report, node);

  ck_assert_pstr_eq (got, want);
}

static inline CleaveResult *
name_last (CleaveResult *value, const char *name)
{
  cleave_result_set_name (value, name);
  return value;
}

/* Makes two convolutions on values of 4 MiB, then pools with small results. */
static inline CleaveGraph *
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

/* Makes a value of 5 MB that a global pool needs whole. If `n_channels` is 4, computing the value
 * twice is cheap; if `n_channels` is 64, it is not. */
static inline CleaveGraph *
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
