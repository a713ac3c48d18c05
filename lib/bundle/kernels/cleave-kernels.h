/* SPDX-License-Identifier: 0BSD */
/* Declares the kernels of a bundle, and the types of their operands and constants. */
#ifndef CLEAVE_KERNELS_H
#define CLEAVE_KERNELS_H

/* The kernels of a bundle, in C99. A model is a table of layers (cleave-run.h). cleave_run() calls
 * one kernel for each row. A kernel computes one row of the result of a layer, or a part of the
 * columns of that row, from rows of its operands.
 *
 * Every value is an image: rows, columns, and the channels of a pixel side by side. A sequence of
 * samples is an image of one column; a vector is an image of one pixel. A value has all its rows in
 * memory, or only the last rows (a ring): row r of a ring lies in slot r modulo capacity. For
 * example, a ring of 3 rows has row 7 in slot 1. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined __ARM_FEATURE_DSP && !defined CLEAVE_PLAIN_C
/* CLEAVE_DSP: processors with the DSP extension of ARM (Cortex-M4, M7, M33, M55) multiply two pairs
 * of int16 in one instruction. The results have the same bits as in plain C. */
#include <arm_acle.h>
#define CLEAVE_DSP
#if __ARM_FEATURE_MVE & 1
/* CLEAVE_MVE: processors with Helium (Cortex-M55, M85) have vectors of 16 bytes for integers. */
#define CLEAVE_MVE
#endif
#endif

/* Each product and each sum of floats is rounded, except for cleave_fma (). Some compilers fuse a
 * product and a sum unless these lines forbid it. */
#if defined __clang__
#pragma STDC FP_CONTRACT OFF
#elif defined __GNUC__ && !defined __STRICT_ANSI__
#pragma GCC optimize("fp-contract=off")
#endif

#if defined __ARM_FEATURE_MVE && defined __GNUC__ && !defined __clang__
/* Without this option, GCC builds neighboring fields as one vector on the stack. A convolution then
 * needs 88 bytes more of stack on a Cortex-M55. */
#pragma GCC optimize("no-tree-slp-vectorize")
#endif

/* Marks a function that compilers must not inline, to save stack or code. Inlined, its variables
 * would occupy the stack while other parts of the caller run, and each caller would have a copy of
 * its code. `unused` prevents a warning if a header defines the function and no kernel of the model
 * calls it. */
#ifdef __GNUC__
#define CLEAVE_APART __attribute__ ((noinline, unused))
#else
#define CLEAVE_APART
#endif

/* Keeps loads behind this line. Without this fence, compilers load the operands of several steps at
 * once, and registers spill to the stack. */
#ifdef __GNUC__
#define CLEAVE_FENCE __asm__ volatile("" : : : "memory");
#else
#define CLEAVE_FENCE
#endif

/* 1 if the compiler optimizes for size (-Os). Kernels then have no faster code for special
 * cases. */
#ifdef __OPTIMIZE_SIZE__
#define CLEAVE_IS_SMALL 1
#else
#define CLEAVE_IS_SMALL 0
#endif

#include "arithmetic.h"
#include "constants-f32.h"
#include "constants.h"
#include "operands.h"

/* The kernels. Each is defined in a file of its own. */

void cleave_conv_s8 (const CleaveCall *call);
void cleave_depthwise_s8 (const CleaveCall *call);
void cleave_conv_integer (const CleaveCall *call);
void cleave_matmul_bytes (const CleaveCall *call);
void cleave_average_pool_s8 (const CleaveCall *call);
void cleave_average_pool_row_s8 (const CleaveCall *call);
void cleave_average_pool_end_s8 (const CleaveCall *call);
void cleave_max_pool_s8 (const CleaveCall *call);
void cleave_max_pool_u8 (const CleaveCall *call);
void cleave_sum_s8 (const CleaveCall *call);
void cleave_sum_row_s8 (const CleaveCall *call);
void cleave_sum_end_s8 (const CleaveCall *call);
void cleave_softmax_s8 (const CleaveCall *call);
void cleave_add_s8 (const CleaveCall *call);
void cleave_mul_s8 (const CleaveCall *call);
void cleave_lookup (const CleaveCall *call);
void cleave_quantize_s8 (const CleaveCall *call);
void cleave_dequantize_s8 (const CleaveCall *call);
void cleave_dequantize_u8 (const CleaveCall *call);
void cleave_binary_s16 (const CleaveCall *call);
void cleave_rescale (const CleaveCall *call);
void cleave_resize_s8 (const CleaveCall *call);
void cleave_conv_f32 (const CleaveCall *call);
void cleave_winograd_f32 (const CleaveCall *call);
void cleave_conv_transpose_f32 (const CleaveCall *call);
void cleave_exp_f32 (const CleaveCall *call);
void cleave_elu_f32 (const CleaveCall *call);
void cleave_softsign_f32 (const CleaveCall *call);
void cleave_thresholded_relu_f32 (const CleaveCall *call);
void cleave_erf_f32 (const CleaveCall *call);
void cleave_reciprocal_f32 (const CleaveCall *call);
void cleave_square_f32 (const CleaveCall *call);
void cleave_cube_f32 (const CleaveCall *call);
void cleave_root_f32 (const CleaveCall *call);
void cleave_max_f32 (const CleaveCall *call);
void cleave_min_f32 (const CleaveCall *call);
void cleave_reorder (const CleaveCall *call);
void cleave_depthwise_f32 (const CleaveCall *call);
void cleave_max_pool_f32 (const CleaveCall *call);
void cleave_average_pool_f32 (const CleaveCall *call);
void cleave_average_pool_row_f32 (const CleaveCall *call);
void cleave_average_pool_end_f32 (const CleaveCall *call);
void cleave_mean_f32 (const CleaveCall *call);
void cleave_global_average_f32 (const CleaveCall *call);
void cleave_global_average_row_f32 (const CleaveCall *call);
void cleave_global_average_end_f32 (const CleaveCall *call);
void cleave_relu_f32 (const CleaveCall *call);
void cleave_leaky_relu_f32 (const CleaveCall *call);
void cleave_clip_f32 (const CleaveCall *call);
void cleave_hard_sigmoid_f32 (const CleaveCall *call);
void cleave_hard_swish_f32 (const CleaveCall *call);
void cleave_sigmoid_f32 (const CleaveCall *call);
void cleave_tanh_f32 (const CleaveCall *call);
void cleave_sqrt_f32 (const CleaveCall *call);
void cleave_abs_f32 (const CleaveCall *call);
void cleave_neg_f32 (const CleaveCall *call);
void cleave_add_f32 (const CleaveCall *call);
void cleave_sub_f32 (const CleaveCall *call);
void cleave_mul_f32 (const CleaveCall *call);
void cleave_div_f32 (const CleaveCall *call);
void cleave_prelu_f32 (const CleaveCall *call);
void cleave_softmax_f32 (const CleaveCall *call);
void cleave_norm_f32 (const CleaveCall *call);
void cleave_layer_norm_f32 (const CleaveCall *call);
void cleave_matmul_f32 (const CleaveCall *call);
void cleave_embed (const CleaveCall *call);
void cleave_quantize_even_s8 (const CleaveCall *call);
void cleave_quantize_even_u8 (const CleaveCall *call);
void cleave_resize_f32 (const CleaveCall *call);
void cleave_rnn_row_f32 (const CleaveCall *call);
void cleave_rnn_end_f32 (const CleaveCall *call);
void cleave_gru_row_f32 (const CleaveCall *call);
void cleave_gru_end_f32 (const CleaveCall *call);
void cleave_lstm_row_f32 (const CleaveCall *call);
void cleave_lstm_end_f32 (const CleaveCall *call);
void cleave_lstm_row_s8 (const CleaveCall *call);
void cleave_lstm_end_s8 (const CleaveCall *call);
void cleave_recurrent_start (const CleaveCall *call);
void cleave_cast (const CleaveCall *call);
void cleave_compare (const CleaveCall *call);
void cleave_where (const CleaveCall *call);
void cleave_reduce_f32 (const CleaveCall *call);
void cleave_arg (const CleaveCall *call);
void cleave_instance_norm_f32 (const CleaveCall *call);
void cleave_log_f32 (const CleaveCall *call);
void cleave_floor_f32 (const CleaveCall *call);
void cleave_ceil_f32 (const CleaveCall *call);
void cleave_round_f32 (const CleaveCall *call);
void cleave_sign_f32 (const CleaveCall *call);
void cleave_selu_f32 (const CleaveCall *call);
void cleave_log_softmax_f32 (const CleaveCall *call);
void cleave_move (const CleaveCall *call);
void cleave_join (const CleaveCall *call);
void cleave_transpose (const CleaveCall *call);
void cleave_depth_to_space (const CleaveCall *call);

/* Defines the kernel of an element-wise function. `value` is an expression in the element `a`. */
#define CLEAVE_DEFINE_UNARY_F32(kernel, value)                                                     \
  void kernel (const CleaveCall *call)                                                             \
  {                                                                                                \
    const CleaveUnaryF32 *p = call->params;                                                        \
    const float *from = (const float *) cleave_pixels (call, 4 * p->channels);                     \
    float *y = (float *) (void *) call->y;                                                         \
                                                                                                   \
    for (int32_t i = (call->end - call->begin) * p->channels; i > 0; i--)                          \
      {                                                                                            \
        const float a = *from++;                                                                   \
                                                                                                   \
        *y++ = value;                                                                              \
      }                                                                                            \
  }

/* Defines the kernel of an element-wise function of two operands. `value` is an expression in the
 * elements `a` and `b` of the operands. */
#define CLEAVE_DEFINE_BINARY_F32(kernel, value)                                                    \
  void kernel (const CleaveCall *call)                                                             \
  {                                                                                                \
    const CleaveBinaryF32 *p = call->params;                                                       \
    const CleaveRepeat *first = &p->operands[0], *second = &p->operands[1];                        \
    const float *x0 = (const float *) (const void *) cleave_operand (call, first, 0, 4);           \
    const float *x1 =                                                                              \
        (const float *) (const void *) cleave_operand (call, second, first->constant == NULL, 4);  \
    const int32_t step0 = first->channels > 1, step1 = second->channels > 1;                       \
    float *y = (float *) (void *) call->y;                                                         \
                                                                                                   \
    for (int32_t column = call->begin; column < call->end; column++)                               \
      {                                                                                            \
        for (int32_t c = 0; c < p->channels; c++)                                                  \
          {                                                                                        \
            const float a = x0[c * step0], b = x1[c * step1];                                      \
                                                                                                   \
            *y++ = value;                                                                          \
          }                                                                                        \
        x0 += first->columns > 1 ? first->channels : 0;                                            \
        x1 += second->columns > 1 ? second->channels : 0;                                          \
      }                                                                                            \
  }

#endif
