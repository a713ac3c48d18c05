/* SPDX-License-Identifier: 0BSD */

/* Comparisons, and logical functions of booleans. The result is 0 or 1. */

#include "elements.h"

static int
compare_floats (int32_t op, float a, float b)
{
  return op == CLEAVE_EQUAL              ? a >= b && a <= b
         : op == CLEAVE_LESS             ? a < b
         : op == CLEAVE_GREATER          ? a > b
         : op == CLEAVE_LESS_OR_EQUAL    ? a <= b
         : op == CLEAVE_GREATER_OR_EQUAL ? a >= b
                                         : 0;
}

static int
compare_integers (int32_t op, int64_t a, int64_t b)
{
  return op == CLEAVE_EQUAL              ? a == b
         : op == CLEAVE_LESS             ? a < b
         : op == CLEAVE_GREATER          ? a > b
         : op == CLEAVE_LESS_OR_EQUAL    ? a <= b
         : op == CLEAVE_GREATER_OR_EQUAL ? a >= b
         : op == CLEAVE_AND              ? (a & b) != 0
         : op == CLEAVE_OR               ? (a | b) != 0
                                         : a != b;
}

void
cleave_compare (const CleaveCall *call)
{
  const CleaveCompare *p = call->params;
  const CleaveRepeat *first = &p->operands[0], *second = &p->operands[1];
  const int32_t size = element_size (p->type);
  const unsigned char *a = cleave_operand (call, first, 0, size);
  const unsigned char *b = cleave_operand (call, second, first->constant == NULL, size);
  unsigned char *y = call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      for (int32_t c = 0; c < p->channels; c++)
        {
          const unsigned char *x0 = a + (first->channels > 1 ? c * size : 0);
          const unsigned char *x1 = b + (second->channels > 1 ? c * size : 0);

          *y++ = p->type == CLEAVE_F32
                     ? compare_floats (p->op, element_load_float (x0), element_load_float (x1)) != 0
                     : compare_integers (p->op, element_load (x0, p->type),
                                         element_load (x1, p->type)) != 0;
        }
      a += first->columns > 1 ? first->channels * size : 0;
      b += second->columns > 1 ? second->channels * size : 0;
    }
}
