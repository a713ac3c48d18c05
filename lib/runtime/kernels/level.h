/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../kernels.h"

/* Each file of this folder is compiled once for each level of the processor; CLEAVE_LEVEL is the
 * level's name. A symbol that other files use has the level's name as a suffix: CLEAVE_LEVELLED (x)
 * is x_v3 at level v3. The generated file levels.h lists the kernel families of each level for
 * ../kernels.c, so families are declared `extern`. */
#define CLEAVE_PASTE_(a, b) a##_##b
#define CLEAVE_PASTE(a, b) CLEAVE_PASTE_ (a, b)
#define CLEAVE_LEVELLED(name) CLEAVE_PASTE (name, CLEAVE_LEVEL)

/* Makes the compiler copy a function for each set of constant arguments. In two cases, compilers
 * would need minutes for the copies: with sanitizers, and where each lane calls fmaf. In these
 * cases, the macro forbids inlining instead. */
#if (defined __SANITIZE_ADDRESS__ && !defined __clang__) ||                                        \
    (defined CLEAVE_GENERIC && !defined __FP_FAST_FMAF)
#define CLEAVE_SPECIALISED __attribute__ ((noinline, noclone, unused))
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CLEAVE_SPECIALISED __attribute__ ((noinline, unused))
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#endif
#ifdef CLEAVE_SPECIALISED
#define CLEAVE_UNROLL "GCC unroll 1"
#else
#define CLEAVE_SPECIALISED inline __attribute__ ((always_inline))
#ifdef __clang__
#define CLEAVE_UNROLL "clang loop unroll(full)"
#else
#define CLEAVE_UNROLL "GCC unroll 64"
#endif
#endif
/* Unrolls a loop over i completely, so that the elements of arrays indexed by i can be in
 * registers. */
#define CLEAVE_EACH(i, n) _Pragma (CLEAVE_UNROLL) for (int i = 0; i < (n); i++)
