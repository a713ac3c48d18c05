/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Trilu and EyeLike. Diagonal k of a matrix has the elements whose column is their row plus k. All
 * dimensions can be split: the same diagonal has another number k in a piece, and narrow() gives
 * the piece this number. */

#include "move.h"

/* Returns the number that diagonal `k` of the whole matrix has in the submatrix `part`. */
static gint64
move_diagonal (gint64 k, const CleaveRange *part)
{
  return k + part->dim[part->rank - 2].begin - part->dim[part->rank - 1].begin;
}

/* Returns k clamped to the first diagonal above and below the matrix: diagonals further outside
 * give the same result. */
static gint64
clamp_diagonal (gint64 k, const CleaveShape *shape)
{
  return shape->rank < 2 ? k : CLAMP (k, -shape->dim[shape->rank - 2], shape->dim[shape->rank - 1]);
}

/* The code below defines the op Trilu. */

static const CleaveAttr trilu_attrs[] = {
  { "k", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveTriluAttrs, k), .onnx_operand = 1,
    .flags = CLEAVE_ATTR_SCALAR },
  { "upper", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveTriluAttrs, upper), .fallback = 1 },
  { 0 },
};

static gboolean
normalize_trilu (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleaveTriluAttrs *a = attrs;

  a->k = clamp_diagonal (a->k, &call->operands[0].shape);
  return TRUE;
}

static gboolean
infer_trilu (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  return cleave_call_check_rank (call, 0, 2, CLEAVE_MAX_RANK, error) &&
         cleave_infer_same (call, results, error);
}

static gboolean
narrow_trilu (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  CleaveTriluAttrs *a = attrs;

  a->k = move_diagonal (a->k, &chunk->range);
  return TRUE;
}

/* Computes Trilu. For each row i, computes row i of all matrices at once: fills the elements
 * outside of the triangle with 0, and copies the elements of the triangle. */
static void
compute_trilu (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTriluAttrs *a = call->attrs;
  const CleaveView *x = &operands[0], *y = &results[0];
  const guint64 zero = 0;
  guint last = y->type.shape.rank - 1;
  gint64 n = y->type.shape.dim[last];
  CleaveRange kept = cleave_range_whole (&y->type.shape), cut = kept;

  for (gint64 row = 0; row < y->type.shape.dim[last - 1]; row++)
    {
      gint64 at = CLAMP (row + a->k + (a->upper ? 0 : 1), 0, n);
      CleaveSpan before = { 0, at }, after = { at, n };
      CleaveView from, to, rest;

      kept.dim[last - 1] = cut.dim[last - 1] = (CleaveSpan){ row, row + 1 };
      kept.dim[last] = a->upper ? after : before;
      cut.dim[last] = a->upper ? before : after;
      from = cleave_view_slice (x, &kept);
      to = cleave_view_slice (y, &kept);
      rest = cleave_view_slice (y, &cut);
      cleave_view_copy (&to, &from);
      cleave_move_fill (&rest, &zero);
    }
}

const CleaveOp cleave_op_trilu = {
  .name = "Trilu",
  .operands = (const char *const[]){ "input", NULL },
  .results = (const char *const[]){ "output", NULL },
  .min_operands = 1,
  .attrs_size = sizeof (CleaveTriluAttrs),
  .attrs = trilu_attrs,
  .normalize = normalize_trilu,
  .infer = infer_trilu,
  .maps = cleave_maps_same,
  .narrow = narrow_trilu,
  .kernel = cleave_move_kernel,
  .compute = compute_trilu,
};

/* The code below defines the op EyeLike. */

static const CleaveAttr eye_attrs[] = {
  { "dtype", CLEAVE_ATTR_ELEMENT, CLEAVE_FIELD (CleaveEyeAttrs, dtype),
    .flags = CLEAVE_ATTR_OPTIONAL },
  { "k", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveEyeAttrs, k) },
  { 0 },
};

static gboolean
normalize_eye (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleaveEyeAttrs *a = attrs;

  if (a->dtype == CLEAVE_NONE)
    a->dtype = call->operands[0].element;
  a->k = clamp_diagonal (a->k, &call->operands[0].shape);
  return TRUE;
}

static gboolean
infer_eye (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveEyeAttrs *a = call->attrs;

  if (!cleave_call_check_rank (call, 0, 2, 2, error))
    return FALSE;
  results[0] = (CleaveTensorType){ a->dtype, call->operands[0].shape };
  return TRUE;
}

static gboolean
narrow_eye (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  CleaveEyeAttrs *a = attrs;

  a->k = move_diagonal (a->k, &chunk->range);
  return TRUE;
}

static void
compute_eye (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveEyeAttrs *a = call->attrs;
  const CleaveView *y = &results[0];
  const guint64 zero = 0;
  guint64 bytes;
  CleaveView one = cleave_view_dense (&CLEAVE_SCALAR (a->dtype), &bytes);

  cleave_move_from_double (a->dtype, 1, &bytes);
  cleave_move_fill (y, &zero);
  for (gint64 row = MAX (0, -a->k), column = MAX (0, a->k);
       row < y->type.shape.dim[0] && column < y->type.shape.dim[1]; row++, column++)
    cleave_move_element (y, row * y->stride[0] + column * y->stride[1], &one, 0);
}

const CleaveOp cleave_op_eye_like = {
  .name = "EyeLike",
  .operands = (const char *const[]){ "input", NULL },
  .results = (const char *const[]){ "output", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_OF_TYPES,
  .attrs_size = sizeof (CleaveEyeAttrs),
  .attrs = eye_attrs,
  .normalize = normalize_eye,
  .infer = infer_eye,
  .maps = cleave_maps_same,
  .narrow = narrow_eye,
  .compute = compute_eye,
};
