/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-partition.h>

#include "names.h"

/* The parts of a partition, while they are found and after.
 *
 * A file that finds parts adds them, then the nodes of each part in topological order, and then
 * calls cleave_partition_build_parts(), which makes a graph of each part. */

typedef struct
{
  guint subgraph, level; /* `subgraph` is G_MAXUINT if the part is in no parallel subgraph */
  GPtrArray *nodes;
  GPtrArray *wanted; /* CleaveResult: values that other parts read, and outputs of the graph */
  GArray *before;    /* guint: indices of the parts whose values it reads */
  CleaveGraph *graph;
} CleavePartitionPart;

struct _CleavePartition
{
  CleaveGraph *whole; /* a reference */
  GArray *parts;
  int *part;                   /* indexed by node id: the node's part, or -1 */
  CleavePartitionNames *names; /* of the inputs and outputs of parts */
  GPtrArray *output_values;    /* names of the graph's output values */
};

/* Returns a partition without parts. */
CleavePartition *cleave_partition_new_empty (const CleaveGraph *graph);
void cleave_partition_add_part (CleavePartition *partition, guint subgraph, guint level);
void cleave_partition_add_node (CleavePartition *partition, guint part, CleaveNode *node);
void cleave_partition_build_parts (CleavePartition *partition);

static inline CleavePartitionPart *
cleave_partition_part (const CleavePartition *partition, guint index)
{
  return &g_array_index (partition->parts, CleavePartitionPart, index);
}

/* Returns, by node id, whether an output of the graph needs the node; the caller frees it. */
gboolean *cleave_partition_find_needed (const CleaveGraph *graph);
/* Returns whether a node belongs to exactly one part. Inputs belong to none, nor do nodes that no
 * output needs. Constants and constant expressions are copied to every part that reads them, unless
 * they are outputs. */
gboolean cleave_partition_has_part (const gboolean *needed, const CleaveNode *node);
