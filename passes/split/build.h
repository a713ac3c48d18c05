/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../views/forwarding.h"
#include "region.h"

/* Turns the planned pieces of a region into nodes, together with the Slices and Assembles that they
 * read.  The original nodes stay; apply.h removes them. */

/* Adds the pieces of all nodes of a region to the graph, and the Slices and Assembles that the
 * pieces read.  Fills `values` and `whole` of each region node.  Pieces read through `forwarder`,
 * past Slices and joins where they can. */
void cleave_region_build (CleaveRegion *region, CleaveForwarder *forwarder);
