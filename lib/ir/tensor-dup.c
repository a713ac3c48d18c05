/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Copies tensors: to dense tensors, to bytes, and to tensors whose NaNs all have the same bits. */

#include "nan.h"
#include "view.h"

/**
 * cleave_tensor_dup_dense:
 * @tensor: a tensor
 *
 * Returns: (transfer full): @tensor if it is dense; if not, a dense copy
 *
 * Since: 0.1
 */
CleaveTensor *
cleave_tensor_dup_dense (CleaveTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, NULL);

  CleaveTensor *dense;
  CleaveView to, from;

  if (cleave_tensor_is_dense (tensor))
    return cleave_tensor_ref (tensor);
  dense = cleave_tensor_new (cleave_tensor_get_type (tensor), NULL);
  if (dense == NULL)
    g_error ("there is no memory for a copy of a tensor");
  to = cleave_view_tensor (dense);
  from = cleave_view_tensor (tensor);
  cleave_view_copy (&to, &from);
  return dense;
}

static void
unref_tensor (gpointer tensor)
{
  cleave_tensor_unref (tensor);
}

/**
 * cleave_tensor_dup_bytes:
 * @tensor: a tensor
 *
 * Returns: (transfer full): the elements in row-major order, shared with @tensor if it is dense; if
 * not, copied
 *
 * Since: 0.1
 */
GBytes *
cleave_tensor_dup_bytes (CleaveTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, NULL);

  CleaveTensor *dense = cleave_tensor_dup_dense (tensor);

  return g_bytes_new_with_free_func (
      cleave_tensor_get_data (dense),
      (gsize) cleave_tensor_type_n_bytes (cleave_tensor_get_type (dense)), unref_tensor, dense);
}

/**
 * cleave_tensor_dup_canonical:
 * @tensor: a tensor
 *
 * Makes a dense tensor of the same values in which all NaNs have the same bits. Two tensors of the
 * same type are equal if and only if their canonical tensors have the same bytes, so that checksums
 * of canonical tensors can be compared.
 *
 * Returns: (transfer full): the tensor
 *
 * Since: 0.1
 */
CleaveTensor *
cleave_tensor_dup_canonical (CleaveTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, NULL);

  const CleaveTensorType *type = cleave_tensor_get_type (tensor);
  CleaveTensor *canonical;
  CleaveView from, to;

  if (!cleave_element_is_float (type->element))
    return cleave_tensor_dup_dense (tensor);
  canonical = cleave_tensor_new (type, NULL);
  if (canonical == NULL)
    g_error ("there is no memory for a copy of a tensor");
  from = cleave_view_tensor (tensor);
  to = cleave_view_tensor (canonical);
  cleave_view_copy (&to, &from);
  cleave_nans_settle (type->element, cleave_tensor_get_mutable_data (canonical),
                      cleave_shape_n_elements (&type->shape));
  return canonical;
}
