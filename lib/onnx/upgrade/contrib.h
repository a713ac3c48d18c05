/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "upgrades.h"

/* Upgrades of com.microsoft ops to standard ops. Each family (contrib-*.c) has a table of ops and
 * functions, which a NULL op ends. The families share the steps below. */
typedef struct
{
  const char *op;
  gboolean (*upgrade) (CleaveOnnxNode *node, GError **error);
} CleaveOnnxContrib;

extern const CleaveOnnxContrib cleave_onnx_contrib_quantized[], cleave_onnx_contrib_fused[],
    cleave_onnx_contrib_norm[], cleave_onnx_contrib_attention[], cleave_onnx_contrib_grouped[],
    cleave_onnx_contrib_blocks[];

/* Adds a DynamicQuantizeLinear. Sets `quantized` to its results: values, scale and zero point. */
#define CLEAVE_ONNX_N_QUANTIZED 3
gboolean cleave_onnx_quantize_dynamically (CleaveOnnxNode *node,
                                           CleaveOnnxValue *x,
                                           const char *suffix,
                                           CleaveOnnxValue **quantized,
                                           GError **error);
/* Returns the float product of integers: MatMulInteger of A, B and their zero points, which may be
 * absent, times the two scales. */
CleaveOnnxValue *cleave_onnx_scaled_product (CleaveOnnxNode *node,
                                             CleaveOnnxValue *const *integers,
                                             CleaveOnnxValue *a_scale,
                                             CleaveOnnxValue *b_scale,
                                             const char *suffix,
                                             GError **error);

/* FusedConv: a convolution, the sum with operand 3 if present, and an activation. */
gboolean cleave_onnx_fused_conv (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_dynamic_quantize_lstm (CleaveOnnxNode *node, GError **error);

/* Steps. Each adds one node and returns its result. It returns `x` itself if a node would not
 * change it, and NULL if an operand is NULL: the step that failed has set the error. */

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
/* Return a constant of zeros, and a constant with the elements from, from + 1, and so on. Fail for
 * more than 2^20 elements. */
CleaveOnnxValue *
cleave_onnx_zeros (CleaveOnnxNode *node, const CleaveTensorType *type, GError **error);
CleaveOnnxValue *
cleave_onnx_count (CleaveOnnxNode *node, gint64 from, const CleaveShape *shape, GError **error);

#define CLEAVE_ONNX_ANY (-1) /* in shapes of cleave_onnx_expect(): any extent */
/* Fails if a value is absent or has another shape; the error has the actual shape and calls the
 * value `what`. */
gboolean cleave_onnx_expect (const CleaveOnnxNode *node,
                             const char *what,
                             const CleaveOnnxValue *value,
                             const CleaveShape *shape,
                             GError **error);
/* Fails if an operand is present; the error calls it `what`. */
gboolean
cleave_onnx_refuse (const CleaveOnnxNode *node, guint operand, const char *what, GError **error);
/* Removes an integer attribute from the node. Fails if it is present and its value is not `only`.
 */
gboolean
cleave_onnx_take_only (CleaveOnnxNode *node, const char *attr, gint64 only, GError **error);
