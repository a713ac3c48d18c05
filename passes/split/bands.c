/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Assigns the chunks of a root to bands, and numbers the chunks in the order in which they run. A
 * column of a grid has the chunks that differ only in their rows: all other dimensions of the
 * chunks have equal spans. */

#include "bands.h"

/* Returns the outermost dimension that the ranges cut: the first dimension along which the begins
 * of the ranges never decrease and sometimes increase. Returns the number of dimensions if no
 * dimension is cut. */
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

/* `ranges` lists the chunks of a grid, in an order in which the innermost cut dimension changes
 * first. Returns this dimension: the dimension in which the first two ranges begin at different
 * indices. Returns the number of dimensions if the first two ranges have equal begins, or if there
 * is only one range. */
static guint
find_inner_dim (const GArray *ranges)
{
  const CleaveRange *range = (const CleaveRange *) ranges->data;
  guint d = 0;

  while (d < range[0].rank && (ranges->len < 2 || range[0].dim[d].begin == range[1].dim[d].begin))
    d++;
  return d;
}

/* The strips of one column of a grid. `key` identifies the column. */
typedef struct
{
  CleaveRange key;
  GArray *strips; /* guint: indices of the chunks, from the first strip to the last */
} Column;

static void
column_free (gpointer data)
{
  Column *column = data;

  g_array_unref (column->strips);
  g_free (column);
}

static GPtrArray *
find_columns (const GArray *ranges, guint strip_dim)
{
  g_autoptr (GHashTable) by_key = g_hash_table_new (cleave_range_hash, cleave_ranges_equal);
  GPtrArray *columns = g_ptr_array_new_with_free_func (column_free);

  for (guint k = 0; k < ranges->len; k++)
    {
      CleaveRange key = g_array_index (ranges, CleaveRange, k);
      Column *column;

      if (strip_dim < key.rank)
        key.dim[strip_dim] = (CleaveSpan){ 0, 0 };
      column = strip_dim < key.rank ? g_hash_table_lookup (by_key, &key) : NULL;
      if (column == NULL)
        {
          column = g_new (Column, 1);
          *column = (Column){ key, g_array_new (FALSE, FALSE, sizeof (guint)) };
          g_hash_table_insert (by_key, &column->key, column);
          g_ptr_array_add (columns, column);
        }
      g_array_append_val (column->strips, k);
    }
  return columns;
}

/* Returns the position of a strip in the sequence of its band, which has `per_band` strips. The
 * last band runs downwards. Each other band runs opposite to the next one, so that two neighboring
 * bands begin or end at their common border at the same time. */
static guint
find_sequence (guint strip, guint n_strips, guint per_band)
{
  guint band = strip / per_band, last = (n_strips - 1) / per_band, index = strip % per_band;
  guint n = MIN (per_band, n_strips - band * per_band);

  return (last - band) % 2 == 0 ? index : n - 1 - index;
}

/* Sets the band and the position of each strip in one column of a grid. Leaves out the chunks
 * before `first`, which are strips of an earlier root. With one band, the strips of all columns
 * are in band 0, so a strip also reads pieces of earlier strips in other columns. */
static void
add_column (CleaveRegion *region, const Column *column, guint first)
{
  gboolean exchange = region->recursion.halo == CLEAVE_HALO_EXCHANGE;
  guint n = column->strips->len, per_band = region->recursion.strips_per_band;
  gboolean is_one_band = exchange || per_band == 0;

  for (guint i = 0; i < n; i++)
    {
      guint k = g_array_index (column->strips, guint, i);
      guint sequence = exchange ? find_sequence (i, n, per_band == 0 ? n : per_band) : k;

      if (!is_one_band && i % per_band == 0)
        region->n_bands++;
      if (k >= first)
        g_array_index (region->strips, CleaveStrip, k) =
            (CleaveStrip){ is_one_band ? 0 : region->n_bands - 1, sequence, is_one_band ? i : k };
    }
}

void
cleave_strips_add (CleaveRegion *region, const CleaveRoot *root)
{
  const GArray *ranges = root->ranges;
  g_autoptr (GPtrArray) columns = find_columns (
      ranges, root->is_column_wise ? find_inner_dim (ranges) : find_strip_dim (ranges));
  guint first = region->strips->len;

  g_array_set_size (region->strips, MAX (first, ranges->len));
  for (guint i = 0; i < columns->len; i++)
    add_column (region, columns->pdata[i], first);
}
