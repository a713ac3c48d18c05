/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Cuts the result of an end node into the ranges of strips and tiles, and chooses the size of equal
 * strips. */

#include "end-ranges.h"

#include "../../lib/ir/chunk.h"

/* Returns a strip size that gives `n_strips` strips and is a multiple of `block`. Among these
 * sizes, chooses a size with the largest power of two as a factor, so that most strides divide the
 * size. */
static gint64
find_size (gint64 extent, gint64 n_strips, gint64 block)
{
  gint64 best = (extent + n_strips - 1) / n_strips;

  best = (best + block - 1) / block * block;
  for (gint64 size = best; size < extent && (extent + size - 1) / size == n_strips; size += block)
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
  gint64 size = find_size (whole, segment->n_strips, cleave_node_get_block (first.node, first.dim));

  if (!segment->is_even || segment->n_columns > 1 || size * rows % whole != 0)
    return 0;
  size = size * rows / whole;
  return (rows + size - 1) / size == segment->n_strips &&
                 size % cleave_node_get_block (end.node, end.dim) == 0
             ? size
             : 0;
}

/* Returns the size of equal strips: the rows of the result of `end` in each strip but the last.
 * Returns 0 if the segment does not ask for equal strips, or if an end node cannot be cut into
 * `n_strips` equal strips. */
static gint64
get_even_size (const CleaveSegment *segment, CleaveSegmentEnd end)
{
  for (guint i = 0; i < segment->ends->len; i++)
    if (get_size (segment, g_array_index (segment->ends, CleaveSegmentEnd, i)) == 0)
      return 0;
  return get_size (segment, end);
}

GArray *
cleave_segment_list_ranges (const CleaveSegment *segment, CleaveSegmentEnd end)
{
  const gboolean in_bands = segment->in_bands;
  const guint n = segment->n_columns > 1 ? 2 : 1;
  const guint outer = in_bands ? end.column_dim : end.dim;
  const guint inner = in_bands ? end.dim : end.column_dim;
  g_autofree char *dims =
      n == 2 ? g_strdup_printf ("%u,%u", outer, inner) : g_strdup_printf ("%u", end.dim);
  const gint64 counts[] = { in_bands ? segment->n_columns : segment->n_strips,
                            in_bands ? segment->n_strips : segment->n_columns };
  const gint64 blocks[] = { cleave_node_get_block (end.node, outer),
                            n == 2 ? cleave_node_get_block (end.node, inner) : 1 };
  const gint64 size = get_even_size (segment, end);
  g_autoptr (CleaveTiling) tiling = size > 0 ? cleave_tiling_by_chunk_size (dims, &size, 1)
                                             : cleave_tiling_by_num_chunks (dims, counts, n);

  cleave_tiling_set_alignments (tiling, blocks, n);
  return cleave_tiling_get_ranges (tiling, &end.node->results[0].type.shape, NULL, NULL);
}
