/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Places buffers in the order in which they come into use, in gaps between the bytes that are in
 * use meanwhile. */

#include "arena-fill.h"

#include "arena-edges.h"

/* The bytes [begin, end) of a buffer that this file has placed, in use to position `gone` - 1. */
typedef struct
{
  gint64 begin, end;
  guint gone;
} Filled;

typedef struct
{
  const CleaveArenaSpan *placed;
  guint n_placed;
  guint next;      /* index in `placed` of the first span that is not in use yet */
  GArray *in_use;  /* guint: indices in `placed` of spans that are in use, or were */
  GArray *filled;  /* Filled: the buffers that are in use, or were; sorted by begin */
  GArray *blocks;  /* CleaveArenaEdge: begins and ends of the spans of `placed` that are in use
                    * during the life of the current buffer, sorted by begin */
  GArray *scratch; /* memory for sorting `blocks` */
  gint64 size;     /* bytes of the arena so far */
} Filling;

static void
add_block (Filling *f, const CleaveArenaSpan *placed)
{
  const CleaveArenaEdge block = { placed->begin, placed->begin + placed->n_bytes, 0 };

  g_array_append_val (f->blocks, block);
}

/* Sets `blocks` to the spans of `placed` that are in use during the life of `span`. */
static void
find_blocks (Filling *f, const CleaveArenaSpan *span)
{
  guint n = 0;

  g_array_set_size (f->blocks, 0);
  for (; f->next < f->n_placed && f->placed[f->next].first <= span->first; f->next++)
    g_array_append_val (f->in_use, f->next);
  for (guint i = 0; i < f->in_use->len; i++)
    {
      const guint index = g_array_index (f->in_use, guint, i);

      if (f->placed[index].gone <= span->first)
        continue;
      g_array_index (f->in_use, guint, n++) = index;
      add_block (f, &f->placed[index]);
    }
  g_array_set_size (f->in_use, n);
  for (guint i = f->next; i < f->n_placed && f->placed[i].first < span->gone; i++)
    add_block (f, &f->placed[i]);
  g_array_set_size (f->scratch, f->blocks->len);
  cleave_arena_sort_edges ((CleaveArenaEdge *) (gpointer) f->blocks->data,
                           (CleaveArenaEdge *) (gpointer) f->scratch->data, f->blocks->len);
}

/* The smallest gap so far of at least `n_bytes` bytes. The bytes visited so far end at `top`. */
typedef struct
{
  gint64 n_bytes, top;
  gint64 begin, size; /* of the smallest gap; `begin` -1: none */
} Gap;

/* Visits the next bytes in use, [begin, end), in the order of their begins. */
static void
pass (Gap *gap, gint64 begin, gint64 end)
{
  const gint64 size = begin - gap->top;

  if (size >= gap->n_bytes && size < gap->size)
    {
      gap->begin = gap->top;
      gap->size = size;
    }
  gap->top = MAX (gap->top, end);
}

/* Returns the begin of the smallest gap that holds `span`. Enlarges the arena only if there is no
 * such gap. Removes the buffers from `filled` that are not in use any more. */
static gint64
find_gap (Filling *f, const CleaveArenaSpan *span)
{
  Gap gap = { .n_bytes = span->n_bytes, .begin = -1, .size = G_MAXINT64 };
  const CleaveArenaEdge *block = (const CleaveArenaEdge *) (gpointer) f->blocks->data;
  const CleaveArenaEdge *end = block + f->blocks->len;
  gint64 top;
  guint n = 0;

  for (guint i = 0; i < f->filled->len; i++)
    {
      const Filled filled = g_array_index (f->filled, Filled, i);

      if (filled.gone <= span->first)
        continue;
      for (; block < end && block->at <= filled.begin; block++)
        pass (&gap, block->at, block->value);
      pass (&gap, filled.begin, filled.end);
      g_array_index (f->filled, Filled, n++) = filled;
    }
  g_array_set_size (f->filled, n);
  for (; block < end; block++)
    pass (&gap, block->at, block->value);
  top = gap.top;
  pass (&gap, f->size, f->size);
  return gap.begin >= 0 ? gap.begin : top;
}

static void
note_filled (Filling *f, const CleaveArenaSpan *span, gint64 offset)
{
  const Filled filled = { offset, offset + span->n_bytes, span->gone };
  guint low = 0, high = f->filled->len;

  while (low < high)
    {
      const guint middle = low + (high - low) / 2;

      if (g_array_index (f->filled, Filled, middle).begin > offset)
        high = middle;
      else
        low = middle + 1;
    }
  g_array_insert_val (f->filled, low, filled);
}

static gint64
fill (Filling *f, const CleaveArenaSpan *span)
{
  gint64 offset;

  find_blocks (f, span);
  offset = find_gap (f, span);
  f->size = MAX (f->size, offset + span->n_bytes);
  note_filled (f, span, offset);
  return offset;
}

gint64
cleave_arena_fill (const CleaveArenaSpan *placed,
                   guint n_placed,
                   const CleaveArenaSpan *spans,
                   guint n,
                   gint64 *offsets)
{
  g_autoptr (GArray) in_use = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GArray) filled = g_array_new (FALSE, FALSE, sizeof (Filled));
  g_autoptr (GArray) blocks = g_array_sized_new (FALSE, FALSE, sizeof (CleaveArenaEdge), 1);
  g_autoptr (GArray) scratch = g_array_sized_new (FALSE, FALSE, sizeof (CleaveArenaEdge), 1);
  Filling f = { .placed = placed,
                .n_placed = n_placed,
                .in_use = in_use,
                .filled = filled,
                .blocks = blocks,
                .scratch = scratch };

  for (guint i = 0; i < n_placed; i++)
    f.size = MAX (f.size, placed[i].begin + placed[i].n_bytes);
  for (guint i = 0; i < n; i++)
    offsets[i] = spans[i].n_bytes == 0 ? 0 : fill (&f, &spans[i]);
  return f.size;
}
