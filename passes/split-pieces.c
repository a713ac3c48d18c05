/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "split-pieces.h"

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

static guint
range_hash (gconstpointer data)
{
  const CleaveRange *range = data;
  guint64 hash = range->rank;

  for (guint d = 0; d < range->rank; d++)
    hash = (hash ^ (guint64) range->dim[d].begin ^ ((guint64) range->dim[d].end << 32)) *
           0x9e3779b97f4a7c15u;
  return (guint) (hash ^ (hash >> 32));
}

static gboolean
range_equal (gconstpointer a, gconstpointer b)
{
  return cleave_range_equal (a, b);
}

/* Bands: chunks of a start that follow each other along one dimension and may use what those before
 * computed. */

/* The outermost dimension that the ranges cut: the one along which they never go back.  Its rank if
 * there is none. */
static guint
find_strip_dim (const GArray *ranges)
{
  const CleaveRange *range = (const CleaveRange *) ranges->data;

  for (guint d = 0; d < range[0].rank; d++)
    {
      gboolean moves = FALSE, back = FALSE;

      for (guint i = 1; i < ranges->len && !back; i++)
        {
          moves |= range[i].dim[d].begin > range[i - 1].dim[d].begin;
          back = range[i].dim[d].begin < range[i - 1].dim[d].begin;
        }
      if (moves && !back)
        return d;
    }
  return range[0].rank;
}

/* The strips of one column of a grid, and the band that the next of them joins. */
typedef struct
{
  CleaveRange key;
  guint n_strips, band;
} Column;

static guint
next_band (CleaveRegion *region, GHashTable *columns, CleaveRange key, guint strip_dim)
{
  guint per_band = region->recursion.strips_per_band;
  Column *column;

  if (strip_dim == key.rank)
    return region->n_bands++;
  key.dim[strip_dim] = (CleaveSpan){ 0, 0 };
  column = g_hash_table_lookup (columns, &key);
  if (column == NULL)
    {
      column = g_new0 (Column, 1);
      column->key = key;
      g_hash_table_insert (columns, &column->key, column);
    }
  if (column->n_strips == 0 || (per_band > 0 && column->n_strips % per_band == 0))
    column->band = region->n_bands++;
  column->n_strips++;
  return column->band;
}

void
cleave_bands_add (CleaveRegion *region, const GArray *ranges)
{
  g_autoptr (GHashTable) columns = g_hash_table_new_full (range_hash, range_equal, NULL, g_free);
  guint strip_dim = find_strip_dim (ranges);

  for (guint k = 0; k < ranges->len; k++)
    {
      guint band = next_band (region, columns, g_array_index (ranges, CleaveRange, k), strip_dim);

      if (k >= region->bands->len)
        g_array_append_val (region->bands, band);
    }
}

static guint
get_band (const CleaveRegion *region, guint k)
{
  return g_array_index (region->bands, guint, k);
}

/* Pieces. */

/* The box that `need` lies in, once those that overlap are one. */
typedef struct
{
  guint need;
  guint k;
  CleaveRange box;
} Wish;

static int
compare_wishes (gconstpointer a, gconstpointer b)
{
  const Wish *v = a, *w = b;
  int order;

  if (v->k != w->k)
    return v->k < w->k ? -1 : 1;
  order = compare_ranges (&v->box, &w->box);
  return order != 0 ? order : (v->need > w->need) - (v->need < w->need);
}

static gboolean
overlap (const CleaveRange *a, const CleaveRange *b)
{
  CleaveRange both = cleave_range_intersect (a, b);

  return !cleave_range_is_empty (&both);
}

/* Boxes of one chunk index: overlapping ones become the box around both, until none do. */
static GArray *
merge_boxes (const Wish *wish, guint n)
{
  GArray *boxes = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

  for (guint i = 0; i < n; i++)
    {
      CleaveRange box = wish[i].box;

      if (i > 0 && cleave_range_equal (&box, &wish[i - 1].box))
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

/* What all needs come to: for each chunk index the boxes to be had, and each need's box. */
static GArray *
collect_wishes (const CleavePart *part)
{
  GArray *wishes = g_array_sized_new (FALSE, FALSE, sizeof (Wish), part->needs->len);

  for (guint i = 0; i < part->needs->len; i++)
    {
      const CleaveNeed *need = cleave_part_need (part, i);
      Wish wish = { i, need->k, need->chunk };

      g_array_append_val (wishes, wish);
    }
  g_array_sort (wishes, compare_wishes);
  for (guint i = 0, end; i < wishes->len; i = end)
    {
      g_autoptr (GArray) boxes = NULL;

      for (end = i; end < wishes->len &&
                    g_array_index (wishes, Wish, end).k == g_array_index (wishes, Wish, i).k;)
        end++;
      boxes = merge_boxes (&g_array_index (wishes, Wish, i), end - i);
      for (guint w = i; w < end; w++)
        for (guint b = 0; b < boxes->len; b++)
          if (overlap (&g_array_index (boxes, CleaveRange, b),
                       &g_array_index (wishes, Wish, w).box))
            g_array_index (wishes, Wish, w).box = g_array_index (boxes, CleaveRange, b);
    }
  g_array_sort (wishes, compare_wishes);
  return wishes;
}

/* The piece with this range, a new one for chunk `k` if there is none yet; then the range stays
 * where it is. */
static guint
get_piece_of (CleavePart *part, GHashTable *by_range, guint k, const CleaveRange *range)
{
  CleavePiece piece = { k, *range };
  gpointer index;

  if (g_hash_table_lookup_extended (by_range, range, NULL, &index))
    return GPOINTER_TO_UINT (index);
  g_array_append_val (part->pieces, piece);
  g_hash_table_insert (by_range, (gpointer) range, GUINT_TO_POINTER (part->pieces->len - 1));
  return part->pieces->len - 1;
}

/* Where a region begins, the pieces are those of the request; who needs something else reads it
 * from these. */
static void
cut_as_told (CleavePart *part)
{
  g_autoptr (GHashTable) by_range = g_hash_table_new (range_hash, range_equal);

  for (guint k = 0; k < part->start->len; k++)
    get_piece_of (part, by_range, k, &g_array_index (part->start, CleaveRange, k));
}

static void
cut_recomputing (CleavePart *part, const GArray *wishes)
{
  g_autoptr (GHashTable) by_range = g_hash_table_new (range_hash, range_equal);

  for (guint i = 0; i < wishes->len; i++)
    {
      const Wish *wish = &g_array_index (wishes, Wish, i);
      guint piece = get_piece_of (part, by_range, wish->k, &wish->box);
      CleaveNeed *need = cleave_part_need (part, wish->need);

      need->first = part->covers->len;
      need->n = 1;
      g_array_append_val (part->covers, piece);
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

/* What of a box is not produced yet.  FALSE: it is no box. */
static gboolean
find_new (const Produced *produced, CleaveRange *box)
{
  g_autoptr (GArray) left = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

  g_array_append_val (left, *box);
  for (guint i = 0; i < produced->boxes->len && left->len > 0; i++)
    {
      g_autoptr (GArray) rest = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

      for (guint j = 0; j < left->len; j++)
        cleave_range_subtract (&g_array_index (left, CleaveRange, j),
                               &g_array_index (produced->boxes, CleaveRange, i), rest);
      g_array_unref (left);
      left = g_steal_pointer (&rest);
    }
  if (left->len > 1)
    return FALSE;
  *box = left->len == 1 ? g_array_index (left, CleaveRange, 0) : (CleaveRange){ .rank = box->rank };
  return left->len == 1 || box->rank > 0;
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

/* The pieces that together have what a need asks for, the latest first. */
static void
cover_need (CleavePart *part, CleaveNeed *need, const Produced *produced)
{
  gint64 left = cleave_range_n_elements (&need->chunk);

  need->first = part->covers->len;
  for (guint i = produced->pieces->len; i > 0 && left > 0; i--)
    {
      guint piece = g_array_index (produced->pieces, guint, i - 1);
      CleaveRange both =
          cleave_range_intersect (&cleave_part_piece (part, piece)->range, &need->chunk);

      if (cleave_range_is_empty (&both))
        continue;
      left -= cleave_range_n_elements (&both);
      g_array_append_val (part->covers, piece);
    }
  need->n = part->covers->len - need->first;
  g_assert (left == 0);
}

/* Each strip's range loses what earlier strips of its band produce, maybe all of it.  FALSE:
 * somewhere what is left is no box. */
static gboolean
cut_carrying (const CleaveRegion *region, CleavePart *part, const GArray *wishes)
{
  g_autoptr (GHashTable) bands = g_hash_table_new_full (NULL, NULL, NULL, produced_free);
  g_autoptr (GHashTable) by_range = g_hash_table_new (range_hash, range_equal);
  g_autofree CleaveRange *boxes = g_new (CleaveRange, wishes->len);

  for (guint i = 0; i < wishes->len; i++)
    {
      const Wish *wish = &g_array_index (wishes, Wish, i);
      Produced *produced = get_produced (bands, get_band (region, wish->k));

      boxes[i] = wish->box;
      if (!find_new (produced, &boxes[i]))
        return FALSE;
      if (!cleave_range_is_empty (&boxes[i]))
        add_produced (produced, &boxes[i], get_piece_of (part, by_range, wish->k, &boxes[i]));
      cover_need (part, cleave_part_need (part, wish->need), produced);
    }
  return TRUE;
}

/* Pieces for what no piece has, where all is wanted: each a chunk of its own. */
static void
fill_gaps (CleaveRegion *region, CleavePart *part)
{
  CleaveRange whole = cleave_range_whole (&part->node->results[0].type.shape);
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  g_autoptr (GArray) left = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

  for (guint i = 0; i < part->pieces->len; i++)
    g_array_append_val (ranges, cleave_part_piece (part, i)->range);
  if (cleave_ranges_cover ((const CleaveRange *) ranges->data, ranges->len, &whole, NULL))
    return;
  g_array_append_val (left, whole);
  for (guint i = 0; i < ranges->len; i++)
    {
      g_autoptr (GArray) rest = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

      for (guint j = 0; j < left->len; j++)
        cleave_range_subtract (&g_array_index (left, CleaveRange, j),
                               &g_array_index (ranges, CleaveRange, i), rest);
      g_array_unref (left);
      left = g_steal_pointer (&rest);
    }
  for (guint i = 0; i < left->len; i++)
    {
      CleavePiece piece = { region->bands->len, g_array_index (left, CleaveRange, i) };

      g_array_append_val (region->bands, region->n_bands);
      region->n_bands++;
      g_array_append_val (part->pieces, piece);
    }
}

gboolean
cleave_pieces_cut (CleaveRegion *region, CleavePart *part, gboolean carry)
{
  g_autoptr (GArray) wishes = collect_wishes (part);

  g_array_set_size (part->pieces, 0);
  g_array_set_size (part->covers, 0);
  if (part->start != NULL)
    cut_as_told (part);
  else if (!carry)
    cut_recomputing (part, wishes);
  else if (!cut_carrying (region, part, wishes))
    return FALSE;
  if (part->is_outside && part->start == NULL) /* the ranges of a start cover all */
    fill_gaps (region, part);
  return TRUE;
}
