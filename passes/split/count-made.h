/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* Returns how many nodes a planned node becomes: its pieces, and the Slices and joins through which
 * others read them.  It is an estimate, seldom too low: what readers share is counted for each.
 * Cost: O(pieces log pieces + readers). */
gint64 cleave_region_count_made (const CleaveRegionNode *member);
