/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads sparse tensors (SparseTensorProto) as dense tensors. For example, a sparse tensor has the
 * shape 2x3 and the values 5 and 7. Its indices are 1 and 5, or the rows (0, 1) and (1, 2). The
 * dense tensor is
 *
 *     0 5 0
 *     0 0 7 */

#include "tensor-proto.h"

#include <string.h>

#include "../ir/op.h"

/* A dense tensor may have at most this many bytes, since a small file could state any shape. */
#define MAX_BYTES (G_GINT64_CONSTANT (1) << 30)

static gboolean
read_type (const Onnx__SparseTensorProto *proto,
           const CleaveTensor *values,
           CleaveTensorType *type,
           GError **error)
{
  *type = (CleaveTensorType){ .element = cleave_tensor_get_type (values)->element };
  if (!cleave_onnx_read_dims (proto->dims, proto->n_dims, &type->shape, error) ||
      !cleave_tensor_type_check (type, error))
    return FALSE;
  return cleave_tensor_type_n_bytes (type) <= MAX_BYTES ||
         cleave_fail (error, CLEAVE_ERROR_MODEL,
                      "%" G_GINT64_FORMAT " bytes are more than %" G_GINT64_FORMAT,
                      cleave_tensor_type_n_bytes (type), MAX_BYTES);
}

/* Checks that there is one index, or one row of indices, for each value. Sets `n_in_row` to the
 * number of indices per value. */
static gboolean
check_indices (const CleaveTensor *values,
               const CleaveTensor *indices,
               const CleaveTensorType *type,
               guint *n_in_row,
               GError **error)
{
  const CleaveTensorType *list = cleave_tensor_get_type (indices);
  gint64 n = cleave_shape_n_elements (&cleave_tensor_get_type (values)->shape);

  *n_in_row = list->shape.rank == 2 ? type->shape.rank : 1;
  if (cleave_tensor_get_type (values)->shape.rank != 1 || list->element != CLEAVE_INT64 ||
      list->shape.rank < 1 || list->shape.rank > 2 || list->shape.dim[0] != n ||
      (list->shape.rank == 2 && list->shape.dim[1] != (gint64) type->shape.rank))
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "its indices must be int64 of shape %" G_GINT64_FORMAT
                        ", or %" G_GINT64_FORMAT "x%u",
                        n, n, type->shape.rank);
  return TRUE;
}

/* Returns the position of a value in row-major order; -1 if an index is out of range. */
static gint64
find_position (const CleaveTensorType *type, const gint64 *index, guint n_in_row)
{
  gint64 position = 0;

  if (n_in_row == 1 && type->shape.rank != 1)
    return *index >= 0 && *index < cleave_shape_n_elements (&type->shape) ? *index : -1;
  for (guint d = 0; d < n_in_row; d++)
    {
      if (index[d] < 0 || index[d] >= type->shape.dim[d])
        return -1;
      position = position * type->shape.dim[d] + index[d];
    }
  return position;
}

static gboolean
scatter (CleaveTensor *to,
         const CleaveTensor *values,
         const CleaveTensor *indices,
         guint n_in_row,
         GError **error)
{
  const CleaveTensorType *type = cleave_tensor_get_type (to);
  gsize size = cleave_element_size (type->element);
  gint64 n = cleave_tensor_get_type (values)->shape.dim[0];
  const gint64 *index = cleave_tensor_get_data (indices);
  const guint8 *from = cleave_tensor_get_data (values);
  guint8 *data = cleave_tensor_get_mutable_data (to);

  if (cleave_tensor_type_n_bytes (type) > 0)
    memset (data, 0, (gsize) cleave_tensor_type_n_bytes (type));
  for (gint64 i = 0; i < n; i++, index += n_in_row)
    {
      gint64 position = find_position (type, index, n_in_row);

      if (position < 0)
        return cleave_fail (error, CLEAVE_ERROR_MODEL,
                            "index %" G_GINT64_FORMAT " lies outside of the tensor", i);
      memcpy (data + (gsize) position * size, from + (gsize) i * size, size);
    }
  return TRUE;
}

static CleaveTensor *
read_dense (Onnx__SparseTensorProto *proto, CleaveOnnxFolder *folder, GError **error)
{
  g_autoptr (CleaveTensor) values = NULL, indices = NULL, tensor = NULL;
  CleaveTensorType type;
  guint n_in_row;

  if (proto->values == NULL || proto->indices == NULL)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "it has no values or no indices");
  values = cleave_onnx_tensor (proto->values, folder, error);
  indices = values == NULL ? NULL : cleave_onnx_tensor (proto->indices, folder, error);
  if (indices == NULL || !read_type (proto, values, &type, error) ||
      !check_indices (values, indices, &type, &n_in_row, error))
    return NULL;
  tensor = cleave_tensor_new (&type, error);
  return tensor != NULL && scatter (tensor, values, indices, n_in_row, error)
             ? g_steal_pointer (&tensor)
             : NULL;
}

CleaveTensor *
cleave_onnx_sparse_tensor (Onnx__SparseTensorProto *proto, CleaveOnnxFolder *folder, GError **error)
{
  const char *name = proto->values == NULL ? NULL : proto->values->name;
  CleaveTensor *tensor = read_dense (proto, folder, error);

  if (tensor == NULL)
    g_prefix_error (error, "sparse tensor '%s': ", name == NULL ? "" : name);
  return tensor;
}
