/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../kernels.h"

/* Each file of this folder is compiled once for each level of x86-64 (v1, v3, v4), which
 * CLEAVE_LEVEL names; what it shares with others bears the level in its name. */
#define CLEAVE_PASTE_(a, b) a##_##b
#define CLEAVE_PASTE(a, b) CLEAVE_PASTE_ (a, b)
#define CLEAVE_LEVELLED(name) CLEAVE_PASTE (name, CLEAVE_LEVEL)

/* One copy for each set of constants that it is called with.  Not under the sanitizers: what they
 * add to each access makes compilers take minutes over those copies. */
#if defined __SANITIZE_ADDRESS__ && !defined __clang__
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
/* A loop that becomes its steps, so that what has its index may be in registers. */
#define CLEAVE_EACH(i, n) _Pragma (CLEAVE_UNROLL) for (int i = 0; i < (n); i++)
