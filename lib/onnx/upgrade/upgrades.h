/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The upgrades. Each function converts a node of an earlier or later opset, or of an op without an
 * op record, to nodes of opset 17. An upgrade returns FALSE and sets the error if opset 17 cannot
 * express the node. upgrade.c calls these functions from its table while the import reads a node;
 * make.c then adds the result to the graph. */

#include "../import/node.h"

/* Adds a node of opset 17 that takes the attributes of `node`. Upgrades the added node, if `op`
 * needs an upgrade. Returns the result of the added node. Returns NULL on error, or if operand 0 is
 * NULL. */
CleaveOnnxValue *cleave_onnx_upgrade_step (CleaveOnnxNode *node,
                                           const char *op,
                                           const char *suffix,
                                           CleaveOnnxValue *const *operands,
                                           guint n_operands,
                                           GError **error);

/* The functions below upgrade ops of opsets 1 to 11. */

gboolean cleave_onnx_upgrade_cast_1 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_dropout_1 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_lp_pool_1 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_power_1 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_selu_1 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_split_1 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_tile_1 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_upsample_1 (CleaveOnnxNode *node, GError **error);

/* The functions below upgrade experimental ops of opset 1. */

gboolean cleave_onnx_upgrade_affine (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_crop (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_dynamic_slice (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_image_scaler (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_parametric_softplus (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_scale (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_scaled_tanh (CleaveOnnxNode *node, GError **error);

/* The functions below upgrade ops of opsets 18 to 26. */

/* Returns the axes in `list` (gint64), with negative axes replaced; all axes if `list` is NULL.
 * Returns NULL on error. */
GArray *cleave_onnx_find_axes (CleaveOnnxNode *node,
                               const CleaveOnnxAttr *list,
                               guint rank,
                               GError **error);
gboolean cleave_onnx_upgrade_pad_18 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_resize_18 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_cast_19 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_dft_20 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_stft (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_grid_sample_20 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_quantize_21 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_dequantize_21 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_qlinear_matmul_21 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_affine_grid (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_tensor_scatter (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_reduce (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_split (CleaveOnnxNode *node, GError **error);

/* The functions below replace an op by several ops of opset 17. */
gboolean cleave_onnx_upgrade_mish (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_swish (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_gelu (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_group_norm (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_rms_norm (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_attention (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_rotary_23 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_center_crop_pad (CleaveOnnxNode *node, GError **error);
CleaveOnnxValue *
cleave_onnx_gelu (CleaveOnnxNode *node, CleaveOnnxValue *x, gboolean by_tanh, GError **error);
CleaveOnnxValue *cleave_onnx_rms_norm (CleaveOnnxNode *node,
                                       CleaveOnnxValue *x,
                                       CleaveOnnxValue *scale,
                                       gint64 axis,
                                       double epsilon,
                                       GError **error);

/* The functions below upgrade ops with sliding windows: convolutions and poolings. */
gboolean cleave_onnx_upgrade_conv (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_deform_conv (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_qlinear_conv (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_pool (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_conv_transpose (CleaveOnnxNode *node, GError **error);

/* The functions below upgrade Resize (resize_11: from opset 11 on), Upsample and RoiAlign. */
gboolean cleave_onnx_upgrade_resize (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_resize_11 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_upsample (CleaveOnnxNode *node, GError **error);

gboolean cleave_onnx_upgrade_roi_align (CleaveOnnxNode *node, GError **error);

/* The function below upgrades TfIdfVectorizer. */
gboolean cleave_onnx_upgrade_tfidf (CleaveOnnxNode *node, GError **error);

/* The functions below upgrade forms of normalizations that our op records lack.
 * cleave_onnx_upgrade_batch_norm_forms() also calls cleave_onnx_upgrade_batch_norm(). */
gboolean cleave_onnx_upgrade_batch_norm_forms (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_layer_norm (CleaveOnnxNode *node, GError **error);

/* The functions below upgrade ops of training. */
gboolean cleave_onnx_upgrade_batch_norm (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_nll_loss (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_softmax_loss (CleaveOnnxNode *node, GError **error);

/* The functions below compute ops whose result has a shape that depends on values. */
gboolean cleave_onnx_upgrade_compress (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_nms (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_non_zero (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_unique (CleaveOnnxNode *node, GError **error);
