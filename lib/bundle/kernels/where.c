/* SPDX-License-Identifier: 0BSD */

/* Selects elements of two operands by a condition. The elements of the condition are bytes. */

#include "cleave-kernels.h"

void
cleave_where (const CleaveCall *call)
{
  const CleaveWhere *p = call->params;
  const unsigned char *x[3];
  unsigned char *y = call->y;
  int32_t index = 0;

  for (int32_t i = 0; i < 3; i++)
    {
      x[i] = cleave_operand (call, &p->operands[i], index, i == 0 ? 1 : p->size);
      index += p->operands[i].constant == NULL;
    }
  for (int32_t column = call->begin; column < call->end; column++)
    {
      for (int32_t c = 0; c < p->channels; c++)
        {
          const int32_t i = x[0][p->operands[0].channels > 1 ? c : 0] != 0 ? 1 : 2;

          memcpy (y, x[i] + (p->operands[i].channels > 1 ? c * p->size : 0), (size_t) p->size);
          y += p->size;
        }
      for (int32_t i = 0; i < 3; i++)
        if (p->operands[i].columns > 1)
          x[i] += p->operands[i].channels * (i == 0 ? 1 : p->size);
    }
}
