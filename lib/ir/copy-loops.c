/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes the nest of loops of a copy (CleaveCopyLoops): adds, sorts, merges and moves loops. */

#include "copy.h"
#include "row-copy.h"

#include <string.h>

void
cleave_copy_loops_move (CleaveCopyLoops *loops, guint from, guint to)
{
  gint64 *fields[] = { loops->n, loops->to, loops->from };

  for (guint f = 0; f < G_N_ELEMENTS (fields); f++)
    {
      gint64 kept = fields[f][from];

      for (guint d = from; d < to; d++)
        fields[f][d] = fields[f][d + 1];
      for (guint d = from; d > to; d--)
        fields[f][d] = fields[f][d - 1];
      fields[f][to] = kept;
    }
}

/* Inserts the loop behind all loops with larger steps in `to`. So the copy writes memory from begin
 * to end, in whatever order the caller adds the loops. */
void
cleave_copy_loops_add (CleaveCopyLoops *loops, gint64 n, gint64 to_step, gint64 from_step)
{
  guint last = loops->rank, at = last;

  if (n == 1)
    return;
  g_assert (last < CLEAVE_MAX_LOOPS);
  loops->n[last] = n;
  loops->to[last] = to_step * loops->size;
  loops->from[last] = from_step * loops->size;
  loops->rank++;
  while (at > 0 && loops->to[at - 1] < loops->to[last])
    at--;
  cleave_copy_loops_move (loops, last, at);
}

CleaveCopyLoops
cleave_copy_loops_of_views (const CleaveView *to, const CleaveView *from)
{
  CleaveCopyLoops loops = { .size = (gint64) cleave_element_size (to->type.element) };

  for (guint d = 0; d < to->type.shape.rank; d++)
    cleave_copy_loops_add (&loops, to->type.shape.dim[d], to->stride[d], from->stride[d]);
  return loops;
}

static void
join_neighbors (CleaveCopyLoops *loops)
{
  guint rank = 0;

  for (guint d = 0; d < loops->rank; d++)
    {
      gint64 n = loops->n[d];

      if (rank > 0 && loops->to[rank - 1] == n * loops->to[d] &&
          loops->from[rank - 1] == n * loops->from[d])
        n *= loops->n[--rank];
      loops->n[rank] = n;
      loops->to[rank] = loops->to[d];
      loops->from[rank++] = loops->from[d];
    }
  loops->rank = rank;
}

static void
widen (CleaveCopyLoops *loops)
{
  for (; loops->rank > 0; loops->rank--)
    {
      guint inner = loops->rank - 1;
      gint64 n_bytes = loops->n[inner] * loops->size;

      if (loops->to[inner] != loops->size || loops->from[inner] != loops->size ||
          (n_bytes != 2 && n_bytes != 4 && n_bytes != 8))
        return;
      loops->size = n_bytes;
    }
}

void
cleave_copy_loops_join (CleaveCopyLoops *loops)
{
  join_neighbors (loops);
  widen (loops);
}

gboolean
cleave_row_copy_init (CleaveRowCopy *rows, const CleaveView *to, const CleaveView *from)
{
  CleaveCopyLoops loops = cleave_copy_loops_of_views (to, from);
  guint inner;

  *rows = (CleaveRowCopy){ 0 };
  join_neighbors (&loops);
  inner = MAX (loops.rank, 1) - 1;
  if (loops.rank == 0 || loops.rank > 2 || loops.to[inner] != loops.size ||
      loops.from[inner] != loops.size || loops.n[0] == 0 || loops.n[inner] == 0 ||
      (loops.rank == 2 && loops.n[inner] * loops.size <= 8) ||
      cleave_tensor_type_n_bytes (&to->type) >= CLEAVE_STREAM_BYTES)
    return FALSE;
  *rows = (CleaveRowCopy){ to->data,
                           from->data,
                           loops.to[0],
                           loops.from[0],
                           loops.n[inner] * loops.size,
                           loops.rank == 2 ? loops.n[0] : 1 };
  return TRUE;
}
