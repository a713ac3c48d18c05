/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* An order in which some nodes run earlier or later; NULL if there are none. */

/* What later strips need of a value is seen to as soon as all else that reads the value is done, so
 * that the rest of it may go. */
GPtrArray *cleave_order_hoist_kept (const CleaveGraph *graph, const GPtrArray *order);
/* The last to need some memory, if it takes none that is new, runs as soon as it can; `storage` is
 * the order's. */
GPtrArray *cleave_order_hoist_last (const GPtrArray *order, const CleaveStorage *storage);
/* What makes a small part of something, and is not the last to need some memory, runs as late as it
 * may: the place of the whole is not taken before. */
GPtrArray *cleave_order_sink (const GPtrArray *order, const CleaveStorage *storage);

/* Keeps rows of a value only once what was made of the value right before is gone, where that needs
 * less memory; NULL: nowhere. */
GPtrArray *cleave_order_delay_kept (const GPtrArray *order, const CleaveStorage *storage);
