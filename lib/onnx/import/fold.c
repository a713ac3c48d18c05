/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Constant folding during the import. A node is folded if its operands are known, its results are
 * not too large, and the budget suffices. The budget is proportional to the size of the file.
 * Shapes and other values that must be constant need only a small part of the budget. A node that
 * is not folded stays in the graph. */

#include "dynamic.h"
#include "node.h"

#include "../../ir/evaluate.h"
#include "../../ir/fixed.h"

/* A folded value may have at most this many bytes, unless it is a view of its operand. */
#define MAX_FOLDED_BYTES (1 << 20)

void
cleave_onnx_begin_folding (CleaveOnnxImport *import, gsize n_bytes)
{
  import->fold_budget = CLEAVE_EVALUATE_BUDGET (n_bytes);
}

gboolean
cleave_onnx_spend (CleaveOnnxImport *import, double work)
{
  if (import->interprets)
    return TRUE;
  if (!(work <= import->fold_budget))
    return FALSE;
  import->fold_budget -= work;
  return TRUE;
}

/* A search back from a value to the input that it depends on passes at most this many nodes. */
#define MAX_STEPS 64
/* An input with at most this many elements may hold a shape; an input with more elements holds
 * data. */
#define MAX_SHAPE 64

/* Returns the input that a node depends on, if the node depends on one input and the input is small
 * enough to hold a shape. Returns NULL if the node depends on no input or on several, or if more
 * than MAX_STEPS nodes lie between the input and the node. */
static const CleaveNode *
find_input (const CleaveNode *node)
{
  for (guint step = 0; step < MAX_STEPS; step++)
    {
      const CleaveNode *from = NULL;

      if (cleave_node_is_input (node))
        return cleave_shape_n_elements (&node->results[0].type.shape) <= MAX_SHAPE ? node : NULL;
      for (guint i = 0; i < node->n_operands; i++)
        {
          const CleaveResult *operand = node->operands[i].result;

          if (operand == NULL || cleave_node_is_fixed (operand->node))
            continue;
          if (from != NULL && from != operand->node)
            return NULL;
          from = operand->node;
        }
      if (from == NULL)
        return NULL;
      node = from;
    }
  return NULL;
}

const char *
cleave_onnx_why_unknown (CleaveOnnxImport *import, const CleaveOnnxValue *value)
{
  const CleaveNode *node = value->result == NULL ? NULL : value->result->node, *input;
  g_autofree char *text = NULL;

  if (value->is_costly)
    {
      cleave_onnx_note_unknown (import, value, "needs a value that takes too much work to compute");
      return CLEAVE_ONNX_TOO_COSTLY;
    }
  cleave_onnx_note_unknown (import, value,
                            node != NULL && cleave_node_is_input (node)
                                ? "needs the contents of an input, whose value may be given"
                                : "needs the contents of a computed value");
  if (node != NULL && cleave_node_is_input (node))
    text = g_strdup_printf ("is the input '%s', but must be constant: shapes are static (give its "
                            "value)",
                            cleave_node_get_name (node));
  else if (node != NULL && (input = find_input (node)) != NULL)
    text = g_strdup_printf (
        "depends on the input '%s', but must be constant: shapes are static (give its value)",
        cleave_node_get_name (input));
  return text == NULL ? "is computed, but must be constant: shapes are static"
                      : cleave_pool_strdup (import->pool, text);
}

static gboolean
is_constant (const CleaveCall *call, const GPtrArray *operands, gboolean even_costly)
{
  for (guint i = 0; i < operands->len && (call->op->flags & CLEAVE_OP_OF_TYPES) == 0; i++)
    {
      const CleaveOnnxValue *value = operands->pdata[i];

      if (value != NULL && value->constant == NULL && !(even_costly && value->is_costly))
        return FALSE;
    }
  return TRUE;
}

gboolean
cleave_onnx_is_constant (const CleaveCall *call, const GPtrArray *operands)
{
  return is_constant (call, operands, FALSE);
}

gboolean
cleave_onnx_could_fold (const CleaveCall *call, const GPtrArray *operands)
{
  return is_constant (call, operands, TRUE);
}

/* Returns whether to fold a call: its results are small enough, and the budget suffices. If so,
 * subtracts the work from the budget. */
static gboolean
is_worth (CleaveOnnxImport *import, const CleaveCall *call, CleaveTensor *const *operands)
{
  for (guint i = 0; i < call->n_results; i++)
    if ((call->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_ROW_MAJOR)) == 0 &&
        cleave_tensor_type_n_bytes (&call->results[i]) > MAX_FOLDED_BYTES)
      return FALSE;
  return cleave_onnx_spend (import, cleave_evaluate_call_work (call, operands));
}

static gint64
operand_bytes (const CleaveCall *call)
{
  gint64 n_bytes = 0;

  for (guint i = 0; i < call->n_operands; i++)
    if (cleave_call_has (call, i))
      n_bytes += cleave_tensor_type_n_bytes (&call->operands[i]);
  return n_bytes;
}

gboolean
cleave_onnx_fold (CleaveOnnxNode *node,
                  const CleaveCall *call,
                  const GPtrArray *operands,
                  GError **error)
{
  g_autofree CleaveTensor **tensors = g_new0 (CleaveTensor *, operands->len + 1);
  g_autoptr (GPtrArray) results = NULL;

  for (guint i = 0; i < operands->len; i++)
    if (operands->pdata[i] != NULL)
      tensors[i] = ((CleaveOnnxValue *) operands->pdata[i])->constant;
  if (!node->import->interprets && (!cleave_evaluate_saves (call, operand_bytes (call)) ||
                                    !is_worth (node->import, call, tensors)))
    return TRUE;
  results = cleave_onnx_is_expensive (node->import, call, tensors)
                ? cleave_onnx_compute (node->import, call, operands, error)
                : cleave_evaluate_call (call, tensors, error);
  if (results == NULL)
    return FALSE;
  node->import->n_calls++;
  for (guint i = 0; i < results->len; i++)
    g_ptr_array_add (node->values, cleave_onnx_value_new_constant (
                                       node->import, NULL, cleave_tensor_ref (results->pdata[i])));
  return TRUE;
}

/* The functions below compute a value that the import must know, although the nodes that compute
 * the value stay in the graph. */

static CleaveTensor *
known_value (CleaveOnnxImport *import, const CleaveResult *value)
{
  CleaveTensor *constant = cleave_node_get_constant (value->node);
  GPtrArray *values = g_hash_table_lookup (import->values_of, value->node);

  if (constant != NULL)
    cleave_onnx_fix_default (import, constant);
  return constant != NULL ? constant : values == NULL ? NULL : values->pdata[value->index];
}

static gboolean
is_known (CleaveNode *node, gpointer data)
{
  return known_value (data, &node->results[0]) != NULL;
}

static gboolean
work_out (CleaveNode *node, gpointer data)
{
  CleaveOnnxImport *import = data;
  g_autofree CleaveTensor **operands = g_new0 (CleaveTensor *, node->n_operands + 1);
  g_auto (CleaveNodeCall) call = { 0 };
  GPtrArray *values;

  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      operands[i] = known_value (import, node->operands[i].result);
  if (!is_worth (import, cleave_node_call_init (&call, node), operands))
    return FALSE;
  values = cleave_evaluate_call (&call.call, operands, NULL);
  if (values != NULL)
    g_hash_table_insert (import->values_of, node, values);
  return values != NULL;
}

CleaveTensor *
cleave_onnx_value_constant (CleaveOnnxImport *import, CleaveOnnxValue *value)
{
  CleaveTensor *known;

  if (value->constant != NULL || value->result == NULL ||
      !cleave_node_is_fixed (value->result->node))
    return value->constant;
  if (import->values_of == NULL)
    import->values_of =
        g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_ptr_array_unref);
  cleave_fixed_walk (value->result->node, is_known, work_out, import);
  known = known_value (import, value->result);
  value->constant = known == NULL ? NULL : cleave_tensor_ref (known);
  return value->constant;
}

void
cleave_onnx_remove_known (CleaveOnnxImport *import)
{
  for (CleaveNode *node = import->graph->last, *prev; node != NULL; node = prev)
    {
      prev = node->prev;
      if (import->values_of != NULL && !cleave_node_is_used (node) &&
          g_hash_table_contains (import->values_of, node))
        cleave_graph_remove (import->graph, node);
    }
}
