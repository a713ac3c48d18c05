/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Chooses how to cut a node that is computed in float32 but whose values are 16-bit floats or
 * integers. upcast-pieces.c converts and runs the node piece by piece. The float32 values of each
 * piece should fit into the cache. Example: with 6 MiB of float32 values, the outermost dimension
 * is halved three times, so that a piece has 0.75 MiB. */

#include "loops.h"

#include "../../ir/chunk.h"

/* Limit on the float32 values of a piece, in bytes: about the size of an L2 cache. With a quarter
 * of this limit, an InstanceNormalization of 96 channels takes 2.4 times as long. */
#define CLEAVE_PIECE_BYTES (1 << 20)

static inline gboolean
cleave_is_short_float (CleaveElement element)
{
  return element == CLEAVE_FLOAT16 || element == CLEAVE_BFLOAT16;
}

/* Returns whether operands of type `element` are converted to float32. 16-bit floats are converted.
 * Integers are converted if the result has the same integer type; otherwise they are indices. */
static inline gboolean
cleave_is_upcast (const CleaveCall *call, CleaveElement element)
{
  return cleave_is_short_float (element) ||
         (element == call->results[0].element &&
          (element == CLEAVE_INT8 || element == CLEAVE_UINT8 || element == CLEAVE_INT32));
}

/* Returns the range of a piece in the middle of the result, where the halo is largest. */
static inline CleaveRange
cleave_pieces_middle (const CleaveShape *y, const gint64 *length)
{
  CleaveRange range = { .rank = y->rank };

  for (guint d = 0; d < y->rank; d++)
    {
      gint64 begin = y->dim[d] / 2 / length[d] * length[d];

      range.dim[d] = (CleaveSpan){ begin, MIN (begin + length[d], y->dim[d]) };
    }
  return range;
}

static inline gint64
cleave_pieces_count_floats (const CleaveCall *call, const CleaveShape *shape, CleaveElement element)
{
  return cleave_is_upcast (call, element) ? cleave_shape_n_elements (shape) : 0;
}

/* Returns the bytes of all float32 values of a piece whose result has the extents `length`.
 * `packed`: index of an operand that is left out, since the kernel packs it; 0: none. Returns -1 if
 * no piece has these extents. */
static inline gint64
cleave_pieces_count_bytes (const CleaveCall *call, guint packed, const gint64 *length)
{
  CleaveRange range = cleave_pieces_middle (&call->results[0].shape, length);
  CleaveChunk chunk;
  gint64 n = 0;

  if (!cleave_chunk_init (&chunk, call, &range, NULL))
    return -1;
  for (guint i = 0; i < call->n_operands; i++)
    if (chunk.has[i] && (i != packed || packed == 0))
      {
        CleaveShape shape = cleave_range_shape (&chunk.slices[i].range);

        n += cleave_pieces_count_floats (call, &shape, call->operands[i].element);
      }
  for (guint r = 0; r < call->n_results; r++)
    n += cleave_pieces_count_floats (call, &chunk.results[r].shape, call->results[r].element);
  cleave_chunk_clear (&chunk, call->op);
  return n * (gint64) sizeof (float);
}

/* Chooses the extents of pieces. Halves the outermost dimension until a piece fits into
 * CLEAVE_PIECE_BYTES. If halving a dimension saves less than a quarter of the piece's float32
 * bytes, goes on with the next dimension. */
static inline void
cleave_pieces_find_lengths (const CleaveKernelInstance *instance, guint packed, gint64 *length)
{
  const CleaveView *y = &instance->results[0];
  guint order[CLEAVE_MAX_RANK], n = cleave_loops_sort (y, order);
  gint64 bytes;

  for (guint d = 0; d < y->type.shape.rank; d++)
    length[d] = y->type.shape.dim[d];
  bytes = cleave_pieces_count_bytes (&instance->call, packed, length);
  for (guint i = 0; i < n; i++)
    while (bytes > CLEAVE_PIECE_BYTES && length[order[i]] > 1)
      {
        gint64 before = length[order[i]], now;

        length[order[i]] = (before + 1) / 2;
        now = cleave_pieces_count_bytes (&instance->call, packed, length);
        if (now < 0 || now > bytes / 4 * 3)
          {
            length[order[i]] = before;
            break;
          }
        bytes = now;
      }
}

static inline gboolean
cleave_pieces_next (const CleaveShape *y, const gint64 *length, CleaveRange *range)
{
  for (guint d = y->rank; d-- > 0;)
    {
      gboolean more = range->dim[d].end < y->dim[d];
      gint64 begin = more ? range->dim[d].end : 0;

      range->dim[d] = (CleaveSpan){ begin, MIN (begin + length[d], y->dim[d]) };
      if (more)
        return TRUE;
    }
  return FALSE;
}
