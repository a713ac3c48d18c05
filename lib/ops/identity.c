/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Identity, and Dropout that drops nothing: in inference, or with a ratio of 0. */

#include "move.h"

static void
compute_identity (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  cleave_view_copy (&results[0], &operands[0]);
}

const CleaveOp cleave_op_identity = {
  .name = "Identity",
  .operands = (const char *const[]){ "input", NULL },
  .results = (const char *const[]){ "output", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_VIEW,
  .infer = cleave_infer_same,
  .maps = cleave_maps_same,
  .compute = compute_identity,
};

static const CleaveAttr dropout_attrs[] = {
  { "ratio", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveDropoutAttrs, ratio), .fallback = 0.5,
    .onnx_operand = 1 },
  { "training_mode", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveDropoutAttrs, training_mode),
    .onnx_operand = 2 },
  { "seed", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveDropoutAttrs, seed) },
  { 0 },
};

/* Infers the types of a Dropout. The second result is the mask of the elements that are not
 * dropped. All its elements are 1. */
static gboolean
infer_dropout (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveDropoutAttrs *a = call->attrs;

  if (a->training_mode && a->ratio != 0)
    return cleave_fail (
        error, CLEAVE_ERROR_ATTRIBUTE,
        "training_mode drops at random, which is not supported but for a ratio of 0");
  results[0] = call->operands[0];
  if (call->n_results > 1)
    results[1] = (CleaveTensorType){ CLEAVE_BOOL, call->operands[0].shape };
  return TRUE;
}

static void
compute_dropout (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const guint64 yes = 1;

  cleave_view_copy (&results[0], &operands[0]);
  if (call->n_results > 1)
    cleave_move_fill (&results[1], &yes);
}

const CleaveOp cleave_op_dropout = {
  .name = "Dropout",
  .operands = (const char *const[]){ "data", NULL },
  .results = (const char *const[]){ "output", "mask", NULL },
  .min_operands = 1,
  .attrs_size = sizeof (CleaveDropoutAttrs),
  .attrs = dropout_attrs,
  .infer = infer_dropout,
  .maps = cleave_maps_same,
  .kernel = cleave_move_kernel,
  .compute = compute_dropout,
};
