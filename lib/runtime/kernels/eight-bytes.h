/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Vectors of eight bytes. Poolings of bytes compute two pixels of four channels at once. */

#include <glib.h>

#include "isa.h"

#if defined(CLEAVE_SSE2)
typedef __m128i CleaveEightBytes;
#else
typedef guint8 CleaveEightBytes __attribute__ ((vector_size (8)));
#endif

/* Loads the lower four bytes from one address, and the upper four from another. */
static inline CleaveEightBytes
cleave_bytes_load_fours (const char *low, const char *high)
{
#if defined(CLEAVE_SSE2)
  gint32 first, last;

  __builtin_memcpy (&first, low, 4);
  __builtin_memcpy (&last, high, 4);
  return _mm_unpacklo_epi32 (_mm_cvtsi32_si128 (first), _mm_cvtsi32_si128 (last));
#else
  gint32 both[2];
  CleaveEightBytes v;

  __builtin_memcpy (both, low, 4);
  __builtin_memcpy (both + 1, high, 4);
  __builtin_memcpy (&v, both, sizeof v);
  return v;
#endif
}

static inline void
cleave_bytes_store_fours (char *low, char *high, CleaveEightBytes v)
{
  guint64 bytes;

  __builtin_memcpy (&bytes, &v, sizeof bytes);
  __builtin_memcpy (low, &bytes, 4);
  __builtin_memcpy (high, (const char *) &bytes + 4, 4);
}

static inline CleaveEightBytes
cleave_bytes_all (guint8 value)
{
#if defined(CLEAVE_SSE2)
  return _mm_set1_epi8 ((char) value);
#else
  return (CleaveEightBytes){ value, value, value, value, value, value, value, value };
#endif
}

/* Returns the greater of two unsigned bytes in each lane. */
static inline CleaveEightBytes
cleave_bytes_max (CleaveEightBytes a, CleaveEightBytes b)
{
#if defined(CLEAVE_SSE2)
  return _mm_max_epu8 (a, b);
#elif defined(CLEAVE_NEON)
  return vmax_u8 (a, b);
#else
  CleaveEightBytes less = (CleaveEightBytes) (a < b);

  return (b & less) | (a & ~less);
#endif
}
