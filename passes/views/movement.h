/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Composes nodes that move data without computing: Reshape and Transpose. fold-views.c calls
 * cleave_movement_compose() for each node, and replaces the node by the value that the function
 * returns. */

/* Finds a value that has the same bits as the result of `node` and needs fewer nodes. Adds nodes
 * for this value if necessary. Two Reshapes or two Transposes become one node or none; a Transpose
 * that only moves dimensions of extent 1 becomes a Reshape. Returns NULL if there is no such value.
 */
CleaveResult *cleave_movement_compose (CleaveGraph *graph, CleaveNode *node);
