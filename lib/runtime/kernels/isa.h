/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Names the instruction set that a level of the processor is compiled for. Each file of kernels is
 * compiled once for each level (level.h), and vector.h selects its instructions by these macros.
 * Exactly one branch applies:
 *
 *   CLEAVE_AVX512    v4: AVX-512 F, BW, DQ and VL; also defines CLEAVE_AVX2 and CLEAVE_SSE2
 *   CLEAVE_AVX2      v3: AVX2, FMA, F16C; also defines CLEAVE_SSE2; at avxvnni, also CLEAVE_DOT
 *   CLEAVE_SSE2      v1: the instructions of every x86-64
 *   CLEAVE_NEON      neon: the instructions of every aarch64; with CLEAVE_DOT at the levels dot
 *                    and i8mm: dot products of four bytes
 *   none of these    generic: C and GCC's vector types, on any machine
 *
 * The level `generic` defines CLEAVE_GENERIC, which hides the instructions of the machine. */

#if defined(CLEAVE_GENERIC)
#elif defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) &&                    \
    defined(__AVX512VL__)
#define CLEAVE_AVX512
#define CLEAVE_AVX2
#define CLEAVE_SSE2
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define CLEAVE_AVX2
#define CLEAVE_SSE2
#elif defined(__SSE2__)
#define CLEAVE_SSE2
#elif defined(__aarch64__) && defined(__ARM_NEON)
#define CLEAVE_NEON
#if defined(__ARM_FEATURE_DOTPROD)
#define CLEAVE_DOT
#endif
#endif

#if defined(CLEAVE_SSE2)
#include <immintrin.h>
#elif defined(CLEAVE_NEON)
#include <arm_neon.h>
#endif

/* The level i8mm has dot products of unsigned by signed bytes. */
#if defined(CLEAVE_DOT) && defined(__ARM_FEATURE_MATMUL_INT8)
#define CLEAVE_I8MM
#endif

/* Number of vector registers, which limits the sums that a block keeps in registers. */
#if defined(CLEAVE_AVX512) || defined(CLEAVE_NEON)
#define CLEAVE_REGISTERS 32
#else
#define CLEAVE_REGISTERS 16
#endif

/* CLEAVE_HAS_FMA: one instruction does a fused multiply-add of vectors. At v1, each lane calls
 * fmaf, so an unused lane costs as much as a used lane. The generic level also defines
 * CLEAVE_HAS_FMA, so that tests on any processor run the code that depends on this macro. */
#if defined(CLEAVE_AVX2) || !defined(CLEAVE_SSE2)
#define CLEAVE_HAS_FMA
#endif
