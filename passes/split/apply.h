/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* The last step of a split: turns the plan of a region (region.h) into nodes. Builds the pieces
 * (build.h), and lets readers outside the region read the joins of the pieces. Lets each Slice of a
 * join read the pieces directly, and removes nodes that lost their last user. */

/* Builds the pieces that the plan of a region lists, and removes nodes that are left without users.
 * Cannot fail. Afterwards, `values` of each region node has the results of its pieces. An entry is
 * NULL if nothing reads the piece, which is then removed. */
void cleave_region_apply (CleaveRegion *region);
/* Moves the name of `from` to `whole`; afterwards `from` has no name of its own. */
void cleave_take_result_name (CleaveResult *whole, CleaveResult *from);
