/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A program for one size of a model, which also runs smaller inputs. */

#include <cleave/cleave-program.h>

/* A program and the graph that it was made of. */
typedef struct
{
  GArray *types; /* CleaveTensorType: types of the inputs */
  CleaveGraph *graph;
  CleaveProgram *program;
  GPtrArray *inputs, *outputs; /* CleaveTensor: memory for padded runs; NULL: none yet */
} CleaveCompiled;

/* Compiles a graph, split for the threads. Takes ownership of the graph. */
CleaveCompiled *
cleave_compiled_new (CleaveGraph *graph, const CleaveProgramOptions *options, GError **error);
void cleave_compiled_free (gpointer compiled);

/* Runs the program. If `is_padded`, copies the inputs to the first elements of larger tensors, and
 * the first elements of the program's outputs to `outputs`. */
gboolean cleave_compiled_run (CleaveCompiled *compiled,
                              CleaveTensor *const *inputs,
                              GPtrArray *outputs,
                              gboolean is_padded,
                              GError **error);

/* Returns the types (CleaveTensorType) of the outputs of a graph. */
GArray *cleave_types_of_outputs (const CleaveGraph *graph);
/* Makes a tensor of zeros for each type. NULL on error. */
GPtrArray *cleave_tensors_new (const GArray *types, GError **error);
