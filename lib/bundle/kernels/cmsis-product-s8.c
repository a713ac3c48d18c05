/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

/* A product of one vector of int8 with a constant matrix. */
void
cleave_cmsis_product_s8 (const CleaveCall *call)
{
  const CleaveCmsisProduct *p = call->params;
  const CleaveCmsisFilter *f = &p->filter;
  const cmsis_nn_context context = cleave_cmsis_context_of (call, f->context_bytes);
  const cmsis_nn_per_tensor_quant_params scale = { f->multipliers[0], f->shifts[0] };
  const cmsis_nn_dims w = { f->x.c, 1, 1, f->y.c }, bias = { 1, 1, 1, f->y.c };

#ifdef ARM_MATH_MVEI
  /* With Helium, arm_fully_connected_s8() reads the context buffer: for each channel of the result,
   * its bias plus input_offset times the sum of its weights. */
  (void) arm_vector_sum_s8 ((int32_t *) context.buf, f->x.c, f->y.c, f->weights,
                            p->params.input_offset, 0, f->biases);
#endif
  (void) arm_fully_connected_s8 (&context, &p->params, &scale, &f->x,
                                 (const int8_t *) call->x[0].data, &w, f->weights, &bias, f->biases,
                                 &f->y, (int8_t *) call->y);
}
