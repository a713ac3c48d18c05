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
    cleave_onnx_contrib_norm[], cleave_onnx_contrib_attention[], cleave_onnx_contrib_grouped[],
    cleave_onnx_contrib_blocks[];

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

/* Steps.  A value that is NULL gives NULL: what made it has set the error. */

CleaveOnnxValue *cleave_onnx_permute (CleaveOnnxNode *node,
                                      CleaveOnnxValue *x,
                                      const CleaveShape *order,
                                      const char *suffix,
                                      GError **error);
CleaveOnnxValue *cleave_onnx_reshape (CleaveOnnxNode *node,
                                      CleaveOnnxValue *x,
                                      const CleaveShape *shape,
                                      const char *suffix,
                                      GError **error);
CleaveOnnxValue *cleave_onnx_slice (CleaveOnnxNode *node,
                                    CleaveOnnxValue *x,
                                    gint64 axis,
                                    CleaveSpan span,
                                    const char *suffix,
                                    GError **error);
CleaveOnnxValue *cleave_onnx_join (CleaveOnnxNode *node,
                                   CleaveOnnxValue *const *parts,
                                   guint n_parts,
                                   gint64 axis,
                                   const char *suffix,
                                   GError **error);
CleaveOnnxValue *cleave_onnx_cast (CleaveOnnxNode *node,
                                   CleaveOnnxValue *x,
                                   CleaveElement element,
                                   const char *suffix,
                                   GError **error);
/* A constant that is no larger than positions and heads can be: zeros; or from, from + 1 … */
CleaveOnnxValue *
cleave_onnx_zeros (CleaveOnnxNode *node, const CleaveTensorType *type, GError **error);
CleaveOnnxValue *
cleave_onnx_count (CleaveOnnxNode *node, gint64 from, const CleaveShape *shape, GError **error);

#define CLEAVE_ONNX_ANY (-1) /* an extent that nothing is asked of */
/* Whether a value is there and has this shape; the error says what came. */
gboolean cleave_onnx_expect (const CleaveOnnxNode *node,
                             const char *what,
                             const CleaveOnnxValue *value,
                             const CleaveShape *shape,
                             GError **error);
/* Whether the operand is absent. */
gboolean
cleave_onnx_refuse (const CleaveOnnxNode *node, guint operand, const char *what, GError **error);
/* Whether an attribute, which the node then has no more, has this value or is absent. */
gboolean
cleave_onnx_take_only (CleaveOnnxNode *node, const char *attr, gint64 only, GError **error);
