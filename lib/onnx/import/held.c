/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Memory of a run of the dynamic part. Counts how many values hold each tensor, to know the bytes
 * in use and their peak. Frees the tensors of values that no later node reads. */

#include "dynamic.h"

void
cleave_onnx_count_held (CleaveOnnxImport *import, CleaveTensor *tensor)
{
  guint n;

  if (import->holders == NULL || tensor == NULL)
    return;
  n = GPOINTER_TO_UINT (g_hash_table_lookup (import->holders, tensor));
  g_hash_table_insert (import->holders, tensor, GUINT_TO_POINTER (n + 1));
  if (n == 0)
    import->live_bytes += cleave_tensor_type_n_bytes (cleave_tensor_get_type (tensor));
  import->peak_bytes = MAX (import->peak_bytes, import->live_bytes);
}

void
cleave_onnx_count_released (CleaveOnnxImport *import, CleaveTensor *tensor)
{
  guint n = import->holders == NULL || tensor == NULL
                ? 0
                : GPOINTER_TO_UINT (g_hash_table_lookup (import->holders, tensor));

  if (n > 1)
    g_hash_table_insert (import->holders, tensor, GUINT_TO_POINTER (n - 1));
  if (n != 1)
    return;
  g_hash_table_remove (import->holders, tensor);
  import->live_bytes -= cleave_tensor_type_n_bytes (cleave_tensor_get_type (tensor));
}

void
cleave_onnx_release_value (CleaveOnnxImport *import, CleaveOnnxValue *value)
{
  if (value->is_kept || value->is_live || value->constant == NULL)
    return;
  cleave_onnx_count_released (import, value->constant);
  g_clear_pointer (&value->constant, cleave_tensor_unref);
}

/* Frees the tensors of values from index `first` on, except values with `is_kept` or `is_live`.
 * Removes values that then have no tensor from `all_values`, except sequences. Adds the removed
 * values to `removed` unless `removed` is NULL. */
static void
release (CleaveOnnxImport *import, guint first, GPtrArray *removed)
{
  GPtrArray *values = import->all_values;
  guint n = first;

  if (!import->interprets || values == NULL)
    return;
  for (guint i = first; i < values->len; i++)
    {
      CleaveOnnxValue *value = values->pdata[i];

      cleave_onnx_release_value (import, value);
      if (value->constant == NULL && value->items == NULL)
        continue;
      values->pdata[i] = values->pdata[n];
      values->pdata[n++] = value;
    }
  for (guint i = n; removed != NULL && i < values->len; i++)
    g_ptr_array_add (removed, values->pdata[i]);
  g_ptr_array_set_size (values, (gint) n);
}

void
cleave_onnx_release (CleaveOnnxImport *import, guint first)
{
  release (import, first, NULL);
}

void
cleave_onnx_recycle (CleaveOnnxImport *import, guint first)
{
  if (import->spare == NULL)
    import->spare = g_ptr_array_new ();
  release (import, first, import->spare);
}
