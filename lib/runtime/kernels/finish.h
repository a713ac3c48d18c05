/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* From sums of products to elements of a narrow type. */

#include "upcast.h"

typedef struct
{
  CleaveElement element; /* of the result: int32, a byte, or a 16-bit float */
  const guint32 *bias;   /* of bytes: of each column */
  const float *scale;    /* of bytes: of each column */
  gint32 zero;           /* of bytes */
} CleaveFinish;

/* clang-format off */
#define FINISH(word, T)                                                                            \
  static inline void cleave_finish_int32_##word (const T *sums, gint32 *y, gint64 step, gint64 n)  \
  {                                                                                                \
    if (step == 1)                                                                                 \
      for (gint64 j = 0; j < n; j++)                                                               \
        y[j] = (gint32) sums[j];                                                                   \
    else                                                                                           \
      for (gint64 j = 0; j < n; j++)                                                               \
        y[j * step] = (gint32) sums[j];                                                            \
  }                                                                                                \
                                                                                                   \
  /* A signed byte and an unsigned one have the same bits in the eight that are kept. */           \
  static inline void cleave_finish_byte_##word (const CleaveFinish *f, const T *sums, guint8 *y,   \
                                                gint64 step, gint64 n)                             \
  {                                                                                                \
    const guint32 *bias = f->bias;                                                                 \
    const float *scale = f->scale;                                                                 \
    const gint32 zero = f->zero, least = f->element == CLEAVE_INT8 ? G_MININT8 : 0;                \
                                                                                                   \
    if (step == 1)                                                                                 \
      for (gint64 j = 0; j < n; j++)                                                               \
        {                                                                                          \
          float sum = (float) (gint32) ((guint32) (gint32) sums[j] + bias[j]);                     \
                                                                                                   \
          y[j] = (guint8) cleave_quantize_byte (sum * scale[j], zero, least, least + G_MAXUINT8);  \
        }                                                                                          \
    else                                                                                           \
      for (gint64 j = 0; j < n; j++)                                                               \
        {                                                                                          \
          float sum = (float) (gint32) ((guint32) (gint32) sums[j] + bias[j]);                     \
                                                                                                   \
          y[j * step] =                                                                            \
              (guint8) cleave_quantize_byte (sum * scale[j], zero, least, least + G_MAXUINT8);     \
        }                                                                                          \
  }
FINISH (floats, float)
FINISH (ints, gint32)
#undef FINISH
/* clang-format on */

/* A number, which may be infinite, as it is. */
static inline void
cleave_finish_plain_byte (gboolean is_signed, const float *from, guint8 *y, gint64 step, gint64 n)
{
  const gint32 least = is_signed ? G_MININT8 : 0;

  for (gint64 j = 0; j < n; j++)
    y[j * step] = (guint8) cleave_quantize_byte (from[j], 0, least, least + G_MAXUINT8);
}

/* `n` columns from the first on, side by side in the sums and `step` apart in the result. */
static inline void
cleave_finish_floats (const CleaveFinish *f, const float *sums, gpointer y, gint64 step, gint64 n)
{
  if (f->element == CLEAVE_INT32)
    cleave_finish_int32_floats (sums, y, step, n);
  else if (f->element == CLEAVE_FLOAT16 || f->element == CLEAVE_BFLOAT16)
    cleave_narrow (f->element, sums, y, step, n);
  else
    cleave_finish_byte_floats (f, sums, y, step, n);
}

static inline void
cleave_finish_ints (const CleaveFinish *f, const gint32 *sums, gpointer y, gint64 step, gint64 n)
{
  if (f->element == CLEAVE_INT32)
    cleave_finish_int32_ints (sums, y, step, n);
  else
    cleave_finish_byte_ints (f, sums, y, step, n);
}

/* Adds sums that are whole numbers; wraps around. */
static inline void
cleave_flush_sums (const float *sums, gint64 n, gboolean first, gint32 *to)
{
  if (first)
    for (gint64 i = 0; i < n; i++)
      to[i] = (gint32) sums[i];
  else
    for (gint64 i = 0; i < n; i++)
      to[i] = (gint32) ((guint32) to[i] + (guint32) (gint32) sums[i]);
}
