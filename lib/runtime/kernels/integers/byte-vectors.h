/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "byte-product.h"

/* The innermost loop of products in dot-4 groups. The blocks of byte-blocks.h and qdq-blocks.c call
 * it for each tap. A dot-4 group is four bytes of x, which one instruction multiplies by four
 * weights. */

/* Multiplies the dot-4 groups [at, end) of a tap by their weights, for `pixels` pixels and
 * `vectors` vectors of columns, and adds the products to the sums. With NEON, one load of x serves
 * four groups. Advances `w` past the weights of these groups. Returns the index of the first group
 * that was not added. */
static inline __attribute__ ((always_inline)) gint64
cleave_byte_add_vectors (const char *const *from,
                         gint64 at,
                         gint64 end,
                         gint64 w_step,
                         CleaveIntVector flip,
                         int pixels,
                         int vectors,
                         const gint8 **w,
                         CleaveIntVector *sum)
{
#if defined(CLEAVE_NEON) && defined(CLEAVE_DOT)
  enum { MOST = 8 };

  for (; at + 4 * CLEAVE_LANES <= end; at += 4 * CLEAVE_LANES)
    {
      CleaveIntVector x[MOST];

      CLEAVE_EACH (p, pixels)
        x[p] = cleave_ints_xor (cleave_ints_load ((const gint32 *) (const void *) (from[p] + at)),
                                flip);
      CLEAVE_EACH (u, CLEAVE_LANES)
        {
          CleaveIntVector by[2];

          CLEAVE_EACH (v, vectors)
            by[v] = cleave_ints_load (
                (const gint32 *) (const void *) (*w + v * CLEAVE_DOT4 * CLEAVE_LANES));
          CLEAVE_EACH (p, pixels)
            CLEAVE_EACH (v, vectors)
              sum[p * 2 + v] = cleave_ints_add_dot4_of_lane (sum[p * 2 + v], x[p], u, by[v]);
          *w += w_step;
        }
    }
#endif
  return at;
}
