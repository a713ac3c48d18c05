/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the nodes of a graph of the file: the model's graph, or the body of a Loop or an If. */

#include "dynamic.h"
#include "lists.h"
#include "node-values.h"
#include "node.h"
#include "texts.h"

#include "../../ir/graph-private.h"

#include <string.h>

/* A node may have at most this many attributes, since a search looks at each attribute. No op has
 * more than 25 attributes. */
#define MAX_ATTRS 256

/* Returns the number of results of a node. Leaves out results at the end that nothing reads, except
 * in two cases: each result is a part of the operand (Split), or the op always computes all
 * results. */
static guint
count_results (CleaveOnnxImport *import, const Onnx__NodeProto *proto)
{
  const CleaveOp *op = cleave_op_lookup (proto->op_type);
  size_t n = proto->n_output;

  if (op != NULL && (op->flags & CLEAVE_OP_ALL_RESULTS) != 0)
    return MAX (g_strv_length ((char **) op->results), (guint) n);
  while (n > 1 && (op == NULL || (op->flags & CLEAVE_OP_VIEW) == 0) &&
         (*proto->output[n - 1] == '\0' || !cleave_onnx_is_read (import, proto->output[n - 1])))
    n--;
  return (guint) n;
}

static gboolean
check_node (const Onnx__NodeProto *proto, GError **error)
{
  if (!cleave_onnx_check_name (proto->op_type, "the op of a node", error) ||
      !cleave_onnx_check_name (cleave_onnx_name_of_node (proto), "a node", error))
    return FALSE;
  if (proto->n_output == 0 || proto->n_output > G_MAXINT16 || proto->n_input > G_MAXINT32)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s '%s': it has %" G_GSIZE_FORMAT " results",
                        proto->op_type, cleave_onnx_name_of_node (proto), (gsize) proto->n_output);
  if (proto->n_attribute > MAX_ATTRS)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "%s '%s': %" G_GSIZE_FORMAT " attributes are more than %d", proto->op_type,
                        cleave_onnx_name_of_node (proto), (gsize) proto->n_attribute, MAX_ATTRS);
  for (size_t i = 0; i < proto->n_output; i++)
    if (*proto->output[i] != '\0' && !cleave_onnx_check_name (proto->output[i], "a result", error))
      return FALSE;
  return TRUE;
}

static gboolean
check_op (CleaveOnnxImport *import, const Onnx__NodeProto *proto, GError **error)
{
  const CleaveOp *op = cleave_op_lookup (proto->op_type);
  g_autoptr (CleaveOnnxNode) node = NULL;

  if (!cleave_onnx_is_default_domain (proto->domain) ||
      (op != NULL && (op->flags & CLEAVE_OP_NOT_ONNX) == 0) ||
      cleave_onnx_upgrade_knows (proto->op_type) || cleave_onnx_is_sequence_op (proto->op_type) ||
      ((import->interprets || import->dynamic != NULL) && cleave_onnx_is_text_node (proto)))
    return TRUE;
  node = cleave_onnx_node_new (import, proto->op_type, cleave_onnx_name_of_node (proto),
                               (guint) proto->n_output);
  return cleave_onnx_node_fail_op (node, error);
}

/* Sets the error for an operand that is not defined. Nodes are read after the nodes that compute
 * their operands. So if a node of the graph computes the undefined operand, the nodes form a
 * cycle. */
static gboolean
fail_undefined (const CleaveOnnxNode *node,
                const Onnx__GraphProto *graph,
                const char *name,
                GError **error)
{
  g_autofree char *text = g_utf8_make_valid (name, -1);

  if (!cleave_onnx_is_made (graph, name))
    return cleave_onnx_node_fail (node, error, "its operand '%s' is not defined", text);
  return cleave_fail (error, CLEAVE_ERROR_CYCLE,
                      "%s '%s': its operand '%s' depends on its own result: a cycle", node->op,
                      node->name, text);
}

static gboolean
read_operands (CleaveOnnxNode *node, const Onnx__GraphProto *graph, size_t index, GError **error)
{
  const Onnx__NodeProto *proto = graph->node[index];

  for (size_t i = 0; i < proto->n_input; i++)
    {
      CleaveOnnxValue *value = NULL;

      if (*proto->input[i] != '\0')
        {
          value = cleave_onnx_lookup (node->import, proto->input[i]);
          if (value == NULL)
            return fail_undefined (node, graph, proto->input[i], error);
        }
      g_ptr_array_add (node->operands, value);
    }
  return TRUE;
}

/* Fails if an operand has elements of 4 bits or 8-bit floats in the file (CleaveOnnxForm), and the
 * op does not accept this form. The tensor holds each 4-bit value in a byte, so most ops could
 * compute values that 4 bits cannot hold. */
static gboolean
check_forms (const CleaveOnnxNode *node, GError **error)
{
  gboolean dequantizes = strcmp (node->op, "DequantizeLinear") == 0;

  for (guint i = 0; i < node->operands->len; i++)
    {
      const CleaveOnnxValue *value = node->operands->pdata[i];
      CleaveOnnxForm form = value == NULL ? CLEAVE_ONNX_FORM_SAME : value->form;

      if (form == CLEAVE_ONNX_FORM_HALVES && !dequantizes)
        return cleave_onnx_node_fail (
            node, error, "operand %u has elements of 4 bits, which DequantizeLinear alone may read",
            i);
      if (form == CLEAVE_ONNX_FORM_FLOAT8 && !dequantizes && strcmp (node->op, "Cast") != 0)
        return cleave_onnx_node_fail (
            node, error,
            "operand %u has floats of 8 bits, which DequantizeLinear and Cast alone may read", i);
    }
  return TRUE;
}

static gboolean
bind_results (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  for (guint i = 0; i < node->values->len && i < proto->n_output; i++)
    {
      const CleaveOnnxValue *made = node->values->pdata[i];

      if (*proto->output[i] == '\0' ||
          (made->result == NULL && made->constant == NULL && made->items == NULL))
        continue;
      if (made->result != NULL && made->n_padded == 0)
        cleave_result_set_name (made->result, proto->output[i]);
      if (!cleave_onnx_bind_as (node->import, proto->output[i], made, error))
        return FALSE;
    }
  return TRUE;
}

/* Remembers the value of a Constant node, so that all iterations of a loop share it. */
static void
keep_constant (const CleaveOnnxNode *node, const Onnx__NodeProto *proto)
{
  if (strcmp (node->op, "Constant") == 0 && !cleave_onnx_is_custom (proto) &&
      !cleave_onnx_has_texts (node, proto))
    cleave_onnx_remember (node->import, proto,
                          g_hash_table_lookup (node->import->values, proto->output[0]));
}

static gboolean
read_node_now (CleaveOnnxImport *import,
               const Onnx__GraphProto *graph,
               size_t index,
               GError **error)
{
  const Onnx__NodeProto *proto = graph->node[index];
  CleaveOnnxValue *known = cleave_onnx_recall (import, proto);
  g_autoptr (CleaveOnnxNode) node = NULL;

  if (known != NULL)
    return cleave_onnx_bind (import, known, error);
  if (!check_node (proto, error))
    return FALSE;
  node = cleave_onnx_node_new (import, proto->op_type, cleave_onnx_name_of_node (proto),
                               count_results (import, proto));
  node->n_declared = (guint) proto->n_output;
  node->doc = proto->doc_string;
  node->result = proto->output[0];
  if (!check_op (import, proto, error) || !read_operands (node, graph, index, error) ||
      !check_forms (node, error) || !cleave_onnx_read_values (node, proto, error) ||
      !bind_results (node, proto, error))
    return FALSE;
  keep_constant (node, proto);
  return TRUE;
}

gboolean
cleave_onnx_read_node (CleaveOnnxImport *import,
                       const Onnx__GraphProto *graph,
                       size_t index,
                       GError **error)
{
  const gint64 opset = import->opset;
  gpointer own = g_hash_table_lookup (import->opsets, graph->node[index]);
  gboolean good;

  import->opset = own == NULL ? opset : GPOINTER_TO_INT (own);
  good = read_node_now (import, graph, index, error);
  import->opset = opset;
  return good;
}

/* Returns whether all operands of a node are defined. Returns FALSE for a node with inner graphs,
 * since a node of an inner graph may read any value. */
static gboolean
is_ready (CleaveOnnxImport *import, const Onnx__NodeProto *proto)
{
  for (size_t i = 0; i < proto->n_input; i++)
    if (*proto->input[i] != '\0' && cleave_onnx_lookup (import, proto->input[i]) == NULL &&
        (import->dynamic == NULL || !g_hash_table_contains (import->dynamic, proto->input[i])))
      return FALSE;
  for (size_t i = 0; i < proto->n_attribute; i++)
    if (proto->attribute[i]->g != NULL)
      return FALSE;
  return TRUE;
}

/* Reads a node of the model into the graph. If the node cannot be static, makes it dynamic. */
static gboolean
read_or_defer (CleaveOnnxImport *import,
               const Onnx__GraphProto *graph,
               size_t index,
               guint position,
               GError **error)
{
  const Onnx__NodeProto *proto = graph->node[index];
  const CleaveNode *last = import->graph->last;
  g_autoptr (CleaveOnnxDeferred) deferred = NULL;
  const char *dynamic;
  GError *mine = NULL;

  if (import->dynamic == NULL || import->outer->len > 0)
    return cleave_onnx_read_node (import, graph, index, error);
  deferred = cleave_onnx_deferred_new (import, proto, position);
  dynamic = cleave_onnx_find_dynamic (import, proto);
  import->why = import->unknown = NULL;
  if (dynamic == NULL && cleave_onnx_read_node (import, graph, index, &mine))
    {
      cleave_onnx_note_maker (import, g_steal_pointer (&deferred));
      return TRUE;
    }
  if (dynamic != NULL && g_hash_table_lookup (import->dynamic, dynamic) == NULL)
    {
      import->unknown = dynamic;
      import->why =
          cleave_onnx_is_list_input (import, dynamic) ? "reads a list of tensors" : "reads strings";
      dynamic = NULL;
    }
  if (dynamic == NULL && import->why == NULL)
    {
      g_propagate_error (error, mine);
      return FALSE;
    }
  g_clear_error (&mine);
  if (!cleave_onnx_check_not_blocked (import, proto, error))
    return FALSE;
  cleave_onnx_remove_since (import, last);
  cleave_onnx_defer (import, g_steal_pointer (&deferred), dynamic);
  return TRUE;
}

/* Reads nodes in the order of the file up to the first node for which is_ready() is FALSE. Reads
 * the remaining nodes in the order of cleave_onnx_order(), in which operands come before their
 * readers. */
static gboolean
read_nodes (CleaveOnnxImport *import, const Onnx__GraphProto *proto, GError **error)
{
  g_autoptr (GArray) order = NULL;

  for (guint i = 0; i < proto->n_node; i++)
    {
      if (order == NULL && !is_ready (import, proto->node[i]))
        order = cleave_onnx_order (proto);
      if (!read_or_defer (import, proto, order == NULL ? i : g_array_index (order, guint, i), i,
                          error))
        return FALSE;
    }
  return TRUE;
}

gboolean
cleave_onnx_read_nodes (CleaveOnnxImport *import, const Onnx__GraphProto *proto, GError **error)
{
  CleaveOnnxBlocked *outer = import->blocked;
  gboolean good;

  import->blocked = cleave_onnx_scan_blocked (import, proto);
  good = read_nodes (import, proto, error);
  g_clear_pointer (&import->blocked, cleave_onnx_blocked_free);
  import->blocked = outer;
  return good;
}

gboolean
cleave_onnx_check_ops (CleaveOnnxImport *import, const Onnx__GraphProto *proto, GError **error)
{
  for (size_t i = 0; i < proto->n_node; i++)
    if (!check_node (proto->node[i], error) || !check_op (import, proto->node[i], error))
      return FALSE;
  return TRUE;
}
