/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Boxed types for bindings of other languages: functions that copy and free values, and references
 * to nodes, operands and results of a graph. */

#include "boxed.h"

#include "graph-private.h"

CLEAVE_DEFINE_VALUE (CleaveShape, shape)
CLEAVE_DEFINE_VALUE (CleaveSpan, span)
CLEAVE_DEFINE_VALUE (CleaveRange, range)
CLEAVE_DEFINE_VALUE (CleaveTensorType, tensor_type)
CLEAVE_DEFINE_VALUE (CleaveInts, ints)
CLEAVE_DEFINE_VALUE (CleaveDoubles, doubles)

/**
 * cleave_range_new:
 * @bounds: (array length=n_bounds): begin and end of dimension 0, begin and end of dimension 1, …
 * @n_bounds: twice the rank
 *
 * Makes a range, for bindings of other languages. In C, use CLEAVE_RANGE().
 *
 * Returns: (transfer full): the range; free it with g_free()
 *
 * Since: 0.1
 */
CleaveRange *
cleave_range_new (const gint64 *bounds, guint n_bounds)
{
  CleaveRange range;

  g_return_val_if_fail (n_bounds % 2 == 0 && n_bounds / 2 <= CLEAVE_MAX_RANK, NULL);
  g_return_val_if_fail (bounds != NULL || n_bounds == 0, NULL);
  range = cleave_range_from_bounds (n_bounds, bounds);
  return range_copy (&range);
}

/**
 * cleave_tensor_type_new:
 * @element: the element type
 * @dims: (array length=n_dims) (nullable): the extents, outermost first
 * @n_dims: the rank
 *
 * Makes a type, for bindings of other languages. In C, use CLEAVE_TYPE().
 *
 * Returns: (transfer full): the type; free it with g_free()
 *
 * Since: 0.1
 */
CleaveTensorType *
cleave_tensor_type_new (CleaveElement element, const gint64 *dims, guint n_dims)
{
  CleaveTensorType type = { element, { n_dims, { 0 } } };

  g_return_val_if_fail ((guint) element < CLEAVE_N_ELEMENTS, NULL);
  g_return_val_if_fail (n_dims <= CLEAVE_MAX_RANK && (dims != NULL || n_dims == 0), NULL);
  for (guint i = 0; i < n_dims; i++)
    type.shape.dim[i] = dims[i];
  return tensor_type_copy (&type);
}

/**
 * cleave_node_ref:
 * @node: a node
 *
 * Adds a reference to a node and to its graph. A node that is removed from the graph stays
 * readable, but has no operands and no uses.
 *
 * Returns: (transfer full): the same node
 *
 * Since: 0.1
 */
CleaveNode *
cleave_node_ref (CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);
  cleave_graph_ref (node->owner);
  g_atomic_int_inc (&node->n_holds);
  return node;
}

/**
 * cleave_node_unref:
 * @node: (nullable) (transfer full): a node
 *
 * Drops a reference that [method@Cleave.Node.ref] added.
 *
 * Since: 0.1
 */
void
cleave_node_unref (CleaveNode *node)
{
  CleaveGraph *owner = node == NULL ? NULL : node->owner;

  if (node != NULL)
    cleave_node_release (node, NULL);
  cleave_graph_unref (owner);
}

/**
 * cleave_result_ref:
 * @result: a result
 *
 * Adds a reference to the node of a result and to its graph, as [method@Cleave.Node.ref] does.
 *
 * Returns: (transfer full): the same result
 *
 * Since: 0.1
 */
CleaveResult *
cleave_result_ref (CleaveResult *result)
{
  g_return_val_if_fail (result != NULL, NULL);
  cleave_node_ref (result->node);
  return result;
}

/**
 * cleave_result_unref:
 * @result: (nullable) (transfer full): a result
 *
 * Drops a reference that [method@Cleave.Result.ref] added.
 *
 * Since: 0.1
 */
void
cleave_result_unref (CleaveResult *result)
{
  cleave_node_unref (result == NULL ? NULL : result->node);
}

/* Returns the graph that keeps an operand alive. An output of a graph has no node, but reads a
 * value of the graph. */
static CleaveGraph *
owner_of (const CleaveOperand *operand)
{
  return operand->node != NULL ? operand->node->owner : operand->result->node->owner;
}

/**
 * cleave_operand_ref:
 * @operand: an operand, or an output of a graph
 *
 * Adds a reference to the node of an operand and to its graph, as [method@Cleave.Node.ref] does.
 * For an output, adds a reference to the graph.
 *
 * Returns: (transfer full): the same operand
 *
 * Since: 0.1
 */
CleaveOperand *
cleave_operand_ref (CleaveOperand *operand)
{
  g_return_val_if_fail (operand != NULL, NULL);
  if (operand->node != NULL)
    cleave_node_ref (operand->node);
  else
    cleave_graph_ref (owner_of (operand));
  return operand;
}

/**
 * cleave_operand_unref:
 * @operand: (nullable) (transfer full): an operand, or an output of a graph
 *
 * Drops a reference that [method@Cleave.Operand.ref] added.
 *
 * Since: 0.1
 */
void
cleave_operand_unref (CleaveOperand *operand)
{
  if (operand != NULL && operand->node != NULL)
    cleave_node_unref (operand->node);
  else if (operand != NULL)
    cleave_graph_unref (owner_of (operand));
}

CLEAVE_DEFINE_BOXED (CleaveTensor, tensor, cleave_tensor_ref, cleave_tensor_unref)
CLEAVE_DEFINE_BOXED (CleaveGraph, graph, cleave_graph_ref, cleave_graph_unref)
CLEAVE_DEFINE_BOXED (CleaveNode, node, cleave_node_ref, cleave_node_unref)
CLEAVE_DEFINE_BOXED (CleaveOperand, operand, cleave_operand_ref, cleave_operand_unref)
CLEAVE_DEFINE_BOXED (CleaveResult, result, cleave_result_ref, cleave_result_unref)

/* Returns `op` itself: the copy function of a boxed type whose values are static. */
static gpointer
keep (gpointer op)
{
  return op;
}

static void
drop (gpointer op)
{
}

CLEAVE_DEFINE_BOXED (CleaveOp, op, keep, drop)
