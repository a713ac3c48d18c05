/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* Each returns an order in which some nodes run earlier or later, or NULL if none does. */

/* Copies the rows that later strips need as soon as every other reader has run, so that the buffer
 * can be freed. */
GPtrArray *cleave_order_hoist_kept (const CleaveGraph *graph, const GPtrArray *order);
/* Runs nodes that free a buffer and allocate none as early as possible.  `storage` is that of the
 * order. */
GPtrArray *cleave_order_hoist_last (const GPtrArray *order, const CleaveStorage *storage);
/* Runs nodes that compute a small part of a join, and free no buffer, as late as possible: the
 * buffer of the whole is not allocated before. */
GPtrArray *cleave_order_sink (const GPtrArray *order, const CleaveStorage *storage);

/* Copies the rows that later strips need only after the result computed just before is freed, where
 * that lowers the peak. */
GPtrArray *cleave_order_delay_kept (const GPtrArray *order, const CleaveStorage *storage);
