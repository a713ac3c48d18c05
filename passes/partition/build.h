/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "names.h"

/* Builds the graph of one part of a partition, or of a submodel. */

/* The contents of a new graph. */
typedef struct
{
  const char *name;
  const GPtrArray *nodes;  /* CleaveNode, in topological order */
  const GPtrArray *given;  /* CleaveResult: values that are inputs even if `nodes` compute them;
                              NULL:  none */
  const GPtrArray *wanted; /* CleaveResult: values that are outputs */
  const GPtrArray *wanted_names; /* char *: names of the outputs; NULL: the names of the values */
  CleavePartitionNames *names;   /* names of inputs and outputs; NULL: names of this graph alone */
} CleavePartitionContent;

/* Returns a graph with copies of the nodes, and of the constants and constant expressions that they
 * read. Values from other nodes become inputs. */
CleaveGraph *cleave_partition_build (const CleaveGraph *graph,
                                     const CleavePartitionContent *content);
