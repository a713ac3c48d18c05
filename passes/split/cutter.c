/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Adds pieces to a region node, and records the covering pieces of a demand: the pieces that
 * together contain the demand. */

#include "cutter.h"

guint
cleave_cutter_add_piece (CleaveRegion *region,
                         CleaveRegionNode *member,
                         guint k,
                         const CleaveRange *own)
{
  guint n = member->n_pieces++;

  member->pieces = cleave_pool_grow (region->pool, member->pieces, n, sizeof *member->pieces);
  member->pieces[n] = (CleavePiece){ k, own };
  return n;
}

void
cleave_cutter_add_cover (CleaveCutter *cutter, CleaveDemand *demand, guint piece)
{
  CleaveRegionNode *member = cutter->member;
  guint n = demand->first + demand->n++;

  member->covers =
      cleave_pool_grow (cutter->region->pool, member->covers, n, sizeof *member->covers);
  member->covers[n] = piece;
}

guint
cleave_cutter_get_piece (CleaveCutter *cutter, guint k, const CleaveRange *range)
{
  CleaveRegionNode *member = cutter->member;
  CleaveRegionRange *own = (CleaveRegionRange *) cleave_region_get_range (cutter->region, range);

  if (own->member != member || own->piece >= member->n_pieces ||
      member->pieces[own->piece].range != &own->range)
    {
      own->member = member;
      own->piece = cleave_cutter_add_piece (cutter->region, member, k, &own->range);
    }
  return own->piece;
}
