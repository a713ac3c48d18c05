/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TfliteSum: SUM and MEAN on integers. Adds up x - x_zero in 32-bit integers that wrap around.
 * Multiplies the sum by the multiplier and the shift of the attributes (fixed-point.h), adds
 * y_zero, and clamps to the element type. The importer divides the multiplier of a mean by the
 * number of elements. Source: reference/reduce.h.
 *
 * TfliteSoftmax: SOFTMAX on int8 along the last dimension. For each difference d = 0, -1, … -255
 * from the maximum, `table` holds exp (d * scale * beta) in units of 2^-31. The exponentials are
 * added up in units of 2^-19; each exponential is multiplied by the reciprocal of the sum. Sources:
 * reference/softmax.h, and gemmlowp's fixedpoint.h. */

#include "reference.h"
#include "tflite.h"

enum { X, TABLE };

/* The code below defines the op TfliteSum. */

static gboolean
is_axis (const CleaveTfliteSumAttrs *a, guint d)
{
  return cleave_ints_contain (&a->axes, d);
}

static gboolean
infer_sum (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTfliteSumAttrs *a = call->attrs;
  CleaveElement element = call->operands[X].element;

  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENTS_TFLITE, error))
    return FALSE;
  results[0] = call->operands[X];
  for (guint d = 0; d < results[0].shape.rank; d++)
    if (is_axis (a, d))
      results[0].shape.dim[d] = 1;
  return cleave_tflite_check_zero ("x_zero", element, a->x_zero, error) &&
         cleave_tflite_check_zero ("y_zero", element, a->y_zero, error) &&
         cleave_tflite_check_factor (a->multiplier, a->shift, error);
}

static void
maps_sum (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveShape *x = &call->operands[X].shape;

  for (guint d = 0; d < x->rank; d++)
    map[d] = is_axis (call->attrs, d) ? cleave_dim_map_whole (x->dim[d]) : cleave_dim_map_same (d);
}

/* Returns the sum of x - x_zero over the elements of a block with the shape `block`. The first
 * element of the block is at offset `from` of x, in elements. */
static guint32
add_up (const CleaveView *x, const CleaveShape *block, gint64 from, gint64 x_zero)
{
  gint64 at[CLEAVE_MAX_RANK];
  guint32 sum = 0;

  CLEAVE_EACH_INDEX (at, block)
    sum += (guint32) (cleave_integer_load (
                          x->type.element,
                          cleave_view_element (x, from + cleave_view_offset (x, at))) -
                      x_zero);
  return sum;
}

static void
compute_sum (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTfliteSumAttrs *a = call->attrs;
  const CleaveView *x = &operands[X], *y = &results[0];
  CleaveElement element = y->type.element;
  CleaveShape block = x->type.shape; /* the shape of the elements that one sum reads */
  gint64 at[CLEAVE_MAX_RANK];

  for (guint d = 0; d < block.rank; d++)
    if (!is_axis (a, d))
      block.dim[d] = 1;
  CLEAVE_EACH_INDEX (at, &y->type.shape)
    {
      guint32 sum = add_up (x, &block, cleave_index_offset (block.rank, at, x->stride), a->x_zero);
      gint64 value =
          a->y_zero + cleave_fixed_multiply ((gint32) sum, (gint32) a->multiplier, (gint) a->shift);

      cleave_tflite_store (
          element, cleave_view_at (y, at),
          CLAMP (value, cleave_tflite_lowest (element), cleave_tflite_highest (element)));
    }
}

#define INT(field) CLEAVE_TFLITE_INT (CleaveTfliteSumAttrs, field)
static const CleaveAttr sum_attrs[] = {
  { "axes", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveTfliteSumAttrs, axes),
    .flags = CLEAVE_ATTR_AXIS | CLEAVE_ATTR_NO_DEFAULT | CLEAVE_ATTR_NOT_ONNX },
  INT (x_zero),
  INT (y_zero),
  INT (multiplier),
  INT (shift),
  { 0 },
};
#undef INT

const CleaveOp cleave_op_tflite_sum = {
  .name = "TfliteSum",
  .operands = (const char *const[]){ "x", NULL },
  .results = (const char *const[]){ "y", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_NOT_ONNX,
  .attrs_size = sizeof (CleaveTfliteSumAttrs),
  .attrs = sum_attrs,
  .infer = infer_sum,
  .maps = maps_sum,
  .compute = compute_sum,
};

/* The code below defines the op TfliteSoftmax. */

#define TABLE_SIZE 256
#define SUM_INTEGER_BITS 12

static gboolean
infer_softmax (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveCastAttrs *a = call->attrs;

  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENT_BIT (CLEAVE_INT8), error) ||
      !cleave_call_check_rank (call, X, 1, CLEAVE_MAX_RANK, error) ||
      !cleave_tflite_check_table (call, TABLE, CLEAVE_INT32, TABLE_SIZE, error))
    return FALSE;
  if (a->to != CLEAVE_INT8 && a->to != CLEAVE_INT16)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "the element type of the result must be int8 or int16");
  results[0] = (CleaveTensorType){ a->to, call->operands[X].shape };
  return TRUE;
}

/* A line of n elements along the last dimension, which a Softmax normalizes. `x_step` and `y_step`:
 * distances of adjacent elements of the line in x and in y, in elements. */
typedef struct
{
  const gint8 *x;
  gpointer y;
  gint64 n, x_step, y_step;
  CleaveElement to;
  const CleaveView *table;
} Row;

static gint32
exponential (const Row *row, gint64 i, gint max)
{
  gint64 difference = max - row->x[i * row->x_step];

  return *(const gint32 *) cleave_view_at (row->table, &difference);
}

static void
compute_row (const Row *row)
{
  guint32 sum = 0;
  gint max = G_MININT8, bits = (gint) (8 * cleave_element_size (row->to)), exponent;
  gint32 reciprocal;

  for (gint64 i = 0; i < row->n; i++)
    max = MAX (max, row->x[i * row->x_step]);
  for (gint64 i = 0; i < row->n; i++)
    sum += (guint32) cleave_fixed_shift_right (exponential (row, i, max), SUM_INTEGER_BITS);
  reciprocal = cleave_fixed_reciprocal (sum, SUM_INTEGER_BITS, &exponent);
  exponent = CLAMP (exponent + 31 - bits, 0, 31);
  for (gint64 i = 0; i < row->n; i++)
    {
      gint64 value = cleave_fixed_shift_right (
          cleave_fixed_product (reciprocal, exponential (row, i, max)), exponent);

      value += cleave_tflite_lowest (row->to);
      cleave_tflite_store (
          row->to, (char *) row->y + i * row->y_step * (gint64) cleave_element_size (row->to),
          CLAMP (value, cleave_tflite_lowest (row->to), cleave_tflite_highest (row->to)));
    }
}

static void
compute_softmax (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *x = &operands[X], *y = &results[0];
  guint last = x->type.shape.rank - 1;
  CleaveShape rows = y->type.shape;
  gint64 at[CLEAVE_MAX_RANK];

  rows.dim[last] = MIN (rows.dim[last], 1);
  CLEAVE_EACH_INDEX (at, &rows)
    {
      Row row = { .x = cleave_view_at (x, at),
                  .y = cleave_view_at (y, at),
                  .n = y->type.shape.dim[last],
                  .x_step = x->stride[last],
                  .y_step = y->stride[last],
                  .to = y->type.element,
                  .table = &operands[TABLE] };

      compute_row (&row);
    }
}

static const CleaveAttr softmax_attrs[] = {
  { "to", CLEAVE_ATTR_ELEMENT, CLEAVE_FIELD (CleaveCastAttrs, to), .flags = CLEAVE_ATTR_NOT_ONNX },
  { 0 },
};

const CleaveOp cleave_op_tflite_softmax = {
  .name = "TfliteSoftmax",
  .operands = (const char *const[]){ "x", "table", NULL },
  .results = (const char *const[]){ "y", NULL },
  .min_operands = 2,
  .flags = CLEAVE_OP_NOT_ONNX,
  .attrs_size = sizeof (CleaveCastAttrs),
  .attrs = softmax_attrs,
  .infer = infer_softmax,
  .maps = cleave_tflite_softmax_maps,
  .narrow = cleave_tflite_softmax_narrow,
  .work = cleave_work_once,
  .compute = compute_softmax,
};
