/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-tensor.h>

#include "onnx.pb-c.h"

/* The folder of a model; external data must lie inside it. */
typedef struct
{
  char *path;        /* resolved path; NULL: no folder, external data is an error */
  GHashTable *files; /* resolved path -> CleaveExternalFile */
  gint64 budget; /* bytes of external data that may still be read; beyond that, data is mapped */
} CleaveOnnxFolder;

gboolean cleave_onnx_folder_init (CleaveOnnxFolder *folder, const char *path, GError **error);
void cleave_onnx_folder_clear (CleaveOnnxFolder *folder);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxFolder, cleave_onnx_folder_clear)

/* Converts between element types and ONNX's numbers. FALSE and an error that names the type if
 * Cleave does not support it. */
gboolean cleave_onnx_element (gint64 number, CleaveElement *element, GError **error);
int cleave_onnx_element_number (CleaveElement element);

/* Makes a tensor. Moves the bytes out of `proto` where possible, so that they are not copied:
 * call it only once. */
CleaveTensor *
cleave_onnx_tensor (Onnx__TensorProto *proto, CleaveOnnxFolder *folder, GError **error);
/* Makes a dense tensor of a sparse one; call it only once. */
CleaveTensor *cleave_onnx_sparse_tensor (Onnx__SparseTensorProto *proto,
                                         CleaveOnnxFolder *folder,
                                         GError **error);
/* How the elements of an initializer are stored in the file. */
typedef enum {
  CLEAVE_ONNX_FORM_SAME,   /* elements have the same bits in the file and in the tensor */
  CLEAVE_ONNX_FORM_HALVES, /* 4 bits; bytes in the tensor */
  CLEAVE_ONNX_FORM_FLOAT8  /* one of the four float types of 8 bits; the tensor has float32 */
} CleaveOnnxForm;

/* Makes the tensor of an initializer. */
CleaveTensor *cleave_onnx_initializer (Onnx__TensorProto *proto,
                                       CleaveOnnxFolder *folder,
                                       CleaveOnnxForm *form,
                                       GError **error);
