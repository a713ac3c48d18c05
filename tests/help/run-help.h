/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Runs graphs and compares the outputs with the outputs of cleave_interpret() (interpret.h), and
 * builds small graphs. Most suites in tests/runtime and tests/memory use these functions: a suite
 * builds a graph with run_conv() and similar functions, and checks it with run_assert_same(). */

#include "test.h"

/* Returns a tensor of random elements for each input of the graph. */
GPtrArray *run_random_inputs (const CleaveGraph *graph, guint32 seed);
/* Runs the graph with 1, 2, 3 and 8 threads, twice each. Fills the arena with garbage before every
 * run. Asserts that the outputs have the bits of cleave_interpret(). Prints `seed` on failure. */
void run_assert_same (const CleaveGraph *graph, guint32 seed);
/* Runs the graph once, with garbage in the arena. Returns (transfer full) a tensor for each
 * output. */
GPtrArray *run_graph (const CleaveGraph *graph, const GPtrArray *inputs, guint n_threads);
/* Runs a program of the graph once, with garbage in the arena. Returns (transfer full) a tensor for
 * each output. */
GPtrArray *run_program (CleaveProgram *program, const CleaveGraph *graph, const GPtrArray *inputs);
/* Returns the statistics of a program of the graph for `n_threads` threads. */
CleaveProgramStats run_get_stats (const CleaveGraph *graph, guint n_threads);

/* The functions below build graphs of float32 values. An error fails the test. */
CleaveResult *run_input (CleaveGraph *graph, const CleaveShape *shape);
CleaveResult *run_constant (CleaveGraph *graph, const CleaveShape *shape, guint32 seed);
CleaveResult *run_add (CleaveGraph *graph,
                       const char *op,
                       CleaveResult *const *operands,
                       guint n,
                       gconstpointer attrs);
CleaveResult *run_unary (CleaveGraph *graph, const char *op, CleaveResult *x);
CleaveResult *run_binary (CleaveGraph *graph, const char *op, CleaveResult *a, CleaveResult *b);
/* Adds x * clip (x + w, 0, 6) / w. If `swap`, x is the second operand of the product. */
CleaveResult *run_hard_swish (CleaveGraph *graph, CleaveResult *x, gboolean swap);
/* Adds a convolution with square kernel, stride 1, padding that keeps the extents, and random
 * weights. */
CleaveResult *run_conv (
    CleaveGraph *graph, CleaveResult *x, gint64 n_channels, gint64 kernel, CleaveLayout layout);
/* Adds a 3x3 depthwise convolution. */
CleaveResult *run_depthwise (CleaveGraph *graph, CleaveResult *x);
/* Both functions add a BatchNormalization with random constants of both signs. In
 * run_normalize_by(), the operand `variance` may be a value that is not constant. */
CleaveResult *run_normalize_by (CleaveGraph *graph, CleaveResult *x, CleaveResult *variance);
CleaveResult *run_normalize_for_good (CleaveGraph *graph, CleaveResult *x);
CleaveResult *run_slice (CleaveGraph *graph, CleaveResult *x, CleaveRange range);
CleaveResult *run_concat (CleaveGraph *graph, CleaveResult *const *operands, guint n, gint64 axis);
/* Adds a pooling that halves height and width. */
CleaveResult *run_halve (CleaveGraph *graph, CleaveResult *x);
/* Returns a U-net: poolings halve height and width, and Resizes double height and width again.
 * After each Resize, the value is joined to the earlier value of the same size. */
CleaveGraph *run_unet (void);
CleaveResult *
run_assemble (CleaveGraph *graph, CleaveResult *const *parts, const CleaveRange *ranges, guint n);
void run_output (CleaveGraph *graph, CleaveResult *value);
