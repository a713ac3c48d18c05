/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* The search for the order in which a graph runs with the least memory. The search measures
 * candidate orders by buffer assignment (buffers.h) and keeps the best order. Programs
 * (lib/runtime/plan/memory-plan.c) use the order and its buffers; the fit and the partition use its
 * peak. */

/* Returns the order with the lowest peak among the candidates. This peak is never above the peak of
 * the order in which the nodes were added (the file's order). Sets `*storage` to the buffer
 * assignment of the order. The storage refers to the order: the caller must keep the order as long
 * as the storage. Returns NULL and sets the error on a cycle. */
GPtrArray *
cleave_order_with_storage (const CleaveGraph *graph, CleaveStorage **storage, GError **error);

/* Returns the order with the lowest peak: one of `orders` or a combination of these orders
 * (order-combine.h). Each of `orders` must have all nodes. */
GPtrArray *cleave_order_best_of (const CleaveGraph *graph, const GPtrArray *orders);
/* Returns the order as cleave_order_with_storage() does, but for a program of one thread. In such a
 * program, values that are computed strip by strip may share memory with values that die meanwhile
 * (laps.c). */
GPtrArray *
cleave_order_with_laps (const CleaveGraph *graph, CleaveStorage **storage, GError **error);
/* Works as cleave_order_with_laps() does, but stops at the first order whose peak before laps is
 * `n_bytes`. The caller knows that some order has this peak. */
GPtrArray *cleave_order_with_laps_down_to (const CleaveGraph *graph,
                                           gint64 n_bytes,
                                           CleaveStorage **storage,
                                           GError **error);

/* Returns the peak in bytes of the best order of the graph that a program runs. In this graph,
 * nodes between quantized values are grouped (quantized-group.h). Returns -1 on a cycle. */
gint64 cleave_order_least_peak (const CleaveGraph *graph, GError **error);
