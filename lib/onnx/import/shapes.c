/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the types of the graph's inputs, and checks the declared types of outputs. Free dimensions
 * of inputs have the extents that the caller gives. */

#include "import.h"

static const Onnx__TensorShapeProto *
find_shape (const Onnx__ValueInfoProto *info)
{
  const Onnx__TypeProto *type = info->type;

  if (type == NULL || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
    return NULL;
  return type->tensor_type->shape;
}

static gboolean
is_fixed (const Onnx__TensorShapeProto__Dimension *dim)
{
  return dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
         dim->dim_value >= 0;
}

/* Returns a shape as text, for example "Nx3xHxW" if `between` is "x". "?" stands for a free
 * dimension without a name. */
static char *
shape_to_string (const Onnx__TensorShapeProto *shape, const char *between)
{
  g_autoptr (GString) out = g_string_new (NULL);

  for (size_t d = 0; d < shape->n_dim; d++)
    {
      const Onnx__TensorShapeProto__Dimension *dim = shape->dim[d];
      gboolean named = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
                       dim->dim_param[0] != '\0' && g_utf8_validate (dim->dim_param, -1, NULL);

      g_string_append (out, d == 0 ? "" : between);
      if (is_fixed (dim))
        g_string_append_printf (out, "%" G_GINT64_FORMAT, (gint64) dim->dim_value);
      else
        g_string_append (out, named ? dim->dim_param : "?");
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static gboolean
has_free (const Onnx__TensorShapeProto *shape)
{
  for (size_t d = 0; d < shape->n_dim; d++)
    if (!is_fixed (shape->dim[d]))
      return TRUE;
  return FALSE;
}

char *
cleave_onnx_free_shape (const Onnx__ValueInfoProto *info)
{
  const Onnx__TensorShapeProto *shape = find_shape (info);

  return shape != NULL && has_free (shape) ? shape_to_string (shape, ",") : NULL;
}

/* A string of an input may have at most this many bytes, unless the caller gives another number. */
#define MAX_TEXT 256

gboolean
cleave_onnx_is_text_input (const CleaveOnnxImport *import, const Onnx__ValueInfoProto *info)
{
  return import->dynamic != NULL && info->type != NULL &&
         info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
         info->type->tensor_type->elem_type == ONNX__TENSOR_PROTO__DATA_TYPE__STRING;
}

static gboolean
check_given (const Onnx__ValueInfoProto *info,
             const CleaveShape *given,
             gboolean is_text,
             GError **error)
{
  const Onnx__TensorShapeProto *shape = find_shape (info);
  g_autofree char *wanted = NULL, *came = NULL;

  if (shape == NULL)
    return TRUE;
  /* The caller's shape must have the rank that the model declares. The extents may differ: the ops
   * check them. */
  if (shape->n_dim == given->rank || (is_text && shape->n_dim + 1 == given->rank))
    return TRUE;
  wanted = shape_to_string (shape, "x");
  came = cleave_shape_to_string (given);
  return cleave_fail (
      error, CLEAVE_ERROR_OPTION,
      "input '%s' is %s in the model, so it cannot be given %s: give %" G_GSIZE_FORMAT " extents",
      info->name, wanted, came, shape->n_dim);
}

static gboolean
find_extent (const CleaveOnnxImport *import,
             const Onnx__TensorShapeProto__Dimension *dim,
             gint64 *extent)
{
  const gint64 *known = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM
                            ? g_hash_table_lookup (import->extents, dim->dim_param)
                            : NULL;

  *extent = known != NULL ? *known : dim->dim_value;
  return known != NULL || is_fixed (dim);
}

/* Returns an example of an extent for a message: 1 for a batch, 224 for an image, 128 for a
 * sequence. */
static gint64
make_extent (gsize rank, gsize d)
{
  return d == 0 ? 1 : rank >= 4 && d >= rank - 2 ? 224 : 128;
}

/* Returns a hint " (give its shape, …)" for a message. The hint shows how to give the free
 * dimensions, as a whole shape and by their names. */
static char *
suggest_shape (const CleaveOnnxImport *import, const Onnx__TensorShapeProto *proto)
{
  g_autoptr (GString) shape = g_string_new (NULL), dims = g_string_new (NULL);

  for (gsize d = 0; d < proto->n_dim; d++)
    {
      const char *name = proto->dim[d]->dim_param;
      gboolean is_named =
          proto->dim[d]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
          *name != '\0';
      gint64 extent;

      if (!find_extent (import, proto->dim[d], &extent))
        {
          extent = make_extent (proto->n_dim, d);
          if (is_named)
            g_string_append_printf (dims, " %s=%" G_GINT64_FORMAT, name, extent);
        }
      g_string_append_printf (shape, "%s%" G_GINT64_FORMAT, d > 0 ? "," : "", extent);
    }
  return g_strconcat ("(give its shape, such as ", shape->str,
                      dims->len > 0 ? ", or its dimensions, such as" : "", dims->str, ")", NULL);
}

static gboolean
read_shape (const CleaveOnnxImport *import,
            const Onnx__ValueInfoProto *info,
            CleaveShape *shape,
            GError **error)
{
  const Onnx__TensorShapeProto *proto = find_shape (info);

  if (proto == NULL)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "input '%s' has no shape (give its shape, such as 1,3,224,224)",
                        info->name);
  if (proto->n_dim > CLEAVE_MAX_RANK)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "input '%s' has rank %" G_GSIZE_FORMAT ", more than %d", info->name,
                        (gsize) proto->n_dim, CLEAVE_MAX_RANK);
  *shape = (CleaveShape){ .rank = (guint) proto->n_dim };
  for (guint d = 0; d < shape->rank; d++)
    {
      g_autofree char *text = NULL, *cure = NULL;

      if (find_extent (import, proto->dim[d], &shape->dim[d]))
        continue;
      text = shape_to_string (proto, " x ");
      cure = suggest_shape (import, proto);
      return cleave_fail (error, CLEAVE_ERROR_MODEL, "input '%s' has free dimensions: %s %s",
                          info->name, text, cure);
    }
  return TRUE;
}

/* Converts the type of an input of strings to a type of bytes: adds a last dimension, the bytes of
 * each string. If the caller gives a shape, that shape has this dimension already. */
static gboolean
add_bytes (const Onnx__ValueInfoProto *info,
           gboolean has_given,
           CleaveTensorType *type,
           GError **error)
{
  const Onnx__TensorShapeProto *shape = find_shape (info);

  type->element = CLEAVE_UINT8;
  if (has_given && shape != NULL && type->shape.rank > shape->n_dim)
    return TRUE;
  if (type->shape.rank == CLEAVE_MAX_RANK)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "strings may have at most %d dimensions",
                        CLEAVE_MAX_RANK - 1);
  type->shape.dim[type->shape.rank++] = MAX_TEXT;
  return TRUE;
}

/* Sets the error for an input that is not a tensor. */
static gboolean
fail_type (const Onnx__ValueInfoProto *info, GError **error)
{
  static const char *const types[] = {
    [ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE] = "a sequence",
    [ONNX__TYPE_PROTO__VALUE_MAP_TYPE] = "a map",
    [ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE] = "a sparse tensor",
    [ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE] = "an optional value",
  };
  const guint at = info->type == NULL ? 0 : (guint) info->type->value_case;

  if (at >= G_N_ELEMENTS (types) || types[at] == NULL)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "input '%s' has no type", info->name);
  return cleave_fail (error, CLEAVE_ERROR_MODEL,
                      "input '%s' is %s, not a tensor: make its tensors inputs of the model",
                      info->name, types[at]);
}

gboolean
cleave_onnx_input_type (const CleaveOnnxImport *import,
                        const Onnx__ValueInfoProto *info,
                        const CleaveShape *given,
                        CleaveTensorType *type,
                        GError **error)
{
  const gboolean is_text = cleave_onnx_is_text_input (import, info);

  *type = (CleaveTensorType){ 0 };
  if (info->type == NULL || info->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
    return fail_type (info, error);
  if (given != NULL && !check_given (info, given, is_text, error))
    return FALSE;
  if (given != NULL)
    type->shape = *given;
  else if (!read_shape (import, info, &type->shape, error))
    return FALSE;
  if ((is_text ? add_bytes (info, given != NULL, type, error)
               : cleave_onnx_element (info->type->tensor_type->elem_type, &type->element, error)) &&
      cleave_tensor_type_check (type, error))
    return TRUE;
  g_prefix_error (error, "input '%s': ", info->name);
  return FALSE;
}

void
cleave_onnx_keep_extents (CleaveOnnxImport *import,
                          const Onnx__ValueInfoProto *info,
                          const CleaveShape *shape)
{
  const Onnx__TensorShapeProto *proto = find_shape (info);

  for (size_t d = 0; proto != NULL && d < proto->n_dim; d++)
    if (proto->dim[d]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM)
      g_hash_table_insert (import->extents, proto->dim[d]->dim_param,
                           g_memdup2 (&shape->dim[d], sizeof shape->dim[d]));
}

gboolean
cleave_onnx_value_info_type (CleaveOnnxImport *import,
                             const Onnx__ValueInfoProto *info,
                             CleaveTensorType *type,
                             GError **error)
{
  const Onnx__TensorShapeProto *proto = find_shape (info);

  *type = (CleaveTensorType){ 0 };
  if (proto == NULL)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "value_info gives it no shape");
  if (proto->n_dim > CLEAVE_MAX_RANK)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "its rank is more than %d", CLEAVE_MAX_RANK);
  type->shape.rank = (guint) proto->n_dim;
  for (guint d = 0; d < type->shape.rank; d++)
    if (!find_extent (import, proto->dim[d], &type->shape.dim[d]))
      {
        g_autofree char *text = shape_to_string (proto, "x");

        return cleave_fail (error, CLEAVE_ERROR_MODEL, "its shape %s has free dimensions", text);
      }
  return cleave_onnx_element (info->type->tensor_type->elem_type, &type->element, error) &&
         cleave_tensor_type_check (type, error);
}

/* Returns whether the declared shape of an output fits the inferred shape. The ranks must be equal,
 * unless the declared shape has a free dimension. Each declared extent must equal the inferred
 * extent, be free, or be 0, which some exporters write for an unknown extent. If the caller gives
 * shapes of inputs, extents may differ, since the declared shape may hold for other inputs. */
static gboolean
fits_declared (const Onnx__TensorShapeProto *shape,
               const CleaveShape *inferred,
               gboolean shapes_are_given)
{
  if (shape == NULL)
    return TRUE;
  if (shape->n_dim != inferred->rank)
    return has_free (shape);
  for (guint d = 0; d < inferred->rank && !shapes_are_given; d++)
    if (is_fixed (shape->dim[d]) && shape->dim[d]->dim_value != 0 &&
        shape->dim[d]->dim_value != inferred->dim[d])
      return FALSE;
  return TRUE;
}

gboolean
cleave_onnx_check_output (CleaveOnnxImport *import,
                          const Onnx__ValueInfoProto *info,
                          const CleaveTensorType *type,
                          gboolean shapes_are_given,
                          GError **error)
{
  const Onnx__TensorShapeProto *shape = find_shape (info);
  gint64 number =
      info->type == NULL || info->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
          ? 0
          : info->type->tensor_type->elem_type;
  g_autofree char *came = NULL, *wanted = NULL;

  if (number != 0 && number != cleave_onnx_element_number (type->element))
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "output '%s' is %s, but the model declares element type %" G_GINT64_FORMAT,
                        info->name, cleave_element_get_name (type->element), number);
  if (fits_declared (shape, &type->shape, shapes_are_given))
    return TRUE;
  came = cleave_shape_to_string (&type->shape);
  wanted = shape->n_dim == 0 ? g_strdup ("a scalar") : shape_to_string (shape, "x");
  cleave_onnx_origin_take_warning (
      import->origin, g_strdup_printf ("output '%s' is %s; the model declares %s, which is ignored",
                                       info->name, came, wanted));
  return TRUE;
}

const char *
cleave_onnx_dim_name (const Onnx__ValueInfoProto *info, guint d)
{
  const Onnx__TensorShapeProto *shape = find_shape (info);

  if (shape == NULL || d >= shape->n_dim ||
      shape->dim[d]->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM)
    return NULL;
  return shape->dim[d]->dim_param;
}
