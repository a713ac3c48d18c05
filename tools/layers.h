/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "execute.h"

/* Runs a model part by part, so that the weights of only one part are in memory. */

/* The parts of such a run. */
typedef struct
{
  guint n_parts;
  gint64 read_bytes; /* bytes of the constants that the parts read; one that two parts read counts
                      * twice */
  gint64 most_bytes; /* bytes of the weights and activations of the largest part */
  gint64 made_us;    /* microseconds that reading and packing the weights took */
} CleaveLayers;

/* Cuts the graph into parts that follow each other, and makes and runs one after the other. While a
 * part is made, its weights and the largest of them in the form of the file are in memory, besides
 * its activations: these take at most `max_memory` bytes. The
 * values of the dynamic part and the constants that it reads come on top. Takes ownership of the
 * graph. */
gboolean cleave_execute_layers (CleaveGraph *graph,
                                const GPtrArray *inputs,
                                guint n_threads,
                                gint64 max_memory,
                                CleaveExecution *execution,
                                CleaveLayers *layers,
                                GError **error);
