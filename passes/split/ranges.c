/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lists the ranges of a tiling's chunks. Either cuts each dimension into chunk sizes, which
 * gives a grid of ranges, or checks the ranges that the caller gave. */

#include "options.h"

#include "../../lib/ir/range.h"

static gboolean
cut_ranges (GArray **ranges, guint d, const GArray *sizes, GError **error)
{
  GArray *cut;

  if ((gint64) (*ranges)->len * sizes->len > CLEAVE_MAX_CHUNKS)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "the split would make more than %d chunks",
                        CLEAVE_MAX_CHUNKS);
  cut = g_array_sized_new (FALSE, FALSE, sizeof (CleaveRange), (*ranges)->len * sizes->len);
  for (guint i = 0; i < (*ranges)->len; i++)
    {
      CleaveRange range = g_array_index (*ranges, CleaveRange, i);

      range.dim[d].end = range.dim[d].begin;
      for (guint j = 0; j < sizes->len; j++)
        {
          range.dim[d].begin = range.dim[d].end;
          range.dim[d].end += g_array_index (sizes, gint64, j);
          g_array_append_val (cut, range);
        }
    }
  g_array_unref (*ranges);
  *ranges = cut;
  return TRUE;
}

static GArray *
cut_dim (const CleaveTiling *tiling,
         guint i,
         const CleaveShape *shape,
         const guint *dims,
         GError **error)
{
  CleaveChunkRules rules;

  return cleave_tiling_get_chunk_rules (tiling, i, tiling->lists->len, &rules, error)
             ? tiling->cut (g_ptr_array_index (tiling->lists, i), &rules, shape->dim[dims[i]],
                            error)
             : NULL;
}

static GArray *
grid_ranges (const CleaveTiling *tiling,
             const CleaveShape *shape,
             const char *letters,
             GError **error)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  CleaveRange whole = cleave_range_whole (shape);
  guint dims[CLEAVE_MAX_RANK], n;

  if (!cleave_dims_parse (tiling->dims, shape->rank, letters, dims, &n, error))
    return NULL;
  if (n != tiling->lists->len)
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                             "'%s' lists %u dimensions, but %s are given for %u", tiling->dims, n,
                             tiling->what, tiling->lists->len);
  g_array_append_val (ranges, whole);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GArray) sizes = cut_dim (tiling, i, shape, dims, error);

      if (sizes == NULL)
        {
          g_autofree char *name = cleave_dim_dup_name (dims[i], letters);

          g_prefix_error (error, "%s: ", name);
          return NULL;
        }
      if (!cut_ranges (&ranges, dims[i], sizes, error))
        return NULL;
    }
  return g_steal_pointer (&ranges);
}

static gboolean
check_range (const CleaveTiling *tiling, guint i, const CleaveRange *whole, GError **error)
{
  const CleaveRange *range = &g_array_index (tiling->ranges, CleaveRange, i);
  g_autofree char *allowed = cleave_range_to_string (whole);
  g_autofree char *text = NULL;
  CleaveChunkRules rules;

  if (range->rank > CLEAVE_MAX_RANK)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "range %u has rank %u, but the result has rank %u", i, range->rank,
                        whole->rank);
  text = cleave_range_to_string (range);
  if (range->rank != whole->rank)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "range %u, %s, has rank %u, but the result has rank %u", i, text,
                        range->rank, whole->rank);
  if (cleave_range_is_empty (range))
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "range %u, %s, is empty", i, text);
  if (!cleave_range_contains (whole, range))
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "range %u, %s, must lie inside %s", i, text,
                        allowed);
  for (guint d = 0; d < range->rank; d++)
    if (!cleave_tiling_get_chunk_rules (tiling, d, range->rank, &rules, error) ||
        !cleave_chunk_rules_check (&rules, &range->dim[d], whole->dim[d].end, error))
      return FALSE;
  return TRUE;
}

static GArray *
given_ranges (const CleaveTiling *tiling, const CleaveShape *shape, GError **error)
{
  CleaveRange whole = cleave_range_whole (shape);
  g_autofree char *text = cleave_range_to_string (&whole);
  CleaveRange missing;

  if (tiling->ranges->len == 0)
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                             "no range is given; together they must cover %s", text);
  for (guint i = 0; i < tiling->ranges->len; i++)
    if (!check_range (tiling, i, &whole, error))
      return NULL;
  if (!cleave_ranges_cover ((const CleaveRange *) tiling->ranges->data, tiling->ranges->len, &whole,
                            &missing))
    {
      g_autofree char *gap = cleave_range_to_string (&missing);

      return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                               "the ranges must cover %s, but none covers %s", text, gap);
    }
  return g_array_copy (tiling->ranges);
}

/**
 * cleave_tiling_get_ranges:
 * @tiling: a tiling, but not a tiling that leaves the ranges to a search
 * @shape: shape of a result
 * @letters: (nullable): names of its dimensions, such as `NCHW`; %NULL if the dimensions have no
 * names
 * @error: return location for a [struct@GLib.Error]
 *
 * Returns the ranges of a tiling's chunks: a grid, with the first listed dimension outermost, or
 * the given ranges in their order. O(chunks), except for the check that unordered ranges cover the
 * shape.
 *
 * Fails with %CLEAVE_ERROR_OPTION, naming the allowed and the given value, if the tiling does not
 * fit the shape.
 *
 * Returns: (transfer full) (nullable) (element-type CleaveRange): the ranges
 *
 * Since: 0.1
 */
GArray *
cleave_tiling_get_ranges (const CleaveTiling *tiling,
                          const CleaveShape *shape,
                          const char *letters,
                          GError **error)
{
  g_return_val_if_fail (tiling != NULL && cleave_shape_is_legal (shape), NULL);

  guint n = tiling->cut == NULL ? shape->rank : tiling->lists->len;
  CleaveChunkRules rules;

  if (tiling->is_search)
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                             "a search finds ranges for a node, not for a shape");
  for (guint i = 0; i < n; i++)
    if (!cleave_tiling_get_chunk_rules (tiling, i, n, &rules, error))
      return NULL;
  return tiling->cut == NULL ? given_ranges (tiling, shape, error)
                             : grid_ranges (tiling, shape, letters, error);
}
