/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Folds a Pad of zeros into the padding of the Conv that reads it. */

#include "../info.h"

#include "../../lib/ir/defaults.h"

#include <math.h>

#include "pads.h"

/*     x                  x
 *     |                  |
 * Pad of 0               |
 *     |        =>        |
 *   Conv          Conv with pads
 *     |                  |
 *
 * A convolution skips its own padding, but adds products of the Pad's zeros: a sum of -0 then
 * becomes +0.  This rewrite can turn such a +0 into -0; no other bit changes.  No pipeline of the
 * library has this pass.
 *
 * Before: a valid graph. After: no Conv with constant, finite weights reads a Pad of zeros whose
 * pads are smaller than the Conv's window. */

static gboolean
are_finite (const CleaveResult *weights)
{
  CleaveTensor *value = cleave_node_get_final_constant (weights->node);
  g_autoptr (CleaveTensor) dense = value == NULL ? NULL : cleave_tensor_dup_dense (value);
  const float *w = dense == NULL ? NULL : cleave_tensor_get_data (dense);

  if (w == NULL || weights->type.element != CLEAVE_FLOAT32)
    return FALSE;
  for (gint64 i = 0; i < cleave_shape_n_elements (&weights->type.shape); i++)
    if (!isfinite (w[i]))
      return FALSE;
  return TRUE;
}

static gboolean
visit (CleaveNode *node)
{
  CleaveConvAttrs attrs;
  const CleaveNode *pad;

  if (!cleave_node_is (node, CLEAVE_KNOWN_CONV))
    return FALSE;
  attrs = *(const CleaveConvAttrs *) node->attrs;
  pad = cleave_window_find_pad (node, attrs.layout);
  return pad != NULL && ((const CleavePadAttrs *) pad->attrs)->constant_value == 0 &&
         are_finite (node->operands[1].result) &&
         cleave_window_take_pad (node, pad, attrs.layout,
                                 node->operands[1].result->type.shape.dim + 2, &attrs, &attrs.pads);
}

const CleavePassInfo cleave_pass_info_fold_pads = {
  .name = "fold-pads",
  .summary = "Folds a Pad of zeros into the Conv that reads it; may change the sign of zeros.",
  .visit = visit,
};
