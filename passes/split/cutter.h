/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* How the demands on a node become pieces. */

/* The box that `demand` lies in, once those that overlap are one. */
typedef struct
{
  guint demand;
  guint k;
  CleaveStrip strip;
  CleaveRange box;
} CleaveWanted;

/* Where pieces are made. */
typedef struct
{
  CleaveRegion *region;
  CleaveRegionNode *member;
  const CleaveCall *widen;
} CleaveCutter;

/* A piece that has a range of the region's own, after all others. */
guint cleave_cutter_add_piece (CleaveRegion *region,
                               CleaveRegionNode *member,
                               guint k,
                               const CleaveRange *own);
/* The piece with this range, a new one for chunk `k` if there is none yet. */
guint cleave_cutter_get_piece (CleaveCutter *cutter, guint k, const CleaveRange *range);
/* The next of the pieces that a demand is covered by. */
void cleave_cutter_add_cover (CleaveCutter *cutter, CleaveDemand *demand, guint piece);
