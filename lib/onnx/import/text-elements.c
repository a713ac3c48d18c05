/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads and writes single elements of tensors that hold strings, integers or floats
 * (text-elements.h). */

#include "text-elements.h"
#include "node.h"

gboolean
cleave_text_element_read (CleaveTensor *dense, gint64 i, CleaveTextElement *element)
{
  gconstpointer data = cleave_tensor_get_data (dense);

  *element = (CleaveTextElement){ 0 };
  switch ((int) cleave_tensor_get_type (dense)->element)
    {
    case CLEAVE_INT64:
      element->integer = ((const gint64 *) data)[i];
      element->real = (double) element->integer;
      return TRUE;
    case CLEAVE_INT32:
      element->integer = ((const gint32 *) data)[i];
      element->real = (double) element->integer;
      return TRUE;
    case CLEAVE_BOOL:
    case CLEAVE_UINT8:
      element->integer = ((const guint8 *) data)[i];
      element->real = (double) element->integer;
      return TRUE;
    case CLEAVE_FLOAT32:
      element->real = (double) ((const float *) data)[i];
      element->integer = (gint64) CLAMP (element->real, -0x1p62, 0x1p62);
      return TRUE;
    case CLEAVE_FLOAT64:
      element->real = ((const double *) data)[i];
      element->integer = (gint64) CLAMP (element->real, -0x1p62, 0x1p62);
      return TRUE;
    default:
      return FALSE;
    }
}

gboolean
cleave_text_element_write (CleaveTensor *tensor, gint64 i, const CleaveTextElement *element)
{
  gpointer data = cleave_tensor_get_mutable_data (tensor);

  switch ((int) cleave_tensor_get_type (tensor)->element)
    {
    case CLEAVE_INT64:
      ((gint64 *) data)[i] = element->integer;
      return TRUE;
    case CLEAVE_INT32:
      ((gint32 *) data)[i] = (gint32) element->integer;
      return TRUE;
    case CLEAVE_BOOL:
      ((guint8 *) data)[i] = element->real != 0;
      return TRUE;
    case CLEAVE_FLOAT32:
      ((float *) data)[i] = (float) element->real;
      return TRUE;
    case CLEAVE_FLOAT64:
      ((double *) data)[i] = element->real;
      return TRUE;
    default:
      return FALSE;
    }
}

gboolean
cleave_text_finish (CleaveOnnxNode *node, CleaveTensor *tensor, gboolean is_text)
{
  CleaveOnnxValue *value = cleave_onnx_value_new_constant (node->import, NULL, tensor);

  value->is_text = is_text;
  if (node->values == NULL)
    node->values = g_ptr_array_new ();
  g_ptr_array_add (node->values, value);
  return TRUE;
}

CleaveTensor *
cleave_text_operand (const CleaveOnnxNode *node, guint index, gboolean is_text, GError **error)
{
  const CleaveOnnxValue *value = cleave_onnx_node_operand (node, index);

  if (value == NULL || value->constant == NULL)
    return cleave_onnx_node_fail_null (node, error, "operand %u is missing", index);
  if (value->is_text != is_text)
    return cleave_onnx_node_fail_null (node, error, "operand %u must have %s", index,
                                       is_text ? "strings" : "numbers");
  return cleave_tensor_dup_dense (value->constant);
}

CleaveTensor *
cleave_text_tensor (CleaveTensor *like, CleaveElement element, GError **error)
{
  CleaveTensorType type = *cleave_tensor_get_type (like);

  type.element = element;
  return cleave_tensor_new (&type, error);
}

const Onnx__AttributeProto *
cleave_text_attr (const Onnx__NodeProto *proto, const char *prefix, const char *ending)
{
  g_autofree char *name = g_strconcat (prefix, ending, NULL);

  for (size_t i = 0; i < proto->n_attribute; i++)
    if (g_strcmp0 (proto->attribute[i]->name, name) == 0)
      return proto->attribute[i];
  return NULL;
}

CleaveTextElement
cleave_text_element_new (CleaveOnnxImport *import, const ProtobufCBinaryData *bytes)
{
  g_autofree char *text = g_strndup (bytes->len == 0 ? "" : (const char *) bytes->data, bytes->len);

  return (CleaveTextElement){ .is_text = TRUE, .integer = cleave_onnx_text_number (import, text) };
}
