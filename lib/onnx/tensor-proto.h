/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-tensor.h>

#include "onnx.pb-c.h"

/* Types of elements of 4 bits, which are missing in the schema of libonnx-dev. */
#define CLEAVE_ONNX_UINT4 21
#define CLEAVE_ONNX_INT4 22

/* The folder of a model. External data must lie within it. */
typedef struct
{
  char *path;        /* resolved path; NULL: there is no folder, and external data is an error */
  GHashTable *files; /* maps a resolved path to its CleaveExternalFile */
  gint64 budget;     /* bytes of external data that may still be read; data beyond them is mapped */
} CleaveOnnxFolder;

gboolean cleave_onnx_folder_init (CleaveOnnxFolder *folder, const char *path, GError **error);
void cleave_onnx_folder_clear (CleaveOnnxFolder *folder);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxFolder, cleave_onnx_folder_clear)

/* Convert between element types and ONNX's numbers for them. The first function returns FALSE, and
 * an error with the name of the type, if Cleave does not support the type. */
gboolean cleave_onnx_element (gint64 number, CleaveElement *element, GError **error);
int cleave_onnx_element_number (CleaveElement element);
/* Sets the shape from the dimensions of a message. Fails if they are too many or negative. */
gboolean
cleave_onnx_read_dims (const int64_t *dims, gsize n_dims, CleaveShape *shape, GError **error);

/* Makes a tensor. Moves the bytes out of `proto` where possible, so that they are not copied; call
 * this function only once for a message. */
CleaveTensor *
cleave_onnx_tensor (Onnx__TensorProto *proto, CleaveOnnxFolder *folder, GError **error);
/* Makes a dense tensor from a sparse one. Call this function only once for a message. */
CleaveTensor *cleave_onnx_sparse_tensor (Onnx__SparseTensorProto *proto,
                                         CleaveOnnxFolder *folder,
                                         GError **error);
/* The forms in which the file stores the elements of an initializer. */
typedef enum {
  CLEAVE_ONNX_FORM_SAME,   /* elements have the same bits in the file and in the tensor */
  CLEAVE_ONNX_FORM_HALVES, /* 4 bits in the file, a byte in the tensor */
  CLEAVE_ONNX_FORM_FLOAT8  /* one of the four types of 8-bit floats in the file, float32 in the
                              tensor */
} CleaveOnnxForm;

/* Makes the tensor of an initializer, and sets `form` to its form in the file. */
CleaveTensor *cleave_onnx_initializer (Onnx__TensorProto *proto,
                                       CleaveOnnxFolder *folder,
                                       CleaveOnnxForm *form,
                                       GError **error);
