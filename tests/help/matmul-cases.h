/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Random matrix products for tests of fast kernels. The suites integer-matmul.c and
 * gemm-upcast-matmul.c draw the types of both operands, and try the product at each level. */

#include "kernel-cases.h"

/* Draws types of the operands A and B, of ranks 1 to 4, with broadcast batches, and rows and
 * columns in any memory order. At times A or B is empty. */
static inline void
draw_stacks (
    CleaveTrySite *instance, GRand *rand, guint32 seed, CleaveTensorType *a, CleaveTensorType *b)
{
  gint32 least = draw (rand, 1, 8) == 1 ? 0 : 1;
  gint64 m = draw (rand, least, g_rand_boolean (rand) ? 3 : 40);
  gint64 n = draw (rand, least, g_rand_boolean (rand) ? 9 : 80);
  gint64 k = draw (rand, least, g_rand_boolean (rand) ? 9 : 300);
  guint n_batch = (guint) draw (rand, 0, 2);

  *instance = (CleaveTrySite){ .seed = seed, .n_operands = 2 };
  a->shape = b->shape = (CleaveShape){ n_batch + 2, { 0 } };
  for (guint d = 0; d < n_batch; d++)
    {
      gint64 extent = draw (rand, least, 3);

      a->shape.dim[d] = draw (rand, 1, 4) == 1 ? 1 : extent;
      b->shape.dim[d] = draw (rand, 1, 2) == 1 ? 1 : extent;
    }
  a->shape.dim[n_batch] = m;
  a->shape.dim[n_batch + 1] = k;
  b->shape.dim[n_batch] = k;
  b->shape.dim[n_batch + 1] = n;
  if (draw (rand, 1, 6) == 1)
    a->shape = CLEAVE_SHAPE (k);
  if (draw (rand, 1, 8) == 1)
    b->shape = CLEAVE_SHAPE (k);
  instance->row_major = (guint) draw (rand, 0, 0x1ff);
  instance->y_row_major = draw (rand, 1, 4) != 1;
  instance->gap = draw (rand, 0, 2);
  instance->special = g_rand_boolean (rand);
}
