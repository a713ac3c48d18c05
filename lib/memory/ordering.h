/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* The order in which a graph runs: depth first, subgraph by subgraph, never worse in peak bytes
 * than the order of building (the file's); and where values lie then, which had to be looked at to
 * find it and needs the order as long as it is there.  NULL on a cycle. */
GPtrArray *
cleave_order_with_storage (const CleaveGraph *graph, CleaveStorage **storage, GError **error);

/* Of some orders, each of all nodes, the one that needs least; or, from each point where all have
 * been through the same nodes to the next, the one that needs least there. */
GPtrArray *cleave_order_best_of (const CleaveGraph *graph, const GPtrArray *orders);
/* As cleave_order_with_storage(), and what is made strip by strip lies over what dies meanwhile:
 * for a program of one thread. */
GPtrArray *
cleave_order_with_laps (const CleaveGraph *graph, CleaveStorage **storage, GError **error);
/* The same, of which it is known what it takes before anything lies over what dies: the first order
 * that takes no more is it, and none is looked at after that. */
GPtrArray *cleave_order_with_laps_down_to (const CleaveGraph *graph,
                                           gint64 n_bytes,
                                           CleaveStorage **storage,
                                           GError **error);

/* The largest sum of bytes of live values in that order of the graph as a program runs it, which is
 * by groups of what lies between quantised values; -1 on a cycle. */
gint64 cleave_order_least_peak (const CleaveGraph *graph, GError **error);
