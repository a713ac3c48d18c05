/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Copies views at the speed of memory. A copy is a nest of loops (copy.h). The two innermost loops
 * decide how bytes are moved: as rows that are contiguous in `to` and in `from`, as a
 * transposition, or element by element. */

#include "copy.h"

#include <string.h>

/* An outer loop becomes the second innermost loop if it has at least this many times the iterations
 * of the present second innermost loop. */
#define MUCH_LONGER 4

/* Returns the index of the loop that forms a transposition together with the innermost loop. If
 * there is no such loop, returns the index of the innermost loop. */
static guint
find_transposed (const CleaveCopyLoops *loops)
{
  guint inner = loops->rank - 1;

  for (guint d = 0; d < inner; d++)
    if (cleave_copy_can_transpose (loops, d))
      return d;
  return inner;
}

/* Let L be the longest loop outside of the innermost loop. If L has at least MUCH_LONGER times the
 * iterations of the second innermost loop, moves L to the place of the second innermost loop. One
 * call runs all iterations of the two innermost loops, so long loops there save calls. */
static void
lengthen_outer (CleaveCopyLoops *loops)
{
  guint outer = loops->rank - 2, longest = outer;

  for (guint d = 0; d < outer; d++)
    if (loops->n[d] > loops->n[longest])
      longest = d;
  if (loops->n[longest] >= MUCH_LONGER * loops->n[outer])
    cleave_copy_loops_move (loops, longest, outer);
}

static CleaveCopyInner
choose (CleaveCopyLoops *loops)
{
  guint inner = loops->rank - 1, transposed = find_transposed (loops);

  if (loops->to[inner] != loops->size || loops->from[inner] != loops->size)
    {
      if (transposed != inner)
        {
          cleave_copy_loops_move (loops, transposed, inner - 1);
          return cleave_copy_transposed;
        }
      return cleave_copy_lines;
    }
  if (loops->rank > 2 && loops->n[inner] * loops->size < 64)
    lengthen_outer (loops);
  return cleave_copy_rows;
}

/* Runs all loops except the two innermost, which `copy` runs. */
static void
copy_nest (const CleaveCopyLoops *loops, CleaveCopyInner copy, char *t, const char *f)
{
  gint64 index[CLEAVE_MAX_LOOPS] = { 0 };
  guint rest = loops->rank < 2 ? 0 : loops->rank - 2, d;

  do
    {
      copy (loops, t, f, loops->rank < 2 ? 1 : loops->n[rest]);
      for (d = rest; d > 0; d--)
        {
          t += loops->to[d - 1];
          f += loops->from[d - 1];
          if (++index[d - 1] < loops->n[d - 1])
            break;
          t -= loops->n[d - 1] * loops->to[d - 1];
          f -= loops->n[d - 1] * loops->from[d - 1];
          index[d - 1] = 0;
        }
    }
  while (d > 0);
}

void
cleave_copy_loops_run (CleaveCopyLoops *loops, gpointer to, gconstpointer from)
{
  CleaveCopyInner copy;

  for (guint d = 0; d < loops->rank; d++)
    if (loops->n[d] == 0)
      return;
  cleave_copy_loops_join (loops);
  if (loops->rank == 0)
    {
      memcpy (to, from, (gsize) loops->size);
      return;
    }
  copy = choose (loops);
  copy_nest (loops, copy, to, from);
  if (loops->streams)
    cleave_stream_end ();
}

static void
copy_view (const CleaveView *to, const CleaveView *from, gboolean streams)
{
  CleaveCopyLoops loops = cleave_copy_loops_of_views (to, from);

  loops.streams = streams;
  cleave_copy_loops_run (&loops, to->data, from->data);
}

void
cleave_view_copy (const CleaveView *to, const CleaveView *from)
{
  copy_view (to, from, cleave_tensor_type_n_bytes (&to->type) >= CLEAVE_STREAM_BYTES);
}

void
cleave_view_stream (const CleaveView *to, const CleaveView *from)
{
  copy_view (to, from, TRUE);
}

/* The functions below copy between two shapes. */

/* The dimensions of one of the two views of a copy between two shapes: of the destination `to` or
 * of the source `from`. Two adjacent dimensions are merged into one if one stride steps through the
 * elements of both. take() divides the innermost dimension. */
typedef struct
{
  guint rank;
  gint64 dim[CLEAVE_MAX_RANK], stride[CLEAVE_MAX_RANK];
} Side;

static Side
make_side (const CleaveView *view)
{
  Side side = { 0 };

  for (guint d = 0; d < view->type.shape.rank; d++)
    {
      gint64 n = view->type.shape.dim[d];

      if (n == 1)
        continue;
      if (side.rank > 0 && side.stride[side.rank - 1] == n * view->stride[d])
        n *= side.dim[--side.rank];
      side.dim[side.rank] = n;
      side.stride[side.rank++] = view->stride[d];
    }
  return side;
}

/* Divides the extent of the innermost dimension by n, for a loop of n iterations that the caller
 * has added. The stride grows by the factor n. Removes the dimension if its extent becomes 1. */
static void
take (Side *side, gint64 n)
{
  guint inner = side->rank - 1;

  side->dim[inner] /= n;
  side->stride[inner] *= n;
  if (side->dim[inner] == 1)
    side->rank--;
}

static gint64
common_divisor (gint64 a, gint64 b)
{
  while (b != 0)
    {
      gint64 rest = a % b;

      a = b;
      b = rest;
    }
  return a;
}

/* Adds the loops that the views `to` and `from` have in common to `loops`, innermost first. The
 * greatest common divisor of the two innermost extents is the number of iterations of one loop;
 * both extents are divided by this number. Stops when the divisor is 1. Example: [6, 4] and [3, 8]
 * have the loops 4, 2 and 3 in common: [6, 4] → [6] → [3] → [], and [3, 8] → [3, 2] → [3] → []. */
static void
take_loops (CleaveCopyLoops *loops, Side *to, Side *from)
{
  while (to->rank > 0 && from->rank > 0)
    {
      guint t = to->rank - 1, f = from->rank - 1;
      gint64 n = common_divisor (to->dim[t], from->dim[f]);

      if (n == 1)
        return;
      cleave_copy_loops_add (loops, n, to->stride[t], from->stride[f]);
      take (to, n);
      take (from, n);
    }
}

/* Advances `index`, which has one index for each dimension of `side`, to the next element in
 * row-major order. `at` is the offset of the element at `index` before the call. Returns the offset
 * of the next element. */
static gint64
step_side (const Side *side, gint64 *index, gint64 at)
{
  for (guint d = side->rank; d-- > 0;)
    {
      at += side->stride[d];
      if (++index[d] < side->dim[d])
        break;
      at -= side->dim[d] * side->stride[d];
      index[d] = 0;
    }
  return at;
}

/* Copies the elements of two views after take_loops() has moved their common loops to `loops`.
 * Visits the elements of the dimensions that remain in `to` and `from`, such as [3, 5] and [5, 3],
 * one after the other. Runs the nest `loops` for each of these elements. */
static void
copy_elements (
    const CleaveCopyLoops *loops, const Side *to, const Side *from, char *t, const char *f)
{
  gint64 to_index[CLEAVE_MAX_RANK] = { 0 }, from_index[CLEAVE_MAX_RANK] = { 0 };
  gint64 n = 1, size = loops->size, to_at = 0, from_at = 0;

  for (guint d = 0; d < to->rank; d++)
    n *= to->dim[d];
  for (gint64 i = 0; i < n; i++)
    {
      CleaveCopyLoops inner = *loops;

      cleave_copy_loops_run (&inner, t + to_at * size, f + from_at * size);
      to_at = step_side (to, to_index, to_at);
      from_at = step_side (from, from_index, from_at);
    }
}

void
cleave_view_copy_reshaped (const CleaveView *to, const CleaveView *from)
{
  CleaveCopyLoops loops = { .size = (gint64) cleave_element_size (to->type.element) };
  Side to_side = make_side (to), from_side = make_side (from);

  if (cleave_shape_n_elements (&to->type.shape) == 0)
    return;
  take_loops (&loops, &to_side, &from_side);
  if (to_side.rank > 0)
    {
      copy_elements (&loops, &to_side, &from_side, to->data, from->data);
      return;
    }
  loops.streams = cleave_tensor_type_n_bytes (&to->type) >= CLEAVE_STREAM_BYTES;
  cleave_copy_loops_run (&loops, to->data, from->data);
}

/* The functions below copy several parts of one value, such as the operands of a join, together. */

/* The copy of one part: row i is `n_bytes` bytes, copied from `from + i * from_step` to `to + i *
 * to_step`. All parts that are copied together have the same number of rows. */
typedef struct
{
  char *to;
  const char *from;
  gint64 n_bytes, to_step, from_step;
} Rows;

static gboolean
find_rows (const CleaveView *to, const CleaveView *from, Rows *rows, gint64 *n_rows)
{
  CleaveCopyLoops loops = cleave_copy_loops_of_views (to, from);

  cleave_copy_loops_join (&loops);
  if (loops.rank != 2 || loops.to[1] != loops.size || loops.from[1] != loops.size)
    return FALSE;
  *n_rows = loops.n[0];
  *rows = (Rows){ to->data, from->data, loops.n[1] * loops.size, loops.to[0], loops.from[0] };
  return cleave_can_stream (rows->to, rows->to_step, rows->n_bytes);
}

/* Copies row i of each part before row i + 1 of any part: the rows i of all parts are neighbors in
 * memory. */
static void
stream_parts (const Rows *rows, guint n, gint64 n_rows)
{
  for (gint64 i = 0; i < n_rows; i++)
    for (guint k = 0; k < n; k++)
      cleave_stream_row (rows[k].to + i * rows[k].to_step, rows[k].from + i * rows[k].from_step,
                         rows[k].n_bytes, CLEAVE_STREAM_AHEAD);
  cleave_stream_end ();
}

/* At most this many parts are copied together, since an array on the stack has an entry for each
 * part. Further parts are copied in further calls. */
#define MAX_PARTS 64

static gboolean
stream_row_by_row (const CleaveView *const *to, const CleaveView *const *from, guint n)
{
  Rows rows[MAX_PARTS];
  gint64 n_rows = 0, first = 0;

  for (guint k = 0; k < n; k++)
    {
      if (!find_rows (to[k], from[k], &rows[k], &n_rows) || (k > 0 && n_rows != first))
        return FALSE;
      first = n_rows;
    }
  stream_parts (rows, n, n_rows);
  return TRUE;
}

void
cleave_view_stream_parts (const CleaveView *const *to, const CleaveView *const *from, guint n)
{
  for (guint begin = 0; begin < n; begin += MAX_PARTS)
    {
      guint n_parts = MIN (n - begin, MAX_PARTS);

      if (n_parts == 1 || !stream_row_by_row (to + begin, from + begin, n_parts))
        for (guint k = begin; k < begin + n_parts; k++)
          cleave_view_stream (to[k], from[k]);
    }
}
