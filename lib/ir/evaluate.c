/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Evaluates one node with constant operands. If possible, the results share the bytes of operand 0.
 * If not, the reference kernel computes the results. */

#include "evaluate.h"

#include "defaults.h"
#include "deferred-tensor.h"
#include "graph-private.h"
#include "node-queries.h"

/* Folding a node may add at most this many bytes to a model's file: about the bytes that the node
 * itself takes in the file. */
#define LITTLE 1024

/* The functions below make results that share the bytes of operand 0. */

/* Returns whether result number `result` of a VIEW op is a range of operand 0, with the dimensions
 * of operand 0 in the same order. If so, sets `range` to this range. */
static gboolean
find_box (const CleaveCall *call, guint result, CleaveRange *range)
{
  CleaveCall asked = *call;
  CleaveRange whole = cleave_range_whole (&call->results[result].shape);
  CleaveDimMap map[CLEAVE_MAX_RANK];
  CleaveShape shape;

  if (whole.rank != call->operands[0].shape.rank)
    return FALSE;
  asked.result = result;
  call->op->maps (&asked, 0, map);
  for (guint d = 0; d < whole.rank; d++)
    {
      if (map[d].stride != 1 || map[d].from != d || map[d].block != 1 || map[d].window != 1)
        return FALSE;
      range->dim[d].begin = whole.dim[d].begin + map[d].shift + map[d].offset;
      range->dim[d].end = whole.dim[d].end + map[d].shift + map[d].offset;
    }
  range->rank = whole.rank;
  shape = cleave_range_shape (range);
  whole = cleave_range_whole (&call->operands[0].shape);
  return cleave_range_contains (&whole, range) &&
         cleave_shape_equal (&shape, &call->results[result].shape);
}

/* Returns a tensor of type `type` that shares the bytes of the operand. */
static CleaveTensor *
share_bytes (CleaveTensor *operand, const CleaveTensorType *type, GError **error)
{
  CleaveTensor *deferred = cleave_tensor_dup_deferred (operand, type);
  g_autoptr (GBytes) bytes = NULL;

  if (deferred != NULL)
    return deferred;
  bytes = g_bytes_new_with_free_func (
      cleave_tensor_get_data (operand), (gsize) cleave_tensor_type_n_bytes (type),
      (GDestroyNotify) cleave_tensor_unref, cleave_tensor_ref (operand));
  return cleave_tensor_new_from_bytes (type, bytes, error);
}

static gboolean
is_same_bytes (const CleaveCall *call, CleaveTensor *operand)
{
  return (call->op->flags & CLEAVE_OP_ROW_MAJOR) != 0 && cleave_tensor_is_dense (operand);
}

/* Returns a result that shares the bytes of operand 0. Returns NULL without an error if the op does
 * not allow sharing, and NULL with an error if there is no memory. */
static CleaveTensor *
share (const CleaveCall *call, CleaveTensor *operand, guint result, GError **error)
{
  CleaveRange range;

  if (operand == NULL)
    return NULL;
  if ((call->op->flags & CLEAVE_OP_VIEW) != 0 && find_box (call, result, &range))
    return cleave_tensor_new_slice (operand, &range);
  if (is_same_bytes (call, operand))
    return share_bytes (operand, &call->results[result], error);
  return NULL;
}

static gboolean
shares_all (const CleaveCall *call, CleaveTensor *const *operands)
{
  CleaveRange range;

  if (call->n_operands == 0 || operands[0] == NULL)
    return FALSE;
  if (is_same_bytes (call, operands[0]))
    return TRUE;
  for (guint i = 0; i < call->n_results; i++)
    if ((call->op->flags & CLEAVE_OP_VIEW) == 0 || !find_box (call, i, &range))
      return FALSE;
  return TRUE;
}

/* The functions below compute results with the reference kernel. */

static CleaveView
view_operand (const CleaveCall *call, CleaveTensor *const *operands, guint operand)
{
  return operands[operand] != NULL ? cleave_view_tensor (operands[operand])
                                   : (CleaveView){ .type = call->operands[operand] };
}

/* Allocates all results and computes them with the reference kernel. Does not call the kernel if
 * all results are empty: if one extent of a tensor is 0, another extent can be huge, and a kernel
 * would loop over it. */
static gboolean
compute (const CleaveCall *call, CleaveTensor *const *operands, GPtrArray *results, GError **error)
{
  gboolean some = FALSE;
  g_autofree CleaveView *views = g_new0 (CleaveView, call->n_operands + call->n_results);

  for (guint i = 0; i < call->n_operands; i++)
    views[i] = view_operand (call, operands, i);
  for (guint i = 0; i < call->n_results; i++)
    {
      CleaveTensor *made = cleave_tensor_new (&call->results[i], error);

      if (made == NULL)
        return FALSE;
      g_ptr_array_add (results, made);
      views[call->n_operands + i] = cleave_view_tensor (made);
      some = some || cleave_shape_n_elements (&call->results[i].shape) > 0;
    }
  if (some)
    call->op->compute (call, views, views + call->n_operands);
  return TRUE;
}

GPtrArray *
cleave_evaluate_call (const CleaveCall *call, CleaveTensor *const *operands, GError **error)
{
  g_autoptr (GPtrArray) results =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GError) own = NULL;

  for (guint i = 0; i < call->n_results && call->n_operands > 0; i++)
    {
      CleaveTensor *shared = share (call, operands[0], i, &own);

      if (shared == NULL)
        break;
      g_ptr_array_add (results, shared);
    }
  if (own == NULL && results->len == call->n_results)
    return g_steal_pointer (&results);
  g_ptr_array_set_size (results, 0);
  if (own == NULL && compute (call, operands, results, &own))
    return g_steal_pointer (&results);
  g_propagate_error (error, g_steal_pointer (&own));
  return NULL;
}

double
cleave_evaluate_call_work (const CleaveCall *call, CleaveTensor *const *operands)
{
  return shares_all (call, operands) ? 0 : cleave_call_work (call);
}

/* Returns whether the node only slices operand 0, such as Split. The results then share the tensor
 * of operand 0. If operand 0 is a default value of an input, the exporter writes the results as
 * slices of this input, so a caller may still replace the value. */
static gboolean
is_cut (const CleaveNode *node)
{
  g_auto (CleaveNodeCall) call = { 0 };
  CleaveRange range;

  if ((node->op->flags & CLEAVE_OP_VIEW) == 0 || node->n_operands == 0 ||
      node->operands[0].result == NULL)
    return FALSE;
  cleave_node_call_init (&call, node);
  for (guint i = 0; i < node->n_results; i++)
    if (!find_box (&call.call, i, &range))
      return FALSE;
  return TRUE;
}

gboolean
cleave_evaluate_can (const CleaveNode *node)
{
  if (node->op->compute == NULL || node->op == &cleave_op_constant)
    return FALSE;
  for (guint i = 0; i < node->n_operands && (node->op->flags & CLEAVE_OP_OF_TYPES) == 0; i++)
    {
      const CleaveNode *from = cleave_node_get_producer (node, i);

      if (from != NULL && cleave_node_get_final_constant (from) == NULL &&
          (cleave_node_get_constant (from) == NULL || i > 0 || !is_cut (node)))
        return FALSE;
    }
  return TRUE;
}

gboolean
cleave_evaluate_saves (const CleaveCall *call, gint64 freed)
{
  gint64 stored = 0;

  for (guint i = 0; i < call->n_results; i++)
    stored += cleave_tensor_type_n_bytes (&call->results[i]);
  return (call->op->flags & CLEAVE_OP_STORAGE) == 0 &&
         (stored <= MAX (freed, LITTLE) || (call->op->flags & CLEAVE_OP_VIEW) != 0);
}

/* Returns the value of each operand of a node; NULL for an operand that is not a constant. */
static CleaveTensor **
list_operands (const CleaveNode *node)
{
  CleaveTensor **operands = g_new0 (CleaveTensor *, MAX (node->n_operands, 1));

  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      operands[i] = cleave_node_get_constant (node->operands[i].result->node);
  return operands;
}

double
cleave_evaluate_work (const CleaveNode *node)
{
  g_autofree CleaveTensor **operands = list_operands (node);
  g_auto (CleaveNodeCall) call;

  cleave_node_call_init (&call, node);
  return cleave_evaluate_call_work (&call.call, operands);
}

GPtrArray *
cleave_evaluate (const CleaveNode *node, GError **error)
{
  g_autofree CleaveTensor **operands = list_operands (node);
  g_auto (CleaveNodeCall) call;
  GPtrArray *results;

  cleave_node_call_init (&call, node);
  results = cleave_evaluate_call (&call.call, operands, error);
  if (results == NULL)
    g_prefix_error (error, "%s '%s': ", node->op->name, node->name);
  return results;
}

/* Adds to `stack` the nodes that compute the operands of a node and have no entry in `values`.
 * Returns FALSE if there are none. */
static gboolean
push_operands (GHashTable *values, const CleaveNode *node, GPtrArray *stack)
{
  const guint n_before = stack->len;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *operand = node->operands[i].result;

      if (operand != NULL && !g_hash_table_contains (values, operand->node))
        g_ptr_array_add (stack, operand->node);
    }
  return stack->len > n_before;
}

/* Computes the results of a node, and adds them to `values`, an array of CleaveTensor for each
 * node. `values` must already contain the operands. Returns FALSE if there is no memory, or if the
 * node is a default value with the state CLEAVE_DEFAULT_OPEN: whoever runs the exported file may
 * replace this value. */
static gboolean
add_results (GHashTable *values, CleaveNode *node)
{
  CleaveTensor *constant = cleave_node_get_final_constant (node);
  g_autoptr (GPtrArray) operands = g_ptr_array_new (), results = NULL;
  g_auto (CleaveNodeCall) call = { 0 };

  if (constant != NULL)
    {
      results = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
      g_ptr_array_add (results, cleave_tensor_ref (constant));
      return g_hash_table_insert (values, node, g_steal_pointer (&results));
    }
  if (node->op->compute == NULL || node->op == &cleave_op_constant)
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *operand = node->operands[i].result;
      const GPtrArray *of = operand == NULL ? NULL : g_hash_table_lookup (values, operand->node);

      g_ptr_array_add (operands, of == NULL ? NULL : of->pdata[operand->index]);
    }
  cleave_node_call_init (&call, node);
  results = cleave_evaluate_call (&call.call, (CleaveTensor *const *) operands->pdata, NULL);
  return results != NULL && g_hash_table_insert (values, node, g_steal_pointer (&results));
}

CleaveTensor *
cleave_evaluate_fixed (const CleaveResult *value)
{
  g_autoptr (GHashTable) values =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_ptr_array_unref);
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();

  for (g_ptr_array_add (stack, value->node); stack->len > 0;)
    {
      CleaveNode *node = stack->pdata[stack->len - 1];

      if (!cleave_node_is_fixed (node))
        return NULL;
      if (push_operands (values, node, stack))
        continue;
      g_ptr_array_set_size (stack, (gint) stack->len - 1);
      if (!g_hash_table_contains (values, node) && !add_results (values, node))
        return NULL;
    }
  return cleave_tensor_ref (
      ((const GPtrArray *) g_hash_table_lookup (values, value->node))->pdata[value->index]);
}
