/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prepares the kernels of the calls of a quantized group for one kind of tiles. A piece is one call
 * of the group, prepared for one kind of tiles. */

#include "tile-kinds.h"

void
cleave_tile_sort_dims (const CleaveView *view, guint *dims)
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
set_memory_order (CleaveView *view, const CleaveView *like)
{
  guint rank = view->type.shape.rank, dims[CLEAVE_MAX_RANK];
  gint64 stride = 1;

  if (like->type.shape.rank != rank)
    {
      *view = cleave_view_dense (&view->type, view->data);
      return;
    }
  cleave_tile_sort_dims (like, dims);
  for (guint i = rank; i-- > 0;)
    {
      view->stride[dims[i]] = stride;
      stride *= view->type.shape.dim[dims[i]];
    }
}

gint64
cleave_tile_find_offset (const CleaveView *view, const CleaveRange *range)
{
  gint64 offset = 0;

  for (guint d = 0; d < range->rank; d++)
    offset += range->dim[d].begin * view->stride[d];
  return offset * (gint64) cleave_element_size (view->type.element);
}

static gboolean
is_shape_equal (const CleaveRange *a, const CleaveRange *b)
{
  CleaveShape x = cleave_range_shape (a), y = cleave_range_shape (b);

  return cleave_shape_equal (&x, &y);
}

/* Returns whether operand `operand` of call `call` needs the same preparation in tiles `a` and `b`.
 * The ranges that the call reads must have equal shapes. The ranges of a constant must be equal,
 * since `prepare` packs the slice. Each tile computes only a range of an intermediate value: the
 * call must read the same elements of this range, counted from its begin. */
static gboolean
reads_alike (const CleaveTilePreparation *p,
             const CleaveTilePart *a,
             const CleaveTilePart *b,
             guint call,
             guint operand)
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

gboolean
cleave_tile_are_alike (const CleaveTilePreparation *p,
                       const CleaveTilePart *a,
                       const CleaveTilePart *b)
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

/* The following functions prepare the pieces of a tile. */

static void
set_outer_operand (const CleaveTilePreparation *p,
                   CleaveTilePiece *piece,
                   guint n,
                   guint from,
                   const CleaveRange *range)
{
  const CleaveView *outer = &p->instance->operands[from];
  CleaveTensor *constant = p->instance->constants[from];
  CleaveRange whole = cleave_range_whole (&outer->type.shape);

  piece->sources[n].outer = from;
  piece->instance.operands[n] = *outer;
  piece->instance.operands[n].type.shape = cleave_range_shape (range);
  if (outer->data != NULL)
    piece->instance.operands[n].data =
        (char *) outer->data + cleave_tile_find_offset (outer, range);
  if (constant != NULL && cleave_range_equal (range, &whole))
    piece->instance.constants[n] = cleave_tensor_ref (constant);
  else if (constant != NULL)
    piece->instance.constants[n] = cleave_tensor_new_slice (constant, range);
}

static void
set_inner_operand (const CleaveTileKind *kind,
                   CleaveTilePiece *piece,
                   guint n,
                   guint made,
                   const CleaveRange *range,
                   char *at)
{
  const CleaveView *from = &kind->pieces[made].instance.results[0];
  CleaveRange part = cleave_range_relative (range, &kind->parts[made].range);

  piece->instance.operands[n] = cleave_view_slice (from, &part);
  piece->sources[n].at = (char *) piece->instance.operands[n].data - at;
}

/* Returns the index of a call's first operand in the list of offsets of a tile. The list begins
 * with the offset of the result; the offsets of the operands of call 0, call 1 and so on follow. */
static guint
find_first_read (const CleaveBody *body, guint index)
{
  guint first = 1;

  for (guint i = 0; i < index; i++)
    first += cleave_body_at (body, i)->n_operands;
  return first;
}

static void
take_operands (const CleaveTilePreparation *p, const CleaveTileKind *kind, guint index, char *at)
{
  const CleaveBody *body = &p->tiles->body;
  const CleaveBodyCall *call = cleave_body_at (body, index);
  const CleaveChunk *chunk = &kind->parts[index].chunk;
  CleaveTilePiece *piece = &kind->pieces[index];
  gboolean drops = (call->op->flags & CLEAVE_OP_VARIADIC) != 0;
  guint n = 0, first = find_first_read (body, index);

  for (guint i = 0; i < call->n_operands; i++)
    {
      const CleaveRange *range = &chunk->slices[i].range;
      guint made;

      if (drops && !chunk->has[i])
        continue;
      piece->sources[n] = (CleaveTileSource){ CLEAVE_BODY_ABSENT, first + i, 0 };
      if (chunk->has[i] && cleave_body_makes (body, call->from[i], &made))
        set_inner_operand (kind, piece, n, made, range, at);
      else if (chunk->has[i])
        set_outer_operand (p, piece, n, call->from[i], range);
      piece->types[n] = piece->instance.operands[n].type;
      n++;
    }
  piece->instance.call.n_operands = n;
}

/* Returns the view whose memory order an intermediate value gets. If the intermediate value
 * overwrites another value, returns that value's view. Otherwise returns the view of operand 0 of
 * an element-wise call, and the view of the group's result for any other call. */
static const CleaveView *
find_like (const CleaveTilePreparation *p,
           const CleaveTileKind *kind,
           guint index,
           const gint64 *offsets)
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
place_result (const CleaveTilePreparation *p,
              const CleaveTileKind *kind,
              guint index,
              const gint64 *offsets,
              char *at)
{
  CleaveTilePiece *piece = &kind->pieces[index];
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
  set_memory_order (y, find_like (p, kind, index, offsets));
}

static void
find_kernel (CleaveTilePreparation *p, CleaveTilePiece *piece)
{
  const CleaveKernelFamily *family = cleave_kernel_find (&piece->instance.call);
  gsize n_scratch = 0;

  if (family == NULL || !family->prepare (&piece->instance, p->weights, &piece->state, &n_scratch))
    return;
  piece->family = family;
  p->n_scratch = MAX (p->n_scratch, n_scratch);
}

static void
prepare_piece (CleaveTilePreparation *p,
               const CleaveTileKind *kind,
               guint index,
               const gint64 *offsets,
               char *at)
{
  const CleaveBodyCall *call = cleave_body_at (&p->tiles->body, index);
  CleaveTilePiece *piece = &kind->pieces[index];

  piece->types = g_new0 (CleaveTensorType, call->n_operands);
  piece->sources = g_new0 (CleaveTileSource, call->n_operands);
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

/* Returns whether a piece overwrites its only operand completely. The operand must be the result of
 * the piece before it, and no other piece may read it. */
static gboolean
overwrites (const CleaveTiles *tiles, const CleaveTileKind *kind, guint index)
{
  const CleaveBody *body = &tiles->body;
  const CleaveTilePiece *piece = &kind->pieces[index], *before = &kind->pieces[index - 1];
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
fuse_bound (const CleaveTiles *tiles, const CleaveTileKind *kind, guint index)
{
  CleaveTilePiece *piece = &kind->pieces[index], *before = &kind->pieces[index - 1];
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

CleaveTileKind *
cleave_tile_kind_new (CleaveTilePreparation *p, CleaveTilePart *parts)
{
  CleaveTiles *tiles = p->tiles;
  guint n_calls = tiles->body.calls->len;
  g_autofree gint64 *offsets = g_new0 (gint64, n_calls);
  gint64 n_bytes = cleave_tile_place (parts, &tiles->body, offsets);
  g_autofree char *memory =
      g_malloc ((gsize) n_bytes + 64); /* 64 more bytes, so that `at` can be a multiple of 64, as
                                          the scratch memory of a run is */
  char *at = memory + (64 - (gsize) memory % 64) % 64;
  CleaveTileKind *kind = g_new0 (CleaveTileKind, 1);

  kind->parts = parts;
  kind->pieces = g_new0 (CleaveTilePiece, n_calls);
  for (guint i = 0; i < n_calls; i++)
    if (parts[i].is_needed)
      prepare_piece (p, kind, i, offsets, at);
  for (guint i = 1; i < n_calls; i++)
    if (parts[i].is_needed)
      fuse_bound (tiles, kind, i);
  tiles->tile_bytes = MAX (tiles->tile_bytes, n_bytes);
  return kind;
}

void
cleave_tile_kind_free (CleaveTileKind *kind, const CleaveBody *body)
{
  for (guint i = 0; i < body->calls->len; i++)
    {
      CleaveTilePiece *piece = &kind->pieces[i];

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
