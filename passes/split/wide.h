/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Finds values that carry-narrow recomputes in place of carrying them. */

/* Returns a flag for each node id: rows of its result take much more memory than the rows that they
 * are computed from. It then saves memory to carry the operand's rows and to recompute the wide
 * rows. Results that are computed element by element from wide results alone are flagged as well.
 * Free with g_free(). */
gboolean *cleave_find_wide (const CleaveGraph *graph, const GPtrArray *order);
