/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* Types that pieces.c and carry.c share. These files turn the demands on a node into pieces: they
 * merge the boxes that strips need, add pieces, and list the pieces that cover each demand. */

/* A demand on a region node, and the box that a strip needs because of the demand. `demand` is the
 * index of the demand. Chunk number `k` of a root needs the demand, and `strip` is the strip of
 * this chunk. If the demands of one chunk overlap, their boxes are merged: `box` is then the
 * smallest box around these boxes. */
typedef struct
{
  guint demand;
  guint k;
  CleaveStrip strip;
  CleaveRange box;
} CleaveDemandBox;

/* The node that is cut into pieces. If `widen` is set, boxes that are not legal chunks are enlarged
 * to the smallest legal chunks. `widen` then describes the node: its op, attributes and types.
 * NULL: boxes are not enlarged. */
typedef struct
{
  CleaveRegion *region;
  CleaveRegionNode *member;
  const CleaveCall *widen;
} CleaveCutter;

/* Appends a piece of chunk `k`. The piece has the range `own`, a range that the region owns.
 * Returns the index of the piece. */
guint cleave_cutter_add_piece (CleaveRegion *region,
                               CleaveRegionNode *member,
                               guint k,
                               const CleaveRange *own);
/* Returns the index of the piece with this range. If no piece has this range, appends a piece of
 * chunk `k`. */
guint cleave_cutter_get_piece (CleaveCutter *cutter, guint k, const CleaveRange *range);
/* Appends a piece to the covering pieces of a demand. The covering pieces of one demand must be
 * added consecutively. */
void cleave_cutter_add_cover (CleaveCutter *cutter, CleaveDemand *demand, guint piece);
