/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* Strips and bands: chunks of a root in the order in which they run.  A strip follows the strip
 * before it along one dimension.  A band is a run of strips that carry rows to each other; bands
 * run in parallel. */

/* Appends a strip for each chunk of a root to `region->strips`.  Strips follow each other along the
 * outermost dimension that is cut (the innermost one if the root is column-wise), and
 * `strips_per_band` of them form a band.  All strips are one band if that number is 0 or if bands
 * exchange halos. */
void cleave_strips_add (CleaveRegion *region, const CleaveRoot *root);
