/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "upcast.h"

/* Blocks of float16 elements as floats in registers. The loops of elementwise-halves.c and
 * cast-lines.c convert a block, compute, and store the block. */

/* Number of float16 elements of a block. The number is a compile-time constant, so that compilers
 * keep the floats in registers. */
#define CLEAVE_HALF_BLOCK 16

static inline void
cleave_half_block_widen (const guint16 *from, float *to)
{
#if defined(CLEAVE_AVX512)
  cleave_float16_widen_16 (from, to);
#else
  cleave_upcast_halves (from, 1, to, CLEAVE_HALF_BLOCK);
#endif
}

static inline void
cleave_half_block_store (const float *from, guint16 *to)
{
#if defined(CLEAVE_AVX512)
  cleave_float16_narrow_16 (from, to);
#else
  cleave_narrow_halves (from, to, 1, CLEAVE_HALF_BLOCK);
#endif
}
