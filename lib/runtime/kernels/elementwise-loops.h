/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The loops of element-wise ops on floats. The list of ops (elementwise.def) gives a loop for each
 * op; a second list has faster loops for some ops. Only elementwise.c includes this file. */

#include "epilogue.h"
#include "functions.h"

#include "../../ops/elementwise-math.h"

/* A box (boxes.h): lines of the result and of two operands. If an op has one operand, `a` and `b`
 * are both this operand. */
typedef struct
{
  const float *a, *b;
  float *y;
  gint64 n, a_step, b_step, y_step; /* number of elements of a line; distances of adjacent elements
                                       of a line, in a, b and y */
  gint64 n_lines, a_next, b_next, y_next; /* number of lines; distances from the begin of a line to
                                             the begin of the next line, in a, b and y */
} Box;

typedef void (*Loop) (const Box *box, gconstpointer attrs);

/* clang-format off */
#define EACH(A, B, Y, formula)                                                                     \
  for (gint64 line = 0; line < n_lines; line++)                                                    \
    {                                                                                              \
      const T a_first G_GNUC_UNUSED = *as, b_first G_GNUC_UNUSED = *bs;                            \
                                                                                                   \
      CLEAVE_INDEPENDENT                                                                           \
      for (gint64 i = 0; i < n; i++)                                                               \
        {                                                                                          \
          const T a = A;                                                                           \
          const T b G_GNUC_UNUSED = B;                                                             \
                                                                                                   \
          Y = (T) (formula);                                                                       \
        }                                                                                          \
      as += box->a_next;                                                                           \
      bs += box->b_next;                                                                           \
      y += box->y_next;                                                                            \
    }

#define LOOP_BEGIN(word, P)                                                                        \
  static void loop_##word (const Box *box, gconstpointer attrs)                                    \
  {                                                                                                \
    typedef float T;                                                                               \
    const P *p G_GNUC_UNUSED = attrs;                                                              \
    const float *as = box->a, *bs = box->b;                                                        \
    float *y = box->y;                                                                             \
    const gint64 a_step = box->a_step, b_step G_GNUC_UNUSED = box->b_step, y_step = box->y_step;   \
    const gint64 n = box->n, n_lines = box->n_lines;                                               \

#define LOOP_1(word, P, formula)                                                                   \
  LOOP_BEGIN (word, P)                                                                             \
    if (a_step == 1 && y_step == 1)                                                                \
      EACH (as[i], 0, y[i], formula)                                                               \
    else                                                                                           \
      EACH (as[i * a_step], 0, y[i * y_step], formula)                                             \
  }

#define LOOP_2(word, P, formula)                                                                   \
  LOOP_BEGIN (word, P)                                                                             \
    if (a_step == 1 && b_step == 1 && y_step == 1)                                                 \
      EACH (as[i], bs[i], y[i], formula)                                                           \
    else if (a_step == 1 && b_step == 0 && y_step == 1)                                            \
      EACH (as[i], b_first, y[i], formula)                                                         \
    else if (a_step == 0 && b_step == 1 && y_step == 1)                                            \
      EACH (a_first, bs[i], y[i], formula)                                                         \
    else                                                                                           \
      EACH (as[i * a_step], bs[i * b_step], y[i * y_step], formula)                                \
  }

#define LOOP_UNARY LOOP_1
#define LOOP_BINARY LOOP_2
#define LOOP_SLOPE LOOP_2
/* A loop of Pow whose exponent is a compile-time constant, so that the compiler replaces the power
 * by multiplications. */
#define EACH_POWER(exponent, formula)                                                              \
  if (a_step == 1 && b_step == 0 && box->b_next == 0 && y_step == 1 && *bs == exponent)            \
    {                                                                                              \
      EACH (as[i], exponent, y[i], formula)                                                        \
      return;                                                                                      \
    }
#define LOOP_POWER(word, P, formula)                                                               \
  LOOP_2 (word##_any, P, formula)                                                                  \
  LOOP_BEGIN (word, P)                                                                             \
    EACH_POWER (2.0f, formula)                                                                     \
    EACH_POWER (3.0f, formula)                                                                     \
    EACH_POWER (0.5f, formula)                                                                     \
    loop_##word##_any (box, attrs);                                                                \
  }
#define LOOP_REMAINDER LOOP_2
#define LOOP_FOLD LOOP_2
#define LOOP_TEST(word, P, formula)    /* ops with bool results have no loop in this family */
#define LOOP_COMPARE(word, P, formula)

#define LOOPS_FLOAT(kind, word, P, formula) LOOP_##kind (word, P, formula)
#define LOOPS_SIGNED LOOPS_FLOAT
#define LOOPS_NUMBER LOOPS_FLOAT
#define LOOPS_ANY LOOPS_FLOAT
#define LOOPS_UNSIGNED(kind, word, P, formula)
#define LOOPS_WHOLE(kind, word, P, formula)
#define LOOPS_BOOL(kind, word, P, formula)

#define X(kind, word, name, elements, flag, P, table, formula)                                     \
  extern const CleaveOp cleave_op_##word;                                                          \
  LOOPS_##elements (kind, word, P, formula)
#include "../../ops/elementwise.def"
#undef X

static const struct
{
  const CleaveOp *op;
  Loop loop;
  gboolean folds;
} lines[] = {
#define LINE_UNARY(word) { &cleave_op_##word, loop_##word, FALSE },
#define LINE_BINARY LINE_UNARY
#define LINE_SLOPE LINE_UNARY
#define LINE_POWER LINE_UNARY
#define LINE_REMAINDER LINE_UNARY
#define LINE_FOLD(word) { &cleave_op_##word, loop_##word, TRUE },
#define LINE_TEST(word)
#define LINE_COMPARE(word)
#define LINES_FLOAT(kind, word) LINE_##kind (word)
#define LINES_SIGNED LINES_FLOAT
#define LINES_NUMBER LINES_FLOAT
#define LINES_ANY LINES_FLOAT
#define LINES_UNSIGNED(kind, word)
#define LINES_WHOLE(kind, word)
#define LINES_BOOL(kind, word)
#define X(kind, word, name, elements, flag, P, table, formula) LINES_##elements (kind, word)
#include "../../ops/elementwise.def"
#undef X
};
/* clang-format on */

/* clang-format off */
#define RUN_LINES(word)                                                                            \
  static void run_##word (const Box *box, gconstpointer attrs)                                     \
  {                                                                                                \
    if (box->a_step != 1 || box->y_step != 1)                                                      \
      loop_##word (box, attrs);                                                                    \
    else                                                                                           \
      for (gint64 line = 0; line < box->n_lines; line++)                                           \
        cleave_line_##word (box->a + line * box->a_next, box->y + line * box->y_next, box->n);     \
  }                                                                                                \
                                                                                                   \
  /* Applies the function to n contiguous values of v, in place. */                                \
  static void apply_##word (const CleaveFusedConsumer *self, float *v, gint64 n)                   \
  {                                                                                                \
    cleave_line_##word (v, v, n);                                                                  \
  }
RUN_LINES (exp)
RUN_LINES (sigmoid)
RUN_LINES (tanh)
RUN_LINES (erf)
/* clang-format on */

/* Number of elements whose largest magnitude is checked before their sines or cosines are
 * computed. */
#define ANGLES 128

/* Returns the largest magnitude of n floats; a NaN if there is one. Compares bit patterns, in which
 * a NaN is greater than any number. */
static float
largest (const float *a, gint64 n)
{
  gint32 most = 0;

  for (gint64 i = 0; i < n; i++)
    {
      gint32 size = (gint32) (cleave_float_bits (a[i]) & 0x7fffffffu);

      most = size > most ? size : most;
    }
  return cleave_float_from_bits ((guint32) most);
}

/* Computes the sines or cosines of a line, in blocks. If all elements of a block are small enough
 * to be computed without libm, a loop without branches computes the block. */
static void
apply_angle_line (const Box *line, gconstpointer attrs, guint32 quarter, Loop loop)
{
  const float *a = line->a;
  float *y = line->y, most = largest (a, line->n);

  if (most <= CLEAVE_TURN_NEAR)
    {
      CLEAVE_INDEPENDENT
      for (gint64 k = 0; k < line->n; k++)
        y[k] = cleave_f32_turn_near (a[k], quarter);
    }
  else if (most <= CLEAVE_TURN_MOST)
    {
      CLEAVE_INDEPENDENT
      for (gint64 k = 0; k < line->n; k++)
        y[k] = cleave_f32_turn_any (a[k], quarter);
    }
  else
    loop (line, attrs);
}

static void
apply_angles (const Box *box, gconstpointer attrs, guint32 quarter, Loop loop)
{
  Box part = *box;

  if (box->a_step != 1 || box->y_step != 1)
    {
      loop (box, attrs);
      return;
    }
  part.n_lines = 1;
  for (gint64 line = 0; line < box->n_lines; line++)
    for (gint64 i = 0; i < box->n; i += ANGLES)
      {
        part.n = MIN (ANGLES, box->n - i);
        part.a = box->a + line * box->a_next + i;
        part.y = box->y + line * box->y_next + i;
        apply_angle_line (&part, attrs, quarter, loop);
      }
}

static void
run_sin (const Box *box, gconstpointer attrs)
{
  apply_angles (box, attrs, 0, loop_sin);
}

static void
run_cos (const Box *box, gconstpointer attrs)
{
  apply_angles (box, attrs, 1, loop_cos);
}

typedef void (*Apply) (const CleaveFusedConsumer *self, float *v, gint64 n);
typedef void (*Gate) (float *v, gint64 n);

/* Lists ops with a loop that is faster than applying the formula of elementwise.def to each
 * element. */
static const struct
{
  const CleaveOp *op;
  Loop loop;
  Apply apply; /* function that applies the op as an epilogue op; NULL: use `loop` */
  Gate gate;   /* function that multiplies each v by the op's result for v; NULL: there is none */
} faster[] = {
  { &cleave_op_exp, run_exp, apply_exp, cleave_gate_exp },
  { &cleave_op_sigmoid, run_sigmoid, apply_sigmoid, cleave_gate_sigmoid },
  { &cleave_op_tanh, run_tanh, apply_tanh, cleave_gate_tanh },
  { &cleave_op_erf, run_erf, apply_erf, cleave_gate_erf },
  { &cleave_op_sin, run_sin, NULL, NULL },
  { &cleave_op_cos, run_cos, NULL, NULL },
};

static gboolean
is_faster (const CleaveOp *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (faster); i++)
    if (faster[i].op == op)
      return TRUE;
  return FALSE;
}

static Loop
find_loop (const CleaveOp *op, gboolean *folds)
{
  Loop loop = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    if (lines[i].op == op)
      {
        loop = lines[i].loop;
        *folds = lines[i].folds;
      }
  for (guint i = 0; i < G_N_ELEMENTS (faster); i++)
    loop = faster[i].op == op ? faster[i].loop : loop;
  return loop;
}
