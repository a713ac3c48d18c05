/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Element types, shapes and tensor types: sizes, equality, checks, text. */

#include "range.h"

#include "error.h"

static const struct
{
  const char *name;
  gsize size;
  gboolean is_float;
} elements[CLEAVE_N_ELEMENTS] = {
  [CLEAVE_NONE] = { "none", 0, FALSE },        [CLEAVE_FLOAT32] = { "float32", 4, TRUE },
  [CLEAVE_FLOAT64] = { "float64", 8, TRUE },   [CLEAVE_FLOAT16] = { "float16", 2, TRUE },
  [CLEAVE_BFLOAT16] = { "bfloat16", 2, TRUE }, [CLEAVE_INT8] = { "int8", 1, FALSE },
  [CLEAVE_INT16] = { "int16", 2, FALSE },      [CLEAVE_INT32] = { "int32", 4, FALSE },
  [CLEAVE_INT64] = { "int64", 8, FALSE },      [CLEAVE_UINT8] = { "uint8", 1, FALSE },
  [CLEAVE_UINT16] = { "uint16", 2, FALSE },    [CLEAVE_UINT32] = { "uint32", 4, FALSE },
  [CLEAVE_UINT64] = { "uint64", 8, FALSE },    [CLEAVE_BOOL] = { "bool", 1, FALSE },
};

/**
 * cleave_element_size:
 * @element: an element type
 *
 * Returns: the size of an element in bytes; 1 for a boolean, 0 for %CLEAVE_NONE
 *
 * Since: 0.1
 */
gsize
cleave_element_size (CleaveElement element)
{
  g_return_val_if_fail (cleave_element_is_legal (element), 0);
  return elements[element].size;
}

/**
 * cleave_element_get_name:
 * @element: an element type
 *
 * Returns: (transfer none): the name of the type, such as `float32`
 *
 * Since: 0.1
 */
const char *
cleave_element_get_name (CleaveElement element)
{
  g_return_val_if_fail (cleave_element_is_legal (element), NULL);
  return elements[element].name;
}

/**
 * cleave_element_is_float:
 * @element: an element type
 *
 * Returns: whether the type is one of the four floating-point types
 *
 * Since: 0.1
 */
gboolean
cleave_element_is_float (CleaveElement element)
{
  g_return_val_if_fail (cleave_element_is_legal (element), FALSE);
  return elements[element].is_float;
}

/**
 * cleave_shape_equal:
 * @a: a shape
 * @b: a shape
 *
 * Returns: whether rank and all extents are the same
 *
 * Since: 0.1
 */
gboolean
cleave_shape_equal (const CleaveShape *a, const CleaveShape *b)
{
  g_return_val_if_fail (cleave_shape_is_legal (a) && cleave_shape_is_legal (b), FALSE);
  if (a->rank != b->rank)
    return FALSE;
  for (guint d = 0; d < a->rank; d++)
    if (a->dim[d] != b->dim[d])
      return FALSE;
  return TRUE;
}

/**
 * cleave_shape_n_elements:
 * @shape: a shape that passed [method@Cleave.TensorType.check], so that the product fits 64 bits
 *
 * Returns: the number of elements: the product of the extents, 1 for a scalar
 *
 * Since: 0.1
 */
gint64
cleave_shape_n_elements (const CleaveShape *shape)
{
  g_return_val_if_fail (cleave_shape_is_legal (shape), 0);

  gint64 n = 1;

  for (guint d = 0; d < shape->rank; d++)
    n *= shape->dim[d];
  return n;
}

/**
 * cleave_shape_to_string:
 * @shape: a shape
 *
 * Returns: (transfer full): the extents, separated by `x`, such as `1x3x8x8`; `scalar` for rank 0
 *
 * Since: 0.1
 */
char *
cleave_shape_to_string (const CleaveShape *shape)
{
  g_return_val_if_fail (cleave_shape_is_legal (shape), NULL);
  g_autoptr (GString) out = g_string_new (shape->rank == 0 ? "scalar" : NULL);

  for (guint d = 0; d < shape->rank; d++)
    g_string_append_printf (out, "%s%" G_GINT64_FORMAT, d == 0 ? "" : "x", shape->dim[d]);
  return g_string_free (g_steal_pointer (&out), FALSE);
}

/**
 * cleave_tensor_type_equal:
 * @a: a type
 * @b: a type
 *
 * Returns: whether element type and shape are the same
 *
 * Since: 0.1
 */
gboolean
cleave_tensor_type_equal (const CleaveTensorType *a, const CleaveTensorType *b)
{
  g_return_val_if_fail (cleave_tensor_type_is_legal (a) && cleave_tensor_type_is_legal (b), FALSE);
  return a->element == b->element && cleave_shape_equal (&a->shape, &b->shape);
}

/**
 * cleave_tensor_type_check:
 * @type: a type
 * @error: return location for a [struct@GLib.Error]
 *
 * Checks that a type is legal. A legal type has an element type other than %CLEAVE_NONE, a rank of
 * at most %CLEAVE_MAX_RANK, and no negative extent. A legal type has less than 2^63 bytes, even if
 * extents of 0 are counted as 1.
 *
 * Fails with %CLEAVE_ERROR_ELEMENT_TYPE or %CLEAVE_ERROR_SHAPE.
 *
 * Returns: %TRUE if the type is legal
 *
 * Since: 0.1
 */
gboolean
cleave_tensor_type_check (const CleaveTensorType *type, GError **error)
{
  g_return_val_if_fail (type != NULL, FALSE);

  gint64 n_bytes;

  if (type->element <= CLEAVE_NONE || type->element >= CLEAVE_N_ELEMENTS)
    return cleave_fail (error, CLEAVE_ERROR_ELEMENT_TYPE, "there is no element type %d",
                        (int) type->element);
  if (type->shape.rank > CLEAVE_MAX_RANK)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "the rank must be at most %d, not %u",
                        CLEAVE_MAX_RANK, type->shape.rank);

  n_bytes = (gint64) cleave_element_size (type->element);
  for (guint d = 0; d < type->shape.rank; d++)
    {
      gint64 extent = type->shape.dim[d];

      if (extent < 0)
        return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                            "dimension %u must be at least 0, not %" G_GINT64_FORMAT, d, extent);
      if (__builtin_mul_overflow (n_bytes, MAX (extent, 1), &n_bytes))
        {
          g_autofree char *shape = cleave_shape_to_string (&type->shape);

          return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                              "%s %s has more bytes than 64 bits can count",
                              cleave_element_get_name (type->element), shape);
        }
    }
  return TRUE;
}

/**
 * cleave_tensor_type_n_bytes:
 * @type: a type that passed [method@Cleave.TensorType.check], or the type of an absent value
 *
 * Returns: the number of bytes of a dense tensor of this type; 0 for an absent value
 *
 * Since: 0.1
 */
gint64
cleave_tensor_type_n_bytes (const CleaveTensorType *type)
{
  g_return_val_if_fail (cleave_tensor_type_is_legal (type), 0);
  return cleave_shape_n_elements (&type->shape) * (gint64) cleave_element_size (type->element);
}

/**
 * cleave_tensor_type_to_string:
 * @type: a type
 *
 * Returns: (transfer full): the element type and the shape, such as `float32 1x3x8x8`
 *
 * Since: 0.1
 */
char *
cleave_tensor_type_to_string (const CleaveTensorType *type)
{
  g_return_val_if_fail (cleave_tensor_type_is_legal (type), NULL);

  g_autofree char *shape = cleave_shape_to_string (&type->shape);

  return g_strdup_printf ("%s %s", cleave_element_get_name (type->element), shape);
}
