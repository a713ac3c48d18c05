/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Fused multiply-adds whose sum stays in its register. gemm/direct.c and depthwise-rows.c add
 * products with them. With NEON, the functions are assembly: gcc 12 copies the sums of builtin
 * functions from register to register. 80 multiply-adds of a matrix product would then take 119
 * instructions instead of 110. */

#include "vector.h"

/* Returns a * b + sum, rounded once. */
static inline __attribute__ ((always_inline)) CleaveVector
cleave_in_place_fma (CleaveVector a, CleaveVector b, CleaveVector sum)
{
#if defined(CLEAVE_NEON)
  __asm__("fmla %0.4s, %1.4s, %2.4s" : "+w"(sum) : "w"(a), "w"(b));
  return sum;
#else
  return cleave_vector_fma (a, b, sum);
#endif
}

/* CLEAVE_LOADS_END (pointer): with NEON, the compiler moves no later load through `pointer` before
 * the macro. Without the macro, gcc 12 would load many vectors early and spill sums. */
#if defined(CLEAVE_NEON)
#define CLEAVE_LOADS_END(pointer) __asm__ volatile("" : "+r"(pointer))

/* Number of lanes of the vector `factors` of cleave_in_place_fma_lane(). A caller loads this many
 * factors at once. */
#define CLEAVE_FACTORS 4

/* Returns lane `lane` of `factors`, times v, plus sum, rounded once. The lane is a compile-time
 * constant. */
static inline __attribute__ ((always_inline)) CleaveVector
cleave_in_place_fma_lane (CleaveVector factors, int lane, CleaveVector v, CleaveVector sum)
{
  if (lane == 0)
    __asm__("fmla %0.4s, %1.4s, %2.s[0]" : "+w"(sum) : "w"(v), "w"(factors));
  else if (lane == 1)
    __asm__("fmla %0.4s, %1.4s, %2.s[1]" : "+w"(sum) : "w"(v), "w"(factors));
  else if (lane == 2)
    __asm__("fmla %0.4s, %1.4s, %2.s[2]" : "+w"(sum) : "w"(v), "w"(factors));
  else
    __asm__("fmla %0.4s, %1.4s, %2.s[3]" : "+w"(sum) : "w"(v), "w"(factors));
  return sum;
}
#else
#define CLEAVE_LOADS_END(pointer) ((void) 0)
#endif
