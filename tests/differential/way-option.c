/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tilings by each of the five split options, with random numbers. */

#include "way.h"

#define pick(way, n) tape_draw ((way)->tape, (guint) (n))
#define chance(way, percent) tape_chance ((way)->tape, (percent))

/* One or two dimensions of a value, in any order. `text` has the same dimensions for the option
 * `dims`, as indices or sometimes as names such as H. */
typedef struct
{
  guint n;
  guint dim[2];
  char text[16];
} Dims;

static void
pick_dims (Way *way, const CleaveShape *shape, Dims *dims)
{
  static const char *const letters[] = { "H", "C", "W", "N", "H,W", "C,H", "N,C" };

  *dims = (Dims){ .n = 1 };
  if (shape->rank == 0)
    {
      g_strlcpy (dims->text, "0", sizeof dims->text);
      return;
    }
  dims->dim[0] = pick (way, shape->rank);
  dims->dim[1] = pick (way, shape->rank);
  if (dims->dim[1] != dims->dim[0] && chance (way, 30))
    dims->n = 2;
  if (shape->rank == 4 && chance (way, 20))
    {
      static const guint8 of_letters[][3] = { { 1, 2 },    { 1, 1 },    { 1, 3 },   { 1, 0 },
                                              { 2, 2, 3 }, { 2, 1, 2 }, { 2, 0, 1 } };
      guint i = pick (way, G_N_ELEMENTS (letters));

      dims->n = of_letters[i][0];
      dims->dim[0] = of_letters[i][1];
      dims->dim[1] = of_letters[i][2];
      g_strlcpy (dims->text, letters[i], sizeof dims->text);
    }
  else if (dims->n == 2)
    g_snprintf (dims->text, sizeof dims->text, "%u,%u", dims->dim[0], dims->dim[1]);
  else
    g_snprintf (dims->text, sizeof dims->text, "%d",
                chance (way, 20) ? (int) dims->dim[0] - (int) shape->rank : (int) dims->dim[0]);
}

static gint64
extent_of (const CleaveShape *shape, const Dims *dims, guint i)
{
  return shape->rank == 0 ? 1 : shape->dim[dims->dim[i]];
}

static CleaveTiling *
split_by_count (Way *way, const CleaveShape *shape, const Dims *dims)
{
  gint64 counts[2];

  for (guint i = 0; i < dims->n; i++)
    counts[i] = 2 + pick (way, chance (way, 90) ? MIN (MAX (extent_of (shape, dims, i), 1), 7) : 9);
  g_string_append_printf (way->text, "%" G_GINT64_FORMAT " chunks", counts[0]);
  return cleave_tiling_by_num_chunks (dims->text, counts, dims->n);
}

static CleaveTiling *
split_by_size (Way *way, const CleaveShape *shape, const Dims *dims)
{
  gint64 sizes[2];

  for (guint i = 0; i < dims->n; i++)
    {
      gint64 extent = extent_of (shape, dims, i);

      sizes[i] = 1 + extent / 12 + pick (way, MAX (extent, 1));
    }
  g_string_append_printf (way->text, "chunks of %" G_GINT64_FORMAT, sizes[0]);
  return cleave_tiling_by_chunk_size (dims->text, sizes, dims->n);
}

/* Returns a tiling by up to four sizes. The last size is the remainder, as a number or as -1. */
static CleaveTiling *
split_by_sizes (Way *way, const CleaveShape *shape, const Dims *dims)
{
  gint64 sizes[2][4];
  const gint64 *lists[2] = { sizes[0], sizes[1] };
  guint n[2] = { 0, 0 };

  for (guint i = 0; i < dims->n; i++)
    {
      gint64 left = extent_of (shape, dims, i);

      while (n[i] < 3 && left > 1 && (n[i] == 0 || chance (way, 60)))
        {
          gint64 size = 1 + pick (way, left - 1);

          sizes[i][n[i]++] = size;
          left -= size;
        }
      sizes[i][n[i]++] = chance (way, 20) ? -1 : left;
    }
  g_string_append_printf (way->text, "sizes %" G_GINT64_FORMAT " …", sizes[0][0]);
  return cleave_tiling_by_chunk_sizes (dims->text, lists, n, dims->n);
}

static CleaveTiling *
split_by_weights (Way *way, const Dims *dims)
{
  double weights[2][4];
  const double *lists[2] = { weights[0], weights[1] };
  guint n[2];

  for (guint i = 0; i < dims->n; i++)
    {
      n[i] = 2 + pick (way, 3);
      for (guint k = 0; k < n[i]; k++)
        weights[i][k] = 0.5 + pick (way, 8);
    }
  g_string_append_printf (way->text, "weights %g …", weights[0][0]);
  return cleave_tiling_by_chunk_weights (dims->text, lists, n, dims->n);
}

/* Returns a tiling by ranges: cuts the whole in two repeatedly. Some parts overlap others. */
static CleaveTiling *
split_by_ranges (Way *way, const CleaveShape *shape)
{
  CleaveRange boxes[6];
  guint n = 1, wanted = 2 + pick (way, 4);

  boxes[0] = cleave_range_whole (shape);
  for (guint tries = 0; n < wanted && tries < 12 && shape->rank > 0; tries++)
    {
      guint b = pick (way, n), d = pick (way, shape->rank);
      CleaveSpan *span = &boxes[b].dim[d];
      gint64 at;

      if (span->end - span->begin < 2)
        continue;
      at = span->begin + 1 + pick (way, span->end - span->begin - 1);
      boxes[n] = boxes[b];
      boxes[n].dim[d].begin = at;
      span->end = chance (way, 25) ? at + 1 : at;
      n++;
    }
  g_string_append_printf (way->text, "%u boxes", n);
  return cleave_tiling_by_slice_ranges (boxes, n);
}

/* Sets the order, the alignment and the minimum length of chunks, for all dimensions or for each.
 */
static void
restrict_chunks (Way *way, CleaveTiling *split, guint n_dims)
{
  gint64 of_each[2] = { 1 + pick (way, 4), 1 + pick (way, 4) };
  guint which = pick (way, 16);

  if (chance (way, 10))
    cleave_tiling_set_small_first (split, TRUE);
  if (which == 12)
    cleave_tiling_set_alignment (split, of_each[0]);
  else if (which == 13)
    cleave_tiling_set_min_chunk (split, of_each[0]);
  else if (which == 14)
    cleave_tiling_set_alignments (split, of_each, MIN (n_dims, 2));
  else if (which == 15)
    cleave_tiling_set_min_chunks (split, of_each, MIN (n_dims, 2));
  if (which >= 12)
    counts_way (way->counts, which % 2 == 0 ? "alignment" : "min-chunk", FALSE);
}

CleaveTiling *
way_pick_split (Way *way, const CleaveShape *shape)
{
  static const char *const names[] = { "num-chunks", "chunk-size", "chunk-sizes", "chunk-weights",
                                       "slice-ranges" };
  guint option = pick (way, 5);
  CleaveTiling *split;
  Dims dims;

  pick_dims (way, shape, &dims);
  g_string_append_printf (way->text, " [%s: ", option == 4 ? "ranges" : dims.text);
  split = option == 0   ? split_by_count (way, shape, &dims)
          : option == 1 ? split_by_size (way, shape, &dims)
          : option == 2 ? split_by_sizes (way, shape, &dims)
          : option == 3 ? split_by_weights (way, &dims)
                        : split_by_ranges (way, shape);
  counts_way (way->counts, names[option], FALSE);
  restrict_chunks (way, split, option == 4 ? shape->rank : dims.n);
  g_string_append (way->text, "]");
  return split;
}

CleaveTiling *
way_pick_search (Way *way, const CleaveShape *shape)
{
  CleaveTiling *split;
  Dims dims;

  pick_dims (way, shape, &dims);
  split = cleave_tiling_by_search (chance (way, 50) ? dims.text : NULL);
  counts_way (way->counts, "searched", FALSE);
  g_string_append (way->text, " [search]");
  restrict_chunks (way, split, dims.n);
  return split;
}
