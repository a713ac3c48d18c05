/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "tensor-proto.h"

/* Returns the `n_bytes` bytes of a tensor that lie in a file within the folder. Fails if the tensor
 * has another size, or if `folder` is NULL or has no path. */
GBytes *cleave_onnx_read_external (const Onnx__TensorProto *proto,
                                   guint64 n_bytes,
                                   CleaveOnnxFolder *folder,
                                   GError **error);
