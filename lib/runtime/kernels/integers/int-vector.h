/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* CleaveIntVector is a vector of 32-bit integers in one register; the kernels of this folder
 * compute with these vectors at every level of the processor. All arithmetic wraps around. Example:
 * with AVX2, a register has 8 lanes, and cleave_ints_add() is one instruction.
 *
 * Over 400 lines: this file has the operations of all levels side by side. */

#include "../upcast.h"
#include "../vector.h"

#define CLEAVE_LANES CLEAVE_VECTOR

#if defined(CLEAVE_AVX512)
typedef __m512i CleaveIntVector;
#elif defined(CLEAVE_AVX2)
typedef __m256i CleaveIntVector;
#elif defined(CLEAVE_SSE2)
typedef __m128i CleaveIntVector;
#else
typedef gint32 CleaveIntVector __attribute__ ((vector_size (CLEAVE_LANES * sizeof (gint32))));
typedef guint32 CleaveUintVector __attribute__ ((vector_size (CLEAVE_LANES * sizeof (gint32))));
#endif

/* Number of elements of a group of x that one instruction multiplies by weights. A group has 4
 * bytes: two 16-bit integers (CLEAVE_DOT2, a dot-2 group) or four unsigned bytes (CLEAVE_DOT4, a
 * dot-4 group). Functions and variables call a group a unit. */
#define CLEAVE_DOT2 2
#define CLEAVE_DOT4 4

static inline CleaveIntVector
cleave_ints_load (const gint32 *from)
{
  CleaveIntVector v;

  __builtin_memcpy (&v, from, sizeof v);
  return v;
}

static inline void
cleave_ints_store (gint32 *to, CleaveIntVector v)
{
  __builtin_memcpy (to, &v, sizeof v);
}

static inline CleaveIntVector
cleave_ints_add (CleaveIntVector a, CleaveIntVector b)
{
#if defined(CLEAVE_AVX512)
  return _mm512_add_epi32 (a, b);
#elif defined(CLEAVE_AVX2)
  return _mm256_add_epi32 (a, b);
#elif defined(CLEAVE_SSE2)
  return _mm_add_epi32 (a, b);
#else
  return (CleaveIntVector) ((CleaveUintVector) a + (CleaveUintVector) b);
#endif
}

static inline CleaveIntVector
cleave_ints_all (gint32 unit)
{
#if defined(CLEAVE_AVX512)
  return _mm512_set1_epi32 (unit);
#elif defined(CLEAVE_AVX2)
  return _mm256_set1_epi32 (unit);
#elif defined(CLEAVE_SSE2)
  return _mm_set1_epi32 (unit);
#else
  CleaveIntVector v = { 0 };

  return v + unit;
#endif
}

/* Loads four bytes of x (one dot-4 group or one dot-2 group) and copies them to all lanes. */
static inline CleaveIntVector
cleave_ints_unit (const char *from)
{
  gint32 unit;

  __builtin_memcpy (&unit, from, sizeof unit);
  return cleave_ints_all (unit);
}

static inline CleaveIntVector
cleave_ints_xor (CleaveIntVector a, CleaveIntVector b)
{
  return a ^ b;
}

/* Loads two bytes of weights for each lane and converts them to 16-bit integers. */
static inline CleaveIntVector
cleave_ints_load_dot2 (const gint8 *from)
{
#if defined(CLEAVE_AVX512)
  return _mm512_cvtepi8_epi16 (_mm256_loadu_si256 ((const void *) from));
#elif defined(CLEAVE_AVX2)
  return _mm256_cvtepi8_epi16 (_mm_loadu_si128 ((const void *) from));
#elif defined(CLEAVE_SSE2)
  __m128i v = _mm_loadl_epi64 ((const void *) from);

  return _mm_srai_epi16 (_mm_unpacklo_epi8 (v, v), 8);
#elif defined(CLEAVE_NEON)
  return (CleaveIntVector) vmovl_s8 (vld1_s8 (from));
#else
  gint16 pairs[CLEAVE_DOT2 * CLEAVE_LANES];
  CleaveIntVector v;

  for (int i = 0; i < CLEAVE_DOT2 * CLEAVE_LANES; i++)
    pairs[i] = from[i];
  __builtin_memcpy (&v, pairs, sizeof v);
  return v;
#endif
}

/* Adds two products of 16-bit integers to each lane of `sum`. */
static inline CleaveIntVector
cleave_ints_add_dot2 (CleaveIntVector sum, CleaveIntVector x, CleaveIntVector w)
{
#if defined(CLEAVE_AVX512)
  return _mm512_add_epi32 (sum, _mm512_madd_epi16 (x, w));
#elif defined(CLEAVE_AVX2)
  return _mm256_add_epi32 (sum, _mm256_madd_epi16 (x, w));
#elif defined(CLEAVE_SSE2)
  return _mm_add_epi32 (sum, _mm_madd_epi16 (x, w));
#elif defined(CLEAVE_NEON)
  int32x4_t low = vmull_s16 (vget_low_s16 ((int16x8_t) x), vget_low_s16 ((int16x8_t) w));

  return vaddq_s32 (sum, vpaddq_s32 (low, vmull_high_s16 ((int16x8_t) x, (int16x8_t) w)));
#else
  gint16 a[CLEAVE_DOT2 * CLEAVE_LANES], b[CLEAVE_DOT2 * CLEAVE_LANES];

  __builtin_memcpy (a, &x, sizeof a);
  __builtin_memcpy (b, &w, sizeof b);
  for (int i = 0; i < CLEAVE_LANES; i++)
    sum[i] =
        (gint32) ((guint32) sum[i] + (guint32) (a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1]));
  return sum;
#endif
}

#if defined(CLEAVE_AVX512) && defined(__AVX512VNNI__)
/* Adds four products of an unsigned and a signed byte to each lane of `sum`, in vectors of any
 * width. Uses assembly, because gcc 12 copies each sum of the intrinsic twice and spills some:
 * convolutions then take 1.5 times as long. */
#define CLEAVE_ADD_DOT4(sum, x, w) __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w))
static inline CleaveIntVector
cleave_ints_add_dot4 (CleaveIntVector sum, CleaveIntVector x, CleaveIntVector w)
{
  CLEAVE_ADD_DOT4 (sum, x, w);
  return sum;
}
#endif

/* Number that kernels subtract from each unsigned byte of x before a dot product. At the level dot,
 * the instruction multiplies signed bytes, so the number is 128. At other levels it is 0. */
#if defined(CLEAVE_NEON) && defined(CLEAVE_DOT) && !defined(CLEAVE_I8MM)
#define CLEAVE_DOT4_OFFSET 128
#else
#define CLEAVE_DOT4_OFFSET 0
#endif

#if defined(CLEAVE_DOT)
/* Adds four products of bytes to each lane of `sum`. At the level dot, both factors are signed
 * bytes. The prefix {vex} selects the encoding of AVX-VNNI instead of the encoding of AVX-512. */
static inline CleaveIntVector
cleave_ints_add_dot4 (CleaveIntVector sum, CleaveIntVector x, CleaveIntVector w)
{
#if defined(CLEAVE_AVX2)
  __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(x), "x"(w));
  return sum;
#elif defined(CLEAVE_I8MM)
  return vusdotq_s32 (sum, (uint8x16_t) x, (int8x16_t) w);
#else
  return vdotq_s32 (sum, (int8x16_t) x, (int8x16_t) w);
#endif
}
#define CLEAVE_ADD_DOT4(sum, x, w) ((sum) = cleave_ints_add_dot4 (sum, x, w))
#endif

#if defined(CLEAVE_AVX2)
/* Adds four products of bytes to each lane of `sum`. The sum of the first two products and the sum
 * of the last two must fit into 16 bits. */
static inline CleaveIntVector
cleave_ints_add_small_dot4 (CleaveIntVector sum, CleaveIntVector x, CleaveIntVector w)
{
#if defined(CLEAVE_AVX512)
  return cleave_ints_add_dot2 (sum, _mm512_maddubs_epi16 (x, w), _mm512_set1_epi16 (1));
#else
  return cleave_ints_add_dot2 (sum, _mm256_maddubs_epi16 (x, w), _mm256_set1_epi16 (1));
#endif
}
#endif

/* Loads CLEAVE_LANES bytes and converts them to integers. Uses intrinsics, because compilers
 * convert one byte at a time. */
static inline __attribute__ ((always_inline)) CleaveIntVector
cleave_ints_load_bytes (const guint8 *from, gboolean is_signed)
{
#if defined(CLEAVE_AVX512)
  __m128i bytes = _mm_loadu_si128 ((const void *) from);

  return is_signed ? _mm512_cvtepi8_epi32 (bytes) : _mm512_cvtepu8_epi32 (bytes);
#elif defined(CLEAVE_AVX2)
  __m128i bytes = _mm_loadl_epi64 ((const void *) from);

  return is_signed ? _mm256_cvtepi8_epi32 (bytes) : _mm256_cvtepu8_epi32 (bytes);
#else
  CleaveMask v =
      is_signed ? (CleaveMask){ (gint8) from[0], (gint8) from[1], (gint8) from[2], (gint8) from[3] }
                : (CleaveMask){ from[0], from[1], from[2], from[3] };

  return (CleaveIntVector) v;
#endif
}

/* Loads CLEAVE_LANES bytes as unsigned integers, after XOR with `flip`. */
static inline __attribute__ ((always_inline)) CleaveIntVector
cleave_ints_load_flipped_bytes (const guint8 *from, guint8 flip)
{
#if defined(CLEAVE_AVX512)
  return _mm512_cvtepu8_epi32 (_mm_loadu_si128 ((const void *) from) ^ _mm_set1_epi8 ((char) flip));
#elif defined(CLEAVE_AVX2)
  return _mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const void *) from) ^ _mm_set1_epi8 ((char) flip));
#else
  return cleave_ints_load_bytes (from, FALSE) ^ cleave_ints_all (flip);
#endif
}

static inline CleaveIntVector
cleave_ints_subtract (CleaveIntVector a, CleaveIntVector b)
{
#if defined(CLEAVE_AVX512)
  return _mm512_sub_epi32 (a, b);
#elif defined(CLEAVE_AVX2)
  return _mm256_sub_epi32 (a, b);
#else
  return (CleaveIntVector) ((CleaveMask) a - (CleaveMask) b);
#endif
}

/* Adds the magnitude of each lane of v to the same lane of a sum. */
static inline CleaveIntVector
cleave_ints_add_magnitude (CleaveIntVector sum, CleaveIntVector v)
{
#if defined(CLEAVE_AVX512)
  return _mm512_add_epi32 (sum, _mm512_abs_epi32 (v));
#elif defined(CLEAVE_AVX2)
  return _mm256_add_epi32 (sum, _mm256_abs_epi32 (v));
#elif defined(CLEAVE_NEON)
  return vabaq_s32 (sum, v, vdupq_n_s32 (0));
#else
  CleaveMask sign = (CleaveMask) v >> 31;

  return cleave_ints_add (sum, (CleaveIntVector) (((CleaveMask) v ^ sign) - sign));
#endif
}

static inline CleaveVector
cleave_ints_to_floats (CleaveIntVector v)
{
#if defined(CLEAVE_AVX512)
  return (CleaveVector) _mm512_cvtepi32_ps (v);
#elif defined(CLEAVE_AVX2)
  return (CleaveVector) _mm256_cvtepi32_ps (v);
#else
  return __builtin_convertvector((CleaveMask) v, CleaveVector);
#endif
}

/* Rounds each lane to the nearest integer, ties to even. The magnitude of a lane may be up to 2^22.
 * A greater value becomes some integer outside the range of bytes; on x86-64, a value of 2^31 or
 * more becomes the smallest 32-bit integer. */
static inline CleaveIntVector
cleave_ints_of_floats (CleaveVector v)
{
#if defined(CLEAVE_AVX512)
  return _mm512_cvtps_epi32 ((__m512) v);
#elif defined(CLEAVE_AVX2)
  return _mm256_cvtps_epi32 ((__m256) v);
#elif defined(CLEAVE_SSE2)
  return _mm_cvtps_epi32 ((__m128) v);
#elif defined(CLEAVE_NEON)
  return vcvtnq_s32_f32 (v);
#else
  const CleaveVector rounder = cleave_vector_all (CLEAVE_ROUNDER);

  v = cleave_vector_at_least (v, cleave_vector_all (-0x1p22f));
  v = cleave_vector_at_most (v, cleave_vector_all (0x1p22f));
  return (CleaveIntVector) ((CleaveMask) (v + rounder) - (CleaveMask) rounder);
#endif
}

/* Rounds each lane to the nearest integer, ties to even. The values must fit into 31 bits. */
static inline CleaveIntVector
cleave_ints_of_wide_floats (CleaveVector v)
{
#if defined(CLEAVE_SSE2) || defined(CLEAVE_NEON)
  return cleave_ints_of_floats (v);
#else
  for (int i = 0; i < CLEAVE_LANES; i++)
    v[i] = __builtin_rintf (v[i]);
  return (CleaveIntVector) __builtin_convertvector(v, CleaveMask);
#endif
}

static inline CleaveIntVector
cleave_ints_clamp (CleaveIntVector v, gint32 least, gint32 most)
{
#if defined(CLEAVE_AVX512)
  return _mm512_min_epi32 (_mm512_max_epi32 (v, _mm512_set1_epi32 (least)),
                           _mm512_set1_epi32 (most));
#elif defined(CLEAVE_AVX2)
  return _mm256_min_epi32 (_mm256_max_epi32 (v, _mm256_set1_epi32 (least)),
                           _mm256_set1_epi32 (most));
#elif defined(CLEAVE_NEON)
  return vminq_s32 (vmaxq_s32 (v, vdupq_n_s32 (least)), vdupq_n_s32 (most));
#else
  const CleaveMask low = (CleaveMask) cleave_ints_all (least);
  const CleaveMask high = (CleaveMask) cleave_ints_all (most);
  CleaveMask x = (CleaveMask) v, is_low = x<low, is_high = x> high;

  return (CleaveIntVector) ((low & is_low) | (high & is_high) | (x & ~(is_low | is_high)));
#endif
}

/* Rounds each lane to the nearest integer, ties to even, and clamps it to [least, most]. The bounds
 * are whole numbers that fit into 31 bits. No lane of v is a NaN. */
static inline CleaveIntVector
cleave_ints_of_floats_within (CleaveVector v, float least, float most)
{
#if defined(CLEAVE_NEON)
  return cleave_ints_clamp (vcvtnq_s32_f32 (v), (gint32) least, (gint32) most);
#else
  v = cleave_vector_at_least (v, cleave_vector_all (least));
  return cleave_ints_of_wide_floats (cleave_vector_at_most (v, cleave_vector_all (most)));
#endif
}

/* Multiplies sums by scales and rounds to the nearest integer, ties to even. A result far outside
 * the range of a byte stays outside. A NaN gives 0. `odd`: a scale may be infinite or a NaN. */
static inline __attribute__ ((always_inline)) CleaveIntVector
cleave_ints_round (CleaveIntVector sum, const float *scale, gboolean odd)
{
#if defined(CLEAVE_AVX512)
  __m512 f = _mm512_mul_ps (_mm512_cvtepi32_ps (sum), _mm512_loadu_ps (scale));

  if (odd)
    f = _mm512_maskz_mov_ps (_mm512_cmp_ps_mask (f, f, _CMP_ORD_Q), f);
  return _mm512_cvtps_epi32 (_mm512_min_ps (f, _mm512_set1_ps (CLEAVE_BYTE_BOUND)));
#elif defined(CLEAVE_AVX2)
  __m256 f = _mm256_mul_ps (_mm256_cvtepi32_ps (sum), _mm256_loadu_ps (scale));

  if (odd)
    f = _mm256_and_ps (f, _mm256_cmp_ps (f, f, _CMP_ORD_Q));
  return _mm256_cvtps_epi32 (_mm256_min_ps (f, _mm256_set1_ps (CLEAVE_BYTE_BOUND)));
#elif defined(CLEAVE_SSE2)
  __m128 f = _mm_mul_ps (_mm_cvtepi32_ps (sum), _mm_loadu_ps (scale));

  if (odd)
    f = _mm_and_ps (f, _mm_cmpord_ps (f, f));
  return _mm_cvtps_epi32 (_mm_min_ps (f, _mm_set1_ps (CLEAVE_BYTE_BOUND)));
#elif defined(CLEAVE_NEON)
  float32x4_t f = vmulq_f32 (vcvtq_f32_s32 (sum), vld1q_f32 (scale));

  return vcvtnq_s32_f32 (f); /* the instruction saturates, and converts a NaN to 0 */
#else
  for (int i = 0; i < CLEAVE_LANES; i++)
    sum[i] =
        cleave_quantize_byte ((float) sum[i] * scale[i], 0, -CLEAVE_BYTE_BOUND, CLEAVE_BYTE_BOUND);
  return sum;
#endif
}

/* Adds a zero point to two vectors of integers, saturates the sums and stores them as bytes. */
static inline __attribute__ ((always_inline)) void
cleave_ints_narrow (
    CleaveIntVector low, CleaveIntVector high, gint32 zero, gboolean is_signed, guint8 *to)
{
#if defined(CLEAVE_AVX512)
  /* each 128-bit lane contains four integers of `low`, then four integers of `high` */
  __m512i both =
      _mm512_adds_epi16 (_mm512_packs_epi32 (low, high), _mm512_set1_epi16 ((gint16) zero));
  const __m512i order = _mm512_setr_epi64 (0, 2, 4, 6, 1, 3, 5, 7);

  both = _mm512_permutexvar_epi64 (order, both);
  if (is_signed)
    _mm256_storeu_si256 ((void *) to, _mm512_cvtsepi16_epi8 (both));
  else
    _mm256_storeu_si256 ((void *) to,
                         _mm512_cvtusepi16_epi8 (_mm512_max_epi16 (both, _mm512_setzero_si512 ())));
#elif defined(CLEAVE_AVX2)
  __m256i both =
      _mm256_adds_epi16 (_mm256_packs_epi32 (low, high), _mm256_set1_epi16 ((gint16) zero));
  __m128i first = _mm256_castsi256_si128 (both), last = _mm256_extracti128_si256 (both, 1);

  _mm_storeu_si128 ((void *) to, _mm_shuffle_epi32 (is_signed ? _mm_packs_epi16 (first, last)
                                                              : _mm_packus_epi16 (first, last),
                                                    0xd8));
#elif defined(CLEAVE_SSE2)
  __m128i both = _mm_adds_epi16 (_mm_packs_epi32 (low, high), _mm_set1_epi16 ((gint16) zero));

  _mm_storel_epi64 ((void *) to,
                    is_signed ? _mm_packs_epi16 (both, both) : _mm_packus_epi16 (both, both));
#elif defined(CLEAVE_NEON)
  int16x8_t both =
      vqaddq_s16 (vqmovn_high_s32 (vqmovn_s32 (low), high), vdupq_n_s16 ((gint16) zero));

  if (is_signed)
    vst1_s8 ((gpointer) to, vqmovn_s16 (both));
  else
    vst1_u8 (to, vqmovun_s16 (both));
#else
  const gint32 least = is_signed ? G_MININT8 : 0;

  low = cleave_ints_clamp (low, G_MININT16, G_MAXINT16);
  high = cleave_ints_clamp (high, G_MININT16, G_MAXINT16);
  for (int i = 0; i < 2 * CLEAVE_LANES; i++)
    to[i] = (guint8) CLAMP ((i < CLEAVE_LANES ? low[i] : high[i - CLEAVE_LANES]) + zero, least,
                            least + G_MAXUINT8);
#endif
}

/* Stores the first n bytes of `bytes`, an array with the bytes of two vectors. */
static inline __attribute__ ((always_inline)) void
cleave_bytes_store (char *to, const guint8 *bytes, gint64 n)
{
#if defined(CLEAVE_AVX512)
  _mm256_mask_storeu_epi8 (to, (__mmask32) ((1ull << n) - 1),
                           _mm256_loadu_si256 ((const void *) bytes));
#else
  if (n == CLEAVE_LANES)
    __builtin_memcpy (to, bytes, CLEAVE_LANES);
  else
    for (gint64 i = 0; i < n; i++)
      to[i] = (char) bytes[i];
#endif
}

#if defined(CLEAVE_NEON) && defined(CLEAVE_DOT)
#if defined(CLEAVE_I8MM)
#define CLEAVE_DOT_LANE(sum, w, x, lane)                                                           \
  vsudotq_laneq_s32 (sum, (int8x16_t) (w), (uint8x16_t) (x), lane)
#else
#define CLEAVE_DOT_LANE(sum, w, x, lane)                                                           \
  vdotq_laneq_s32 (sum, (int8x16_t) (w), (int8x16_t) (x), lane)
#endif

/* Adds four products of bytes to each lane of `sum`: the bytes of the same lane of w times the
 * bytes of lane `lane` of x. */
static inline __attribute__ ((always_inline)) CleaveIntVector
cleave_ints_add_dot4_of_lane (CleaveIntVector sum, CleaveIntVector x, int lane, CleaveIntVector w)
{
  switch (lane) /* the instruction contains the lane as a constant */
    {
    case 0:
      return CLEAVE_DOT_LANE (sum, w, x, 0);
    case 1:
      return CLEAVE_DOT_LANE (sum, w, x, 1);
    case 2:
      return CLEAVE_DOT_LANE (sum, w, x, 2);
    default:
      return CLEAVE_DOT_LANE (sum, w, x, 3);
    }
}
#endif
