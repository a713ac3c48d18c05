/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Reads the bytes of tensors that a model keeps in other files. tensor-proto.c calls this function
 * for a TensorProto with a location; external-file.h decides whether a file is read or mapped. */

#include "tensor-proto.h"

/* Returns the `n_bytes` bytes of a tensor from a file within the folder. Fails if the TensorProto
 * states another number of bytes, or if `folder` is NULL or has no path. */
GBytes *cleave_onnx_read_external (const Onnx__TensorProto *proto,
                                   guint64 n_bytes,
                                   CleaveOnnxFolder *folder,
                                   GError **error);
