/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "upcast.h"

/* Float16 elements processed as floats in registers at once. The number is constant, so that
 * compilers keep them in registers. */
#define CLEAVE_HALF_BLOCK 16

static inline void
cleave_half_block_widen (const guint16 *from, float *to)
{
#if defined(__AVX512F__)
  _mm512_storeu_ps (to, _mm512_cvtph_ps (_mm256_loadu_si256 ((const void *) from)));
#else
  cleave_upcast_halves (from, 1, to, CLEAVE_HALF_BLOCK);
#endif
}

static inline void
cleave_half_block_store (const float *from, guint16 *to)
{
#if defined(__AVX512F__)
  _mm256_storeu_si256 ((void *) to,
                       _mm512_cvtps_ph (_mm512_loadu_ps (from), _MM_FROUND_TO_NEAREST_INT));
#else
  cleave_narrow_halves (from, to, 1, CLEAVE_HALF_BLOCK);
#endif
}
