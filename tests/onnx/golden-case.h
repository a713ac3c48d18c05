/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* One case of ONNX's operator tests: its import in several ways, its run, and the comparison.
 * golden.c calls these functions for each case, and counts the cases that pass. */

#include "models.h"

/* Returns the inputs or outputs of a case: the tensors of the files whose names are `kind` and _0,
 * _1, and so on. */
GPtrArray *golden_read_tensors (const char *folder, const char *kind, GError **error);
/* Imports the model. Each input i with `is_fixed[i]` becomes a constant with the input's value in
 * the test. */
CleaveGraph *golden_import (GBytes *bytes,
                            const GPtrArray *inputs,
                            const gboolean *is_fixed,
                            gboolean dynamic,
                            GError **error);
/* Imports the model unmodified. If that fails, imports the model again: inputs whose values the
 * import needs become constants with their values in the test. Removes these inputs from `inputs`,
 * and sets `any_fixed`. */
CleaveGraph *
golden_import_somehow (GBytes *bytes, GPtrArray *inputs, gboolean *any_fixed, GError **error);
/* Returns the model with a Compress behind each input. The condition of each Compress is a further
 * input. Its elements are TRUE, so that all rows stay, but all shapes depend on data. Adds tensors
 * for the conditions to `inputs`. Returns NULL if the model lists weights as inputs. */
GBytes *golden_make_dynamic (GBytes *bytes, GPtrArray *inputs);
/* Returns a text about the first difference that exceeds the tolerance; NULL if there is none. */
char *golden_compare (CleaveTensor *got, CleaveTensor *want);
/* Runs the graph. Returns a text about the first mistake in the outputs; NULL if there is none. */
char *golden_run (const CleaveGraph *graph, GPtrArray *inputs, GPtrArray *outputs);
/* Runs the graph before and after export and import, and compares the bits. Returns a text about
 * the first mistake; NULL if there is none. */
char *golden_run_again (const CleaveGraph *graph, GPtrArray *inputs);
