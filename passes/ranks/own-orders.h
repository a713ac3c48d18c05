/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* Finds an order of the nodes that needs little memory on each rank, although it may make ranks
 * wait for each other. sort.c simulates this order and other orders of the nodes, and chooses
 * one. */

/* Returns a topological order of all nodes that needs little memory on each rank. Measures the `n`
 * orders in `orders` on each rank alone, as if the rank never waited for others. Each of these
 * orders contains all nodes. Where a single value connects the nodes before it with the nodes after
 * it, a rank may change from one order to another. Then merges the orders of the ranks. If all
 * ranks wait for each other in the merged order, moves forward the nodes that the first waiting
 * rank needs. */
GPtrArray *
cleave_ranks_find_own_orders (const CleavePlacement *p, const GPtrArray *const *orders, guint n);
