/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Steps (contrib.h) that the upgrades of com.microsoft ops share: each adds one node. */

#include "contrib.h"

/* An upgrade may make constants of at most this many elements. Without a limit, a small file could
 * ask for a huge constant. */
#define MAX_POSITIONS (1 << 20)

CleaveOnnxValue *
cleave_onnx_permute (CleaveOnnxNode *node,
                     CleaveOnnxValue *x,
                     const CleaveShape *order,
                     const char *suffix,
                     GError **error)
{
  gboolean is_same = TRUE;

  for (guint d = 0; d < order->rank; d++)
    is_same = is_same && order->dim[d] == d;
  if (x == NULL || is_same)
    return x;
  return CLEAVE_ONNX_STEP ("Transpose", suffix,
                           cleave_onnx_attr_new_ints ("perm", order->dim, order->rank), x);
}

CleaveOnnxValue *
cleave_onnx_reshape (CleaveOnnxNode *node,
                     CleaveOnnxValue *x,
                     const CleaveShape *shape,
                     const char *suffix,
                     GError **error)
{
  if (x == NULL || (error != NULL && *error != NULL))
    return NULL;
  return cleave_shape_equal (&cleave_onnx_value_type (x)->shape, shape)
             ? x
             : cleave_onnx_node_reshape (node, x, shape, suffix, error);
}

CleaveOnnxValue *
cleave_onnx_slice (CleaveOnnxNode *node,
                   CleaveOnnxValue *x,
                   gint64 axis,
                   CleaveSpan span,
                   const char *suffix,
                   GError **error)
{
  const CleaveTensorType one = CLEAVE_TYPE (CLEAVE_INT64, 1);

  if (x == NULL)
    return NULL;
  if (span.begin == 0 && span.end == cleave_onnx_value_type (x)->shape.dim[axis])
    return x;
  return CLEAVE_ONNX_STEP ("Slice", suffix, NULL, x, cleave_onnx_constant (node, &one, &span.begin),
                           cleave_onnx_constant (node, &one, &span.end),
                           cleave_onnx_constant (node, &one, &axis));
}

CleaveOnnxValue *
cleave_onnx_join (CleaveOnnxNode *node,
                  CleaveOnnxValue *const *parts,
                  guint n_parts,
                  gint64 axis,
                  const char *suffix,
                  GError **error)
{
  return n_parts == 1 ? parts[0]
                      : cleave_onnx_step (node, "Concat", suffix, parts, n_parts,
                                          cleave_onnx_attr_new_int ("axis", axis), error);
}

CleaveOnnxValue *
cleave_onnx_cast (CleaveOnnxNode *node,
                  CleaveOnnxValue *x,
                  CleaveElement element,
                  const char *suffix,
                  GError **error)
{
  return x == NULL || cleave_onnx_value_type (x)->element == element
             ? x
             : CLEAVE_ONNX_STEP (
                   "Cast", suffix,
                   cleave_onnx_attr_new_int ("to", cleave_onnx_element_number (element)), x);
}

CleaveOnnxValue *
cleave_onnx_zeros (CleaveOnnxNode *node, const CleaveTensorType *type, GError **error)
{
  CleaveTensor *tensor;

  if (error != NULL && *error != NULL)
    return NULL;
  if (!cleave_tensor_type_check (type, error))
    return NULL;
  if (cleave_shape_n_elements (&type->shape) > MAX_POSITIONS)
    return cleave_onnx_node_fail_null (
        node, error,
        "it must have at most %d positions, heads or parts of a batch, "
        "not %" G_GINT64_FORMAT,
        MAX_POSITIONS, cleave_shape_n_elements (&type->shape));
  tensor = cleave_tensor_new (type, error);
  return tensor == NULL ? NULL : cleave_onnx_value_new_constant (node->import, NULL, tensor);
}

CleaveOnnxValue *
cleave_onnx_count (CleaveOnnxNode *node, gint64 from, const CleaveShape *shape, GError **error)
{
  const CleaveTensorType type = { CLEAVE_INT64, *shape };
  CleaveOnnxValue *value = cleave_onnx_zeros (node, &type, error);
  gint64 *data = value == NULL ? NULL : cleave_tensor_get_mutable_data (value->constant);

  for (gint64 i = 0; data != NULL && i < cleave_shape_n_elements (shape); i++)
    data[i] = from + i;
  return value;
}

gboolean
cleave_onnx_expect (const CleaveOnnxNode *node,
                    const char *what,
                    const CleaveOnnxValue *value,
                    const CleaveShape *shape,
                    GError **error)
{
  const CleaveShape *is = value == NULL ? NULL : &cleave_onnx_value_type (value)->shape;
  gboolean good = is != NULL && is->rank == shape->rank;
  g_autofree char *came = is == NULL ? NULL : cleave_shape_to_string (is);
  g_autoptr (GString) wanted = g_string_new (NULL);

  for (guint d = 0; d < shape->rank; d++)
    {
      good = good && (shape->dim[d] == CLEAVE_ONNX_ANY || shape->dim[d] == is->dim[d]);
      g_string_append (wanted, d == 0 ? "" : "x");
      if (shape->dim[d] == CLEAVE_ONNX_ANY)
        g_string_append_c (wanted, '?');
      else
        g_string_append_printf (wanted, "%" G_GINT64_FORMAT, shape->dim[d]);
    }
  return good || cleave_onnx_node_fail (node, error, "%s must have the shape %s, but %s%s", what,
                                        wanted->str, is == NULL ? "is absent" : "has ",
                                        is == NULL ? "" : came);
}

gboolean
cleave_onnx_refuse (const CleaveOnnxNode *node, guint operand, const char *what, GError **error)
{
  return cleave_onnx_node_operand (node, operand) == NULL ||
         cleave_onnx_node_fail (node, error, "%s must be absent, but is there", what);
}

gboolean
cleave_onnx_take_only (CleaveOnnxNode *node, const char *attr, gint64 only, GError **error)
{
  gint64 value = cleave_onnx_node_take_int (node, attr, only);

  return value == only || cleave_onnx_node_fail (
                              node, error, "%s must be %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT,
                              attr, only, value);
}
