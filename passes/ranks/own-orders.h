/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* Finds orders that need little memory on each rank, without regard to the other ranks. */

/* Returns a topological order of all nodes. In it, each rank runs its own nodes in the order that
 * needs the least memory on that rank, as if the rank never waited for others. Between two cuts of
 * the graph, this is the best of `n` given orders of all nodes. If another rank needs a value
 * earlier, its node runs earlier. */
GPtrArray *
cleave_ranks_find_own_orders (const CleavePlacement *p, const GPtrArray *const *orders, guint n);
