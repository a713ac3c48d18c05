/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* Shared by pieces.c and carry.c, which turn the demands on a node into pieces: the boxes that are
 * needed, the pieces made so far, and which pieces cover each demand. */

/* The box that contains demand number `demand`, after overlapping boxes of chunk `k` were merged.
 */
typedef struct
{
  guint demand;
  guint k;
  CleaveStrip strip;
  CleaveRange box;
} CleaveWanted;

/* The node that is cut into pieces. `widen` is NULL, or the node's call. With a call, boxes that
 * are not legal chunks are enlarged to the smallest legal chunks. */
typedef struct
{
  CleaveRegion *region;
  CleaveRegionNode *member;
  const CleaveCall *widen;
} CleaveCutter;

/* Appends a piece of chunk `k` with the range `own`, which the region owns.  Returns its index. */
guint cleave_cutter_add_piece (CleaveRegion *region,
                               CleaveRegionNode *member,
                               guint k,
                               const CleaveRange *own);
/* Returns the index of the piece with this range; appends one for chunk `k` if there is none. */
guint cleave_cutter_get_piece (CleaveCutter *cutter, guint k, const CleaveRange *range);
/* Appends a piece to the covers of a demand.  Add all covers of one demand consecutively. */
void cleave_cutter_add_cover (CleaveCutter *cutter, CleaveDemand *demand, guint piece);
