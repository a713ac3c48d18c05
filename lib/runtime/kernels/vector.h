/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* CleaveVector: one register of floats at this level (4, 8 or 16), with the operations that
 * GCC's vector types do not have. Kernels use it for sums that compilers do not keep in
 * registers on their own. */

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define CLEAVE_VECTOR 16
#elif defined(__FMA__)
#define CLEAVE_VECTOR 8
#else
#define CLEAVE_VECTOR 4
#endif

typedef float CleaveVector __attribute__ ((vector_size (CLEAVE_VECTOR * sizeof (float))));
typedef float CleaveUnaligned
    __attribute__ ((vector_size (CLEAVE_VECTOR * sizeof (float)), aligned (4), may_alias));

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

/* Keeps v in a register at levels with 32 registers, where compilers would otherwise reload a
 * value from memory for each use. With 16 registers, it would spill others (measured). */
static inline CleaveVector
cleave_vector_keep (CleaveVector v)
{
#if defined(__AVX512F__)
  __asm__("" : "+v"(v));
#endif
  return v;
}

/* Loads half a vector from each address. */
#define CLEAVE_HALF (CLEAVE_VECTOR / 2)
static inline CleaveVector
cleave_vector_load_halves (const float *low, const float *high)
{
#if defined(__AVX512F__)
  return _mm512_insertf32x8 (_mm512_castps256_ps512 (_mm256_loadu_ps (low)), _mm256_loadu_ps (high),
                             1);
#elif defined(__FMA__)
  return _mm256_insertf128_ps (_mm256_castps128_ps256 (_mm_loadu_ps (low)), _mm_loadu_ps (high), 1);
#else
  return (CleaveVector){ low[0], low[1], high[0], high[1] };
#endif
}

#if defined(__SSE2__)
/* Loads the first n of four lanes; the others are 0. */
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

/* Loads the first n lanes; the others are 0 and are not read. */
static inline CleaveVector
cleave_vector_load_some (const float *from, int n)
{
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_ps ((__mmask16) ((1u << n) - 1), from);
#elif defined(__FMA__)
  const __m256i lanes = _mm256_setr_epi32 (0, 1, 2, 3, 4, 5, 6, 7);

  return _mm256_maskload_ps (from, _mm256_cmpgt_epi32 (_mm256_set1_epi32 (n), lanes));
#elif defined(__SSE2__)
  return cleave_vector_load_part (from, n);
#else
  float values[CLEAVE_VECTOR] = { 0 };

  for (int i = 0; i < n; i++)
    values[i] = from[i];
  return cleave_vector_load (values);
#endif
}

static inline void
cleave_vector_store_some (float *to, CleaveVector v, int n)
{
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps (to, (__mmask16) ((1u << n) - 1), v);
#elif defined(__FMA__)
  /* Masked stores take dozens of cycles on some processors. */
  cleave_vector_store_part (to, _mm256_castps256_ps128 (v), n);
  if (n > 4)
    cleave_vector_store_part (to + 4, _mm256_extractf128_ps (v, 1), n - 4);
#elif defined(__SSE2__)
  cleave_vector_store_part (to, v, n);
#else
  float values[CLEAVE_VECTOR];

  cleave_vector_store (values, v);
  for (int i = 0; i < n; i++)
    to[i] = values[i];
#endif
}

static inline CleaveVector
cleave_vector_all (float value)
{
  return value - (CleaveVector){ 0 }; /* x - 0 is x, also for -0 */
}

/* Returns a * b + c, rounded once. */
static inline CleaveVector
cleave_vector_fma (CleaveVector a, CleaveVector b, CleaveVector c)
{
#if defined(__AVX512F__)
  return _mm512_fmadd_ps (a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_ps (a, b, c);
#else
  for (int i = 0; i < CLEAVE_VECTOR; i++)
    c[i] = __builtin_fmaf (a[i], b[i], c[i]);
  return c;
#endif
}

/* The result of a comparison: all bits of a lane are set if it is true. */
typedef int CleaveMask __attribute__ ((vector_size (CLEAVE_VECTOR * sizeof (float))));

static inline CleaveVector
cleave_vector_select (CleaveMask mask, CleaveVector a, CleaveVector b)
{
#if defined(__FMA__) && !defined(__AVX512F__)
  return _mm256_blendv_ps (b, a, (CleaveVector) mask);
#else
  return (CleaveVector) (((CleaveMask) a & mask) | ((CleaveMask) b & ~mask));
#endif
}

/* Returns the greater of both in each lane; v if either is a NaN or both are zeros. */
static inline CleaveVector
cleave_vector_at_least (CleaveVector v, CleaveVector least)
{
#if defined(__AVX512F__)
  return _mm512_max_ps (least, v);
#elif defined(__FMA__)
  return _mm256_max_ps (least, v);
#else
  return cleave_vector_select (v < least, least, v);
#endif
}

static inline CleaveVector
cleave_vector_at_most (CleaveVector v, CleaveVector most)
{
#if defined(__AVX512F__)
  return _mm512_min_ps (most, v);
#elif defined(__FMA__)
  return _mm256_min_ps (most, v);
#else
  return cleave_vector_select (v > most, most, v);
#endif
}
