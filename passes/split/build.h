/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../views/forwarding.h"
#include "region.h"

/* Turns the planned pieces of a region into nodes, with the Slices and Assembles that the pieces
 * read. The original nodes stay until apply.h removes them. */

/* Adds to the graph the pieces of all nodes of a region, and the Slices and Assembles that the
 * pieces read. Sets `values` and `whole` of each region node. Pieces read their operands through
 * `forwarder`, which reads past Slices and joins where possible. */
void cleave_region_build (CleaveRegion *region, CleaveForwarder *forwarder);
