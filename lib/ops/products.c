/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sums of products, for each element type, in the order of products.h. */

#include "products.h"
#include "half.h"

#define plain(value) (value)
#define wrap(x, w, sum) ((sum) + (x) * (w))

/* clang-format off */

/* Lists the element types: X (name, type in memory, type of the sum, union member of the sum, type
 * of a factor, load, store, multiply-add). */
#define TYPES                                                                                      \
  X (float32, float, float, f, float, plain, plain, __builtin_fmaf)                                \
  X (float64, double, double, d, double, plain, plain, __builtin_fma)                              \
  X (float16, guint16, float, f, float, cleave_half_to_float, cleave_half_from_float,              \
     __builtin_fmaf)                                                                               \
  X (bfloat16, guint16, float, f, float, cleave_bfloat16_to_float, cleave_bfloat16_from_float,     \
     __builtin_fmaf)                                                                               \
  X (int32, guint32, guint64, u, gint64, plain, plain, wrap)                                       \
  X (int64, guint64, guint64, u, gint64, plain, plain, wrap)

#define X(word, type, sum_type, member, factor, load, store, step)                                 \
  static void begin_##word (CleaveSum *sum, gconstpointer bias)                                    \
  {                                                                                                \
    sum->member = bias == NULL ? 0 : load (*(const type *) bias);                                  \
  }                                                                                                \
                                                                                                   \
  static void add_##word (CleaveSum *sum, gconstpointer x, gint64 x_stride, gconstpointer w,       \
                          gint64 w_stride, gint64 n)                                               \
  {                                                                                                \
    const type *xs = x, *ws = w;                                                                   \
    sum_type s = sum->member;                                                                      \
                                                                                                   \
    for (gint64 i = 0; i < n; i++)                                                                 \
      s = step ((sum_type) load (xs[i * x_stride]), (sum_type) load (ws[i * w_stride]), s);        \
    sum->member = s;                                                                               \
  }                                                                                                \
                                                                                                   \
  static void scale_##word (CleaveSum *sum, double by)                                             \
  {                                                                                                \
    sum->member *= (sum_type) (factor) by;                                                         \
  }                                                                                                \
                                                                                                   \
  static void add_scaled_##word (CleaveSum *sum, gconstpointer c, double by)                       \
  {                                                                                                \
    sum_type value = load (*(const type *) c);                                                     \
                                                                                                   \
    sum->member += by == 1 ? value : (sum_type) (factor) by * value;                               \
  }                                                                                                \
                                                                                                   \
  static void end_##word (const CleaveSum *sum, gpointer y)                                        \
  {                                                                                                \
    *(type *) y = (type) store (sum->member);                                                      \
  }
TYPES
#undef X

#define X(word, ...)                                                                               \
  static const CleaveSumOps sum_##word = { begin_##word, add_##word, scale_##word, add_scaled_##word, \
                                        end_##word };
TYPES
#undef X
#undef TYPES
#undef plain
#undef wrap

/* clang-format on */

const CleaveSumOps *
cleave_sum_ops (CleaveElement element)
{
  static const CleaveSumOps *const all[CLEAVE_N_ELEMENTS] = {
    [CLEAVE_FLOAT32] = &sum_float32, [CLEAVE_FLOAT64] = &sum_float64,
    [CLEAVE_FLOAT16] = &sum_float16, [CLEAVE_BFLOAT16] = &sum_bfloat16,
    [CLEAVE_INT32] = &sum_int32,     [CLEAVE_UINT32] = &sum_int32,
    [CLEAVE_INT64] = &sum_int64,     [CLEAVE_UINT64] = &sum_int64,
  };

  return all[element];
}
