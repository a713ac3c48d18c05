/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TfliteL2Normalize and TfliteLogSoftmax: L2_NORMALIZATION and LOG_SOFTMAX on int8 along the last
 * dimension, which no split cuts.
 *
 * TfliteL2Normalize: y = x / sqrt (sum of squares), in units of 1 / 128. The zero point of x is
 * subtracted first. The sum has 32 bits. Five steps of the Newton-Raphson method compute the
 * inverse root as a multiplier. Source: reference/integer_ops/l2normalization.h.
 *
 * TfliteLogSoftmax: y = d - ln (sum of exp (d)) + 127, in units of 1 / 16, with d the difference
 * from the maximum. For each of the 256 differences, the operand `differences` holds d in units of
 * 2^-26, and the operand `exponentials` holds exp (d) in units of 2^-19. A difference beyond the
 * range of the exponential is the smallest int32, and gives -128. The result is also -128 if d is
 * at most ln (sum) - 32. For this comparison, the attributes `multiplier` and `shift` convert ln
 * (sum) - 32 to the scale of x. Source: LogSoftmaxQuantized () of reference/log_softmax.h. */

#include "reference.h"
#include "tflite.h"

enum { X, DIFFERENCES, EXPONENTIALS };

#define TABLE_SIZE 256

/* A line of n elements along the last dimension, which the op normalizes. `x_step` and `y_step`:
 * distances of adjacent elements of the line in x and in y, in elements. */
typedef struct
{
  const CleaveTfliteRescaleAttrs *attrs;
  const gint32 *differences, *exponentials; /* the tables of TfliteLogSoftmax; NULL for
                                             * TfliteL2Normalize */
  const gint8 *x;
  gint8 *y;
  gint64 n, x_step, y_step;
} Row;

static gint32
element (const Row *row, gint64 i)
{
  return row->x[i * row->x_step];
}

static void
store (const Row *row, gint64 i, gint32 value)
{
  row->y[i * row->y_step] = (gint8) CLAMP (value, G_MININT8, G_MAXINT8);
}

static void
normalize_row (const Row *row)
{
  const gint bits = 7; /* number of bits of the result after the binary point */
  gint32 zero = (gint32) row->attrs->x_zero, multiplier;
  guint32 sum = 0;
  gint shift;

  for (gint64 i = 0; i < row->n; i++)
    sum += (guint32) ((element (row, i) - zero) * (element (row, i) - zero));
  cleave_fixed_inverse_root ((gint32) sum, &multiplier, &shift);
  for (gint64 i = 0; i < row->n; i++)
    store (row, i, cleave_fixed_multiply (element (row, i) - zero, multiplier, shift + bits));
}

static void
log_softmax_row (const Row *row)
{
  const gint bits = 22; /* the unit of differences is 2^bits times finer than the unit of results */
  gint32 max = G_MININT8, logarithm, bound;
  guint32 sum = 0;

  for (gint64 i = 0; i < row->n; i++)
    max = MAX (max, element (row, i));
  for (gint64 i = 0; i < row->n; i++)
    sum += (guint32) row->exponentials[max - element (row, i)];
  logarithm = cleave_fixed_log ((gint32) CLAMP (sum, 1u << 19, (guint32) G_MAXINT32));
  bound = cleave_fixed_multiply ((gint32) ((guint32) logarithm + (1u << 31)),
                                 (gint32) row->attrs->multiplier, (gint) row->attrs->shift);
  for (gint64 i = 0; i < row->n; i++)
    {
      gint32 below = max - element (row, i), d = row->differences[below];
      gint32 rest = (gint32) ((guint32) d - (guint32) logarithm);
      gboolean is_least = d == G_MININT32 || -below <= bound;

      store (row, i, is_least ? G_MININT8 : cleave_fixed_shift_right (rest, bits) + G_MAXINT8);
    }
}

static void
compute (const CleaveCall *call,
         const CleaveView *operands,
         const CleaveView *results,
         void (*compute_row) (const Row *row))
{
  const CleaveView *x = &operands[X], *y = &results[0];
  guint last = x->type.shape.rank - 1;
  CleaveShape rows = y->type.shape;
  gint32 tables[2][TABLE_SIZE];
  gint64 at[CLEAVE_MAX_RANK];
  gboolean has_tables = call->n_operands > 1;

  for (gint64 i = 0; has_tables && i < TABLE_SIZE; i++)
    {
      tables[0][i] = *(const gint32 *) cleave_view_at (&operands[DIFFERENCES], &i);
      tables[1][i] = *(const gint32 *) cleave_view_at (&operands[EXPONENTIALS], &i);
    }
  rows.dim[last] = MIN (rows.dim[last], 1);
  CLEAVE_EACH_INDEX (at, &rows)
    {
      Row row = { .attrs = call->attrs,
                  .differences = has_tables ? tables[0] : NULL,
                  .exponentials = has_tables ? tables[1] : NULL,
                  .x = cleave_view_at (x, at),
                  .y = cleave_view_at (y, at),
                  .n = y->type.shape.dim[last],
                  .x_step = x->stride[last],
                  .y_step = y->stride[last] };

      compute_row (&row);
    }
}

#define INT(field) CLEAVE_TFLITE_INT (CleaveTfliteRescaleAttrs, field)

/* The code below defines the op TfliteL2Normalize. */

static gboolean
infer_l2_normalize (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTfliteRescaleAttrs *a = call->attrs;

  results[0] = call->operands[X];
  return cleave_call_check_element (call, X, CLEAVE_ELEMENT_BIT (CLEAVE_INT8), error) &&
         cleave_call_check_rank (call, X, 1, CLEAVE_MAX_RANK, error) &&
         cleave_tflite_check_zero ("x_zero", CLEAVE_INT8, a->x_zero, error);
}

static void
compute_l2_normalize (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  compute (call, operands, results, normalize_row);
}

static const CleaveAttr l2_normalize_attrs[] = { INT (x_zero), { 0 } };

const CleaveOp cleave_op_tflite_l2_normalize = {
  .name = "TfliteL2Normalize",
  .operands = (const char *const[]){ "x", NULL },
  .results = (const char *const[]){ "y", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_NOT_ONNX,
  .attrs_size = sizeof (CleaveTfliteRescaleAttrs),
  .attrs = l2_normalize_attrs,
  .infer = infer_l2_normalize,
  .maps = cleave_tflite_softmax_maps,
  .narrow = cleave_tflite_softmax_narrow,
  .work = cleave_work_once,
  .compute = compute_l2_normalize,
};

/* The code below defines the op TfliteLogSoftmax. */

static gboolean
infer_log_softmax (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTfliteRescaleAttrs *a = call->attrs;

  results[0] = call->operands[X];
  return cleave_call_check_element (call, X, CLEAVE_ELEMENT_BIT (CLEAVE_INT8), error) &&
         cleave_call_check_rank (call, X, 1, CLEAVE_MAX_RANK, error) &&
         cleave_tflite_check_table (call, DIFFERENCES, CLEAVE_INT32, TABLE_SIZE, error) &&
         cleave_tflite_check_table (call, EXPONENTIALS, CLEAVE_INT32, TABLE_SIZE, error) &&
         cleave_tflite_check_factor (a->multiplier, a->shift, error);
}

static void
compute_log_softmax (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  compute (call, operands, results, log_softmax_row);
}

static const CleaveAttr log_softmax_attrs[] = { INT (multiplier), INT (shift), { 0 } };
#undef INT

const CleaveOp cleave_op_tflite_log_softmax = {
  .name = "TfliteLogSoftmax",
  .operands = (const char *const[]){ "x", "differences", "exponentials", NULL },
  .results = (const char *const[]){ "y", NULL },
  .min_operands = 3,
  .flags = CLEAVE_OP_NOT_ONNX,
  .attrs_size = sizeof (CleaveTfliteRescaleAttrs),
  .attrs = log_softmax_attrs,
  .infer = infer_log_softmax,
  .maps = cleave_tflite_softmax_maps,
  .narrow = cleave_tflite_softmax_narrow,
  .work = cleave_work_once,
  .compute = compute_log_softmax,
};
