/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Graphs to cut into parts, and the check of a partition, for the suites partition.c,
 * partition-row.c and extract.c in tests/passes. */

#include <cleave/cleave.h>

/* Runs the parts one after the other on random inputs, and asserts that the outputs have the bits
 * of the outputs of `graph`. A failure message contains `what`, the name of the case. */
void assert_partition_same (const CleavePartition *partition,
                            const CleaveGraph *graph,
                            guint32 seed,
                            const char *what);

/* The functions below make graphs. An error fails the test. */

CleaveGraph *partition_parse (const char *text);
/* Returns a random graph of one of several kinds. Some graphs have empty tensors. */
CleaveGraph *partition_make_graph (guint32 seed);

/* The text of a chain of three convolutions a, b and c. The output y is the sum of c and a, so the
 * value a skips b and c. */
#define PARTITION_SKIP                                                                             \
  "graph g\n%x = Input : float32 1x2x8x8\n%w = Constant seed=1 : float32 2x2x3x3\n"                \
  "%a = Conv %x, %w pads=1,1,1,1\n%b = Conv %a, %w pads=1,1,1,1\n%c = Conv %b, %w pads=1,1,1,1\n"  \
  "%y = Add %c, %a\noutput %y\noutput %b  # inner\n"

/* Returns the number of nodes that the parts compute. */
guint partition_count_nodes (const CleaveGraph *graph, const CleavePartition *partition);
/* Returns the names of at most `n` random values that nodes compute, NULL-terminated. */
char **partition_pick_values (const CleaveGraph *graph, guint32 seed, guint n);
