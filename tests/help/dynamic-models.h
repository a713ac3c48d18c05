/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "models.h"

/* Imports models whose shapes depend on data, and runs the graph and its dynamic part, for the
 * suites import-dynamic.c and export-dynamic.c in tests/onnx. An error fails the test. */

/* Import options that allow a dynamic part. */
extern const CleaveOnnxOptions dynamic_options;

/* Imports a model with `dynamic_options`, so that it may have a dynamic part. */
CleaveGraph *dynamic_import (const Model *model);
/* Runs a graph and its dynamic part. Returns (transfer full) all outputs of the model. `stats`: the
 * statistics of the dynamic part, or NULL. */
GPtrArray *
dynamic_run_many (const CleaveGraph *graph, const GPtrArray *inputs, CleaveOnnxDynamicStats *stats);
/* Runs a graph whose only input is x, and its dynamic part. Returns (transfer full) all outputs of
 * the model. */
GPtrArray *dynamic_run (const CleaveGraph *graph, CleaveTensor *x, CleaveOnnxDynamicStats *stats);
/* Makes x a constant, so that the import computes all nodes. Returns (transfer full) the
 * outputs. */
GPtrArray *dynamic_fold (const Model *model, CleaveTensor *x);
/* Returns a tensor of random elements. */
CleaveTensor *dynamic_make_x (const CleaveTensorType *type, guint64 seed);
void dynamic_assert_equal (const GPtrArray *one, const GPtrArray *other);
/* Makes a model whose outputs are `v`, the elements of relu (x) above a threshold, and `n`, the
 * negated relu (x). x is 4x6. */
Model *dynamic_mask_new (void);
