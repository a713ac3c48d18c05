/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Applies dimension maps: from a range of a result to the range of an operand that the result
 * needs. */

#include "range.h"

/* Returns a / b, rounded down; C's division rounds towards 0. A divisor of 1 has a fast path:
 * without the fast path, mapping a range takes twice as long. */
gint64
cleave_floor_div (gint64 a, gint64 b)
{
  return b == 1 ? a : a / b - (a % b != 0 && (a < 0) != (b < 0));
}

CleaveSpan
cleave_dim_map_apply (const CleaveDimMap *map, const CleaveSpan *spans)
{
  CleaveSpan from;
  gint64 first, last;

  if (map->stride == 0)
    return (CleaveSpan){ map->offset, map->offset + map->window };
  from = spans[map->from];
  first = cleave_floor_div (from.begin * map->times + map->shift, map->block) * map->stride;
  last = cleave_floor_div ((from.end - 1) * map->times + map->shift, map->block) * map->stride;
  return map->stride > 0 ? (CleaveSpan){ first + map->offset, last + map->offset + map->window }
                         : (CleaveSpan){ last + map->offset, first + map->offset + map->window };
}

static CleaveSpan
clip (const CleaveSpan *span, gint64 extent)
{
  gint64 begin = CLAMP (span->begin, 0, extent);

  return (CleaveSpan){ begin, CLAMP (span->end, begin, extent) };
}

/* Maps a chunk of the result to the slice of an operand. Only the functions of this file apply
 * dimension maps. */
CleaveSlice
cleave_slice_map (const CleaveDimMap *map, const CleaveRange *chunk, const CleaveShape *operand)
{
  CleaveSlice slice = { .range.rank = operand->rank };

  for (guint d = 0; d < operand->rank; d++)
    {
      CleaveSpan span = cleave_dim_map_apply (&map[d], chunk->dim);
      CleaveSpan *clipped = &slice.range.dim[d];

      *clipped = clip (&span, operand->dim[d]);
      slice.clip_begin[d] = clipped->begin - span.begin;
      slice.clip_end[d] = span.end - clipped->end;
    }
  return slice;
}

void
cleave_ranges_map (const CleaveDimMap *map,
                   const CleaveRange *chunks,
                   guint n,
                   const CleaveShape *operand,
                   CleaveRange *ranges)
{
  for (guint i = 0; i < n; i++)
    ranges[i].rank = operand->rank;
  for (guint d = 0; d < operand->rank; d++)
    {
      const guint from = map[d].from;
      CleaveSpan span = { 0, 0 };

      for (guint i = 0; i < n; i++)
        {
          if (i == 0 || (map[d].stride != 0 &&
                         !cleave_span_equal (&chunks[i].dim[from], &chunks[i - 1].dim[from])))
            {
              span = cleave_dim_map_apply (&map[d], chunks[i].dim);
              span = clip (&span, operand->dim[d]);
            }
          ranges[i].dim[d] = span;
        }
    }
}

void
cleave_range_map (const CleaveDimMap *map,
                  const CleaveRange *chunk,
                  const CleaveShape *operand,
                  CleaveRange *range)
{
  cleave_ranges_map (map, chunk, 1, operand, range);
}
