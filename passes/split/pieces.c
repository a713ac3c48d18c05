/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "pieces.h"

#include "widen.h"

#include <string.h>

static int
compare_spans (const CleaveSpan *a, const CleaveSpan *b)
{
  if (a->begin != b->begin)
    return a->begin < b->begin ? -1 : 1;
  return (a->end > b->end) - (a->end < b->end);
}

static int
compare_ranges (const CleaveRange *a, const CleaveRange *b)
{
  int order = 0;

  for (guint d = 0; d < a->rank && order == 0; d++)
    order = compare_spans (&a->dim[d], &b->dim[d]);
  return order;
}

static CleaveStrip
get_strip (const CleaveRegion *region, guint k)
{
  return g_array_index (region->strips, CleaveStrip, k);
}

/* Pieces. */

/* The box that `demand` lies in, once those that overlap are one. */
typedef struct
{
  guint demand;
  guint k;
  CleaveStrip strip;
  CleaveRange box;
} Wanted;

static int
compare_wanted (gconstpointer a, gconstpointer b)
{
  const Wanted *v = a, *w = b;
  int order;

  if (v->strip.turn != w->strip.turn)
    return v->strip.turn < w->strip.turn ? -1 : 1;
  if (v->strip.band != w->strip.band)
    return v->strip.band < w->strip.band ? -1 : 1;
  if (v->k != w->k)
    return v->k < w->k ? -1 : 1;
  order = compare_ranges (&v->box, &w->box);
  return order != 0 ? order : (v->demand > w->demand) - (v->demand < w->demand);
}

static gboolean
overlap (const CleaveRange *a, const CleaveRange *b)
{
  CleaveRange both = cleave_range_intersect (a, b);

  return !cleave_range_is_empty (&both);
}

/* Boxes of one chunk index: overlapping ones become the box around both, until none do. */
static GArray *
merge_boxes (const Wanted *wanted, guint n)
{
  GArray *boxes = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

  for (guint i = 0; i < n; i++)
    {
      CleaveRange box = wanted[i].box;

      if (i > 0 && cleave_range_equal (&box, &wanted[i - 1].box))
        continue;
      for (guint j = 0; j < boxes->len;)
        {
          CleaveRange *other = &g_array_index (boxes, CleaveRange, j);

          if (!overlap (other, &box))
            {
              j++;
              continue;
            }
          box = cleave_range_hull (other, &box);
          g_array_remove_index (boxes, j);
          j = 0;
        }
      g_array_append_val (boxes, box);
    }
  return boxes;
}

/* What all demands come to: for each chunk index the boxes to be had, and each demand's box. */
static GArray *
collect_wanted (const CleaveRegion *region, const CleaveRegionNode *member, const CleaveCall *widen)
{
  GArray *wanted_boxes = g_array_sized_new (FALSE, FALSE, sizeof (Wanted), member->n_demands);

  for (guint i = 0; i < member->n_demands; i++)
    {
      const CleaveDemand *demand = &member->demands[i];
      Wanted wanted = { i, demand->k, get_strip (region, demand->k), *demand->chunk };

      if (widen != NULL)
        cleave_chunk_widen (widen, &wanted.box);
      g_array_append_val (wanted_boxes, wanted);
    }
  g_array_sort (wanted_boxes, compare_wanted);
  for (guint i = 0, end; i < wanted_boxes->len; i = end)
    {
      g_autoptr (GArray) boxes = NULL;

      for (end = i; end < wanted_boxes->len && g_array_index (wanted_boxes, Wanted, end).k ==
                                                   g_array_index (wanted_boxes, Wanted, i).k;)
        end++;
      boxes = merge_boxes (&g_array_index (wanted_boxes, Wanted, i), end - i);
      for (guint w = i; w < end; w++)
        for (guint b = 0; b < boxes->len; b++)
          if (overlap (&g_array_index (boxes, CleaveRange, b),
                       &g_array_index (wanted_boxes, Wanted, w).box))
            g_array_index (wanted_boxes, Wanted, w).box = g_array_index (boxes, CleaveRange, b);
    }
  g_array_sort (wanted_boxes, compare_wanted);
  return wanted_boxes;
}

/* Where pieces are made. */
typedef struct
{
  CleaveRegion *region;
  CleaveRegionNode *member;
  const CleaveCall *widen;
} Cutter;

static guint
add_piece (CleaveRegion *region, CleaveRegionNode *member, guint k, const CleaveRange *own)
{
  guint n = member->n_pieces++;

  member->pieces = cleave_pool_grow (region->pool, member->pieces, n, sizeof *member->pieces);
  member->pieces[n] = (CleavePiece){ k, own };
  return n;
}

/* The next of those that a demand is covered by. */
static void
add_cover (CleaveRegion *region, CleaveRegionNode *member, CleaveDemand *demand, guint piece)
{
  guint n = demand->first + demand->n++;

  member->covers = cleave_pool_grow (region->pool, member->covers, n, sizeof *member->covers);
  member->covers[n] = piece;
}

/* The piece with this range, a new one for chunk `k` if there is none yet. */
static guint
get_piece_of (Cutter *cutter, guint k, const CleaveRange *range)
{
  CleaveRegionNode *member = cutter->member;
  CleaveRegionRange *own = (CleaveRegionRange *) cleave_region_get_range (cutter->region, range);

  if (own->member != member || own->piece >= member->n_pieces ||
      member->pieces[own->piece].range != &own->range)
    {
      own->member = member;
      own->piece = add_piece (cutter->region, member, k, &own->range);
    }
  return own->piece;
}

/* Where a region begins, the pieces are those of the request; who needs something else reads it
 * from these. */
static void
cut_as_told (Cutter *cutter)
{
  const GArray *start = cutter->member->start;

  for (guint k = 0; k < start->len; k++)
    get_piece_of (cutter, k, &g_array_index (start, CleaveRange, k));
}

static void
cut_recomputing (Cutter *cutter, const GArray *wanted_boxes)
{
  CleaveRegionNode *member = cutter->member;

  for (guint i = 0; i < wanted_boxes->len; i++)
    {
      const Wanted *wanted = &g_array_index (wanted_boxes, Wanted, i);
      guint piece = get_piece_of (cutter, wanted->k, &wanted->box);
      CleaveDemand *demand = &member->demands[wanted->demand];

      demand->first = i;
      demand->n = 0;
      add_cover (cutter->region, member, demand, piece);
    }
}

/* What the strips of a band have produced so far. */
typedef struct
{
  GArray *boxes;  /* CleaveRange: together, all of it; neighbours that make a box are one */
  GArray *pieces; /* guint: in order; no two overlap */
} Produced;

static void
produced_free (gpointer data)
{
  Produced *produced = data;

  g_array_unref (produced->boxes);
  g_array_unref (produced->pieces);
  g_free (produced);
}

static Produced *
get_produced (GHashTable *bands, guint band)
{
  Produced *produced = g_hash_table_lookup (bands, GUINT_TO_POINTER (band));

  if (produced != NULL)
    return produced;
  produced = g_new (Produced, 1);
  produced->boxes = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  produced->pieces = g_array_new (FALSE, FALSE, sizeof (guint));
  g_hash_table_insert (bands, GUINT_TO_POINTER (band), produced);
  return produced;
}

/* Whether two boxes that do not overlap make a box. */
static gboolean
join (const CleaveRange *a, const CleaveRange *b, CleaveRange *both)
{
  *both = cleave_range_hull (a, b);
  return cleave_range_n_elements (both) ==
         cleave_range_n_elements (a) + cleave_range_n_elements (b);
}

static void
add_produced (Produced *produced, const CleaveRange *box, guint piece)
{
  CleaveRange all = *box;

  g_array_append_val (produced->pieces, piece);
  for (guint i = 0; i < produced->boxes->len; i++)
    {
      CleaveRange both;

      if (!join (&g_array_index (produced->boxes, CleaveRange, i), &all, &both))
        continue;
      all = both;
      g_array_remove_index_fast (produced->boxes, i);
      i = G_MAXUINT; /* begin again */
    }
  g_array_append_val (produced->boxes, all);
}

/* The pieces that together have what a demand asks for, the latest first.  `first` of the covers
 * are taken; tells how many are then. */
static guint
cover_demand (CleaveRegion *region,
              CleaveRegionNode *member,
              CleaveDemand *demand,
              guint first,
              const Produced *produced)
{
  gint64 left = cleave_range_n_elements (demand->chunk);

  demand->first = first;
  demand->n = 0;
  for (guint i = produced->pieces->len; i > 0 && left > 0; i--)
    {
      guint piece = g_array_index (produced->pieces, guint, i - 1);
      CleaveRange both = cleave_range_intersect (member->pieces[piece].range, demand->chunk);

      if (cleave_range_is_empty (&both))
        continue;
      left -= cleave_range_n_elements (&both);
      add_cover (region, member, demand, piece);
    }
  g_assert (left == 0);
  return first + demand->n;
}

/* The dimension along which `b` follows `a`, if they are alike in all others, or -1. */
static gint
find_step (const CleaveRange *a, const CleaveRange *b)
{
  gint step = -1;

  for (guint d = 0; d < a->rank; d++)
    {
      const CleaveSpan *x = &a->dim[d], *y = &b->dim[d];

      if (x->begin == y->begin && x->end == y->end)
        continue;
      if (step >= 0 || x->begin >= y->begin || x->end >= y->end || x->end <= y->begin)
        return -1;
      step = (gint) d;
    }
  return step;
}

/* Strips of a band that have the same turn meet where their bands do: of what both would make each
 * has the half next to it. */
static void
share_borders (const Wanted *wanted_boxes, guint n, CleaveRange *boxes)
{
  for (guint i = 0; i < n; i++)
    boxes[i] = wanted_boxes[i].box;
  for (guint i = 0; i < n; i++)
    {
      guint next = i, neighbour;

      while (next < n && wanted_boxes[next].k == wanted_boxes[i].k)
        next++;
      neighbour = next < n ? wanted_boxes[next].k : 0;
      for (; next < n && wanted_boxes[next].k == neighbour; next++)
        {
          gint d = wanted_boxes[next].strip.turn == wanted_boxes[i].strip.turn &&
                           wanted_boxes[next].strip.band == wanted_boxes[i].strip.band
                       ? find_step (&wanted_boxes[i].box, &wanted_boxes[next].box)
                       : -1;

          if (d >= 0)
            boxes[i].dim[d].end = boxes[next].dim[d].begin =
                (wanted_boxes[i].box.dim[d].end + wanted_boxes[next].box.dim[d].begin) / 2;
        }
    }
}

/* Pieces for what of a box no strip of the band has produced. */
static void
produce (Cutter *cutter, Produced *produced, guint k, const CleaveRange *box)
{
  g_autoptr (GArray) left = cleave_range_subtract_all (
      box, (const CleaveRange *) produced->boxes->data, produced->boxes->len);

  for (guint i = 0; i < left->len; i++)
    {
      const CleaveRange *range = &g_array_index (left, CleaveRange, i);

      add_produced (produced, range, get_piece_of (cutter, k, range));
    }
}

/* Each strip's range loses what strips of its band before it produce, maybe all of it. */
static void
cut_carrying (Cutter *cutter, const GArray *wanted_boxes)
{
  CleaveRegionNode *member = cutter->member;
  g_autoptr (GHashTable) bands = g_hash_table_new_full (NULL, NULL, NULL, produced_free);
  g_autofree CleaveRange *boxes = g_new (CleaveRange, wanted_boxes->len + 1);
  const Wanted *wanted = (const Wanted *) (gpointer) wanted_boxes->data;

  share_borders (wanted, wanted_boxes->len, boxes);
  for (guint i = 0, covered = 0, n_covers = 0; i < wanted_boxes->len; i++)
    {
      if (cutter->widen != NULL) /* a border that is shared may have cut a block */
        cleave_chunk_widen (cutter->widen, &boxes[i]);
      produce (cutter, get_produced (bands, wanted[i].strip.band), wanted[i].k, &boxes[i]);
      if (i + 1 < wanted_boxes->len && wanted[i + 1].strip.turn == wanted[i].strip.turn)
        continue;
      for (; covered <= i; covered++)
        n_covers = cover_demand (cutter->region, member, &member->demands[wanted[covered].demand],
                                 n_covers, get_produced (bands, wanted[covered].strip.band));
    }
}

/* A gap smaller than a piece that it makes a larger box with is that piece's: rows that all skip
 * who need the pieces. */
static gboolean
widen_piece (CleaveRegion *region,
             const CleaveRegionNode *member,
             const CleaveRange *gap,
             const CleaveRange *whole)
{
  for (guint i = 0; i < member->n_pieces; i++)
    {
      CleavePiece *piece = &member->pieces[i];
      CleaveRange both;

      if (cleave_range_n_elements (gap) >= cleave_range_n_elements (piece->range) ||
          !join (piece->range, gap, &both) || cleave_range_equal (&both, whole))
        continue;
      piece->range = cleave_region_get_range (region, &both);
      return TRUE;
    }
  return FALSE;
}

/* Takes from the gaps what the pieces can have; a wider piece may do for one that was too wide. */
static void
widen_pieces (CleaveRegion *region,
              const CleaveRegionNode *member,
              GArray *gaps,
              const CleaveRange *whole)
{
  guint n;

  do
    {
      n = gaps->len;
      for (guint i = gaps->len; i > 0; i--)
        if (widen_piece (region, member, &g_array_index (gaps, CleaveRange, i - 1), whole))
          g_array_remove_index (gaps, i - 1);
    }
  while (gaps->len < n);
}

/* A chunk of its own, after all others of the band of the last. */
static void
add_last (CleaveRegion *region, CleaveRegionNode *member, const CleaveRange *range)
{
  guint last = member->n_pieces;
  CleaveStrip strip = { last == 0 ? 0 : get_strip (region, member->pieces[last - 1].k).band,
                        region->strips->len };

  add_piece (region, member, region->strips->len, cleave_region_get_range (region, range));
  g_array_append_val (region->strips, strip);
}

/* What no piece has, where all is wanted. */
static void
fill_gaps (CleaveRegion *region, CleaveRegionNode *member)
{
  CleaveRange whole = cleave_range_whole (&member->node->results[0].type.shape);
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  g_autoptr (GArray) gaps = NULL;

  for (guint i = 0; i < member->n_pieces; i++)
    g_array_append_vals (ranges, member->pieces[i].range, 1);
  if (cleave_ranges_cover ((const CleaveRange *) ranges->data, ranges->len, &whole, NULL))
    return;
  gaps = cleave_range_subtract_all (&whole, (const CleaveRange *) ranges->data, ranges->len);
  widen_pieces (region, member, gaps, &whole);
  for (guint i = 0; i < gaps->len; i++)
    add_last (region, member, &g_array_index (gaps, CleaveRange, i));
}

void
cleave_pieces_cut (CleaveRegion *region, CleaveRegionNode *member, const CleaveCall *widen)
{
  g_autoptr (GArray) wanted_boxes = collect_wanted (region, member, widen);
  Cutter cutter = { region, member, widen };

  member->n_pieces = 0;
  if (member->start != NULL)
    cut_as_told (&cutter);
  else if (region->recursion.halo == CLEAVE_HALO_RECOMPUTE)
    cut_recomputing (&cutter, wanted_boxes);
  else
    cut_carrying (&cutter, wanted_boxes);
  if (member->is_outside && member->start == NULL) /* the ranges of a start cover all */
    fill_gaps (region, member);
}
