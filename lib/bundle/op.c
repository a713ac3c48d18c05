/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The list of the records of all ops that a bundle can compute. */

#include "ops.h"

static const CleaveBundleOp *const ops[] = {
  &cleave_bundle_op_tflite_add,
  &cleave_bundle_op_tflite_sub,
  &cleave_bundle_op_tflite_mul,
  &cleave_bundle_op_conv,
  &cleave_bundle_op_gemm,
  &cleave_bundle_op_matmul,
  &cleave_bundle_op_average_pool,
  &cleave_bundle_op_global_max_pool,
  &cleave_bundle_op_global_average_pool,
  &cleave_bundle_op_reduce_mean,
  &cleave_bundle_op_batch_normalization,
  &cleave_bundle_op_layer_normalization,
  &cleave_bundle_op_tflite_conv,
  &cleave_bundle_op_tflite_conv_transpose,
  &cleave_bundle_op_qlinear_conv,
  &cleave_bundle_op_qlinear_matmul,
  &cleave_bundle_op_relu,
  &cleave_bundle_op_leaky_relu,
  &cleave_bundle_op_clip,
  &cleave_bundle_op_hard_sigmoid,
  &cleave_bundle_op_hard_swish,
  &cleave_bundle_op_sigmoid,
  &cleave_bundle_op_tanh,
  &cleave_bundle_op_sqrt,
  &cleave_bundle_op_abs,
  &cleave_bundle_op_neg,
  &cleave_bundle_op_add,
  &cleave_bundle_op_sub,
  &cleave_bundle_op_mul,
  &cleave_bundle_op_div,
  &cleave_bundle_op_prelu,
  &cleave_bundle_op_softmax,
  &cleave_bundle_op_pad,
  &cleave_bundle_op_slice,
  &cleave_bundle_op_tile,
  &cleave_bundle_op_expand,
  &cleave_bundle_op_resize,
  &cleave_bundle_op_concat,
  &cleave_bundle_op_transpose,
  &cleave_bundle_op_depth_to_space,
  &cleave_bundle_op_tflite_average_pool,
  &cleave_bundle_op_max_pool,
  &cleave_bundle_op_tflite_sum,
  &cleave_bundle_op_tflite_softmax,
  &cleave_bundle_op_tflite_lookup,
  &cleave_bundle_op_tflite_rescale,
  &cleave_bundle_op_tflite_quantize,
  &cleave_bundle_op_dequantize_linear,
  &cleave_bundle_op_quantize_linear,
  &cleave_bundle_op_conv_transpose,
  &cleave_bundle_op_exp,
  &cleave_bundle_op_elu,
  &cleave_bundle_op_softsign,
  &cleave_bundle_op_thresholded_relu,
  &cleave_bundle_op_erf,
  &cleave_bundle_op_reciprocal,
  &cleave_bundle_op_max,
  &cleave_bundle_op_min,
  &cleave_bundle_op_pow,
  &cleave_bundle_op_tflite_resize_bilinear,
  &cleave_bundle_op_reshape,
  &cleave_bundle_op_flatten,
  &cleave_bundle_op_squeeze,
  &cleave_bundle_op_unsqueeze,
  &cleave_bundle_op_gather,
  &cleave_bundle_op_rnn,
  &cleave_bundle_op_gru,
  &cleave_bundle_op_lstm,
  &cleave_bundle_op_tflite_lstm,
  &cleave_bundle_op_cast,
  &cleave_bundle_op_equal,
  &cleave_bundle_op_less,
  &cleave_bundle_op_greater,
  &cleave_bundle_op_less_or_equal,
  &cleave_bundle_op_greater_or_equal,
  &cleave_bundle_op_and,
  &cleave_bundle_op_or,
  &cleave_bundle_op_xor,
  &cleave_bundle_op_where,
  &cleave_bundle_op_arg_max,
  &cleave_bundle_op_arg_min,
  &cleave_bundle_op_log_softmax,
  &cleave_bundle_op_log,
  &cleave_bundle_op_floor,
  &cleave_bundle_op_ceil,
  &cleave_bundle_op_round,
  &cleave_bundle_op_sign,
  &cleave_bundle_op_selu,
  &cleave_bundle_op_not,
  &cleave_bundle_op_instance_normalization,
  &cleave_bundle_op_reduce_sum,
  &cleave_bundle_op_reduce_max,
  &cleave_bundle_op_reduce_min,
  &cleave_bundle_op_reduce_prod,
  &cleave_bundle_op_reduce_l1,
  &cleave_bundle_op_reduce_l2,
  &cleave_bundle_op_reduce_sum_square,
};

static const CleaveBundleOp *
find (const char *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    if (g_str_equal (ops[i]->op, op))
      return ops[i];
  return NULL;
}

const CleaveBundleOp *
cleave_bundle_op_find (const CleaveNode *node)
{
  return find (node->op->name);
}

gboolean
cleave_bundle_op_has (const char *op)
{
  return find (op) != NULL;
}
