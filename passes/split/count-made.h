/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* Counts the nodes that a split will make, before any is made, so that a split with too many of
 * them is refused early. */

/* Returns how many nodes a planned node becomes: its pieces, and the Slices and joins through which
 * readers read them.  The number is an estimate, seldom too low: a Slice or join that several
 * readers share is counted for each reader.  Cost: O(pieces log pieces + readers). */
gint64 cleave_region_count_made (const CleaveRegionNode *member);
