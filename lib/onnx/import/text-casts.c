/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Casts to and from strings: Cast and CastLike. */

#include "node.h"
#include "text-elements.h"

#include <math.h>
#include <string.h>

static gint64
print_number (CleaveOnnxImport *import, const CleaveTextElement *element, CleaveElement type)
{
  char text[64];

  if (type == CLEAVE_FLOAT32 || type == CLEAVE_FLOAT64)
    {
      if (isnan (element->real))
        strcpy (text, "NaN");
      else if (isinf (element->real))
        strcpy (text, element->real < 0 ? "-INF" : "INF");
      else
        g_ascii_formatd (text, sizeof text, type == CLEAVE_FLOAT32 ? "%.8g" : "%.17g",
                         element->real);
    }
  else
    g_snprintf (text, sizeof text, "%" G_GINT64_FORMAT, element->integer);
  return cleave_onnx_text_number (import, text);
}

static gboolean
parse_number (const CleaveOnnxNode *node, gint64 number, CleaveTextElement *element, GError **error)
{
  const char *text = cleave_onnx_text (node->import, number);
  char *end = NULL;

  *element = (CleaveTextElement){ .integer = g_ascii_strtoll (text, NULL, 10) };
  element->real = g_ascii_strtod (text, &end);
  return (end != text && *end == '\0') ||
         cleave_onnx_node_fail (node, error, "the string '%s' is not a number", text);
}

/* Casts operand 0 to strings if `to_text`, or else to the element type `to`. */
static gboolean
cast (CleaveOnnxNode *node, gboolean to_text, CleaveElement to, GError **error)
{
  const CleaveOnnxValue *x = node->operands->pdata[0];
  g_autoptr (CleaveTensor) from = cleave_text_operand (node, 0, x->is_text, error), made = NULL;

  if (from == NULL)
    return FALSE;
  if (x->is_text == to_text)
    return cleave_text_finish (node, g_steal_pointer (&from), to_text);
  made = cleave_text_tensor (from, to_text ? CLEAVE_INT64 : to, error);
  for (gint64 i = 0;
       made != NULL && i < cleave_shape_n_elements (&cleave_tensor_get_type (from)->shape); i++)
    {
      CleaveTextElement element;

      if (!cleave_text_element_read (from, i, &element) ||
          (!to_text && !parse_number (node, element.integer, &element, error)))
        return cleave_onnx_node_fail (node, error, "its element type is not supported");
      if (to_text)
        element.integer =
            print_number (node->import, &element, cleave_tensor_get_type (from)->element);
      if (!cleave_text_element_write (made, i, &element))
        return cleave_onnx_node_fail (node, error, "its element type is not supported");
    }
  return made != NULL && cleave_text_finish (node, g_steal_pointer (&made), to_text);
}

gboolean
cleave_onnx_read_cast (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  const Onnx__AttributeProto *to = cleave_text_attr (proto, "to", "");
  CleaveElement type = CLEAVE_INT64;

  if (!cleave_onnx_node_need (node, 1, error))
    return FALSE;
  if (to == NULL)
    return cleave_onnx_node_fail (node, error, "the attribute 'to' is missing");
  return (to->i == ONNX__TENSOR_PROTO__DATA_TYPE__STRING ||
          cleave_onnx_element (to->i, &type, error)) &&
         cast (node, to->i == ONNX__TENSOR_PROTO__DATA_TYPE__STRING, type, error);
}

gboolean
cleave_onnx_read_cast_like (CleaveOnnxNode *node,
                            const Onnx__NodeProto *proto G_GNUC_UNUSED,
                            GError **error)
{
  const CleaveOnnxValue *like;

  if (!cleave_onnx_node_need (node, 2, error))
    return FALSE;
  like = node->operands->pdata[1];
  return cast (node, like->is_text, cleave_onnx_value_type (like)->element, error);
}
