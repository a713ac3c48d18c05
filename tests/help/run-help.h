/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "test.h"

/* A tensor of random elements for each input of the graph. */
GPtrArray *run_random_inputs (const CleaveGraph *graph, guint32 seed);
/* Runs the graph with 1, 2, 3 and 8 threads, twice each, the arena poisoned before every run; each
 * output has the very bits that the interpreter makes.  `seed` is what a failure prints. */
void run_assert_same (const CleaveGraph *graph, guint32 seed);
/* Runs the graph once, the arena poisoned: (transfer full) a tensor for each of its outputs. */
GPtrArray *run_graph (const CleaveGraph *graph, const GPtrArray *inputs, guint n_threads);
/* The same with a program of the graph. */
GPtrArray *run_program (CleaveProgram *program, const CleaveGraph *graph, const GPtrArray *inputs);
/* What the program of a graph says of itself. */
CleaveProgramStats run_get_stats (const CleaveGraph *graph, guint n_threads);

/* Building without error handling: an error fails the test.  Values are float32. */
CleaveResult *run_input (CleaveGraph *graph, const CleaveShape *shape);
CleaveResult *run_constant (CleaveGraph *graph, const CleaveShape *shape, guint32 seed);
CleaveResult *run_add (CleaveGraph *graph,
                       const char *op,
                       CleaveResult *const *operands,
                       guint n,
                       gconstpointer attrs);
CleaveResult *run_unary (CleaveGraph *graph, const char *op, CleaveResult *x);
CleaveResult *run_binary (CleaveGraph *graph, const char *op, CleaveResult *a, CleaveResult *b);
/* x * clip (x + w, 0, 6) / w, the operands of the product swapped or not. */
CleaveResult *run_hard_swish (CleaveGraph *graph, CleaveResult *x, gboolean swap);
/* A convolution with square kernels, stride 1 and the padding that keeps the extents; random
 * weights. */
CleaveResult *run_conv (
    CleaveGraph *graph, CleaveResult *x, gint64 n_channels, gint64 kernel, CleaveLayout layout);
/* 3x3, as many channels as x has. */
CleaveResult *run_depthwise (CleaveGraph *graph, CleaveResult *x);
/* BatchNormalization by constants but for the variance; of those that are constants some are
 * negative. */
CleaveResult *run_normalise_by (CleaveGraph *graph, CleaveResult *x, CleaveResult *variance);
CleaveResult *run_normalise_for_good (CleaveGraph *graph, CleaveResult *x);
CleaveResult *run_slice (CleaveGraph *graph, CleaveResult *x, CleaveRange range);
CleaveResult *run_concat (CleaveGraph *graph, CleaveResult *const *operands, guint n, gint64 axis);
/* Half the height and width. */
CleaveResult *run_halve (CleaveGraph *graph, CleaveResult *x);
/* A U-net: half the height and width, and up again; what was before is joined to it. */
CleaveGraph *run_unet (void);
CleaveResult *
run_assemble (CleaveGraph *graph, CleaveResult *const *parts, const CleaveRange *ranges, guint n);
void run_output (CleaveGraph *graph, CleaveResult *value);
