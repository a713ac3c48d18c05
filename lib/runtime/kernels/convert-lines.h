/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cast-lines.h"
#include "finish.h"
#include "integers/qdq-add.h"
#include "loops.h"
#include "quantize-line.h"
#include "tflite-lines.h"
#include "vector.h"

/* The loops of convert.c over one line. Each loop converts elements of one type to elements of
 * another, for example floats to bytes with one scale for the line. */

/* Indices of the views of the loops: the result, the operand, its scale and its zero point. */

enum { Y_VIEW, X_VIEW, SCALE_VIEW, ZERO_VIEW };

/* Number of elements of the buffers for intermediate values. */
#define LINE 512

/* A line of `n` elements to convert. `x_step` and `y_step` are the distances of adjacent elements
 * of the operand and of the result. `scale_step` and `zero_step` are the distances between the
 * scales and between the zero points of adjacent elements; 0 if all elements of the line share one.
 * All distances are in elements. */
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
  const CleaveQdqAdd *add; /* parameters of an Add of two quantized operands; NULL for another op */
  const guint8 *table; /* table of 256 results of a lookup, indexed by the operand's byte read as
                          unsigned; NULL for another op */
  gboolean is_unfit;   /* TRUE: the family cannot serve the node, so prepare() fails */
  guint8 bytes[256]; /* copy of the table of a TfliteLookup, reordered so that `table` can point to
                        it: the node's own table begins at -128 for int8 */
  CleaveCastLine cast; /* loop of a Cast; NULL for another op */
  /* an op of TensorFlow Lite; kind CLEAVE_TFLITE_LINE_NONE for another op */
  CleaveTfliteLines tflite;
  CleaveLoops loops; /* loops over views of y, x and, if present, scale and zero point */
  CleaveLoops parts; /* loops over the views of `loops`, with lines along the innermost dimension of
                        y; used to compute y part by part */
  CleaveLoops rows;  /* loops over groups of adjacent short lines of equal length. A call computes
                        one group. The field `length` of these loops is the number of short lines in
                        a group, and the field `step` has the distances from one short line to the
                        next */
  gint64 n_of_row;   /* number of elements of each short line in a group of `rows`; 0: `rows` is
                        unused */
};

/* clang-format off */
#define EACH(body)                                                                                 \
  {                                                                                                \
    CLEAVE_INDEPENDENT                                                                             \
    for (gint64 i = 0; i < n; i++)                                                                 \
      body;                                                                                        \
  }

/* Selects the loop for the distances of a line's adjacent elements: `xs` and `ys` in the operand
 * and in the result, `ss` and `zs` in the scales and zero points. In the loops for common
 * distances, the distances are compile-time constants. */
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
#define TO_INT16(x, s, z)                                                                          \
  (gint16) cleave_quantize_byte ((float) (x) / (s), z, G_MININT16, G_MAXINT16)
#define TO_UINT16(x, s, z) (guint16) cleave_quantize_byte ((float) (x) / (s), z, 0, G_MAXUINT16)
#define FROM_BYTE(x, s, z) (float) ((x) - (z)) * (s)
#define FROM_INT32(x, s, z) (float) ((double) (x) - (double) (z)) * (s)
LINES (quantize_float_int8, float, gint8, gint8, TO_INT8)
LINES (quantize_float_uint8, float, guint8, guint8, TO_UINT8)
LINES (quantize_int32_int8, gint32, gint8, gint8, TO_INT8)
LINES (quantize_int32_uint8, gint32, guint8, guint8, TO_UINT8)
LINES (quantize_float_int16, float, gint16, gint16, TO_INT16)
LINES (quantize_float_uint16, float, guint16, guint16, TO_UINT16)
LINES (quantize_int32_int16, gint32, gint16, gint16, TO_INT16)
LINES (quantize_int32_uint16, gint32, guint16, guint16, TO_UINT16)
LINES (dequantize_int16, gint16, gint16, float, FROM_BYTE)
LINES (dequantize_uint16, guint16, guint16, float, FROM_BYTE)
LINES (dequantize_int8, gint8, gint8, float, FROM_BYTE)
LINES (dequantize_uint8, guint8, guint8, float, FROM_BYTE)
LINES (dequantize_int32, gint32, gint32, float, FROM_INT32)
/* clang-format on */

static inline void
skip (Line *line, gint64 n)
{
  line->x = (const float *) line->x + n * line->x_step;
  line->y = (guint8 *) line->y + n * line->y_step;
  line->n -= n;
}

/* Quantizes strided floats, or the last few floats of a line, through a contiguous buffer. Returns
 * the number of floats that it quantized. */
static inline gint64
quantize_by_buffer (const Line *line, float scale, gint32 zero, gboolean is_signed)
{
  float side[LINE];
  guint8 bytes[LINE];
  gint64 n = 0;

  for (gint64 some; n < line->n; n += some)
    {
      const float *x = (const float *) line->x + n * line->x_step;
      guint8 *y = (guint8 *) line->y + n * line->y_step;
      gint64 whole;

      some = MIN (line->n - n, LINE);
      whole = (some + 2 * CLEAVE_LANES - 1) / (2 * CLEAVE_LANES) * (2 * CLEAVE_LANES);
      for (gint64 i = 0; i < some; i++)
        side[i] = x[i * line->x_step];
      for (gint64 i = some; i < whole; i++)
        side[i] = 0;
      if (cleave_quantize_line (side, scale, zero, is_signed, bytes, whole) < some)
        break;
      for (gint64 i = 0; i < some; i++)
        y[i * line->y_step] = bytes[i];
    }
  return n;
}

/* Quantizes the floats of a line, in vectors if one scale serves the whole line. */
static inline void
quantize_float (const Convert *c, const Line *line)
{
  gboolean is_signed = c->to == CLEAVE_INT8;
  float scale = *(const float *) line->scale;
  gint32 zero = is_signed ? *(const gint8 *) line->zero : *(const guint8 *) line->zero;
  gboolean serves =
      line->scale_step == 0 && line->zero_step == 0 && cleave_quantize_line_serves (scale);
  Line rest = *line;

  if (serves && line->x_step == 1 && line->y_step == 1)
    skip (&rest, is_signed ? cleave_quantize_line (line->x, scale, zero, TRUE, line->y, line->n)
                           : cleave_quantize_line (line->x, scale, zero, FALSE, line->y, line->n));
  if (serves && rest.n > 1)
    skip (&rest, quantize_by_buffer (&rest, scale, zero, is_signed));
  if (rest.n > 0)
    (is_signed ? quantize_float_int8 : quantize_float_uint8) (c, &rest);
}

static inline void
cast (const Convert *c, const Line *line)
{
  CLEAVE_LEVELLED (cleave_cast_line_run)
  (c->cast, line->x, line->x_step, c->loops.size[X_VIEW], line->y, line->y_step,
   c->loops.size[Y_VIEW], line->n);
}
