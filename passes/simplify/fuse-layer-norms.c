/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces a chain of nodes that normalizes a value by one LayerNormalization node. In this file,
 * the distance of an element is the element minus the mean of the value. */

#include "../info.h"

#include "../../lib/ir/defaults.h"

#include "help.h"

/*        x
 *      / |                              x
 *     | ReduceMean                      |
 *     |  |                  =>  LayerNormalization
 *     Sub                               |
 *     / \
 *    |  Pow 2, ReduceMean, Add epsilon, Sqrt
 *     \  |
 *     Div
 *      |
 *   Mul, Add
 *
 * LayerNormalization computes its means in double and rounds once; the chain rounds after each
 * node.  The last bits differ, so no pipeline of the library has this pass.
 *
 * Before: a valid graph. After: a chain that normalizes the last dimensions is left only if a node
 * outside the chain reads an inner value of the chain. */

/* Sets `number` to the element of a float constant of one element. Returns FALSE if the value is
 * not a float constant of one element. */
static gboolean
get_number (const CleaveResult *value, double *number)
{
  CleaveTensor *tensor = cleave_node_get_final_constant (value->node);
  g_autoptr (CleaveTensor) dense = NULL;

  if (tensor == NULL || value->type.element != CLEAVE_FLOAT32 ||
      cleave_shape_n_elements (&value->type.shape) != 1)
    return FALSE;
  dense = cleave_tensor_dup_dense (tensor);
  *number = (double) *(const float *) cleave_tensor_get_data (dense);
  return TRUE;
}

/* Returns the node that computes a value, if its op is `op` and the value has exactly `n_uses`
 * uses; NULL otherwise. */
static CleaveNode *
find (const CleaveResult *value, CleaveKnownOp op, guint n_uses)
{
  return cleave_node_is (value->node, op) && value->n_uses == n_uses ? value->node : NULL;
}

/* Returns the first of the trailing dimensions over which a ReduceMean computes the mean. Returns
 * -1 if the ReduceMean reduces other dimensions or removes the reduced dimensions. */
static gint
find_axis (const CleaveNode *mean)
{
  const CleaveReduceAttrs *a = mean->attrs;
  guint rank = mean->operands[0].result->type.shape.rank, axes = 0, first = rank;

  if (!a->keepdims || a->axes.n == 0)
    return -1;
  for (guint i = 0; i < a->axes.n; i++)
    axes |= 1u << a->axes.v[i];
  while (first > 0 && (axes >> (first - 1) & 1) != 0)
    first--;
  return axes >> first << first == axes ? (gint) first : -1;
}

/* Returns whether a node squares `distance`: a Pow by 2, or a Mul of two equal operands. */
static gboolean
is_square (const CleaveNode *node, const CleaveResult *distance)
{
  double exponent;

  if (node->n_operands != 2 || node->operands[0].result != distance)
    return FALSE;
  if (cleave_node_is (node, CLEAVE_KNOWN_MUL))
    return node->operands[1].result == distance;
  return cleave_node_is (node, CLEAVE_KNOWN_POW) &&
         get_number (node->operands[1].result, &exponent) && exponent == 2;
}

/* Sets `number` to the element of the operand that is a float constant of one element, and
 * `rest` to the other operand. Returns FALSE if neither operand is such a constant. */
static gboolean
take_number (const CleaveNode *node, double *number, CleaveResult **rest)
{
  for (guint i = 0; i < 2; i++)
    if (get_number (node->operands[i].result, number))
      {
        *rest = node->operands[1 - i].result;
        return TRUE;
      }
  return FALSE;
}

/* Returns the value that the chain before the Div `div` normalizes. Sets the axis and the epsilon
 * in `attrs`. Returns NULL if no such chain ends at `div`. */
static CleaveResult *
find_normalized (const CleaveNode *div, CleaveLayerNormAttrs *attrs)
{
  const CleaveResult *distance = div->operands[0].result;
  const CleaveNode *sub = cleave_node_is (distance->node, CLEAVE_KNOWN_SUB) ? distance->node : NULL;
  const CleaveNode *root = find (div->operands[1].result, CLEAVE_KNOWN_SQRT, 1), *add, *var, *mean;
  CleaveResult *rest;
  gint axis;

  add = root == NULL ? NULL : find (root->operands[0].result, CLEAVE_KNOWN_ADD, 1);
  if (sub == NULL || add == NULL || !take_number (add, &attrs->epsilon, &rest))
    return NULL;
  var = find (rest, CLEAVE_KNOWN_REDUCE_MEAN, 1);
  mean = find (sub->operands[1].result, CLEAVE_KNOWN_REDUCE_MEAN, 1);
  if (var == NULL || mean == NULL || mean->operands[0].result != sub->operands[0].result ||
      var->operands[0].result->n_uses > 2 || !is_square (var->operands[0].result->node, distance))
    return NULL;
  axis = find_axis (mean);
  attrs->axis = axis;
  return axis >= 0 && find_axis (var) == axis ? sub->operands[0].result : NULL;
}

/* Returns the operand of `node` other than `value`, such as a scale. The normalized dimensions are
 * dimension `axis` of `value` and all later dimensions. Returns NULL if the other operand has more
 * dimensions than are normalized, or if the result of `node` does not have the shape of `value`. */
static CleaveResult *
find_parameter (const CleaveNode *node, const CleaveResult *value, gint64 axis)
{
  CleaveResult *other = node->operands[node->operands[0].result == value ? 1 : 0].result;

  return other != value && other->type.shape.rank + axis <= value->type.shape.rank &&
                 cleave_shape_equal (&node->results[0].type.shape, &value->type.shape)
             ? other
             : NULL;
}

/* Returns the only reader of a value if its op is `op`; NULL otherwise. */
static CleaveNode *
find_reader (const CleaveResult *value, CleaveKnownOp op)
{
  CleaveNode *node = value->n_uses == 1 ? value->first_use->node : NULL;

  return node != NULL && cleave_node_is (node, op) ? node : NULL;
}

static gboolean
visit (CleaveNode *node)
{
  CleaveLayerNormAttrs attrs = { .stash_type = 1 };
  guint first_new = node->graph->n_ids;
  CleaveResult *operands[3] = { 0 };
  CleaveNode *scale, *shift, *norm;

  if (!cleave_node_is (node, CLEAVE_KNOWN_DIV) || node->results[0].type.element != CLEAVE_FLOAT32)
    return FALSE;
  operands[0] = find_normalized (node, &attrs);
  scale = operands[0] == NULL ? NULL : find_reader (&node->results[0], CLEAVE_KNOWN_MUL);
  operands[1] = scale == NULL ? NULL : find_parameter (scale, &node->results[0], attrs.axis);
  if (operands[1] == NULL)
    return FALSE;
  shift = find_reader (&scale->results[0], CLEAVE_KNOWN_ADD);
  operands[2] = shift == NULL ? NULL : find_parameter (shift, &scale->results[0], attrs.axis);
  norm = cleave_graph_add (node->graph, cleave_known_op (CLEAVE_KNOWN_LAYER_NORMALIZATION),
                           node->name, operands, operands[2] == NULL ? 2 : 3, 1, &attrs, NULL);
  if (norm == NULL)
    return FALSE;
  return cleave_node_give_way (operands[2] == NULL ? scale : shift, &norm->results[0], first_new);
}

const CleavePassInfo cleave_pass_info_fuse_layer_norms = {
  .name = "fuse-layer-norms",
  .summary = "Replaces a chain that normalizes by a LayerNormalization; changes the last bits.",
  .visit = visit,
};
