/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Graphs that suites share, and what is asked of them. */

/* An input, and a constant of random numbers, of float32. */
CleaveResult *cleave_test_input (CleaveGraph *graph, const char *name, CleaveShape shape);
CleaveResult *cleave_test_weights (CleaveGraph *graph, const char *name, CleaveShape shape);

/* A node of an op without a typed constructor: its first result, or NULL and an error. */
CleaveResult *cleave_test_add (CleaveGraph *graph,
                               const char *op,
                               const char *name,
                               CleaveResult *const *operands,
                               guint n_operands,
                               gconstpointer attrs,
                               GError **error);

/* An RNN, GRU or LSTM with all its results. */
CleaveNode *cleave_test_add_recurrent (CleaveGraph *graph,
                                       const char *op,
                                       const char *name,
                                       CleaveResult *const *operands,
                                       guint n_operands,
                                       const CleaveRecurrentAttrs *attrs,
                                       GError **error);

/* The figure of Glow's page: x 5x16x16x4 → "conv" k3 s2 pads 1,1,0,0 → "relu" → "pool" k3 s2 pads
 * 1, NHWC. */
CleaveGraph *cleave_test_figure (void);

/* A random legal graph of `n` nodes or a few more: convolutions, poolings, element-wise ops, views
 * and joins, with diamonds, residuals and several outputs. */
CleaveGraph *cleave_random_graph (guint32 seed, guint n);

/* Random inputs for a graph, NaNs and infinities among them if `special`. */
GPtrArray *cleave_random_inputs (const CleaveGraph *graph, guint32 seed, gboolean special);
/* The first output in which two runs differ, or -1. */
int cleave_compare_outputs (const GPtrArray *a, const GPtrArray *b);
/* Nodes of this op. */
guint cleave_count_nodes (const CleaveGraph *graph, const char *op);
/* "conv.0 0:1,0:2 conv.1 …", or of a node that was not split "refused: …"; NULL if the report does
 * not know it. */
char *cleave_describe_split (const CleaveSplitReport *report, const char *node);
