/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Chooses the size of equal strips. All strips but the last have the same number of rows, so they
 * can run as iterations of one Loop. */

#include "even-strips.h"

/* Returns a strip size that gives `n_strips` strips. Among these sizes, chooses a size with the
 * largest power of two as a factor, so that most strides divide the size. */
static gint64
find_size (gint64 extent, gint64 n_strips)
{
  gint64 best = (extent + n_strips - 1) / n_strips;

  for (gint64 size = best; size < extent && (extent + size - 1) / size == n_strips; size++)
    if ((size & -size) > (best & -best))
      best = size;
  return best;
}

/* Returns the strip size, in rows of the result of the end node `end`. Returns 0 if that result
 * cannot be cut into `n_strips` strips of equal size. */
static gint64
get_size (const CleaveSegment *segment, CleaveSegmentEnd end)
{
  CleaveSegmentEnd first = cleave_segment_end (segment);
  gint64 whole = first.node->results[0].type.shape.dim[first.dim];
  gint64 rows = end.node->results[0].type.shape.dim[end.dim];
  gint64 size = find_size (whole, segment->n_strips);

  if (!segment->is_even || segment->n_columns > 1 || size * rows % whole != 0)
    return 0;
  size = size * rows / whole;
  return (rows + size - 1) / size == segment->n_strips ? size : 0;
}

gint64
cleave_segment_get_even_size (const CleaveSegment *segment, CleaveSegmentEnd end)
{
  for (guint i = 0; i < segment->ends->len; i++)
    if (get_size (segment, g_array_index (segment->ends, CleaveSegmentEnd, i)) == 0)
      return 0;
  return get_size (segment, end);
}
