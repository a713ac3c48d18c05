/* SPDX-License-Identifier: GPL-2.0-or-later */

/* ReverseSequence: reverses the time steps of each entry of a batch. The length of an entry is the
 * number of its steps that are reversed. All later steps keep their positions. All dimensions but
 * time can be split. */

#include <string.h>

#include "../ir/copy.h"
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

/* Returns the loops that copy one step of one batch entry. All steps have the same loops. */
static CleaveCopyLoops
loops_of_one (const CleaveReverseSequenceAttrs *a, const CleaveView *y, const CleaveView *x)
{
  CleaveCopyLoops loops = { .size = (gint64) cleave_element_size (y->type.element) };

  for (guint d = 0; d < y->type.shape.rank; d++)
    if (d != a->batch_axis && d != a->time_axis)
      cleave_copy_loops_add (&loops, y->type.shape.dim[d], y->stride[d], x->stride[d]);
  cleave_copy_loops_join (&loops);
  return loops;
}

static void
copy_one (const CleaveCopyLoops *one, gpointer to, gconstpointer from)
{
  CleaveCopyLoops loops = *one;

  if (one->rank == 1 && one->to[0] == one->size && one->from[0] == one->size)
    memcpy (to, from, (gsize) (one->n[0] * one->size));
  else
    cleave_copy_loops_run (&loops, to, from);
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveReverseSequenceAttrs *a = call->attrs;
  const CleaveView *x = &operands[INPUT], *y = &results[0], *lengths = &operands[LENGTHS];
  gint64 n_batch = x->type.shape.dim[a->batch_axis], n_time = x->type.shape.dim[a->time_axis];
  CleaveCopyLoops one;

  if (cleave_shape_n_elements (&y->type.shape) == 0)
    return;
  one = loops_of_one (a, y, x);
  for (gint64 b = 0; b < n_batch; b++)
    for (gint64 t = 0; t < n_time; t++)
      {
        gint64 length = ((const gint64 *) lengths->data)[b * lengths->stride[0]];
        gint64 at = t < MIN (length, n_time) ? MIN (length, n_time) - 1 - t : t;

        copy_one (
            &one,
            cleave_view_element (y, b * y->stride[a->batch_axis] + t * y->stride[a->time_axis]),
            cleave_view_element (x, b * x->stride[a->batch_axis] + at * x->stride[a->time_axis]));
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
  .kernel = cleave_move_kernel,
  .compute = compute,
};
