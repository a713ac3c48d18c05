/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Enlarges a range to a legal chunk. First moves the ends of the range outwards, so that the range
 * cuts no block (elements that a legal chunk contains together, such as the channels of one group).
 * If the range is still no legal chunk, also makes dimensions whole: the dimensions that give the
 * smallest legal chunk. */

#include "widen.h"

#include "../../lib/ir/chunk.h"

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

  cleave_chunk_align (call, &aligned);
  if (cleave_chunk_is_possible (call, &aligned))
    {
      *range = aligned;
      return;
    }
  cut = find_cut_dims (&aligned, &whole);
  for (guint dims = 0; dims < cut; dims++)
    {
      CleaveRange wider = make_whole (&aligned, &whole, dims);

      if ((dims & ~cut) == 0 && cleave_range_n_elements (&wider) < least &&
          cleave_chunk_is_possible (call, &wider))
        {
          least = cleave_range_n_elements (&wider);
          *range = wider;
        }
    }
}
