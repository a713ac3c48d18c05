/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Finds the values that the halo policy carry narrow recomputes instead of carrying. */

/* Returns a flag for each node id: rows of the node's result take much more memory than the rows
 * from which they are computed. Carrying the operand's rows and recomputing these wide rows then
 * saves memory. Element-wise results of wide results alone are flagged as well. Free it with
 * g_free(). */
gboolean *cleave_find_wide (const CleaveGraph *graph, const GPtrArray *order);
