/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads constants of the file as tensors. A tensor shares the bytes of the file if its elements
 * need no conversion. */

#include "import.h"

#include <string.h>

/* Number of the element type INT4 in the schema. A byte has two elements, the first in its low
 * 4 bits. */
#define TYPE_INT4 17

/* Returns a tensor of int8 with the elements of a tensor of signed 4-bit integers; NULL on
 * error. */
static CleaveTensor *
unpack (CleaveTfliteImport *import, const CleaveTfliteTensor *tensor, GError **error)
{
  gint64 n = cleave_shape_n_elements (&tensor->type.shape);
  CleaveTensor *unpacked;
  gint8 *to;

  if (!cleave_tflite_take_bytes (import, n, error) ||
      (unpacked = cleave_tensor_new (&tensor->type, error)) == NULL)
    return NULL;
  to = cleave_tensor_get_mutable_data (unpacked);
  for (gint64 i = 0; i < n; i++)
    {
      guint8 half = (guint8) (tensor->data[i / 2] >> (i % 2 == 0 ? 0 : 4)) & 15;

      to[i] = (gint8) (half >= 8 ? half - 16 : half);
    }
  return unpacked;
}

/* Returns a tensor of int8, converted from uint8: flips the highest bit, which subtracts 128. Takes
 * ownership of `from`. */
static CleaveTensor *
make_signed (CleaveTfliteImport *import, CleaveTensor *from, GError **error)
{
  g_autoptr (CleaveTensor) owned = from;
  CleaveTensor *copy;
  gint64 n_bytes;
  guint8 *bytes;

  if (from == NULL)
    return NULL;
  n_bytes = cleave_tensor_type_n_bytes (cleave_tensor_get_type (from));
  if (!cleave_tflite_take_bytes (import, n_bytes, error))
    return NULL;
  copy =
      cleave_tensor_new_copy (cleave_tensor_get_type (from), cleave_tensor_get_data (from), error);
  bytes = copy == NULL ? NULL : cleave_tensor_get_mutable_data (copy);
  for (gint64 i = 0; copy != NULL && i < n_bytes; i++)
    bytes[i] ^= 0x80;
  return copy;
}

/* Returns a copy of a tensor of bools. Each nonzero byte becomes 1, since kernels assume 0 or 1. */
static CleaveTensor *
copy_bools (CleaveTfliteImport *import, const CleaveTfliteTensor *tensor, GError **error)
{
  CleaveTensor *copy;
  guint8 *to;

  if (!cleave_tflite_take_bytes (import, (gint64) tensor->n_bytes, error) ||
      (copy = cleave_tensor_new (&tensor->type, error)) == NULL)
    return NULL;
  to = cleave_tensor_get_mutable_data (copy);
  for (gsize i = 0; i < tensor->n_bytes; i++)
    to[i] = tensor->data[i] != 0;
  return copy;
}

/* Returns a tensor that shares the bytes of the file. Returns a copy if the bytes are not aligned
 * for the element type. */
static CleaveTensor *
share (CleaveTfliteImport *import, const CleaveTfliteTensor *tensor, GError **error)
{
  gsize offset = (gsize) (tensor->data - import->model->flat.data);
  g_autoptr (GBytes) part = NULL;

  if ((gsize) tensor->data % cleave_element_size (tensor->type.element) != 0)
    return cleave_tflite_take_bytes (import, (gint64) tensor->n_bytes, error)
               ? cleave_tensor_new_copy (&tensor->type, tensor->data, error)
               : NULL;
  part = g_bytes_new_from_bytes (import->bytes, offset, tensor->n_bytes);
  return cleave_tensor_new_from_bytes (&tensor->type, part, error);
}

static gsize
expected_bytes (const CleaveTfliteTensor *tensor)
{
  gint64 n = cleave_tensor_type_n_bytes (&tensor->type);

  return (gsize) (tensor->type_code == TYPE_INT4 ? n / 2 + n % 2 : n);
}

/* Returns the value of a tensor; NULL on error. Elements of uint8 stay uint8: the caller converts
 * the elements to int8. */
static CleaveTensor *
read_value (CleaveTfliteImport *import, guint tensor, GError **error)
{
  const CleaveTfliteTensor *t = &import->subgraph->tensors[tensor];
  gsize expected;

  if (t->type.element == CLEAVE_NONE)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "tensor %u '%s' has the element type %" G_GINT64_FORMAT
                             " of the schema, which is not supported",
                             tensor, import->names[tensor], t->type_code);
  if (t->sparsity.flat != NULL)
    return cleave_tflite_densify (import, tensor, error);
  expected = expected_bytes (t);
  if (t->n_bytes != expected)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "tensor %u '%s' has %zu bytes, its shape and type need %zu", tensor,
                             import->names[tensor], t->n_bytes, expected);
  if (t->type_code == TYPE_INT4)
    return unpack (import, t, error);
  return t->type.element == CLEAVE_BOOL ? copy_bools (import, t, error) : share (import, t, error);
}

CleaveTensor *
cleave_tflite_read_constant (CleaveTfliteImport *import, guint tensor, GError **error)
{
  CleaveTensor *value = read_value (import, tensor, error);

  return import->subgraph->tensors[tensor].is_unsigned ? make_signed (import, value, error) : value;
}
