/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Inputs and outputs of the model that are sequences or optional values (lists.h). */

#include "lists.h"

#include "texts.h"

#include <string.h>

/* The functions below read the declared types of inputs and outputs. */

static Onnx__TypeProto__ValueCase
get_case (const Onnx__TypeProto *type)
{
  return type == NULL ? ONNX__TYPE_PROTO__VALUE__NOT_SET : type->value_case;
}

gboolean
cleave_onnx_is_list (const Onnx__ValueInfoProto *info)
{
  return get_case (info->type) == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE ||
         get_case (info->type) == ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE;
}

gboolean
cleave_onnx_is_list_input (const CleaveOnnxImport *import, const char *name)
{
  const Onnx__GraphProto *graph = import->whole;

  for (size_t i = 0; i < graph->n_input; i++)
    if (g_strcmp0 (graph->input[i]->name, name) == 0)
      return cleave_onnx_is_list (graph->input[i]);
  return FALSE;
}

/* Stores a declared shape in `shape`. A free extent becomes -1; a missing shape becomes the shape
 * [-1]. Returns FALSE if the shape has too many dimensions. */
static gboolean
read_shape (const Onnx__TensorShapeProto *proto, CleaveShape *shape)
{
  *shape = CLEAVE_SHAPE (-1);
  if (proto == NULL)
    return TRUE;
  if (proto->n_dim >= CLEAVE_MAX_RANK)
    return FALSE;
  shape->rank = (guint) proto->n_dim;
  for (guint d = 0; d < shape->rank; d++)
    shape->dim[d] =
        proto->dim[d]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
                proto->dim[d]->dim_value >= 0
            ? proto->dim[d]->dim_value
            : -1;
  return TRUE;
}

static gboolean
has_strings (const Onnx__TypeProto *tensor)
{
  return tensor->tensor_type->elem_type == ONNX__TENSOR_PROTO__DATA_TYPE__STRING;
}

/* Stores the type of a list's tensors in `type`. A tensor of strings becomes a tensor of bytes with
 * one more dimension, which is how the graph stores strings. Returns FALSE if Cleave does not have
 * the type. */
static gboolean
read_tensor (const Onnx__TypeProto *proto, CleaveTensorType *type)
{
  if (get_case (proto) != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ||
      !read_shape (proto->tensor_type->shape, &type->shape))
    return FALSE;
  if (!has_strings (proto))
    return cleave_onnx_element (proto->tensor_type->elem_type, &type->element, NULL);
  type->element = CLEAVE_UINT8;
  type->shape.dim[type->shape.rank++] = -1;
  return TRUE;
}

/* If an input or an output of the model is a sequence or an optional value, adds its type to
 * `dynamic`. */
static gboolean
keep_list (CleaveOnnxDynamic *dynamic, const Onnx__ValueInfoProto *info, GError **error)
{
  CleaveOnnxListType type = { 0 };
  const Onnx__TypeProto *inner = info->type;
  const char *element;

  if (!cleave_onnx_is_list (info))
    return TRUE;
  type.is_optional = get_case (inner) == ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE;
  if (type.is_optional)
    inner = inner->optional_type->elem_type;
  type.is_sequence = get_case (inner) == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
  if (type.is_sequence)
    inner = inner->sequence_type->elem_type;
  if (!read_tensor (inner, &type.tensor))
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "'%s' is %s, but its elements are no tensors of numbers or strings: "
                        "export the model without this input or output",
                        info->name, type.is_optional ? "an optional value" : "a sequence");
  if (has_strings (inner))
    g_hash_table_add (dynamic->texts, g_strdup (info->name));
  element = has_strings (inner) ? "string" : cleave_element_get_name (type.tensor.element);
  type.text = g_strdup_printf ("%s%s%s%s%s", type.is_optional ? "optional(" : "",
                               type.is_sequence ? "seq(" : "", element, type.is_sequence ? ")" : "",
                               type.is_optional ? ")" : "");
  g_hash_table_insert (dynamic->lists, g_strdup (info->name), g_memdup2 (&type, sizeof type));
  return TRUE;
}

gboolean
cleave_onnx_keep_lists (CleaveOnnxDynamic *dynamic, const Onnx__GraphProto *whole, GError **error)
{
  g_autoptr (GStrvBuilder) inputs = g_strv_builder_new ();

  for (size_t i = 0; i < whole->n_input; i++)
    if (!keep_list (dynamic, whole->input[i], error))
      return FALSE;
    else if (cleave_onnx_is_list (whole->input[i]))
      g_strv_builder_add (inputs, whole->input[i]->name);
  for (size_t i = 0; i < whole->n_output; i++)
    if (!keep_list (dynamic, whole->output[i], error))
      return FALSE;
  dynamic->inputs = g_strv_builder_end (inputs);
  return TRUE;
}

/* The functions below read the lists that a caller gives to a run. */

/* A list among the values that the caller of a run gives. */
typedef struct
{
  gint64 n;        /* number of tensors; -1: the value is absent */
  GPtrArray *list; /* CleaveTensor: the tensors of the list */
} Given;

static Given
find_list (const char *name, const char *const *names, CleaveTensor *const *values, guint n_values)
{
  Given given = { -1, g_ptr_array_new () };
  gboolean has_number = FALSE;

  for (guint i = 0; i < n_values; i++)
    if (strcmp (names[i], name) == 0 && has_number)
      g_ptr_array_add (given.list, values[i]);
    else if (strcmp (names[i], name) == 0)
      {
        g_autoptr (CleaveTensor) number = cleave_tensor_dup_dense (values[i]);
        const CleaveTensorType *type = cleave_tensor_get_type (number);

        has_number = TRUE;
        given.n = type->element == CLEAVE_INT64 && type->shape.rank == 0
                      ? *(const gint64 *) cleave_tensor_get_data (number)
                      : G_MAXINT64;
      }
  return given;
}

static gboolean
check_given (const char *name, const CleaveOnnxListType *type, const Given *given, GError **error)
{
  if (given->n < -1 || MAX (given->n, 0) != given->list->len)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "input '%s' is %s: give the number of its tensors as an int64, or -1 for "
                        "none, and then the tensors",
                        name, type->text);
  if (given->n < 0 && !type->is_optional)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "input '%s' is %s: give its tensors", name,
                        type->text);
  if (given->n >= 0 && given->n != 1 && !type->is_sequence)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "input '%s' is %s: give one tensor or none, not %" G_GINT64_FORMAT, name,
                        type->text, given->n);
  for (guint i = 0; i < given->list->len; i++)
    {
      CleaveElement element = cleave_tensor_get_type (given->list->pdata[i])->element;

      if (element != type->tensor.element)
        return cleave_fail (error, CLEAVE_ERROR_OPTION,
                            "input '%s' is %s, but its tensor %u has elements of %s", name,
                            type->text, i, cleave_element_get_name (element));
    }
  return TRUE;
}

/* Makes a CleaveOnnxValue for each tensor of a list that the caller gives. Returns NULL on error.
 */
static GPtrArray *
make_items (CleaveOnnxImport *import,
            const char *name,
            gboolean is_text,
            const GPtrArray *tensors,
            GError **error)
{
  g_autoptr (GPtrArray) items = g_ptr_array_new ();

  for (guint i = 0; i < tensors->len; i++)
    {
      CleaveTensor *tensor =
          is_text ? cleave_onnx_texts_from_bytes (import, name, tensors->pdata[i], error)
                  : cleave_tensor_ref (tensors->pdata[i]);
      CleaveOnnxValue *item =
          tensor == NULL ? NULL : cleave_onnx_value_new_constant (import, NULL, tensor);

      if (item == NULL)
        return NULL;
      item->is_text = is_text;
      item->is_kept = TRUE;
      g_ptr_array_add (items, item);
    }
  return g_steal_pointer (&items);
}

gboolean
cleave_onnx_bind_lists (CleaveOnnxImport *import,
                        const CleaveOnnxDynamic *dynamic,
                        const char *const *names,
                        CleaveTensor *const *values,
                        guint n_values,
                        GError **error)
{
  for (guint i = 0; dynamic->inputs[i] != NULL; i++)
    {
      const char *name = dynamic->inputs[i];
      const CleaveOnnxListType *type = g_hash_table_lookup (dynamic->lists, name);
      Given given = find_list (name, names, values, n_values);
      g_autoptr (GPtrArray) list = given.list;
      CleaveOnnxValue *value = cleave_onnx_value_new (import, name);

      value->items =
          check_given (name, type, &given, error)
              ? make_items (import, name, g_hash_table_contains (dynamic->texts, name), list, error)
              : NULL;
      if (value->items == NULL)
        return FALSE;
      if (type->is_optional)
        value->optional = given.n < 0         ? CLEAVE_ONNX_OPTIONAL_EMPTY
                          : type->is_sequence ? CLEAVE_ONNX_OPTIONAL_SEQUENCE
                                              : CLEAVE_ONNX_OPTIONAL_TENSOR;
      if (!cleave_onnx_bind (import, value, error))
        return FALSE;
    }
  return TRUE;
}

/* The functions below return lists as results of a run. */

static CleaveTensor *
copy_item (CleaveOnnxImport *import, const CleaveOnnxValue *item, GError **error)
{
  return item->is_text ? cleave_onnx_texts_to_bytes (import, item->constant, error)
                       : cleave_tensor_dup_dense (item->constant);
}

gboolean
cleave_onnx_take_list (CleaveOnnxImport *import,
                       const char *name,
                       const CleaveOnnxListType *type,
                       const CleaveOnnxValue *value,
                       GPtrArray *outputs,
                       GError **error)
{
  const gint64 n = value->optional == CLEAVE_ONNX_OPTIONAL_EMPTY ? -1 : (gint64) value->items->len;

  if ((n < 0 && !type->is_optional) || (n >= 0 && n != 1 && !type->is_sequence))
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "the output '%s' has %" G_GINT64_FORMAT " tensors, but the model declares "
                        "%s",
                        name, MAX (n, 0), type->text);
  g_ptr_array_add (outputs, cleave_tensor_new_copy (&CLEAVE_SCALAR (CLEAVE_INT64), &n, NULL));
  for (guint i = 0; i < value->items->len; i++)
    {
      CleaveTensor *tensor = copy_item (import, value->items->pdata[i], error);

      if (tensor == NULL)
        return FALSE;
      g_ptr_array_add (outputs, tensor);
    }
  return TRUE;
}
