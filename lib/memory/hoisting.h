/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* Moves nodes in an order to lower the peak. Each function returns an order in which some nodes run
 * earlier or later, or NULL if it would move none. */

/* Moves the copies of rows that later strips need (carried rows) to right after the last other
 * reader, so that the buffer they come from can be freed. */
GPtrArray *cleave_order_hoist_carried (const CleaveGraph *graph, const GPtrArray *order);
/* Runs nodes that free a buffer and allocate none as early as possible. `storage` belongs to
 * `order`. */
GPtrArray *cleave_order_hoist_last (const GPtrArray *order, const CleaveStorage *storage);
/* Runs nodes that compute a small part of a join and free no buffer as late as possible, so that
 * the join's buffer is allocated later. */
GPtrArray *cleave_order_sink (const GPtrArray *order, const CleaveStorage *storage);

/* Delays the copies of rows that later strips need, until the result that is computed just before
 * such a copy is freed. Does so only where that lowers the peak. */
GPtrArray *cleave_order_delay_carried (const GPtrArray *order, const CleaveStorage *storage);
