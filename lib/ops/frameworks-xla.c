/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts slices of XLA to attributes of ops. One slice becomes a Slice. Several slices that
 * divide one dimension become a Split, for which XLA has no operator. */

#include <cleave/cleave-frameworks.h>

#include "split-sizes.h"

static gboolean
check_xla (const CleaveShape *shape, const CleaveSliceXla *call, guint index, GError **error)
{
  for (guint d = 0; d < shape->rank; d++)
    {
      gint64 start = call->start_indices[d], limit = call->limit_indices[d];

      if (start < 0 || limit < start || limit > shape->dim[d])
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "slice %u: start %" G_GINT64_FORMAT " and limit %" G_GINT64_FORMAT
                            " must lie in this order between 0 and the %" G_GINT64_FORMAT
                            " of dimension %u",
                            index, start, limit, shape->dim[d], d);
      if (call->strides[d] < 1)
        return cleave_fail (
            error, CLEAVE_ERROR_ATTRIBUTE,
            "slice %u: stride of dimension %u must be at least 1, not %" G_GINT64_FORMAT, index, d,
            call->strides[d]);
    }
  return TRUE;
}

/**
 * cleave_slice_op_from_xla:
 * @operand: type of the value to slice
 * @call: start, exclusive limit and stride of each dimension
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes the attributes of a Slice from a Slice of XLA.
 *
 * Fails with %CLEAVE_ERROR_ATTRIBUTE unless 0 ≤ start ≤ limit ≤ extent and stride ≥ 1 in each
 * dimension.
 *
 * Returns: (transfer full) (nullable): attributes for a Slice node, to be freed with
 * [func@GLib.free], or %NULL on error
 *
 * Since: 0.1
 */
CleaveSliceAttrs *
cleave_slice_op_from_xla (const CleaveTensorType *operand,
                          const CleaveSliceXla *call,
                          GError **error)
{
  g_return_val_if_fail (cleave_tensor_type_is_legal (operand) && call != NULL, NULL);

  CleaveSliceAttrs *attrs;

  if (!check_xla (&operand->shape, call, 0, error))
    return cleave_split_name_call ("XLA Slice", NULL, error);
  attrs = g_new0 (CleaveSliceAttrs, 1);
  attrs->starts.n = attrs->ends.n = attrs->steps.n = operand->shape.rank;
  for (guint d = 0; d < operand->shape.rank; d++)
    {
      attrs->starts.v[d] = call->start_indices[d];
      attrs->ends.v[d] = call->limit_indices[d];
      attrs->steps.v[d] = call->strides[d];
    }
  return attrs;
}

/* Returns whether one of the n slices does not contain the whole dimension d. */
static gboolean
is_cut (const CleaveShape *shape, const CleaveSliceXla *slices, guint n, guint d)
{
  for (guint i = 0; i < n; i++)
    if (slices[i].limit_indices[d] - slices[i].start_indices[d] != shape->dim[d])
      return TRUE;
  return FALSE;
}

/* Sets `axis` to the only dimension that the slices cut; fails if they cut several dimensions. If
 * the slices cut no dimension, sets `axis` to a dimension of extent 0: its parts are all empty. */
static gboolean
find_cut (
    const CleaveShape *shape, const CleaveSliceXla *slices, guint n, guint *axis, GError **error)
{
  guint n_cut = 0;

  *axis = 0;
  for (guint d = shape->rank; d-- > 0;)
    if (shape->dim[d] == 0)
      *axis = d;
  for (guint d = 0; d < shape->rank; d++)
    if (is_cut (shape, slices, n, d))
      {
        if (n_cut++ > 0)
          return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                              "the slices cut dimension %u and dimension %u, a split cuts one",
                              *axis, d);
        *axis = d;
      }
  return TRUE;
}

static CleaveSplitAttrs *
from_xla (const CleaveShape *shape, const CleaveSliceXla *slices, guint n_slices, GError **error)
{
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 end = 0, size;
  guint axis = 0;

  if (!cleave_split_check_shape (shape, error))
    return NULL;
  for (guint i = 0; i < n_slices; i++)
    {
      if (!check_xla (shape, &slices[i], i, error))
        return NULL;
      for (guint d = 0; d < shape->rank; d++)
        if (slices[i].strides[d] != 1)
          return cleave_fail_null (
              error, CLEAVE_ERROR_ATTRIBUTE,
              "slice %u: stride of dimension %u must be 1 in a split, not %" G_GINT64_FORMAT, i, d,
              slices[i].strides[d]);
    }
  if (!find_cut (shape, slices, n_slices, &axis, error))
    return NULL;
  for (guint i = 0; i < n_slices; i++)
    {
      if (slices[i].start_indices[axis] != end)
        return cleave_fail_null (error, CLEAVE_ERROR_ATTRIBUTE,
                                 "slice %u: dimension %u starts at %" G_GINT64_FORMAT
                                 ", but the slice before ends at %" G_GINT64_FORMAT,
                                 i, axis, slices[i].start_indices[axis], end);
      end = slices[i].limit_indices[axis];
      size = end - slices[i].start_indices[axis];
      g_array_append_val (sizes, size);
    }
  return cleave_split_make (shape, "sizes", axis, (const gint64 *) sizes->data, n_slices, error);
}

/**
 * cleave_split_op_from_xla:
 * @operand: type of the value that all slices read
 * @slices: (array length=n_slices): slices with strides of 1 that differ in only one dimension, and
 * cover it in order, without gap or overlap
 * @n_slices: number of slices, at least 1
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes the attributes of a Split from several slices of XLA, which has no split operation.
 *
 * Fails with %CLEAVE_ERROR_ATTRIBUTE if the slices are not a split, and with %CLEAVE_ERROR_SHAPE if
 * @operand is a scalar.
 *
 * Returns: (transfer full) (nullable): attributes for a Split node, or %NULL on error
 *
 * Since: 0.1
 */
CleaveSplitAttrs *
cleave_split_op_from_xla (const CleaveTensorType *operand,
                          const CleaveSliceXla *slices,
                          guint n_slices,
                          GError **error)
{
  g_return_val_if_fail (cleave_tensor_type_is_legal (operand) && (slices != NULL || n_slices == 0),
                        NULL);
  return cleave_split_name_call ("XLA Slice", from_xla (&operand->shape, slices, n_slices, error),
                                 error);
}

/**
 * cleave_split_op_to_xla:
 * @operand: type of the value to split
 * @attrs: attributes of a Split of this value
 *
 * Converts the attributes of a Split to slices of XLA. This function cannot fail.
 *
 * Returns: (transfer full) (element-type CleaveSliceXla): one slice for each result
 *
 * Since: 0.1
 */
GArray *
cleave_split_op_to_xla (const CleaveTensorType *operand, const CleaveSplitAttrs *attrs)
{
  g_return_val_if_fail (cleave_tensor_type_is_legal (operand), NULL);
  g_return_val_if_fail (attrs != NULL && attrs->sizes != NULL, NULL);
  g_return_val_if_fail (attrs->axis >= 0 && attrs->axis < operand->shape.rank, NULL);

  GArray *slices = g_array_new (FALSE, TRUE, sizeof (CleaveSliceXla));
  gint64 begin = 0;

  for (guint i = 0; i < attrs->sizes->len; i++)
    {
      CleaveSliceXla slice = { { 0 }, { 0 }, { 0 } };

      for (guint d = 0; d < operand->shape.rank; d++)
        {
          slice.limit_indices[d] = operand->shape.dim[d];
          slice.strides[d] = 1;
        }
      slice.start_indices[attrs->axis] = begin;
      begin += g_array_index (attrs->sizes, gint64, i);
      slice.limit_indices[attrs->axis] = begin;
      g_array_append_val (slices, slice);
    }
  return slices;
}
