/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the initializers of a graph of the file. */

#include "import.h"

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
      CleaveOnnxValue *value = read_initializer (import, proto->initializer[i], error);

      if (value == NULL || !cleave_onnx_bind (import, value, error))
        return FALSE;
    }
  return TRUE;
}
