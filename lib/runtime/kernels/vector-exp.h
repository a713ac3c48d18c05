/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Exponentials of vectors, with the bits of lib/ops/elementwise-math.h. softmax-columns.h and
 * reduce-exponentials.h use them. Without CLEAVE_HAS_FMA, this file calls the scalar functions of
 * elementwise-math.h. */

#include "vector.h"

#include "../../ops/elementwise-math.h"

#if defined(CLEAVE_HAS_FMA)
/* Computes the exponential of each lane. All lanes must be within the bounds of cleave_f32_exp(),
 * so that no result overflows. */
static inline CleaveVector
cleave_vector_exp_within (CleaveVector a)
{
  const CleaveVector magic = cleave_vector_all (12582912.0f + 127.0f);
  CleaveVector shifted = cleave_vector_fma (a, cleave_vector_all (1.44269504f), magic);
  CleaveVector n = shifted - magic, r, u, p, q;

  r = cleave_vector_fma (n, cleave_vector_all (-0.693359375f), a);
  r = cleave_vector_fma (n, cleave_vector_all (2.12194440e-4f), r);
  u = r * r;
  q = cleave_vector_fma (r, cleave_vector_all (0.00836895779f), cleave_vector_all (0.041666206f));
  q = cleave_vector_fma (u, cleave_vector_all (0.00139505533f), q);
  p = cleave_vector_fma (r, cleave_vector_all (0.166665182f), cleave_vector_all (0.5f));
  p = cleave_vector_fma (u, q, p);
  return (1.0f + cleave_vector_fma (u, p, r)) * (CleaveVector) ((CleaveMask) shifted << 23);
}

static inline CleaveVector
cleave_vector_exp_normal_negative (CleaveVector a)
{
  return cleave_vector_exp_within (cleave_vector_at_least (a, cleave_vector_all (-88.0f)));
}

static inline CleaveVector
cleave_vector_exp_normal (CleaveVector a)
{
  a = cleave_vector_at_least (a, cleave_vector_all (-88.0f));
  return cleave_vector_exp_within (cleave_vector_at_most (a, cleave_vector_all (89.0f)));
}
#else
#define EXPONENTIALS(word)                                                                         \
  static inline CleaveVector cleave_vector_##word (CleaveVector a)                                 \
  {                                                                                                \
    float e[CLEAVE_VECTOR];                                                                        \
                                                                                                   \
    cleave_vector_store (e, a);                                                                    \
    for (int r = 0; r < CLEAVE_VECTOR; r++)                                                        \
      e[r] = cleave_f32_##word (e[r]);                                                             \
    return cleave_vector_load (e);                                                                 \
  }
EXPONENTIALS (exp_normal_negative)
EXPONENTIALS (exp_normal)
#undef EXPONENTIALS
#endif
