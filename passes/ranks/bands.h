/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Bands for ranks: which horizontal band of the image each node of a split graph computes, so that
 * the pieces of one band can run on one rank. */

/* the band of a node that computes the whole extent, which may run on any rank */
#define CLEAVE_NO_BAND (-1)

/* Returns, indexed by node id, the band of which the node computes a part, out of `n_bands`. Band 0
 * has the uppermost rows, or the first channels or columns if these are cut. `order` must be
 * topological. Free the result with g_free(). */
gint *cleave_bands_find (const CleaveGraph *graph, const GPtrArray *order, guint n_bands);
