/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Where, and what makes bools: comparisons, tests and logic.  Any views, along the innermost
 * dimension of the result. */

#include "level.h"
#include "loops.h"

#include "../../ops/elementwise-math.h"

/* Elements of the result, then of each operand; steps are in elements. */
typedef struct
{
  gpointer y;
  gconstpointer x[3];
  gint64 y_step, step[3], n;
} Line;

typedef void (*Run) (const Line *line, gconstpointer attrs);

typedef struct
{
  Run run;
  CleaveLoops loops; /* of the result, then of each operand */
} Choose;

/* clang-format off */
#define EACH(A, B, body)                                                                           \
  {                                                                                                \
    CLEAVE_INDEPENDENT                                                                             \
    for (gint64 i = 0; i < n; i++)                                                                 \
      {                                                                                            \
        const T a = A, b G_GNUC_UNUSED = B;                                                        \
                                                                                                   \
        body;                                                                                      \
      }                                                                                            \
  }

/* Common steps are known to the compiler. */
#define SELECT(name, Storage)                                                                      \
  static void name (const Line *line, gconstpointer attrs)                                         \
  {                                                                                                \
    typedef Storage T;                                                                             \
    const guint8 *choice = line->x[0];                                                             \
    const T *as = line->x[1], *bs = line->x[2], a_one = *as, b_one = *bs;                          \
    T *y = line->y;                                                                                \
    const gint64 cs = line->step[0], a_step = line->step[1], b_step = line->step[2], n = line->n;  \
    const gboolean dense = cs == 1 && line->y_step == 1;                                           \
                                                                                                   \
    if (dense && a_step == 1 && b_step == 1)                                                       \
      EACH (as[i], bs[i], y[i] = choice[i] != 0 ? a : b)                                           \
    else if (dense && a_step == 0 && b_step == 1)                                                  \
      EACH (a_one, bs[i], y[i] = choice[i] != 0 ? a : b)                                           \
    else if (dense && a_step == 1 && b_step == 0)                                                  \
      EACH (as[i], b_one, y[i] = choice[i] != 0 ? a : b)                                           \
    else                                                                                           \
      EACH (as[i * a_step], bs[i * b_step], y[i * line->y_step] = choice[i * cs] != 0 ? a : b)     \
  }
SELECT (select_1, guint8)
SELECT (select_2, guint16)
SELECT (select_4, guint32)
SELECT (select_8, guint64)

/* A bool is 0 or 1, whatever its byte is. */
#define LOOP(name, Storage, P, is_bool, formula)                                                   \
  static void name (const Line *line, gconstpointer attrs)                                         \
  {                                                                                                \
    typedef Storage T;                                                                             \
    const P *p G_GNUC_UNUSED = attrs;                                                              \
    const T *as = line->x[0], *bs = line->x[1], b_one = *bs;                                       \
    guint8 *y = line->y;                                                                           \
    const gint64 a_step = line->step[0], b_step = line->step[1], n = line->n;                      \
    const gboolean dense = a_step == 1 && line->y_step == 1;                                       \
                                                                                                   \
    if (dense && b_step == 1)                                                                      \
      EACH (BYTE (is_bool, as[i]), BYTE (is_bool, bs[i]), y[i] = (formula) ? 1 : 0)                \
    else if (dense && b_step == 0)                                                                 \
      EACH (BYTE (is_bool, as[i]), BYTE (is_bool, b_one), y[i] = (formula) ? 1 : 0)                \
    else                                                                                           \
      EACH (BYTE (is_bool, as[i * a_step]), BYTE (is_bool, bs[i * b_step]),                        \
            y[i * line->y_step] = (formula) ? 1 : 0)                                               \
  }
#define BYTE(is_bool, value) (T) ((is_bool) ? (value) != 0 : (value))

/* Of elementwise.def those that make bools; the others are none of this family's. */
#define LOOPS_COMPARE(word, P, formula)                                                            \
  LOOP (word##_f32, float, P, FALSE, formula)                                                      \
  LOOP (word##_i8, gint8, P, FALSE, formula)                                                       \
  LOOP (word##_u8, guint8, P, FALSE, formula)                                                      \
  LOOP (word##_bool, guint8, P, TRUE, formula)                                                     \
  LOOP (word##_i32, gint32, P, FALSE, formula)                                                     \
  LOOP (word##_i64, gint64, P, FALSE, formula)
#define LOOPS_TEST(word, P, formula) LOOP (word##_f32, float, P, FALSE, formula)
#define LOOPS_LOGIC(word, P, formula) LOOP (word##_bool, guint8, P, TRUE, formula)
#define LOOPS_NONE(word, P, formula)
#define OF(word, element, run) { &cleave_op_##word, CLEAVE_ELEMENT_BIT (CLEAVE_##element), 0, run },
#define LINES_COMPARE(word)                                                                        \
  OF (word, FLOAT32, word##_f32) OF (word, INT8, word##_i8) OF (word, UINT8, word##_u8)            \
  OF (word, BOOL, word##_bool) OF (word, INT32, word##_i32) OF (word, INT64, word##_i64)
#define LINES_TEST(word) OF (word, FLOAT32, word##_f32)
#define LINES_LOGIC(word) OF (word, BOOL, word##_bool)
#define LINES_NONE(word)

#define OF_COMPARE_ANY(what) what##_COMPARE
#define OF_COMPARE_NUMBER(what) what##_COMPARE
#define OF_TEST_FLOAT(what) what##_TEST
#define OF_UNARY_BOOL(what) what##_LOGIC
#define OF_BINARY_BOOL(what) what##_LOGIC
#define OF_UNARY_SIGNED(what) what##_NONE
#define OF_UNARY_NUMBER(what) what##_NONE
#define OF_UNARY_FLOAT(what) what##_NONE
#define OF_BINARY_NUMBER(what) what##_NONE
#define OF_BINARY_UNSIGNED(what) what##_NONE
#define OF_POWER_NUMBER(what) what##_NONE
#define OF_REMAINDER_NUMBER(what) what##_NONE
#define OF_SLOPE_NUMBER(what) what##_NONE
#define OF_FOLD_FLOAT(what) what##_NONE
#define OF_FOLD_NUMBER(what) what##_NONE

#define X(kind, word, name, elements, flag, P, table, formula)                                     \
  extern const CleaveOp cleave_op_##word;                                                          \
  OF_##kind##_##elements (LOOPS) (word, P, formula)
#include "../../ops/elementwise.def"
#undef X

extern const CleaveOp cleave_op_where;

/* By the element type of the last operand, or by its size. */
static const struct
{
  const CleaveOp *op;
  guint elements;
  gsize size; /* 0: any */
  Run run;
} runs[] = {
  { &cleave_op_where, ~0u, 1, select_1 },
  { &cleave_op_where, ~0u, 2, select_2 },
  { &cleave_op_where, ~0u, 4, select_4 },
  { &cleave_op_where, ~0u, 8, select_8 },
#define X(kind, word, name, elements, flag, P, table, formula) OF_##kind##_##elements (LINES) (word)
#include "../../ops/elementwise.def"
#undef X
};
/* clang-format on */

static Run
find_run (const CleaveCall *call)
{
  CleaveElement element = call->operands[call->n_operands - 1].element;
  gsize size = cleave_element_size (element);

  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    if (runs[i].op == call->op && (runs[i].elements & CLEAVE_ELEMENT_BIT (element)) != 0 &&
        (runs[i].size == 0 || runs[i].size == size))
      return runs[i].run;
  return NULL;
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  Run found = find_run (&instance->call);
  Choose *c;

  if (found == NULL || cleave_shape_n_elements (&instance->results[0].type.shape) == 0)
    return FALSE;
  c = g_new0 (Choose, 1);
  c->run = found;
  cleave_loops_init (&c->loops, &instance->results[0], instance->operands,
                     instance->call.n_operands);
  *state = c;
  return TRUE;
}

static void
run_line (gconstpointer state, const CleaveKernelInstance *instance, const gint64 *offset, gint64 n)
{
  const CleaveLoops *loops = &((const Choose *) state)->loops;
  Line line = { .y = (char *) instance->results[0].data + offset[0] * loops->size[0],
                .y_step = loops->step[0],
                .n = n };

  for (guint k = 0; k < 3; k++)
    {
      guint from = MIN (k, instance->call.n_operands - 1); /* of one operand, that twice */

      line.x[k] =
          (const char *) instance->operands[from].data + offset[from + 1] * loops->size[from + 1];
      line.step[k] = loops->step[from + 1];
    }
  ((const Choose *) state)->run (&line, instance->call.attrs);
}

static void
run_part (gconstpointer state, const CleaveKernelInstance *instance, gint64 begin, gint64 end)
{
  cleave_loops_run_part (&((const Choose *) state)->loops, run_line, state, instance, begin, end);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  cleave_loops_run (&((const Choose *) state)->loops, run_line, state, instance);
}

static gboolean
reports_progress (gconstpointer state)
{
  return cleave_loops_nest (&((const Choose *) state)->loops);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_choose); /* for levels.h */
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_choose) = { .prepare = prepare,
                                               .run = run,
                                               .free = g_free,
                                               .run_part = run_part,
                                               .reports_progress = reports_progress };
