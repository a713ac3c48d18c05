/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Comparisons of vectors of floats. A result is a set of lanes: a mask register, or a vector. */

#include "vector.h"

#if defined(CLEAVE_AVX512)
typedef __mmask16 CleaveLanes;
#else
typedef CleaveMask CleaveLanes;
#endif

static inline CleaveLanes
cleave_lanes_less (CleaveVector a, CleaveVector b)
{
#if defined(CLEAVE_AVX512)
  return _mm512_cmp_ps_mask (a, b, _CMP_LT_OQ);
#else
  return a < b;
#endif
}

/* Returns the lanes where a is less than b or either is a NaN. */
static inline CleaveLanes
cleave_lanes_not_at_least (CleaveVector a, CleaveVector b)
{
#if defined(CLEAVE_AVX512)
  return _mm512_cmp_ps_mask (a, b, _CMP_NGE_UQ);
#else
  return ~(a >= b);
#endif
}

/* Returns the lanes where a is greater than b or either is a NaN. */
static inline CleaveLanes
cleave_lanes_not_at_most (CleaveVector a, CleaveVector b)
{
#if defined(CLEAVE_AVX512)
  return _mm512_cmp_ps_mask (a, b, _CMP_NLE_UQ);
#else
  return ~(a <= b);
#endif
}

/* Returns `lanes` without the lanes where v is a NaN. */
static inline CleaveLanes
cleave_lanes_of_numbers (CleaveLanes lanes, CleaveVector v)
{
#if defined(CLEAVE_AVX512)
  return _mm512_mask_cmp_ps_mask (lanes, v, v, _CMP_ORD_Q);
#else
  return (v == v) & lanes;
#endif
}

static inline CleaveVector
cleave_lanes_select (CleaveLanes lanes, CleaveVector a, CleaveVector b)
{
#if defined(CLEAVE_AVX512)
  return _mm512_mask_mov_ps (b, lanes, a);
#else
  return cleave_vector_select (lanes, a, b);
#endif
}

static inline CleaveMask
cleave_lanes_select_ints (CleaveLanes lanes, CleaveMask a, CleaveMask b)
{
#if defined(CLEAVE_AVX512)
  return (CleaveMask) _mm512_mask_mov_epi32 ((__m512i) b, lanes, (__m512i) a);
#else
  return (CleaveMask) cleave_vector_select (lanes, (CleaveVector) a, (CleaveVector) b);
#endif
}

/* Returns a mask with one bit for each lane that is set in a CleaveMask. */
static inline guint
cleave_vector_bits (CleaveMask mask)
{
#if defined(CLEAVE_AVX512)
  return _mm512_movepi32_mask ((__m512i) mask);
#elif defined(CLEAVE_AVX2)
  return (guint) _mm256_movemask_ps ((__m256) mask);
#elif defined(CLEAVE_SSE2)
  return (guint) _mm_movemask_ps ((__m128) mask);
#elif defined(CLEAVE_NEON)
  return vaddvq_u32 (vandq_u32 ((uint32x4_t) mask, (uint32x4_t){ 1, 2, 4, 8 }));
#else
  guint bits = 0;

  for (int i = 0; i < CLEAVE_VECTOR; i++)
    bits |= mask[i] != 0 ? 1u << i : 0;
  return bits;
#endif
}

static inline guint
cleave_lanes_bits (CleaveLanes lanes)
{
#if defined(CLEAVE_AVX512)
  return lanes;
#else
  return cleave_vector_bits (lanes);
#endif
}
