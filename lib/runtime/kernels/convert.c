/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of Cast, of ops that quantize or dequantize, and of element-wise ops of
 * TensorFlow Lite on integers. The family computes in the order of the reference kernels, along
 * lines of the innermost dimension of the result.
 *
 * Over 400 lines: the plans and the runs in this file share their state and their loops. */

#include "byte-table.h"
#include "convert-lines.h"
#include "float-range.h"
#include "level.h"

#include <string.h>

enum { X, SCALE, ZERO };
enum { TABLE = 1 }; /* index of the table operand of a TfliteLookup */

/* Shortest line, in elements, of a Cast (FEW) and of an op that quantizes (FEW_TO_QUANTIZE). If the
 * innermost dimension is shorter, the lines run along the longest dimension. An op that quantizes
 * needs longer lines, since it uses vectors. Quantizing along the innermost dimension takes longer
 * than along the longest dimension: 2 times as long for 3 x 1024 x 21 elements, 7 times as long for
 * 3 x 1024 x 4. */
#define FEW 16
#define FEW_TO_QUANTIZE 32
/* Lines of bytes with fewer elements than FEW_OF_ROW are copied into one contiguous buffer, several
 * lines at a time, if there are many lines. */
#define FEW_OF_ROW 64

/* The following functions prepare a kernel. */

/* Returns a scale or zero point as a view that is broadcast to operand X. An absent operand becomes
 * a scalar 0. */
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
  c->parts = c->loops;
  cleave_loops_lengthen (&c->loops, FEW);
}

/* Plans `rows`, the loops that process several short lines of bytes together. Does nothing if lines
 * are long, or if elements have different scales or zero points. */
static void
find_rows (Convert *c)
{
  const CleaveLoops *parts = &c->parts;
  guint inner = parts->n_dims - 1;

  if (parts->n_dims == 0 || parts->length >= FEW_OF_ROW || parts->size[X_VIEW] != 1 ||
      parts->step[X_VIEW] != 1 || parts->step[Y_VIEW] != 1)
    return;
  for (guint v = SCALE_VIEW; v < parts->n_views; v++)
    if (parts->step[v] != 0 || parts->stride[v][inner] != 0)
      return;
  c->rows = *parts;
  c->n_of_row = parts->length;
  c->rows.length = parts->extent[inner];
  c->rows.n_dims = inner;
  for (guint v = 0; v < parts->n_views; v++)
    c->rows.step[v] = parts->stride[v][inner];
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
  cleave_loops_lengthen (&c->loops, FEW_TO_QUANTIZE);
  if (c->to == CLEAVE_INT16)
    c->line = c->from == CLEAVE_FLOAT32 ? quantize_float_int16 : quantize_int32_int16;
  else if (c->to == CLEAVE_UINT16)
    c->line = c->from == CLEAVE_FLOAT32 ? quantize_float_uint16 : quantize_int32_uint16;
  else if (c->from == CLEAVE_FLOAT32)
    c->line = quantize_float;
  else
    c->line = c->to == CLEAVE_INT8 ? quantize_int32_int8 : quantize_int32_uint8;
}

static void
plan_dequantize (Convert *c, const CleaveKernelInstance *instance)
{
  plan_quantized (c, instance);
  c->line = c->from == CLEAVE_INT8     ? dequantize_int8
            : c->from == CLEAVE_UINT8  ? dequantize_uint8
            : c->from == CLEAVE_INT16  ? dequantize_int16
            : c->from == CLEAVE_UINT16 ? dequantize_uint16
                                       : dequantize_int32;
  find_rows (c);
}

/* Plans DynamicQuantizeLinear, which reads x twice. Its lines follow the memory order of x; the
 * memory order of y may differ. */
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
  c->table = ((const CleaveQdqTable *) instance->call.attrs)->table;
  find_rows (c);
}

/* Plans a TfliteLookup. If the table is not constant, leaves the node to the reference kernel. */
static void
plan_lookup (Convert *c, const CleaveKernelInstance *instance)
{
  const guint flip = instance->operands[X].type.element == CLEAVE_INT8 ? 128 : 0;
  g_autoptr (CleaveTensor) dense = NULL;
  const guint8 *table;

  c->is_unfit = instance->constants[TABLE] == NULL;
  if (c->is_unfit)
    return;
  dense = cleave_tensor_dup_dense (instance->constants[TABLE]);
  table = cleave_tensor_get_data (dense);
  for (guint i = 0; i < G_N_ELEMENTS (c->bytes); i++)
    c->bytes[i] = table[i ^ flip];
  c->table = c->bytes;
  plan (c, instance, instance->operands, 1);
  find_rows (c);
}

static void
plan_cast (Convert *c, const CleaveKernelInstance *instance)
{
  plan (c, instance, &instance->operands[X], 1);
  c->cast = CLEAVE_LEVELLED (cleave_cast_line_find) (c->from, c->to);
  c->line = cast;
}

extern const CleaveOp cleave_op_tflite_add, cleave_op_tflite_sub, cleave_op_tflite_mul,
    cleave_op_tflite_squared_difference, cleave_op_tflite_prelu, cleave_op_tflite_rescale,
    cleave_op_tflite_quantize;

static void
plan_tflite (Convert *c, const CleaveKernelInstance *instance)
{
  static const struct
  {
    const CleaveOp *op;
    CleaveTfliteLineKind kind;
  } kinds[] = {
    { &cleave_op_tflite_add, CLEAVE_TFLITE_LINE_ADD },
    { &cleave_op_tflite_sub, CLEAVE_TFLITE_LINE_SUB },
    { &cleave_op_tflite_mul, CLEAVE_TFLITE_LINE_MUL },
    { &cleave_op_tflite_squared_difference, CLEAVE_TFLITE_LINE_SQUARED_DIFFERENCE },
    { &cleave_op_tflite_prelu, CLEAVE_TFLITE_LINE_PRELU },
    { &cleave_op_tflite_rescale, CLEAVE_TFLITE_LINE_RESCALE },
    { &cleave_op_tflite_quantize, CLEAVE_TFLITE_LINE_QUANTIZE },
  };
  guint n = instance->call.n_operands, i = 0;

  while (kinds[i].op != instance->call.op)
    i++;
  plan (c, instance, instance->operands, n);
  c->tflite.kind = kinds[i].kind;
  c->tflite.attrs = instance->call.attrs;
  c->tflite.y = c->to;
  for (guint k = 0; k < n; k++)
    c->tflite.x[k] = instance->operands[k].type.element;
}

extern const CleaveOp cleave_op_quantize_linear, cleave_op_dequantize_linear,
    cleave_op_dynamic_quantize_linear, cleave_op_tflite_lookup, cleave_op_cast;

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
                { &cleave_op_qdq_add, plan_add },
                { &cleave_op_qdq_table, plan_table },
                { &cleave_op_tflite_lookup, plan_lookup },
                { &cleave_op_tflite_add, plan_tflite },
                { &cleave_op_tflite_sub, plan_tflite },
                { &cleave_op_tflite_mul, plan_tflite },
                { &cleave_op_tflite_squared_difference, plan_tflite },
                { &cleave_op_tflite_prelu, plan_tflite },
                { &cleave_op_tflite_rescale, plan_tflite },
                { &cleave_op_tflite_quantize, plan_tflite },
                { &cleave_op_cast, plan_cast } };

  for (guint i = 0; i < G_N_ELEMENTS (plans); i++)
    if (plans[i].op == instance->call.op)
      {
        Convert *c = g_new0 (Convert, 1);

        plans[i].plan (c, instance);
        if (c->is_unfit)
          g_clear_pointer (&c, g_free);
        *state = c;
        return c != NULL;
      }
  return FALSE;
}

/* The following functions run a kernel. */

typedef struct
{
  const Convert *c;
  /* the loops that are run: the field `loops`, `parts` or `rows` of `c` */
  const CleaveLoops *loops;
} Along;

static void
run_line (gconstpointer state, const CleaveKernelInstance *instance, const gint64 *offset, gint64 n)
{
  static const gint32 none = 0;
  const Convert *c = ((const Along *) state)->c;
  const CleaveLoops *loops = ((const Along *) state)->loops;
  const gint64 *step = loops->step, *size = loops->size;
  Line line = { .x = (const char *) instance->operands[X].data + offset[X_VIEW] * size[X_VIEW],
                .zero = &none,
                .y = (char *) instance->results[0].data + offset[Y_VIEW] * size[Y_VIEW],
                .x_step = step[X_VIEW],
                .y_step = step[Y_VIEW],
                .n = n };

  if (loops->n_views > SCALE_VIEW)
    {
      line.scale = (const float *) instance->operands[SCALE].data + offset[SCALE_VIEW];
      line.scale_step = step[SCALE_VIEW];
    }
  if (loops->n_views > ZERO_VIEW && cleave_call_has (&instance->call, ZERO))
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
  const Along *along = state;
  const CleaveLoops *loops = along->loops;
  CleaveAddLine line = { .y = (guint8 *) instance->results[0].data + offset[Y_VIEW],
                         .y_step = loops->step[Y_VIEW],
                         .n = n };

  for (guint i = 0; i < 2; i++)
    {
      line.x[i] =
          (const char *) instance->operands[i].data + offset[X_VIEW + i] * loops->size[X_VIEW + i];
      line.x_step[i] = loops->step[X_VIEW + i];
    }
  cleave_add_line (&line, along->c->add);
}

static void
run_tflite (gconstpointer state,
            const CleaveKernelInstance *instance,
            const gint64 *offset,
            gint64 n)
{
  const Along *along = state;
  const CleaveLoops *loops = along->loops;
  CleaveTfliteLine line = { .y = (char *) instance->results[0].data +
                                 offset[Y_VIEW] * loops->size[Y_VIEW],
                            .y_step = loops->step[Y_VIEW],
                            .n = n };

  for (guint i = 0; X_VIEW + i < loops->n_views; i++)
    {
      line.x[i] =
          (const char *) instance->operands[i].data + offset[X_VIEW + i] * loops->size[X_VIEW + i];
      line.x_step[i] = loops->step[X_VIEW + i];
    }
  cleave_tflite_line_run (&along->c->tflite, &line);
}

static void
run_table (gconstpointer state,
           const CleaveKernelInstance *instance,
           const gint64 *offset,
           gint64 n)
{
  const Along *along = state;
  const gint64 *step = along->loops->step;

  cleave_byte_table_line (
      along->c->table, (const guint8 *) instance->operands[X].data + offset[X_VIEW], step[X_VIEW],
      (guint8 *) instance->results[0].data + offset[Y_VIEW], step[Y_VIEW], n);
}

/* Copies n_rows rows of n bytes, in units of `by` bytes, a compile-time constant. The last unit of
 * a row may overlap the unit before it. */
static inline __attribute__ ((always_inline)) void
copy_rows_by (gint64 by,
              char *to,
              gint64 to_step,
              const char *from,
              gint64 from_step,
              gint64 n,
              gint64 n_rows)
{
  for (gint64 row = 0; row < n_rows; row++, to += to_step, from += from_step)
    {
      for (gint64 i = 0; i + by < n; i += by)
        memcpy (to + i, from + i, (gsize) by);
      memcpy (to + n - by, from + n - by, (gsize) by);
    }
}

static void
copy_rows (char *to, gint64 to_step, const char *from, gint64 from_step, gint64 n, gint64 n_rows)
{
  if (n >= 16)
    copy_rows_by (16, to, to_step, from, from_step, n, n_rows);
  else if (n >= 8)
    copy_rows_by (8, to, to_step, from, from_step, n, n_rows);
  else if (n >= 4)
    copy_rows_by (4, to, to_step, from, from_step, n, n_rows);
  else
    copy_rows_by (1, to, to_step, from, from_step, n, n_rows);
}

/* Converts the `n` elements of a line whose operand and result are contiguous. */
static void
run_dense (const Convert *c, const Line *line)
{
  if (c->table != NULL)
    cleave_byte_table_line (c->table, line->x, 1, line->y, 1, line->n);
  else
    c->line (c, line);
}

static void
run_rows (gconstpointer state, const CleaveKernelInstance *instance, const gint64 *offset, gint64 n)
{
  static const gint32 none = 0;
  const Convert *c = state;
  const CleaveLoops *loops = &c->rows;
  const gint64 row = c->n_of_row, size = loops->size[Y_VIEW], most = LINE / row;
  const gint64 x_step = loops->step[X_VIEW], y_step = loops->step[Y_VIEW] * size;
  const char *x = (const char *) instance->operands[X].data + offset[X_VIEW];
  char *y = (char *) instance->results[0].data + offset[Y_VIEW] * size;
  const gboolean is_dense = y_step == row * size;
  char of_x[LINE];
  float of_y[LINE];
  Line line = { .x = of_x, .x_step = 1, .zero = &none, .y_step = 1 };

  if (loops->n_views > SCALE_VIEW)
    line.scale = (const float *) instance->operands[SCALE].data + offset[SCALE_VIEW];
  if (loops->n_views > ZERO_VIEW && cleave_call_has (&instance->call, ZERO))
    line.zero =
        (const char *) instance->operands[ZERO].data + offset[ZERO_VIEW] * loops->size[ZERO_VIEW];
  for (gint64 some; n > 0; n -= some, x += some * x_step, y += some * y_step)
    {
      some = MIN (n, most);
      copy_rows (of_x, row, x, x_step, row, some);
      line.y = is_dense ? (gpointer) y : of_y;
      line.n = some * row;
      run_dense (c, &line);
      if (!is_dense)
        copy_rows (y, y_step, (const char *) of_y, row * size, row * size, some);
    }
}

static void
run_dynamic (const Convert *c, const CleaveKernelInstance *instance)
{
  enum { Y_SCALE = 1, Y_ZERO };
  const float *x = instance->operands[X].data;
  guint8 *y = instance->results[0].data;
  const CleaveLoops *loops = &c->loops;
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
    quantize_float (c, &(Line){ .x = x + line.offset[X_VIEW],
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
  return c->add != NULL       ? run_add
         : c->table != NULL   ? run_table
         : c->tflite.kind > 0 ? run_tflite
                              : run_line;
}

static gboolean
is_dynamic (const Convert *c)
{
  return c->add == NULL && c->table == NULL && c->line == NULL && c->tflite.kind == 0;
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Convert *c = state;
  const CleaveLoops *loops = instance->n_fused == 0 ? &c->loops : &c->parts;

  if (is_dynamic (c))
    run_dynamic (c, instance);
  else if (c->n_of_row > 0 && instance->n_fused == 0)
    cleave_loops_run_lines (&c->rows, run_rows, c, instance);
  else
    cleave_loops_run (loops, line_run (c), &(Along){ c, loops }, instance);
}

/* Computes the elements [begin, end) of the result. DynamicQuantizeLinear cannot run in parts,
 * since its operand and result may have different strides. */
static void
run_part (gconstpointer state, const CleaveKernelInstance *instance, gint64 begin, gint64 end)
{
  const Convert *c = state;

  cleave_loops_run_part (&c->parts, line_run (c), &(Along){ c, &c->parts }, instance, begin, end);
}

static gboolean
reports_progress (gconstpointer state)
{
  const Convert *c = state;

  return c->line != NULL && cleave_loops_nest (&c->parts);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_convert);
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_convert) = { .prepare = prepare,
                                                .run = run,
                                                .free = g_free,
                                                .run_part = run_part,
                                                .reports_progress = reports_progress };
