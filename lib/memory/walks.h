/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* Orders of all nodes, from the outputs up. */

/* Each node as soon as all that it reads is there, going through one operand after the other: what
 * a chunk needs is made, used and gone before the next chunk begins.  `weight`, unless NULL, says
 * of each node, by its id, how heavy it is: the heaviest operand first. */
GPtrArray *cleave_walk_depth_first (const CleaveGraph *graph, const gint64 *weight);
/* The same, where what is made first needs most above what it leaves behind; `order` is any.  NULL:
 * it is the same walk as that without weights. */
GPtrArray *cleave_walk_heaviest_first (const CleaveGraph *graph, const GPtrArray *order);
/* From the inputs down: the nodes in the order, but each as soon as all that it reads is there.
 * Where strips end in several values, one is done in all of them before the next begins. */
GPtrArray *cleave_walk_eager (const CleaveGraph *graph, const GPtrArray *order);
