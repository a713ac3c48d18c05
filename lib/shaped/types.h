/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The types of all inputs of a model, in the order of its inputs, as one value. For other types,
 * the model is loaded as another graph. */

#include <cleave/cleave-onnx.h>

/* Return the types (CleaveTensorType) of the inputs of a graph, or of several tensors. */
GArray *cleave_types_of_graph (const CleaveGraph *graph);
GArray *cleave_types_of_tensors (CleaveTensor *const *tensors, guint n_tensors);
gboolean cleave_types_equal (const GArray *a, const GArray *b);
gint64 cleave_types_count_elements (const GArray *types);

/* Returns whether each extent of `types` is at most that of `largest`. If not, or if an input has
 * another element type or rank, sets the error; `graph` has the names of the inputs. */
gboolean cleave_types_check (const GArray *types,
                             const GArray *largest,
                             const CleaveGraph *graph,
                             GError **error);

/* Returns the types with each extent below the largest rounded up: to the largest extent, halved
 * as often as possible. So there are few different types, and an extent grows to less than twice.
 *
 *   largest 100, extent 30: 100 → 50 → 25 is below 30, so the extent becomes 50 */
GArray *cleave_types_round_up (const GArray *types, const GArray *largest);

/* Loads a model with the options, but with these types of the inputs of `graph`. */
CleaveGraph *cleave_types_load (const char *path,
                                const CleaveOnnxOptions *options,
                                const GArray *types,
                                const CleaveGraph *graph,
                                GError **error);
