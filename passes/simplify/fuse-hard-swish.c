/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces a Mul of a value and the HardSigmoid of this value by a HardSwish. */

#include "../info.h"

#include "help.h"

/*    x                     x
 *    | \                   |
 *    | HardSigmoid   =>    |
 *    | /                   |
 *   Mul                HardSwish
 *    |                     |
 *
 * With alpha 1/6 and beta 1/2, HardSwish computes the same bits in 32-bit floats.  Other element
 * types would be rounded between the two nodes.
 *
 * Before: a valid graph. After: a Mul of a value and the HardSigmoid of this value is left only if
 * another node reads the HardSigmoid, or if alpha, beta or the element type differ. */

static gboolean
visit (CleaveNode *node)
{
  guint first_new = node->graph->n_ids;

  if (!cleave_node_is (node, CLEAVE_KNOWN_MUL) || node->results[0].type.element != CLEAVE_FLOAT32)
    return FALSE;
  for (guint i = 0; i < 2; i++)
    {
      CleaveResult *x = node->operands[i].result;
      const CleaveResult *gate = node->operands[1 - i].result;
      const CleaveElementwiseAttrs *a = gate->node->attrs;
      CleaveNode *swish;

      if (!cleave_node_is (gate->node, CLEAVE_KNOWN_HARD_SIGMOID) || gate->n_uses != 1 ||
          gate->node->operands[0].result != x || (float) a->alpha != 1.0f / 6 || a->beta != 0.5)
        continue;
      swish = cleave_graph_add (node->graph, cleave_known_op (CLEAVE_KNOWN_HARD_SWISH), node->name,
                                &x, 1, 1, NULL, NULL);
      return cleave_node_give_way (node, &swish->results[0], first_new);
    }
  return FALSE;
}

const CleavePassInfo cleave_pass_info_fuse_hard_swish = {
  .name = "fuse-hard-swish",
  .summary = "Replaces a product of a value and its HardSigmoid by a HardSwish.",
  .visit = visit,
};
