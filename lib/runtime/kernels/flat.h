/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Copies floats between a view and a contiguous buffer in row-major order. layer-norm.c calls these
 * functions if the elements of a row, or the scale or bias, are strided. */

#include "../../ir/copy.h"
#include "../../ops/lines.h"

static inline gboolean
cleave_flat_is_dense (const CleaveLines *lines)
{
  return lines->rank == 0 && (lines->step[0] == 1 || lines->length == 1);
}

/* Returns the loops that copy `n` floats from the lines of a view to a contiguous buffer, or back
 * if `writes`. */
static inline CleaveCopyLoops
cleave_flat_loops (const CleaveLines *lines, gint64 n, gboolean writes)
{
  CleaveCopyLoops loops = { .size = sizeof (float) };

  for (guint d = 0; d <= lines->rank; d++)
    {
      gint64 dim = d == lines->rank ? lines->length : lines->dim[d];
      gint64 step = d == lines->rank ? lines->step[0] : lines->stride[0][d];

      n /= dim;
      cleave_copy_loops_add (&loops, dim, writes ? step : n, writes ? n : step);
    }
  return loops;
}

/* Returns the address of the `n` elements of the lines if they are contiguous. Otherwise copies
 * them to `to` and returns `to`. */
static inline const float *
cleave_flat_read (const CleaveLines *lines, gint64 n, const float *from, float *to)
{
  CleaveCopyLoops loops;

  if (cleave_flat_is_dense (lines))
    return from;
  loops = cleave_flat_loops (lines, n, FALSE);
  cleave_copy_loops_run (&loops, to, from);
  return to;
}

static inline void
cleave_flat_write (const CleaveLines *lines, gint64 n, const float *from, float *to)
{
  CleaveCopyLoops loops = cleave_flat_loops (lines, n, TRUE);

  cleave_copy_loops_run (&loops, to, from);
}
