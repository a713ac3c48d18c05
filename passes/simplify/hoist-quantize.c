/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Moves a QuantizeLinear above nodes that only move elements. If the QuantizeLinear then reads a
 * DequantizeLinear and both cancel, removes both nodes. The two nodes cancel if they have equal
 * scales, zero points and types of bytes. */

#include "../info.h"

#include "../../lib/ir/defaults.h"

#include <math.h>

#include "help.h"

/*        x                   x
 *        |                   |
 * DequantizeLinear           |
 *        |                   |
 *    Transpose     =>    Transpose
 *        |                   |
 *  QuantizeLinear            |
 *        |                   |
 *
 * Moves a QuantizeLinear above nodes that only move elements, until the operand of the
 * QuantizeLinear comes from a DequantizeLinear with the same scale and zero point. Then removes
 * both nodes, so the nodes between them move bytes instead of floats. The bits stay the same: for a
 * byte k, k * scale / scale differs from k by less than one half. Above a Slice or a MaxPool, the
 * QuantizeLinear would process more elements. Above a Concat, the QuantizeLinear would become
 * several nodes. So the QuantizeLinear moves above a Slice, MaxPool or Concat only if an operand of
 * this Slice, MaxPool or Concat comes from a DequantizeLinear that the pass then removes. A MaxPool
 * selects the same element of bytes as of floats, since quantization is monotonic.
 *
 * Before: a valid graph. After: a DequantizeLinear and a QuantizeLinear that could cancel are left
 * only if another kind of node stands between them, or if a node between them has another
 * reader. */

enum { X, SCALE, ZERO };

/* If a scale is between these bounds, a byte times the scale and a byte divided by the scale are
 * normal floats. */
#define MIN_SCALE 1e-30f
#define MAX_SCALE 1e30f

static gboolean
has (const CleaveNode *node, guint operand)
{
  return operand < node->n_operands && node->operands[operand].result != NULL;
}

static gboolean
same_constant (const CleaveNode *a, const CleaveNode *b, guint operand)
{
  CleaveTensor *x, *y;

  if (!has (a, operand) || !has (b, operand))
    return !has (a, operand) && !has (b, operand);
  x = cleave_node_get_final_constant (a->operands[operand].result->node);
  y = cleave_node_get_final_constant (b->operands[operand].result->node);
  return x != NULL && y != NULL && (x == y || cleave_tensor_equal (x, y));
}

/* Returns whether the scales of a node are constants between MIN_SCALE and MAX_SCALE. */
static gboolean
has_plain_scales (const CleaveNode *node)
{
  CleaveTensor *value = cleave_node_get_final_constant (node->operands[SCALE].result->node);
  g_autoptr (CleaveTensor) dense = value == NULL ? NULL : cleave_tensor_dup_dense (value);
  const float *scale = dense == NULL ? NULL : cleave_tensor_get_data (dense);

  if (scale == NULL)
    return FALSE;
  for (gint64 i = 0; i < cleave_shape_n_elements (&node->operands[SCALE].result->type.shape); i++)
    if (!(scale[i] >= MIN_SCALE && scale[i] <= MAX_SCALE))
      return FALSE;
  return TRUE;
}

static gboolean
is_for_all (const CleaveNode *node)
{
  return cleave_shape_n_elements (&node->operands[SCALE].result->type.shape) == 1;
}

/* Returns whether a DequantizeLinear with the scale and zero point of `quantize`, a QuantizeLinear,
 * computes `value`. If `quantize` read `value`, `quantize` would then compute the bytes that the
 * DequantizeLinear reads. */
static gboolean
cancels (const CleaveNode *quantize, const CleaveResult *value)
{
  const CleaveNode *node = value->node;

  return cleave_node_is (node, CLEAVE_KNOWN_DEQUANTIZE_LINEAR) &&
         node->operands[X].result->type.element == quantize->results[0].type.element &&
         same_constant (node, quantize, SCALE) && same_constant (node, quantize, ZERO) &&
         (is_for_all (node) || cleave_attrs_equal (quantize->op, quantize->attrs, node->attrs));
}

static gboolean
any_cancels (const CleaveNode *quantize, const CleaveNode *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (cancels (quantize, node->operands[i].result))
      return TRUE;
  return FALSE;
}

static gboolean
goes_before (const CleaveNode *quantize, const CleaveNode *node)
{
  const CleaveResult *y = &node->results[0];
  gboolean moves =
      (node->op->flags & CLEAVE_OP_ROW_MAJOR) != 0 || cleave_node_is (node, CLEAVE_KNOWN_TRANSPOSE);

  if (node->n_results != 1 || y->n_uses != 1 || y->type.element != CLEAVE_FLOAT32 ||
      node->n_operands == 0 || cleave_node_is_fixed (node) || !is_for_all (quantize))
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    if (!has (node, i) || node->operands[i].result->type.element != CLEAVE_FLOAT32)
      return FALSE;
  if (moves && node->n_operands == 1)
    return TRUE;
  return (cleave_node_is (node, CLEAVE_KNOWN_CONCAT) || cleave_node_is (node, CLEAVE_KNOWN_SLICE) ||
          cleave_node_is (node, CLEAVE_KNOWN_MAX_POOL)) &&
         any_cancels (quantize, node);
}

/* Returns `value` after a QuantizeLinear like `quantize`. If a DequantizeLinear that cancels with
 * `quantize` (cancels()) computes `value`, returns the operand of the DequantizeLinear. If not,
 * adds a QuantizeLinear of `value` and returns its result. */
static CleaveResult *
quantize_value (const CleaveNode *quantize, CleaveResult *value)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, quantize->n_operands);
  CleaveNode *node;

  if (cancels (quantize, value))
    return value->node->operands[X].result;
  for (guint i = 0; i < quantize->n_operands; i++)
    operands[i] = i == X ? value : quantize->operands[i].result;
  node = cleave_graph_add (value->node->graph, quantize->op, value->node->name, operands,
                           quantize->n_operands, 1, quantize->attrs, NULL);
  return node == NULL ? NULL : &node->results[0];
}

static gboolean
go_before (CleaveNode *quantize, const CleaveNode *node)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands);
  guint first_new = node->graph->n_ids;
  CleaveNode *moved;

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = quantize_value (quantize, node->operands[i].result);
  moved = cleave_graph_add (node->graph, node->op, node->name, operands, node->n_operands, 1,
                            node->attrs, NULL);
  g_assert (moved != NULL &&
            cleave_tensor_type_equal (&moved->results[0].type, &quantize->results[0].type));
  return cleave_node_give_way (quantize, &moved->results[0], first_new);
}

static gboolean
visit (CleaveNode *node)
{
  CleaveResult *x;

  if (!cleave_node_is (node, CLEAVE_KNOWN_QUANTIZE_LINEAR) || !has_plain_scales (node))
    return FALSE;
  x = node->operands[X].result;
  if (cancels (node, x))
    return cleave_node_give_way (node, x->node->operands[X].result, node->graph->n_ids);
  return goes_before (node, x->node) && go_before (node, x->node);
}

const CleavePassInfo cleave_pass_info_hoist_quantize = {
  .name = "hoist-quantize",
  .summary = "Moves a QuantizeLinear before nodes that only move elements, and cancels it there.",
  .visit = visit,
};
