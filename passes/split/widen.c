/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Enlarges a range to a legal chunk. First moves the ends of the range outwards, so that the range
 * cuts no block (elements that a legal chunk contains together, such as the channels of one group).
 * If the range is still no legal chunk, also makes dimensions whole: the dimensions that give the
 * smallest legal chunk. */

#include "widen.h"

#include "../../lib/ir/chunk.h"

static gboolean
can_be (const CleaveCall *call, const CleaveRange *range)
{
  CleaveChunk chunk;

  if (!cleave_chunk_init (&chunk, call, range, NULL))
    return FALSE;
  cleave_chunk_clear (&chunk, call->op);
  return TRUE;
}

/* Moves both ends of a span outwards, so that the span cuts no block of `map`, the map of an
 * operand dimension. */
static void
align_span (const CleaveDimMap *map, CleaveSpan *span, gint64 extent)
{
  gint64 begin = cleave_floor_div (span->begin + map->shift, map->block) * map->block - map->shift;
  gint64 end =
      (cleave_floor_div (span->end - 1 + map->shift, map->block) + 1) * map->block - map->shift;

  span->begin = MAX (begin, 0);
  span->end = MIN (end, extent);
}

static void
align (const CleaveCall *call, CleaveRange *range)
{
  for (guint i = 0; i < call->n_operands; i++)
    {
      CleaveDimMap map[CLEAVE_MAX_RANK];

      if (!cleave_call_has (call, i))
        continue;
      call->op->maps (call, i, map);
      for (guint d = 0; d < call->operands[i].shape.rank; d++)
        if (map[d].stride != 0 && map[d].block > 1 && map[d].times == 1)
          align_span (&map[d], &range->dim[map[d].from], call->results[0].shape.dim[map[d].from]);
    }
}

/* Returns the range with the dimensions in the bit mask `dims` made whole. */
static CleaveRange
make_whole (const CleaveRange *range, const CleaveRange *whole, guint dims)
{
  CleaveRange wider = *range;

  for (guint d = 0; d < range->rank; d++)
    if ((dims >> d & 1) != 0)
      wider.dim[d] = whole->dim[d];
  return wider;
}

/* Returns a bit mask of the dimensions that the range cuts. */
static guint
find_cut_dims (const CleaveRange *range, const CleaveRange *whole)
{
  guint dims = 0;

  for (guint d = 0; d < range->rank; d++)
    if (!cleave_span_equal (&range->dim[d], &whole->dim[d]))
      dims |= 1u << d;
  return dims;
}

void
cleave_chunk_widen (const CleaveCall *call, CleaveRange *range)
{
  CleaveRange whole = cleave_range_whole (&call->results[0].shape), aligned = *range;
  gint64 least = cleave_range_n_elements (&whole);
  guint cut;

  if (can_be (call, range))
    return;
  align (call, &aligned);
  cut = find_cut_dims (&aligned, &whole);
  for (guint dims = 0; dims < cut; dims++)
    {
      CleaveRange wider = make_whole (&aligned, &whole, dims);

      if ((dims & ~cut) == 0 && cleave_range_n_elements (&wider) < least && can_be (call, &wider))
        {
          least = cleave_range_n_elements (&wider);
          *range = wider;
        }
    }
}
