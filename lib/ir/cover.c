/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks whether ranges together cover another range. */

#include "range.h"

/* A range that perhaps no range covers. None of its elements is in ranges[0] … ranges[next - 1];
 * the ranges from ranges[next] on may still cover its elements. */
typedef struct
{
  CleaveRange range;
  guint next;
} Doubt;

static gboolean
cover_by_subtracting (const CleaveRange *ranges,
                      guint n_ranges,
                      const CleaveRange *whole,
                      CleaveRange *missing)
{
  g_autoptr (GArray) doubts = g_array_new (FALSE, FALSE, sizeof (Doubt));
  g_autoptr (GArray) rest = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  Doubt first = { *whole, 0 };

  g_array_append_val (doubts, first);
  while (doubts->len > 0)
    {
      Doubt doubt = g_array_index (doubts, Doubt, doubts->len - 1);

      g_array_set_size (doubts, doubts->len - 1);
      if (cleave_range_is_empty (&doubt.range))
        continue;
      for (; doubt.next < n_ranges; doubt.next++)
        {
          CleaveRange both = cleave_range_intersect (&doubt.range, &ranges[doubt.next]);

          if (!cleave_range_is_empty (&both))
            break;
        }
      if (doubt.next == n_ranges)
        {
          if (missing != NULL)
            *missing = doubt.range;
          return FALSE;
        }
      g_array_set_size (rest, 0);
      cleave_range_subtract (&doubt.range, &ranges[doubt.next], rest);
      for (guint i = rest->len; i > 0; i--)
        {
          Doubt left = { g_array_index (rest, CleaveRange, i - 1), doubt.next + 1 };

          g_array_append_val (doubts, left);
        }
    }
  return TRUE;
}

/* Returns the different spans that the ranges have in dimension `d`, in order. Returns NULL unless
 * each span begins where the span before it ends, and all spans together cover `whole`. */
static GArray *
find_cuts (const CleaveRange *ranges, guint n_ranges, guint d, const CleaveRange *whole)
{
  g_autoptr (GArray) spans = g_array_sized_new (FALSE, FALSE, sizeof (CleaveSpan), n_ranges);
  guint n = 0;

  for (guint i = 0; i < n_ranges; i++)
    g_array_append_val (spans, ranges[i].dim[d]);
  g_array_sort (spans, cleave_span_compare);
  for (guint i = 0; i < spans->len; i++)
    {
      CleaveSpan span = g_array_index (spans, CleaveSpan, i);

      if (n > 0 && cleave_span_equal (&span, &g_array_index (spans, CleaveSpan, n - 1)))
        continue;
      if (span.begin !=
          (n == 0 ? whole->dim[d].begin : g_array_index (spans, CleaveSpan, n - 1).end))
        return NULL;
      g_array_index (spans, CleaveSpan, n++) = span;
    }
  if (n == 0 || g_array_index (spans, CleaveSpan, n - 1).end != whole->dim[d].end)
    return NULL;
  g_array_set_size (spans, n);
  return g_steal_pointer (&spans);
}

/* Returns whether the ranges are the cells of a grid, each cell once. Takes O(n log n) for n
 * ranges; subtracting the ranges one by one would take O(n^2). */
static gboolean
is_grid (const CleaveRange *ranges, guint n_ranges, const CleaveRange *whole)
{
  g_autofree guint *cell = g_new0 (guint, MAX (n_ranges, 1));
  g_autofree gboolean *seen = g_new0 (gboolean, MAX (n_ranges, 1));
  guint64 n_cells = 1;

  for (guint d = 0; d < whole->rank; d++)
    {
      g_autoptr (GArray) cuts = find_cuts (ranges, n_ranges, d, whole);

      if (cuts == NULL || (n_cells *= cuts->len) > n_ranges)
        return FALSE;
      for (guint i = 0; i < n_ranges; i++)
        {
          guint at = 0;

          g_array_binary_search (cuts, &ranges[i].dim[d], cleave_span_compare, &at);
          cell[i] = cell[i] * cuts->len + at;
        }
    }
  if (n_cells != n_ranges)
    return FALSE;
  for (guint i = 0; i < n_ranges; i++)
    {
      if (seen[cell[i]])
        return FALSE;
      seen[cell[i]] = TRUE;
    }
  return TRUE;
}

/**
 * cleave_ranges_cover:
 * @ranges: (array length=n_ranges): ranges inside @whole; they may overlap
 * @n_ranges: number of ranges
 * @whole: the range that @ranges should cover
 * @missing: (out) (optional): if the ranges do not cover @whole, a range in @whole that does not
 * overlap any of the ranges
 *
 * Checks that every element of @whole is in at least one range. If the ranges are a grid, this
 * takes O(n log n). For ranges that are no grid, the function subtracts the ranges from @whole one
 * by one, in O(n) for each part of @whole that is left.
 *
 * Returns: whether the ranges cover @whole
 *
 * Since: 0.1
 */
gboolean
cleave_ranges_cover (const CleaveRange *ranges,
                     guint n_ranges,
                     const CleaveRange *whole,
                     CleaveRange *missing)
{
  g_return_val_if_fail (ranges != NULL || n_ranges == 0, FALSE);
  g_return_val_if_fail (cleave_range_is_legal (whole), FALSE);
  for (guint i = 0; i < n_ranges; i++)
    g_return_val_if_fail (ranges[i].rank == whole->rank, FALSE);

  if (cleave_range_is_empty (whole))
    return TRUE;
  return is_grid (ranges, n_ranges, whole) ||
         cover_by_subtracting (ranges, n_ranges, whole, missing);
}
