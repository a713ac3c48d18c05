/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The element-wise ops, from the same lines as their reference kernels.  Any views: dimensions that
 * lie alike in all of them become one, and loops run along the innermost of the result.  The result
 * may lie exactly where an operand lies, so a loop may not assume that they are apart, only that
 * one element has nothing to do with the next.  16-bit floats become floats a few at a time. */

#include "level.h"
#include "loops.h"
#include "stages.h"
#include "widen.h"

#include "../../ops/elementwise-math.h"

/* Lines of elements, of the result and of two operands; of one operand, that twice. */
typedef struct
{
  const float *a, *b;
  float *y;
  gint64 n, a_step, b_step, y_step;       /* of a line */
  gint64 n_lines, a_next, b_next, y_next; /* from one to the next */
} Box;

typedef void (*Loop) (const Box *box, gconstpointer attrs);

/* Elements that are made before those who follow have their turn: they stay in the L1 cache. */
#define PART 2048
/* Up to this length, going from line to line takes longer than going along them; where elements are
 * widened first, up to the second. */
#define SHORT_LINE 2
#define SHORT_WIDENED 8
/* 16-bit floats that are widened at once. */
#define WIDENED 512
/* Vectors that go through stages at once. */
#define BLOCK 8

typedef struct
{
  CleaveElement element;
  gint64 size; /* of an element */
  Loop loop;
  gboolean folds;
  CleaveLoops loops;  /* of the result, then of each operand */
  CleaveEpilogue own; /* as a stage; NONE: it is none, or its views are not dense */
} Elementwise;

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
#define LOOP_POWER LOOP_2
#define LOOP_REMAINDER LOOP_2
#define LOOP_FOLD LOOP_2
#define LOOP_TEST(word, P, formula)    /* these make no float */
#define LOOP_COMPARE(word, P, formula)

#define LOOPS_FLOAT(kind, word, P, formula) LOOP_##kind (word, P, formula)
#define LOOPS_SIGNED LOOPS_FLOAT
#define LOOPS_NUMBER LOOPS_FLOAT
#define LOOPS_ANY LOOPS_FLOAT
#define LOOPS_UNSIGNED(kind, word, P, formula)
#define LOOPS_BOOL(kind, word, P, formula)

#define X(kind, word, name, elements, P, table, formula)                                           \
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
#define LINES_BOOL(kind, word)
#define X(kind, word, name, elements, P, table, formula) LINES_##elements (kind, word)
#include "../../ops/elementwise.def"
#undef X
};
/* clang-format on */

/* All of one type. */
static gboolean
is_float (const CleaveSite *site)
{
  CleaveElement element = site->results[0].type.element;

  for (guint i = 0; i < site->call.n_operands; i++)
    if (site->operands[i].type.element != element)
      return FALSE;
  return element == CLEAVE_FLOAT32 || element == CLEAVE_FLOAT16 || element == CLEAVE_BFLOAT16;
}

extern const CleaveOp cleave_op_relu, cleave_op_clip, cleave_op_add, cleave_op_sub, cleave_op_mul,
    cleave_op_div;

static CleaveEpilogueOp
stage (gconstpointer state, const CleaveSite *site, guint v, CleaveEpilogue *stage)
{
  static const struct
  {
    const CleaveOp *op;
    CleaveEpilogueOp stage[2]; /* of operand 0, of operand 1 */
  } stages[] = { { &cleave_op_relu, { CLEAVE_STAGE_RELU } },
                 { &cleave_op_clip, { CLEAVE_STAGE_CLIP } },
                 { &cleave_op_add, { CLEAVE_STAGE_ADD, CLEAVE_STAGE_ADD } },
                 { &cleave_op_sub, { CLEAVE_STAGE_SUB } },
                 { &cleave_op_mul, { CLEAVE_STAGE_MUL, CLEAVE_STAGE_MUL } },
                 { &cleave_op_div, { CLEAVE_STAGE_DIV } } };
  const Elementwise *e = state;
  CleaveEpilogueOp op = CLEAVE_STAGE_NONE;

  for (guint i = 0; i < G_N_ELEMENTS (stages); i++)
    if (stages[i].op == site->call.op && e->element == CLEAVE_FLOAT32)
      op = stages[i].stage[v];
  if (op == CLEAVE_STAGE_CLIP)
    {
      const CleaveClipAttrs *clip = site->call.attrs;

      stage->least = (float) clip->min;
      stage->most = (float) clip->max;
      if (isnan (stage->least) || isnan (stage->most))
        return CLEAVE_STAGE_NONE;
    }
  return op;
}

/* A single line of all views, or of all but one that is a single value. */
static void
find_own_stage (Elementwise *e, const CleaveSite *site)
{
  const gint64 *step = e->loops.step;
  guint n = site->call.n_operands, v = n == 2 && step[1] != 1 ? 1 : 0;
  CleaveEpilogue own = { .v = v, .w = n - 1 - v, .w_is_one = n == 2 && step[n - v] == 0 };

  if (n < 1 || n > 2 || e->loops.n_dims > 0 || step[0] != 1 || step[v + 1] != 1 ||
      (step[n - v] != 1 && !own.w_is_one))
    return;
  own.op = stage (e, site, v, &own);
  e->own = own;
}

static gboolean
prepare (const CleaveSite *site, CleaveWeights *weights, gpointer *state, gsize *n_scratch)
{
  guint n = site->call.n_operands;
  Elementwise *e;

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    if (lines[i].op == site->call.op && n < CLEAVE_LOOP_VIEWS && is_float (site))
      {
        e = g_new0 (Elementwise, 1);
        e->element = site->results[0].type.element;
        e->size = (gint64) cleave_element_size (e->element);
        e->loop = lines[i].loop;
        e->folds = lines[i].folds;
        cleave_loops_init (&e->loops, &site->results[0], site->operands, n);
        find_own_stage (e, site);
        *state = e;
        return TRUE;
      }
  return FALSE;
}

static void
copy_line (const float *from, gint64 from_step, float *to, gint64 to_step, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    to[i * to_step] = from[i * from_step];
}

/* Boxes of all views: where one begins in each, and its steps. */
typedef struct
{
  gint64 n, n_lines;
  const gint64 *offset, *step, *next;
} Boxes;

static Box
make_box (const Boxes *boxes, const CleaveSite *site, guint a, guint b)
{
  return (Box){ .a = (const float *) site->operands[a].data + boxes->offset[a + 1],
                .b = (const float *) site->operands[b].data + boxes->offset[b + 1],
                .y = (float *) site->results[0].data + boxes->offset[0],
                .n = boxes->n,
                .a_step = boxes->step[a + 1],
                .b_step = boxes->step[b + 1],
                .y_step = boxes->step[0],
                .n_lines = boxes->n_lines,
                .a_next = boxes->next[a + 1],
                .b_next = boxes->next[b + 1],
                .y_next = boxes->next[0] };
}

static void
copy_box (const Box *box)
{
  for (gint64 line = 0; line < box->n_lines; line++)
    copy_line (box->a + line * box->a_next, box->a_step, box->y + line * box->y_next, box->y_step,
               box->n);
}

/* The first two operands, then the result so far and each of the others. */
static void
fold_boxes (const Elementwise *e, const CleaveSite *site, const Boxes *boxes)
{
  guint n = site->call.n_operands;
  CleaveFold fold = { .index = 1, .n_operands = n };
  Box box = make_box (boxes, site, 0, n == 1 ? 0 : 1);

  if (n == 1)
    copy_box (&box);
  for (guint k = 1; k < n; k++)
    {
      fold.index = k;
      if (k > 1)
        {
          box = make_box (boxes, site, 0, k);
          box.a = box.y;
          box.a_step = box.y_step;
          box.a_next = box.y_next;
        }
      e->loop (&box, &fold);
    }
}

static void
run_floats (const Elementwise *e, const CleaveSite *site, const Boxes *boxes)
{
  Box box;

  if (e->folds)
    {
      fold_boxes (e, site, boxes);
      return;
    }
  box = make_box (boxes, site, 0, site->call.n_operands - 1);
  e->loop (&box, site->call.attrs);
}

/* Elements of an operand as floats; returns how far apart they are, which is 0 if all are one. */
static gint64
widen (const Elementwise *e,
       const CleaveView *operand,
       gint64 offset,
       gint64 step,
       gint64 n,
       float *to)
{
  cleave_widen (e->element, (const char *) operand->data + offset * e->size, step, 0, to,
                step == 0 ? 1 : n);
  return step == 0 ? 0 : 1;
}

/* A value is rounded once, when all is done with it. */
static void
run_widened (const Elementwise *e,
             const CleaveSite *site,
             const gint64 *offset,
             const gint64 *step,
             gint64 n)
{
  guint n_operands = site->call.n_operands;
  CleaveFold fold = { .n_operands = n_operands };
  float a[WIDENED], b[WIDENED], y[WIDENED];
  Box box = { .a = a, .b = a, .y = y, .n = n, .y_step = 1, .n_lines = 1 };

  box.a_step = box.b_step = widen (e, &site->operands[0], offset[1], step[1], n, a);
  if (n_operands == 1 && e->folds)
    copy_box (&box);
  else if (n_operands == 1)
    e->loop (&box, site->call.attrs);
  for (guint k = 1; k < n_operands; k++)
    {
      box.b = b;
      box.b_step = widen (e, &site->operands[k], offset[k + 1], step[k + 1], n, b);
      fold.index = k;
      e->loop (&box, e->folds ? (gconstpointer) &fold : site->call.attrs);
      box.a = y;
      box.a_step = 1;
    }
  cleave_narrow (e->element, y, (char *) site->results[0].data + offset[0] * e->size, step[0], n);
}

static void
run_boxes (const Elementwise *e, const CleaveSite *site, const Boxes *boxes)
{
  gint64 at[CLEAVE_LOOP_VIEWS];

  if (e->element == CLEAVE_FLOAT32)
    {
      run_floats (e, site, boxes);
      return;
    }
  for (gint64 line = 0; line < boxes->n_lines; line++)
    for (gint64 i = 0; i < boxes->n; i += WIDENED)
      {
        for (guint v = 0; v < e->loops.n_views; v++)
          at[v] = boxes->offset[v] + line * boxes->next[v] + i * boxes->step[v];
        run_widened (e, site, at, boxes->step, MIN (boxes->n - i, WIDENED));
      }
}

static void
run_line (const Elementwise *e, const CleaveSite *site, const gint64 *offset, gint64 length)
{
  Boxes boxes = { length, 1, offset, e->loops.step, e->loops.step };

  run_boxes (e, site, &boxes);
}

/* The line, and of those that follow it all that begin before `end`, as far as they lie evenly
 * spaced; the last of these is then the line.  They are one box, so that going from line to line is
 * as short as it can be: a line may be a few elements.  Where lines are shorter still, their first
 * elements are one line, their second elements, and so on. */
static void
run_lines (const Elementwise *e, const CleaveSite *site, CleaveLine *line, gint64 end)
{
  const CleaveLoops *loops = &e->loops;
  guint inner = loops->n_dims - 1;
  gint64 offset[CLEAVE_LOOP_VIEWS], next[CLEAVE_LOOP_VIEWS], n;
  gint64 longest = e->element == CLEAVE_FLOAT32 ? SHORT_LINE : SHORT_WIDENED;
  Boxes boxes;

  if (loops->length > PART / 2 || loops->n_dims == 0)
    {
      run_line (e, site, line->offset, loops->length);
      return;
    }
  for (guint v = 0; v < loops->n_views; v++)
    {
      offset[v] = line->offset[v];
      next[v] = loops->stride[v][inner];
    }
  n = MIN (loops->extent[inner] - line->index[inner], (end - 1 - offset[0]) / next[0] + 1);
  n = MIN (n, PART / loops->length);
  if (loops->length > longest)
    boxes = (Boxes){ loops->length, n, offset, loops->step, next };
  else
    boxes = (Boxes){ n, loops->length, offset, next, loops->step };
  run_boxes (e, site, &boxes);
  line->index[inner] += n - 1;
  for (guint v = 0; v < loops->n_views; v++)
    line->offset[v] += (n - 1) * next[v];
}

static void
run_part (gconstpointer state, const CleaveSite *site, gint64 begin, gint64 end)
{
  const Elementwise *e = state;
  gint64 last = (e->loops.length - 1) * e->loops.step[0]; /* of a line */
  CleaveLine line;

  for (gboolean more = cleave_line_find (&e->loops, begin, &line); more && line.offset[0] < end;
       more = cleave_line_next (&e->loops, &line))
    {
      gint64 offset[CLEAVE_LOOP_VIEWS], length;

      if (line.offset[0] >= begin &&
          line.offset[0] + last < end) /* nearly all, if lines are short */
        {
          run_lines (e, site, &line, end - last);
          continue;
        }
      length = cleave_line_cut (&e->loops, &line, begin, end, offset);
      if (length > 0)
        run_line (e, site, offset, length);
    }
}

static gboolean
tells (gconstpointer state)
{
  const Elementwise *e = state;

  return cleave_loops_nest (&e->loops);
}

static gboolean
does_stages (gconstpointer state, const CleaveSite *site, guint *along)
{
  const Elementwise *e = state;

  *along = CLEAVE_ALONG_ALL;
  return e->own.op != CLEAVE_STAGE_NONE;
}

/* `vectors` of them, known to the compiler, or the first m elements of one if `some`. */
static CLEAVE_SPECIALISED void
run_block (const CleaveStages *own,
           const CleaveStages *stages,
           const float *from,
           float *y,
           int vectors,
           gint64 m,
           gboolean some)
{
  const CleaveStaged at = { .y = y, .step = CLEAVE_VECTOR, .m = m, .some = some };
  CleaveVector sum[BLOCK];

  for (int i = 0; i < vectors; i++)
    sum[i] = cleave_staged_load (&at, from + i * CLEAVE_VECTOR);
  cleave_stages_do (own, &at, vectors, 1, sum);
  cleave_stages_do (stages, &at, vectors, 1, sum);
  if (some)
    memcpy (y, sum, (gsize) m * sizeof *y);
  else
    for (int i = 0; i < vectors; i++)
      cleave_vector_store (y + i * CLEAVE_VECTOR, sum[i]);
}

/* Elements [begin, end), and what the stages make of them. */
static void
run_stages (const Elementwise *e,
            const CleaveSite *site,
            const CleaveStages *stages,
            gint64 begin,
            gint64 end)
{
  const CleaveFollower self = { .site = site, .stage = e->own };
  const CleaveStages own = { 1, &self, site->results[0].data, FALSE };
  const float *from = site->operands[e->own.v].data;
  float *y = site->results[0].data;

  for (; begin + BLOCK * CLEAVE_VECTOR <= end; begin += BLOCK * CLEAVE_VECTOR)
    run_block (&own, stages, from + begin, y + begin, BLOCK, 0, FALSE);
  for (; begin + CLEAVE_VECTOR <= end; begin += CLEAVE_VECTOR)
    run_block (&own, stages, from + begin, y + begin, 1, 0, FALSE);
  if (begin < end)
    run_block (&own, stages, from + begin, y + begin, 1, end - begin, TRUE);
}

static void
run (gconstpointer state, const CleaveSite *site, gpointer scratch)
{
  const Elementwise *e = state;
  CleaveStages stages = cleave_stages_of (site);
  gint64 end = cleave_loops_end (&e->loops);
  gint64 length = site->n_followers == 0 ? G_MAXINT64 : PART;

  for (gint64 begin = 0; begin < end; begin += MIN (length, end - begin))
    {
      gint64 stop = begin + MIN (length, end - begin);

      if (stages.n > 0)
        run_stages (e, site, &stages, begin, stop);
      else
        run_part (state, site, begin, stop);
      cleave_site_made (site, begin, stop);
    }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_elementwise); /* for levels.h */
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_elementwise) = { .prepare = prepare,
                                                    .run = run,
                                                    .free = g_free,
                                                    .run_part = run_part,
                                                    .tells = tells,
                                                    .stage = stage,
                                                    .does_stages = does_stages };
