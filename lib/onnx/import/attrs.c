/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the attributes of a node of the file, and stores their values in the attribute fields of
 * our ops.
 *
 * Over 400 lines: this file has one small function for each kind of attribute. */

#include "node.h"

#include <string.h>

#include "../../ops/reference.h"

CleaveOnnxAttr *
cleave_onnx_attr_new (const char *name, Onnx__AttributeProto__AttributeType type)
{
  CleaveOnnxAttr *attr = g_new0 (CleaveOnnxAttr, 1);

  attr->name = g_strdup (name);
  attr->type = type;
  attr->ints = g_array_new (FALSE, FALSE, sizeof (gint64));
  attr->floats = g_array_new (FALSE, FALSE, sizeof (double));
  attr->strings = g_ptr_array_new_with_free_func (g_free);
  return attr;
}

CleaveOnnxAttr *
cleave_onnx_attr_new_ints (const char *name, const gint64 *ints, guint n_ints)
{
  CleaveOnnxAttr *attr = cleave_onnx_attr_new (name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

  if (n_ints > 0)
    g_array_append_vals (attr->ints, ints, n_ints);
  return attr;
}

CleaveOnnxAttr *
cleave_onnx_attr_new_int (const char *name, gint64 value)
{
  CleaveOnnxAttr *attr = cleave_onnx_attr_new (name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);

  g_array_append_val (attr->ints, value);
  return attr;
}

CleaveOnnxAttr *
cleave_onnx_attr_new_real (const char *name, double value)
{
  CleaveOnnxAttr *attr = cleave_onnx_attr_new (name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);

  g_array_append_val (attr->floats, value);
  return attr;
}

CleaveOnnxAttr *
cleave_onnx_attr_new_string (const char *name, const char *string)
{
  CleaveOnnxAttr *attr = cleave_onnx_attr_new (name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);

  attr->string = g_strdup (string);
  return attr;
}

void
cleave_onnx_attr_free (CleaveOnnxAttr *attr)
{
  if (attr == NULL)
    return;
  g_free (attr->name);
  g_free (attr->string);
  g_array_unref (attr->ints);
  g_array_unref (attr->floats);
  g_ptr_array_unref (attr->strings);
  g_clear_pointer (&attr->tensor, cleave_tensor_unref);
  g_free (attr);
}

/* The functions below read attributes of the file. */

/* Returns words for a type of attribute, for messages, such as "an int". */
static const char *
type_name (Onnx__AttributeProto__AttributeType type)
{
  static const char *const names[] = {
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT] = "a float",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT] = "an int",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING] = "a string",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR] = "a tensor",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS] = "floats",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS] = "ints",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH] = "a graph",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR] = "a sparse tensor",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS] = "strings",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSORS] = "tensors",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPHS] = "graphs",
  };

  return (guint) type < G_N_ELEMENTS (names) && names[type] != NULL ? names[type]
                                                                    : "of an unknown type";
}

/* Returns the type of an attribute. A file of an early IR version does not store the type; the type
 * then follows from the fields that are set. */
static Onnx__AttributeProto__AttributeType
find_type (const Onnx__AttributeProto *proto)
{
  if (proto->has_type)
    return proto->type;
  if (proto->has_f)
    return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT;
  if (proto->has_i)
    return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
  if (proto->has_s)
    return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING;
  if (proto->t != NULL)
    return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
  if (proto->n_floats > 0)
    return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS;
  return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS;
}

static char *
read_text (const CleaveOnnxAttr *attr, const ProtobufCBinaryData *bytes, GError **error)
{
  const char *text = bytes->len == 0 ? "" : (const char *) bytes->data;

  if (g_utf8_validate (text, (gssize) bytes->len, NULL))
    return g_strndup (text, bytes->len);
  return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "attribute '%s' is not UTF-8", attr->name);
}

static gboolean
read_string (CleaveOnnxAttr *attr, const Onnx__AttributeProto *proto, GError **error)
{
  return (attr->string = read_text (attr, &proto->s, error)) != NULL;
}

static gboolean
read_strings (CleaveOnnxAttr *attr, const Onnx__AttributeProto *proto, GError **error)
{
  for (size_t i = 0; i < proto->n_strings; i++)
    {
      char *text = read_text (attr, &proto->strings[i], error);

      if (text == NULL)
        return FALSE;
      g_ptr_array_add (attr->strings, text);
    }
  return TRUE;
}

/* Sets an attribute from a constant in dense or in sparse form; the other form is NULL. If an
 * earlier iteration of a loop has read the constant, takes the tensor of that iteration. */
static gboolean
read_constant (CleaveOnnxAttr *attr,
               CleaveOnnxImport *import,
               Onnx__TensorProto *dense,
               Onnx__SparseTensorProto *sparse,
               GError **error)
{
  gconstpointer key = dense != NULL ? (gconstpointer) dense : sparse;
  CleaveOnnxValue *known = cleave_onnx_recall (import, key);

  if (known == NULL)
    {
      CleaveTensor *tensor = dense != NULL
                                 ? cleave_onnx_tensor (dense, &import->folder, error)
                                 : cleave_onnx_sparse_tensor (sparse, &import->folder, error);

      if (tensor == NULL)
        return FALSE;
      known = cleave_onnx_value_new_constant (import, NULL, tensor);
      cleave_onnx_remember (import, key, known);
    }
  attr->tensor = cleave_tensor_ref (known->constant);
  return TRUE;
}

static gboolean
read_value (CleaveOnnxAttr *attr,
            CleaveOnnxImport *import,
            const Onnx__AttributeProto *proto,
            GError **error)
{
  double f = (double) proto->f;

  if (attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT)
    g_array_append_val (attr->floats, f);
  else if (attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT)
    g_array_append_val (attr->ints, proto->i);
  else if (attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS && proto->n_ints <= G_MAXINT32)
    g_array_append_vals (attr->ints, proto->ints, (guint) proto->n_ints);
  else if (attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS)
    for (size_t i = 0; i < proto->n_floats; i++)
      {
        f = (double) proto->floats[i];
        g_array_append_val (attr->floats, f);
      }
  else if (attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING)
    return read_string (attr, proto, error);
  else if (attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS)
    return read_strings (attr, proto, error);
  else if (attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR && proto->t != NULL)
    return read_constant (attr, import, proto->t, NULL, error);
  else if (attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR &&
           proto->sparse_tensor != NULL)
    return read_constant (attr, import, NULL, proto->sparse_tensor, error);
  else
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "attribute '%s' is %s, which is not supported",
                        attr->name, type_name (attr->type));
  return TRUE;
}

CleaveOnnxAttr *
cleave_onnx_attr_read (CleaveOnnxImport *import, const Onnx__AttributeProto *proto, GError **error)
{
  g_autoptr (CleaveOnnxAttr) attr = NULL;

  if (proto->name == NULL || !g_utf8_validate (proto->name, -1, NULL))
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "an attribute has no name");
  attr = cleave_onnx_attr_new (proto->name, find_type (proto));
  return read_value (attr, import, proto, error) ? g_steal_pointer (&attr) : NULL;
}

/* The functions below make attributes from constants, and store attributes in fields of our ops. */

CleaveOnnxAttr *
cleave_onnx_attr_of_tensor (const char *name, CleaveTensor *tensor)
{
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (tensor);
  const CleaveTensorType *type = cleave_tensor_get_type (dense);
  gconstpointer data = cleave_tensor_get_data (dense);
  gint64 n = cleave_shape_n_elements (&type->shape);
  CleaveOnnxAttr *attr = cleave_onnx_attr_new (name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR);

  for (gint64 i = 0; i < n; i++)
    {
      gboolean is_float = cleave_element_is_float (type->element);
      gconstpointer at = (const guint8 *) data + (gsize) i * cleave_element_size (type->element);
      gint64 integer = is_float ? 0 : cleave_integer_load (type->element, at);
      double real = cleave_real_load (type->element, at);

      if (!is_float)
        g_array_append_val (attr->ints, integer);
      g_array_append_val (attr->floats, real);
    }
  attr->tensor = g_steal_pointer (&dense);
  return attr;
}

gboolean
cleave_onnx_attr_is_exact (const CleaveOnnxAttr *attr)
{
  for (guint i = 0; i < attr->ints->len && i < attr->floats->len; i++)
    {
      gint64 integer = g_array_index (attr->ints, gint64, i);
      double real = g_array_index (attr->floats, double, i);

      if ((double) integer != real || real >= 0x1p63 || (gint64) real != integer)
        return FALSE;
    }
  return TRUE;
}

/* Functions that store an attribute in a field of an op, one for each kind of field. Return FALSE
 * without an error if the attribute has another type. */

typedef gboolean (*Store) (const CleaveOnnxAttr *value,
                           const CleaveAttr *attr,
                           gpointer field,
                           GError **error);

static gboolean
store_int (const CleaveOnnxAttr *value, const CleaveAttr *attr, gpointer field, GError **error)
{
  if (value->ints->len != 1)
    return FALSE;
  *(gint64 *) field = g_array_index (value->ints, gint64, 0);
  return TRUE;
}

static gboolean
store_bool (const CleaveOnnxAttr *value, const CleaveAttr *attr, gpointer field, GError **error)
{
  if (value->ints->len != 1)
    return FALSE;
  *(gboolean *) field = g_array_index (value->ints, gint64, 0) != 0;
  return TRUE;
}

static gboolean
find_enum (const CleaveAttr *attr, const char *name, int *value, GError **error)
{
  for (*value = 0; attr->names[*value] != NULL; (*value)++)
    if (g_ascii_strcasecmp (attr->names[*value], name) == 0)
      return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s '%s' is not supported", attr->name, name);
}

static gboolean
store_enum (const CleaveOnnxAttr *value, const CleaveAttr *attr, gpointer field, GError **error)
{
  int found;

  if (value->string == NULL || !find_enum (attr, value->string, &found, error))
    return FALSE;
  *(int *) field = found;
  return TRUE;
}

static gboolean
store_enums (const CleaveOnnxAttr *value, const CleaveAttr *attr, gpointer field, GError **error)
{
  CleaveInts *enums = field;
  int found;

  if (value->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS)
    return FALSE;
  if (value->strings->len > G_N_ELEMENTS (enums->v))
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s has %u entries, more than %u", attr->name,
                        value->strings->len, (guint) G_N_ELEMENTS (enums->v));
  enums->n = value->strings->len;
  for (guint i = 0; i < enums->n; i++)
    {
      if (!find_enum (attr, value->strings->pdata[i], &found, error))
        return FALSE;
      enums->v[i] = found;
    }
  return TRUE;
}

static gboolean
store_string (const CleaveOnnxAttr *value, const CleaveAttr *attr, gpointer field, GError **error)
{
  if (value->string == NULL)
    return FALSE;
  g_free (*(char **) field);
  *(char **) field = g_strdup (value->string);
  return TRUE;
}

static gboolean
store_double (const CleaveOnnxAttr *value, const CleaveAttr *attr, gpointer field, GError **error)
{
  if (value->floats->len != 1)
    return FALSE;
  if (!cleave_onnx_attr_is_exact (value))
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s is about %.0f, which a double does not hold",
                        attr->name, g_array_index (value->floats, double, 0));
  *(double *) field = g_array_index (value->floats, double, 0);
  return TRUE;
}

static gboolean
store_ints (const CleaveOnnxAttr *value, const CleaveAttr *attr, gpointer field, GError **error)
{
  CleaveInts *ints = field;

  if (value->ints->len == 0 && value->floats->len > 0)
    return FALSE;
  if (value->ints->len > G_N_ELEMENTS (ints->v))
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s has %u entries, more than %u", attr->name,
                        value->ints->len, (guint) G_N_ELEMENTS (ints->v));
  ints->n = value->ints->len;
  for (guint i = 0; i < ints->n; i++)
    ints->v[i] = g_array_index (value->ints, gint64, i);
  return TRUE;
}

static gboolean
store_doubles (const CleaveOnnxAttr *value, const CleaveAttr *attr, gpointer field, GError **error)
{
  CleaveDoubles *doubles = field;

  if (value->floats->len == 0 && value->ints->len > 0)
    return FALSE;
  if (value->floats->len > G_N_ELEMENTS (doubles->v))
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s has %u entries, more than %u", attr->name,
                        value->floats->len, (guint) G_N_ELEMENTS (doubles->v));
  doubles->n = value->floats->len;
  for (guint i = 0; i < doubles->n; i++)
    doubles->v[i] = g_array_index (value->floats, double, i);
  return TRUE;
}

static gboolean
store_array (const CleaveOnnxAttr *value, const CleaveAttr *attr, gpointer field, GError **error)
{
  if (value->ints->len == 0 && value->floats->len > 0)
    return FALSE;
  g_clear_pointer ((GArray **) field, g_array_unref);
  *(GArray **) field = g_array_copy (value->ints);
  return TRUE;
}

static gboolean
store_element (const CleaveOnnxAttr *value, const CleaveAttr *attr, gpointer field, GError **error)
{
  if (value->ints->len != 1)
    return FALSE;
  return cleave_onnx_element (g_array_index (value->ints, gint64, 0), field, error);
}

static gboolean
store_tensor (const CleaveOnnxAttr *value, const CleaveAttr *attr, gpointer field, GError **error)
{
  if (value->tensor == NULL)
    return FALSE;
  g_clear_pointer ((CleaveTensor **) field, cleave_tensor_unref);
  *(CleaveTensor **) field = cleave_tensor_ref (value->tensor);
  return TRUE;
}

static const struct
{
  Store store;
  const char *wanted;
} stores[] = {
  [CLEAVE_ATTR_INT] = { store_int, "an int" },
  [CLEAVE_ATTR_BOOL] = { store_bool, "an int" },
  [CLEAVE_ATTR_ENUM] = { store_enum, "a string" },
  [CLEAVE_ATTR_ENUMS] = { store_enums, "strings" },
  [CLEAVE_ATTR_DOUBLE] = { store_double, "a float" },
  [CLEAVE_ATTR_INTS] = { store_ints, "ints" },
  [CLEAVE_ATTR_DOUBLES] = { store_doubles, "floats" },
  [CLEAVE_ATTR_ARRAY] = { store_array, "ints" },
  [CLEAVE_ATTR_STRING] = { store_string, "a string" },
  [CLEAVE_ATTR_ELEMENT] = { store_element, "an int" },
  [CLEAVE_ATTR_TENSOR] = { store_tensor, "a tensor" },
};

gboolean
cleave_onnx_attr_store (const CleaveOnnxAttr *value,
                        const CleaveAttr *attr,
                        gpointer attrs,
                        GError **error)
{
  g_autoptr (GError) own = NULL;

  g_assert (attr->kind < G_N_ELEMENTS (stores) && stores[attr->kind].store != NULL);
  if (stores[attr->kind].store (value, attr, cleave_attr_field (attr, attrs), &own))
    return TRUE;
  if (own == NULL)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s is %s with %u elements, but should be %s",
                        attr->name, type_name (value->type),
                        MAX (value->ints->len, value->floats->len), stores[attr->kind].wanted);
  g_propagate_error (error, g_steal_pointer (&own));
  return FALSE;
}
