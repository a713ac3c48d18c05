/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* Before a split makes its nodes, counts these nodes. So a split with too many nodes is refused
 * early. region.c counts while it plans the nodes of a region. */

/* Increases `n_made` of the region by the number of nodes that replace a planned node. These nodes
 * are the node's pieces, and the Slices and joins of the pieces that readers need. Does nothing if
 * the region has no limit. */
void cleave_region_count_made (CleaveRegion *region, const CleaveRegionNode *member);
/* Returns whether `n_made` is so far above the limit that counting can stop. */
gboolean cleave_region_makes_far_too_many (const CleaveRegion *region);
/* Returns FALSE and sets the error if the region makes more nodes than the limit allows. */
gboolean cleave_region_check_made (const CleaveRegion *region, GError **error);
