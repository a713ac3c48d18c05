/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "facts.h"
#include "order-combine.h"

/* Quick lower bounds for the memory of an order. ordering.c skips a candidate whose bound is not
 * below the best peak so far. A bound takes at most a fifth of the time of a measurement
 * (buffers.h). */

/* Returns an array indexed by position: lower bound for the bytes in use while the node runs. The
 * bound adds the sizes of all values that still have a reader. The entry is 0 for joins and for
 * nodes that move no data. Returns NULL if no bound is known: for a graph with unused nodes, or
 * with operands that overlap in a join. The caller frees the array. */
gint64 *
cleave_order_find_least (const CleaveGraph *graph, CleaveGraphFacts *facts, const GPtrArray *order);

/* Returns TRUE if a step at the peak of a measured candidate runs after the same nodes in `order`.
 * Both orders then have equal live values during this step, so `order` has no lower peak. */
gboolean cleave_order_keeps_peak (const CleaveGraph *graph,
                                  const CleaveOrderCandidate *candidate,
                                  const GPtrArray *order);
