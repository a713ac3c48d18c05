/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

/* Measures the memory of a part. */

typedef struct
{
  gint64 weight_bytes; /* bytes of the constants in the part's file */
  gint64 arena_bytes;  /* bytes of the part's activations, in a program with one thread */
} CleavePartitionMemory;

/* Returns FALSE and an error on a cycle. */
gboolean
cleave_part_measure (const CleaveGraph *graph, CleavePartitionMemory *memory, GError **error);
