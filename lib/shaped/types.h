/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The types of all inputs of a model, in the order of the inputs, as one array. shaped.c looks up
 * the program of a run by this array. For each different array of types, the model is loaded again,
 * as a graph of its own. */

#include <cleave/cleave-onnx.h>

/* cleave_types_of_graph() returns the types (CleaveTensorType) of the inputs of a graph.
 * cleave_types_of_tensors() returns the types of the given tensors. */
GArray *cleave_types_of_graph (const CleaveGraph *graph);
GArray *cleave_types_of_tensors (CleaveTensor *const *tensors, guint n_tensors);
gboolean cleave_types_equal (const GArray *a, const GArray *b);
gint64 cleave_types_count_elements (const GArray *types);

/* Checks that each extent of `types` is at most the extent in `largest`, and that the element types
 * and ranks are equal. Sets the error if not. The error message contains the name of the input,
 * which `graph` has. */
gboolean cleave_types_check (const GArray *types,
                             const GArray *largest,
                             const CleaveGraph *graph,
                             GError **error);

/* Returns a copy of `types` with larger extents, so that few different types occur. If m is the
 * extent in `largest`, the allowed extents are m, m / 2, m / 4 and so on, rounded up. An extent of
 * `types` grows to the smallest allowed extent that is not below it, so by less than a factor of 2.
 *
 *   largest 100, extent 30: 100 → 50 → 25 is below 30, so the extent becomes 50 */
GArray *cleave_types_round_up (const GArray *types, const GArray *largest);

/* Loads the model at `path` with `options`, but with other shapes of the inputs: input i of
 * `graph`, an earlier graph of the same model, gets the shape in types[i]. Returns NULL on error.
 */
CleaveGraph *cleave_types_load (const char *path,
                                const CleaveOnnxOptions *options,
                                const GArray *types,
                                const CleaveGraph *graph,
                                GError **error);
