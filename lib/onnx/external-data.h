/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "tensor-proto.h"

/* Returns the bytes of a tensor that a file in the folder holds, which must be `n_bytes`. Fails if
 * `folder` is NULL or has no path. */
GBytes *cleave_onnx_read_external (const Onnx__TensorProto *proto,
                                   guint64 n_bytes,
                                   CleaveOnnxFolder *folder,
                                   GError **error);
