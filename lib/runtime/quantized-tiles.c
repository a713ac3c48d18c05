/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs quantized groups tile by tile, so that intermediate values stay in scratch.
 *
 * Over 400 lines: preparing and running the tiles of a group share one table. */

#include "quantized-tiles.h"

#include "../memory/quantized-group.h"
#include "quantized-whole.h"

/* Tiles that differ only in their position are of one kind. Kernels are prepared once per kind. The
 * table `Tiles` has, for each tile, its kind and the byte offsets at which the tile begins in the
 * operands and in the result. */

/* The source of an operand of a call: an operand of the group, or an intermediate value in
 * scratch. */
typedef struct
{
  guint outer; /* index of the group's operand; CLEAVE_BODY_ABSENT for an intermediate value */
  guint read;  /* group's operand: index of its byte offset among the offsets of a tile */
  gint64 at;   /* intermediate value: byte offset in scratch */
} Source;

/* One call of the group, prepared for all tiles of one kind. */
typedef struct
{
  CleaveKernelInstance instance;    /* each tile sets the data pointers of the views */
  const CleaveKernelFamily *family; /* NULL: the op's reference kernel */
  gpointer state;
  CleaveTensorType *types; /* indexed by operand: its type in a tile */
  Source *sources;
  gint64 to; /* byte offset of the result in scratch; -1: the result is the result of the group */
  gboolean is_fused;        /* the piece before this one applies this call as an epilogue op */
  CleaveFusedConsumer next; /* the next piece as a fused consumer, if it is fused */
} Piece;

typedef struct
{
  CleaveTilePart *parts;
  Piece *pieces; /* indexed by call; the op is NULL if the tile does not need the call */
} Kind;

typedef struct
{
  CleaveWhole
      *whole; /* the one kernel that serves the whole group; NULL: the group runs tile by tile */
  CleaveBody body;
  GArray *calls; /* CleaveBodyCall: the calls of the group */
  guint n_reads; /* total number of operands of all calls */
  guint most;    /* largest number of operands of one call */
  GPtrArray *kinds;
  GArray *kind;    /* guint, indexed by tile: index of its kind */
  GArray *offsets; /* gint64, tile by tile: byte offset of the tile's result, then of each operand
                      of each call */
  gint64 tile_bytes, views_bytes;
  gboolean are_rows;
} Tiles;

typedef struct
{
  Tiles *tiles;
  const CleaveKernelInstance *instance;
  CleaveWeights *weights;
  gsize n_scratch; /* largest scratch of a kernel, in bytes */
} Preparing;

/* Fills `dims` with the dimensions in order of descending stride, outermost first. */
static void
sort_dims (const CleaveView *view, guint *dims)
{
  for (guint d = 0; d < view->type.shape.rank; d++)
    {
      guint at = d;

      for (; at > 0 && view->stride[dims[at - 1]] < view->stride[d]; at--)
        dims[at] = dims[at - 1];
      dims[at] = d;
    }
}

/* Gives a view the strides of a dense layout, with the memory order of `like`. Uses row-major order
 * if the ranks differ. */
static void
lie_as (CleaveView *view, const CleaveView *like)
{
  guint rank = view->type.shape.rank, dims[CLEAVE_MAX_RANK];
  gint64 stride = 1;

  if (like->type.shape.rank != rank)
    {
      *view = cleave_view_dense (&view->type, view->data);
      return;
    }
  sort_dims (like, dims);
  for (guint i = rank; i-- > 0;)
    {
      view->stride[dims[i]] = stride;
      stride *= view->type.shape.dim[dims[i]];
    }
}

static gint64
find_offset (const CleaveView *view, const CleaveRange *range)
{
  gint64 offset = 0;

  for (guint d = 0; d < range->rank; d++)
    offset += range->dim[d].begin * view->stride[d];
  return offset * (gint64) cleave_element_size (view->type.element);
}

/* Kinds of tiles */

static gboolean
is_shape_equal (const CleaveRange *a, const CleaveRange *b)
{
  CleaveShape x = cleave_range_shape (a), y = cleave_range_shape (b);

  return cleave_shape_equal (&x, &y);
}

/* Returns whether an operand of a call needs the same preparation in two tiles: equal shapes, and
 * equal ranges of the value in scratch. The ranges of a constant must be equal, since `prepare`
 * packs the slice. */
static gboolean
reads_alike (
    const Preparing *p, const CleaveTilePart *a, const CleaveTilePart *b, guint call, guint operand)
{
  const CleaveRange *x = &a[call].chunk.slices[operand].range;
  const CleaveRange *y = &b[call].chunk.slices[operand].range;
  guint from = cleave_body_at (&p->tiles->body, call)->from[operand], made;
  CleaveRange in_x, in_y;

  if (a[call].chunk.has[operand] != b[call].chunk.has[operand])
    return FALSE;
  if (!a[call].chunk.has[operand])
    return TRUE;
  if (!cleave_body_makes (&p->tiles->body, from, &made))
    return p->instance->constants[from] == NULL ? is_shape_equal (x, y) : cleave_range_equal (x, y);
  in_x = cleave_range_relative (x, &a[made].range);
  in_y = cleave_range_relative (y, &b[made].range);
  return cleave_range_equal (&in_x, &in_y);
}

static gboolean
are_alike (const Preparing *p, const CleaveTilePart *a, const CleaveTilePart *b)
{
  for (guint i = 0; i < p->tiles->body.calls->len; i++)
    {
      const CleaveBodyCall *call = cleave_body_at (&p->tiles->body, i);

      if (a[i].is_needed != b[i].is_needed)
        return FALSE;
      if (!a[i].is_needed)
        continue;
      if (!is_shape_equal (&a[i].range, &b[i].range) ||
          !cleave_attrs_equal (call->op, a[i].chunk.attrs, b[i].chunk.attrs))
        return FALSE;
      for (guint o = 0; o < call->n_operands; o++)
        if (!reads_alike (p, a, b, i, o))
          return FALSE;
    }
  return TRUE;
}

/* Pieces: the calls of one kind */

static void
take_outer (const Preparing *p, Piece *piece, guint n, guint from, const CleaveRange *range)
{
  const CleaveView *outer = &p->instance->operands[from];
  CleaveTensor *constant = p->instance->constants[from];
  CleaveRange whole = cleave_range_whole (&outer->type.shape);

  piece->sources[n].outer = from;
  piece->instance.operands[n] = *outer;
  piece->instance.operands[n].type.shape = cleave_range_shape (range);
  if (outer->data != NULL)
    piece->instance.operands[n].data = (char *) outer->data + find_offset (outer, range);
  if (constant != NULL && cleave_range_equal (range, &whole))
    piece->instance.constants[n] = cleave_tensor_ref (constant);
  else if (constant != NULL)
    piece->instance.constants[n] = cleave_tensor_new_slice (constant, range);
}

static void
take_inner (const Kind *kind, Piece *piece, guint n, guint made, const CleaveRange *range, char *at)
{
  const CleaveView *from = &kind->pieces[made].instance.results[0];
  CleaveRange part = cleave_range_relative (range, &kind->parts[made].range);

  piece->instance.operands[n] = cleave_view_slice (from, &part);
  piece->sources[n].at = (char *) piece->instance.operands[n].data - at;
}

/* Returns the index of a call's first operand among the offsets of a tile, which begin with the
 * offset of the result. */
static guint
find_first_read (const CleaveBody *body, guint index)
{
  guint first = 1;

  for (guint i = 0; i < index; i++)
    first += cleave_body_at (body, i)->n_operands;
  return first;
}

static void
take_operands (const Preparing *p, const Kind *kind, guint index, char *at)
{
  const CleaveBody *body = &p->tiles->body;
  const CleaveBodyCall *call = cleave_body_at (body, index);
  const CleaveChunk *chunk = &kind->parts[index].chunk;
  Piece *piece = &kind->pieces[index];
  gboolean drops = (call->op->flags & CLEAVE_OP_VARIADIC) != 0;
  guint n = 0, first = find_first_read (body, index);

  for (guint i = 0; i < call->n_operands; i++)
    {
      const CleaveRange *range = &chunk->slices[i].range;
      guint made;

      if (drops && !chunk->has[i])
        continue;
      piece->sources[n] = (Source){ CLEAVE_BODY_ABSENT, first + i, 0 };
      if (chunk->has[i] && cleave_body_makes (body, call->from[i], &made))
        take_inner (kind, piece, n, made, range, at);
      else if (chunk->has[i])
        take_outer (p, piece, n, call->from[i], range);
      piece->types[n] = piece->instance.operands[n].type;
      n++;
    }
  piece->instance.call.n_operands = n;
}

/* Returns the view whose memory order an intermediate value takes: the value that it overwrites;
 * else operand 0 if the call is element-wise; else the group's result. */
static const CleaveView *
find_like (const Preparing *p, const Kind *kind, guint index, const gint64 *offsets)
{
  const CleaveBodyCall *call = cleave_body_at (&p->tiles->body, index);
  guint made;

  for (guint i = 0; i < call->n_operands; i++)
    if (cleave_body_makes (&p->tiles->body, call->from[i], &made) && kind->parts[made].is_needed &&
        offsets[made] == offsets[index])
      return &kind->pieces[made].instance.results[0];
  return call->by_elements && cleave_shape_equal (&call->operands[0].shape, &call->result.shape)
             ? &kind->pieces[index].instance.operands[0]
             : &p->instance->results[0];
}

static void
place_result (const Preparing *p, const Kind *kind, guint index, const gint64 *offsets, char *at)
{
  Piece *piece = &kind->pieces[index];
  CleaveView *y = &piece->instance.results[0];

  piece->to = -1;
  if (index + 1 == p->tiles->body.calls->len)
    {
      *y = cleave_view_slice (&p->instance->results[0], &kind->parts[index].range);
      return;
    }
  piece->to = offsets[index];
  y->data = at + piece->to;
  y->type = kind->parts[index].chunk.results[0];
  lie_as (y, find_like (p, kind, index, offsets));
}

static void
find_kernel (Preparing *p, Piece *piece)
{
  const CleaveKernelFamily *family = cleave_kernel_find (&piece->instance.call);
  gsize n_scratch = 0;

  if (family == NULL || !family->prepare (&piece->instance, p->weights, &piece->state, &n_scratch))
    return;
  piece->family = family;
  p->n_scratch = MAX (p->n_scratch, n_scratch);
}

static void
prepare_piece (Preparing *p, const Kind *kind, guint index, const gint64 *offsets, char *at)
{
  const CleaveBodyCall *call = cleave_body_at (&p->tiles->body, index);
  Piece *piece = &kind->pieces[index];

  piece->types = g_new0 (CleaveTensorType, call->n_operands);
  piece->sources = g_new0 (Source, call->n_operands);
  piece->instance.operands = g_new0 (CleaveView, call->n_operands);
  piece->instance.results = g_new0 (CleaveView, 1);
  piece->instance.constants = g_new0 (CleaveTensor *, call->n_operands);
  piece->instance.call = (CleaveCall){ .op = call->op,
                                       .attrs = kind->parts[index].chunk.attrs,
                                       .n_results = 1,
                                       .operands = piece->types,
                                       .results = kind->parts[index].chunk.results };
  take_operands (p, kind, index, at);
  place_result (p, kind, index, offsets, at);
  find_kernel (p, piece);
  for (guint i = 0; i < call->n_operands; i++)
    cleave_tensor_unref (piece->instance.constants[i]);
  g_clear_pointer (&piece->instance.constants, g_free);
}

/* Returns whether a piece has one operand, the result of the piece before it, overwrites that
 * result completely, and no other piece reads that result. */
static gboolean
overwrites (const Tiles *tiles, const Kind *kind, guint index)
{
  const CleaveBody *body = &tiles->body;
  const Piece *piece = &kind->pieces[index], *before = &kind->pieces[index - 1];
  guint n_readers = 0, made;

  for (guint i = index; i < body->calls->len; i++)
    for (guint o = 0; kind->parts[i].is_needed && o < cleave_body_at (body, i)->n_operands; o++)
      n_readers +=
          cleave_body_makes (body, cleave_body_at (body, i)->from[o], &made) && made == index - 1;
  return n_readers == 1 && piece->instance.call.n_operands == 1 && piece->to >= 0 &&
         piece->to == before->to && piece->sources[0].at == before->to &&
         cleave_shape_equal (&piece->instance.results[0].type.shape,
                             &before->instance.results[0].type.shape);
}

/* Fuses a Relu or Clip into the piece before it, whose kernel applies it in registers. */
static void
fuse_bound (const Tiles *tiles, const Kind *kind, guint index)
{
  Piece *piece = &kind->pieces[index], *before = &kind->pieces[index - 1];
  CleaveEpilogueOp *op = &before->next.epilogue_op;
  guint along;

  if (!kind->parts[index - 1].is_needed || before->is_fused || piece->family == NULL ||
      before->family == NULL || piece->family->epilogue_op == NULL ||
      before->family->does_epilogue == NULL || before->family->reports_progress == NULL ||
      !before->family->reports_progress (before->state) ||
      !before->family->does_epilogue (before->state, &before->instance, &along) ||
      !overwrites (tiles, kind, index))
    return;
  before->next = (CleaveFusedConsumer){ piece->family, piece->state, &piece->instance, { 0 } };
  op->op = piece->family->epilogue_op (piece->state, &piece->instance, 0, op);
  if (op->op != CLEAVE_EPILOGUE_RELU && op->op != CLEAVE_EPILOGUE_CLIP)
    return;
  before->instance.fused = &before->next;
  before->instance.n_fused = before->instance.n_epilogue_ops = 1;
  piece->is_fused = TRUE;
}

/* Prepares the kernels for a new kind of tiles, of which `parts` describes one tile. Takes
 * ownership of `parts`. */
static Kind *
kind_new (Preparing *p, CleaveTilePart *parts)
{
  Tiles *tiles = p->tiles;
  guint n_calls = tiles->body.calls->len;
  g_autofree gint64 *offsets = g_new0 (gint64, n_calls);
  gint64 n_bytes = cleave_tile_place (parts, &tiles->body, offsets);
  g_autofree char *memory = g_malloc (
      (gsize) n_bytes + 64); /* the surplus of 64 bytes lets `at` be aligned as scratch is */
  char *at = memory + (64 - (gsize) memory % 64) % 64;
  Kind *kind = g_new0 (Kind, 1);

  kind->parts = parts;
  kind->pieces = g_new0 (Piece, n_calls);
  for (guint i = 0; i < n_calls; i++)
    if (parts[i].is_needed)
      prepare_piece (p, kind, i, offsets, at);
  for (guint i = 1; i < n_calls; i++)
    if (parts[i].is_needed)
      fuse_bound (tiles, kind, i);
  tiles->tile_bytes = MAX (tiles->tile_bytes, n_bytes);
  return kind;
}

static void
kind_free (Kind *kind, const CleaveBody *body)
{
  for (guint i = 0; i < body->calls->len; i++)
    {
      Piece *piece = &kind->pieces[i];

      if (piece->family != NULL && piece->family->free != NULL)
        piece->family->free (piece->state);
      g_free (piece->types);
      g_free (piece->sources);
      g_free (piece->instance.operands);
      g_free (piece->instance.results);
    }
  g_free (kind->pieces);
  cleave_tile_free (kind->parts, body);
  g_free (kind);
}

/* Tables of tiles */

static void
add_offsets (const Preparing *p, const CleaveTilePart *parts)
{
  const CleaveBody *body = &p->tiles->body;
  gint64 to = find_offset (&p->instance->results[0], &parts[body->calls->len - 1].range);

  g_array_append_val (p->tiles->offsets, to);
  for (guint i = 0; i < body->calls->len; i++)
    {
      const CleaveBodyCall *call = cleave_body_at (body, i);
      const CleaveChunk *chunk = &parts[i].chunk;

      for (guint o = 0; o < call->n_operands; o++)
        {
          gint64 offset = 0;

          if (parts[i].is_needed && chunk->has[o] && call->from[o] < body->n_outer)
            offset = find_offset (&p->instance->operands[call->from[o]], &chunk->slices[o].range);
          g_array_append_val (p->tiles->offsets, offset);
        }
    }
}

static void
add_tile (Preparing *p, CleaveTilePart *parts)
{
  Tiles *tiles = p->tiles;
  guint kind = tiles->kinds->len;

  add_offsets (p, parts);
  while (kind > 0 && !are_alike (p, ((Kind *) tiles->kinds->pdata[kind - 1])->parts, parts))
    kind--;
  if (kind > 0)
    cleave_tile_free (parts, &tiles->body);
  else
    {
      g_ptr_array_add (tiles->kinds, kind_new (p, parts));
      kind = tiles->kinds->len;
    }
  kind--;
  g_array_append_val (tiles->kind, kind);
}

static CleaveShape
choose (const Preparing *p)
{
  const CleaveBody *body = &p->tiles->body;
  g_autofree gint64 *weights = g_new0 (gint64, body->n_outer);
  guint dims[CLEAVE_MAX_RANK];
  CleaveShape tile;

  for (guint i = 0; i < body->n_outer; i++)
    if (p->instance->constants[i] != NULL)
      weights[i] = cleave_tensor_type_n_bytes (&p->instance->operands[i].type);
  sort_dims (&p->instance->results[0], dims);
  if (!cleave_tile_choose (body, weights, dims, &tile))
    tile = p->instance->results[0].type.shape;
  return tile;
}

static void
tiles_clear (Tiles *tiles)
{
  for (guint i = 0; i < tiles->kinds->len; i++)
    kind_free (tiles->kinds->pdata[i], &tiles->body);
  g_ptr_array_set_size (tiles->kinds, 0);
  g_array_set_size (tiles->kind, 0);
  g_array_set_size (tiles->offsets, 0);
}

/* Adds all tiles of extents `tile`. Returns FALSE if a tile cannot be computed separately. */
static gboolean
add_tiles (Preparing *p, const CleaveShape *tile)
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
  Tiles *tiles = state;

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

/* Returns whether the tiles cut only the outermost dimension of the result, and the last call of
 * the group reads only intermediate values and constants. */
static gboolean
are_rows (const Preparing *p, const CleaveShape *tile)
{
  const CleaveView *y = &p->instance->results[0];
  const CleaveBodyCall *last = cleave_body_at (&p->tiles->body, p->tiles->calls->len - 1);
  guint dims[CLEAVE_MAX_RANK];
  gboolean is_outermost = TRUE;

  for (guint i = 0; i < last->n_operands; i++)
    if (last->from[i] < p->tiles->body.n_outer && p->instance->constants[last->from[i]] == NULL)
      return FALSE;
  sort_dims (y, dims);
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
  return ((const Tiles *) state)->are_rows;
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  Tiles *tiles = g_new0 (Tiles, 1);
  Preparing p = { tiles, instance, weights, 0 };
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
      /* use a single tile, the whole result, which is always possible */
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

/* Running the tiles */

static void
run_piece (const Tiles *tiles,
           const Piece *piece,
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
      const Source *source = &piece->sources[i];

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
  const Tiles *tiles = state;

  if (tiles->whole != NULL)
    cleave_whole_run (tiles->whole, instance, scratch);
  for (guint t = 0; t < tiles->kind->len; t++)
    {
      const Kind *kind = tiles->kinds->pdata[g_array_index (tiles->kind, guint, t)];
      const gint64 *offsets = &g_array_index (tiles->offsets, gint64, t * (tiles->n_reads + 1));

      for (guint i = 0; i < tiles->body.calls->len; i++)
        if (kind->parts[i].is_needed && !kind->pieces[i].is_fused)
          run_piece (tiles, &kind->pieces[i], instance, offsets, scratch);
    }
}

static gboolean
piece_reads (const Piece *piece, guint operand)
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
  const Tiles *tiles = state;

  if (tiles->whole != NULL)
    return cleave_whole_reads (tiles->whole, operand);
  for (guint k = 0; k < tiles->kinds->len; k++)
    {
      const Kind *kind = tiles->kinds->pdata[k];

      for (guint i = 0; i < tiles->body.calls->len; i++)
        if (kind->parts[i].is_needed && piece_reads (&kind->pieces[i], operand))
          return TRUE;
    }
  return FALSE;
}

static void
add_pieces (const Tiles *tiles, const Kind *kind, GArray *lines)
{
  guint n = tiles->body.calls->len;

  cleave_memory_lines_add (lines, kind, sizeof *kind);
  cleave_memory_lines_add (lines, kind->parts, n * sizeof *kind->parts);
  cleave_memory_lines_add (lines, kind->pieces, n * sizeof *kind->pieces);
  for (guint i = 0; i < n; i++)
    {
      const Piece *piece = &kind->pieces[i];
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
  const Tiles *tiles = state;

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
                                                           .n_state = sizeof (Tiles),
                                                           .add_memory = add_memory };
