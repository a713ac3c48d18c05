/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

/* Measures the memory that a part needs as a model of its own. */

typedef struct
{
  gint64 weight_bytes; /* bytes of the constants in the part's file */
  gint64 arena_bytes;  /* bytes of the part's arena, in a program with one thread */
} CleavePartitionMemory;

/* Measures the part with the given graph. Returns FALSE and sets the error if the graph has a
 * cycle. */
gboolean
cleave_part_measure (const CleaveGraph *graph, CleavePartitionMemory *memory, GError **error);
