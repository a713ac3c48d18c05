/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../import/import.h"

/* Ops of com.microsoft, by family.  A table ends with an op that is NULL. */
typedef struct
{
  const char *op;
  gboolean (*upgrade) (CleaveOnnxNode *node, GError **error);
} CleaveOnnxContrib;

extern const CleaveOnnxContrib cleave_onnx_contrib_quantized[], cleave_onnx_contrib_fused[],
    cleave_onnx_contrib_norm[];
