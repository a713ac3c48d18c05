/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Graphs that several suites use, and functions to check them. Random graphs go through a split or
 * a pass, and cleave_compare_outputs() compares the results of the original and the changed
 * graph. */

/* cleave_test_input() adds a float32 input. cleave_test_weights() adds a constant of random float32
 * numbers. */
CleaveResult *cleave_test_input (CleaveGraph *graph, const char *name, CleaveShape shape);
CleaveResult *cleave_test_weights (CleaveGraph *graph, const char *name, CleaveShape shape);

/* Adds a node of an op without a typed constructor. Returns its first result, or NULL and an
 * error. */
CleaveResult *cleave_test_add (CleaveGraph *graph,
                               const char *op,
                               const char *name,
                               CleaveResult *const *operands,
                               guint n_operands,
                               gconstpointer attrs,
                               GError **error);

/* Adds an RNN, GRU or LSTM with all its results. */
CleaveNode *cleave_test_add_recurrent (CleaveGraph *graph,
                                       const char *op,
                                       const char *name,
                                       CleaveResult *const *operands,
                                       guint n_operands,
                                       const CleaveRecurrentAttrs *attrs,
                                       GError **error);

/* Makes the example graph of Glow's documentation, in the layout NHWC: x 5x16x16x4 → "conv" with
 * kernel 3, stride 2 and pads 1,1,0,0 → "relu" → "pool" with kernel 3, stride 2 and pads 1. */
CleaveGraph *cleave_test_figure (void);

/* Returns a random legal graph of about `n` nodes: convolutions, poolings, element-wise ops,
 * views and joins, with diamonds, residuals and several outputs. */
CleaveGraph *cleave_random_graph (guint32 seed, guint n);

/* Returns random inputs for a graph, including NaNs and infinities if `special`. */
GPtrArray *cleave_random_inputs (const CleaveGraph *graph, guint32 seed, gboolean special);
/* Returns the index of the first output that differs between two runs, or -1. */
int cleave_compare_outputs (const GPtrArray *a, const GPtrArray *b);
/* Returns the number of nodes of this op. */
guint cleave_count_nodes (const CleaveGraph *graph, const char *op);
/* Returns the pieces and their ranges, "conv.0 0:1,0:2 conv.1 ...", or "refused: " and the reason.
 * Returns NULL if the report does not have the node. */
char *cleave_describe_split (const CleaveSplitReport *report, const char *node);
