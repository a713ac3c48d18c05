/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* Finds orders that need little memory on each rank, without regard to the other ranks. sort.c
 * compares a placement in such an order with other orders. */

/* Returns a topological order of all nodes. Each rank runs its own nodes in the order that needs
 * the least memory on that rank, as if the rank never waited for others. The graph is cut at single
 * values. Between two of these values, a rank's order is the best of the `n` orders in `orders`,
 * which contain all nodes. If another rank needs a value earlier, the value's node runs earlier. */
GPtrArray *
cleave_ranks_find_own_orders (const CleavePlacement *p, const GPtrArray *const *orders, guint n);
