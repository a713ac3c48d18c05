/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Forms of opset 18 as those of opset 17, which our records have. */

#include "import.h"

/* The reductions take their axes as an operand, as ReduceSum did before; without any they may do
 * nothing. */
gboolean
cleave_onnx_upgrade_reduce (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) noop = NULL, keepdims = NULL;
  CleaveOnnxValue *axes = cleave_onnx_node_operand (node, 1);
  CleaveOnnxAttr *attr;

  if (node->import->opset < 18)
    return TRUE;
  noop = cleave_onnx_node_take (node, "noop_with_empty_axes");
  if (axes != NULL && cleave_onnx_value_constant (node->import, axes) == NULL)
    return cleave_onnx_node_fail (node, error, "axes %s", cleave_onnx_why_unknown (axes));
  g_ptr_array_set_size (node->operands, (gint) MIN (node->operands->len, 1));
  attr = axes == NULL ? NULL : cleave_onnx_attr_of_tensor ("axes", axes->constant);
  if (attr != NULL && attr->ints->len > 0)
    {
      g_ptr_array_add (node->attrs, attr);
      return TRUE;
    }
  cleave_onnx_attr_free (attr);
  if (noop == NULL || noop->ints->len != 1 || g_array_index (noop->ints, gint64, 0) == 0)
    return TRUE;
  keepdims = cleave_onnx_node_take (node, "keepdims");
  node->op = "Identity";
  return TRUE;
}

/* Split in a number of parts, the last of which may be smaller. */
gboolean
cleave_onnx_upgrade_split (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) number = NULL;
  const CleaveOnnxAttr *axis = cleave_onnx_node_find (node, "axis");
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0);
  CleaveSplitOnnx call = { .opset = (guint) node->import->opset, .n_outputs = node->n_results };
  CleaveTensorType type;
  CleaveSplitAttrs *sizes;

  if (node->import->opset < 18)
    return TRUE;
  number = cleave_onnx_node_take (node, "num_outputs");
  if (number == NULL || number->ints->len != 1 || x == NULL)
    return TRUE;
  if (cleave_onnx_node_operand (node, 1) != NULL)
    return cleave_onnx_node_fail (node, error, "it has both split and num_outputs");
  call.num_outputs = &g_array_index (number->ints, gint64, 0);
  if (axis != NULL && axis->ints->len == 1)
    call.axis = &g_array_index (axis->ints, gint64, 0);
  sizes = cleave_split_op_from_onnx (cleave_onnx_value_type (x), &call, error);
  if (sizes == NULL)
    {
      g_prefix_error (error, "%s '%s': ", node->op, node->name);
      return FALSE;
    }
  type = CLEAVE_TYPE (CLEAVE_INT64, sizes->sizes->len);
  cleave_onnx_node_set_operand (node, 1, cleave_onnx_constant (node, &type, sizes->sizes->data));
  cleave_split_attrs_free (sizes);
  return TRUE;
}
