/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* Candidate orders for the search in ordering.c, which measures the peak memory of each. */

/* Orders of all nodes, found by walks from the outputs up or from the inputs down. */

/* Returns a depth-first order, which visits the operands of a node one after the other. The values
 * for one chunk are then computed, used and freed before the next chunk begins. `weight`, by node
 * id: the heaviest operand of a node comes first; NULL: operands in their own order. */
GPtrArray *cleave_walk_depth_first (const CleaveGraph *graph, const gint64 *weight);
/* Returns the depth-first order in which the operand that needs most memory beyond its own result
 * comes first. `order` is any order of the nodes. Returns NULL if that is the order of
 * cleave_walk_depth_first() without weights. */
GPtrArray *cleave_walk_heaviest_first (const CleaveGraph *graph, const GPtrArray *order);
/* Returns an order from the inputs down: the nodes of `order`, but each runs as soon as its
 * operands are computed. If strips end in several values, a strip is finished in all of them before
 * the next one begins. */
GPtrArray *cleave_walk_eager (const CleaveGraph *graph, const GPtrArray *order);
