/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Turns an upgraded node into a call of our op. Then folds the call, or adds a node to the graph.
 */

#include "chain.h"
#include "node.h"
#include "texts.h"

#include "../../ir/graph-private.h"
#include "../winograd.h"

#include <string.h>

/* Attributes of early opsets that are operands in later opsets. */

static const struct
{
  const char *op, *attr;
  gint64 until; /* first opset in which the attribute is an operand */
} moved[] = {
  { "Clip", "min", 11 },           { "Clip", "max", 11 },       { "Slice", "starts", 10 },
  { "Slice", "ends", 10 },         { "Slice", "axes", 10 },     { "Pad", "pads", 11 },
  { "Pad", "constant_value", 11 }, { "Squeeze", "axes", 13 },   { "Unsqueeze", "axes", 13 },
  { "Split", "split", 13 },        { "ReduceSum", "axes", 13 }, { "TopK", "k", 10 },
  { "Dropout", "ratio", 12 },      { "Reshape", "shape", 5 },
};

static gboolean
is_moved (const char *op, const char *attr, gint64 opset)
{
  for (guint i = 0; i < G_N_ELEMENTS (moved); i++)
    if (opset < moved[i].until && strcmp (moved[i].op, op) == 0 &&
        strcmp (moved[i].attr, attr) == 0)
      return TRUE;
  return FALSE;
}

typedef struct
{
  CleaveCall call;
  gpointer attrs;
  GPtrArray *operands;     /* CleaveOnnxValue: the array `rest` of the CleaveOnnxNode, borrowed. It
                            * has the operands of our op, and not the ONNX operands that are
                            * attributes of our op */
  GPtrArray *constants;    /* char *, in pairs: name of an attribute of our op, name of the
                            * constant operand that gave its value */
  CleaveTensorType *types; /* types of the operands, then of the results; points to `few`, or to
                            * allocated memory if there are more than 4 types */
  CleaveTensorType few[4];
} Made;

static void
made_clear (Made *made)
{
  if (made->attrs != NULL)
    cleave_attrs_free (made->call.op, made->attrs);
  g_clear_pointer (&made->constants, g_ptr_array_unref);
  if (made->types != made->few)
    g_free (made->types);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Made, made_clear)

/* Returns whether an attribute of our op is operand `index` in ONNX. */
static gboolean
is_operand (const CleaveAttr *attr, guint index)
{
  if ((attr->flags & CLEAVE_ATTR_OPERAND_0) != 0)
    return index == 0;
  return attr->onnx_operand != 0 && attr->onnx_operand == index;
}

static gboolean
is_any_operand (const CleaveAttr *attr)
{
  return attr->onnx_operand != 0 || (attr->flags & CLEAVE_ATTR_OPERAND_0) != 0;
}

static const CleaveAttr *
find_attr (const CleaveOp *op, const char *name)
{
  for (const CleaveAttr *attr = op->attrs; attr != NULL && attr->name != NULL; attr++)
    if ((attr->flags & CLEAVE_ATTR_NOT_ONNX) == 0 && strcmp (attr->name, name) == 0)
      return attr;
  return NULL;
}

static gboolean
prefix_node (const CleaveOnnxNode *node, GError **error)
{
  g_prefix_error (error, "%s '%s': ", node->op, node->name);
  return FALSE;
}

static gboolean
store_attrs (const CleaveOnnxNode *node, Made *made, GError **error)
{
  for (guint i = 0; i < node->attrs->len; i++)
    {
      const CleaveOnnxAttr *value = node->attrs->pdata[i];
      const CleaveAttr *attr = find_attr (made->call.op, value->name);

      if (attr == NULL ||
          (is_any_operand (attr) && !is_moved (node->op, value->name, node->import->opset)))
        return cleave_onnx_node_fail_attr (node, value, error);
      if (!cleave_onnx_attr_store (value, attr, made->attrs, error))
        return prefix_node (node, error);
    }
  return TRUE;
}

static gboolean
store_operand (const CleaveOnnxNode *node,
               const CleaveAttr *attr,
               CleaveOnnxValue *operand,
               Made *made,
               GError **error)
{
  g_autoptr (CleaveOnnxAttr) value = NULL;

  if (cleave_onnx_value_constant (node->import, operand) == NULL)
    return cleave_onnx_node_fail (node, error, "%s %s", attr->name,
                                  cleave_onnx_why_unknown (node->import, operand));
  if (operand->name != NULL)
    {
      if (made->constants == NULL)
        made->constants = g_ptr_array_new ();
      g_ptr_array_add (made->constants, (gpointer) attr->name);
      g_ptr_array_add (made->constants, operand->name);
    }
  value = cleave_onnx_attr_of_tensor (attr->name, operand->constant);
  return cleave_onnx_attr_store (value, attr, made->attrs, error) || prefix_node (node, error);
}

/* Stores the values of operands that are attributes of our op. Lists the other operands in
 * made->operands. */
static gboolean
sort_operands (const CleaveOnnxNode *node, Made *made, GError **error)
{
  for (guint i = 0; i < node->operands->len; i++)
    {
      CleaveOnnxValue *operand = node->operands->pdata[i];
      const CleaveAttr *attr = made->call.op->attrs;

      while (attr != NULL && attr->name != NULL && !is_operand (attr, i))
        attr++;
      if (attr == NULL || attr->name == NULL)
        g_ptr_array_add (made->operands, operand);
      else if (operand != NULL && !store_operand (node, attr, operand, made, error))
        return FALSE;
    }
  while (made->operands->len > 0 && made->operands->pdata[made->operands->len - 1] == NULL)
    g_ptr_array_set_size (made->operands, (int) made->operands->len - 1);
  return TRUE;
}

static gboolean
check_since (const CleaveOnnxNode *node, const CleaveCall *call, GError **error)
{
  guint since = call->op->since == NULL ? 0 : call->op->since (call);

  return since <= node->import->opset ||
         cleave_onnx_node_fail (node, error, "it is of opset %u, the model of %" G_GINT64_FORMAT,
                                since, node->import->opset);
}

static gboolean
make_call (const CleaveOnnxNode *node, const CleaveOp *op, Made *made, GError **error)
{
  CleaveCall *call = &made->call;

  *made = (Made){ .call = { .op = op, .n_results = node->n_results } };
  made->operands = node->rest;
  g_ptr_array_set_size (made->operands, 0);
  if (op->attrs_size > 0)
    {
      made->attrs = g_malloc0 (op->attrs_size);
      cleave_attrs_init (op, made->attrs);
    }
  call->attrs = made->attrs;
  if (!store_attrs (node, made, error) || !sort_operands (node, made, error))
    return FALSE;
  call->n_operands = made->operands->len;
  made->types = call->n_operands + call->n_results <= G_N_ELEMENTS (made->few)
                    ? made->few
                    : g_new0 (CleaveTensorType, call->n_operands + call->n_results);
  for (guint i = 0; i < call->n_operands; i++)
    if (made->operands->pdata[i] != NULL)
      made->types[i] = *cleave_onnx_value_type (made->operands->pdata[i]);
  call->operands = made->types;
  call->results = made->types + call->n_operands;
  return check_since (node, call, error);
}

static gboolean
add (CleaveOnnxNode *node, const Made *made, GError **error)
{
  gboolean is_costly = cleave_onnx_could_fold (&made->call, made->operands);
  CleaveResult *few[4] = { NULL };
  g_autofree CleaveResult **many = made->operands->len > G_N_ELEMENTS (few)
                                       ? g_new0 (CleaveResult *, made->operands->len)
                                       : NULL;
  CleaveResult **operands = many != NULL ? many : few;
  CleaveNode *added;

  for (guint i = 0; i < made->operands->len; i++)
    if (made->operands->pdata[i] != NULL)
      operands[i] = cleave_onnx_value_result (node->import, made->operands->pdata[i]);
  added = cleave_graph_add (node->import->graph, made->call.op, node->name, operands,
                            made->operands->len, node->n_results, made->attrs, error);
  if (added == NULL)
    return FALSE;
  for (guint i = 0; made->constants != NULL && i < made->constants->len; i += 2)
    cleave_onnx_origin_add_operand (node->import->origin, cleave_node_get_name (added),
                                    made->constants->pdata[i], made->constants->pdata[i + 1]);
  for (guint i = 0; i < node->n_results; i++)
    {
      CleaveOnnxValue *value = cleave_onnx_value_new (node->import, NULL);

      value->result = cleave_node_get_result (added, i);
      value->is_costly = is_costly;
      g_ptr_array_add (node->values, value);
    }
  return TRUE;
}

/* Returns whether the file has the weights as floats: no node dequantizes or upcasts them. */
static gboolean
has_plain_weights (const Made *made)
{
  const CleaveOnnxValue *w = made->operands->len > 1 ? made->operands->pdata[1] : NULL;

  return w != NULL && (w->result == NULL ||
                       (cleave_result_get_node (w->result)->op->flags & CLEAVE_OP_STORAGE) == 0);
}

gboolean
cleave_onnx_node_make (CleaveOnnxNode *node, GError **error)
{
  const CleaveOp *op = cleave_op_lookup (node->op);
  g_auto (Made) made = { 0 };
  g_autofree CleaveTensorType *results = NULL;

  if (op == NULL || (op->flags & CLEAVE_OP_NOT_ONNX) != 0)
    return cleave_onnx_node_fail_op (node, error);
  if (!cleave_onnx_check_texts (node, error) || !make_call (node, op, &made, error))
    return FALSE;
  cleave_onnx_choose_winograd (&made.call, has_plain_weights (&made), node->doc, made.attrs);
  node->values = g_ptr_array_new ();
  if (!cleave_onnx_is_constant (&made.call, made.operands))
    return add (node, &made, error);
  if (!cleave_call_infer (&made.call, made.attrs, made.types + made.call.n_operands, error))
    return prefix_node (node, error);
  if (cleave_onnx_chain_starts (node->import, &made.call, made.operands))
    return add (node, &made, error);
  if (!cleave_onnx_fold (node, &made.call, made.operands, error))
    return FALSE;
  if (node->values->len == 0)
    return add (node, &made, error);
  cleave_onnx_mark_texts (node);
  return TRUE;
}
