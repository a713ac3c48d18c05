/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Computes lines of element-wise ops of TensorFlow Lite on integers: TfliteAdd, TfliteSub,
 * TfliteMul, TfliteSquaredDifference, TflitePRelu, TfliteRescale and TfliteQuantize. convert.c runs
 * the lines. The results have the bits of fixed-point.h. The loops have no branches, so that
 * compilers use vectors. A line is computed in blocks of CLEAVE_TFLITE_BLOCK 32-bit integers. */

#include <cleave/cleave-tflite.h>
#include <math.h>

#include "level.h"

#define CLEAVE_TFLITE_BLOCK 256

typedef struct
{
  gconstpointer x[2]; /* addresses of the first elements of the operands; x[1] is unused if the op
                         has one operand */
  gpointer y;
  gint64 x_step[2], y_step, n;
} CleaveTfliteLine;

typedef enum {
  CLEAVE_TFLITE_LINE_NONE,
  CLEAVE_TFLITE_LINE_ADD,
  CLEAVE_TFLITE_LINE_SUB,
  CLEAVE_TFLITE_LINE_MUL,
  CLEAVE_TFLITE_LINE_SQUARED_DIFFERENCE,
  CLEAVE_TFLITE_LINE_PRELU,
  CLEAVE_TFLITE_LINE_RESCALE,
  CLEAVE_TFLITE_LINE_QUANTIZE
} CleaveTfliteLineKind;

/* State of a kernel instance: the kind of op, and the types of its operands and result. */
typedef struct
{
  CleaveTfliteLineKind kind;
  CleaveElement x[2], y;
  gconstpointer attrs;
} CleaveTfliteLines;

/* clang-format off */
/* Reads n integers and subtracts a zero point. */
#define LOAD(From)                                                                                 \
  {                                                                                                \
    const From *x = from;                                                                          \
                                                                                                   \
    if (step == 1)                                                                                 \
      for (gint64 i = 0; i < n; i++)                                                               \
        to[i] = (gint32) ((guint32) (gint32) x[i] - zero);                                         \
    else                                                                                           \
      for (gint64 i = 0; i < n; i++)                                                               \
        to[i] = (gint32) ((guint32) (gint32) x[i * step] - zero);                                  \
  }
#define STORE(To)                                                                                  \
  {                                                                                                \
    To *y = to;                                                                                    \
                                                                                                   \
    if (step == 1)                                                                                 \
      for (gint64 i = 0; i < n; i++)                                                               \
        y[i] = (To) from[i];                                                                       \
    else                                                                                           \
      for (gint64 i = 0; i < n; i++)                                                               \
        y[i * step] = (To) from[i];                                                                \
  }
/* clang-format on */

static inline void
cleave_tflite_line_load (CleaveElement element,
                         gconstpointer from,
                         gint64 step,
                         gint64 n,
                         guint32 zero,
                         gint32 *restrict to)
{
  if (element == CLEAVE_INT8)
    LOAD (gint8)
  else if (element == CLEAVE_INT16)
    LOAD (gint16)
  else
    LOAD (gint32)
}

static inline void
cleave_tflite_line_store (
    CleaveElement element, const gint32 *restrict from, gint64 n, gpointer to, gint64 step)
{
  if (element == CLEAVE_INT8)
    STORE (gint8)
  else if (element == CLEAVE_INT16)
    STORE (gint16)
  else
    STORE (gint32)
}
#undef LOAD
#undef STORE

/* Shifts n integers left by `up` bits, and multiplies them by a fixed-point factor. The results
 * have the bits of cleave_fixed_multiply(), but the loop has no branches. `product` is unsigned,
 * since the low 32 bits of `product >> 31` are the same for a logical and an arithmetic shift. The
 * shift of `high` by `right` rounds halves away from zero. */
static inline void
cleave_tflite_line_multiply (
    const gint32 *from, gint64 n, gint up, gint64 multiplier, gint64 shift, gint32 *to)
{
  const gint left = (gint) CLAMP (shift, 0, 31), right = (gint) -CLAMP (shift, -31, 0);
  const gint32 lowest = multiplier == G_MININT32, mask = (gint32) ((1u << right) - 1);

  CLEAVE_INDEPENDENT
  for (gint64 i = 0; i < n; i++)
    {
      gint32 x = (gint32) ((guint32) from[i] << up << left);
      guint64 product = (guint64) ((gint64) x * (gint32) multiplier + (1 << 30));
      gint32 saturates =
          lowest & (x == G_MININT32); /* 1 if the product is 2^31, which saturates to 2^31 - 1 */
      gint32 high = (gint32) ((guint32) (product >> 31) - (guint32) saturates);
      gint32 rest = high & mask, half = (mask >> 1) + (high < 0);

      to[i] = (high >> right) + (rest > half);
    }
}

/* Adds a zero point to n integers and clamps them to [min, max]. */
static inline void
cleave_tflite_line_clamp (gint32 *v, gint64 n, gint64 zero, gint64 min, gint64 max)
{
  const gint32 least = (gint32) (min - zero), most = (gint32) (max - zero), add = (gint32) zero;

  for (gint64 i = 0; i < n; i++)
    v[i] = MIN (MAX (v[i], least), most) + add;
}

/* Sets v[i] to other[i] for each i for which x[i] is negative. */
static inline void
cleave_tflite_line_select (const gint32 *x, const gint32 *other, gint64 n, gint32 *v)
{
  for (gint64 i = 0; i < n; i++)
    v[i] = x[i] >= 0 ? v[i] : other[i];
}

static inline void
cleave_tflite_line_product (const gint32 *a, const gint32 *b, gint64 n, gint32 *to)
{
  for (gint64 i = 0; i < n; i++)
    to[i] = (gint32) ((guint32) a[i] * (guint32) b[i]);
}

/* Computes the op `kind` for n elements. `a` and `b` have the elements of the operands, minus the
 * zero points. Stores the results in `a`. */
static inline void
cleave_tflite_line_combine (CleaveTfliteLineKind kind,
                            const CleaveTfliteBinaryAttrs *p,
                            gint32 *restrict a,
                            gint32 *restrict b,
                            gint64 n)
{
  gint32 rest[CLEAVE_TFLITE_BLOCK];
  gint up = (gint) p->left_shift;

  if (kind == CLEAVE_TFLITE_LINE_PRELU)
    {
      cleave_tflite_line_product (a, b, n, rest);
      cleave_tflite_line_multiply (rest, n, 0, p->multiplier, p->shift, rest);
      cleave_tflite_line_multiply (a, n, 0, p->a_multiplier, p->a_shift, b);
      cleave_tflite_line_select (a, rest, n, b);
      memcpy (a, b, (gsize) n * sizeof (*a));
      return;
    }
  if (kind != CLEAVE_TFLITE_LINE_MUL)
    {
      const guint32 sign = kind == CLEAVE_TFLITE_LINE_ADD ? 1 : (guint32) -1;

      cleave_tflite_line_multiply (a, n, up, p->a_multiplier, p->a_shift, a);
      cleave_tflite_line_multiply (b, n, up, p->b_multiplier, p->b_shift, b);
      for (gint64 i = 0; i < n; i++)
        a[i] = (gint32) ((guint32) a[i] + sign * (guint32) b[i]);
    }
  if (kind == CLEAVE_TFLITE_LINE_MUL)
    cleave_tflite_line_product (a, b, n, a);
  else if (kind == CLEAVE_TFLITE_LINE_SQUARED_DIFFERENCE)
    cleave_tflite_line_product (a, a, n, a);
  cleave_tflite_line_multiply (a, n, 0, p->multiplier, p->shift, a);
}

static inline void
cleave_tflite_line_rescale (const CleaveTfliteRescaleAttrs *p, gint32 *restrict v, gint64 n)
{
  gint32 x[CLEAVE_TFLITE_BLOCK], negative[CLEAVE_TFLITE_BLOCK];
  gint64 highest = ((gint64) 1 << (8 * cleave_element_size (p->to) - 1)) - 1;

  memcpy (x, v, (gsize) n * sizeof (*v));
  cleave_tflite_line_multiply (x, n, 0, p->multiplier, p->shift, v);
  if (p->multiplier != p->negative_multiplier || p->shift != p->negative_shift)
    {
      cleave_tflite_line_multiply (x, n, 0, p->negative_multiplier, p->negative_shift, negative);
      cleave_tflite_line_select (x, negative, n, v);
    }
  if (p->to != CLEAVE_INT32)
    cleave_tflite_line_clamp (v, n, p->y_zero, -highest - 1, highest);
  else
    for (gint64 i = 0; i < n; i++)
      v[i] = (gint32) CLAMP (v[i] + p->y_zero, -highest - 1, highest);
}

/* Divides n floats by the scale, and rounds the quotients to the nearest integers, ties away from
 * zero. To round like roundf(), adds the greatest float below 1/2 to the magnitude of a quotient
 * and cuts off the fraction. */
static inline void
cleave_tflite_line_quantize (
    const CleaveTfliteQuantizeAttrs *p, const float *x, gint64 step, gint64 n, gint32 *restrict v)
{
  const float scale = (float) p->scale, beyond = 1 << 20, half = 0x1.fffffep-2f;
  gint64 highest = ((gint64) 1 << (8 * cleave_element_size (p->to) - 1)) - 1;

  CLEAVE_INDEPENDENT
  for (gint64 i = 0; i < n; i++)
    {
      float value = x[i * step] / scale;

      value = isnan (value) ? 0 : value;
      value = value < -beyond ? -beyond : value;
      value = value > beyond ? beyond : value;
      v[i] = (gint32) (value + copysignf (half, value));
    }
  cleave_tflite_line_clamp (v, n, p->zero, -highest - 1, highest);
}

static inline void
cleave_tflite_line_binary (
    const CleaveTfliteLines *lines, const CleaveTfliteLine *line, gint64 at, gint64 n, gint32 *v)
{
  const CleaveTfliteBinaryAttrs *p = lines->attrs;
  gint32 b[CLEAVE_TFLITE_BLOCK];
  gconstpointer from[2];

  for (guint i = 0; i < 2; i++)
    from[i] = (const char *) line->x[i] +
              at * line->x_step[i] * (gint64) cleave_element_size (lines->x[i]);
  cleave_tflite_line_load (lines->x[0], from[0], line->x_step[0], n, (guint32) p->a_zero, v);
  cleave_tflite_line_load (lines->x[1], from[1], line->x_step[1], n, (guint32) p->b_zero, b);
  cleave_tflite_line_combine (lines->kind, p, v, b, n);
  cleave_tflite_line_clamp (v, n, p->y_zero, p->min, p->max);
}

static inline void
cleave_tflite_line_run (const CleaveTfliteLines *lines, const CleaveTfliteLine *line)
{
  gint32 v[CLEAVE_TFLITE_BLOCK];
  gint64 x_size = (gint64) cleave_element_size (lines->x[0]) * line->x_step[0];
  gint64 y_size = (gint64) cleave_element_size (lines->y) * line->y_step;

  for (gint64 at = 0; at < line->n; at += CLEAVE_TFLITE_BLOCK)
    {
      gint64 n = MIN (line->n - at, CLEAVE_TFLITE_BLOCK);
      gconstpointer x = (const char *) line->x[0] + at * x_size;

      if (lines->kind == CLEAVE_TFLITE_LINE_RESCALE)
        {
          const CleaveTfliteRescaleAttrs *p = lines->attrs;

          cleave_tflite_line_load (lines->x[0], x, line->x_step[0], n, (guint32) p->x_zero, v);
          cleave_tflite_line_rescale (p, v, n);
        }
      else if (lines->kind == CLEAVE_TFLITE_LINE_QUANTIZE)
        cleave_tflite_line_quantize (lines->attrs, x, line->x_step[0], n, v);
      else
        cleave_tflite_line_binary (lines, line, at, n, v);
      cleave_tflite_line_store (lines->y, v, n, (char *) line->y + at * y_size, line->y_step);
    }
}
