/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "execute.h"

/* Runs a model in parts for `cleave run --max-memory`. A part consists of nodes that follow each
 * other. Only the weights of one part are in memory at a time. cmd-run.c calls
 * cleave_execute_layers() in place of cleave_execute_take(), and run-report.h prints the figures.
 * Example: a model of 3 GiB of weights in 12 layers runs with some hundred MiB. */

/* Figures of a run of cleave_execute_layers(), which runs a model in several parts. */
typedef struct
{
  guint n_parts;
  gint64 read_bytes; /* bytes of the constants that the parts read; a constant that two parts read
                      * counts twice */
  gint64 most_bytes; /* bytes of the weights and activations of the largest part */
  gint64 made_us;    /* microseconds that reading and packing the weights took */
} CleaveLayers;

/* Cuts the graph into parts that follow each other, and compiles and runs them one after the other.
 * Takes ownership of the graph. While a part is compiled, memory contains the part's activations
 * and packed weights, and its largest weight as stored in the file. Together, these values take at
 * most `max_memory` bytes. This limit does not include the values of the dynamic part and the
 * constants that the dynamic part reads. */
gboolean cleave_execute_layers (CleaveGraph *graph,
                                const GPtrArray *inputs,
                                guint n_threads,
                                gint64 max_memory,
                                CleaveExecution *execution,
                                CleaveLayers *layers,
                                GError **error);
