/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A compiled program and the graph that it was made of. The program can also run inputs with
 * smaller extents, which are padded to the extents of the graph's inputs. programs.h keeps a list
 * of these programs, for shaped.c and dynamic-program.c. */

#include <cleave/cleave-program.h>

/* A program, and the graph from which it was compiled. */
typedef struct
{
  GArray *types; /* CleaveTensorType: types of the inputs */
  CleaveGraph *graph;
  CleaveProgram *program;
  GPtrArray *inputs, *outputs; /* CleaveTensor: the padded inputs and the outputs of runs with
                                * `is_padded`; NULL: no such run yet */
} CleaveCompiled;

/* Splits a graph for the number of threads in `options`, and compiles the graph to a program. Takes
 * ownership of the graph. Returns NULL on error. */
CleaveCompiled *
cleave_compiled_new (CleaveGraph *graph, const CleaveProgramOptions *options, GError **error);
void cleave_compiled_free (gpointer compiled);

/* Runs the program. If `is_padded`, the inputs are smaller than the inputs of the program. The
 * function then copies each input into the first elements of a larger tensor. After the run, it
 * copies the first elements of each larger output to a result. */
gboolean cleave_compiled_run (CleaveCompiled *compiled,
                              CleaveTensor *const *inputs,
                              GPtrArray *outputs,
                              gboolean is_padded,
                              GError **error);

/* Returns the types (CleaveTensorType) of the outputs of a graph. */
GArray *cleave_types_of_outputs (const CleaveGraph *graph);
/* Makes a tensor of zeros for each type. Returns NULL on error. */
GPtrArray *cleave_tensors_new (const GArray *types, GError **error);
