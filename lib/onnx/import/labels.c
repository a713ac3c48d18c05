/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs LabelEncoder of ai.onnx.ml during a run of the dynamic part. The op maps keys to labels.
 * Keys and labels are strings, integers or floats. */

#include "node.h"
#include "text-elements.h"

#include <math.h>

/* One of the two lists of a LabelEncoder: the keys or the labels. The opset decides which
 * attributes have the lists. */
typedef struct
{
  GArray *elements; /* CleaveTextElement: the keys or the labels, in the order of the attribute */
  CleaveTextElement fallback;
  CleaveElement type; /* element type; CLEAVE_NONE: strings */
} Side;

/* Appends the elements of a tensor attribute to `side`. */
static gboolean
append_tensor (CleaveOnnxNode *node, const Onnx__TensorProto *proto, Side *side, GError **error)
{
  g_autoptr (CleaveTensor) tensor = NULL;
  CleaveOnnxFolder none = { 0 };
  const gboolean is_text = cleave_onnx_is_text_tensor (proto);
  CleaveOnnxValue *value =
      is_text ? cleave_onnx_text_constant (node->import, NULL, proto, error) : NULL;

  if (is_text && value == NULL)
    return FALSE;
  if (is_text)
    tensor = cleave_tensor_ref (value->constant);
  else
    {
      gsize n = onnx__tensor_proto__get_packed_size (proto);
      guint8 *bytes = g_malloc (n + 1);
      Onnx__TensorProto *copy;

      onnx__tensor_proto__pack (proto, bytes);
      copy = onnx__tensor_proto__unpack (NULL, n, bytes);
      g_free (bytes);
      tensor = copy == NULL ? NULL : cleave_onnx_tensor (copy, &none, error);
      if (copy != NULL)
        onnx__tensor_proto__free_unpacked (copy, NULL);
    }
  if (tensor == NULL)
    return FALSE;
  side->type = is_text ? CLEAVE_NONE : cleave_tensor_get_type (tensor)->element;
  for (gint64 i = 0; i < cleave_shape_n_elements (&cleave_tensor_get_type (tensor)->shape); i++)
    {
      CleaveTextElement element;

      if (!cleave_text_element_read (tensor, i, &element))
        return cleave_onnx_node_fail (node, error, "a label map has an unsupported element type");
      element.is_text = is_text;
      g_array_append_val (side->elements, element);
    }
  return TRUE;
}

static gboolean
read_side (CleaveOnnxNode *node,
           const Onnx__NodeProto *proto,
           const char *prefix,
           Side *side,
           GError **error)
{
  const Onnx__AttributeProto *attr;

  side->elements = g_array_new (FALSE, FALSE, sizeof (CleaveTextElement));
  if ((attr = cleave_text_attr (proto, prefix, "strings")) != NULL)
    for (size_t i = 0; i < attr->n_strings; i++)
      {
        CleaveTextElement element = cleave_text_element_new (node->import, &attr->strings[i]);

        side->type = CLEAVE_NONE;
        g_array_append_val (side->elements, element);
      }
  else if ((attr = cleave_text_attr (proto, prefix, "int64s")) != NULL)
    for (size_t i = 0; i < attr->n_ints; i++)
      {
        CleaveTextElement element = { .integer = attr->ints[i], .real = (double) attr->ints[i] };

        side->type = CLEAVE_INT64;
        g_array_append_val (side->elements, element);
      }
  else if ((attr = cleave_text_attr (proto, prefix, "floats")) != NULL)
    for (size_t i = 0; i < attr->n_floats; i++)
      {
        CleaveTextElement element = { .real = (double) attr->floats[i] };

        side->type = CLEAVE_FLOAT32;
        g_array_append_val (side->elements, element);
      }
  else if ((attr = cleave_text_attr (proto, prefix, "tensor")) != NULL && attr->t != NULL)
    return append_tensor (node, attr->t, side, error);
  else
    return cleave_onnx_node_fail (node, error,
                                  "it has no attribute %sstrings, %sint64s, %sfloats "
                                  "or %stensor",
                                  prefix, prefix, prefix, prefix);
  return TRUE;
}

/* Reads the default label, for elements that are no key of the map. */
static gboolean
read_default (CleaveOnnxNode *node, const Onnx__NodeProto *proto, Side *side, GError **error)
{
  const Onnx__AttributeProto *text = cleave_text_attr (proto, "default_", "string");
  const Onnx__AttributeProto *integer = cleave_text_attr (proto, "default_", "int64");
  const Onnx__AttributeProto *real = cleave_text_attr (proto, "default_", "float");
  const Onnx__AttributeProto *tensor = cleave_text_attr (proto, "default_", "tensor");
  Side one = { 0 };
  gboolean good = TRUE;

  side->fallback = (CleaveTextElement){ .is_text = side->type == CLEAVE_NONE, .integer = -1 };
  if (side->type == CLEAVE_NONE)
    side->fallback.integer = text != NULL ? cleave_text_element_new (node->import, &text->s).integer
                                          : cleave_onnx_text_number (node->import, "_Unused");
  else if (side->type == CLEAVE_INT64)
    side->fallback.integer = integer != NULL ? integer->i : -1;
  else
    side->fallback.real = real != NULL ? (double) real->f : -0.0;
  if (tensor != NULL && tensor->t != NULL)
    {
      one.elements = g_array_new (FALSE, FALSE, sizeof (CleaveTextElement));
      good = append_tensor (node, tensor->t, &one, error);
      if (good && one.elements->len == 1)
        side->fallback = g_array_index (one.elements, CleaveTextElement, 0);
      g_array_unref (one.elements);
    }
  return good;
}

/* Reads the map of opset 1, which is a list of strings. With `from_texts`, the map has the strings
 * as keys and their positions in the list as labels. Without `from_texts`, the positions are the
 * keys. */
static gboolean
read_classes (CleaveOnnxNode *node,
              const Onnx__NodeProto *proto,
              gboolean from_texts,
              Side *keys,
              Side *values,
              GError **error)
{
  Side *texts = from_texts ? keys : values, *positions = from_texts ? values : keys;

  if (!read_side (node, proto, "classes_", texts, error))
    return FALSE;
  positions->elements = g_array_new (FALSE, FALSE, sizeof (CleaveTextElement));
  positions->type = CLEAVE_INT64;
  for (guint i = 0; i < texts->elements->len; i++)
    {
      CleaveTextElement element = { .integer = i, .real = i };

      g_array_append_val (positions->elements, element);
    }
  return TRUE;
}

/* Returns the label of the first key that equals `element`. Returns the default label if no key
 * does. */
static const CleaveTextElement *
look_up (const Side *keys, const Side *values, const CleaveTextElement *element)
{
  for (guint i = 0; i < keys->elements->len; i++)
    {
      const CleaveTextElement *key = &g_array_index (keys->elements, CleaveTextElement, i);
      gboolean is_same =
          keys->type == CLEAVE_NONE || keys->type == CLEAVE_INT64
              ? key->integer == element->integer
              : key->real == element->real || (isnan (key->real) && isnan (element->real));

      if (is_same)
        return &g_array_index (values->elements, CleaveTextElement, i);
    }
  return &values->fallback;
}

static gboolean
encode (CleaveOnnxNode *node, const Side *keys, const Side *values, GError **error)
{
  const gboolean is_text = values->type == CLEAVE_NONE;
  g_autoptr (CleaveTensor) x = cleave_text_operand (node, 0, keys->type == CLEAVE_NONE, error);
  CleaveTensor *y =
      x == NULL ? NULL : cleave_text_tensor (x, is_text ? CLEAVE_INT64 : values->type, error);

  for (gint64 i = 0; y != NULL && i < cleave_shape_n_elements (&cleave_tensor_get_type (x)->shape);
       i++)
    {
      CleaveTextElement element;

      if (!cleave_text_element_read (x, i, &element) ||
          !cleave_text_element_write (y, i, look_up (keys, values, &element)))
        {
          cleave_tensor_unref (y);
          return cleave_onnx_node_fail (node, error, "its element type is not supported");
        }
    }
  return y != NULL && cleave_text_finish (node, y, is_text);
}

gboolean
cleave_onnx_read_labels (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  const CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0);
  Side keys = { 0 }, values = { 0 };
  gboolean good = x != NULL || cleave_onnx_node_fail (node, error, "operand 0 is missing");

  if (good && cleave_text_attr (proto, "classes_", "strings") != NULL)
    good = read_classes (node, proto, x->is_text, &keys, &values, error);
  else if (good)
    good = read_side (node, proto, "keys_", &keys, error) &&
           read_side (node, proto, "values_", &values, error);
  if (good && keys.elements->len != values.elements->len)
    good = cleave_onnx_node_fail (node, error, "it has %u keys and %u values", keys.elements->len,
                                  values.elements->len);
  good = good && read_default (node, proto, &values, error) && encode (node, &keys, &values, error);
  g_clear_pointer (&keys.elements, g_array_unref);
  g_clear_pointer (&values.elements, g_array_unref);
  return good;
}
