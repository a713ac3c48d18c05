/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* Fills `uses` with the operands that read a result, by id of the reader and operand index. The
 * result's own list has them in the order in which they were made, which edits change. Sorted uses
 * make a copy of the graph, or the graph read back from a file, run in the same order. */
void cleave_uses_list (GPtrArray *uses, const CleaveResult *result);
