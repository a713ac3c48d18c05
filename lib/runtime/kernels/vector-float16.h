/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Converts between float16 and float32, 1, 8 or 16 elements at once, at levels with instructions
 * for this. */

#include <glib.h>

#include "isa.h"

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
