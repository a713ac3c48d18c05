/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of element-wise ops on floats, by the formulas of their reference kernels. The
 * family serves views with any strides. A run merges dimensions that have the same layout in all
 * views, and loops along the innermost dimension of the result. The result may overlay an operand
 * exactly, so loops assume only that elements are independent. 16-bit floats are converted to
 * float32 in blocks. elementwise-loops.h has the loop of each op.
 *
 * Over 400 lines: this file has one kernel family, with its epilogue and its 16-bit form. */

#include "boxes.h"
#include "elementwise-halves.h"
#include "elementwise-loops.h"
#include "epilogue.h"
#include "level.h"
#include "upcast.h"

/* Boxes of lines with at most SHORT_LINE elements are transposed (boxes.h): the inner loop runs
 * over the lines of a box, not over the elements of a line. SHORT_UPCAST is the limit for elements
 * that are converted to float32 first. */
#define SHORT_LINE 2
#define SHORT_UPCAST 8
/* Number of 16-bit floats that are converted to float32 at once. */
#define UPCAST 512
/* Number of vectors to which epilogue ops are applied at once. */
#define BLOCK 8

typedef struct
{
  CleaveElement element;
  Loop loop;
  CleaveHalfLoop half_loop; /* loop for float16; NULL: the op has none */
  gboolean folds;
  /* loops over views; view 0 is the result, and the other views are the operands */
  CleaveLoops loops;
  /* This kernel's op in the form of an epilogue op. `run` loads operand `own.v` and applies first
   * this op, then the epilogue ops of the fused consumers. Kind NONE: `run` applies no epilogue
   * ops. */
  CleaveEpilogueOp own;
} Elementwise;

/* Returns whether the operands and the result have one float type. The exponent of a Pow of 16-bit
 * floats may be float32. */
static gboolean
is_float (const CleaveKernelInstance *instance)
{
  CleaveElement element = instance->results[0].type.element;
  gboolean is_short = element == CLEAVE_FLOAT16 || element == CLEAVE_BFLOAT16;

  for (guint i = 0; i < instance->call.n_operands; i++)
    if (instance->operands[i].type.element != element &&
        !(is_short && i > 0 && instance->operands[i].type.element == CLEAVE_FLOAT32))
      return FALSE;
  return element == CLEAVE_FLOAT32 || is_short;
}

extern const CleaveOp cleave_op_relu, cleave_op_clip, cleave_op_add, cleave_op_sub, cleave_op_mul,
    cleave_op_div;

/* Applies the op's loop to n contiguous values v in place. If the op has a second operand, the
 * operand is a scalar in memory. */
static void
apply_function (const CleaveFusedConsumer *self, float *v, gint64 n)
{
  const Elementwise *e = self->state;
  const CleaveKernelInstance *instance = self->instance;
  gboolean has_b = instance->call.n_operands == 2;
  const Box box = { .a = v,
                    .b = has_b ? instance->operands[1].data : v,
                    .y = v,
                    .n = n,
                    .a_step = 1,
                    .b_step = has_b ? 0 : 1,
                    .y_step = 1,
                    .n_lines = 1 };

  e->loop (&box, instance->call.attrs);
}

static void
find_function (const CleaveOp *op, CleaveEpilogueOp *epilogue_op)
{
  epilogue_op->function = apply_function;
  for (guint i = 0; i < G_N_ELEMENTS (faster); i++)
    if (faster[i].op == op && faster[i].apply != NULL)
      {
        epilogue_op->function = faster[i].apply;
        epilogue_op->gate = faster[i].gate;
      }
}

static gboolean
is_function (const Elementwise *e,
             const CleaveKernelInstance *instance,
             guint v,
             const CleaveEpilogueOp *epilogue_op)
{
  guint n = instance->call.n_operands;

  return !e->folds && e->element == CLEAVE_FLOAT32 && v == 0 &&
         (n == 1 || (n == 2 && epilogue_op->w_is_one));
}

static CleaveEpilogueKind
epilogue_op (gconstpointer state,
             const CleaveKernelInstance *instance,
             guint v,
             CleaveEpilogueOp *epilogue_op)
{
  static const struct
  {
    const CleaveOp *op;
    CleaveEpilogueKind epilogue_op[2]; /* indexed by `v`, the index of the operand that the head's
                                          kernel has in registers: the kind of epilogue op; 0
                                          (CLEAVE_EPILOGUE_NONE) if there is none */
  } epilogue[] = { { &cleave_op_relu, { CLEAVE_EPILOGUE_RELU } },
                   { &cleave_op_clip, { CLEAVE_EPILOGUE_CLIP } },
                   { &cleave_op_add, { CLEAVE_EPILOGUE_ADD, CLEAVE_EPILOGUE_ADD } },
                   { &cleave_op_sub, { CLEAVE_EPILOGUE_SUB } },
                   { &cleave_op_mul, { CLEAVE_EPILOGUE_MUL, CLEAVE_EPILOGUE_MUL } },
                   { &cleave_op_div, { CLEAVE_EPILOGUE_DIV } } };
  const Elementwise *e = state;
  CleaveEpilogueKind op = CLEAVE_EPILOGUE_NONE;

  for (guint i = 0; i < G_N_ELEMENTS (epilogue); i++)
    if (epilogue[i].op == instance->call.op && e->element == CLEAVE_FLOAT32)
      op = epilogue[i].epilogue_op[v];
  if (op == CLEAVE_EPILOGUE_NONE && is_function (e, instance, v, epilogue_op))
    {
      op = CLEAVE_EPILOGUE_FUNCTION;
      find_function (instance->call.op, epilogue_op);
    }
  if (op == CLEAVE_EPILOGUE_CLIP)
    {
      const CleaveClipAttrs *clip = instance->call.attrs;

      epilogue_op->least = (float) clip->min;
      epilogue_op->most = (float) clip->max;
      if (isnan (epilogue_op->least) || isnan (epilogue_op->most))
        return CLEAVE_EPILOGUE_NONE;
    }
  return op;
}

/* Describes the op in `e->own` if the op can be an epilogue op (epilogue.h). For this, all views
 * must be one contiguous line, except that one of two operands may be a scalar. */
static void
find_own_epilogue_op (Elementwise *e, const CleaveKernelInstance *instance)
{
  const gint64 *step = e->loops.step;
  guint n = instance->call.n_operands, v = n == 2 && step[1] != 1 ? 1 : 0;
  CleaveEpilogueOp own = { .v = v, .w = n - 1 - v, .w_is_one = n == 2 && step[n - v] == 0 };

  if (n < 1 || n > 2 || e->loops.n_dims > 0 || step[0] != 1 || step[v + 1] != 1 ||
      (step[n - v] != 1 && !own.w_is_one))
    return;
  own.op = epilogue_op (e, instance, v, &own);
  e->own = own;
}

/* Returns the float16 loop of an op with one or two operands. Returns NULL if there is none, or if
 * converting to float32 is faster. */
static CleaveHalfLoop
find_half_loop (const Elementwise *e, const CleaveKernelInstance *instance)
{
  guint n = instance->call.n_operands;

  if (e->element != CLEAVE_FLOAT16 || n > 2 || (e->folds && n == 1) ||
      is_faster (instance->call.op))
    return NULL;
  return CLEAVE_LEVELLED (cleave_half_loop_find) (instance->call.op);
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  guint n = instance->call.n_operands;
  gboolean folds = FALSE;
  Loop loop = find_loop (instance->call.op, &folds);
  Elementwise *e;

  if (loop == NULL || n >= CLEAVE_LOOP_VIEWS || !is_float (instance))
    return FALSE;
  e = g_new0 (Elementwise, 1);
  e->element = instance->results[0].type.element;
  e->loop = loop;
  e->folds = folds;
  e->half_loop = find_half_loop (e, instance);
  cleave_loops_init (&e->loops, &instance->results[0], instance->operands, n);
  find_own_epilogue_op (e, instance);
  *state = e;
  return TRUE;
}

static void
copy_line (const float *from, gint64 from_step, float *to, gint64 to_step, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    to[i * to_step] = from[i * from_step];
}

static Box
make_box (const CleaveBox *of, const CleaveKernelInstance *instance, guint a, guint b)
{
  return (Box){ .a = (const float *) instance->operands[a].data + of->offset[a + 1],
                .b = (const float *) instance->operands[b].data + of->offset[b + 1],
                .y = (float *) instance->results[0].data + of->offset[0],
                .n = of->n,
                .a_step = of->step[a + 1],
                .b_step = of->step[b + 1],
                .y_step = of->step[0],
                .n_lines = of->n_lines,
                .a_next = of->next[a + 1],
                .b_next = of->next[b + 1],
                .y_next = of->next[0] };
}

static void
copy_box (const Box *box)
{
  for (gint64 line = 0; line < box->n_lines; line++)
    copy_line (box->a + line * box->a_next, box->a_step, box->y + line * box->y_next, box->y_step,
               box->n);
}

/* Computes an op with any number of operands: combines the first two operands, then combines the
 * result so far with each further operand. */
static void
fold_boxes (const Elementwise *e, const CleaveKernelInstance *instance, const CleaveBox *of)
{
  guint n = instance->call.n_operands;
  CleaveFold fold = { .index = 1, .n_operands = n };
  Box box = make_box (of, instance, 0, n == 1 ? 0 : 1);

  if (n == 1)
    copy_box (&box);
  for (guint k = 1; k < n; k++)
    {
      fold.index = k;
      if (k > 1)
        {
          box = make_box (of, instance, 0, k);
          box.a = box.y;
          box.a_step = box.y_step;
          box.a_next = box.y_next;
        }
      e->loop (&box, &fold);
    }
}

static void
run_floats (const Elementwise *e, const CleaveKernelInstance *instance, const CleaveBox *of)
{
  Box box;

  if (e->folds)
    {
      fold_boxes (e, instance, of);
      return;
    }
  box = make_box (of, instance, 0, instance->call.n_operands - 1);
  e->loop (&box, instance->call.attrs);
}

/* Converts n elements of an operand to contiguous floats in `to`. The elements begin at offset
 * `offset`, `step` elements apart. If `step` is 0, converts a single element. Returns the distance
 * of adjacent floats in `to`: 1, or 0 if `step` is 0. */
static gint64
upcast (const CleaveView *operand, gint64 offset, gint64 step, gint64 n, float *to)
{
  CleaveElement element = operand->type.element;
  gint64 size = element == CLEAVE_FLOAT32 ? sizeof (float) : sizeof (guint16);

  cleave_upcast (element, (const char *) operand->data + offset * size, step, 0, to,
                 step == 0 ? 1 : n);
  return step == 0 ? 0 : 1;
}

/* Computes n 16-bit elements in float32, and rounds each result once at the end. */
static void
run_upcast (const Elementwise *e,
            const CleaveKernelInstance *instance,
            const gint64 *offset,
            const gint64 *step,
            gint64 n)
{
  guint n_operands = instance->call.n_operands;
  CleaveFold fold = { .n_operands = n_operands };
  float a[UPCAST], b[UPCAST], y[UPCAST];
  Box box = { .a = a, .b = a, .y = y, .n = n, .y_step = 1, .n_lines = 1 };

  box.a_step = box.b_step = upcast (&instance->operands[0], offset[1], step[1], n, a);
  if (n_operands == 1 && e->folds)
    copy_box (&box);
  else if (n_operands == 1)
    e->loop (&box, instance->call.attrs);
  for (guint k = 1; k < n_operands; k++)
    {
      box.b = b;
      box.b_step = upcast (&instance->operands[k], offset[k + 1], step[k + 1], n, b);
      fold.index = k;
      e->loop (&box, e->folds ? (gconstpointer) &fold : instance->call.attrs);
      box.a = y;
      box.a_step = 1;
    }
  cleave_narrow (e->element, y, (char *) instance->results[0].data + offset[0] * e->loops.size[0],
                 step[0], n);
}

/* Runs the float16 loop on a box. Returns FALSE if the loop cannot run with the box's steps. */
static gboolean
run_halves (const Elementwise *e, const CleaveKernelInstance *instance, const CleaveBox *box)
{
  static const CleaveFold fold = { .index = 1, .n_operands = 2 };
  guint b = instance->call.n_operands;
  CleaveHalfBox halves = { .n = box->n,
                           .a_step = box->step[1],
                           .b_step = box->step[b],
                           .n_lines = box->n_lines,
                           .a_next = box->next[1],
                           .b_next = box->next[b],
                           .y_next = box->next[0] };

  guint16 exponent;

  if (e->half_loop == NULL || !cleave_half_box_serves (&halves, box->step[0]))
    return FALSE;
  halves.a = (const guint16 *) instance->operands[0].data + box->offset[1];
  halves.b = (const guint16 *) instance->operands[b - 1].data + box->offset[b];
  if (instance->operands[b - 1].type.element == CLEAVE_FLOAT32)
    {
      const float *of = (const float *) instance->operands[b - 1].data + box->offset[b];

      exponent = cleave_half_from_float (*of);
      if (box->step[b] != 0 || box->next[b] != 0 || cleave_half_to_float (exponent) != *of)
        return FALSE;
      halves.b = &exponent;
    }
  halves.y = (guint16 *) instance->results[0].data + box->offset[0];
  e->half_loop (&halves, e->folds ? (gconstpointer) &fold : instance->call.attrs);
  return TRUE;
}

static void
run_box (gconstpointer state, const CleaveKernelInstance *instance, const CleaveBox *box)
{
  const Elementwise *e = state;
  gint64 at[CLEAVE_LOOP_VIEWS];

  if (e->element == CLEAVE_FLOAT32)
    {
      run_floats (e, instance, box);
      return;
    }
  if (run_halves (e, instance, box))
    return;
  for (gint64 line = 0; line < box->n_lines; line++)
    for (gint64 i = 0; i < box->n; i += UPCAST)
      {
        for (guint v = 0; v < e->loops.n_views; v++)
          at[v] = box->offset[v] + line * box->next[v] + i * box->step[v];
        run_upcast (e, instance, at, box->step, MIN (box->n - i, UPCAST));
      }
}

/* Computes the elements [begin, end) of the result. An op with more than two operands reads and
 * writes each element of the result several times, so it runs on parts that fit into the L1
 * cache. */
static void
run_part (gconstpointer state, const CleaveKernelInstance *instance, gint64 begin, gint64 end)
{
  const Elementwise *e = state;
  CleaveBoxes boxes = { .loops = &e->loops, .run = run_box };

  boxes.shortest = e->element == CLEAVE_FLOAT32 ? SHORT_LINE : SHORT_UPCAST;
  boxes.most = e->loops.n_views > 3 ? CLEAVE_PART : G_MAXINT64;
  cleave_boxes_run_part (&boxes, state, instance, begin, end);
}

static gboolean
reports_progress (gconstpointer state)
{
  const Elementwise *e = state;

  return cleave_loops_nest (&e->loops);
}

static gboolean
does_epilogue (gconstpointer state, const CleaveKernelInstance *instance, guint *along)
{
  const Elementwise *e = state;

  *along = CLEAVE_ALONG_NONE;
  return e->own.op != CLEAVE_EPILOGUE_NONE;
}

/* Applies the op and the epilogue ops to `vectors` vectors, a compile-time constant. `some`: there
 * is a single vector, and only its first m elements are used. */
static CLEAVE_SPECIALISED void
run_block (const CleaveEpilogue *own,
           const CleaveEpilogue *epilogue,
           const float *from,
           float *y,
           int vectors,
           gint64 m,
           gboolean some)
{
  const CleaveEpilogueAt at = { .y = y, .step = CLEAVE_VECTOR, .m = m, .some = some };
  CleaveVector sum[BLOCK];

  for (int i = 0; i < vectors; i++)
    sum[i] = cleave_epilogue_at_load (&at, from + i * CLEAVE_VECTOR);
  cleave_epilogue_do (own, &at, vectors, 1, sum);
  cleave_epilogue_do (epilogue, &at, vectors, 1, sum);
  if (some)
    memcpy (y, sum, (gsize) m * sizeof *y);
  else
    for (int i = 0; i < vectors; i++)
      cleave_vector_store (y + i * CLEAVE_VECTOR, sum[i]);
}

/* Computes the elements [begin, end) of the result, and applies the epilogue ops to them. */
static void
run_epilogue (const Elementwise *e,
              const CleaveKernelInstance *instance,
              const CleaveEpilogue *epilogue,
              gint64 begin,
              gint64 end)
{
  const CleaveFusedConsumer self = { .state = e, .instance = instance, .epilogue_op = e->own };
  const CleaveEpilogue own = { .n = 1, .fused = &self, .y = instance->results[0].data };
  const float *from = instance->operands[e->own.v].data;
  float *y = instance->results[0].data;

  for (; begin + BLOCK * CLEAVE_VECTOR <= end; begin += BLOCK * CLEAVE_VECTOR)
    run_block (&own, epilogue, from + begin, y + begin, BLOCK, 0, FALSE);
  for (; begin + CLEAVE_VECTOR <= end; begin += CLEAVE_VECTOR)
    run_block (&own, epilogue, from + begin, y + begin, 1, 0, FALSE);
  if (begin < end)
    run_block (&own, epilogue, from + begin, y + begin, 1, end - begin, TRUE);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Elementwise *e = state;
  CleaveEpilogue epilogue = cleave_epilogue_of (instance);
  gint64 end = cleave_loops_end (&e->loops);
  gint64 length = instance->n_fused == 0 ? G_MAXINT64 : CLEAVE_PART;

  for (gint64 begin = 0; begin < end; begin += MIN (length, end - begin))
    {
      gint64 stop = begin + MIN (length, end - begin);

      if (epilogue.n > 0)
        run_epilogue (e, instance, &epilogue, begin, stop);
      else
        run_part (state, instance, begin, stop);
      cleave_kernel_range_done (instance, begin, stop);
    }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_elementwise);
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_elementwise) = { .prepare = prepare,
                                                    .run = run,
                                                    .free = g_free,
                                                    .run_part = run_part,
                                                    .reports_progress = reports_progress,
                                                    .epilogue_op = epilogue_op,
                                                    .does_epilogue = does_epilogue,
                                                    .n_state = sizeof (Elementwise) };
