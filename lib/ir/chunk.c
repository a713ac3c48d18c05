/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "chunk.h"

/* What the chunk reads of an operand.  Each result of a view reads a part of its own. */
static CleaveSlice
map_operand (const CleaveCall *call, guint operand, const CleaveRange *chunk)
{
  CleaveSlice slice = cleave_call_slice (call, operand, chunk);
  CleaveCall other = *call;

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

/* Check 1: no operand slice is empty, except of a variadic operand, which then drops out. */
static gboolean
map_operands (CleaveChunk *chunk, const CleaveCall *call, GString *why)
{
  for (guint i = 0; i < call->n_operands; i++)
    {
      if (!cleave_call_has (call, i))
        continue;
      chunk->slices[i] = map_operand (call, i, &chunk->range);
      chunk->kept[i] = !cleave_range_is_empty (&chunk->slices[i].range);
      if (!chunk->kept[i] && (call->op->flags & CLEAVE_OP_VARIADIC) == 0)
        return cleave_refuse (why, "it would read nothing of %s",
                              cleave_op_operand_name (call->op, i));
    }
  return TRUE;
}

/* The call of the chunk: those operands that are left, with the shapes of their slices. */
static CleaveCall
narrowed_call (const CleaveChunk *chunk, const CleaveCall *call, CleaveTensorType *operands)
{
  CleaveCall narrow = *call;

  narrow.attrs = chunk->attrs;
  narrow.operands = operands;
  narrow.results = NULL;
  narrow.n_operands = 0;
  for (guint i = 0; i < call->n_operands; i++)
    if (chunk->kept[i])
      {
        operands[narrow.n_operands].element = call->operands[i].element;
        operands[narrow.n_operands++].shape = cleave_range_shape (&chunk->slices[i].range);
      }
    else if ((call->op->flags & CLEAVE_OP_VARIADIC) == 0)
      operands[narrow.n_operands++] = (CleaveTensorType){ CLEAVE_NONE };
  return narrow;
}

/* Check 3: infer gives exactly the chunk's shape, and exactly the ranges of further results. */
static gboolean
infer_results (CleaveChunk *chunk, const CleaveCall *call, GString *why)
{
  g_autofree CleaveTensorType *operands = g_new0 (CleaveTensorType, MAX (call->n_operands, 1));
  CleaveCall narrow = narrowed_call (chunk, call, operands);
  g_autoptr (GError) error = NULL;

  if (narrow.n_operands == 0 && call->n_operands > 0)
    return cleave_refuse (why, "it would read nothing");
  if (!cleave_attrs_normalise (&narrow, chunk->attrs, &error) ||
      !call->op->infer (&narrow, chunk->results, &error))
    return cleave_refuse (why, "%s", error->message);
  for (guint r = 0; r < call->n_results; r++)
    {
      CleaveRange range = cleave_call_result_range (call, r, &chunk->range);
      CleaveShape wanted = cleave_range_shape (&range);
      g_autofree char *want = cleave_shape_to_string (&wanted);
      g_autofree char *got = cleave_shape_to_string (&chunk->results[r].shape);

      if (!cleave_shape_equal (&wanted, &chunk->results[r].shape))
        return cleave_refuse (why, "it would give %s for %s, not %s", got,
                              cleave_op_result_name (call->op, r), want);
    }
  return TRUE;
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
    .slices = g_new0 (CleaveSlice, MAX (call->n_operands, 1)),
    .kept = g_new0 (gboolean, MAX (call->n_operands, 1)),
    .results = g_new0 (CleaveTensorType, MAX (call->n_results, 1)),
    .attrs = cleave_attrs_copy (op, call->attrs),
  };
  if (map_operands (chunk, call, why) &&
      (op->narrow == NULL || op->narrow (call, range, chunk->slices, chunk->attrs, why)) &&
      infer_results (chunk, call, why))
    return TRUE;
  cleave_chunk_clear (chunk, op);
  return FALSE;
}

void
cleave_chunk_clear (CleaveChunk *chunk, const CleaveOp *op)
{
  g_clear_pointer (&chunk->slices, g_free);
  g_clear_pointer (&chunk->kept, g_free);
  g_clear_pointer (&chunk->results, g_free);
  cleave_attrs_free (op, g_steal_pointer (&chunk->attrs));
}
