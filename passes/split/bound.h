/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-split.h>

/* A lower bound on the peak memory of a graph after a split. The search for a split within a limit
 * (search.h) stops when it reaches the bound, and reports the node that sets the bound. */

/* Returns a lower bound, in bytes, on the peak of the graph after any split that begins at `roots`
 * and is at most `depth` nodes deep. Nodes that such a split does not reach stay whole, and each
 * needs its operands and results at the same time. Sets `*which` to a message about the node that
 * needs the most. If there is no such node, returns 0 and keeps `*which`. */
gint64 cleave_bound_find (CleaveNode *const *roots, guint n_roots, guint depth, char **which);
