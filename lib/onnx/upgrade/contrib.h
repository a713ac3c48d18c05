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

/* Bytes of dynamic quantisation: the values, their scale, their zero point. */
#define CLEAVE_ONNX_N_QUANTIZED 3
gboolean cleave_onnx_quantize_dynamically (CleaveOnnxNode *node,
                                           CleaveOnnxValue *x,
                                           const char *suffix,
                                           CleaveOnnxValue **quantized,
                                           GError **error);
/* The product of integers (A, B and their zero points, which may be absent) as a real number. */
CleaveOnnxValue *cleave_onnx_scaled_product (CleaveOnnxNode *node,
                                             CleaveOnnxValue *const *integers,
                                             CleaveOnnxValue *a_scale,
                                             CleaveOnnxValue *b_scale,
                                             const char *suffix,
                                             GError **error);

gboolean cleave_onnx_upgrade_dynamic_quantize_lstm (CleaveOnnxNode *node, GError **error);
