/* SPDX-License-Identifier: 0BSD */

/* A product of two values of int8 or uint8, with float scales: row k of B has the factors for
 * channel k of A. */

#include "cleave-kernels.h"

/* Returns a byte minus a zero point. */
static int32_t
matmul_bytes_load (const unsigned char *x, uint8_t type, int32_t zero)
{
  return (type == CLEAVE_S8 ? (int32_t) * (const int8_t *) x : (int32_t) *x) - zero;
}

/* Returns the sum of n products. Consecutive factors of A are adjacent bytes, and consecutive
 * factors of B have the distance `step` in bytes. */
static uint32_t
matmul_bytes_sum (const CleaveMatMulBytes *p,
                  const unsigned char *a,
                  const unsigned char *b,
                  int32_t step,
                  int32_t n)
{
  uint32_t sum = 0;

  for (; n > 0; n--)
    {
      sum += (uint32_t) (matmul_bytes_load (a++, p->types[0], p->zeros[0]) *
                         matmul_bytes_load (b, p->types[1], p->zeros[1]));
      b += step;
    }
  return sum;
}

/* Returns the sum of channel `channel` of the result. `a` is the pixel of A. */
static uint32_t
matmul_bytes_channel (const CleaveCall *call, const unsigned char *a, int32_t channel)
{
  const CleaveMatMulBytes *p = call->params;
  const CleaveRows *b = &call->x[1];
  uint32_t sum = 0;

  if (p->shape.has_columns)
    {
      const int32_t row = p->shape.has_one_row[1] ? 0 : call->row;
      const unsigned char *first = (const unsigned char *) cleave_row (b, row);

      return matmul_bytes_sum (p, a, first - b->begin * p->shape.out + channel, p->shape.out,
                               p->shape.in);
    }
  for (int32_t k = 0; k < p->shape.in; k++)
    sum += matmul_bytes_sum (p, a + k, (const unsigned char *) cleave_row (b, k) + channel, 0, 1);
  return sum;
}

void
cleave_matmul_bytes (const CleaveCall *call)
{
  const CleaveMatMulBytes *p = call->params;
  const CleaveRows *a = &call->x[0];
  const unsigned char *from =
      (const unsigned char *) cleave_row (a, p->shape.has_one_row[0] ? 0 : call->row);
  int8_t *y = (int8_t *) call->y;

  from += (call->begin - a->begin) * p->shape.in;
  for (int32_t column = call->begin; column < call->end; column++)
    {
      for (int32_t channel = 0; channel < p->shape.out; channel++)
        {
          const int32_t value =
              cleave_scale (matmul_bytes_channel (call, from, channel), p->multiplier, p->shift);

          *y++ = (int8_t) (cleave_clamp (value, p->low, p->high) + p->y_zero);
        }
      from += p->shape.in;
    }
}
