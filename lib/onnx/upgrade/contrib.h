/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "upgrades.h"

/* Upgrades of com.microsoft ops to standard ops. Each file contrib-*.c upgrades a family of ops.
 * Its table lists these ops and their functions; an entry with a NULL op ends the table. contrib.c
 * looks up a node's op in all tables. The families share the steps below. */
typedef struct
{
  const char *op;
  gboolean (*upgrade) (CleaveOnnxNode *node, GError **error);
} CleaveOnnxContrib;

extern const CleaveOnnxContrib cleave_onnx_contrib_quantized[], cleave_onnx_contrib_fused[],
    cleave_onnx_contrib_norm[], cleave_onnx_contrib_attention[], cleave_onnx_contrib_grouped[],
    cleave_onnx_contrib_blocks[];

/* CLEAVE_ONNX_N_QUANTIZED is the number of results of DynamicQuantizeLinear: values, scale and zero
 * point. cleave_onnx_quantize_dynamically() adds a DynamicQuantizeLinear of `x`, and stores its
 * results in `quantized`. */
#define CLEAVE_ONNX_N_QUANTIZED 3
gboolean cleave_onnx_quantize_dynamically (CleaveOnnxNode *node,
                                           CleaveOnnxValue *x,
                                           const char *suffix,
                                           CleaveOnnxValue **quantized,
                                           GError **error);
/* Adds a MatMulInteger, and multiplies the result by `a_scale` and `b_scale`. `integers`: A, B and
 * their zero points, each of which may be absent. Returns the product as floats. */
CleaveOnnxValue *cleave_onnx_scaled_product (CleaveOnnxNode *node,
                                             CleaveOnnxValue *const *integers,
                                             CleaveOnnxValue *a_scale,
                                             CleaveOnnxValue *b_scale,
                                             const char *suffix,
                                             GError **error);

/* Upgrades FusedConv: a convolution, the sum with operand 3 if present, and an activation. */
gboolean cleave_onnx_fused_conv (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_dynamic_quantize_lstm (CleaveOnnxNode *node, GError **error);

/* The functions below are steps: each adds one node and returns its result. A step returns `x`
 * itself if the node would not change `x`. A step returns NULL if an operand is NULL: an earlier
 * step has failed and has set the error. */

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
/* cleave_onnx_zeros() returns a constant of zeros. cleave_onnx_count() returns a constant with the
 * elements `from`, `from` + 1 and so on. Both functions fail for more than 2^20 elements. */
CleaveOnnxValue *
cleave_onnx_zeros (CleaveOnnxNode *node, const CleaveTensorType *type, GError **error);
CleaveOnnxValue *
cleave_onnx_count (CleaveOnnxNode *node, gint64 from, const CleaveShape *shape, GError **error);

#define CLEAVE_ONNX_ANY (-1) /* in a shape for cleave_onnx_expect(): any extent */
/* Checks that a value is present and has the shape `shape`. If not, sets an error with the actual
 * shape; `what` describes the value in the message. */
gboolean cleave_onnx_expect (const CleaveOnnxNode *node,
                             const char *what,
                             const CleaveOnnxValue *value,
                             const CleaveShape *shape,
                             GError **error);
/* Fails if operand `operand` is present. `what` describes the operand in the error message. */
gboolean
cleave_onnx_refuse (const CleaveOnnxNode *node, guint operand, const char *what, GError **error);
/* Removes an integer attribute from the node. Fails if the attribute is present and its value is
 * not `only`. */
gboolean
cleave_onnx_take_only (CleaveOnnxNode *node, const char *attr, gint64 only, GError **error);
