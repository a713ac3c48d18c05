/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs the ops of optional values during the import. In the import, an optional value is a list,
 * which is empty, has one tensor, or has the tensors of a sequence. So no node is added for these
 * ops:
 *
 *     Optional (x) -> o               o has the tensor x
 *     OptionalHasElement (o) -> b     b is true
 *     OptionalGetElement (o) -> y     y is x */

#include "node.h"
#include "sequences.h"

/* Sets the result of the node to an optional value that has the tensors `items`. Takes ownership of
 * `items`. */
static gboolean
finish (CleaveOnnxNode *node, GPtrArray *items, CleaveOnnxOptional optional)
{
  gboolean good = cleave_onnx_finish_sequence (node, items);

  ((CleaveOnnxValue *) node->values->pdata[0])->optional = optional;
  return good;
}

gboolean
cleave_onnx_read_optional (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *value = cleave_onnx_node_operand (node, 0);
  GPtrArray *items;

  if (value == NULL)
    return finish (node, g_ptr_array_new (), CLEAVE_ONNX_OPTIONAL_EMPTY);
  if (value->optional != CLEAVE_ONNX_NOT_OPTIONAL)
    return cleave_onnx_node_fail (node, error, "operand 0 is an optional value already");
  if (value->items != NULL)
    return finish (node, cleave_onnx_copy_items (value->items), CLEAVE_ONNX_OPTIONAL_SEQUENCE);
  items = g_ptr_array_new ();
  g_ptr_array_add (items, value);
  return finish (node, items, CLEAVE_ONNX_OPTIONAL_TENSOR);
}

/* Reads OptionalGetElement. Operand 0 may also be a tensor or a sequence: since opset 18, tensors
 * and sequences are optional values that are not empty. */
gboolean
cleave_onnx_read_optional_element (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *value = cleave_onnx_node_operand (node, 0);

  if (value == NULL)
    return cleave_onnx_node_fail (node, error, "operand 0 is missing");
  if (value->optional == CLEAVE_ONNX_OPTIONAL_EMPTY)
    return cleave_onnx_node_fail (node, error, "its optional value is empty");
  if (value->items == NULL)
    return cleave_onnx_finish (node, cleave_onnx_pass_on (node, value, error));
  if (value->optional == CLEAVE_ONNX_OPTIONAL_TENSOR)
    return cleave_onnx_finish (node, cleave_onnx_pass_on (node, value->items->pdata[0], error));
  return cleave_onnx_finish_sequence (node, cleave_onnx_copy_items (value->items));
}

gboolean
cleave_onnx_read_optional_has (CleaveOnnxNode *node, GError **error)
{
  const CleaveOnnxValue *value = cleave_onnx_node_operand (node, 0);
  const guint8 has = value != NULL && value->optional != CLEAVE_ONNX_OPTIONAL_EMPTY;

  return cleave_onnx_node_check_no_attrs (node, error) &&
         cleave_onnx_finish (node, cleave_onnx_constant (node, &CLEAVE_SCALAR (CLEAVE_BOOL), &has));
}
