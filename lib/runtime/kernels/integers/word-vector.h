/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* CleaveWords: a vector of unsigned 16-bit integers in one register. One CleaveWords has as many
 * lanes as two vectors of 32-bit integers (int-vector.h). The kernels of QDQ-exact results compute
 * error bounds and bytes with these vectors, one column in each lane. Lanes are in the order of the
 * columns. */

#include "int-vector.h"

#define CLEAVE_WORDS (2 * CLEAVE_LANES)

typedef guint16 CleaveWords __attribute__ ((vector_size (CLEAVE_WORDS * sizeof (guint16))));
typedef gint16 CleaveSignedWords __attribute__ ((vector_size (CLEAVE_WORDS * sizeof (gint16))));

/* Functions of this file are always inlined: without AVX-512, a function that is not inlined cannot
 * take or return a vector of 64 bytes. */
#define CLEAVE_WORDS_INLINE static inline __attribute__ ((always_inline))

CLEAVE_WORDS_INLINE CleaveWords
cleave_words_load (const guint16 *from)
{
  CleaveWords v;

  __builtin_memcpy (&v, from, sizeof v);
  return v;
}

/* Returns a vector of the lower 16 bits of each lane of `low`, followed by the lower 16 bits of
 * each lane of `high`. */
CLEAVE_WORDS_INLINE CleaveWords
cleave_words_of_low_halves (CleaveIntVector low, CleaveIntVector high)
{
#if defined(CLEAVE_AVX512)
  return (CleaveWords) _mm512_inserti64x4 (_mm512_castsi256_si512 (_mm512_cvtepi32_epi16 (low)),
                                           _mm512_cvtepi32_epi16 (high), 1);
#elif defined(CLEAVE_AVX2)
  const __m256i mask = _mm256_set1_epi32 (0xffff);

  return (CleaveWords) _mm256_permute4x64_epi64 (
      _mm256_packus_epi32 (_mm256_and_si256 (low, mask), _mm256_and_si256 (high, mask)), 0xd8);
#elif defined(CLEAVE_NEON)
  return vuzp1q_u16 ((uint16x8_t) low, (uint16x8_t) high);
#else
  CleaveWords v;

  for (int i = 0; i < CLEAVE_LANES; i++)
    {
      v[i] = (guint16) ((CleaveMask) low)[i];
      v[i + CLEAVE_LANES] = (guint16) ((CleaveMask) high)[i];
    }
  return v;
#endif
}

/* Returns a vector of the upper 16 bits of each lane of `low`, followed by the upper 16 bits of
 * each lane of `high`. */
CLEAVE_WORDS_INLINE CleaveWords
cleave_words_of_high_halves (CleaveIntVector low, CleaveIntVector high)
{
#if defined(CLEAVE_NEON)
  return vuzp2q_u16 ((uint16x8_t) low, (uint16x8_t) high);
#else
  return cleave_words_of_low_halves ((CleaveIntVector) ((CleaveMask) low >> 16),
                                     (CleaveIntVector) ((CleaveMask) high >> 16));
#endif
}

/* Converts 32-bit integers to 16 bits: first the lanes of `low`, then the lanes of `high`. An
 * integer beyond the range of 16 bits becomes the nearest bound of the range. */
CLEAVE_WORDS_INLINE CleaveWords
cleave_words_saturate (CleaveIntVector low, CleaveIntVector high)
{
#if defined(CLEAVE_AVX2) && !defined(CLEAVE_AVX512)
  return (CleaveWords) _mm256_permute4x64_epi64 (_mm256_packus_epi32 (low, high), 0xd8);
#elif defined(CLEAVE_NEON)
  return vqmovun_high_s32 (vqmovun_s32 (low), high);
#else
  return cleave_words_of_low_halves (cleave_ints_clamp (low, 0, G_MAXUINT16),
                                     cleave_ints_clamp (high, 0, G_MAXUINT16));
#endif
}

/* Adds the lanes of two vectors of unsigned 16-bit integers. A sum beyond 65535 becomes 65535. */
CLEAVE_WORDS_INLINE CleaveWords
cleave_words_add (CleaveWords a, CleaveWords b)
{
#if defined(CLEAVE_AVX512)
  return (CleaveWords) _mm512_adds_epu16 ((__m512i) a, (__m512i) b);
#elif defined(CLEAVE_AVX2)
  return (CleaveWords) _mm256_adds_epu16 ((__m256i) a, (__m256i) b);
#elif defined(CLEAVE_NEON)
  return vqaddq_u16 (a, b);
#else
  CleaveWords sum = a + b;

  return sum | (CleaveWords) (sum < a);
#endif
}

/* Multiplies each lane by the 16-bit number `by`. Returns the upper 16 bits of the products. */
CLEAVE_WORDS_INLINE CleaveWords
cleave_words_multiply_high (CleaveWords v, guint16 by)
{
#if defined(CLEAVE_AVX512)
  return (CleaveWords) _mm512_mulhi_epu16 ((__m512i) v, _mm512_set1_epi16 ((gint16) by));
#elif defined(CLEAVE_AVX2)
  return (CleaveWords) _mm256_mulhi_epu16 ((__m256i) v, _mm256_set1_epi16 ((gint16) by));
#elif defined(CLEAVE_NEON)
  return vuzp2q_u16 ((uint16x8_t) vmull_n_u16 (vget_low_u16 (v), by),
                     (uint16x8_t) vmull_high_n_u16 (v, by));
#else
  for (int i = 0; i < CLEAVE_WORDS; i++)
    v[i] = (guint16) ((guint32) v[i] * by >> 16);
  return v;
#endif
}

/* Returns a mask with a bit for each lane. The bit is set if |v| <= most in the lane, where v is
 * read as a signed number. */
CLEAVE_WORDS_INLINE guint32
cleave_words_within (CleaveWords v, CleaveWords most)
{
#if defined(CLEAVE_AVX512)
  return _mm512_cmple_epu16_mask (_mm512_abs_epi16 ((__m512i) v), (__m512i) most);
#elif defined(CLEAVE_AVX2)
  __m256i size = _mm256_abs_epi16 ((__m256i) v);
  __m256i found = _mm256_cmpeq_epi16 (_mm256_min_epu16 (size, (__m256i) most), size);
  guint32 bits = (guint32) _mm256_movemask_epi8 (_mm256_packs_epi16 (found, found));

  return (bits & 0xff) |
         (bits >> 8 & 0xff00); /* each byte of `bits` occurs twice: keep one of the two */
#elif defined(CLEAVE_NEON)
  const uint16x8_t bits = { 1, 2, 4, 8, 16, 32, 64, 128 };

  return vaddvq_u16 (vcleq_u16 ((uint16x8_t) vabsq_s16 ((int16x8_t) v), most) & bits);
#else
  guint32 bits = 0;

  for (int i = 0; i < CLEAVE_WORDS; i++)
    bits |= ABS ((gint32) (gint16) v[i]) <= most[i] ? 1u << i : 0;
  return bits;
#endif
}

/* Stores the lower 8 bits of each lane. */
CLEAVE_WORDS_INLINE void
cleave_words_store_bytes (guint8 *to, CleaveWords v)
{
#if defined(CLEAVE_AVX512)
  _mm256_storeu_si256 ((void *) to, _mm512_cvtepi16_epi8 ((__m512i) v));
#elif defined(CLEAVE_AVX2)
  __m256i bytes = _mm256_and_si256 ((__m256i) v, _mm256_set1_epi16 (0xff));

  bytes = _mm256_permute4x64_epi64 (_mm256_packus_epi16 (bytes, bytes), 0xd8);
  _mm_storeu_si128 ((void *) to, _mm256_castsi256_si128 (bytes));
#elif defined(CLEAVE_NEON)
  vst1_u8 (to, vmovn_u16 (v));
#else
  for (int i = 0; i < CLEAVE_WORDS; i++)
    to[i] = (guint8) v[i];
#endif
}
