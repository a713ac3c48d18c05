/* SPDX-License-Identifier: GPL-2.0-or-later */

/* From one element type to another: Cast between floats of any size and from whole numbers to them,
 * and the quantising ops.  Element by element as the reference kernels, but along lines, the
 * innermost dimension of the result first. */

#include "byte-table.h"
#include "finish.h"
#include "float-range.h"
#include "integers/written-add.h"
#include "level.h"
#include "loops.h"
#include "quantize-line.h"
#include "vector.h"

enum { X, SCALE, ZERO };
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
  static void name (const Convert *c, const Line *line)                                            \
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
static void
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
static void
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

/* By way of a float, which holds all that is served. */
static void
cast (const Convert *c, const Line *line)
{
  const char *x = line->x;
  char *y = line->y;
  float buffer[LINE];

  if (c->to == CLEAVE_FLOAT32 && line->y_step == 1)
    {
      cleave_upcast (c->from, x, line->x_step, 0, line->y, line->n);
      return;
    }
  for (gint64 i = 0, n; i < line->n; i += n)
    {
      n = MIN (line->n - i, LINE);
      cleave_upcast (c->from, x + i * line->x_step * c->loops.size[X_VIEW], line->x_step, 0, buffer,
                     n);
      if (c->to == CLEAVE_FLOAT32)
        for (gint64 j = 0; j < n; j++)
          ((float *) (void *) y)[(i + j) * line->y_step] = buffer[j];
      else
        cleave_narrow (c->to, buffer, y + i * line->y_step * c->loops.size[Y_VIEW], line->y_step,
                       n);
    }
}

/* Preparing. */

/* A scale or a zero point as something that is broadcast to X; one that is absent is a 0. */
static CleaveView
along_axis (const CleaveKernelInstance *instance, guint operand)
{
  const CleaveAxisAttrs *a = instance->call.attrs;
  CleaveView view = { .type = CLEAVE_SCALAR (instance->operands[X].type.element) };
  const CleaveView *from;

  if (!cleave_call_has (&instance->call, operand))
    return view;
  from = &instance->operands[operand];
  view.data = from->data;
  view.type.element = from->type.element;
  if (cleave_shape_n_elements (&from->type.shape) == 1)
    return view;
  view.type.shape = instance->operands[X].type.shape;
  for (guint d = 0; d < view.type.shape.rank; d++)
    view.type.shape.dim[d] = 1;
  view.type.shape.dim[a->axis] = from->type.shape.dim[0];
  view.stride[a->axis] = from->stride[0];
  return view;
}

static void
plan (Convert *c, const CleaveKernelInstance *instance, const CleaveView *views, guint n)
{
  c->from = instance->operands[X].type.element;
  c->to = instance->results[0].type.element;
  cleave_loops_init (&c->loops, &instance->results[0], views, n);
}

static void
plan_quantized (Convert *c, const CleaveKernelInstance *instance)
{
  const CleaveView views[] = { instance->operands[X], along_axis (instance, SCALE),
                               along_axis (instance, ZERO) };

  plan (c, instance, views, G_N_ELEMENTS (views));
}

static void
plan_quantize (Convert *c, const CleaveKernelInstance *instance)
{
  plan_quantized (c, instance);
  if (c->from == CLEAVE_FLOAT32)
    c->line = quantize_float;
  else
    c->line = c->to == CLEAVE_INT8 ? quantize_int32_int8 : quantize_int32_uint8;
}

static void
plan_dequantize (Convert *c, const CleaveKernelInstance *instance)
{
  plan_quantized (c, instance);
  c->line = c->from == CLEAVE_INT8    ? dequantize_int8
            : c->from == CLEAVE_UINT8 ? dequantize_uint8
                                      : dequantize_int32;
}

/* Lines are those of x: what there is of it is looked at twice, and an image may have but three
 * channels, which lie apart in the one and side by side in the other. */
static void
plan_dynamic (Convert *c, const CleaveKernelInstance *instance)
{
  plan (c, instance, &instance->operands[X], 1);
  cleave_loops_init_along (&c->loops, &instance->operands[X], &instance->results[0],
                           &instance->operands[X], 1);
}

static void
plan_add (Convert *c, const CleaveKernelInstance *instance)
{
  plan (c, instance, instance->operands, 2);
  c->add = instance->call.attrs;
}

static void
plan_table (Convert *c, const CleaveKernelInstance *instance)
{
  plan (c, instance, instance->operands, 1);
  c->table = ((const CleaveWrittenTable *) instance->call.attrs)->table;
}

static void
plan_cast (Convert *c, const CleaveKernelInstance *instance)
{
  plan (c, instance, &instance->operands[X], 1);
  c->line = cast;
}

extern const CleaveOp cleave_op_quantize_linear, cleave_op_dequantize_linear,
    cleave_op_dynamic_quantize_linear, cleave_op_cast;

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  static const struct
  {
    const CleaveOp *op;
    void (*plan) (Convert *c, const CleaveKernelInstance *instance);
  } plans[] = { { &cleave_op_quantize_linear, plan_quantize },
                { &cleave_op_dequantize_linear, plan_dequantize },
                { &cleave_op_dynamic_quantize_linear, plan_dynamic },
                { &cleave_op_written_add, plan_add },
                { &cleave_op_written_table, plan_table },
                { &cleave_op_cast, plan_cast } };

  for (guint i = 0; i < G_N_ELEMENTS (plans); i++)
    if (plans[i].op == instance->call.op)
      {
        Convert *c = g_new0 (Convert, 1);

        plans[i].plan (c, instance);
        *state = c;
        return TRUE;
      }
  return FALSE;
}

/* Running. */

static void
run_line (gconstpointer state, const CleaveKernelInstance *instance, const gint64 *offset, gint64 n)
{
  static const gint32 none = 0;
  const Convert *c = state;
  const gint64 *step = c->loops.step, *size = c->loops.size;
  Line line = { .x = (const char *) instance->operands[X].data + offset[X_VIEW] * size[X_VIEW],
                .zero = &none,
                .y = (char *) instance->results[0].data + offset[Y_VIEW] * size[Y_VIEW],
                .x_step = step[X_VIEW],
                .y_step = step[Y_VIEW],
                .n = n };

  if (c->loops.n_views > SCALE_VIEW)
    {
      line.scale = (const float *) instance->operands[SCALE].data + offset[SCALE_VIEW];
      line.scale_step = step[SCALE_VIEW];
    }
  if (c->loops.n_views > ZERO_VIEW && cleave_call_has (&instance->call, ZERO))
    {
      line.zero =
          (const char *) instance->operands[ZERO].data + offset[ZERO_VIEW] * size[ZERO_VIEW];
      line.zero_step = step[ZERO_VIEW];
    }
  c->line (c, &line);
}

static void
run_add (gconstpointer state, const CleaveKernelInstance *instance, const gint64 *offset, gint64 n)
{
  const Convert *c = state;
  CleaveAddLine line = { .y = (guint8 *) instance->results[0].data + offset[Y_VIEW],
                         .y_step = c->loops.step[Y_VIEW],
                         .n = n };

  for (guint i = 0; i < 2; i++)
    {
      line.x[i] = (const char *) instance->operands[i].data +
                  offset[X_VIEW + i] * c->loops.size[X_VIEW + i];
      line.x_step[i] = c->loops.step[X_VIEW + i];
    }
  cleave_add_line (&line, c->add);
}

static void
run_table (gconstpointer state,
           const CleaveKernelInstance *instance,
           const gint64 *offset,
           gint64 n)
{
  const Convert *c = state;

  cleave_byte_table_line (
      c->table, (const guint8 *) instance->operands[X].data + offset[X_VIEW], c->loops.step[X_VIEW],
      (guint8 *) instance->results[0].data + offset[Y_VIEW], c->loops.step[Y_VIEW], n);
}

static void
run_dynamic (const Convert *c, const CleaveKernelInstance *instance)
{
  enum { Y_SCALE = 1, Y_ZERO };
  const float *x = instance->operands[X].data;
  guint8 *y = instance->results[0].data;
  const CleaveLoops *loops = &c->loops;
  void (*quantize) (const Convert *c, const Line *line) =
      loops->step[Y_VIEW] == 1 ? quantize_float : quantize_apart;
  CleaveFloatRange range = { 0, 0 };
  CleaveLine line;
  guint8 zero;
  float scale;

  for (gboolean more = cleave_line_first (loops, &line); more;
       more = cleave_line_next (loops, &line))
    cleave_float_range_extend (&range, x + line.offset[X_VIEW], loops->step[X_VIEW], loops->length);
  scale = range.high == range.low ? 1 : (range.high - range.low) / 255;
  zero = (guint8) cleave_quantize_byte (0 - range.low / scale, 0, 0, G_MAXUINT8);
  *(float *) instance->results[Y_SCALE].data = scale;
  *(guint8 *) instance->results[Y_ZERO].data = zero;
  for (gboolean more = cleave_line_first (loops, &line); more;
       more = cleave_line_next (loops, &line))
    quantize (c, &(Line){ .x = x + line.offset[X_VIEW],
                          .scale = &scale,
                          .zero = &zero,
                          .y = y + line.offset[Y_VIEW],
                          .x_step = loops->step[X_VIEW],
                          .y_step = loops->step[Y_VIEW],
                          .n = loops->length });
}

static CleaveLineRun
line_run (const Convert *c)
{
  return c->add != NULL ? run_add : c->table != NULL ? run_table : run_line;
}

static gboolean
is_dynamic (const Convert *c)
{
  return c->add == NULL && c->table == NULL && c->line == NULL;
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Convert *c = state;

  if (is_dynamic (c))
    run_dynamic (c, instance);
  else
    cleave_loops_run (&c->loops, line_run (c), c, instance);
}

/* Never of what is dynamic: its bytes lie nowhere as the floats do that it reads. */
static void
run_part (gconstpointer state, const CleaveKernelInstance *instance, gint64 begin, gint64 end)
{
  const Convert *c = state;

  cleave_loops_run_part (&c->loops, line_run (c), c, instance, begin, end);
}

static gboolean
reports_progress (gconstpointer state)
{
  const Convert *c = state;

  return c->line != NULL && cleave_loops_nest (&c->loops);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_convert); /* for levels.h */
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_convert) = { .prepare = prepare,
                                                .run = run,
                                                .free = g_free,
                                                .run_part = run_part,
                                                .reports_progress = reports_progress };
