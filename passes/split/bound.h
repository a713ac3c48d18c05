/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-split.h>

/* A lower bound on the peak memory of a graph after a split.  A search that reaches the bound
 * stops. */

/* Returns a lower bound, in bytes, on the peak of the graph after any split that begins at `roots`
 * and goes up to `depth` nodes deep.  Nodes that such a split does not reach stay whole, and each
 * needs its operands and results at the same time.  Sets `*which` to a message about the node that
 * needs most; leaves it alone if there is no such node (the bound is then 0). */
gint64 cleave_bound_find (CleaveNode *const *roots, guint n_roots, guint depth, char **which);
