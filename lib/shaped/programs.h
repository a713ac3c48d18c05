/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A list of compiled programs of one model, limited in number and in bytes. shaped.c keeps the
 * programs of static parts in one list, and dynamic-program.c keeps the programs of dynamic nodes
 * in another list. If the list is full, the program that was not used for the longest time is
 * freed. */

#include <cleave/cleave-shaped.h>

#include "compiled.h"

typedef struct
{
  CleaveProgramOptions options;
  GPtrArray *all; /* CleaveCompiled: the program that was used last comes first. If
                   * `keeps_first`, the program that was added first stays before it. */
  guint max_programs;
  gint64 max_bytes;     /* bytes that all programs may take; a single program may take more */
  gboolean keeps_first; /* the program that was added first is never freed */
  guint n_compiled, n_padded;
} CleavePrograms;

void cleave_programs_init (CleavePrograms *programs,
                           const CleaveProgramOptions *options,
                           guint max_programs,
                           gint64 max_bytes);
void cleave_programs_clear (CleavePrograms *programs);

/* Returns a program of the list that computes the outputs of `graph`, and whose inputs have at most
 * `max_elements` elements together. If there are several such programs, returns the program whose
 * inputs have the fewest elements. Returns NULL if there is no such program. */
CleaveCompiled *cleave_programs_find (const CleavePrograms *programs,
                                      const CleaveGraph *graph,
                                      gint64 max_elements);
/* Compiles a graph, takes ownership of it, adds the program to the list, and returns the
 * program. */
CleaveCompiled *cleave_programs_add (CleavePrograms *programs, CleaveGraph *graph, GError **error);
gboolean cleave_programs_contain (const CleavePrograms *programs, const CleaveCompiled *compiled);
/* Runs a program of the list. Pads the inputs if they are smaller than the inputs of the program.
 */
gboolean cleave_programs_run (CleavePrograms *programs,
                              CleaveCompiled *compiled,
                              CleaveTensor *const *inputs,
                              guint n_inputs,
                              GPtrArray *outputs,
                              GError **error);
/* Returns the counts of compiled programs and padded runs. `n_shapes` is the number of combinations
 * of input shapes that the programs serve; the function copies it to the counts. */
CleaveShapedStats cleave_programs_get_stats (const CleavePrograms *programs, guint n_shapes);
