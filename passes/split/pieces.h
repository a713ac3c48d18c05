/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* Turns the demands on a node into its pieces: one piece for each box of overlapping demands, with
 * the halo policies recompute and carry. */

/* Cuts a node into pieces that cover all demands on it.  If a reader outside the region needs all
 * of the node, adds pieces for the rest.  `widen`, unless NULL, is the node's call: demands that
 * are not legal chunks are enlarged to ones that are. */
void cleave_pieces_cut (CleaveRegion *region, CleaveRegionNode *member, const CleaveCall *widen);
