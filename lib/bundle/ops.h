/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The records (op.h) of all ops that a bundle can compute. Each record is defined in a file op-….c.
 * op.c lists them, and cleave_bundle_op_find() looks up the record of a node. */

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
extern const CleaveBundleOp cleave_bundle_op_tflite_lstm;
extern const CleaveBundleOp cleave_bundle_op_cast;
extern const CleaveBundleOp cleave_bundle_op_equal;
extern const CleaveBundleOp cleave_bundle_op_less;
extern const CleaveBundleOp cleave_bundle_op_greater;
extern const CleaveBundleOp cleave_bundle_op_less_or_equal;
extern const CleaveBundleOp cleave_bundle_op_greater_or_equal;
extern const CleaveBundleOp cleave_bundle_op_and;
extern const CleaveBundleOp cleave_bundle_op_or;
extern const CleaveBundleOp cleave_bundle_op_xor;
extern const CleaveBundleOp cleave_bundle_op_where;
extern const CleaveBundleOp cleave_bundle_op_arg_max;
extern const CleaveBundleOp cleave_bundle_op_arg_min;
extern const CleaveBundleOp cleave_bundle_op_log_softmax;
extern const CleaveBundleOp cleave_bundle_op_log;
extern const CleaveBundleOp cleave_bundle_op_floor;
extern const CleaveBundleOp cleave_bundle_op_ceil;
extern const CleaveBundleOp cleave_bundle_op_round;
extern const CleaveBundleOp cleave_bundle_op_sign;
extern const CleaveBundleOp cleave_bundle_op_selu;
extern const CleaveBundleOp cleave_bundle_op_not;
extern const CleaveBundleOp cleave_bundle_op_instance_normalization;
extern const CleaveBundleOp cleave_bundle_op_reduce_sum;
extern const CleaveBundleOp cleave_bundle_op_reduce_max;
extern const CleaveBundleOp cleave_bundle_op_reduce_min;
extern const CleaveBundleOp cleave_bundle_op_reduce_prod;
extern const CleaveBundleOp cleave_bundle_op_reduce_l1;
extern const CleaveBundleOp cleave_bundle_op_reduce_l2;
extern const CleaveBundleOp cleave_bundle_op_reduce_sum_square;

/* Returns whether a bundle has a record of an op. */
gboolean cleave_bundle_op_has (const char *op);
