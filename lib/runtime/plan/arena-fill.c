/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Places buffers in the order in which they come into use, in gaps between the bytes that are in
 * use meanwhile. */

#include "arena-fill.h"

#include "arena-edges.h"

typedef struct
{
  const CleaveArenaSpan *placed, *spans;
  guint n_placed;
  guint next;      /* index in `placed` of the first span that is not in use yet */
  GArray *in_use;  /* guint: indices in `placed` of spans that are in use, or were */
  GArray *filled;  /* CleaveArenaEdge: begins and ends of the buffers placed so far that are in use;
                    * `buffer` is the index in `spans`. Sorted by begin */
  GArray *blocks;  /* CleaveArenaEdge: begins and ends of the bytes that the current buffer must not
                    * use, sorted by begin */
  GArray *scratch; /* memory for sorting `blocks` */
  gint64 size;     /* bytes of the arena so far */
} Filling;

static void
add_block (Filling *f, const CleaveArenaSpan *placed)
{
  const CleaveArenaEdge block = { placed->begin, placed->begin + placed->n_bytes, 0 };

  g_array_append_val (f->blocks, block);
}

/* Adds the spans of `placed` that are in use during the life of `span`. */
static void
add_placed (Filling *f, const CleaveArenaSpan *span)
{
  guint n = 0;

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
}

/* Adds the buffers placed so far that are still in use. The other buffers that are placed so far
 * will not be in use again. */
static void
add_filled (Filling *f, const CleaveArenaSpan *span)
{
  guint n = 0;

  for (guint i = 0; i < f->filled->len; i++)
    {
      const CleaveArenaEdge block = g_array_index (f->filled, CleaveArenaEdge, i);

      if (f->spans[block.buffer].gone > span->first)
        g_array_index (f->filled, CleaveArenaEdge, n++) = block;
    }
  g_array_set_size (f->filled, n);
  g_array_append_vals (f->blocks, f->filled->data, n);
}

/* Returns the begin of the smallest gap of at least `n_bytes` bytes. Enlarges the arena only if
 * there is no such gap. */
static gint64
find_gap (Filling *f, gint64 n_bytes)
{
  gint64 top = 0, best = -1, smallest = G_MAXINT64;

  for (guint i = 0; i <= f->blocks->len; i++)
    {
      const CleaveArenaEdge *block =
          i < f->blocks->len ? &g_array_index (f->blocks, CleaveArenaEdge, i) : NULL;
      const gint64 gap = (block == NULL ? f->size : block->at) - top;

      if (gap >= n_bytes && gap < smallest)
        {
          best = top;
          smallest = gap;
        }
      if (block != NULL)
        top = MAX (top, block->value);
    }
  if (best < 0)
    best = top;
  f->size = MAX (f->size, best + n_bytes);
  return best;
}

static void
note_filled (Filling *f, guint index, gint64 offset)
{
  const CleaveArenaEdge block = { offset, offset + f->spans[index].n_bytes, index };
  guint low = 0, high = f->filled->len;

  while (low < high)
    {
      const guint middle = low + (high - low) / 2;

      if (g_array_index (f->filled, CleaveArenaEdge, middle).at > offset)
        high = middle;
      else
        low = middle + 1;
    }
  g_array_insert_val (f->filled, low, block);
}

static gint64
fill (Filling *f, guint index)
{
  const CleaveArenaSpan *span = &f->spans[index];
  gint64 offset;

  g_array_set_size (f->blocks, 0);
  add_placed (f, span);
  add_filled (f, span);
  g_array_set_size (f->scratch, f->blocks->len);
  cleave_arena_sort_edges ((CleaveArenaEdge *) (gpointer) f->blocks->data,
                           (CleaveArenaEdge *) (gpointer) f->scratch->data, f->blocks->len);
  offset = find_gap (f, span->n_bytes);
  note_filled (f, index, offset);
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
  g_autoptr (GArray) filled = g_array_new (FALSE, FALSE, sizeof (CleaveArenaEdge));
  g_autoptr (GArray) blocks = g_array_sized_new (FALSE, FALSE, sizeof (CleaveArenaEdge), 1);
  g_autoptr (GArray) scratch = g_array_sized_new (FALSE, FALSE, sizeof (CleaveArenaEdge), 1);
  Filling f = { .placed = placed,
                .spans = spans,
                .n_placed = n_placed,
                .in_use = in_use,
                .filled = filled,
                .blocks = blocks,
                .scratch = scratch };

  for (guint i = 0; i < n_placed; i++)
    f.size = MAX (f.size, placed[i].begin + placed[i].n_bytes);
  for (guint i = 0; i < n; i++)
    offsets[i] = spans[i].n_bytes == 0 ? 0 : fill (&f, i);
  return f.size;
}
