/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* Strips and bands: the chunks of a root in the order in which they run. A strip follows the strip
 * before it along one dimension. A band is a sequence of strips that carry rows to each other.
 * Bands run in parallel. region.h plans pieces for the strips that this file makes. */

/* Appends a strip to `region->strips` for each chunk of a root. Strips follow each other along the
 * outermost dimension that is cut, or along the innermost cut dimension if the root is column-wise.
 * A band has `strips_per_band` strips (CleaveRecursion). If this number is 0, all strips belong to
 * band 0. With the halo policy exchange, all strips belong to band 0, too: a strip may then read
 * pieces of every strip that runs earlier. */
void cleave_strips_add (CleaveRegion *region, const CleaveRoot *root);
