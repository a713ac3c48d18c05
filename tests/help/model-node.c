/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the short texts of operands and attributes, such as "~1.5,2" and "axes=1,", and builds an
 * ONNX model of one node. */

#include "model-node.h"
#include "interpret.h"

#include <string.h>

#include "../../lib/ops/reference.h"

static CleaveElement
take_element (const char **spec)
{
  static const struct
  {
    const char *prefix;
    CleaveElement element;
  } elements[] = { { "b:", CLEAVE_BOOL },    { "f16:", CLEAVE_FLOAT16 }, { "u8:", CLEAVE_UINT8 },
                   { "i8:", CLEAVE_INT8 },   { "u16:", CLEAVE_UINT16 },  { "i16:", CLEAVE_INT16 },
                   { "i32:", CLEAVE_INT32 }, { "i64:", CLEAVE_INT64 } };

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    if (g_str_has_prefix (*spec, elements[i].prefix))
      {
        *spec += strlen (elements[i].prefix);
        return elements[i].element;
      }
  return **spec == '=' ? CLEAVE_INT64 : CLEAVE_FLOAT32;
}

static CleaveShape
parse_shape (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "x", -1);
  CleaveShape shape = { 0 };

  for (guint i = 0; parts[i] != NULL && *parts[i] != '\0'; i++)
    shape.dim[shape.rank++] = g_ascii_strtoll (parts[i], NULL, 10);
  return shape;
}

static GArray *
parse_numbers (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; parts[i] != NULL && *parts[i] != '\0'; i++)
    {
      double number = g_ascii_strtod (parts[i], NULL);

      g_array_append_val (numbers, number);
    }
  return numbers;
}

static void
store (CleaveElement element, gpointer data, gsize i, double number)
{
  if (cleave_element_is_float (element))
    cleave_real_store (element, (char *) data + i * cleave_element_size (element), number);
  else if (element == CLEAVE_INT64)
    ((gint64 *) data)[i] = (gint64) number;
  else if (element == CLEAVE_INT32)
    ((gint32 *) data)[i] = (gint32) number;
  else if (cleave_element_size (element) == 2)
    ((gint16 *) data)[i] = (gint16) (gint64) number;
  else
    ((gint8 *) data)[i] = (gint8) (gint64) number;
}

/* Adds an initializer of this type with these numbers. If `numbers` is NULL, the elements are 0, 1,
 * 2, ... */
static void
add_numbers (Model *model, const char *name, const CleaveTensorType *type, const GArray *numbers)
{
  gsize n = (gsize) cleave_shape_n_elements (&type->shape);
  g_autofree gpointer data = g_malloc0 ((gsize) cleave_tensor_type_n_bytes (type) + 1);

  for (gsize i = 0; i < n; i++)
    store (type->element, data, i,
           numbers == NULL ? (double) i : g_array_index (numbers, double, i));
  model_add_initializer (model, name, type, data);
}

/* Adds a value whose elements are 1. A node computes the value, so that the file stays small. */
static void
add_ones (Model *model, const char *name, CleaveElement element, const CleaveShape *shape)
{
  g_autofree char *of_shape = g_strconcat (name, ".shape", NULL);
  CleaveInts dims = { .n = shape->rank };
  Onnx__NodeProto *node;
  guint64 one = 0;

  memcpy (dims.v, shape->dim, sizeof shape->dim);
  model_add_ints (model, of_shape, &dims);
  node = model_add_node (model, "ConstantOfShape", name, of_shape, name);
  store (element, &one, 0, 1);
  node_add_attr (node, "value", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR)->t =
      tensor_new ("", &CLEAVE_TYPE (element, 1), &one);
}

static void
add_operand (Model *model, const char *name, const char *spec)
{
  gboolean is_scalar = g_str_has_prefix (spec, "s:");
  const char *text = spec + (is_scalar ? 2 : 0);
  CleaveTensorType type = { .element = take_element (&text) };
  g_autoptr (GArray) numbers = NULL;

  if (*text == '?')
    {
      model_add_input (model, name, text + 1);
      return;
    }
  if (g_ascii_isdigit (*text))
    {
      type.shape = parse_shape (text);
      add_ones (model, name, type.element, &type.shape);
      return;
    }
  if (*text == '#')
    type.shape = parse_shape (text + 1);
  else
    {
      const char *shape = strchr (text, '@');

      numbers = parse_numbers (text + 1);
      type.shape = shape == NULL ? CLEAVE_SHAPE (numbers->len) : parse_shape (shape + 1);
    }
  if (is_scalar)
    type.shape.rank = 0;
  add_numbers (model, name, &type, numbers);
}

static void
add_attr (Onnx__NodeProto *node, const char *name, const char *text)
{
  g_autoptr (GArray) numbers = parse_numbers (text);
  CleaveInts ints = { .n = numbers->len };
  CleaveDoubles doubles = { .n = numbers->len };
  gboolean is_real = strchr (text, '.') != NULL;

  if (!g_ascii_isdigit (*text) && *text != '-')
    {
      node_add_string (node, name, text);
      return;
    }
  for (guint i = 0; i < numbers->len; i++)
    {
      doubles.v[i] = g_array_index (numbers, double, i);
      ints.v[i] = (gint64) doubles.v[i];
    }
  if (strchr (text, ',') != NULL && is_real)
    node_add_floats (node, name, &doubles);
  else if (strchr (text, ',') != NULL)
    node_add_ints (node, name, &ints);
  else if (is_real)
    node_add_float (node, name, (float) doubles.v[0]);
  else
    node_add_int (node, name, ints.v[0]);
}

static void
name_op (Onnx__NodeProto *node, const char *op)
{
  g_auto (GStrv) parts = g_strsplit (op, ":", 2);

  if (parts[1] == NULL)
    return;
  g_free (node->op_type);
  node->domain = g_strdup (parts[0]);
  node->op_type = g_strdup (parts[1]);
}

Model *
model_of_node (
    gint64 opset, const char *op, const char *specs, const char *attrs, const char *results)
{
  Model *model = model_new (opset);
  g_auto (GStrv) operands = g_strsplit (specs, " ", -1), pairs = g_strsplit (attrs, " ", -1);
  g_autoptr (GString) names = g_string_new (NULL);
  Onnx__NodeProto *node;

  for (guint i = 0; operands[i] != NULL; i++)
    {
      g_autofree char *name = g_strdup_printf ("c%u", i);
      gboolean is_absent = strcmp (operands[i], "-") == 0;

      g_string_append_printf (names, " %s", is_absent ? "-" : name);
      if (!is_absent)
        add_operand (model, name, operands[i]);
    }
  node = model_add_node (model, op, "n", names->str, results);
  name_op (node, op);
  for (guint i = 0; pairs[i] != NULL && *pairs[i] != '\0'; i++)
    {
      g_auto (GStrv) pair = g_strsplit (pairs[i], "=", 2);

      add_attr (node, pair[0], pair[1]);
    }
  model_add_output (model, "y");
  return model;
}

static char *
describe (CleaveTensor *dense)
{
  const CleaveTensorType *type = cleave_tensor_get_type (dense);
  g_autofree char *shape = cleave_shape_to_string (&type->shape);
  GString *out = g_string_new (shape);

  g_string_append_c (out, ':');
  for (gint64 i = 0; i < cleave_shape_n_elements (&type->shape); i++)
    g_string_append_printf (
        out, " %.5g",
        cleave_real_load (type->element, (const char *) cleave_tensor_get_data (dense) +
                                             i * (gint64) cleave_element_size (type->element)));
  return g_string_free (out, FALSE);
}

char *
model_value (const Model *model)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = model_import (model, &error);
  g_autoptr (GPtrArray) outputs = NULL;
  g_autoptr (CleaveTensor) dense = NULL;

  if (graph == NULL)
    return g_strdup (error->message);
  outputs = cleave_interpret (graph, NULL);
  dense = cleave_tensor_dup_dense (outputs->pdata[0]);
  return describe (dense);
}
