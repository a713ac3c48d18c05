/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Plans the node that computes one chunk of a result. Makes three checks. map_operands(): each
 * operand slice has elements. `narrow` of the op: a node can compute the chunk. infer_results():
 * the inferred shapes equal the shapes of the chunk. */

#include "chunk.h"

#include "graph-private.h"

#include <string.h>

/* Adds one element to each empty dimension of a slice: the element of the operand that is nearest
 * to the padding. Only ops with the flag CLEAVE_OP_CROPS, such as Pad, need this element. A
 * negative clip (CleaveSlice) removes this element from the result of the piece, so the piece
 * computes only padding.
 *
 * Example: a chunk needs the rows [-3, -1), which lie before row 0. The piece reads row 0. The clip
 * 3 at the begin adds the rows -3, -2 and -1 before row 0. The clip -2 at the end removes the last
 * two of these four rows. The rows -3 and -2 remain. */
static void
read_nearest (CleaveSlice *slice, const CleaveShape *operand)
{
  for (guint d = 0; d < operand->rank; d++)
    {
      CleaveSpan *span = &slice->range.dim[d];
      const gint64 begin = span->begin - slice->clip_begin[d], end = span->end + slice->clip_end[d];

      if (span->begin < span->end || begin >= end || operand->dim[d] == 0)
        continue;
      span->begin = CLAMP (begin, 0, operand->dim[d] - 1);
      span->end = span->begin + 1;
      slice->clip_begin[d] = span->begin - begin;
      slice->clip_end[d] = end - span->end;
    }
}

/* Returns the slice of an operand that a chunk reads. Each result of an op with the flag
 * CLEAVE_OP_VIEW, such as Split, reads a separate part of operand 0. The slice then is the smallest
 * range that contains the parts of all results. */
static CleaveSlice
map_operand (const CleaveCall *call, guint operand, const CleaveRange *chunk)
{
  CleaveSlice slice = cleave_call_slice (call, operand, chunk);
  CleaveCall other = *call;

  if ((call->op->flags & CLEAVE_OP_CROPS) != 0)
    read_nearest (&slice, &call->operands[operand].shape);
  if ((call->op->flags & CLEAVE_OP_VIEW) == 0)
    return slice;
  for (other.result = 1; other.result < call->n_results; other.result++)
    {
      CleaveRange range = cleave_call_result_range (call, other.result, chunk);
      CleaveSlice more = cleave_call_slice (&other, operand, &range);

      if (!cleave_range_is_empty (&more.range))
        slice.range = cleave_range_hull (&slice.range, &more.range);
    }
  return slice;
}

/* The chunk reads only padding. Finds how far the chunk must extend to read an element of the
 * operand. If `grow` is set, returns the smallest end of the chunk, in dimension `map->from` of the
 * result, that suffices. If not, returns the largest begin that suffices. `extent` is the extent of
 * the operand's dimension, `n` the extent of the result's dimension. Uses binary search. */
static gint64
find_reach (
    const CleaveDimMap *map, const CleaveRange *chunk, gint64 extent, gint64 n, gboolean grow)
{
  CleaveRange range = *chunk;
  CleaveSpan *span = &range.dim[map->from];
  /* `near` and `far` enclose the position that the search moves: the end of the chunk if `grow` is
   * set, otherwise its begin. Invariant: a chunk that extends to `near` reads only padding. A chunk
   * that extends to `far` reads an element of the operand, or `far` is the border of the result. */
  gint64 near = grow ? span->end : span->begin, far = grow ? n : 0;

  while (ABS (far - near) > 1)
    {
      gint64 middle = near + (far - near) / 2;
      CleaveSpan read;

      *(grow ? &span->end : &span->begin) = middle;
      read = cleave_dim_map_apply (map, range.dim);
      if (grow ? read.end > 0 : read.begin < extent)
        far = middle;
      else
        near = middle;
    }
  return far;
}

/* Refuses a chunk that reads only padding: returns FALSE and appends the reason to `why`. The
 * reason names the dimension, and how far the chunk would have to extend. */
static gboolean
refuse_empty (const CleaveCall *call, guint operand, const CleaveRange *chunk, GString *why)
{
  const CleaveShape *shape = &call->operands[operand].shape;
  const char *letters = call->op->layout == NULL ? NULL : call->op->layout (call);
  CleaveDimMap map[CLEAVE_MAX_RANK];

  if (why == NULL)
    return FALSE;
  call->op->maps (call, operand, map);
  for (guint d = 0; d < shape->rank; d++)
    {
      CleaveSpan read = cleave_dim_map_apply (&map[d], chunk->dim), part = chunk->dim[map[d].from];
      gboolean grow = read.end <= 0;

      if (shape->dim[d] == 0 || (!grow && read.begin < shape->dim[d]))
        continue;
      if (letters != NULL)
        cleave_refuse (why, "chunk %c ", letters[map[d].from]);
      else
        cleave_refuse (why, "chunk of dimension %u ", map[d].from);
      return cleave_refuse (why,
                            "[%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT
                            ") reads padding only; %s would have to %s %" G_GINT64_FORMAT,
                            part.begin, part.end,
                            part.begin == 0 ? "the first chunk"
                            : part.end == call->results[0].shape.dim[map[d].from] ? "the last chunk"
                                                                                  : "it",
                            grow ? "reach" : "begin at",
                            find_reach (&map[d], chunk, shape->dim[d],
                                        call->results[0].shape.dim[map[d].from], grow));
    }
  return cleave_refuse (why, "it would read nothing of %s",
                        cleave_op_operand_name (call->op, operand));
}

/* Sets the slice of each operand. Returns FALSE if a slice is empty, and appends the reason to
 * `why`. If the op has the flag CLEAVE_OP_VARIADIC, an empty slice is no error: the piece is made
 * without this operand. */
static gboolean
map_operands (CleaveChunk *chunk, const CleaveCall *call, GString *why)
{
  for (guint i = 0; i < call->n_operands; i++)
    {
      if (!cleave_call_has (call, i))
        continue;
      chunk->slices[i] = map_operand (call, i, &chunk->range);
      chunk->has[i] = !cleave_range_is_empty (&chunk->slices[i].range);
      if (!chunk->has[i] && (call->op->flags & CLEAVE_OP_VARIADIC) == 0)
        return refuse_empty (call, i, &chunk->range, why);
    }
  return TRUE;
}

/* Returns a call with the attributes of the piece. Each operand of the returned call has the shape
 * of its slice in `chunk`. Stores the types of the operands in `types`, an array with at least
 * `call->n_operands` entries. */
static CleaveCall
narrowed_call (const CleaveChunk *chunk, const CleaveCall *call, CleaveTensorType *types)
{
  CleaveCall narrow = *call;

  narrow.attrs = chunk->attrs;
  narrow.operands = types;
  narrow.results = NULL;
  narrow.cursor = NULL;
  narrow.n_operands = 0;
  for (guint i = 0; i < call->n_operands; i++)
    if (chunk->has[i])
      {
        types[narrow.n_operands].element = call->operands[i].element;
        types[narrow.n_operands++].shape = cleave_range_shape (&chunk->slices[i].range);
      }
    else if ((call->op->flags & CLEAVE_OP_VARIADIC) == 0)
      types[narrow.n_operands++] = (CleaveTensorType){ .element = CLEAVE_NONE };
  return narrow;
}

/* Refuses a chunk: returns FALSE and appends the reason to `why`. The shape `got`, which `infer`
 * gives the result of the piece, differs from the chunk's shape `want`. The reason names the first
 * dimension that differs. */
static gboolean
refuse_shape (const CleaveCall *call,
              guint result,
              const CleaveShape *got,
              const CleaveShape *want,
              GString *why)
{
  const char *letters = result == 0 && call->op->layout != NULL ? call->op->layout (call) : NULL;
  const char *name = cleave_op_result_name (call->op, result);

  for (guint d = 0; got->rank == want->rank && d < want->rank; d++)
    if (got->dim[d] != want->dim[d])
      {
        g_autofree char *dimension =
            letters != NULL ? g_strdup_printf ("%c", letters[d]) : g_strdup_printf ("%u", d);

        return cleave_refuse (why,
                              "dimension %s cannot be cut there: a piece of %" G_GINT64_FORMAT
                              " of %s would have %" G_GINT64_FORMAT,
                              dimension, want->dim[d], name, got->dim[d]);
      }
  return cleave_refuse (why, "%s would have rank %u, not %u", name, got->rank, want->rank);
}

/* Infers the types of the results of a piece. Returns FALSE, and appends the reason to `why`,
 * unless each result has the shape of the range that the chunk contains of this result. */
static gboolean
infer_results (CleaveChunk *chunk, const CleaveCall *call, GString *why)
{
  CleaveTensorType few[4] = { 0 };
  g_autofree CleaveTensorType *many =
      call->n_operands > G_N_ELEMENTS (few) ? g_new0 (CleaveTensorType, call->n_operands) : NULL;
  CleaveCall narrow = narrowed_call (chunk, call, many != NULL ? many : few);
  g_autoptr (GError) error = NULL;

  if (narrow.n_operands == 0 && call->n_operands > 0)
    return cleave_refuse (why, "it would read nothing");
  if (!cleave_attrs_normalize (&narrow, chunk->attrs, &error) ||
      !call->op->infer (&narrow, chunk->results, &error))
    return cleave_refuse (why, "%s", error->message);
  for (guint r = 0; r < call->n_results; r++)
    {
      CleaveRange range = cleave_call_result_range (call, r, &chunk->range);
      CleaveShape wanted = cleave_range_shape (&range);

      if (!cleave_shape_equal (&wanted, &chunk->results[r].shape))
        return refuse_shape (call, r, &chunk->results[r].shape, &wanted, why);
    }
  return TRUE;
}

/* Allocates the arrays `slices`, `results` and `has` as one block: a search plans thousands of
 * chunks. */
static void
allocate (CleaveChunk *chunk)
{
  gsize slices = MAX (chunk->n_operands, 1) * sizeof *chunk->slices;
  gsize results = MAX (chunk->n_results, 1) * sizeof *chunk->results;
  gsize n_bytes = slices + results + chunk->n_operands * sizeof *chunk->has;
  char *block = memset (g_malloc (n_bytes), 0, n_bytes); /* for small blocks, malloc() and
                                                          * memset() are faster than calloc() */

  chunk->slices = (CleaveSlice *) (gpointer) block;
  chunk->results = (CleaveTensorType *) (gpointer) (block + slices);
  chunk->has = (gboolean *) (gpointer) (block + slices + results);
}

gboolean
cleave_chunk_init (CleaveChunk *chunk,
                   const CleaveCall *call,
                   const CleaveRange *range,
                   GString *why)
{
  const CleaveOp *op = call->op;

  if (op->maps == NULL)
    return cleave_refuse (why, "%s cannot be split", op->name);
  *chunk = (CleaveChunk){
    .range = *range,
    .n_operands = call->n_operands,
    .n_results = call->n_results,
    .attrs = cleave_attrs_copy (op, call->attrs),
  };
  allocate (chunk);
  if (map_operands (chunk, call, why) &&
      (op->narrow == NULL || op->narrow (call, chunk, chunk->attrs, why)) &&
      infer_results (chunk, call, why))
    return TRUE;
  cleave_chunk_clear (chunk, op);
  return FALSE;
}

void
cleave_chunk_clear (CleaveChunk *chunk, const CleaveOp *op)
{
  g_clear_pointer (&chunk->slices, g_free); /* also frees `results` and `has`, which are in the same
                                             * block */
  cleave_attrs_free (op, g_steal_pointer (&chunk->attrs));
}

/* Moves both ends of a span outwards, so that the span cuts no block of `map`, the map of an
 * operand dimension. */
static void
align_span (const CleaveDimMap *map, CleaveSpan *span, gint64 extent)
{
  gint64 begin = cleave_floor_div (span->begin + map->shift, map->block) * map->block - map->shift;
  gint64 end =
      (cleave_floor_div (span->end - 1 + map->shift, map->block) + 1) * map->block - map->shift;

  span->begin = MAX (begin, 0);
  span->end = MIN (end, extent);
}

/* With much padding, the first or the last elements of a result read only padding. No chunk may
 * consist of such elements. If `range` has some of the first elements that read only padding,
 * extends `range` to all of them and to one element more. Extends `range` in the same way if it has
 * some of the last elements that read only padding. `map` is the map of an operand's dimension,
 * which has `extent` elements. `n` is the extent of dimension `map->from` of the result. */
static void
align_to_padding (const CleaveDimMap *map, CleaveRange *range, gint64 extent, gint64 n)
{
  CleaveSpan *span = &range->dim[map->from];
  CleaveRange border = *range;
  gint64 first, last;

  border.dim[map->from] = (CleaveSpan){ 0, 0 };
  first = find_reach (map, &border, extent, n, TRUE);
  border.dim[map->from] = (CleaveSpan){ n, n };
  last = find_reach (map, &border, extent, n, FALSE);
  if (span->begin < first)
    *span = (CleaveSpan){ 0, MAX (span->end, first) };
  if (span->end > last)
    *span = (CleaveSpan){ MIN (span->begin, last), n };
}

static void
align_to_operands (const CleaveCall *call, CleaveRange *range)
{
  /* pieces of these ops may read only padding, or may leave out an operand */
  const gboolean may_miss = (call->op->flags & (CLEAVE_OP_CROPS | CLEAVE_OP_VARIADIC)) != 0;

  for (guint i = 0; i < call->n_operands; i++)
    {
      CleaveDimMap map[CLEAVE_MAX_RANK];

      if (!cleave_call_has (call, i))
        continue;
      call->op->maps (call, i, map);
      for (guint d = 0; d < call->operands[i].shape.rank; d++)
        {
          gint64 n;

          if (map[d].stride == 0)
            continue;
          n = call->results[0].shape.dim[map[d].from];
          if (map[d].block > 1 && map[d].times == 1)
            align_span (&map[d], &range->dim[map[d].from], n);
          if (map[d].stride > 0 && !may_miss)
            align_to_padding (&map[d], range, call->operands[i].shape.dim[d], n);
        }
    }
}

void
cleave_chunk_align (const CleaveCall *call, CleaveRange *range)
{
  CleaveRange before;

  do
    {
      before = *range;
      align_to_operands (call, range);
    }
  while (!cleave_range_equal (range, &before));
}

gboolean
cleave_chunk_is_possible (const CleaveCall *call, const CleaveRange *range)
{
  CleaveChunk chunk;

  if (!cleave_chunk_init (&chunk, call, range, NULL))
    return FALSE;
  cleave_chunk_clear (&chunk, call->op);
  return TRUE;
}

gint64
cleave_node_get_block (const CleaveNode *node, guint dim)
{
  const gint64 extent = node->results[0].type.shape.dim[dim];
  g_auto (CleaveNodeCall) of = { 0 };
  const CleaveCall *call = cleave_node_call_init (&of, node);
  CleaveRange block = cleave_range_whole (&call->results[0].shape), one = block;

  if (node->op->maps == NULL || extent < 2)
    return 1;
  block.dim[dim] = (CleaveSpan){ 0, 1 };
  one.dim[dim] = (CleaveSpan){ 1, 2 };
  cleave_chunk_align (call, &block);
  /* for some ops, such as Resize, a chunk may begin inside of a block; if blocks are shifted, they
   * do not begin at multiples of one number */
  return extent % block.dim[dim].end != 0 || cleave_chunk_is_possible (call, &one)
             ? 1
             : block.dim[dim].end;
}
