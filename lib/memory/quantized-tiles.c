/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tiles of quantized groups: the part of each call that a tile needs, the scratch memory for its
 * values, and the choice of the extents of tiles (quantized-group.h). */

#include "quantized-group.h"

#include "../ir/align.h"

/* The search cuts a tile until its intermediate values take at most `limit` bytes. The limit is the
 * larger of two numbers: the bytes of the weights, and half of all bytes that the group reads and
 * writes. The limit is at least LEAST_BYTES, the size of an L1 cache, and at most MOST_BYTES, the
 * size of an L2 cache. Each tile rereads weights and halos. If the limit were always the bytes of
 * the weights, two networks of inverted bottlenecks would take 5 to 11 % longer. */
#define LEAST_BYTES (32 << 10)
#define MOST_BYTES (256 << 10)
/* Tiles may compute at most this many times the elements of the unsplit group. */
#define MAX_OVERHEAD 2.0
/* If the intermediate values of a tile take at most AGAIN_BYTES, the search halves the tile only if
 * the halves together compute at most MUCH_AGAIN times the elements of the tile. Example: if a
 * product of two dequantized matrices is halved, each half dequantizes one matrix completely. With
 * smaller tiles, four heads of 64 x 128 by 128 x 64 would take 71 us instead of 44 us. */
#define AGAIN_BYTES (96 << 10)
#define MUCH_AGAIN 1.25
/* If halving a dimension reduces the bytes of a tile to at most this fraction, the search does not
 * try the dimensions after it. With this rule, rows of 14 to 112 pixels stay whole. Without the
 * rule, images are cut into tiles of 7 x 7 pixels. */
#define MUCH_SMALLER 0.75
/* Constants of more bytes than this are packed, so tiles must not cut them. */
#define SMALL_BYTES 1024

static void
require_range (CleaveTilePart *part, const CleaveRange *range)
{
  part->range = part->is_needed ? cleave_range_hull (&part->range, range) : *range;
  part->is_needed = TRUE;
}

static void
need_operands (CleaveTilePart *parts, const CleaveBody *body, guint index)
{
  const CleaveBodyCall *call = cleave_body_at (body, index);
  const CleaveChunk *chunk = &parts[index].chunk;
  guint made;

  for (guint i = 0; i < call->n_operands; i++)
    if (chunk->has[i] && cleave_body_makes (body, call->from[i], &made))
      require_range (&parts[made], &chunk->slices[i].range);
}

CleaveTilePart *
cleave_tile_new (const CleaveBody *body, const CleaveRange *range)
{
  CleaveTilePart *parts = g_new0 (CleaveTilePart, body->calls->len);

  require_range (&parts[body->calls->len - 1], range);
  for (guint i = body->calls->len; i-- > 0;)
    {
      CleaveCall call = cleave_body_call (body, i);

      if (!parts[i].is_needed)
        continue;
      if (cleave_chunk_init (&parts[i].chunk, &call, &parts[i].range, NULL))
        need_operands (parts, body, i);
      else
        {
          parts[i].is_needed = FALSE;
          /* calls 0 to i - 1 have no chunk yet, so cleave_tile_free() must skip them */
          for (guint k = 0; k < i; k++)
            parts[k].is_needed = FALSE;
          cleave_tile_free (parts, body);
          return NULL;
        }
    }
  return parts;
}

void
cleave_tile_free (CleaveTilePart *parts, const CleaveBody *body)
{
  for (guint i = 0; parts != NULL && i < body->calls->len; i++)
    if (parts[i].is_needed)
      cleave_chunk_clear (&parts[i].chunk, cleave_body_at (body, i)->op);
  g_free (parts);
}

/* Returns whether an element-wise call may overwrite an operand: an intermediate value that no
 * other call reads. Sets `made` to the index of the call that computes the operand. */
static gboolean
find_overwritten (const CleaveTilePart *parts, const CleaveBody *body, guint index, guint *made)
{
  const CleaveBodyCall *call = cleave_body_at (body, index);

  for (guint i = 0; (call->op->flags & CLEAVE_OP_IN_PLACE) != 0 && i < call->n_operands; i++)
    if (parts[index].chunk.has[i] && cleave_body_makes (body, call->from[i], made) &&
        cleave_body_at (body, *made)->n_readers == 1 &&
        cleave_element_size (cleave_body_at (body, *made)->result.element) ==
            cleave_element_size (call->result.element) &&
        cleave_range_equal (&parts[*made].range, &parts[index].range))
      return TRUE;
  return FALSE;
}

static gint64
count_bytes (const CleaveTilePart *part, const CleaveBodyCall *call)
{
  const gint64 align = 64;
  gint64 n =
      cleave_range_n_elements (&part->range) * (gint64) cleave_element_size (call->result.element);

  return cleave_align_up (n, align);
}

gint64
cleave_tile_place (const CleaveTilePart *parts, const CleaveBody *body, gint64 *offsets)
{
  gint64 n_bytes = 0;

  for (guint i = 0; i + 1 < body->calls->len; i++)
    {
      guint made;

      offsets[i] = 0;
      if (!parts[i].is_needed)
        continue;
      if (find_overwritten (parts, body, i, &made))
        offsets[i] = offsets[made];
      else
        {
          offsets[i] = n_bytes;
          n_bytes += count_bytes (&parts[i], cleave_body_at (body, i));
        }
    }
  return n_bytes;
}

gboolean
cleave_tile_range (const CleaveShape *whole,
                   const CleaveShape *tile,
                   gint64 index,
                   CleaveRange *range)
{
  range->rank = whole->rank;
  for (guint d = whole->rank; d-- > 0;)
    {
      gint64 n = (whole->dim[d] + tile->dim[d] - 1) / tile->dim[d], at = index % n * tile->dim[d];

      index /= n;
      range->dim[d] = (CleaveSpan){ at, MIN (at + tile->dim[d], whole->dim[d]) };
    }
  return index == 0;
}

static gint64
count_tiles (const CleaveShape *whole, const CleaveShape *tile)
{
  gint64 n = 1;

  for (guint d = 0; d < whole->rank; d++)
    n *= (whole->dim[d] + tile->dim[d] - 1) / tile->dim[d];
  return n;
}

typedef struct
{
  gint64 n_bytes;
  double n_elements; /* number of computed elements, summed over all tiles */
} Measure;

static gboolean
cuts_weights (const CleaveTilePart *parts, const CleaveBody *body, const gint64 *weights)
{
  for (guint i = 0; i < body->calls->len; i++)
    {
      const CleaveBodyCall *call = cleave_body_at (body, i);

      for (guint o = 0; parts[i].is_needed && o < call->n_operands; o++)
        if (call->from[o] < body->n_outer && weights[call->from[o]] > SMALL_BYTES &&
            cleave_range_n_elements (&parts[i].chunk.slices[o].range) <
                cleave_shape_n_elements (&call->operands[o].shape))
          return TRUE;
    }
  return FALSE;
}

/* Measures a tile in the middle of the result, which has neighbors on all sides. Returns FALSE if
 * this tile cannot be computed separately or cuts a packed constant. */
static gboolean
measure (const CleaveBody *body, const gint64 *weights, const CleaveShape *tile, Measure *m)
{
  const CleaveShape *whole = &cleave_body_at (body, body->calls->len - 1)->result.shape;
  g_autofree gint64 *offsets = g_new (gint64, body->calls->len);
  CleaveTilePart *parts;
  CleaveRange range;
  gboolean fits;

  range.rank = whole->rank;
  for (guint d = 0; d < whole->rank; d++)
    {
      gint64 at = (whole->dim[d] - 1) / 2 / tile->dim[d] * tile->dim[d];

      range.dim[d] = (CleaveSpan){ at, MIN (at + tile->dim[d], whole->dim[d]) };
    }
  parts = cleave_tile_new (body, &range);
  if (parts == NULL)
    return FALSE;
  *m = (Measure){ .n_bytes = cleave_tile_place (parts, body, offsets) };
  for (guint i = 0; i + 1 < body->calls->len; i++)
    if (parts[i].is_needed)
      m->n_elements +=
          (double) cleave_range_n_elements (&parts[i].range) * (double) count_tiles (whole, tile);
  fits = !cuts_weights (parts, body, weights);
  cleave_tile_free (parts, body);
  return fits;
}

/* Halves one dimension of `tile` and updates `m`, its measure. Halves the first dimension whose cut
 * makes tiles much smaller (MUCH_SMALLER). If there is no such dimension, halves the dimension
 * whose cut makes tiles smallest. Returns FALSE if no dimension can be halved. */
static gboolean
cut (const CleaveBody *body,
     const gint64 *weights,
     const guint *dims,
     double max_elements,
     CleaveShape *tile,
     Measure *m)
{
  CleaveShape before = *tile;
  Measure best = *m, other;

  for (guint i = 0; i < before.rank && (double) best.n_bytes > MUCH_SMALLER * (double) m->n_bytes;
       i++)
    {
      CleaveShape half = before;

      if (before.dim[dims[i]] < 2)
        continue;
      half.dim[dims[i]] = (before.dim[dims[i]] + 1) / 2;
      if (!measure (body, weights, &half, &other) || other.n_elements > max_elements ||
          other.n_bytes >= best.n_bytes)
        continue;
      if (m->n_bytes <= AGAIN_BYTES && other.n_elements > MUCH_AGAIN * m->n_elements)
        break;
      best = other;
      *tile = half;
    }
  *m = best;
  return !cleave_shape_equal (&before, tile);
}

/* Returns the number of bytes of all values that the group reads and writes. */
static gint64
count_outer_bytes (const CleaveBody *body)
{
  gint64 n = cleave_tensor_type_n_bytes (&cleave_body_at (body, body->calls->len - 1)->result);

  for (guint i = 0; i < body->calls->len; i++)
    {
      const CleaveBodyCall *call = cleave_body_at (body, i);

      for (guint o = 0; o < call->n_operands; o++)
        if (call->from[o] < body->n_outer)
          n = cleave_saturated_add (n, cleave_tensor_type_n_bytes (&call->operands[o]));
    }
  return n;
}

gboolean
cleave_tile_choose (const CleaveBody *body,
                    const gint64 *weights,
                    const guint *dims,
                    CleaveShape *tile)
{
  gint64 n_weights = 0, limit;
  Measure m;
  double max_elements;

  for (guint i = 0; i < body->n_outer; i++)
    n_weights = cleave_saturated_add (n_weights, weights[i]);
  limit = CLAMP (MAX (n_weights, count_outer_bytes (body) / 2), LEAST_BYTES, MOST_BYTES);
  *tile = cleave_body_at (body, body->calls->len - 1)->result.shape;
  if (!measure (body, weights, tile, &m))
    return FALSE;
  max_elements = MAX_OVERHEAD * m.n_elements;
  while (m.n_bytes > limit && cut (body, weights, dims, max_elements, tile, &m))
    ;
  return m.n_bytes <= MOST_BYTES;
}
