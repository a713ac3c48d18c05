/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs quantized groups tile by tile, so that intermediate values stay in scratch. A tile is a
 * range of the group's result; all calls of the group compute the tile before the next tile
 * begins. */

#include "quantized-tiles.h"

#include "tile-kinds.h"

/* The following functions fill the table of tiles. */

static void
add_offsets (const CleaveTilePreparation *p, const CleaveTilePart *parts)
{
  const CleaveBody *body = &p->tiles->body;
  gint64 to =
      cleave_tile_find_offset (&p->instance->results[0], &parts[body->calls->len - 1].range);

  g_array_append_val (p->tiles->offsets, to);
  for (guint i = 0; i < body->calls->len; i++)
    {
      const CleaveBodyCall *call = cleave_body_at (body, i);
      const CleaveChunk *chunk = &parts[i].chunk;

      for (guint o = 0; o < call->n_operands; o++)
        {
          gint64 offset = 0;

          if (parts[i].is_needed && chunk->has[o] && call->from[o] < body->n_outer)
            offset = cleave_tile_find_offset (&p->instance->operands[call->from[o]],
                                              &chunk->slices[o].range);
          g_array_append_val (p->tiles->offsets, offset);
        }
    }
}

static void
add_tile (CleaveTilePreparation *p, CleaveTilePart *parts)
{
  CleaveTiles *tiles = p->tiles;
  guint kind = tiles->kinds->len;

  add_offsets (p, parts);
  while (kind > 0 && !cleave_tile_are_alike (
                         p, ((CleaveTileKind *) tiles->kinds->pdata[kind - 1])->parts, parts))
    kind--;
  if (kind > 0)
    cleave_tile_free (parts, &tiles->body);
  else
    {
      g_ptr_array_add (tiles->kinds, cleave_tile_kind_new (p, parts));
      kind = tiles->kinds->len;
    }
  kind--;
  g_array_append_val (tiles->kind, kind);
}

static CleaveShape
choose (const CleaveTilePreparation *p)
{
  const CleaveBody *body = &p->tiles->body;
  g_autofree gint64 *weights = g_new0 (gint64, body->n_outer);
  guint dims[CLEAVE_MAX_RANK];
  CleaveShape tile;

  for (guint i = 0; i < body->n_outer; i++)
    if (p->instance->constants[i] != NULL)
      weights[i] = cleave_tensor_type_n_bytes (&p->instance->operands[i].type);
  cleave_tile_sort_dims (&p->instance->results[0], dims);
  if (!cleave_tile_choose (body, weights, dims, &tile))
    tile = p->instance->results[0].type.shape;
  return tile;
}

static void
tiles_clear (CleaveTiles *tiles)
{
  for (guint i = 0; i < tiles->kinds->len; i++)
    cleave_tile_kind_free (tiles->kinds->pdata[i], &tiles->body);
  g_ptr_array_set_size (tiles->kinds, 0);
  g_array_set_size (tiles->kind, 0);
  g_array_set_size (tiles->offsets, 0);
}

/* Adds all tiles with the extents `tile` to the table. Returns FALSE if a tile cannot be computed
 * separately. */
static gboolean
add_tiles (CleaveTilePreparation *p, const CleaveShape *tile)
{
  const CleaveShape *whole = &p->instance->results[0].type.shape;
  CleaveRange range;

  for (gint64 i = 0; cleave_tile_range (whole, tile, i, &range); i++)
    {
      CleaveTilePart *parts = cleave_tile_new (&p->tiles->body, &range);

      if (parts == NULL)
        return FALSE;
      add_tile (p, parts);
    }
  return TRUE;
}

static void
tiles_free (gpointer state)
{
  CleaveTiles *tiles = state;

  tiles_clear (tiles);
  cleave_whole_free (tiles->whole);
  g_ptr_array_unref (tiles->kinds);
  g_array_unref (tiles->kind);
  g_array_unref (tiles->offsets);
  g_array_unref (tiles->calls);
  g_free (tiles);
}

static gint64
align (gint64 n_bytes)
{
  return (n_bytes + 63) / 64 * 64;
}

/* Returns whether tiles are rows that are written in order: they cut only the outermost dimension
 * of the result, and the last call reads only intermediate values and constants. */
static gboolean
are_rows (const CleaveTilePreparation *p, const CleaveShape *tile)
{
  const CleaveView *y = &p->instance->results[0];
  const CleaveBodyCall *last = cleave_body_at (&p->tiles->body, p->tiles->calls->len - 1);
  guint dims[CLEAVE_MAX_RANK];
  gboolean is_outermost = TRUE;

  for (guint i = 0; i < last->n_operands; i++)
    if (last->from[i] < p->tiles->body.n_outer && p->instance->constants[last->from[i]] == NULL)
      return FALSE;
  cleave_tile_sort_dims (y, dims);
  for (guint i = 0; i < y->type.shape.rank; i++)
    {
      gint64 extent = y->type.shape.dim[dims[i]];

      if (!is_outermost && tile->dim[dims[i]] < extent)
        return FALSE;
      is_outermost &= extent == 1;
    }
  return TRUE;
}

gboolean
cleave_quantized_tiles_are_rows (gconstpointer state)
{
  return ((const CleaveTiles *) state)->are_rows;
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  CleaveTiles *tiles = g_new0 (CleaveTiles, 1);
  CleaveTilePreparation p = { tiles, instance, weights, 0 };
  CleaveShape tile;

  tiles->body = cleave_group_get_body (&instance->call);
  tiles->calls = g_array_ref (tiles->body.calls);
  tiles->kinds = g_ptr_array_new ();
  tiles->kind = g_array_new (FALSE, FALSE, sizeof (guint));
  tiles->offsets = g_array_new (FALSE, FALSE, sizeof (gint64));
  for (guint i = 0; i < tiles->calls->len; i++)
    {
      tiles->n_reads += cleave_body_at (&tiles->body, i)->n_operands;
      tiles->most = MAX (tiles->most, cleave_body_at (&tiles->body, i)->n_operands);
    }
  *state = tiles;
  tiles->whole = cleave_whole_new (instance, weights, n_scratch);
  if (tiles->whole != NULL)
    return TRUE;
  tile = choose (&p);
  if (!add_tiles (&p, &tile))
    {
      /* use a single tile, the whole result: a group can always run with one tile */
      tiles_clear (tiles);
      tile = instance->results[0].type.shape;
      add_tiles (&p, &tile);
    }
  tiles->are_rows = are_rows (&p, &tile);
  tiles->views_bytes = align ((gint64) ((tiles->most + 1) * sizeof (CleaveView)));
  tiles->tile_bytes = align (tiles->tile_bytes);
  *n_scratch = (gsize) (tiles->views_bytes + tiles->tile_bytes) + p.n_scratch;
  return TRUE;
}

/* The following functions run the tiles. */

static void
run_piece (const CleaveTiles *tiles,
           const CleaveTilePiece *piece,
           const CleaveKernelInstance *group,
           const gint64 *offsets,
           char *scratch)
{
  CleaveView *views = (CleaveView *) (gpointer) scratch;
  char *between = scratch + tiles->views_bytes;
  CleaveKernelInstance instance = piece->instance;

  instance.operands = views;
  instance.results = views + tiles->most;
  instance.results[0] = piece->instance.results[0];
  instance.results[0].data =
      piece->to < 0 ? (char *) group->results[0].data + offsets[0] : between + piece->to;
  for (guint i = 0; i < instance.call.n_operands; i++)
    {
      const CleaveTileSource *source = &piece->sources[i];

      views[i] = piece->instance.operands[i];
      if (source->outer == CLEAVE_BODY_ABSENT)
        views[i].data = between + source->at;
      else if (group->operands[source->outer].data != NULL)
        views[i].data = (char *) group->operands[source->outer].data + offsets[source->read];
    }
  if (piece->family != NULL)
    piece->family->run (piece->state, &instance, between + tiles->tile_bytes);
  else
    instance.call.op->compute (&instance.call, instance.operands, instance.results);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const CleaveTiles *tiles = state;

  if (tiles->whole != NULL)
    cleave_whole_run (tiles->whole, instance, scratch);
  for (guint t = 0; t < tiles->kind->len; t++)
    {
      const CleaveTileKind *kind = tiles->kinds->pdata[g_array_index (tiles->kind, guint, t)];
      const gint64 *offsets = &g_array_index (tiles->offsets, gint64, t * (tiles->n_reads + 1));

      for (guint i = 0; i < tiles->body.calls->len; i++)
        if (kind->parts[i].is_needed && !kind->pieces[i].is_fused)
          run_piece (tiles, &kind->pieces[i], instance, offsets, scratch);
    }
}

static gboolean
piece_reads (const CleaveTilePiece *piece, guint operand)
{
  for (guint i = 0; i < piece->instance.call.n_operands; i++)
    if (piece->sources[i].outer == operand &&
        (piece->family == NULL || piece->family->reads == NULL ||
         piece->family->reads (piece->state, i)))
      return TRUE;
  return FALSE;
}

static gboolean
reads (gconstpointer state, guint operand)
{
  const CleaveTiles *tiles = state;

  if (tiles->whole != NULL)
    return cleave_whole_reads (tiles->whole, operand);
  for (guint k = 0; k < tiles->kinds->len; k++)
    {
      const CleaveTileKind *kind = tiles->kinds->pdata[k];

      for (guint i = 0; i < tiles->body.calls->len; i++)
        if (kind->parts[i].is_needed && piece_reads (&kind->pieces[i], operand))
          return TRUE;
    }
  return FALSE;
}

static void
add_pieces (const CleaveTiles *tiles, const CleaveTileKind *kind, GArray *lines)
{
  guint n = tiles->body.calls->len;

  cleave_memory_lines_add (lines, kind, sizeof *kind);
  cleave_memory_lines_add (lines, kind->parts, n * sizeof *kind->parts);
  cleave_memory_lines_add (lines, kind->pieces, n * sizeof *kind->pieces);
  for (guint i = 0; i < n; i++)
    {
      const CleaveTilePiece *piece = &kind->pieces[i];
      guint n_operands = piece->instance.call.n_operands;

      if (!kind->parts[i].is_needed)
        continue;
      cleave_memory_lines_add (lines, piece->sources, n_operands * sizeof *piece->sources);
      cleave_memory_lines_add (lines, piece->instance.operands, n_operands * sizeof (CleaveView));
      cleave_memory_lines_add (lines, piece->instance.results, sizeof (CleaveView));
      cleave_kernel_add_memory (piece->family, piece->state, lines);
    }
}

static void
add_memory (gconstpointer state, GArray *lines)
{
  const CleaveTiles *tiles = state;

  if (tiles->whole != NULL)
    cleave_whole_add_memory (tiles->whole, lines);
  for (guint k = 0; k < tiles->kinds->len; k++)
    add_pieces (tiles, tiles->kinds->pdata[k], lines);
  cleave_memory_lines_add (lines, tiles->kind->data, tiles->kind->len * sizeof (guint));
  cleave_memory_lines_add (lines, tiles->offsets->data, tiles->offsets->len * sizeof (gint64));
}

const CleaveKernelFamily cleave_kernel_quantized_tiles = { .prepare = prepare,
                                                           .run = run,
                                                           .free = tiles_free,
                                                           .reads = reads,
                                                           .n_state = sizeof (CleaveTiles),
                                                           .add_memory = add_memory };
