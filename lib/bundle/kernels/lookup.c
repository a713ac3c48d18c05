/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

void
cleave_lookup (const CleaveCall *call)
{
  const CleaveLookup *p = call->params;
  const unsigned char *table = p->table;
  const unsigned char *from = (const unsigned char *) cleave_pixels (call, p->channels);
  unsigned char *y = call->y;

  for (int32_t i = (call->end - call->begin) * p->channels; i > 0; i--)
    *y++ = table[*from++];
}
