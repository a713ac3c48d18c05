/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* CleaveVector is a vector of floats in one register. The level of the processor decides the number
 * of lanes: 4, 8 or 16. This file defines the operations that GCC's vector types lack. Kernels use
 * these vectors for sums that compilers do not keep in registers on their own. Example: a block of
 * gemm/direct.c keeps up to 36 vectors of sums. Each operation gives the same bits at each level,
 * except in the payload of a NaN. */

#include <glib.h>

#include "isa.h"

#if defined(CLEAVE_AVX512)
#define CLEAVE_VECTOR 16
#elif defined(CLEAVE_AVX2)
#define CLEAVE_VECTOR 8
#else
#define CLEAVE_VECTOR 4
#endif

typedef float CleaveVector __attribute__ ((vector_size (CLEAVE_VECTOR * sizeof (float))));
typedef float CleaveUnaligned
    __attribute__ ((vector_size (CLEAVE_VECTOR * sizeof (float)), aligned (4), may_alias));
/* The result of a comparison. A lane has all bits set if the comparison is true, and no bit set if
 * it is false. */
typedef int CleaveMask __attribute__ ((vector_size (CLEAVE_VECTOR * sizeof (float))));

/* The following functions load and store vectors. */

static inline CleaveVector
cleave_vector_load (const float *from)
{
  return *(const CleaveUnaligned *) (const void *) from;
}

static inline void
cleave_vector_store (float *to, CleaveVector v)
{
  *(CleaveUnaligned *) (void *) to = v;
}

/* Keeps v in a register at levels with 32 registers, where compilers would otherwise load it from
 * memory for each use. With 16 registers, keeping v would spill other values (measured), so v is
 * returned unchanged. */
static inline CleaveVector
cleave_vector_keep (CleaveVector v)
{
#if defined(CLEAVE_AVX512)
  __asm__("" : "+v"(v));
#elif defined(CLEAVE_NEON)
  __asm__("" : "+w"(v));
#endif
  return v;
}

#define CLEAVE_HALF (CLEAVE_VECTOR / 2)
/* Loads the lower half of a vector from `low`, and the upper half from `high`. */
static inline CleaveVector
cleave_vector_load_halves (const float *low, const float *high)
{
#if defined(CLEAVE_AVX512)
  return _mm512_insertf32x8 (_mm512_castps256_ps512 (_mm256_loadu_ps (low)), _mm256_loadu_ps (high),
                             1);
#elif defined(CLEAVE_AVX2)
  return _mm256_insertf128_ps (_mm256_castps128_ps256 (_mm_loadu_ps (low)), _mm_loadu_ps (high), 1);
#else
  return (CleaveVector){ low[0], low[1], high[0], high[1] };
#endif
}

#if defined(CLEAVE_SSE2)
/* Loads the first n of four lanes. The other lanes are 0. */
static inline __m128
cleave_vector_load_part (const float *from, int n)
{
  __m128 low = _mm_setzero_ps ();

  if (n >= 4)
    return _mm_loadu_ps (from);
  if (n & 2)
    low = _mm_loadl_pi (low, (const void *) from);
  if (n == 3)
    return _mm_movelh_ps (low, _mm_load_ss (from + 2));
  return n == 1 ? _mm_load_ss (from) : low;
}

static inline void
cleave_vector_store_part (float *to, __m128 part, int n)
{
  if (n >= 4)
    _mm_storeu_ps (to, part);
  else if (n & 2)
    _mm_storel_pi ((void *) to, part);
  if (n == 3)
    _mm_store_ss (to + 2, _mm_movehl_ps (part, part));
  else if (n == 1)
    _mm_store_ss (to, part);
}
#endif

/* Loads the first n lanes. Sets the other lanes to 0, and does not read their memory. */
static inline CleaveVector
cleave_vector_load_some (const float *from, int n)
{
#if defined(CLEAVE_AVX512)
  return _mm512_maskz_loadu_ps ((__mmask16) ((1u << n) - 1), from);
#elif defined(CLEAVE_AVX2)
  const __m256i lanes = _mm256_setr_epi32 (0, 1, 2, 3, 4, 5, 6, 7);

  return _mm256_maskload_ps (from, _mm256_cmpgt_epi32 (_mm256_set1_epi32 (n), lanes));
#elif defined(CLEAVE_SSE2)
  return cleave_vector_load_part (from, n);
#else
  if (n >= CLEAVE_VECTOR)
    return cleave_vector_load (from);
  return (CleaveVector){ n > 0 ? from[0] : 0, n > 1 ? from[1] : 0, n > 2 ? from[2] : 0, 0 };
#endif
}

static inline void
cleave_vector_store_some (float *to, CleaveVector v, int n)
{
#if defined(CLEAVE_AVX512)
  _mm512_mask_storeu_ps (to, (__mmask16) ((1u << n) - 1), v);
#elif defined(CLEAVE_AVX2)
  /* stores lane by lane, since a masked store takes dozens of cycles on some processors */
  cleave_vector_store_part (to, _mm256_castps256_ps128 (v), n);
  if (n > 4)
    cleave_vector_store_part (to + 4, _mm256_extractf128_ps (v, 1), n - 4);
#elif defined(CLEAVE_SSE2)
  cleave_vector_store_part (to, v, n);
#else
  if (n >= CLEAVE_VECTOR)
    cleave_vector_store (to, v);
  else
    for (int i = 0; i < n; i++)
      to[i] = v[i];
#endif
}

static inline CleaveVector
cleave_vector_all (float value)
{
  return value - (CleaveVector){ 0 }; /* x - 0 is x, also for -0 */
}

/* The following functions compute with vectors. */

/* Forbids inlining at levels where each lane calls fmaf: each use would contain 4 calls, and
 * kernels of unrolled blocks would take minutes to compile. */
#if defined(CLEAVE_GENERIC) && !defined(__FP_FAST_FMAF)
#define CLEAVE_FMA_CALLS __attribute__ ((noinline, unused))
#else
#define CLEAVE_FMA_CALLS inline
#endif

/* Returns a * b + c, rounded once. */
static CLEAVE_FMA_CALLS CleaveVector
cleave_vector_fma (CleaveVector a, CleaveVector b, CleaveVector c)
{
#if defined(CLEAVE_AVX512)
  return _mm512_fmadd_ps (a, b, c);
#elif defined(CLEAVE_AVX2)
  return _mm256_fmadd_ps (a, b, c);
#elif defined(CLEAVE_NEON)
  return vfmaq_f32 (c, a, b);
#else
  for (int i = 0; i < CLEAVE_VECTOR; i++)
    c[i] = __builtin_fmaf (a[i], b[i], c[i]);
  return c;
#endif
}

static inline CleaveVector
cleave_vector_select (CleaveMask mask, CleaveVector a, CleaveVector b)
{
#if defined(CLEAVE_AVX2) && !defined(CLEAVE_AVX512)
  return _mm256_blendv_ps (b, a, (CleaveVector) mask);
#elif defined(CLEAVE_NEON)
  return vbslq_f32 ((uint32x4_t) mask, a, b);
#else
  return (CleaveVector) (((CleaveMask) a & mask) | ((CleaveMask) b & ~mask));
#endif
}

/* Returns the greater of v and `least` in each lane; v if either is a NaN or both are zeros. */
static inline CleaveVector
cleave_vector_at_least (CleaveVector v, CleaveVector least)
{
#if defined(CLEAVE_AVX512)
  return _mm512_max_ps (least, v);
#elif defined(CLEAVE_AVX2)
  return _mm256_max_ps (least, v);
#else
  return cleave_vector_select (v < least, least, v);
#endif
}

static inline CleaveVector
cleave_vector_at_most (CleaveVector v, CleaveVector most)
{
#if defined(CLEAVE_AVX512)
  return _mm512_min_ps (most, v);
#elif defined(CLEAVE_AVX2)
  return _mm256_min_ps (most, v);
#else
  return cleave_vector_select (v > most, most, v);
#endif
}

/* Rounds each lane down. The magnitude of each lane must be less than 2^22. */
static inline CleaveVector
cleave_vector_floor (CleaveVector v)
{
#if defined(CLEAVE_AVX512)
  return _mm512_roundscale_ps (v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#elif defined(CLEAVE_AVX2)
  return _mm256_floor_ps (v);
#elif defined(CLEAVE_NEON)
  return vrndmq_f32 (v);
#else
  CleaveVector whole =
      __builtin_convertvector(__builtin_convertvector(v, CleaveMask), CleaveVector);

  return cleave_vector_select (whole > v, whole - 1.0f, whole);
#endif
}

/* Clamps each lane to [low, high]; a NaN becomes 0. The caller then converts the lanes to integers.
 * AVX-512 clamps to `high` only, since its conversion turns a value below `low` into an integer
 * below `low`. */
static inline CleaveVector
cleave_vector_within (CleaveVector v, CleaveVector low, CleaveVector high)
{
#if defined(CLEAVE_AVX512)
  return _mm512_maskz_min_ps (_mm512_cmp_ps_mask (v, v, _CMP_ORD_Q), high, v);
#else
  v = cleave_vector_select (v == v, v, (CleaveVector){ 0 });
  return cleave_vector_at_most (cleave_vector_at_least (v, low), high);
#endif
}

/* Returns whether each element of two vectors differs from an integer by less than `sure`. The
 * magnitude of the elements must be less than 2^22. */
static inline __attribute__ ((always_inline)) gboolean
cleave_vectors_are_whole (CleaveVector low, CleaveVector high, float sure)
{
#if defined(CLEAVE_AVX512)
  enum { nearest = 0, magnitude = 0xb };
  __m512 off = _mm512_range_ps (_mm512_reduce_ps ((__m512) low, nearest),
                                _mm512_reduce_ps ((__m512) high, nearest), magnitude);

  return _mm512_cmp_ps_mask (off, _mm512_set1_ps (sure), _CMP_NLT_UQ) == 0;
#elif defined(CLEAVE_AVX2)
  enum { nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
  const __m256 sign = _mm256_set1_ps (-0.0f);
  __m256 a = _mm256_sub_ps ((__m256) low, _mm256_round_ps ((__m256) low, nearest));
  __m256 b = _mm256_sub_ps ((__m256) high, _mm256_round_ps ((__m256) high, nearest));
  __m256 off = _mm256_max_ps (_mm256_andnot_ps (sign, a), _mm256_andnot_ps (sign, b));

  return _mm256_movemask_ps (_mm256_cmp_ps (off, _mm256_set1_ps (sure), _CMP_NLT_UQ)) == 0;
#elif defined(CLEAVE_NEON)
  uint32x4_t bound = vdupq_n_u32 (0);

  bound = vcaltq_f32 (vsubq_f32 (low, vrndnq_f32 (low)), vdupq_n_f32 (sure));
  bound &= vcaltq_f32 (vsubq_f32 (high, vrndnq_f32 (high)), vdupq_n_f32 (sure));
  return vminvq_u32 (bound) != 0;
#else
  const CleaveVector to_whole = cleave_vector_all (0x1.8p23f);
  CleaveVector a = low - ((low + to_whole) - to_whole);
  CleaveVector b = high - ((high + to_whole) - to_whole);
  CleaveMask bound = (a < sure) & (a > -sure) & (b < sure) & (b > -sure);
  int all = -1;

  for (int i = 0; i < CLEAVE_VECTOR; i++)
    all &= bound[i];
  return all != 0;
#endif
}

/* A vector of at most 8 floats. The 8 partial sums of a reduction are one or two such vectors. */
#if CLEAVE_VECTOR < 8
#define CLEAVE_LANE_VECTOR CLEAVE_VECTOR
#else
#define CLEAVE_LANE_VECTOR 8
#endif
typedef float CleaveLaneVector __attribute__ ((vector_size (CLEAVE_LANE_VECTOR * sizeof (float))));
typedef float CleaveLaneUnaligned
    __attribute__ ((vector_size (CLEAVE_LANE_VECTOR * sizeof (float)), aligned (4), may_alias));
typedef int CleaveLaneMask __attribute__ ((vector_size (CLEAVE_LANE_VECTOR * sizeof (float))));

static inline CleaveLaneVector
cleave_lane_vector_load (const float *from)
{
  return *(const CleaveLaneUnaligned *) (const void *) from;
}

/* Returns the greater of v and `least` in each lane; v if either is a NaN or both are equal. */
static inline CleaveLaneVector
cleave_lane_vector_at_least (CleaveLaneVector v, CleaveLaneVector least)
{
#if defined(CLEAVE_AVX2)
  return _mm256_max_ps (least, v);
#else
  return cleave_vector_at_least (v, least);
#endif
}

static inline CleaveLaneVector
cleave_lane_vector_at_most (CleaveLaneVector v, CleaveLaneVector most)
{
#if defined(CLEAVE_AVX2)
  return _mm256_min_ps (most, v);
#else
  return cleave_vector_at_most (v, most);
#endif
}

static inline CleaveLaneMask
cleave_lane_vector_is_nan (CleaveLaneVector v)
{
#if defined(CLEAVE_AVX2)
  return (CleaveLaneMask) _mm256_cmp_ps (v, v, _CMP_UNORD_Q);
#else
  return v != v;
#endif
}

/* A register of doubles, with half as many lanes as CleaveVector. */
#define CLEAVE_DOUBLE_VECTOR (CLEAVE_VECTOR / 2)
typedef double CleaveDoubleVector __attribute__ ((vector_size (CLEAVE_VECTOR * sizeof (float))));

/* Converts CLEAVE_DOUBLE_VECTOR contiguous floats to doubles. */
static inline CleaveDoubleVector
cleave_double_vector_of_floats (const float *from)
{
#if defined(CLEAVE_AVX512)
  return _mm512_cvtps_pd (_mm256_loadu_ps (from));
#elif defined(CLEAVE_AVX2)
  return _mm256_cvtps_pd (_mm_loadu_ps (from));
#elif defined(CLEAVE_SSE2)
  return _mm_cvtps_pd (_mm_castsi128_ps (_mm_loadl_epi64 ((const void *) from)));
#elif defined(CLEAVE_NEON)
  return vcvt_f64_f32 (vld1_f32 (from));
#else
  return (CleaveDoubleVector){ (double) from[0], (double) from[1] };
#endif
}

/* Returns a * b + c, rounded once. */
static inline CleaveDoubleVector
cleave_double_vector_fma (CleaveDoubleVector a, CleaveDoubleVector b, CleaveDoubleVector c)
{
#if defined(CLEAVE_AVX512)
  return _mm512_fmadd_pd (a, b, c);
#elif defined(CLEAVE_AVX2)
  return _mm256_fmadd_pd (a, b, c);
#elif defined(CLEAVE_NEON)
  return vfmaq_f64 (c, a, b);
#else
  for (int i = 0; i < CLEAVE_DOUBLE_VECTOR; i++)
    c[i] = __builtin_fma (a[i], b[i], c[i]);
  return c;
#endif
}

/* A float by which vectors are multiplied. On aarch64 it is one lane of a register: copying it to
 * all lanes would use the execution ports that multiply. */
#if defined(CLEAVE_NEON)
typedef float CleaveFactor;

static inline CleaveFactor
cleave_factor_load (const float *from)
{
  float value;

  /* assembly, since gcc would copy the scalar to all lanes */
  __asm__("ldr %s0, %1" : "=w"(value) : "m"(*from));
  return value;
}

/* Returns factor * v + sum, rounded once. */
static inline CleaveVector
cleave_factor_fma (CleaveFactor factor, CleaveVector v, CleaveVector sum)
{
  return vfmaq_n_f32 (sum, v, factor);
}
#else
#define CleaveFactor CleaveVector
#define cleave_factor_load(from) cleave_vector_all (*(from))
#define cleave_factor_fma(factor, v, sum) cleave_vector_fma (factor, v, sum)
#endif
