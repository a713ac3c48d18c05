/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Moves of lanes: permutations, interleaved vectors, and transposed squares of floats. */

#include "vector.h"

/* Returns a vector whose lane i is i. */
static inline CleaveMask
cleave_vector_indices (void)
{
#if CLEAVE_VECTOR == 16
  return (CleaveMask){ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
#elif CLEAVE_VECTOR == 8
  return (CleaveMask){ 0, 1, 2, 3, 4, 5, 6, 7 };
#else
  return (CleaveMask){ 0, 1, 2, 3 };
#endif
}

/* Returns a vector whose lane i is lane index[i] of v. */
static inline CleaveVector
cleave_vector_permute (CleaveVector v, CleaveMask index)
{
#if defined(CLEAVE_AVX512)
  return _mm512_permutexvar_ps ((__m512i) index, v);
#elif defined(CLEAVE_AVX2)
  return _mm256_permutevar8x32_ps (v, (__m256i) index);
#elif defined(CLEAVE_NEON)
  uint32x4_t bytes = vmlaq_n_u32 (vdupq_n_u32 (0x03020100), (uint32x4_t) index, 0x04040404);

  return (CleaveVector) vqtbl1q_u8 ((uint8x16_t) v, (uint8x16_t) bytes);
#else
  return (CleaveVector){ v[index[0]], v[index[1]], v[index[2]], v[index[3]] };
#endif
}

/* Returns a vector whose lane i is lane index[i] of v; both lanes must be in the same group of
 * four. This is cheaper than cleave_vector_permute(). */
static inline CleaveVector
cleave_vector_permute_in_fours (CleaveVector v, CleaveMask index)
{
#if defined(CLEAVE_AVX512)
  return _mm512_permutevar_ps (v, (__m512i) index);
#elif defined(CLEAVE_AVX2)
  return _mm256_permutevar_ps (v, (__m256i) index);
#else
  return cleave_vector_permute (v, index);
#endif
}

/* Interleaves lanes of a and b in each group of four lanes. cleave_vector_interleave_low() reads
 * the first two lanes of each group, cleave_vector_interleave_high() reads the last two lanes. */
static inline CleaveVector
cleave_vector_interleave_low (CleaveVector a, CleaveVector b)
{
#if defined(CLEAVE_AVX512)
  return _mm512_unpacklo_ps (a, b);
#elif defined(CLEAVE_AVX2)
  return _mm256_unpacklo_ps (a, b);
#else
  return __builtin_shufflevector (a, b, 0, 4, 1, 5);
#endif
}

static inline CleaveVector
cleave_vector_interleave_high (CleaveVector a, CleaveVector b)
{
#if defined(CLEAVE_AVX512)
  return _mm512_unpackhi_ps (a, b);
#elif defined(CLEAVE_AVX2)
  return _mm256_unpackhi_ps (a, b);
#else
  return __builtin_shufflevector (a, b, 2, 6, 3, 7);
#endif
}

/* Joins two lanes of a and two lanes of b in each group of four lanes. cleave_vector_join_low()
 * reads the first two lanes of each group, cleave_vector_join_high() reads the last two lanes. */
static inline CleaveVector
cleave_vector_join_low (CleaveVector a, CleaveVector b)
{
#if defined(CLEAVE_AVX512)
  return _mm512_shuffle_ps (a, b, 0x44);
#elif defined(CLEAVE_AVX2)
  return _mm256_shuffle_ps (a, b, 0x44);
#else
  return __builtin_shufflevector (a, b, 0, 1, 4, 5);
#endif
}

static inline CleaveVector
cleave_vector_join_high (CleaveVector a, CleaveVector b)
{
#if defined(CLEAVE_AVX512)
  return _mm512_shuffle_ps (a, b, 0xee);
#elif defined(CLEAVE_AVX2)
  return _mm256_shuffle_ps (a, b, 0xee);
#else
  return __builtin_shufflevector (a, b, 2, 3, 6, 7);
#endif
}

#if defined(CLEAVE_AVX512)
static inline void
cleave_vector_store_halves (float *low, float *high, CleaveVector v)
{
  _mm256_storeu_ps (low, _mm512_castps512_ps256 (v));
  _mm256_storeu_ps (high, _mm512_extractf32x8_ps (v, 1));
}

/* Returns the first half of `low` followed by the second half of `high`. */
static inline CleaveVector
cleave_vector_join_halves (CleaveVector low, CleaveVector high)
{
  return _mm512_mask_blend_ps (0xff00, low, high);
}
#endif

/* Transposes a square of CLEAVE_SQUARE rows and columns. Rows of x are `step` elements apart, and
 * rows of the result are `line` elements apart. */
#if defined(CLEAVE_AVX2)
#define CLEAVE_SQUARE 8
static inline void
cleave_vector_transpose (const float *x, gint64 step, gint64 line, float *to)
{
  __m256 row[8];

  for (int i = 0; i < 8; i++)
    {
      const float *from =
          x + i % 4 * step +
          i / 4 * 4; /* row[i] gets four elements of row i % 4 and four elements of row i % 4 + 4:
                        columns 0 to 3 if i < 4, else columns 4 to 7 */

      row[i] = _mm256_insertf128_ps (_mm256_castps128_ps256 (_mm_loadu_ps (from)),
                                     _mm_loadu_ps (from + 4 * step), 1);
    }
  for (int i = 0; i < 8; i += 4, to += 4 * line)
    {
      __m256 t0 = _mm256_unpacklo_ps (row[i], row[i + 1]);
      __m256 t1 = _mm256_unpackhi_ps (row[i], row[i + 1]);
      __m256 t2 = _mm256_unpacklo_ps (row[i + 2], row[i + 3]);
      __m256 t3 = _mm256_unpackhi_ps (row[i + 2], row[i + 3]);

      _mm256_storeu_ps (to, _mm256_shuffle_ps (t0, t2, 0x44));
      _mm256_storeu_ps (to + line, _mm256_shuffle_ps (t0, t2, 0xee));
      _mm256_storeu_ps (to + 2 * line, _mm256_shuffle_ps (t1, t3, 0x44));
      _mm256_storeu_ps (to + 3 * line, _mm256_shuffle_ps (t1, t3, 0xee));
    }
}
#else
#define CLEAVE_SQUARE 4
static inline void
cleave_vector_transpose (const float *x, gint64 step, gint64 line, float *to)
{
  CleaveVector a = cleave_vector_load (x), b = cleave_vector_load (x + step);
  CleaveVector c = cleave_vector_load (x + 2 * step), d = cleave_vector_load (x + 3 * step);
  CleaveVector t0 = cleave_vector_interleave_low (a, b), t1 = cleave_vector_interleave_high (a, b);
  CleaveVector t2 = cleave_vector_interleave_low (c, d), t3 = cleave_vector_interleave_high (c, d);

  cleave_vector_store (to, cleave_vector_join_low (t0, t2));
  cleave_vector_store (to + line, cleave_vector_join_high (t0, t2));
  cleave_vector_store (to + 2 * line, cleave_vector_join_low (t1, t3));
  cleave_vector_store (to + 3 * line, cleave_vector_join_high (t1, t3));
}
#endif
