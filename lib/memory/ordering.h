/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* Returns the order in which a graph runs: depth first, subgraph by subgraph. Its peak is never
 * above the peak of the file's order, in which the nodes were added. `*storage` receives the buffer
 * assignment of the returned order, and refers to the order: keep both. Returns NULL and sets the
 * error on a cycle. */
GPtrArray *
cleave_order_with_storage (const CleaveGraph *graph, CleaveStorage **storage, GError **error);

/* Returns the order with the lowest peak, either one of `orders` or a combination of them
 * (order-combine.h). Each of `orders` must have all nodes. */
GPtrArray *cleave_order_best_of (const CleaveGraph *graph, const GPtrArray *orders);
/* Returns the order as cleave_order_with_storage() does, for a program of one thread: values that
 * are computed strip by strip may share memory with values that die meanwhile (laps.c). */
GPtrArray *
cleave_order_with_laps (const CleaveGraph *graph, CleaveStorage **storage, GError **error);
/* Works as cleave_order_with_laps(), but stops at the first order whose peak before laps is
 * `n_bytes`. The caller knows that some order has this peak. */
GPtrArray *cleave_order_with_laps_down_to (const CleaveGraph *graph,
                                           gint64 n_bytes,
                                           CleaveStorage **storage,
                                           GError **error);

/* Returns the peak in bytes of the best order for the graph as a program runs it, with nodes
 * between quantized values grouped (quantized-group.h); -1 on a cycle. */
gint64 cleave_order_least_peak (const CleaveGraph *graph, GError **error);
