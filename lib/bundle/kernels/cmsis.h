/* SPDX-License-Identifier: 0BSD */

/* The kernels that call CMSIS-NN, and their constants. Such a kernel computes a whole image in one
 * call: its operands and its result are one row with the pixels of all rows of an image. The
 * statuses that the functions of CMSIS-NN return are ignored, since Cleave checks all sizes before
 * it writes a bundle. */

#ifndef CLEAVE_CMSIS_H
#define CLEAVE_CMSIS_H

#include <arm_nnfunctions.h>

/* The constants of a convolution that all functions of CMSIS-NN take. */
typedef struct
{
  const int8_t *weights;
  const int32_t *biases, *multipliers, *shifts; /* one integer for each channel of the result */
  int32_t context_bytes; /* bytes of the context buffer, which is operand 1; 0: no buffer */
  cmsis_nn_dims x, w, y; /* extents of the operand, the weights and the result */
} CleaveCmsisFilter;

/* A product of one vector with a constant matrix. All channels have the scale of channel 0. */
typedef struct
{
  CleaveCmsisFilter filter;
  cmsis_nn_fc_params params;
} CleaveCmsisProduct;

typedef struct
{
  CleaveCmsisFilter filter;
  cmsis_nn_conv_params params;
} CleaveCmsisConv;

typedef struct
{
  CleaveCmsisFilter filter;
  cmsis_nn_dw_conv_params params;
} CleaveCmsisDepthwise;

typedef struct
{
  cmsis_nn_pool_params params;
  int32_t context_bytes;
  cmsis_nn_dims x, w, y; /* extents of the operand, the window and the result */
} CleaveCmsisPool;

/* An element-wise sum or product of two operands. `x_multipliers` to `left_shift` are for sums. */
typedef struct
{
  int32_t x_offsets[2]; /* zero points of the operands, negated */
  int32_t y_offset, multiplier, shift;
  int32_t low, high; /* bounds of the result */
  int32_t n;         /* number of elements */
  int32_t x_multipliers[2], x_shifts[2], left_shift;
} CleaveCmsisBinary;

/* Returns the context buffer of a call: operand 1 of the layer, a value in the arena. An earlier
 * layer reserves this memory. Its kernel is cleave_cmsis_context(), which computes nothing. */
static inline cmsis_nn_context
cleave_cmsis_context_of (const CleaveCall *call, int32_t n_bytes)
{
  cmsis_nn_context context = { NULL, 0 };

  if (n_bytes > 0)
    {
      context.buf = (void *) (uintptr_t) call->x[1].data;
      context.size = n_bytes;
    }
  return context;
}

void cleave_cmsis_context (const CleaveCall *call);
void cleave_cmsis_product_s8 (const CleaveCall *call);
void cleave_cmsis_conv_s8 (const CleaveCall *call);
void cleave_cmsis_depthwise_s8 (const CleaveCall *call);
void cleave_cmsis_max_pool_s8 (const CleaveCall *call);
void cleave_cmsis_average_pool_s8 (const CleaveCall *call);
void cleave_cmsis_add_s8 (const CleaveCall *call);
void cleave_cmsis_mul_s8 (const CleaveCall *call);

#endif
