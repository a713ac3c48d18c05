/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* Turns the demands on a node into pieces, one piece for each box of overlapping demands, with the
 * halo policies recompute and carry. region.c calls cleave_pieces_cut() when all demands on the
 * node are known. */

/* Cuts a node into pieces that cover all demands on it. If a reader outside the region reads the
 * whole node, adds pieces for elements without a demand. If `widen` is set, demands that are not
 * legal chunks are enlarged to legal chunks. `widen` then describes the node: its op, attributes
 * and types. NULL: demands are not enlarged. */
void cleave_pieces_cut (CleaveRegion *region, CleaveRegionNode *member, const CleaveCall *widen);
