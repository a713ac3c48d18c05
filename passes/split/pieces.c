/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Merges the demands on a region node into boxes, and makes the pieces of the node from these
 * boxes (carry.c makes them for the policies that carry rows). A gap is a part of the result
 * that no piece computes. If readers outside the region need the whole result, pieces also fill
 * the gaps. */

#include "pieces.h"

#include "carry.h"
#include "widen.h"

#include <string.h>

static CleaveStrip
get_strip (const CleaveRegion *region, guint k)
{
  return g_array_index (region->strips, CleaveStrip, k);
}

static int
compare_demand_boxes (gconstpointer a, gconstpointer b)
{
  const CleaveDemandBox *v = a, *w = b;
  int order;

  if (v->strip.sequence != w->strip.sequence)
    return v->strip.sequence < w->strip.sequence ? -1 : 1;
  if (v->strip.band != w->strip.band)
    return v->strip.band < w->strip.band ? -1 : 1;
  if (v->k != w->k)
    return v->k < w->k ? -1 : 1;
  order = cleave_range_compare (&v->box, &w->box);
  return order != 0 ? order : (v->demand > w->demand) - (v->demand < w->demand);
}

static gboolean
overlap (const CleaveRange *a, const CleaveRange *b)
{
  CleaveRange both = cleave_range_intersect (a, b);

  return !cleave_range_is_empty (&both);
}

/* Returns the merged boxes of one strip: replaces overlapping boxes by the smallest box around
 * both, until no two boxes overlap. */
static GArray *
merge_boxes (const CleaveDemandBox *demand_box, guint n)
{
  GArray *boxes = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

  for (guint i = 0; i < n; i++)
    {
      CleaveRange box = demand_box[i].box;

      if (i > 0 && cleave_range_equal (&box, &demand_box[i - 1].box))
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

/* Returns the boxes of all demands (CleaveDemandBox), sorted by the `sequence` and then by the
 * `band` of their strips. Merges overlapping boxes of the same strip. */
static GArray *
collect_demand_boxes (const CleaveRegion *region,
                      const CleaveRegionNode *member,
                      const CleaveCall *widen)
{
  GArray *demand_boxes =
      g_array_sized_new (FALSE, FALSE, sizeof (CleaveDemandBox), member->n_demands);

  for (guint i = 0; i < member->n_demands; i++)
    {
      const CleaveDemand *demand = &member->demands[i];
      CleaveDemandBox demand_box = { i, demand->k, get_strip (region, demand->k), *demand->chunk };

      if (widen != NULL)
        cleave_chunk_widen (widen, &demand_box.box);
      g_array_append_val (demand_boxes, demand_box);
    }
  g_array_sort (demand_boxes, compare_demand_boxes);
  for (guint i = 0, end; i < demand_boxes->len; i = end)
    {
      g_autoptr (GArray) boxes = NULL;

      for (end = i;
           end < demand_boxes->len && g_array_index (demand_boxes, CleaveDemandBox, end).k ==
                                          g_array_index (demand_boxes, CleaveDemandBox, i).k;)
        end++;
      if (end == i + 1) /* the strip has only one box */
        continue;
      boxes = merge_boxes (&g_array_index (demand_boxes, CleaveDemandBox, i), end - i);
      for (guint w = i; w < end; w++)
        for (guint b = 0; b < boxes->len; b++)
          if (overlap (&g_array_index (boxes, CleaveRange, b),
                       &g_array_index (demand_boxes, CleaveDemandBox, w).box))
            g_array_index (demand_boxes, CleaveDemandBox, w).box =
                g_array_index (boxes, CleaveRange, b);
    }
  g_array_sort (demand_boxes, compare_demand_boxes);
  return demand_boxes;
}

/* Makes one piece of the root for each range into which the user or a search cuts the root. */
static void
cut_as_requested (CleaveCutter *cutter)
{
  const GArray *root = cutter->member->root;

  for (guint k = 0; k < root->len; k++)
    cleave_cutter_get_piece (cutter, k, &g_array_index (root, CleaveRange, k));
}

static void
cut_recomputing (CleaveCutter *cutter, const GArray *demand_boxes)
{
  CleaveRegionNode *member = cutter->member;

  for (guint i = 0; i < demand_boxes->len; i++)
    {
      const CleaveDemandBox *demand_box = &g_array_index (demand_boxes, CleaveDemandBox, i);
      guint piece = cleave_cutter_get_piece (cutter, demand_box->k, &demand_box->box);
      CleaveDemand *demand = &member->demands[demand_box->demand];

      demand->first = i;
      demand->n = 0;
      cleave_cutter_add_cover (cutter, demand, piece);
    }
}

/* Extends a piece by a gap if both together form a box, and if the gap is smaller than the piece. A
 * gap is a range of the result that no piece computes, such as rows that the stride of every reader
 * skips. Returns FALSE if no piece can be extended. */
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
          !cleave_range_join (piece->range, gap, &both) || cleave_range_equal (&both, whole))
        continue;
      piece->range = cleave_region_get_range (region, &both);
      return TRUE;
    }
  return FALSE;
}

/* Extends pieces by the gaps next to them (widen_piece()), until no piece can be extended. A piece
 * may be extended several times. Removes the gaps that became parts of pieces from `gaps`. */
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

/* Appends to a region node a piece that computes the range `gap`, and appends a new strip for this
 * piece to the region. The new strip runs after all other strips. Its band is the band of the
 * region node's last piece; band 0 if the node has no pieces. */
static void
add_gap_piece (CleaveRegion *region, CleaveRegionNode *member, const CleaveRange *gap)
{
  guint last = member->n_pieces;
  CleaveStrip strip = { last == 0 ? 0 : get_strip (region, member->pieces[last - 1].k).band,
                        region->strips->len, region->strips->len };

  cleave_cutter_add_piece (region, member, region->strips->len,
                           cleave_region_get_range (region, gap));
  g_array_append_val (region->strips, strip);
}

/* Makes the pieces of a node cover the whole result, since a reader needs the whole result. A gap
 * is a range of the result that no piece computes. Extends pieces by small gaps next to them, and
 * adds a piece for each remaining gap. */
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
    add_gap_piece (region, member, &g_array_index (gaps, CleaveRange, i));
}

void
cleave_pieces_cut (CleaveRegion *region, CleaveRegionNode *member, const CleaveCall *widen)
{
  g_autoptr (GArray) demand_boxes = collect_demand_boxes (region, member, widen);
  CleaveCutter cutter = { region, member, widen };
  /* a node that converts bytes to floats recomputes rows: the bytes that it reads are carried */
  gboolean always_recomputes = cleave_node_widens (member->node) > 0;

  member->n_pieces = 0;
  if (member->root != NULL)
    cut_as_requested (&cutter);
  else if (region->recursion.halo == CLEAVE_HALO_RECOMPUTE || always_recomputes)
    cut_recomputing (&cutter, demand_boxes);
  else
    cleave_cutter_carry (&cutter, demand_boxes);
  if (member->is_outside && member->root == NULL) /* a root needs no further pieces, since its
                                                   * ranges cover the whole result */
    fill_gaps (region, member);
}
