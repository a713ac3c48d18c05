/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A substitute for the header of CMSIS-NN, for machines without CMSIS-NN. cmsis.py copies it
 * into an include folder. Declares the types and functions that bundles use, with the documented
 * names and parameters. cmsis-stub.c computes the functions slowly. */

#include <stddef.h>
#include <stdint.h>

typedef enum { ARM_CMSIS_NN_SUCCESS = 0, ARM_CMSIS_NN_ARG_ERROR = -1 } arm_cmsis_nn_status;

typedef struct
{
  int32_t w, h;
} cmsis_nn_tile;

typedef struct
{
  void *buf;
  int32_t size;
} cmsis_nn_context;

typedef struct
{
  int32_t n, h, w, c;
} cmsis_nn_dims;

typedef struct
{
  int32_t *multiplier, *shift;
} cmsis_nn_per_channel_quant_params;

typedef struct
{
  int32_t multiplier, shift;
} cmsis_nn_per_tensor_quant_params;

typedef struct
{
  int32_t min, max;
} cmsis_nn_activation;

typedef struct
{
  int32_t input_offset, output_offset;
  cmsis_nn_tile stride, padding, dilation;
  cmsis_nn_activation activation;
} cmsis_nn_conv_params;

typedef struct
{
  int32_t input_offset, output_offset, ch_mult;
  cmsis_nn_tile stride, padding, dilation;
  cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;

typedef struct
{
  cmsis_nn_tile stride, padding;
  cmsis_nn_activation activation;
} cmsis_nn_pool_params;

typedef struct
{
  int32_t input_offset, filter_offset, output_offset;
  cmsis_nn_activation activation;
} cmsis_nn_fc_params;

arm_cmsis_nn_status arm_convolve_wrapper_s8 (const cmsis_nn_context *ctx,
                                             const cmsis_nn_conv_params *conv_params,
                                             const cmsis_nn_per_channel_quant_params *quant_params,
                                             const cmsis_nn_dims *input_dims,
                                             const int8_t *input_data,
                                             const cmsis_nn_dims *filter_dims,
                                             const int8_t *filter_data,
                                             const cmsis_nn_dims *bias_dims,
                                             const int32_t *bias_data,
                                             const cmsis_nn_dims *output_dims,
                                             int8_t *output_data);
arm_cmsis_nn_status
arm_depthwise_conv_wrapper_s8 (const cmsis_nn_context *ctx,
                               const cmsis_nn_dw_conv_params *dw_conv_params,
                               const cmsis_nn_per_channel_quant_params *quant_params,
                               const cmsis_nn_dims *input_dims,
                               const int8_t *input_data,
                               const cmsis_nn_dims *filter_dims,
                               const int8_t *filter_data,
                               const cmsis_nn_dims *bias_dims,
                               const int32_t *bias_data,
                               const cmsis_nn_dims *output_dims,
                               int8_t *output_data);
arm_cmsis_nn_status arm_fully_connected_s8 (const cmsis_nn_context *ctx,
                                            const cmsis_nn_fc_params *fc_params,
                                            const cmsis_nn_per_tensor_quant_params *quant_params,
                                            const cmsis_nn_dims *input_dims,
                                            const int8_t *input_data,
                                            const cmsis_nn_dims *filter_dims,
                                            const int8_t *filter_data,
                                            const cmsis_nn_dims *bias_dims,
                                            const int32_t *bias_data,
                                            const cmsis_nn_dims *output_dims,
                                            int8_t *output_data);
arm_cmsis_nn_status arm_max_pool_s8 (const cmsis_nn_context *ctx,
                                     const cmsis_nn_pool_params *pool_params,
                                     const cmsis_nn_dims *input_dims,
                                     const int8_t *input_data,
                                     const cmsis_nn_dims *filter_dims,
                                     const cmsis_nn_dims *output_dims,
                                     int8_t *output_data);
arm_cmsis_nn_status arm_avgpool_s8 (const cmsis_nn_context *ctx,
                                    const cmsis_nn_pool_params *pool_params,
                                    const cmsis_nn_dims *input_dims,
                                    const int8_t *input_data,
                                    const cmsis_nn_dims *filter_dims,
                                    const cmsis_nn_dims *output_dims,
                                    int8_t *output_data);
arm_cmsis_nn_status arm_elementwise_add_s8 (const int8_t *input_1_vect,
                                            const int8_t *input_2_vect,
                                            const int32_t input_1_offset,
                                            const int32_t input_1_mult,
                                            const int32_t input_1_shift,
                                            const int32_t input_2_offset,
                                            const int32_t input_2_mult,
                                            const int32_t input_2_shift,
                                            const int32_t left_shift,
                                            int8_t *output,
                                            const int32_t out_offset,
                                            const int32_t out_mult,
                                            const int32_t out_shift,
                                            const int32_t out_activation_min,
                                            const int32_t out_activation_max,
                                            const int32_t block_size);
arm_cmsis_nn_status arm_elementwise_mul_s8 (const int8_t *input_1_vect,
                                            const int8_t *input_2_vect,
                                            const int32_t input_1_offset,
                                            const int32_t input_2_offset,
                                            int8_t *output,
                                            const int32_t out_offset,
                                            const int32_t out_mult,
                                            const int32_t out_shift,
                                            const int32_t out_activation_min,
                                            const int32_t out_activation_max,
                                            const int32_t block_size);
