/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Folds a Pad into the pooling or the Pad that reads it, if no bit of the result changes. */

#include "../info.h"

#include <math.h>

#include "pads.h"

/*     x                      x
 *     |                      |
 * Pad of 0                   |
 *     |            =>        |
 * AveragePool        AveragePool with pads
 *     |                      |
 *
 * An AveragePool counts the zeros of the Pad, as with count_include_pad.  The zeros add nothing to
 * the sum, which begins with +0 and so is never -0.  A MaxPool ignores padding, as if it were the
 * lowest value of its type.  Two Pads with the same value become one.
 *
 * A convolution is different: a product with a zero turns a sum of -0 into +0.  See fold-pads.
 *
 * Before: a valid graph. After: no pooling reads such a Pad whose pads are smaller than the window
 * of the pooling. No Pad reads a Pad with the same value. */

static gboolean
merge_two (CleaveNode *node)
{
  const CleavePadAttrs *a = node->attrs, *b;
  const CleaveNode *inner = node->operands[0].result->node;
  CleavePadAttrs both = *a;

  if (!cleave_node_is (inner, CLEAVE_KNOWN_PAD))
    return FALSE;
  b = inner->attrs;
  if (a->mode != b->mode || a->mode == CLEAVE_PAD_REFLECT ||
      (a->mode == CLEAVE_PAD_CONSTANT &&
       (a->constant_value != b->constant_value ||
        signbit (a->constant_value) != signbit (b->constant_value))))
    return FALSE;
  for (guint i = 0; i < a->pads.n; i++)
    if (a->pads.v[i] < 0 || b->pads.v[i] < 0 ||
        __builtin_add_overflow (a->pads.v[i], b->pads.v[i], &both.pads.v[i]))
      return FALSE;
  return cleave_node_replace (node, &inner->operands[0].result, &both);
}

static double
find_lowest (CleaveElement element)
{
  return element == CLEAVE_UINT8 ? 0 : element == CLEAVE_INT8 ? G_MININT8 : (double) -INFINITY;
}

static gboolean
merge_into_pool (CleaveNode *node)
{
  CleavePoolAttrs attrs = *(const CleavePoolAttrs *) node->attrs;
  const CleaveNode *pad;
  gboolean is_average = cleave_node_is (node, CLEAVE_KNOWN_AVERAGE_POOL);
  double value;

  if (node->n_results != 1)
    return FALSE;
  pad = cleave_window_find_pad (node, attrs.layout);
  if (pad == NULL)
    return FALSE;
  value = ((const CleavePadAttrs *) pad->attrs)->constant_value;
  if (value != (is_average ? 0 : find_lowest (node->results[0].type.element)))
    return FALSE;
  for (guint i = 0; is_average && !attrs.count_include_pad && i < attrs.pads.n; i++)
    if (attrs.pads.v[i] != 0)
      return FALSE;
  attrs.count_include_pad = attrs.count_include_pad || is_average;
  return cleave_window_take_pad (node, pad, attrs.layout, attrs.kernel_shape.v, &attrs,
                                 &attrs.pads);
}

static gboolean
visit (CleaveNode *node)
{
  if (cleave_node_is (node, CLEAVE_KNOWN_PAD))
    return merge_two (node);
  return (cleave_node_is (node, CLEAVE_KNOWN_AVERAGE_POOL) ||
          cleave_node_is (node, CLEAVE_KNOWN_MAX_POOL)) &&
         merge_into_pool (node);
}

const CleavePassInfo cleave_pass_info_merge_pads = {
  .name = "merge-pads",
  .summary = "Folds a Pad into the Pad or the pooling that reads it.",
  .visit = visit,
};
