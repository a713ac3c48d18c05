/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the spans of the chunks of a cut, and checks that the chunks are legal. */

#include "cut-chunks.h"

/* Returns how many of the `n_larger` larger chunks are at the begin of the dimension. The other
 * larger chunks are at its end. */
static gint64
n_larger_first (const CleaveCut *cut, gint64 n_larger)
{
  return cut->larger == CLEAVE_LARGER_FIRST  ? n_larger
         : cut->larger == CLEAVE_LARGER_LAST ? 0
                                             : cleave_ceil_div (n_larger, 2);
}

CleaveSpan
cleave_cut_span (const CleaveCut *cut, gint64 extent, gint64 i)
{
  gint64 units = cleave_ceil_div (extent, cut->align);
  gint64 q = units / cut->n, r = units % cut->n;
  gint64 first = n_larger_first (cut, r), last = cut->n - (r - first);
  gint64 begin = i * q + MIN (i, first) + MAX (i - last, 0);
  gint64 end = begin + q + (i < first || i >= last);

  return (CleaveSpan){ begin * cut->align, MIN (end * cut->align, extent) };
}

/* Initializes a chunk that cuts only dimension `d`. Returns FALSE, with the reason in `why`, if the
 * chunk is not legal. */
static gboolean
init_chunk (const CleaveCuts *cuts, guint d, CleaveSpan span, CleaveChunk *chunk, GString *why)
{
  CleaveRange range = cleave_range_whole (&cuts->shape);

  range.dim[d] = span;
  return cleave_chunk_init (chunk, &cuts->call.call, &range, why);
}

guint
cleave_cut_pick_samples (const CleaveCut *cut, gint64 extent, gint64 *sample)
{
  gint64 n_larger = cleave_ceil_div (extent, cut->align) % cut->n;
  gint64 first = n_larger_first (cut, n_larger), last = cut->n - (n_larger - first);
  const gint64 wanted[CLEAVE_CUT_N_SAMPLES] = { 0,        1,    first - 1,  first,     cut->n / 2,
                                                last - 1, last, cut->n - 2, cut->n - 1 };
  guint n = 0;

  for (guint i = 0; i < CLEAVE_CUT_N_SAMPLES; i++)
    {
      gboolean is_new = wanted[i] >= 0 && wanted[i] < cut->n;

      for (guint j = 0; j < n && is_new; j++)
        is_new = sample[j] != wanted[i];
      if (is_new)
        sample[n++] = wanted[i];
    }
  return n;
}

gboolean
cleave_cut_seems_legal (const CleaveCuts *cuts, guint d, const CleaveCut *cut)
{
  gint64 sample[CLEAVE_CUT_N_SAMPLES] = { 0 };
  guint n = cleave_cut_pick_samples (cut, cuts->shape.dim[d], sample);

  for (guint i = 0; i < n; i++)
    {
      CleaveChunk chunk;

      if (!init_chunk (cuts, d, cleave_cut_span (cut, cuts->shape.dim[d], sample[i]), &chunk, NULL))
        return FALSE;
      cleave_chunk_clear (&chunk, cuts->node->op);
    }
  return TRUE;
}

/* Returns a key of the shapes and pads of a chunk's values. Chunks with equal keys are of one
 * kind. */
static GBytes *
chunk_kind (const CleaveChunk *chunk)
{
  GByteArray *key = g_byte_array_new ();

  for (guint i = 0; i < chunk->n_operands; i++)
    {
      const CleaveSlice *slice = &chunk->slices[i];
      CleaveShape shape = cleave_range_shape (&slice->range);
      guint n = shape.rank * sizeof (gint64);

      g_byte_array_append (key, (const guint8 *) &chunk->has[i], sizeof chunk->has[i]);
      g_byte_array_append (key, (const guint8 *) shape.dim, n);
      g_byte_array_append (key, (const guint8 *) slice->clip_begin, n);
      g_byte_array_append (key, (const guint8 *) slice->clip_end, n);
    }
  for (guint r = 0; r < chunk->n_results; r++)
    g_byte_array_append (key, (const guint8 *) chunk->results[r].shape.dim,
                         chunk->results[r].shape.rank * sizeof (gint64));
  return g_byte_array_free_to_bytes (key);
}

static void
add_kind (CleaveCut *cut, GHashTable *known, CleaveSpan span, const CleaveChunk *chunk)
{
  GBytes *key = chunk_kind (chunk);
  guint i = GPOINTER_TO_UINT (g_hash_table_lookup (known, key));
  CleaveKind kind = { span, 1 };

  if (i > 0)
    {
      g_array_index (cut->kinds, CleaveKind, i - 1).n++;
      g_bytes_unref (key);
      return;
    }
  g_array_append_val (cut->kinds, kind);
  g_hash_table_insert (known, key, GUINT_TO_POINTER (cut->kinds->len));
}

gboolean
cleave_cut_find_kinds (CleaveCuts *cuts, guint d, CleaveCut *cut, GString *why)
{
  g_autoptr (GHashTable) known =
      g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);

  if (cut->kinds != NULL)
    return TRUE;
  cut->kinds = g_array_new (FALSE, FALSE, sizeof (CleaveKind));
  for (gint64 i = 0; i < cut->n; i++)
    {
      CleaveSpan span = cleave_cut_span (cut, cuts->shape.dim[d], i);
      CleaveChunk chunk;

      if (!init_chunk (cuts, d, span, &chunk, why))
        {
          g_clear_pointer (&cut->kinds, g_array_unref);
          cut->is_refused = cut->n > 1;
          cuts->is_surprised |=
              cut->n > CLEAVE_CUT_MAX_CHECKED && cut->n <= CLEAVE_CUT_MAX_ALL && !cuts->list.exact;
          return FALSE;
        }
      add_kind (cut, known, span, &chunk);
      cleave_chunk_clear (&chunk, cuts->node->op);
    }
  return TRUE;
}
