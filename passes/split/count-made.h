/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* Counts the nodes that a split would make before any node is made, so that a split with too many
 * nodes is refused early. */

/* Returns the number of nodes that replace a planned node: its pieces, and the Slices and joins
 * through which readers read them. The number is an estimate and seldom too low: a Slice or join
 * that several readers share is counted once for each reader. Takes O(pieces log pieces + readers)
 * time. */
gint64 cleave_region_count_made (const CleaveRegionNode *member);
