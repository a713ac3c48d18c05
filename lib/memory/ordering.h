/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* The order in which a graph runs: depth first, subgraph by subgraph, never worse in peak bytes
 * than the order of building (the file's).  NULL on a cycle. */
GPtrArray *cleave_order_depth_first (const CleaveGraph *graph, GError **error);
/* The same, and where values lie then, which had to be looked at to find it; that needs the order
 * as long as it is there. */
GPtrArray *
cleave_order_with_storage (const CleaveGraph *graph, CleaveStorage **storage, GError **error);

/* The largest sum of bytes of live values in that order; -1 on a cycle. */
gint64 cleave_order_least_peak (const CleaveGraph *graph, GError **error);

/* The largest sum of bytes of live values when the nodes run in this order. */
gint64 cleave_order_peak (const CleaveGraph *graph, const GPtrArray *order);
