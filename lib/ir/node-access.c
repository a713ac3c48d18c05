/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads nodes, operands and results. */

#include "graph-private.h"

/**
 * cleave_node_get_graph:
 * @node: a node
 *
 * Returns: (transfer none) (nullable): the graph that owns the node, or %NULL if the node was
 * removed
 *
 * Since: 0.1
 */
CleaveGraph *
cleave_node_get_graph (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);
  return node->graph;
}

/**
 * cleave_node_get_next:
 * @node: a node
 *
 * Returns: (transfer none) (nullable): the node that was built after @node, which need not read
 * a result of @node; %NULL for the last node
 *
 * Since: 0.1
 */
CleaveNode *
cleave_node_get_next (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);
  return node->next;
}

/**
 * cleave_node_get_name:
 * @node: a node
 *
 * Returns: (transfer none): the name of the node, which no other node of the graph has
 *
 * Since: 0.1
 */
const char *
cleave_node_get_name (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);
  return node->name;
}

/**
 * cleave_node_get_op:
 * @node: a node
 *
 * Returns: (transfer none): the op of the node
 *
 * Since: 0.1
 */
const CleaveOp *
cleave_node_get_op (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);
  return node->op;
}

/**
 * cleave_node_get_attrs:
 * @node: a node
 *
 * Returns: (transfer none) (nullable): the op's attribute struct, or %NULL if the op has no
 * attributes
 *
 * Since: 0.1
 */
gconstpointer
cleave_node_get_attrs (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);
  return node->attrs;
}

/**
 * cleave_node_dup_attrs_string:
 * @node: a node
 *
 * Returns: (transfer full): the attributes as [method@Cleave.Graph.print] prints them, such as
 * `strides=2,2 pads=1,1,1,1`, without attributes that have their default value
 *
 * Since: 0.1
 */
char *
cleave_node_dup_attrs_string (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);
  g_autoptr (GString) out = g_string_new (NULL);

  cleave_attrs_print (node->op, node->attrs, out);
  return g_strdup (g_strstrip (out->str));
}

/**
 * cleave_node_get_n_operands:
 * @node: a node
 *
 * Returns: the number of operands, including absent operands before the last one that is present
 *
 * Since: 0.1
 */
guint
cleave_node_get_n_operands (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, 0);
  return node->n_operands;
}

/**
 * cleave_node_get_operand:
 * @node: a node
 * @index: index of the operand
 *
 * Returns: (transfer none): the operand
 *
 * Since: 0.1
 */
CleaveOperand *
cleave_node_get_operand (const CleaveNode *node, guint index)
{
  g_return_val_if_fail (node != NULL, NULL);
  g_return_val_if_fail (index < node->n_operands, NULL);
  return &node->operands[index];
}

/**
 * cleave_node_get_n_results:
 * @node: a node
 *
 * Returns: the number of results
 *
 * Since: 0.1
 */
guint
cleave_node_get_n_results (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, 0);
  return node->n_results;
}

/**
 * cleave_node_get_result:
 * @node: a node
 * @index: index of the result
 *
 * Returns: (transfer none): the result
 *
 * Since: 0.1
 */
CleaveResult *
cleave_node_get_result (const CleaveNode *node, guint index)
{
  g_return_val_if_fail (node != NULL, NULL);
  g_return_val_if_fail (index < node->n_results, NULL);
  return &node->results[index];
}

/**
 * cleave_node_get_macs:
 * @node: a node
 *
 * Returns: the number of multiply-accumulates of one run of the node; 0 for ops that have none, and
 * 2^63 - 1 if the number is larger
 *
 * Since: 0.1
 */
gint64
cleave_node_get_macs (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, 0);
  CleaveNodeCall call;
  gint64 macs;

  if (node->op->macs == NULL)
    return 0;
  macs = node->op->macs (cleave_node_call_init (&call, node));
  cleave_node_call_clear (&call);
  return macs;
}

/**
 * cleave_node_is_input:
 * @node: a node
 *
 * Returns: whether the node is an input of the graph
 *
 * Since: 0.1
 */
gboolean
cleave_node_is_input (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, FALSE);
  return node->op == &cleave_op_input;
}

/**
 * cleave_node_get_constant:
 * @node: a node
 *
 * Returns: (transfer none) (nullable): the value of a Constant, or %NULL for any other node
 *
 * Since: 0.1
 */
CleaveTensor *
cleave_node_get_constant (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);
  return node->op == &cleave_op_constant ? ((const CleaveConstantAttrs *) node->attrs)->value
                                         : NULL;
}

/**
 * cleave_operand_get_node:
 * @operand: an operand
 *
 * Returns: (transfer none) (nullable): the node that has the operand, or %NULL for an output of the
 * graph
 *
 * Since: 0.1
 */
CleaveNode *
cleave_operand_get_node (const CleaveOperand *operand)
{
  g_return_val_if_fail (operand != NULL, NULL);
  return operand->node;
}

/**
 * cleave_operand_get_index:
 * @operand: an operand
 *
 * Returns: the index of the operand in its node, or of the output in the graph
 *
 * Since: 0.1
 */
guint
cleave_operand_get_index (const CleaveOperand *operand)
{
  g_return_val_if_fail (operand != NULL, 0);
  return operand->index;
}

/**
 * cleave_operand_get_name:
 * @operand: an operand
 *
 * Returns: (transfer none): the name of the operand in ONNX, such as `W`, or the name of the output
 *
 * Since: 0.1
 */
const char *
cleave_operand_get_name (const CleaveOperand *operand)
{
  g_return_val_if_fail (operand != NULL, NULL);
  if (operand->node == NULL)
    return ((const CleaveOutput *) operand)->name;
  return cleave_op_operand_name (operand->node->op, operand->index);
}

/**
 * cleave_operand_get_result:
 * @operand: an operand
 *
 * Returns: (transfer none) (nullable): the value of the operand, or %NULL if the operand is absent
 *
 * Since: 0.1
 */
CleaveResult *
cleave_operand_get_result (const CleaveOperand *operand)
{
  g_return_val_if_fail (operand != NULL, NULL);
  return operand->result;
}

/**
 * cleave_operand_get_next_use:
 * @operand: an operand that is present
 *
 * Returns: (transfer none) (nullable): the next use of the same value, or %NULL if @operand is the
 * last use
 *
 * Since: 0.1
 */
CleaveOperand *
cleave_operand_get_next_use (const CleaveOperand *operand)
{
  g_return_val_if_fail (operand != NULL, NULL);
  return operand->next_use;
}

/**
 * cleave_result_get_node:
 * @result: a result
 *
 * Returns: (transfer none): the node that computes the result
 *
 * Since: 0.1
 */
CleaveNode *
cleave_result_get_node (const CleaveResult *result)
{
  g_return_val_if_fail (result != NULL, NULL);
  return result->node;
}

/**
 * cleave_result_get_index:
 * @result: a result
 *
 * Returns: the index of the result in its node
 *
 * Since: 0.1
 */
guint
cleave_result_get_index (const CleaveResult *result)
{
  g_return_val_if_fail (result != NULL, 0);
  return result->index;
}

/**
 * cleave_result_get_type:
 * @result: a result
 *
 * Returns: (transfer none): element type and shape
 *
 * Since: 0.1
 */
const CleaveTensorType *
cleave_result_get_type (const CleaveResult *result)
{
  g_return_val_if_fail (result != NULL, NULL);
  return &result->type;
}

/**
 * cleave_result_dup_name:
 * @result: a result
 *
 * Returns: (transfer full): the result's own name if it has one. If the result has no name, the
 * name of the node for result 0, and this name with `.r1`, `.r2` … for further results
 *
 * Since: 0.1
 */
char *
cleave_result_dup_name (const CleaveResult *result)
{
  g_return_val_if_fail (result != NULL, NULL);
  if (result->name != NULL)
    return g_strdup (result->name);
  if (result->index == 0)
    return g_strdup (result->node->name);
  return g_strdup_printf ("%s.r%u", result->node->name, result->index);
}

/**
 * cleave_result_get_n_uses:
 * @result: a result
 *
 * Returns: the number of operands and outputs that read the result, in constant time
 *
 * Since: 0.1
 */
guint
cleave_result_get_n_uses (const CleaveResult *result)
{
  g_return_val_if_fail (result != NULL, 0);
  return result->n_uses;
}

/**
 * cleave_result_get_first_use:
 * @result: a result
 *
 * Returns the oldest use of a value. [method@Cleave.Operand.get_next_use] returns all further uses.
 *
 * Returns: (transfer none) (nullable): the use, or %NULL if nothing reads the value
 *
 * Since: 0.1
 */
CleaveOperand *
cleave_result_get_first_use (const CleaveResult *result)
{
  g_return_val_if_fail (result != NULL, NULL);
  return result->first_use;
}
