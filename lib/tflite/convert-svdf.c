/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts SVDF, a layer of F filters over the last M time steps. The state of a filter is a line
 * of its last M results, the oldest first:
 *
 *   x [B, I] ──► weights_feature [F, I] ──► [B, F, 1] ──┐
 *   state [B, F, M] ──► without the first column ───────┴─► Concat ──► next state [B, F, M]
 *
 *   y [B, U] = bias + next state * weights_time [F, M], summed over the M steps and the F / U
 *   filters of a unit */

#include "convert.h"

#include "../ops/tflite.h"

enum { SVDF_X, SVDF_FEATURE, SVDF_TIME, SVDF_BIAS };
enum { SVDF_RANK, SVDF_ACTIVATION };

typedef struct
{
  gint64 batch, inputs, filters, memory, units;
  CleaveResult *x, *feature, *time, *bias, *state;
} Svdf;

static gboolean
read_svdf (CleaveTfliteImport *import, Svdf *s, GError **error)
{
  const CleaveShape *x = &cleave_tflite_input_type (import, SVDF_X)->shape;
  const CleaveShape *feature = &cleave_tflite_input_type (import, SVDF_FEATURE)->shape;
  const CleaveShape *time = &cleave_tflite_input_type (import, SVDF_TIME)->shape;
  CleaveShape state;
  gint64 rank;

  if (!cleave_tflite_option (import, SVDF_RANK, 4, 0, &rank, error) ||
      !cleave_tflite_find_state (import, CLEAVE_TFLITE_SVDF_STATE, &s->state, error) ||
      !cleave_tflite_find_result (import, SVDF_X, &s->x, error) ||
      !cleave_tflite_find_result (import, SVDF_FEATURE, &s->feature, error) ||
      !cleave_tflite_find_result (import, SVDF_TIME, &s->time, error) ||
      !cleave_tflite_find_result (import, SVDF_BIAS, &s->bias, error))
    return FALSE;
  if (x->rank != 2 || feature->rank != 2 || time->rank != 2 || feature->dim[1] != x->dim[1] ||
      time->dim[0] != feature->dim[0] || time->dim[1] < 1)
    return cleave_tflite_refuse (
        error, "x must be [B, I], the weights of features [F, I] and those of time [F, M]");
  if (rank < 1 || feature->dim[0] % rank != 0)
    return cleave_tflite_refuse (
        error, "the rank %" G_GINT64_FORMAT " does not divide the %" G_GINT64_FORMAT " filters",
        rank, feature->dim[0]);
  *s = (Svdf){ x->dim[0], x->dim[1],  feature->dim[0], time->dim[1], feature->dim[0] / rank,
               s->x,      s->feature, s->time,         s->bias,      s->state };
  state = CLEAVE_SHAPE (s->batch, s->filters * s->memory);
  if (!cleave_shape_equal (&cleave_result_get_type (s->state)->shape, &state))
    return cleave_tflite_refuse (error, "the state must be [B, F * M]");
  return TRUE;
}

/* Returns the next state as [B, F, M]: the old state without its first column, then `newest`, the
 * newest results of the filters. Also sets the state for the next run. */
static CleaveResult *
push (CleaveTfliteImport *import, const Svdf *s, CleaveResult *newest, GError **error)
{
  CleaveShape lines = CLEAVE_SHAPE (s->batch, s->filters, s->memory);
  CleaveShape column = CLEAVE_SHAPE (s->batch, s->filters, 1);
  CleaveShape flat = cleave_result_get_type (s->state)->shape;
  CleaveSliceAttrs tail = { .starts = CLEAVE_INTS (1),
                            .ends = CLEAVE_INTS (s->memory),
                            .axes = CLEAVE_INTS (2) };
  CleaveAxisAttrs last = { 2 };
  CleaveResult *parts[2] = { cleave_tflite_add_reshape (import, s->state, &lines, error),
                             cleave_tflite_add_reshape (import, newest, &column, error) };
  CleaveResult *next = parts[1];

  if (s->memory > 1)
    {
      parts[0] = cleave_tflite_add_unary (import, "Slice", parts[0], &tail, error);
      if (parts[0] == NULL || parts[1] == NULL)
        return NULL;
      next = cleave_tflite_add (import, "Concat", parts, 2, &last, error);
    }
  return cleave_tflite_set_state (import, CLEAVE_TFLITE_SVDF_STATE,
                                  cleave_tflite_add_reshape (import, next, &flat, error), error)
             ? next
             : NULL;
}

gboolean
cleave_tflite_convert_svdf (CleaveTfliteImport *import, GError **error)
{
  CleaveGemmAttrs product = { .alpha = 1, .beta = 1, .transB = TRUE };
  CleaveReduceAttrs sum = { .axes = { 1, { 2 } } };
  CleaveResult *y;
  CleaveShape by_unit;
  Svdf s;

  if (!read_svdf (import, &s, error))
    return FALSE;
  s.feature = cleave_tflite_float_weights (import, SVDF_FEATURE, s.feature, error);
  s.time =
      s.feature == NULL ? NULL : cleave_tflite_float_weights (import, SVDF_TIME, s.time, error);
  if (s.time == NULL)
    return FALSE;
  y = cleave_tflite_add (import, "Gemm", (CleaveResult *[]){ s.x, s.feature }, 2, &product, error);
  y = y == NULL ? NULL : push (import, &s, y, error);
  y = cleave_tflite_add_binary (import, "Mul", y, s.time, error);
  by_unit = CLEAVE_SHAPE (s.batch, s.units, s.filters / s.units * s.memory);
  y = cleave_tflite_add_reshape (import, y, &by_unit, error);
  y = cleave_tflite_add_unary (import, "ReduceSum", y, &sum, error);
  if (s.bias != NULL)
    y = cleave_tflite_add_binary (import, "Add", y, s.bias, error);
  return cleave_tflite_set (
      import, 0, cleave_tflite_add_activation (import, SVDF_ACTIVATION, y, error), error);
}

/* The scales of the tensors of an SVDF on integers. */
typedef struct
{
  CleaveTfliteScale x, feature, time, state, y;
} SvdfScales;

static gboolean
read_svdf_scales (CleaveTfliteImport *import, SvdfScales *q, GError **error)
{
  if (!cleave_tflite_read_scale (cleave_tflite_input (import, SVDF_X), &q->x, error) ||
      !cleave_tflite_read_scale (cleave_tflite_input (import, SVDF_FEATURE), &q->feature, error) ||
      !cleave_tflite_read_scale (cleave_tflite_input (import, SVDF_TIME), &q->time, error) ||
      !cleave_tflite_read_scale (cleave_tflite_input (import, CLEAVE_TFLITE_SVDF_STATE), &q->state,
                                 error) ||
      !cleave_tflite_read_scale (cleave_tflite_output (import, 0), &q->y, error))
    return FALSE;
  if (q->feature.zero != 0 || q->time.zero != 0)
    return cleave_tflite_refuse (error, "a zero point of the weights is not 0");
  if (cleave_tflite_input_type (import, SVDF_X)->element != CLEAVE_INT8 ||
      cleave_tflite_input_type (import, SVDF_FEATURE)->element != CLEAVE_INT8 ||
      cleave_tflite_output (import, 0)->type.element != CLEAVE_INT8)
    return cleave_tflite_refuse (error, "x, the weights of features and y must be int8");
  return TRUE;
}

/* Adds a product of x and the weights w in integers: a TfliteConv with a kernel of one position.
 * Rescales each sum of products, bias included, by `ratio`, and adds `y_zero`. `ratio` is the scale
 * of x times the scale of w, divided by the scale of the result. Returns the result, clamped to the
 * range of the element type `y`. */
static CleaveResult *
add_product (CleaveTfliteImport *import,
             CleaveResult *x,
             const CleaveTfliteScale *x_scale,
             CleaveResult *w,
             gint64 group,
             double ratio,
             CleaveElement y,
             gint32 y_zero,
             CleaveResult *bias,
             GError **error)
{
  CleaveElement element = x == NULL ? CLEAVE_NONE : cleave_result_get_type (x)->element;
  CleaveTfliteConvAttrs attrs = { .conv = { .layout = CLEAVE_LAYOUT_NHWC, .group = group },
                                  .min = cleave_tflite_lowest (y),
                                  .max = cleave_tflite_highest (y) };
  CleaveTfliteFactor factor;
  CleaveResult *operands[7] = { x, NULL, w, NULL, NULL, NULL, bias };

  if (x == NULL || w == NULL || !cleave_tflite_read_factor (ratio, &factor, error))
    return NULL;
  operands[1] = cleave_tflite_add_integer (import, element, x_scale->zero);
  operands[3] = cleave_tflite_add_data (import, CLEAVE_INT32, 1, &factor.multiplier);
  operands[4] = cleave_tflite_add_data (import, CLEAVE_INT32, 1, &factor.shift);
  operands[5] = cleave_tflite_add_integer (import, y, y_zero);
  return cleave_tflite_add (import, "TfliteConv", operands, bias == NULL ? 6 : 7, &attrs, error);
}

/* Adds the zero point of the state to x, the newest results of the filters. Returns the sum, which
 * wraps around in int8, as in the reference kernel. Fails if x is int16 and the zero point is not
 * 0. */
static CleaveResult *
add_zero (CleaveTfliteImport *import, CleaveResult *x, gint32 zero, GError **error)
{
  gint8 table[256];

  if (x == NULL || zero == 0)
    return x;
  if (cleave_result_get_type (x)->element != CLEAVE_INT8)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "the state of int16 has the zero point %d, it must be 0", zero);
  for (gint i = 0; i < 256; i++)
    table[i] = (gint8) (guint8) (i + G_MININT8 + zero);
  return cleave_tflite_add_binary (
      import, "TfliteLookup", x,
      cleave_tflite_add_data (import, CLEAVE_INT8, G_N_ELEMENTS (table), table), error);
}

gboolean
cleave_tflite_convert_integer_svdf (CleaveTfliteImport *import, GError **error)
{
  CleaveElement state;
  const CleaveShape *y_shape = &cleave_tflite_output (import, 0)->type.shape;
  CleaveShape x, feature, time, lines;
  CleaveResult *w, *y;
  SvdfScales q;
  Svdf s;

  if (!read_svdf (import, &s, error) || !read_svdf_scales (import, &q, error))
    return FALSE;
  state = cleave_tflite_input_type (import, CLEAVE_TFLITE_SVDF_STATE)->element;
  if (state != CLEAVE_INT8 && state != CLEAVE_INT16)
    return cleave_tflite_refuse (error, "the state must be int8 or int16");
  x = CLEAVE_SHAPE (1, s.batch, s.inputs);
  feature = CLEAVE_SHAPE (s.filters, s.inputs, 1);
  w = cleave_tflite_fold (import, cleave_tflite_add_reshape (import, s.feature, &feature, error),
                          error);
  y = add_product (import, cleave_tflite_add_reshape (import, s.x, &x, error), &q.x, w, 1,
                   (double) (q.x.scale * q.feature.scale / q.state.scale), state, 0, NULL, error);
  y = add_zero (import, y, q.state.zero, error);
  y = y == NULL ? NULL : push (import, &s, y, error);
  lines = CLEAVE_SHAPE (s.batch, 1, s.filters * s.memory);
  time = CLEAVE_SHAPE (s.units, s.filters / s.units * s.memory, 1);
  w = cleave_tflite_fold (import, cleave_tflite_add_reshape (import, s.time, &time, error), error);
  y = add_product (import, cleave_tflite_add_reshape (import, y, &lines, error), &q.state, w,
                   s.units, (double) (q.state.scale * q.time.scale / q.y.scale), CLEAVE_INT8,
                   q.y.zero, s.bias, error);
  return cleave_tflite_set (import, 0, cleave_tflite_add_reshape (import, y, y_shape, error),
                            error);
}
