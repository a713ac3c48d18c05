/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* Types that pieces.c and carry.c share. These files turn the demands on a node into pieces: they
 * merge the boxes that are needed, add pieces, and list the pieces that cover each demand. */

/* The box that contains demand number `demand`, after overlapping boxes of chunk `k` were
 * merged. */
typedef struct
{
  guint demand;
  guint k;
  CleaveStrip strip;
  CleaveRange box;
} CleaveDemandBox;

/* The node that is cut into pieces. `widen` is the node's call, by which boxes that are not legal
 * chunks are enlarged to the smallest legal chunks; NULL: boxes stay. */
typedef struct
{
  CleaveRegion *region;
  CleaveRegionNode *member;
  const CleaveCall *widen;
} CleaveCutter;

/* Appends a piece of chunk `k` with the range `own`, which the region owns. Returns the index of
 * the piece. */
guint cleave_cutter_add_piece (CleaveRegion *region,
                               CleaveRegionNode *member,
                               guint k,
                               const CleaveRange *own);
/* Returns the index of the piece with this range. If there is none, appends a piece of chunk
 * `k`. */
guint cleave_cutter_get_piece (CleaveCutter *cutter, guint k, const CleaveRange *range);
/* Appends a piece to the covering pieces of a demand. The covering pieces of one demand must be
 * added consecutively. */
void cleave_cutter_add_cover (CleaveCutter *cutter, CleaveDemand *demand, guint piece);
