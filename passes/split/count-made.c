/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Estimates the number of nodes that replace a member, which is a region node. These nodes are the
 * pieces of the member, and the Slices and joins of these pieces that other pieces read. If the
 * region makes too many nodes, the error names the member with the most pieces. */

#include "count-made.h"

#include "../../lib/ir/error.h"
#include "../../lib/ir/saturate.h"

/* Let L be the limit on the nodes of a region. If L is at most MAX_COUNTED, counting stops at FAR *
 * L nodes. If L is larger, counting stops at FAR * MAX_COUNTED nodes or at L nodes, whichever is
 * more. The error message then states the counted number as a minimum. Counting all nodes of a
 * large region would need some 100 MB. */
#define FAR 4
#define MAX_COUNTED (1 << 18)

/* The indices at which the pieces of a node begin, in each dimension. */
typedef struct
{
  GArray *begins[CLEAVE_MAX_RANK]; /* gint64: for each dimension, the begins of pieces, each once,
                                      in ascending order */
  CleaveRange whole;
} Grid;

static int
compare_begins (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

static GArray *
list_begins (const CleaveRegionNode *member, guint d)
{
  GArray *begins = g_array_sized_new (FALSE, FALSE, sizeof (gint64), member->n_pieces);
  guint n = 0;

  for (guint i = 0; i < member->n_pieces; i++)
    g_array_append_val (begins, member->pieces[i].range->dim[d].begin);
  g_array_sort (begins, compare_begins);
  for (guint i = 0; i < begins->len; i++)
    if (n == 0 || g_array_index (begins, gint64, n - 1) != g_array_index (begins, gint64, i))
      g_array_index (begins, gint64, n++) = g_array_index (begins, gint64, i);
  return g_array_set_size (begins, n);
}

static void
grid_init (Grid *grid, const CleaveRegionNode *member)
{
  *grid = (Grid){ .whole = cleave_range_whole (&member->node->results[0].type.shape) };
  for (guint d = 0; d < grid->whole.rank; d++)
    grid->begins[d] = list_begins (member, d);
}

static void
grid_clear (Grid *grid)
{
  for (guint d = 0; d < grid->whole.rank; d++)
    g_array_unref (grid->begins[d]);
}

/* Returns the number of begins that are at most `at`. */
static guint
count_up_to (const GArray *begins, gint64 at)
{
  guint low = 0, high = begins->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (begins, gint64, middle) <= at)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* Returns the number of pieces of a grid that a range overlaps. Returns 0 if the range equals one
 * piece, since no Slice is then needed. */
static gint64
count_read (const Grid *grid, const CleaveRange *range)
{
  gboolean is_piece = TRUE;
  gint64 n = 1;

  for (guint d = 0; d < range->rank; d++)
    {
      const GArray *begins = grid->begins[d];
      const CleaveSpan *span = &range->dim[d];
      guint first = count_up_to (begins, span->begin), last = count_up_to (begins, span->end - 1);
      gint64 end =
          last < begins->len ? g_array_index (begins, gint64, last) : grid->whole.dim[d].end;

      n = cleave_saturated_mul (n, (gint64) last - first + 1);
      is_piece &= first > 0 && first == last && end == span->end &&
                  g_array_index (begins, gint64, first - 1) == span->begin;
    }
  return is_piece ? 0 : n;
}

/* Returns the number of Slices and joins through which other nodes read the pieces of a root. */
static gint64
count_joins_of_grid (const CleaveRegionNode *member)
{
  Grid grid;
  gint64 n = 0;

  if (member->n_demands == 0)
    return 0;
  grid_init (&grid, member);
  for (guint i = 0; i < member->n_demands; i++)
    {
      gint64 n_read = MIN (count_read (&grid, member->demands[i].chunk), member->n_pieces);

      n += n_read + (n_read > 1);
    }
  grid_clear (&grid);
  return n;
}

static gboolean
is_piece (const CleaveRegionNode *member, const CleaveDemand *demand)
{
  return demand->n == 1 &&
         cleave_range_equal (member->pieces[member->covers[demand->first]].range, demand->chunk);
}

/* Returns the number of Slices through which readers read a node that stays whole. */
static gint64
count_slices (const CleaveRegionNode *member)
{
  gint64 n = 0;

  for (guint i = 0; i < member->n_demands; i++)
    {
      const CleaveDemand *demand = &member->demands[i];
      CleaveRange whole = cleave_range_whole (&member->node->results[demand->result].type.shape);

      n += !cleave_range_equal (demand->range, &whole);
    }
  return n;
}

/* Returns an estimate of the number of nodes that replace a planned node: its pieces, and the
 * Slices and joins between the pieces and their readers. The estimate is seldom too low: a Slice or
 * join that several readers share is counted once for each reader. Takes O(pieces log pieces +
 * readers) time. */
static gint64
count_member (const CleaveRegionNode *member)
{
  gint64 n = member->n_pieces;

  if (!member->is_split)
    return member->is_passed ? 0 : count_slices (member);
  if (member->root != NULL)
    return n + count_joins_of_grid (member);
  for (guint i = 0; i < member->n_demands; i++)
    {
      const CleaveDemand *demand = &member->demands[i];

      n += is_piece (member, demand) ? 0 : demand->n + (demand->n > 1);
    }
  return n;
}

void
cleave_region_count_made (CleaveRegion *region, const CleaveRegionNode *member)
{
  if (region->limit.max == G_MAXINT64)
    return;
  region->n_made = cleave_saturated_add (region->n_made, count_member (member));
  if (member->is_split && (region->widest == NULL || member->n_pieces > region->widest->n_pieces))
    region->widest = member;
}

gboolean
cleave_region_makes_far_too_many (const CleaveRegion *region)
{
  gint64 end = MAX (MIN (region->limit.max, MAX_COUNTED) * FAR, region->limit.max);

  return region->n_made > end;
}

gboolean
cleave_region_check_made (const CleaveRegion *region, GError **error)
{
  g_autofree char *label = NULL, *budget = NULL;

  if (region->n_made <= region->limit.max || region->widest == NULL)
    return TRUE;
  label = cleave_node_dup_label (region->widest->node);
  if (region->limit.work_each > 0)
    budget = g_strdup_printf (", split fewer nodes, or give the search a budget of "
                              "%" G_GINT64_FORMAT " or more",
                              cleave_saturated_mul (region->n_made, region->limit.work_each));
  return cleave_fail (error, CLEAVE_ERROR_LIMIT,
                      "too many pieces: the split would make %s %" G_GINT64_FORMAT
                      " nodes, %u of them pieces of %s; the limit is %" G_GINT64_FORMAT
                      ". Ask for larger pieces%s",
                      cleave_region_makes_far_too_many (region) ? "more than" : "about",
                      region->n_made, region->widest->n_pieces, label, region->limit.max,
                      budget != NULL ? budget : " or split fewer nodes");
}
