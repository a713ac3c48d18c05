/* SPDX-License-Identifier: GPL-2.0-or-later */

/* ReverseSequence: of each entry of a batch the first steps in time, as many as its length says,
 * the other way round.  Time is whole, every other dimension splits at will. */

#include "move.h"

enum { INPUT, LENGTHS };

static const CleaveAttr reverse_attrs[] = {
  { "batch_axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveReverseSequenceAttrs, batch_axis),
    .fallback = 1, CLEAVE_AT_LEAST (0) },
  { "time_axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveReverseSequenceAttrs, time_axis),
    CLEAVE_AT_LEAST (0) },
  { 0 },
};

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveReverseSequenceAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[INPUT].shape;

  if (!cleave_call_check_rank (call, INPUT, 2, CLEAVE_MAX_RANK, error) ||
      !cleave_call_check_element (call, LENGTHS, CLEAVE_ELEMENT_BIT (CLEAVE_INT64), error) ||
      !cleave_call_check_rank (call, LENGTHS, 1, 1, error))
    return FALSE;
  if (a->batch_axis + a->time_axis != 1)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "batch_axis and time_axis must be 0 and 1, not %" G_GINT64_FORMAT
                        " and %" G_GINT64_FORMAT,
                        a->batch_axis, a->time_axis);
  if (call->operands[LENGTHS].shape.dim[0] != x->dim[a->batch_axis])
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "sequence_lens has %" G_GINT64_FORMAT
                        " entries, the batch has %" G_GINT64_FORMAT,
                        call->operands[LENGTHS].shape.dim[0], x->dim[a->batch_axis]);
  return cleave_infer_same (call, results, error);
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveReverseSequenceAttrs *a = call->attrs;

  cleave_maps_same (call, operand, map);
  if (operand == LENGTHS)
    map[0] = cleave_dim_map_same ((guint) a->batch_axis);
  else
    map[a->time_axis] = cleave_dim_map_whole (call->operands[INPUT].shape.dim[a->time_axis]);
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveReverseSequenceAttrs *a = call->attrs;
  const CleaveView *x = &operands[INPUT], *y = &results[0], *lengths = &operands[LENGTHS];
  CleaveRange from = cleave_range_whole (&x->type.shape), to = from;
  CleaveSpan *batch = &from.dim[a->batch_axis], *time = &from.dim[a->time_axis];
  gint64 n_batch = batch->end, n_time = time->end;

  for (gint64 b = 0; b < n_batch; b++)
    for (gint64 t = 0; t < n_time; t++)
      {
        gint64 length = ((const gint64 *) lengths->data)[b * lengths->stride[0]];
        gint64 at = t < MIN (length, n_time) ? MIN (length, n_time) - 1 - t : t;
        CleaveView source, target;

        *batch = to.dim[a->batch_axis] = (CleaveSpan){ b, b + 1 };
        *time = (CleaveSpan){ at, at + 1 };
        to.dim[a->time_axis] = (CleaveSpan){ t, t + 1 };
        source = cleave_view_slice (x, &from);
        target = cleave_view_slice (y, &to);
        cleave_view_copy (&target, &source);
      }
}

const CleaveOp cleave_op_reverse_sequence = {
  .name = "ReverseSequence",
  .operands = (const char *const[]){ "input", "sequence_lens", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 2,
  .attrs_size = sizeof (CleaveReverseSequenceAttrs),
  .attrs = reverse_attrs,
  .infer = infer,
  .maps = maps,
  .work = cleave_work_once,
  .compute = compute,
};
