/* SPDX-License-Identifier: 0BSD */

/* A reduction of the channels of a pixel to one number, computed in double. Element i is in lane i
 * % 8. Then pairs of neighboring lanes are joined, until one lane is left. */

#include "cleave-kernels.h"

static double
reduce_f32_join (int32_t op, double a, double b)
{
  if (op == CLEAVE_REDUCE_MAX)
    return a >= b || a != a ? a : b;
  if (op == CLEAVE_REDUCE_MIN)
    return a <= b || a != a ? a : b;
  return op == CLEAVE_REDUCE_PROD ? a * b : a + b;
}

static double
reduce_f32_term (int32_t op, double x)
{
  if (op == CLEAVE_REDUCE_L1)
    return fabs (x);
  return op == CLEAVE_REDUCE_SUM_SQUARE || op == CLEAVE_REDUCE_L2 ? x * x : x;
}

static CLEAVE_APART float
reduce_f32_pixel (const CleaveReduce *p, const float *x)
{
  double lanes[8];

  for (int j = 0; j < 8; j++)
    lanes[j] = p->op == CLEAVE_REDUCE_MAX    ? (double) -INFINITY
               : p->op == CLEAVE_REDUCE_MIN  ? (double) INFINITY
               : p->op == CLEAVE_REDUCE_PROD ? 1
                                             : 0;
  for (int32_t i = 0; i < p->channels; i++)
    lanes[i & 7] = reduce_f32_join (p->op, lanes[i & 7], reduce_f32_term (p->op, (double) x[i]));
  for (int step = 1; step < 8; step *= 2)
    for (int j = 0; j < 8; j += 2 * step)
      lanes[j] = reduce_f32_join (p->op, lanes[j], lanes[j + step]);
  return (float) (p->op == CLEAVE_REDUCE_L2 ? sqrt (lanes[0]) : lanes[0]);
}

void
cleave_reduce_f32 (const CleaveCall *call)
{
  const CleaveReduce *p = call->params;
  const float *from = (const float *) cleave_pixels (call, 4 * p->channels);
  float *y = (float *) (void *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      *y++ = reduce_f32_pixel (p, from);
      from += p->channels;
    }
}
