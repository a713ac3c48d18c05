/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The records of the ops that a bundle can compute. */

#include "op.h"

extern const CleaveBundleOp cleave_bundle_op_tflite_add;
extern const CleaveBundleOp cleave_bundle_op_tflite_sub;
extern const CleaveBundleOp cleave_bundle_op_tflite_mul;
extern const CleaveBundleOp cleave_bundle_op_conv;
extern const CleaveBundleOp cleave_bundle_op_gemm;
extern const CleaveBundleOp cleave_bundle_op_matmul;
extern const CleaveBundleOp cleave_bundle_op_average_pool;
extern const CleaveBundleOp cleave_bundle_op_global_max_pool;
extern const CleaveBundleOp cleave_bundle_op_global_average_pool;
extern const CleaveBundleOp cleave_bundle_op_reduce_mean;
extern const CleaveBundleOp cleave_bundle_op_batch_normalization;
extern const CleaveBundleOp cleave_bundle_op_layer_normalization;
extern const CleaveBundleOp cleave_bundle_op_tflite_conv;
extern const CleaveBundleOp cleave_bundle_op_tflite_conv_transpose;
extern const CleaveBundleOp cleave_bundle_op_qlinear_conv;
extern const CleaveBundleOp cleave_bundle_op_qlinear_matmul;
extern const CleaveBundleOp cleave_bundle_op_relu;
extern const CleaveBundleOp cleave_bundle_op_leaky_relu;
extern const CleaveBundleOp cleave_bundle_op_clip;
extern const CleaveBundleOp cleave_bundle_op_hard_sigmoid;
extern const CleaveBundleOp cleave_bundle_op_hard_swish;
extern const CleaveBundleOp cleave_bundle_op_sigmoid;
extern const CleaveBundleOp cleave_bundle_op_tanh;
extern const CleaveBundleOp cleave_bundle_op_sqrt;
extern const CleaveBundleOp cleave_bundle_op_abs;
extern const CleaveBundleOp cleave_bundle_op_neg;
extern const CleaveBundleOp cleave_bundle_op_add;
extern const CleaveBundleOp cleave_bundle_op_sub;
extern const CleaveBundleOp cleave_bundle_op_mul;
extern const CleaveBundleOp cleave_bundle_op_div;
extern const CleaveBundleOp cleave_bundle_op_prelu;
extern const CleaveBundleOp cleave_bundle_op_softmax;
extern const CleaveBundleOp cleave_bundle_op_pad;
extern const CleaveBundleOp cleave_bundle_op_slice;
extern const CleaveBundleOp cleave_bundle_op_tile;
extern const CleaveBundleOp cleave_bundle_op_expand;
extern const CleaveBundleOp cleave_bundle_op_resize;
extern const CleaveBundleOp cleave_bundle_op_concat;
extern const CleaveBundleOp cleave_bundle_op_transpose;
extern const CleaveBundleOp cleave_bundle_op_depth_to_space;
extern const CleaveBundleOp cleave_bundle_op_tflite_average_pool;
extern const CleaveBundleOp cleave_bundle_op_max_pool;
extern const CleaveBundleOp cleave_bundle_op_tflite_sum;
extern const CleaveBundleOp cleave_bundle_op_tflite_softmax;
extern const CleaveBundleOp cleave_bundle_op_tflite_lookup;
extern const CleaveBundleOp cleave_bundle_op_tflite_rescale;
extern const CleaveBundleOp cleave_bundle_op_tflite_quantize;
extern const CleaveBundleOp cleave_bundle_op_dequantize_linear;
extern const CleaveBundleOp cleave_bundle_op_quantize_linear;
extern const CleaveBundleOp cleave_bundle_op_conv_transpose;
extern const CleaveBundleOp cleave_bundle_op_exp;
extern const CleaveBundleOp cleave_bundle_op_elu;
extern const CleaveBundleOp cleave_bundle_op_softsign;
extern const CleaveBundleOp cleave_bundle_op_thresholded_relu;
extern const CleaveBundleOp cleave_bundle_op_erf;
extern const CleaveBundleOp cleave_bundle_op_reciprocal;
extern const CleaveBundleOp cleave_bundle_op_max;
extern const CleaveBundleOp cleave_bundle_op_min;
extern const CleaveBundleOp cleave_bundle_op_pow;
extern const CleaveBundleOp cleave_bundle_op_tflite_resize_bilinear;
extern const CleaveBundleOp cleave_bundle_op_reshape;
extern const CleaveBundleOp cleave_bundle_op_flatten;
extern const CleaveBundleOp cleave_bundle_op_squeeze;
extern const CleaveBundleOp cleave_bundle_op_unsqueeze;
extern const CleaveBundleOp cleave_bundle_op_gather;
extern const CleaveBundleOp cleave_bundle_op_rnn;
extern const CleaveBundleOp cleave_bundle_op_gru;
extern const CleaveBundleOp cleave_bundle_op_lstm;

/* Returns whether there is a record of an op. */
gboolean cleave_bundle_op_has (const char *op);
