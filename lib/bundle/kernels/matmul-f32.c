/* SPDX-License-Identifier: 0BSD */

/* A product of two values: row k of B has the factors for channel k of A. Each sum begins with 0
 * and has one fused multiply-add for each k, in order. */

#include "cleave-kernels.h"

/* Adds the products of an element of A and its n factors in B to n sums. */
static void
matmul_f32_add (float *y, float a, const float *b, int32_t n)
{
  for (; n > 0; n--)
    {
      *y = cleave_fma (a, *b++, *y);
      y++;
    }
}

void
cleave_matmul_f32 (const CleaveCall *call)
{
  const CleaveMatMul *p = call->params;
  const CleaveRows *a = &call->x[0], *b = &call->x[1];
  const float *from = (const float *) cleave_row (a, p->has_one_row[0] ? 0 : call->row);
  float *y = (float *) (void *) call->y;

  from += (call->begin - a->begin) * p->in;
  for (int32_t column = call->begin; column < call->end; column++)
    {
      for (int32_t n = 0; n < p->out; n++)
        y[n] = 0;
      for (int32_t k = 0; k < p->in; k++)
        {
          const int32_t row = p->has_one_row[1] ? 0 : call->row;
          const float *factors = p->has_columns
                                     ? (const float *) cleave_row (b, row) + (k - b->begin) * p->out
                                     : (const float *) cleave_row (b, k);

          matmul_f32_add (y, *from++, factors, p->out);
        }
      y += p->out;
    }
}
