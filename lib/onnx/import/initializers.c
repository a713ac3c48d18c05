/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the initializers of a graph of the file: each becomes a value with a known tensor. */

#include "dynamic.h"
#include "texts.h"

static CleaveOnnxValue *
read_initializer (CleaveOnnxImport *import, Onnx__TensorProto *proto, GError **error)
{
  CleaveOnnxValue *value = cleave_onnx_recall (import, proto);
  CleaveTensor *tensor;
  CleaveOnnxForm form;

  if (value != NULL)
    return value;
  if (!cleave_onnx_check_name (proto->name, "an initializer", error))
    return NULL;
  if (cleave_onnx_is_text_tensor (proto) && import->interprets)
    {
      value = cleave_onnx_text_constant (import, proto->name, proto, error);
      cleave_onnx_remember (import, proto, value);
      return value;
    }
  if (cleave_onnx_is_text_tensor (proto))
    cleave_onnx_note_unknown (import, NULL, "has strings");
  tensor = cleave_onnx_initializer (proto, &import->folder, &form, error);
  if (tensor == NULL)
    return NULL;
  value = cleave_onnx_value_new_constant (import, proto->name, tensor);
  value->form = form;
  cleave_onnx_remember (import, proto, value);
  return value;
}

static gboolean
read_sparse (CleaveOnnxImport *import, Onnx__SparseTensorProto *proto, GError **error)
{
  const char *name = proto->values == NULL ? NULL : proto->values->name;
  CleaveOnnxValue *value = cleave_onnx_recall (import, proto);
  CleaveTensor *tensor;

  if (value != NULL)
    return cleave_onnx_bind (import, value, error);
  if (!cleave_onnx_check_name (name, "a sparse initializer", error))
    return FALSE;
  tensor = cleave_onnx_sparse_tensor (proto, &import->folder, error);
  if (tensor == NULL)
    return FALSE;
  value = cleave_onnx_value_new_constant (import, name, tensor);
  cleave_onnx_remember (import, proto, value);
  return cleave_onnx_bind (import, value, error);
}

/* Returns whether an initializer of the model is a tensor of strings, which only the dynamic part
 * may have. */
static gboolean
is_dynamic (const CleaveOnnxImport *import, const Onnx__TensorProto *proto)
{
  return import->dynamic != NULL && import->outer->len == 0 && proto->name != NULL &&
         cleave_onnx_is_text_tensor (proto);
}

gboolean
cleave_onnx_read_initializers (CleaveOnnxImport *import,
                               const Onnx__GraphProto *proto,
                               GError **error)
{
  for (size_t i = 0; i < proto->n_sparse_initializer; i++)
    if (!read_sparse (import, proto->sparse_initializer[i], error))
      return FALSE;
  for (size_t i = 0; i < proto->n_initializer; i++)
    {
      CleaveOnnxValue *value;

      if (is_dynamic (import, proto->initializer[i]))
        {
          g_hash_table_insert (import->dynamic, proto->initializer[i]->name, NULL);
          continue;
        }
      value = read_initializer (import, proto->initializer[i], error);
      if (value == NULL || !cleave_onnx_bind (import, value, error))
        return FALSE;
    }
  return TRUE;
}
