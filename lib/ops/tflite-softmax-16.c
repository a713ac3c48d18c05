/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TfliteSoftmax16: SOFTMAX on int16 along the last dimension.
 *
 * Each of two tables holds 513 values in units of 2^-15, and the kernel interpolates between these
 * values. `exp_table` holds exp (t) for t from -10 to 0, and `reciprocal_table` holds 1 / (1 + t)
 * for t from 0 to 1. A multiplier brings the difference from the maximum to units of 10 / 65535.
 * Exponentials are added up in 32 bits; each exponential is multiplied by the reciprocal of the sum
 * and rounded, ties toward plus infinity. Source: SoftmaxInt16 () of reference/softmax.h. */

#include "reference.h"
#include "tflite.h"

enum { X, EXP, RECIPROCAL };

#define TABLE_SIZE 513

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTfliteRescaleAttrs *a = call->attrs;

  results[0] = call->operands[X];
  return cleave_call_check_element (call, X, CLEAVE_ELEMENT_BIT (CLEAVE_INT16), error) &&
         cleave_call_check_rank (call, X, 1, CLEAVE_MAX_RANK, error) &&
         cleave_tflite_check_table (call, EXP, CLEAVE_INT16, TABLE_SIZE, error) &&
         cleave_tflite_check_table (call, RECIPROCAL, CLEAVE_INT16, TABLE_SIZE, error) &&
         cleave_tflite_check_factor (a->multiplier, a->shift, error);
}

static gint32
table_at (const CleaveView *table, gint64 i)
{
  return *(const gint16 *) cleave_view_at (table, &i);
}

/* Returns the value of a table interpolated at x. The entries of the table stand for x from -2^15
 * to 2^15, at equal distances. */
static gint32
interpolate (const CleaveView *table, gint32 x)
{
  gint32 place = CLAMP (x, G_MININT16, G_MAXINT16) - G_MININT16, part = place % 128;
  gint32 from = table_at (table, place / 128);
  gint16 slope = (gint16) (table_at (table, place / 128 + 1) - from);

  return (gint16) (from + ((slope * part + 64) >> 7));
}

/* A line of n elements along the last dimension, which the Softmax normalizes. `x_step` and
 * `y_step`: distances of adjacent elements of the line in x and in y, in elements. */
typedef struct
{
  const CleaveTfliteRescaleAttrs *attrs;
  const CleaveView *tables[3]; /* views of the tables, indexed by operand */
  const gint16 *x;
  gint16 *y;
  gint64 n, x_step, y_step;
} Row;

static gint32
exponential (const Row *row, gint64 i, gint32 max)
{
  gint32 scaled = cleave_fixed_multiply (row->x[i * row->x_step] - max,
                                         (gint32) row->attrs->multiplier, (gint) row->attrs->shift);

  return interpolate (row->tables[EXP], scaled + G_MAXINT16);
}

static void
compute_row (const Row *row)
{
  gint32 max = G_MININT16, reciprocal, mantissa;
  guint32 sum = 0;
  gint zeros, shift;

  for (gint64 i = 0; i < row->n; i++)
    max = MAX (max, row->x[i * row->x_step]);
  for (gint64 i = 0; i < row->n; i++)
    sum += (guint32) exponential (row, i, max);
  zeros = sum == 0 ? 30 : CLAMP (__builtin_clz (sum), 1, 30);
  mantissa = (gint32) ((((gint64) (gint32) sum << (zeros - 1)) + (1 << 13)) >> 14);
  reciprocal = interpolate (row->tables[RECIPROCAL], mantissa - (1 << 15) - (1 << 16));
  shift = 31 - zeros;
  for (gint64 i = 0; i < row->n; i++)
    {
      gint64 product = (gint64) exponential (row, i, max) * reciprocal;
      gint64 value = (product + ((gint64) 1 << (shift - 1))) >> shift;

      row->y[i * row->y_step] = (gint16) CLAMP (value, 0, G_MAXINT16);
    }
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *x = &operands[X], *y = &results[0];
  guint last = x->type.shape.rank - 1;
  CleaveShape rows = y->type.shape;
  gint64 at[CLEAVE_MAX_RANK];

  rows.dim[last] = MIN (rows.dim[last], 1);
  CLEAVE_EACH_INDEX (at, &rows)
    {
      Row row = { .attrs = call->attrs,
                  .tables = { NULL, &operands[EXP], &operands[RECIPROCAL] },
                  .x = cleave_view_at (x, at),
                  .y = cleave_view_at (y, at),
                  .n = y->type.shape.dim[last],
                  .x_step = x->stride[last],
                  .y_step = y->stride[last] };

      compute_row (&row);
    }
}

#define INT(field) CLEAVE_TFLITE_INT (CleaveTfliteRescaleAttrs, field)
static const CleaveAttr attrs[] = { INT (multiplier), INT (shift), { 0 } };
#undef INT

const CleaveOp cleave_op_tflite_softmax_16 = {
  .name = "TfliteSoftmax16",
  .operands = (const char *const[]){ "x", "exp_table", "reciprocal_table", NULL },
  .results = (const char *const[]){ "y", NULL },
  .min_operands = 3,
  .flags = CLEAVE_OP_NOT_ONNX,
  .attrs_size = sizeof (CleaveTfliteRescaleAttrs),
  .attrs = attrs,
  .infer = infer,
  .maps = cleave_tflite_softmax_maps,
  .narrow = cleave_tflite_softmax_narrow,
  .work = cleave_work_once,
  .compute = compute,
};
