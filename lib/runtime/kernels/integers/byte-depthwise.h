/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Depthwise sums of bytes, as vectors of 16-bit integers. integer-depthwise.c converts rows of x
 * and the weights to 16-bit integers, and adds their products with these functions. Channels are
 * contiguous, and each channel has its own taps. A kernel adds two taps at a time: one instruction
 * multiplies x0, x1 by w0, w1 and adds x0 * w0 + x1 * w1 to a 32-bit sum. A vector has 16 channels
 * with AVX2 or AVX-512, else 8, so its 32-bit sums fill two registers of the same size. */

#include "int-vector.h"

#if defined(CLEAVE_AVX2)
#define CLEAVE_CHANNELS 16
#else
#define CLEAVE_CHANNELS 8
#endif

#if defined(CLEAVE_AVX2)
typedef __m256i CleaveChannels;
#elif defined(CLEAVE_SSE2)
typedef __m128i CleaveChannels;
#elif defined(CLEAVE_NEON)
typedef int16x8_t CleaveChannels;
#else
typedef struct
{
  gint16 v[CLEAVE_CHANNELS];
} CleaveChannels;
#endif

/* The values (or weights) of two taps, for the channels of a vector. */
typedef struct
{
  CleaveChannels low, high;
} CleaveChannelPairs;

/* Sums of the channels of a vector. cleave_channels_store() restores the order of the channels. */
typedef struct
{
#if defined(CLEAVE_SSE2)
  CleaveChannels low, high;
#elif defined(CLEAVE_NEON)
  int32x4_t low, high;
#else
  gint32 v[CLEAVE_CHANNELS];
#endif
} CleaveChannelSums;

static inline CleaveChannels
cleave_channels_load (const gint16 *from)
{
  CleaveChannels v;

  __builtin_memcpy (&v, from, sizeof v);
  return v;
}

/* Returns the values `a` of one tap and `b` of another tap in the order that cleave_channels_add()
 * reads, for the channels of a vector. On x86-64, the two values of a channel are adjacent;
 * elsewhere `low` is a, and `high` is b. */
static inline CleaveChannelPairs
cleave_channels_pair (CleaveChannels a, CleaveChannels b)
{
#if defined(CLEAVE_AVX2)
  return (CleaveChannelPairs){ _mm256_unpacklo_epi16 (a, b), _mm256_unpackhi_epi16 (a, b) };
#elif defined(CLEAVE_SSE2)
  return (CleaveChannelPairs){ _mm_unpacklo_epi16 (a, b), _mm_unpackhi_epi16 (a, b) };
#else
  return (CleaveChannelPairs){ a, b };
#endif
}

/* Multiplies the values x of two taps by their weights, and adds the products to `sum`. The sum is
 * passed by value: compilers do not keep a variable in registers if its address is taken. */
static inline CleaveChannelSums
cleave_channels_add (CleaveChannelSums sum, CleaveChannelPairs x, CleaveChannelPairs w)
{
#if defined(CLEAVE_AVX2)
  return (CleaveChannelSums){ _mm256_add_epi32 (sum.low, _mm256_madd_epi16 (x.low, w.low)),
                              _mm256_add_epi32 (sum.high, _mm256_madd_epi16 (x.high, w.high)) };
#elif defined(CLEAVE_SSE2)
  return (CleaveChannelSums){ _mm_add_epi32 (sum.low, _mm_madd_epi16 (x.low, w.low)),
                              _mm_add_epi32 (sum.high, _mm_madd_epi16 (x.high, w.high)) };
#elif defined(CLEAVE_NEON)
  sum.low = vmlal_s16 (sum.low, vget_low_s16 (x.low), vget_low_s16 (w.low));
  sum.high = vmlal_high_s16 (sum.high, x.low, w.low);
  sum.low = vmlal_s16 (sum.low, vget_low_s16 (x.high), vget_low_s16 (w.high));
  sum.high = vmlal_high_s16 (sum.high, x.high, w.high);
  return sum;
#else
  for (int i = 0; i < CLEAVE_CHANNELS; i++)
    sum.v[i] = (gint32) ((guint32) sum.v[i] + (guint32) (x.low.v[i] * w.low.v[i]) +
                         (guint32) (x.high.v[i] * w.high.v[i]));
  return sum;
#endif
}

#if defined(CLEAVE_NEON)
/* Multiplies the values x of one tap by their weights, and adds the products to `sum`. Uses
 * assembly, since gcc 12 copies sums from register to register between its builtin functions. */
static inline __attribute__ ((always_inline)) CleaveChannelSums
cleave_channels_add_tap (CleaveChannelSums sum, CleaveChannels x, CleaveChannels w)
{
  __asm__("smlal %0.4s, %1.4h, %2.4h" : "+w"(sum.low) : "w"(x), "w"(w));
  __asm__("smlal2 %0.4s, %1.8h, %2.8h" : "+w"(sum.high) : "w"(x), "w"(w));
  return sum;
}
#endif

/* Stores the sums of a vector's channels in the order of the channels. */
static inline void
cleave_channels_store (gint32 *to, CleaveChannelSums sum)
{
#if defined(CLEAVE_AVX2)
  _mm256_storeu_si256 ((void *) to, _mm256_permute2x128_si256 (sum.low, sum.high, 0x20));
  _mm256_storeu_si256 ((void *) (to + 8), _mm256_permute2x128_si256 (sum.low, sum.high, 0x31));
#else
  __builtin_memcpy (to, &sum, sizeof sum);
#endif
}
