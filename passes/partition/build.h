/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "names.h"

/* Builds the graph of one part of a partition, or of a submodel. parts.c and extract.c call
 * cleave_partition_build(). */

/* The contents of the graph to build. */
typedef struct
{
  const char *name;
  const GPtrArray *nodes; /* CleaveNode: nodes to copy, in topological order */
  const GPtrArray
      *given; /* CleaveResult: values that become inputs even if `nodes` compute them; NULL: none */
  const GPtrArray *wanted;       /* CleaveResult: values that become outputs */
  const GPtrArray *wanted_names; /* char *: name of each output; NULL: the names of the values */
  CleavePartitionNames *names;   /* names of inputs and outputs, shared by the parts of a partition;
                                    NULL: the graph has names of its own */
} CleavePartitionContent;

/* Returns a graph with copies of the nodes, and of the constants and constant expressions that the
 * nodes read. Other values that the nodes read become inputs. */
CleaveGraph *cleave_partition_build (const CleaveGraph *graph,
                                     const CleavePartitionContent *content);
