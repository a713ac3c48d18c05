/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TfliteAdd, TfliteSub, TfliteMul, TfliteDiv, TfliteSquaredDifference and TflitePRelu: operators of
 * two operands on integers. Operands are broadcast as in ONNX; all dimensions can be split
 * anywhere.
 *
 * TfliteAdd and TfliteSub multiply each operand by 2^left_shift and by a factor, which brings both
 * operands to one scale. Then they add or subtract the operands, and multiply the sum by a factor.
 * TfliteSquaredDifference multiplies the square of the difference by the factor instead. TfliteMul
 * multiplies the product by a factor. TfliteDiv multiplies A by the reciprocal of B, which three
 * steps of the Newton-Raphson method compute; the result of a division by 0 is undefined.
 * TflitePRelu multiplies A by one factor where A is not below its zero point. Elsewhere, it
 * multiplies the product of A and B by another factor. Sources: reference/integer_ops/add.h,
 * reference/sub.h, reference/integer_ops/mul.h, reference/div.h, reference/prelu.h and
 * squared_difference.cc. */

#include "lines.h"
#include "tflite.h"

enum { A, B };

extern const CleaveOp cleave_op_tflite_prelu;

/* Checks the element types: B must have the type of A. In a TflitePRelu, B holds the slopes, and
 * must be int8. */
static gboolean
check_elements (const CleaveCall *call, GError **error)
{
  if (!cleave_call_check_element (call, A, CLEAVE_ELEMENTS_TFLITE, error))
    return FALSE;
  return call->op == &cleave_op_tflite_prelu
             ? cleave_call_check_element (call, B, CLEAVE_ELEMENT_BIT (CLEAVE_INT8), error)
             : cleave_call_check_same_element (call, A, B, error);
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTfliteBinaryAttrs *a = call->attrs;
  CleaveElement element = call->operands[A].element;

  if (!check_elements (call, error))
    return FALSE;
  results[0].element = element;
  if (!cleave_shape_broadcast (&call->operands[A].shape, &call->operands[B].shape,
                               &results[0].shape))
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "A and B do not broadcast to each other");
  return cleave_tflite_check_zero ("a_zero", element, a->a_zero, error) &&
         cleave_tflite_check_zero ("b_zero", call->operands[B].element, a->b_zero, error) &&
         cleave_tflite_check_zero ("y_zero", element, a->y_zero, error) &&
         cleave_tflite_check ("left_shift", a->left_shift, 0, 31, error) &&
         cleave_tflite_check_factor (a->a_multiplier, a->a_shift, error) &&
         cleave_tflite_check_factor (a->b_multiplier, a->b_shift, error) &&
         cleave_tflite_check_factor (a->multiplier, a->shift, error) &&
         cleave_tflite_check_bounds (element, a->min, a->max, error);
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  cleave_maps_broadcast (&call->operands[operand].shape, &call->results[0].shape, map);
}

static inline gint32
scale_operand (const CleaveTfliteBinaryAttrs *a, gint32 x, gint64 multiplier, gint64 shift)
{
  return cleave_fixed_multiply (cleave_fixed_shift_left (x, (gint) a->left_shift),
                                (gint32) multiplier, (gint) shift);
}

static inline gint32
scale_sum (const CleaveTfliteBinaryAttrs *a, gint32 x, gint32 y, gint32 sign)
{
  guint32 left = (guint32) scale_operand (a, x, a->a_multiplier, a->a_shift);
  guint32 right = (guint32) scale_operand (a, y, a->b_multiplier, a->b_shift);

  return cleave_fixed_multiply ((gint32) (left + (guint32) sign * right), (gint32) a->multiplier,
                                (gint) a->shift);
}

/* The functions below compute x + y, x - y, x * y, (x - y)^2, x / y and PRelu, in fixed point. The
 * caller has subtracted the zero points from x and y, and adds the zero point of the result. */

static inline gint32
combine_add (const CleaveTfliteBinaryAttrs *a, gint32 x, gint32 y)
{
  return scale_sum (a, x, y, 1);
}

static inline gint32
combine_sub (const CleaveTfliteBinaryAttrs *a, gint32 x, gint32 y)
{
  return scale_sum (a, x, y, -1);
}

static inline gint32
combine_mul (const CleaveTfliteBinaryAttrs *a, gint32 x, gint32 y)
{
  return cleave_fixed_multiply ((gint32) ((guint32) x * (guint32) y), (gint32) a->multiplier,
                                (gint) a->shift);
}

static inline gint32
combine_squared_difference (const CleaveTfliteBinaryAttrs *a, gint32 x, gint32 y)
{
  guint32 difference = (guint32) scale_operand (a, x, a->a_multiplier, a->a_shift) -
                       (guint32) scale_operand (a, y, a->b_multiplier, a->b_shift);

  return cleave_fixed_multiply ((gint32) (difference * difference), (gint32) a->multiplier,
                                (gint) a->shift);
}

static inline gint32
combine_div (const CleaveTfliteBinaryAttrs *a, gint32 x, gint32 y)
{
  gint32 dividend = y < 0 ? -x : x, reciprocal, quotient;
  gint exponent, headroom = __builtin_clrsb (dividend), shift;

  reciprocal = cleave_fixed_reciprocal ((guint32) ABS (y), 31, &exponent);
  quotient = cleave_fixed_product (cleave_fixed_shift_left (dividend, headroom), reciprocal);
  shift = CLAMP (exponent + headroom - (gint) a->shift, 0, 31);
  return cleave_fixed_shift_right (cleave_fixed_product (quotient, (gint32) a->multiplier), shift);
}

static inline gint32
combine_prelu (const CleaveTfliteBinaryAttrs *a, gint32 x, gint32 y)
{
  return x >= 0 ? cleave_fixed_multiply (x, (gint32) a->a_multiplier, (gint) a->a_shift)
                : combine_mul (a, x, y);
}

/* Computes `n` elements of a line of the result. */
typedef void (*Line) (
    const CleaveTfliteBinaryAttrs *a, const gint64 *x, const gint64 *y, gint64 *to, gint64 n);

static void
run (const CleaveCall *call, const CleaveView *operands, const CleaveView *y, Line line)
{
  const CleaveView *views[] = { y, &operands[A], &operands[B] };
  CleaveLineBuffer buffers[3];
  CleaveLines lines;

  for (gboolean more = cleave_lines_init_views (&lines, views, 3); more;
       more = cleave_lines_next (&lines))
    for (gint64 at = 0; at < lines.length; at += CLEAVE_LINE)
      {
        gint64 n = MIN (lines.length - at, CLEAVE_LINE);
        const gint64 *x[3];

        for (guint k = 1; k < 3; k++)
          x[k] = cleave_line_read (views[k], lines.offset[k] + at * lines.step[k], lines.step[k], n,
                                   CLEAVE_WIDE_I64, &buffers[k]);
        line (call->attrs, x[1], x[2], buffers[0].i64, n);
        cleave_line_write (y, lines.offset[0] + at * lines.step[0], lines.step[0], n,
                           CLEAVE_WIDE_I64, buffers[0].i64);
      }
}

#define FAST CLEAVE_KERNEL_CONVERT
#define SLOW CLEAVE_KERNEL_REFERENCE
#define INT(field) CLEAVE_TFLITE_INT (CleaveTfliteBinaryAttrs, field)
static const CleaveAttr attrs[] = {
  INT (a_zero),  INT (b_zero),       INT (y_zero),  INT (left_shift), INT (a_multiplier),
  INT (a_shift), INT (b_multiplier), INT (b_shift), INT (multiplier), INT (shift),
  INT (min),     INT (max),          { 0 },
};
#undef INT

/* clang-format off */
#define RECORD(word, op_name, kernel_family)                                                       \
  static void line_##word (const CleaveTfliteBinaryAttrs *a, const gint64 *x, const gint64 *y,     \
                           gint64 *to, gint64 n)                                                   \
  {                                                                                                \
    for (gint64 i = 0; i < n; i++)                                                                 \
      {                                                                                            \
        gint64 value = a->y_zero + combine_##word (a, (gint32) (x[i] - a->a_zero),                 \
                                                   (gint32) (y[i] - a->b_zero));                   \
                                                                                                   \
        to[i] = CLAMP (value, a->min, a->max);                                                     \
      }                                                                                            \
  }                                                                                                \
  static void compute_##word (const CleaveCall *call, const CleaveView *operands,                  \
                              const CleaveView *results)                                           \
  {                                                                                                \
    run (call, operands, &results[0], line_##word);                                                \
  }                                                                                                \
  static CleaveKernel kernel_##word (const CleaveCall *call)                                       \
  {                                                                                                \
    return kernel_family;                                                                          \
  }                                                                                                \
  const CleaveOp cleave_op_tflite_##word = {                                                       \
    .name = op_name,                                                                               \
    .operands = (const char *const[]){ "A", "B", NULL },                                           \
    .results = (const char *const[]){ "C", NULL },                                                 \
    .min_operands = 2,                                                                             \
    .flags = CLEAVE_OP_NOT_ONNX | CLEAVE_OP_IN_PLACE,                                              \
    .attrs_size = sizeof (CleaveTfliteBinaryAttrs),                                                \
    .attrs = attrs,                                                                                \
    .infer = infer,                                                                                \
    .maps = maps,                                                                                  \
    .kernel = kernel_##word,                                                                       \
    .compute = compute_##word,                                                                     \
  };
RECORD (add, "TfliteAdd", FAST)
RECORD (sub, "TfliteSub", FAST)
RECORD (mul, "TfliteMul", FAST)
RECORD (div, "TfliteDiv", SLOW)
RECORD (squared_difference, "TfliteSquaredDifference", FAST)
RECORD (prelu, "TflitePRelu", FAST)
/* clang-format on */
