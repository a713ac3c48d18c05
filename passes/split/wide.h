/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Finds the values that the halo policy "carry narrow" (CLEAVE_HALO_CARRY_NARROW) recomputes
 * instead of carrying. region.c asks for these values when it plans strips, and fit/steps.c when it
 * estimates strips. */

/* Returns a flag for each node id: TRUE if rows of the node's result take much more memory than the
 * rows from which they are computed. Carrying the operand's rows and recomputing these wide rows
 * then saves memory. Also flags an element-wise node if all its operands are flagged. Free it with
 * g_free(). */
gboolean *cleave_find_wide (const CleaveGraph *graph, const GPtrArray *order);
