/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Returns the nodes (CleaveNode, unowned) in the order in which an importer creates them from a
 * file of the graph. fit/order.c and pieces.c list a split graph in this order, so that the memory
 * of the graph is planned in the same way after an export and an import. Inputs come first, then
 * the nodes of `order`, and each constant before its first reader. `order` must contain all nodes
 * in an order in which they can run. */
GPtrArray *cleave_list_as_in_file (const CleaveGraph *graph, const GPtrArray *order);
