/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* Finds an order of the nodes that needs little memory on each rank. The order may make ranks wait
 * for each other, so sort.c simulates this order and other orders, and chooses one. */

/* Returns a topological order of all nodes that needs little memory on each rank. `orders` has `n`
 * orders of all nodes of the graph.
 *
 * 1. For each rank, restricts each of the `n` orders to the nodes of the rank. Measures the
 *    memory of the rank in each order, as if the rank never waited for other ranks. Chooses the
 *    order with the lowest peak, or a combination of these orders (order-combine.h).
 * 2. Merges the chosen orders of all ranks. If all ranks wait for each other, first adds the
 *    nodes for which the first unfinished rank waits. */
GPtrArray *
cleave_ranks_find_own_orders (const CleavePlacement *p, const GPtrArray *const *orders, guint n);
