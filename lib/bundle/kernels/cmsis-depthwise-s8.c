/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

/* A convolution of int8 in which each group has one channel. */
void
cleave_cmsis_depthwise_s8 (const CleaveCall *call)
{
  const CleaveCmsisDepthwise *p = call->params;
  const CleaveCmsisFilter *f = &p->filter;
  const cmsis_nn_context context = cleave_cmsis_context_of (call, f->context_bytes);
  const cmsis_nn_per_channel_quant_params scales = { (int32_t *) (uintptr_t) f->multipliers,
                                                     (int32_t *) (uintptr_t) f->shifts };
  const cmsis_nn_dims bias = { 1, 1, 1, f->y.c };

  (void) arm_depthwise_conv_wrapper_s8 (&context, &p->params, &scales, &f->x,
                                        (const int8_t *) call->x[0].data, &f->w, f->weights, &bias,
                                        f->biases, &f->y, (int8_t *) call->y);
}
