/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* Fills `uses` with the operands that read a result, sorted by the id of the reader and then by
 * operand index. The result's own list has another order: the order in which edits set the
 * operands. With sorted uses, a copy of a graph, or the graph read from a file, runs in the same
 * order. The candidate orders (node-orders.c) and memory orders (memory-format.c) use this list. */
void cleave_uses_list (GPtrArray *uses, const CleaveResult *result);
