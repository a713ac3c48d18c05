/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "facts.h"

/* Bytes that are in use at least while each node of an order runs, wherever values lie: each value
 * that is yet to be read has a place of its own.  0 for what moves no data and for joins.  NULL:
 * not known, as of a graph with nodes that nothing reads or parts that overlap. */
gint64 *
cleave_order_find_least (const CleaveGraph *graph, CleaveGraphFacts *facts, const GPtrArray *order);
