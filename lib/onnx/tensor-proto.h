/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-tensor.h>

#include "onnx.pb-c.h"

/* Makes tensors from the TensorProtos of a model file: its initializers and the tensors in
 * attributes. The importer calls these functions; the exporter uses the numbers of element types.
 */

/* ONNX's numbers for element types of 4 bits, which the schema of libonnx-dev lacks */
#define CLEAVE_ONNX_UINT4 21
#define CLEAVE_ONNX_INT4 22

/* The folder of a model. External data must lie within it. */
typedef struct
{
  char *path;        /* path without symbolic links; NULL: the model has no folder, and external
                      * data is an error */
  GHashTable *files; /* maps the resolved path of an open file to its CleaveExternalFile */
  gint64 budget;     /* bytes of external data that may still be read into memory; further data
                      * is mapped */
} CleaveOnnxFolder;

gboolean cleave_onnx_folder_init (CleaveOnnxFolder *folder, const char *path, GError **error);
void cleave_onnx_folder_clear (CleaveOnnxFolder *folder);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxFolder, cleave_onnx_folder_clear)

/* Convert an element type from and to its number in ONNX. The first function returns FALSE if
 * Cleave does not have the type; the error names the type. */
gboolean cleave_onnx_element (gint64 number, CleaveElement *element, GError **error);
int cleave_onnx_element_number (CleaveElement element);
/* Sets the shape from the extents in a message. Fails if there are too many dimensions or if an
 * extent is negative. */
gboolean
cleave_onnx_read_dims (const int64_t *dims, gsize n_dims, CleaveShape *shape, GError **error);

/* Returns the tensor of a message; NULL on error. Where possible, moves the bytes out of `proto`
 * instead of copying the bytes, so call this function only once for a message. */
CleaveTensor *
cleave_onnx_tensor (Onnx__TensorProto *proto, CleaveOnnxFolder *folder, GError **error);
/* Returns the dense tensor of a sparse tensor; NULL on error. Moves bytes out of `proto`, so call
 * this function only once for a message. */
CleaveTensor *cleave_onnx_sparse_tensor (Onnx__SparseTensorProto *proto,
                                         CleaveOnnxFolder *folder,
                                         GError **error);
/* How the file stores the elements of an initializer. */
typedef enum {
  CLEAVE_ONNX_FORM_SAME,   /* the same bits in the file as in the tensor */
  CLEAVE_ONNX_FORM_HALVES, /* 4 bits in the file, a byte in the tensor */
  CLEAVE_ONNX_FORM_FLOAT8  /* 8-bit floats of one of four types in the file, float32 in the
                            * tensor */
} CleaveOnnxForm;

/* Returns the tensor of an initializer; NULL on error. Sets `form` to how the file stores the
 * elements. */
CleaveTensor *cleave_onnx_initializer (Onnx__TensorProto *proto,
                                       CleaveOnnxFolder *folder,
                                       CleaveOnnxForm *form,
                                       GError **error);
