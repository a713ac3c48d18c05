/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* A graph of some nodes of another one, in topological order, with what constants decide that they
 * read.  Values that come from elsewhere are inputs; those that are `wanted`, results of these
 * nodes, are outputs; all keep their names. */
CleaveGraph *cleave_partition_build (const CleaveGraph *graph,
                                     const char *name,
                                     const GPtrArray *nodes,
                                     const GPtrArray *wanted);
