/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Checks the graphs of a partition, for the suites tests/passes/partition.c and partition-row.c.
 * The suites cut a graph into parts, and this function runs the parts and the whole graph. */

#include <cleave/cleave.h>

/* Runs the parts one after the other on random inputs, and asserts that the outputs have the bits
 * of the outputs of `graph`. Failure messages have `what`. */
void assert_partition_same (const CleavePartition *partition,
                            const CleaveGraph *graph,
                            guint32 seed,
                            const char *what);
