/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes a piece of each box of rows that no earlier strip computes. Finds the covering pieces of
 * each demand: the pieces that together contain the demand. With the policy exchange, two
 * neighboring strips that run at the same time each compute half of their overlap. */

#include "carry.h"

#include "widen.h"

/* The ranges of a node's result that the strips planned so far compute: the strips of one band
 * or, if the result is wide, of one row of tiles. */
typedef struct
{
  GArray *boxes; /* CleaveRange: boxes whose union has been computed; two adjacent boxes are merged
                    if they form a box */
  /* guint: indices of the pieces so far, from the first strip on; pieces do not overlap */
  GArray *pieces;
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

static void
add_produced (Produced *produced, const CleaveRange *box, guint piece)
{
  CleaveRange all = *box;

  g_array_append_val (produced->pieces, piece);
  for (guint i = 0; i < produced->boxes->len; i++)
    {
      CleaveRange both;

      if (!cleave_range_join (&g_array_index (produced->boxes, CleaveRange, i), &all, &both))
        continue;
      all = both;
      g_array_remove_index_fast (produced->boxes, i);
      i = G_MAXUINT; /* begin again with the first box */
    }
  g_array_append_val (produced->boxes, all);
}

/* Finds the covering pieces of a demand among the pieces in `produced`. Appends the indices of
 * these pieces to `covers` of the region node, the latest piece first. `first` is the length of
 * `covers` before the call; returns the length after the call. */
static guint
cover_demand (CleaveCutter *cutter, CleaveDemand *demand, guint first, const Produced *produced)
{
  const CleaveRegionNode *member = cutter->member;
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
      cleave_cutter_add_cover (cutter, demand, piece);
    }
  g_assert (left == 0);
  return first + demand->n;
}

/* Returns the dimension along which `b` follows and overlaps `a`, if the spans are equal in all
 * other dimensions; -1 otherwise. */
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

/* Halves the overlap between strips that run at the same time (halo policy exchange). Each strip
 * computes the half on its side, and reads the half that the neighboring strip computes. */
static void
share_borders (const CleaveDemandBox *demand_boxes, guint n, CleaveRange *boxes)
{
  for (guint i = 0; i < n; i++)
    boxes[i] = demand_boxes[i].box;
  for (guint i = 0; i < n; i++)
    {
      guint next = i, neighbor;

      while (next < n && demand_boxes[next].k == demand_boxes[i].k)
        next++;
      neighbor = next < n ? demand_boxes[next].k : 0;
      for (; next < n && demand_boxes[next].k == neighbor; next++)
        {
          gint d = demand_boxes[next].strip.sequence == demand_boxes[i].strip.sequence &&
                           demand_boxes[next].strip.band == demand_boxes[i].strip.band
                       ? find_step (&demand_boxes[i].box, &demand_boxes[next].box)
                       : -1;

          if (d >= 0)
            boxes[i].dim[d].end = boxes[next].dim[d].begin =
                (demand_boxes[i].box.dim[d].end + demand_boxes[next].box.dim[d].begin) / 2;
        }
    }
}

/* Adds pieces for the parts of a box that no earlier strip of the band computes. */
static void
produce (CleaveCutter *cutter, Produced *produced, guint k, const CleaveRange *box)
{
  g_autoptr (GArray) left = cleave_range_subtract_all (
      box, (const CleaveRange *) produced->boxes->data, produced->boxes->len);

  for (guint i = 0; i < left->len; i++)
    {
      const CleaveRange *range = &g_array_index (left, CleaveRange, i);

      add_produced (produced, range, cleave_cutter_get_piece (cutter, k, range));
    }
}

/* Returns the pieces that a strip may read: the pieces of its band. If the result is wide, the
 * strip may read only the pieces of its own row of tiles. */
static Produced *
get_shared (const CleaveCutter *cutter, GHashTable *bands, const CleaveDemandBox *demand_box)
{
  const gboolean *wide = cutter->region->wide;

  return get_produced (bands, wide != NULL && wide[cutter->member->node->id]
                                  ? demand_box->strip.row
                                  : demand_box->strip.band);
}

void
cleave_cutter_carry (CleaveCutter *cutter, const GArray *demand_boxes)
{
  CleaveRegionNode *member = cutter->member;
  g_autoptr (GHashTable) bands = g_hash_table_new_full (NULL, NULL, NULL, produced_free);
  g_autofree CleaveRange *boxes = g_new (CleaveRange, demand_boxes->len + 1);
  const CleaveDemandBox *demand_box = (const CleaveDemandBox *) (gpointer) demand_boxes->data;

  share_borders (demand_box, demand_boxes->len, boxes);
  for (guint i = 0, covered = 0, n_covers = 0; i < demand_boxes->len; i++)
    {
      /* share_borders() cuts an overlap of two boxes in the middle, so a box may now end inside a
       * block of an operand and be no legal chunk */
      if (cutter->widen != NULL)
        cleave_chunk_widen (cutter->widen, &boxes[i]);
      produce (cutter, get_shared (cutter, bands, &demand_box[i]), demand_box[i].k, &boxes[i]);
      if (i + 1 < demand_boxes->len &&
          demand_box[i + 1].strip.sequence == demand_box[i].strip.sequence)
        continue;
      for (; covered <= i; covered++)
        n_covers = cover_demand (cutter, &member->demands[demand_box[covered].demand], n_covers,
                                 get_shared (cutter, bands, &demand_box[covered]));
    }
}
