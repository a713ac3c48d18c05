/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces all NaNs by the same NaN, and compares arrays so that any two NaNs are equal, for each
 * float type. */

#include "nan.h"

#include <string.h>

/* clang-format off */
#define SETTLE(word, T, magnitude, infinity, nan)                                                  \
  static void settle_##word (T *bits, gint64 n)                                                    \
  {                                                                                                \
    for (gint64 i = 0; i < n; i++)                                                                 \
      if ((bits[i] & (magnitude)) > (infinity))                                                    \
        bits[i] = (nan);                                                                           \
  }                                                                                                \
  static gboolean equal_##word (const T *a, const T *b, gint64 n)                                  \
  {                                                                                                \
    for (gint64 i = 0; i < n; i++)                                                                 \
      if (a[i] != b[i] &&                                                                          \
          ((a[i] & (magnitude)) <= (infinity) || (b[i] & (magnitude)) <= (infinity)))              \
        return FALSE;                                                                              \
    return TRUE;                                                                                   \
  }
SETTLE (float32, guint32, 0x7fffffff, 0x7f800000, 0x7fc00000)
SETTLE (float64, guint64, G_MAXINT64, G_GUINT64_CONSTANT (0x7ff0000000000000), G_GUINT64_CONSTANT (0x7ff8000000000000))
SETTLE (float16, guint16, 0x7fff, 0x7c00, 0x7e00)
SETTLE (bfloat16, guint16, 0x7fff, 0x7f80, 0x7fc0)
/* clang-format on */

void
cleave_nans_settle (CleaveElement element, gpointer data, gint64 n)
{
  if (element == CLEAVE_FLOAT32)
    settle_float32 (data, n);
  else if (element == CLEAVE_FLOAT64)
    settle_float64 (data, n);
  else if (element == CLEAVE_FLOAT16)
    settle_float16 (data, n);
  else if (element == CLEAVE_BFLOAT16)
    settle_bfloat16 (data, n);
}

gboolean
cleave_nans_equal (CleaveElement element, gconstpointer a, gconstpointer b, gint64 n)
{
  if (n == 0 || a == b || memcmp (a, b, (gsize) n * cleave_element_size (element)) == 0)
    return TRUE;
  if (element == CLEAVE_FLOAT32)
    return equal_float32 (a, b, n);
  if (element == CLEAVE_FLOAT64)
    return equal_float64 (a, b, n);
  if (element == CLEAVE_FLOAT16)
    return equal_float16 (a, b, n);
  return element == CLEAVE_BFLOAT16 && equal_bfloat16 (a, b, n);
}
