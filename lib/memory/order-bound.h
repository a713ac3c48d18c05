/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "facts.h"

/* Returns a lower bound, by position, for the bytes in use while each node of an order runs: every
 * value with a reader left takes memory of its own. The entry is 0 for joins and for nodes that
 * move no data. Returns NULL if the bound does not hold, as for a graph with unused nodes or with
 * operands that overlap in a join. The caller frees it. */
gint64 *
cleave_order_find_least (const CleaveGraph *graph, CleaveGraphFacts *facts, const GPtrArray *order);
