/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* Moves nodes in an order to lower the peak. ordering.c calls these functions on its best order so
 * far, and measures each new order. Each function returns an order in which some nodes run earlier
 * or later, or NULL if no node moves. Example: the order x, strip 1, copy of 2 rows of x becomes x,
 * copy, strip 1, and x is freed before strip 1 runs. */

/* Moves the copies of carried rows (rows that later strips need) to an earlier position: right
 * after the last other reader of the buffer with these rows. The buffer can then be freed
 * earlier. */
GPtrArray *cleave_order_hoist_carried (const CleaveGraph *graph, const GPtrArray *order);
/* Moves each node to its earliest possible position if the node frees a buffer and allocates no
 * buffer. `storage` is the buffer assignment of `order`. */
GPtrArray *cleave_order_hoist_last (const GPtrArray *order, const CleaveStorage *storage);
/* Moves nodes that compute a small part of a join to later positions, so that the join's buffer is
 * allocated later. A node moves at most to its first reader, and not past the end of the lifetime
 * of an operand's buffer. So no buffer lives longer. */
GPtrArray *cleave_order_sink (const GPtrArray *order, const CleaveStorage *storage);

/* Moves groups of copies of carried rows to a later position, if that lowers the peak. Until the
 * copies run, the whole value with the carried rows stays in memory. So a move pays only if another
 * value is freed between the old and the new position. */
GPtrArray *cleave_order_delay_carried (const GPtrArray *order, const CleaveStorage *storage);
