/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of Where, of element-wise ops with a bool result (comparisons, tests, logic)
 * and of element-wise ops on integers. The family serves views with any strides, and loops along
 * the innermost dimension of the result. 16-bit floats are converted to float32 in blocks. */

#include "boxes.h"
#include "elementwise-halves.h"
#include "upcast.h"

#include "../../ops/elementwise-math.h"

/* A box (boxes.h): lines of the result and of up to three operands. Distances are in elements. */
typedef struct
{
  gpointer y;
  gconstpointer x[3];
  gint64 n, y_step, step[3]; /* number of elements of a line; distances of adjacent elements of a
                                line, in the result and in each operand */
  gint64 n_lines, y_next, next[3]; /* number of lines; distances from the begin of a line to the
                                      begin of the next line, in the result and in each operand */
} Box;

typedef void (*Run) (const Box *box, gconstpointer attrs);

/* Boxes of lines with at most this number of elements are transposed (boxes.h): the inner loop runs
 * over the lines of a box, not over the elements of a line. */
#define SHORT_LINE 2
/* Number of 16-bit floats that are converted to float32 at once. */
#define UPCAST 512

static const double no_attrs[4];

typedef struct
{
  Run run;
  gboolean upcasts;
  CleaveHalfLoop half_loop; /* loop for operands of float16; NULL: the op has none */
  /* loops over the views; view 0 is the result, and the other views are the operands */
  CleaveLoops loops;
} Choose;

/* clang-format off */
#define EACH(A, B, body)                                                                           \
  for (gint64 line = 0; line < n_lines; line++)                                                    \
    {                                                                                              \
      FIRST                                                                                        \
                                                                                                   \
      CLEAVE_INDEPENDENT                                                                           \
      for (gint64 i = 0; i < n; i++)                                                               \
        {                                                                                          \
          const T a = A, b G_GNUC_UNUSED = B;                                                      \
                                                                                                   \
          body;                                                                                    \
        }                                                                                          \
      NEXT                                                                                         \
    }

/* Defines the loops of Where for elements of type Storage. For each common combination of distances
 * between adjacent elements, there is a loop in which the distances are compile-time constants. */
#define SELECT(name, Storage)                                                                      \
  static void name (const Box *box, gconstpointer attrs)                                           \
  {                                                                                                \
    typedef Storage T;                                                                             \
    const guint8 *choice = box->x[0];                                                              \
    const T *as = box->x[1], *bs = box->x[2];                                                      \
    T *y = box->y;                                                                                 \
    const gint64 cs = box->step[0], a_step = box->step[1], b_step = box->step[2], n = box->n;      \
    const gint64 n_lines = box->n_lines;                                                           \
    const gboolean dense = cs == 1 && box->y_step == 1;                                            \
                                                                                                   \
    if (dense && a_step == 1 && b_step == 1)                                                       \
      EACH (as[i], bs[i], y[i] = choice[i] != 0 ? a : b)                                           \
    else if (dense && a_step == 0 && b_step == 1)                                                  \
      EACH (a_first, bs[i], y[i] = choice[i] != 0 ? a : b)                                         \
    else if (dense && a_step == 1 && b_step == 0)                                                  \
      EACH (as[i], b_first, y[i] = choice[i] != 0 ? a : b)                                         \
    else                                                                                           \
      EACH (as[i * a_step], bs[i * b_step], y[i * box->y_step] = choice[i * cs] != 0 ? a : b)      \
  }
#define FIRST const T a_first G_GNUC_UNUSED = *as, b_first G_GNUC_UNUSED = *bs;
#define NEXT                                                                                       \
      choice += box->next[0];                                                                      \
      as += box->next[1];                                                                          \
      bs += box->next[2];                                                                          \
      y += box->y_next;
SELECT (select_1, guint8)
SELECT (select_2, guint16)
SELECT (select_4, guint32)
SELECT (select_8, guint64)

#undef NEXT

/* Defines the loop of an op. A bool is true if its byte is not 0. The formula computes in the
 * operand's type, not in a larger one, so that a register holds more elements. The loop reads a
 * copy of the attributes: the compiler assumes that stores may change the original, and a Clip
 * would reload its bounds for each element. */
#define LOOP(name, From, To, P, is_bool, formula)                                                  \
  static void name (const Box *box, gconstpointer attrs)                                           \
  {                                                                                                \
    typedef From T;                                                                                \
    P copy, *const p G_GNUC_UNUSED = &copy;                                                        \
    const From *as = box->x[0], *bs = box->x[1];                                                   \
    To *y = box->y;                                                                                \
    const gint64 a_step = box->step[0], b_step = box->step[1], y_step = box->y_step, n = box->n;   \
    const gint64 n_lines = box->n_lines;                                                           \
                                                                                                   \
    G_STATIC_ASSERT (sizeof copy <= sizeof no_attrs);                                              \
    memcpy (&copy, attrs == NULL ? no_attrs : attrs, sizeof copy);                                 \
    if (y_step == 1 && a_step == 1 && b_step == 1)                                                 \
      EACH (BYTE (is_bool, as[i]), BYTE (is_bool, bs[i]), y[i] = (To) (formula))                   \
    else if (y_step == 1 && a_step == 1 && b_step == 0)                                            \
      EACH (BYTE (is_bool, as[i]), BYTE (is_bool, b_first), y[i] = (To) (formula))                 \
    else if (y_step == 1 && a_step == 0 && b_step == 1)                                            \
      EACH (BYTE (is_bool, a_first), BYTE (is_bool, bs[i]), y[i] = (To) (formula))                 \
    else                                                                                           \
      EACH (BYTE (is_bool, as[i * a_step]), BYTE (is_bool, bs[i * b_step]),                        \
            y[i * y_step] = (To) (formula))                                                        \
  }
#define NEXT                                                                                       \
      as += box->next[0];                                                                          \
      bs += box->next[1];                                                                          \
      y += box->y_next;
#define BYTE(is_bool, value) (T) ((is_bool) ? (value) != 0 : (value))
#define LOOP_BOOL(name, From, P, is_bool, formula)                                                 \
  LOOP (name, From, guint8, P, is_bool, (formula) ? 1 : 0)

/* The macros LOOPS_… define the loops of an op of elementwise.def, by the op's kind. Kinds that
 * this family does not serve expand to nothing. */
#define LOOPS_COMPARE(word, P, formula)                                                            \
  LOOP_BOOL (word##_f32, float, P, FALSE, formula)                                                 \
  LOOP_BOOL (word##_i8, gint8, P, FALSE, formula)                                                  \
  LOOP_BOOL (word##_u8, guint8, P, FALSE, formula)                                                 \
  LOOP_BOOL (word##_bool, guint8, P, TRUE, formula)                                                \
  LOOP_BOOL (word##_i32, gint32, P, FALSE, formula)                                                \
  LOOP_BOOL (word##_i64, gint64, P, FALSE, formula)
#define LOOPS_TEST(word, P, formula) LOOP_BOOL (word##_f32, float, P, FALSE, formula)
#define LOOPS_LOGIC(word, P, formula) LOOP_BOOL (word##_bool, guint8, P, TRUE, formula)
#define LOOPS_SIGNED(word, P, formula)                                                             \
  LOOP (word##_i8, gint8, gint8, P, FALSE, formula)                                        \
  LOOP (word##_i32, gint32, gint32, P, FALSE, formula)                                     \
  LOOP (word##_i64, gint64, gint64, P, FALSE, formula)
#define LOOPS_UNSIGNED(word, P, formula)                                                           \
  LOOP (word##_u8, guint8, guint8, P, FALSE, formula)
#define LOOPS_WHOLE(word, P, formula)                                                              \
  LOOPS_SIGNED (word, P, formula)                                                                  \
  LOOPS_UNSIGNED (word, P, formula)
#define LOOPS_TWO(word, P, formula) LOOPS_WHOLE (word, CleaveNoAttrs, formula)
#define LOOPS_NONE(word, P, formula)
#define OF(word, element, run) { &cleave_op_##word, CLEAVE_ELEMENT_BIT (CLEAVE_##element), 0, run },
#define LINES_COMPARE(word)                                                                        \
  OF (word, FLOAT32, word##_f32) OF (word, BOOL, word##_bool) LINES_WHOLE (word)
#define LINES_TEST(word) OF (word, FLOAT32, word##_f32)
#define LINES_LOGIC(word) OF (word, BOOL, word##_bool)
#define LINES_SIGNED(word)                                                                         \
  OF (word, INT8, word##_i8) OF (word, INT32, word##_i32) OF (word, INT64, word##_i64)
#define LINES_UNSIGNED(word) OF (word, UINT8, word##_u8)
#define LINES_WHOLE(word) LINES_SIGNED (word) LINES_UNSIGNED (word)
#define LINES_TWO LINES_WHOLE
#define LINES_NONE(word)

#define OF_COMPARE_ANY(what) what##_COMPARE
#define OF_COMPARE_NUMBER(what) what##_COMPARE
#define OF_TEST_FLOAT(what) what##_TEST
#define OF_UNARY_BOOL(what) what##_LOGIC
#define OF_BINARY_BOOL(what) what##_LOGIC
#define OF_UNARY_SIGNED(what) what##_SIGNED
#define OF_UNARY_NUMBER(what) what##_WHOLE
#define OF_UNARY_FLOAT(what) what##_NONE
#define OF_BINARY_NUMBER(what) what##_WHOLE
#define OF_BINARY_UNSIGNED(what) what##_UNSIGNED
#define OF_UNARY_WHOLE(what) what##_WHOLE
#define OF_BINARY_WHOLE(what) what##_WHOLE
#define OF_POWER_NUMBER(what) what##_WHOLE
#define OF_REMAINDER_NUMBER(what) what##_WHOLE
#define OF_SLOPE_NUMBER(what) what##_WHOLE
#define OF_FOLD_FLOAT(what) what##_NONE
#define OF_FOLD_NUMBER(what) what##_TWO

#define X(kind, word, name, elements, flag, P, table, formula)                                     \
  extern const CleaveOp cleave_op_##word;                                                          \
  OF_##kind##_##elements (LOOPS) (word, P, formula)
#include "../../ops/elementwise.def"
#undef X

extern const CleaveOp cleave_op_where;

/* Lists the loops. A loop serves an element type of the last operand if the type's bit is set in
 * `elements`. For Where, the size of the operand's elements selects the loop instead. */
static const struct
{
  const CleaveOp *op;
  guint elements;
  gsize size; /* size in bytes of the last operand's elements; 0: any size */
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
find_run (const CleaveCall *call, CleaveElement element)
{
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
  const CleaveCall *call = &instance->call;
  CleaveElement element = call->operands[call->n_operands - 1].element;
  gboolean is_short = element == CLEAVE_FLOAT16 || element == CLEAVE_BFLOAT16;
  gboolean upcasts = is_short && call->results[0].element == CLEAVE_BOOL;
  Run found = find_run (call, upcasts ? CLEAVE_FLOAT32 : element);
  Choose *c;

  if (found == NULL || cleave_shape_n_elements (&instance->results[0].type.shape) == 0)
    return FALSE;
  /* if the op takes any number of operands, the family serves only nodes with two operands */
  if ((call->op->flags & CLEAVE_OP_VARIADIC) != 0 && call->n_operands != 2)
    return FALSE;
  c = g_new0 (Choose, 1);
  c->run = found;
  c->upcasts = upcasts;
  c->half_loop = upcasts && element == CLEAVE_FLOAT16
                     ? CLEAVE_LEVELLED (cleave_half_loop_find) (call->op)
                     : NULL;
  cleave_loops_init (&c->loops, &instance->results[0], instance->operands,
                     instance->call.n_operands);
  *state = c;
  return TRUE;
}

/* Runs a comparison of one or two operands of 16-bit floats. The result is a bool. */
static void
run_upcast (Run run, const Box *box, const CleaveCall *call)
{
  float floats[2][UPCAST];
  Box part = *box;

  part.n_lines = 1;
  for (gint64 at = 0; at < box->n; at += UPCAST)
    {
      part.n = MIN (box->n - at, UPCAST);
      part.y = (guint8 *) box->y + at * box->y_step;
      for (guint k = 0; k < 2; k++)
        {
          gint64 step = box->step[k];

          cleave_upcast (call->operands[0].element, (const guint16 *) box->x[k] + at * step, step,
                         0, floats[k], step == 0 ? 1 : part.n);
          part.x[k] = floats[k];
          part.step[k] = step == 0 ? 0 : 1;
        }
      run (&part, call->attrs);
    }
}

static void
run_upcast_lines (const Choose *choose, const Box *box, const CleaveCall *call)
{
  const CleaveHalfBox halves = { .a = box->x[0],
                                 .b = box->x[1],
                                 .y = box->y,
                                 .n = box->n,
                                 .a_step = box->step[0],
                                 .b_step = box->step[1],
                                 .n_lines = box->n_lines,
                                 .a_next = box->next[0],
                                 .b_next = box->next[1],
                                 .y_next = box->y_next };
  Box line = *box;

  if (choose->half_loop != NULL && cleave_half_box_serves (&halves, box->y_step))
    {
      choose->half_loop (&halves, call->attrs);
      return;
    }
  for (gint64 i = 0; i < box->n_lines; i++)
    {
      for (guint k = 0; k < 2; k++)
        line.x[k] = (const guint16 *) box->x[k] + i * box->next[k];
      line.y = (guint8 *) box->y + i * box->y_next;
      run_upcast (choose->run, &line, call);
    }
}

static void
run_box (gconstpointer state, const CleaveKernelInstance *instance, const CleaveBox *of)
{
  const Choose *choose = state;
  const gint64 *size = choose->loops.size;
  Box box = { .y = (char *) instance->results[0].data + of->offset[0] * size[0],
              .n = of->n,
              .y_step = of->step[0],
              .n_lines = of->n_lines,
              .y_next = of->next[0] };

  for (guint k = 0; k < 3; k++)
    {
      /* an op with fewer than three operands passes its last operand for each missing operand */
      guint from = MIN (k, instance->call.n_operands - 1);

      box.x[k] =
          (const char *) instance->operands[from].data + of->offset[from + 1] * size[from + 1];
      box.step[k] = of->step[from + 1];
      box.next[k] = of->next[from + 1];
    }
  if (choose->upcasts)
    run_upcast_lines (choose, &box, &instance->call);
  else
    choose->run (&box, instance->call.attrs);
}

static void
run_part (gconstpointer state, const CleaveKernelInstance *instance, gint64 begin, gint64 end)
{
  const CleaveBoxes boxes = { .loops = &((const Choose *) state)->loops,
                              .run = run_box,
                              .shortest = SHORT_LINE,
                              .most = G_MAXINT64 };

  cleave_boxes_run_part (&boxes, state, instance, begin, end);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  gint64 end = cleave_loops_end (&((const Choose *) state)->loops);
  gint64 length = instance->n_fused == 0 ? G_MAXINT64 : CLEAVE_PART;

  for (gint64 begin = 0; begin < end; begin += MIN (length, end - begin))
    {
      gint64 stop = begin + MIN (length, end - begin);

      run_part (state, instance, begin, stop);
      cleave_kernel_range_done (instance, begin, stop);
    }
}

static gboolean
reports_progress (gconstpointer state)
{
  return cleave_loops_nest (&((const Choose *) state)->loops);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_choose);
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_choose) = { .prepare = prepare,
                                               .run = run,
                                               .free = g_free,
                                               .run_part = run_part,
                                               .reports_progress = reports_progress };
