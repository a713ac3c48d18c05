/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Merges a Relu or Clip with the Relu or Clip that it reads, and removes a Relu whose operand is
 * never negative. */

#include "../info.h"

#include <math.h>

#include "help.h"

/*    x                      x
 *    |                      |
 *   Relu                    |
 *    |                      |
 *   Clip 0…6        =>    Clip 0…6
 *    |                      |
 *
 * Two consecutive nodes that only bound a value (Relu or Clip) become one node. A Relu keeps -0 and
 * NaN, as does a Clip with the lower bound +0. So a Clip with a lower bound of 0 or more makes a
 * Relu before or after it superfluous. A Relu after an op whose result is never negative is
 * superfluous as well.
 *
 * Before: a valid graph. After: no Relu or Clip reads another Relu or Clip, unless their ranges do
 * not overlap, or a Clip has crossed bounds, the lower bound -0 or the upper bound 0. */

typedef struct
{
  double min, max;
  gboolean is_relu;
} Bounds;

static gboolean
find_bounds (const CleaveNode *node, Bounds *bounds)
{
  const CleaveClipAttrs *a = node->attrs;

  if (cleave_node_is (node, CLEAVE_KNOWN_RELU))
    {
      *bounds = (Bounds){ 0, INFINITY, TRUE };
      return TRUE;
    }
  if (!cleave_node_is (node, CLEAVE_KNOWN_CLIP))
    return FALSE;
  *bounds = (Bounds){ a->min, a->max, FALSE };
  return a->min <= a->max && !(a->min == 0 && signbit (a->min)) && a->max != 0;
}

static gboolean
visit (CleaveNode *node)
{
  CleaveResult *x = node->n_operands > 0 ? node->operands[0].result : NULL;
  guint first_new = node->graph->n_ids;
  CleaveClipAttrs attrs;
  Bounds outer, inner;
  CleaveResult *value;

  if (x == NULL || !find_bounds (node, &outer))
    return FALSE;
  if (outer.is_relu && ((x->node->op->flags & CLEAVE_OP_NOT_NEGATIVE) != 0 ||
                        (find_bounds (x->node, &inner) && inner.min >= 0)))
    return cleave_node_give_way (node, x, first_new);
  if (!find_bounds (x->node, &inner) || inner.max < outer.min || outer.max < inner.min)
    return FALSE;
  attrs = (CleaveClipAttrs){ MAX (inner.min, outer.min), MIN (inner.max, outer.max) };
  value =
      cleave_graph_add_clip (node->graph, node->name, x->node->operands[0].result, &attrs, NULL);
  return cleave_node_give_way (node, value, first_new);
}

const CleavePassInfo cleave_pass_info_merge_clips = {
  .name = "merge-clips",
  .summary = "Merges a Relu or Clip with the Relu or Clip that it reads.",
  .visit = visit,
};
