/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts splits of OpenVINO, whose axis and lengths are tensors. */

#include <cleave/cleave-frameworks.h>

#include "split-sizes.h"

/* Returns the integers of a tensor with at most one dimension. Returns NULL and sets the error on
 * failure. */
static GArray *
read_integers (const CleaveTensor *tensor, const char *name, GError **error)
{
  const CleaveTensorType *type = cleave_tensor_get_type (tensor);
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 n = cleave_shape_n_elements (&type->shape);
  gint64 step = type->shape.rank == 0 ? 0 : cleave_tensor_get_strides (tensor)[0];

  if (cleave_element_is_float (type->element) || type->element == CLEAVE_BOOL)
    return cleave_fail_null (error, CLEAVE_ERROR_ELEMENT_TYPE,
                             "%s must be of an integer type, not %s", name,
                             cleave_element_get_name (type->element));
  for (gint64 i = 0; i < n; i++)
    {
      gint64 value = cleave_integer_load (
          type->element, (const char *) cleave_tensor_get_data (tensor) +
                             i * step * (gint64) cleave_element_size (type->element));

      if (type->element == CLEAVE_UINT64 && value < 0)
        value = G_MAXINT64; /* too large for gint64; later checks refuse the number */
      g_array_append_val (numbers, value);
    }
  return g_steal_pointer (&numbers);
}

/* Reads the axis from a tensor: a scalar or, if `may_be_list`, a tensor of shape [1]. */
static gboolean
read_axis (const CleaveTensor *tensor,
           gboolean may_be_list,
           const CleaveShape *data,
           gint64 *axis,
           GError **error)
{
  const CleaveShape *shape = &cleave_tensor_get_type (tensor)->shape;
  g_autofree char *text = cleave_shape_to_string (shape);
  g_autoptr (GArray) numbers = NULL;

  if (shape->rank != 0 && !(may_be_list && shape->rank == 1 && shape->dim[0] == 1))
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "axis must be a scalar%s, not of shape [%s]",
                        may_be_list ? " or of shape [1]" : "", text);
  numbers = read_integers (tensor, "axis", error);
  if (numbers == NULL)
    return FALSE;
  *axis = g_array_index (numbers, gint64, 0);
  return cleave_split_find_axis (data, axis, error);
}

static CleaveSplitAttrs *
from_openvino_split (const CleaveShape *shape,
                     const CleaveTensor *axis_tensor,
                     gint64 num_splits,
                     GError **error)
{
  gint64 axis = 0;

  if (!read_axis (axis_tensor, FALSE, shape, &axis, error))
    return NULL;
  if (num_splits > shape->dim[axis])
    return cleave_fail_null (error, CLEAVE_ERROR_ATTRIBUTE,
                             "num_splits must be between 1 and %" G_GINT64_FORMAT
                             ", the size of dimension %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT,
                             shape->dim[axis], axis, num_splits);
  return cleave_split_make_equal (shape, axis, "num_splits", num_splits, error);
}

/**
 * cleave_split_op_from_openvino_split:
 * @data: type of the value to split
 * @axis: a scalar of any integer type
 * @num_splits: number of pieces, which must divide the dimension
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes the attributes of a Split from a Split of OpenVINO.
 *
 * Fails as [ctor@Cleave.SplitAttrs.new] does, and with %CLEAVE_ERROR_SHAPE or
 * %CLEAVE_ERROR_ELEMENT_TYPE if the axis is no integer scalar.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 *
 * Since: 0.1
 */
CleaveSplitAttrs *
cleave_split_op_from_openvino_split (const CleaveTensorType *data,
                                     const CleaveTensor *axis,
                                     gint64 num_splits,
                                     GError **error)
{
  g_return_val_if_fail (cleave_tensor_type_is_legal (data) && axis != NULL, NULL);
  return cleave_split_name_call (
      "OpenVINO Split", from_openvino_split (&data->shape, axis, num_splits, error), error);
}

static CleaveSplitAttrs *
from_openvino_variadic (const CleaveShape *shape,
                        const CleaveTensor *axis_tensor,
                        const CleaveTensor *split_lengths,
                        GError **error)
{
  const CleaveShape *lengths = &cleave_tensor_get_type (split_lengths)->shape;
  g_autoptr (GArray) numbers = NULL;
  gint64 axis = 0;

  if (!read_axis (axis_tensor, TRUE, shape, &axis, error))
    return NULL;
  if (lengths->rank != 1)
    return cleave_fail_null (error, CLEAVE_ERROR_SHAPE,
                             "split_lengths must have 1 dimension, not %u", lengths->rank);
  numbers = read_integers (split_lengths, "split_lengths", error);
  if (numbers == NULL)
    return NULL;
  return cleave_split_make_with_rest (shape, "split_lengths", axis, (const gint64 *) numbers->data,
                                      numbers->len, error);
}

/**
 * cleave_split_op_from_openvino_variadic:
 * @data: type of the value to split
 * @axis: a scalar or a tensor of shape [1], of any integer type
 * @split_lengths: one size for each result, of any integer type; one size may be -1, for the
 * remainder
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes the attributes of a Split from a VariadicSplit of OpenVINO.
 *
 * Fails as [ctor@Cleave.SplitAttrs.new] does, and with %CLEAVE_ERROR_SHAPE or
 * %CLEAVE_ERROR_ELEMENT_TYPE if the axis or the lengths have another shape or no integer type.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 *
 * Since: 0.1
 */
CleaveSplitAttrs *
cleave_split_op_from_openvino_variadic (const CleaveTensorType *data,
                                        const CleaveTensor *axis,
                                        const CleaveTensor *split_lengths,
                                        GError **error)
{
  g_return_val_if_fail (cleave_tensor_type_is_legal (data) && axis != NULL && split_lengths != NULL,
                        NULL);
  return cleave_split_name_call ("OpenVINO VariadicSplit",
                                 from_openvino_variadic (&data->shape, axis, split_lengths, error),
                                 error);
}
