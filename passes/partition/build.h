/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Builds the graph of one part of a partition. */

/* Returns a graph named `name` with copies of `nodes`, which are in topological order, and of the
 * constants and constant expressions that they read.  Values from other nodes become inputs; the
 * results in `wanted` (CleaveResult) become outputs.  All values keep their names. */
CleaveGraph *cleave_partition_build (const CleaveGraph *graph,
                                     const char *name,
                                     const GPtrArray *nodes,
                                     const GPtrArray *wanted);
