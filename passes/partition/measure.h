/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

/* The memory that a part needs as a model of its own. partition.c reports this memory, and
 * row-measure.c compares it with a limit. */

typedef struct
{
  gint64 weight_bytes; /* bytes of the constants in the part's file */
  gint64 arena_bytes;  /* bytes of the part's arena, in a program with one thread */
} CleavePartitionMemory;

/* Measures the memory of a part, which has the graph `graph`. Returns FALSE and sets the error if
 * the graph has a cycle. */
gboolean
cleave_part_measure (const CleaveGraph *graph, CleavePartitionMemory *memory, GError **error);
