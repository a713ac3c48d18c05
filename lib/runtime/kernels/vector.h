/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* CleaveVector is one register of floats at this level of the processor (4, 8 or 16 lanes), with
 * the operations that GCC's vector types lack. Kernels use it for sums that compilers do not keep
 * in registers on their own. Example: a block of gemm/direct.c keeps up to 36 vectors of sums. Each
 * operation gives the same bits at each level, except in the payload of a NaN.
 *
 * Over 400 lines: the operations on floats of all levels, side by side. */

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

/* Loads the lower half of a vector from `low`, and the upper half from `high`. */
#define CLEAVE_HALF (CLEAVE_VECTOR / 2)
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

/* Rounds each lane down. Requires
 * v
 * < 2^22. */
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

/* Clamps each lane to [low, high]; a NaN becomes 0. A value below `low` may stay unchanged if the
 * conversion to integers makes it the smallest integer. */
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

/* A set of lanes, the result of the comparisons below: a mask register, or a vector. */
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

/* The following functions move lanes. */

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

/* Interleaves lanes of a and b in each group of four lanes. cleave_vector_interleave_low() takes
 * the first two lanes of each vector, cleave_vector_interleave_high() the last two. */
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
 * takes the first two lanes of each vector, cleave_vector_join_high() the last two. */
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
          i / 4 * 4; /* vector that contains half of the columns of row i, and of row i + 4 */

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

/* Converts float16, one element or eight elements at once, at levels that have instructions for
 * this. */
#if defined(CLEAVE_AVX2)
#define CLEAVE_HAS_FLOAT16
static inline float
cleave_float16_widen (guint16 half)
{
  return _cvtsh_ss (half);
}

static inline guint16
cleave_float16_narrow (float value)
{
  return _cvtss_sh (value, _MM_FROUND_TO_NEAREST_INT);
}

static inline void
cleave_float16_widen_8 (const guint16 *from, float *to)
{
  _mm256_storeu_ps (to, _mm256_cvtph_ps (_mm_loadu_si128 ((const void *) from)));
}

static inline void
cleave_float16_narrow_8 (const float *from, guint16 *to)
{
  _mm_storeu_si128 ((void *) to,
                    _mm256_cvtps_ph (_mm256_loadu_ps (from), _MM_FROUND_TO_NEAREST_INT));
}
#elif defined(CLEAVE_NEON)
#define CLEAVE_HAS_FLOAT16
static inline float
cleave_float16_widen (guint16 half)
{
  __fp16 value;

  __builtin_memcpy (&value, &half, sizeof value);
  return (float) value;
}

static inline guint16
cleave_float16_narrow (float value)
{
  const __fp16 half = (__fp16) value;
  guint16 bits;

  __builtin_memcpy (&bits, &half, sizeof bits);
  return bits;
}

static inline void
cleave_float16_widen_8 (const guint16 *from, float *to)
{
  float16x8_t halves = vreinterpretq_f16_u16 (vld1q_u16 (from));

  vst1q_f32 (to, vcvt_f32_f16 (vget_low_f16 (halves)));
  vst1q_f32 (to + 4, vcvt_high_f32_f16 (halves));
}

static inline void
cleave_float16_narrow_8 (const float *from, guint16 *to)
{
  float16x4_t low = vcvt_f16_f32 (vld1q_f32 (from));

  vst1q_u16 (to, vreinterpretq_u16_f16 (vcvt_high_f16_f32 (low, vld1q_f32 (from + 4))));
}
#endif

#if defined(CLEAVE_AVX512)
static inline void
cleave_float16_widen_16 (const guint16 *from, float *to)
{
  _mm512_storeu_ps (to, _mm512_cvtph_ps (_mm256_loadu_si256 ((const void *) from)));
}

static inline void
cleave_float16_narrow_16 (const float *from, guint16 *to)
{
  _mm256_storeu_si256 ((void *) to,
                       _mm512_cvtps_ph (_mm512_loadu_ps (from), _MM_FROUND_TO_NEAREST_INT));
}
#endif

/* A float by which vectors are multiplied. On aarch64 it stays in one lane, since copying it to all
 * lanes uses the execution ports that multiply. */
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
