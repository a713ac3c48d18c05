/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "facts.h"

/* A quick lower bound for the memory of an order. ordering.c skips a candidate whose bound is not
 * below the best peak so far. The bound takes at most a fifth of the time of a measurement
 * (buffers.h). */

/* Returns an array indexed by position: lower bound for the bytes in use while the node runs. The
 * bound adds the sizes of all values that still have a reader. The entry is 0 for joins and for
 * nodes that move no data. Returns NULL if no bound is known: for a graph with unused nodes, or
 * with operands that overlap in a join. The caller frees the array. */
gint64 *
cleave_order_find_least (const CleaveGraph *graph, CleaveGraphFacts *facts, const GPtrArray *order);
