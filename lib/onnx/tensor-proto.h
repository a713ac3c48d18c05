/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-tensor.h>

#include "onnx.pb-c.h"

/* The folder of a model: where its external data may lie. */
typedef struct
{
  char *path;        /* resolved; NULL: there is no folder */
  GHashTable *files; /* CleaveExternalFile by resolved path */
  gint64 budget;     /* bytes of external data that are still read and not mapped */
} CleaveOnnxFolder;

gboolean cleave_onnx_folder_init (CleaveOnnxFolder *folder, const char *path, GError **error);
void cleave_onnx_folder_clear (CleaveOnnxFolder *folder);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxFolder, cleave_onnx_folder_clear)

/* ONNX's number of an element type.  To ours: FALSE and an error that names it, if Cleave has none
 * such. */
gboolean cleave_onnx_element (gint64 number, CleaveElement *element, GError **error);
int cleave_onnx_element_number (CleaveElement element);

/* Makes a tensor.  It takes the bytes out of `proto` where their form allows it, so that they are
 * not copied. */
CleaveTensor *
cleave_onnx_tensor (Onnx__TensorProto *proto, CleaveOnnxFolder *folder, GError **error);
/* The same, and elements of 4 bits as bytes: then `is_half` is set. */
CleaveTensor *cleave_onnx_initializer (Onnx__TensorProto *proto,
                                       CleaveOnnxFolder *folder,
                                       gboolean *is_half,
                                       GError **error);
