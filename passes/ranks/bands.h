/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Finds the horizontal band of the image that each node of a split graph computes. place.c can then
 * run the pieces of one band on one rank. With two bands, band 0 has the upper half of the rows. */

/* stands for the band of a node that computes all rows; such a node may run on any rank */
#define CLEAVE_NO_BAND (-1)

/* Returns an array, indexed by node id, with the band of each node: 0 to `n_bands` - 1, or
 * CLEAVE_NO_BAND. Band 0 has the uppermost rows, or the first channels or columns if these are cut.
 * `order` must be topological. Free the result with g_free(). */
gint *cleave_bands_find (const CleaveGraph *graph, const GPtrArray *order, guint n_bands);
