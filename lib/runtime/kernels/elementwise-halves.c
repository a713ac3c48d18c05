/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Defines a loop for each element-wise op on float16, from the formulas of elementwise.def. A block
 * is the number of elements that a loop converts to float32 at once (CLEAVE_HALF_BLOCK). A line is
 * a run of elements along the innermost dimension of a box. */

#include "elementwise-halves.h"
#include "half-block.h"
#include "loops.h"

#include "../../ops/elementwise-math.h"

#define BLOCK CLEAVE_HALF_BLOCK

static const double no_attrs[4];

static inline void
store_bool (const guint8 *from, guint8 *to)
{
  memcpy (to, from, BLOCK);
}

/* Runs the last elements of a line, which do not fill a block. Copies the operands into blocks,
 * runs the loop on one block, and stores the results of these elements. */
static void
run_rest (CleaveHalfLoop loop, const CleaveHalfBox *rest, gsize y_size, gconstpointer attrs)
{
  guint16 a[BLOCK] = { 0 }, b[BLOCK] = { 0 }, y[BLOCK];
  CleaveHalfBox block = *rest;
  gsize n = (gsize) rest->n;

  memcpy (a, rest->a, (rest->a_step == 0 ? 1 : n) * sizeof *a);
  memcpy (b, rest->b, (rest->b_step == 0 ? 1 : n) * sizeof *b);
  block.a = a;
  block.b = b;
  block.y = y;
  block.n = BLOCK;
  block.n_lines = 1;
  loop (&block, attrs);
  memcpy (rest->y, y, n * y_size);
}

/* clang-format off */
#define WIDEN(name) float name##_floats[BLOCK]; cleave_half_block_widen (name##s + i, name##_floats)
#define ALL(name) const float name##_all = cleave_half_to_float (*name##s)

/* Pragmas for the loop over a block, one for each type of result. Compilers completely unroll a
 * loop of BLOCK iterations. Compilers vectorize the unrolled loop if it stores bools, but not if it
 * stores floats. The pragma for floats forbids unrolling. */
#define STEPS_store_bool CLEAVE_INDEPENDENT
#define STEPS_cleave_half_block_store CLEAVE_INDEPENDENT_FEW

#define EACH(name, Y, store, FIRST, BEFORE, A, B, formula)                                         \
  for (gint64 line = 0; line < box->n_lines; line++)                                               \
    {                                                                                              \
      gint64 i = 0;                                                                                \
                                                                                                   \
      FIRST;                                                                                       \
      for (; i + BLOCK <= n; i += BLOCK)                                                           \
        {                                                                                          \
          Y made[BLOCK];                                                                           \
          BEFORE;                                                                                  \
                                                                                                   \
          STEPS_##store                                                                            \
          for (gint64 k = 0; k < BLOCK; k++)                                                       \
            {                                                                                      \
              const T a = A, b G_GNUC_UNUSED = B;                                                  \
                                                                                                   \
              made[k] = (Y) (formula);                                                             \
            }                                                                                      \
          store (made, ys + i);                                                                    \
        }                                                                                          \
      if (i < n)                                                                                   \
        {                                                                                          \
          CleaveHalfBox rest = *box;                                                               \
                                                                                                   \
          rest.a = as + i * box->a_step;                                                           \
          rest.b = bs + i * box->b_step;                                                           \
          rest.y = ys + i;                                                                         \
          rest.n = n - i;                                                                          \
          run_rest (name, &rest, sizeof *ys, attrs);                                               \
        }                                                                                          \
      as += box->a_next;                                                                           \
      bs += box->b_next;                                                                           \
      ys += box->y_next;                                                                           \
    }

/* Begins a loop. The loop reads a copy of the attributes, since the compiler assumes that stores may
 * change the original. */
#define LOOP_BEGIN(name, Stored, P)                                                                \
  static void name (const CleaveHalfBox *box, gconstpointer attrs)                                 \
  {                                                                                                \
    typedef float T;                                                                               \
    P copy, *const p G_GNUC_UNUSED = &copy;                                                        \
    const guint16 *as = box->a, *bs = box->b;                                                      \
    Stored *ys = box->y;                                                                           \
    const gint64 n = box->n;                                                                       \
                                                                                                   \
    G_STATIC_ASSERT (sizeof copy <= sizeof no_attrs);                                              \
    memcpy (&copy, attrs == NULL ? no_attrs : attrs, sizeof copy);                                 \

#define LOOP_1(name, Y, Stored, store, P, formula)                                                 \
  LOOP_BEGIN (name, Stored, P)                                                                     \
    if (box->a_step == 0)                                                                          \
      EACH (name, Y, store, ALL (a), , a_all, 0, formula)                                          \
    else                                                                                           \
      EACH (name, Y, store, , WIDEN (a), a_floats[k], 0, formula)                                  \
  }

#define EACH_2(name, Y, store, formula)                                                            \
    if (box->a_step == 1 && box->b_step == 1)                                                      \
      EACH (name, Y, store, , WIDEN (a); WIDEN (b), a_floats[k], b_floats[k], formula)                           \
    else if (box->a_step == 1)                                                                     \
      EACH (name, Y, store, ALL (b), WIDEN (a), a_floats[k], b_all, formula)                              \
    else if (box->b_step == 1)                                                                     \
      EACH (name, Y, store, ALL (a), WIDEN (b), a_all, b_floats[k], formula)                              \
    else                                                                                           \
      EACH (name, Y, store, ALL (a); ALL (b), , a_all, b_all, formula)
#define LOOP_2(name, Y, Stored, store, P, formula)                                                 \
  LOOP_BEGIN (name, Stored, P)                                                                     \
    EACH_2 (name, Y, store, formula)                                                               \
  }

#define LOOP_UNARY(word, P, formula) LOOP_1 (half_##word, float, guint16, cleave_half_block_store, P, formula)
#define LOOP_BINARY(word, P, formula) LOOP_2 (half_##word, float, guint16, cleave_half_block_store, P, formula)
#define LOOP_SLOPE LOOP_BINARY
#define LOOP_REMAINDER LOOP_BINARY
#define LOOP_FOLD LOOP_BINARY
#define BOOL(formula) (formula) ? 1 : 0
#define LOOP_TEST(word, P, formula)                                                                \
  LOOP_1 (half_##word, guint8, guint8, store_bool, P, BOOL (formula))
#define LOOP_COMPARE(word, P, formula)                                                             \
  LOOP_2 (half_##word, guint8, guint8, store_bool, P, BOOL (formula))

/* If all elements of b are the compile-time constant `exponent`, runs Pow with this exponent. The
 * compiler then replaces the power by multiplications. */
#define EACH_POWER(name, exponent, formula)                                                        \
    if (box->a_step == 1 && box->b_step == 0 && box->b_next == 0 &&                                \
        cleave_half_to_float (*bs) == exponent)                                                    \
      {                                                                                            \
        EACH (name, float, cleave_half_block_store, , WIDEN (a), a_floats[k], exponent, formula)                       \
        return;                                                                                    \
      }
#define LOOP_POWER(word, P, formula)                                                               \
  LOOP_BEGIN (half_##word, guint16, P)                                                             \
    EACH_POWER (half_##word, 2.0f, formula)                                                        \
    EACH_POWER (half_##word, 3.0f, formula)                                                        \
    EACH_POWER (half_##word, 0.5f, formula)                                                        \
    EACH_2 (half_##word, float, cleave_half_block_store, formula)                                               \
  }

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

CleaveHalfLoop
CLEAVE_LEVELLED (cleave_half_loop_find) (const CleaveOp *op)
{
  static const struct
  {
    const CleaveOp *op;
    CleaveHalfLoop loop;
  } lines[] = {
#define LINES_FLOAT(word) { &cleave_op_##word, half_##word },
#define LINES_SIGNED LINES_FLOAT
#define LINES_NUMBER LINES_FLOAT
#define LINES_ANY LINES_FLOAT
#define LINES_UNSIGNED(word)
#define LINES_WHOLE(word)
#define LINES_BOOL(word)
#define X(kind, word, name, elements, flag, P, table, formula) LINES_##elements (word)
#include "../../ops/elementwise.def"
#undef X
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    if (lines[i].op == op)
      return lines[i].loop;
  return NULL;
}
/* clang-format on */
