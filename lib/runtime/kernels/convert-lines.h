/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cast-lines.h"
#include "finish.h"
#include "integers/written-add.h"
#include "loops.h"
#include "quantize-line.h"
#include "vector.h"

/* What convert.c does along a line: elements of one type become elements of another. */

enum { Y_VIEW, X_VIEW, SCALE_VIEW, ZERO_VIEW };

/* Floats that are made on the way at once. */
#define LINE 512

/* `n` elements; steps are in elements, and 0 where one scale or zero point is that of all. */
typedef struct
{
  gconstpointer x, scale, zero;
  gpointer y;
  gint64 x_step, scale_step, zero_step, y_step, n;
} Line;

typedef struct _Convert Convert;

struct _Convert
{
  void (*line) (const Convert *c, const Line *line);
  CleaveElement from, to;
  const CleaveWrittenAdd *add; /* it is one, of two operands; or NULL */
  const guint8 *table;         /* it is one, or NULL */
  CleaveCastLine cast;         /* it is one, or NULL */
  CleaveLoops loops;           /* of y, x, and where there are any the scale and zero point */
};

/* clang-format off */
#define EACH(body)                                                                                 \
  {                                                                                                \
    CLEAVE_INDEPENDENT                                                                             \
    for (gint64 i = 0; i < n; i++)                                                                 \
      body;                                                                                        \
  }

/* Common steps are known to the compiler. */
#define STEPS(formula)                                                                             \
  if (xs == 1 && ys == 1 && ss == 0 && zs == 0)                                                    \
    EACH (y[i] = formula (x[i], scale, zero))                                                      \
  else if (xs == 1 && ys == 1)                                                                     \
    EACH (y[i] = formula (x[i], s[i * ss], z[i * zs]))                                             \
  else                                                                                             \
    EACH (y[i * ys] = formula (x[i * xs], s[i * ss], z[i * zs]))

#define LINES(name, From, Zero, To, formula)                                                       \
  static inline void name (const Convert *c, const Line *line)                                     \
  {                                                                                                \
    const From *x = line->x;                                                                       \
    const float *s = line->scale, scale = *s;                                                      \
    const Zero *z = line->zero, zero = *z;                                                         \
    To *y = line->y;                                                                               \
    const gint64 xs = line->x_step, ss = line->scale_step, zs = line->zero_step,                   \
                 ys = line->y_step, n = line->n;                                                   \
                                                                                                   \
    STEPS (formula)                                                                                \
  }

#define TO_INT8(x, s, z) (gint8) cleave_quantize_byte ((float) (x) / (s), z, G_MININT8, G_MAXINT8)
#define TO_UINT8(x, s, z) (guint8) cleave_quantize_byte ((float) (x) / (s), z, 0, G_MAXUINT8)
#define FROM_BYTE(x, s, z) (float) ((x) - (z)) * (s)
#define FROM_INT32(x, s, z) (float) ((double) (x) - (double) (z)) * (s)
LINES (quantize_float_int8, float, gint8, gint8, TO_INT8)
LINES (quantize_float_uint8, float, guint8, guint8, TO_UINT8)
LINES (quantize_int32_int8, gint32, gint8, gint8, TO_INT8)
LINES (quantize_int32_uint8, gint32, guint8, guint8, TO_UINT8)
LINES (dequantize_int8, gint8, gint8, float, FROM_BYTE)
LINES (dequantize_uint8, guint8, guint8, float, FROM_BYTE)
LINES (dequantize_int32, gint32, gint32, float, FROM_INT32)
/* clang-format on */

/* Floats that lie side by side and have one scale go in vectors, but for the last ones. */
static inline void
quantize_float (const Convert *c, const Line *line)
{
  gboolean is_signed = c->to == CLEAVE_INT8;
  float scale = *(const float *) line->scale;
  gint32 zero = is_signed ? *(const gint8 *) line->zero : *(const guint8 *) line->zero;
  gint64 n = 0;
  Line rest = *line;

  if (line->x_step == 1 && line->y_step == 1 && line->scale_step == 0 && line->zero_step == 0 &&
      cleave_quantize_line_serves (scale))
    n = is_signed ? cleave_quantize_line (line->x, scale, zero, TRUE, line->y, line->n)
                  : cleave_quantize_line (line->x, scale, zero, FALSE, line->y, line->n);
  rest.x = (const float *) line->x + n;
  rest.y = (guint8 *) line->y + n;
  rest.n -= n;
  if (rest.n > 0)
    (is_signed ? quantize_float_int8 : quantize_float_uint8) (c, &rest);
}

/* The same where bytes lie apart. */
static inline void
quantize_apart (const Convert *c, const Line *line)
{
  guint8 buffer[LINE];
  Line part = *line;

  for (gint64 i = 0; i < line->n; i += part.n)
    {
      guint8 *y = (guint8 *) line->y + i * line->y_step;

      part.x = (const float *) line->x + i * line->x_step;
      part.y = buffer;
      part.y_step = 1;
      part.n = MIN (line->n - i, LINE);
      quantize_float (c, &part);
      for (gint64 j = 0; j < part.n; j++)
        y[j * line->y_step] = buffer[j];
    }
}

static inline void
cast (const Convert *c, const Line *line)
{
  CLEAVE_LEVELLED (cleave_cast_line_run)
  (c->cast, line->x, line->x_step, c->loops.size[X_VIEW], line->y, line->y_step,
   c->loops.size[Y_VIEW], line->n);
}
