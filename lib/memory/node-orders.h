/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* Candidate orders of all nodes, found by walks that begin at the outputs or at the inputs. The
 * search in ordering.c measures the peak memory of each candidate. Example: for two branches of a
 * graph, the depth-first walk runs one branch to its end before the other. */

/* Returns a depth-first order, which visits the operands of a node one after the other. The values
 * of one chunk are then computed, used and freed before the next chunk begins. `weight`, indexed by
 * node id: the heaviest operand of a node is visited first; NULL: the operands of a node are
 * visited from operand 0 on. */
GPtrArray *cleave_order_depth_first (const CleaveGraph *graph, const gint64 *weight);
/* Returns the depth-first order that, at each node, first visits the operand whose computation
 * needs the most memory in addition to the operand. `order` is any order of the nodes. Returns NULL
 * if this order is the same as cleave_order_depth_first (graph, NULL). */
GPtrArray *cleave_order_heaviest_first (const CleaveGraph *graph, const GPtrArray *order);
/* Returns an order that begins at the inputs: goes through `order`, but runs each node as soon as
 * its operands are computed. Example: if strips of y and of z read one strip of x, both run before
 * the next strip of x. */
GPtrArray *cleave_order_eager (const CleaveGraph *graph, const GPtrArray *order);
