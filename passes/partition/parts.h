/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-partition.h>

#include "names.h"

/* A partition and its parts.
 *
 * subgraph-parts.c, row-parts.c and cut-at.c decide which node belongs to which part. These files
 * add the parts, and then the nodes of each part in topological order. At the end, the files call
 * cleave_partition_build_parts(), which makes a graph of each part. */

typedef struct
{
  /* parallel subgraph of the part, or G_MAXUINT for none; level of the part */
  guint subgraph, level;
  GPtrArray *nodes;
  GPtrArray *wanted; /* CleaveResult: values that other parts read, and outputs of the graph */
  GArray *before;    /* guint: indices of the parts from which this part reads values */
  CleaveGraph *graph;
} CleavePartitionPart;

struct _CleavePartition
{
  CleaveGraph *whole; /* the graph that is partitioned; a reference */
  GArray *parts;
  int *part;                   /* indexed by node id: index of the node's part; -1: none */
  CleavePartitionNames *names; /* names of the inputs and outputs of all parts */
  GPtrArray *output_values;    /* char *: names of the values that are outputs of the whole graph */
};

/* Returns a partition that has no parts yet. The partition will divide `graph`. */
CleavePartition *cleave_partition_new_empty (const CleaveGraph *graph);
void cleave_partition_add_part (CleavePartition *partition, guint subgraph, guint level);
void cleave_partition_add_node (CleavePartition *partition, guint part, CleaveNode *node);
void cleave_partition_build_parts (CleavePartition *partition);

static inline CleavePartitionPart *
cleave_partition_part (const CleavePartition *partition, guint index)
{
  return &g_array_index (partition->parts, CleavePartitionPart, index);
}

/* Returns an array with an entry for each node id: whether an output of the graph depends on the
 * node. Free the array with g_free(). */
gboolean *cleave_partition_find_needed (const CleaveGraph *graph);
/* Returns whether a node belongs to exactly one part. Inputs and nodes that no output needs belong
 * to no part. Constants and constant expressions are copied to every part that reads them, unless
 * they are outputs. */
gboolean cleave_partition_has_part (const gboolean *needed, const CleaveNode *node);
