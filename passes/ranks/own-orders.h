/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* All nodes, topologically, where each rank goes through its own as in that of some orders of all
 * which takes it least memory if it never waits; and through each stretch as in the best for that,
 * as far as ranks do not need each other's values earlier. */
GPtrArray *
cleave_ranks_find_own_orders (const CleavePlacement *p, const GPtrArray *const *orders, guint n);
