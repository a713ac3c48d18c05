/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts arithmetic on floats, and on integers that have no scale. */

#include <math.h>

#include "convert.h"

/* The operators that equal one op of ONNX with one or two operands. An entry has the operator code,
 * the op's name and the index of the activation field. */
static const struct
{
  guint code;
  const char *op;
  gint activation; /* index of the field of the options that names the activation; -1: no
                    * activation */
} plain[] = {
  { 0, "Add", 0 },           { 8, "Floor", -1 },
  { 14, "Sigmoid", -1 },     { 18, "Mul", 0 },
  { 19, "Relu", -1 },        { 28, "Tanh", -1 },
  { 41, "Sub", 0 },          { 42, "Div", 0 },
  { 47, "Exp", -1 },         { 54, "PRelu", -1 },
  { 55, "Max", -1 },         { 57, "Min", -1 },
  { 58, "Less", -1 },        { 59, "Neg", -1 },
  { 61, "Greater", -1 },     { 62, "GreaterOrEqual", -1 },
  { 63, "LessOrEqual", -1 }, { 66, "Sin", -1 },
  { 71, "Equal", -1 },       { 73, "Log", -1 },
  { 75, "Sqrt", -1 },        { 78, "Pow", -1 },
  { 84, "Or", -1 },          { 86, "And", -1 },
  { 87, "Not", -1 },         { 101, "Abs", -1 },
  { 104, "Ceil", -1 },       { 108, "Cos", -1 },
  { 116, "Round", -1 },      { 117, "HardSwish", -1 },
  { 158, "Sign", -1 },
};

gboolean
cleave_tflite_convert_plain (CleaveTfliteImport *import, GError **error)
{
  guint n = import->op->inputs.n, i = 0;
  CleaveResult *operands[2] = { NULL }, *y;

  while (plain[i].code != import->op->code)
    i++;
  for (guint k = 0; k < n; k++)
    if (!cleave_tflite_find_result (import, k, &operands[k], error))
      return FALSE;
  y = cleave_tflite_add (import, plain[i].op, operands, n, NULL, error);
  if (plain[i].activation >= 0)
    y = cleave_tflite_add_activation (import, (guint) plain[i].activation, y, error);
  return cleave_tflite_set (import, 0, y, error);
}

gboolean
cleave_tflite_convert_bounds (CleaveTfliteImport *import, GError **error)
{
  return cleave_tflite_check_same_scale (import, 0, error) &&
         cleave_tflite_check_same_scale (import, 1, error) &&
         cleave_tflite_convert_plain (import, error);
}

CleaveResult *
cleave_tflite_add_activation (CleaveTfliteImport *import,
                              guint field,
                              CleaveResult *x,
                              GError **error)
{
  static const CleaveClipAttrs clip_1 = { -1, 1 }, clip_6 = { 0, 6 };
  gint64 activation;

  if (x == NULL || !cleave_tflite_option (import, field, 1, 0, &activation, error))
    return NULL;
  switch (activation)
    {
    case CLEAVE_TFLITE_NONE:
      return x;
    case CLEAVE_TFLITE_RELU:
      return cleave_tflite_add_unary (import, "Relu", x, NULL, error);
    case CLEAVE_TFLITE_RELU_N1_TO_1:
      return cleave_tflite_add_unary (import, "Clip", x, &clip_1, error);
    case CLEAVE_TFLITE_RELU6:
      return cleave_tflite_add_unary (import, "Clip", x, &clip_6, error);
    case CLEAVE_TFLITE_TANH:
      return cleave_tflite_add_unary (import, "Tanh", x, NULL, error);
    default:
      return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                               "activation %" G_GINT64_FORMAT " is not supported", activation);
    }
}

/* Adds the op `op` with the attributes `attrs` and one operand, input 0. Makes its result output 0.
 */
static gboolean
convert_with (CleaveTfliteImport *import, const char *op, gconstpointer attrs, GError **error)
{
  CleaveResult *x;

  return cleave_tflite_find_result (import, 0, &x, error) &&
         cleave_tflite_set (import, 0, cleave_tflite_add_unary (import, op, x, attrs, error),
                            error);
}

gboolean
cleave_tflite_convert_relu6 (CleaveTfliteImport *import, GError **error)
{
  return convert_with (import, "Clip", &(CleaveClipAttrs){ 0, 6 }, error);
}

gboolean
cleave_tflite_convert_relu_n1_to_1 (CleaveTfliteImport *import, GError **error)
{
  return convert_with (import, "Clip", &(CleaveClipAttrs){ -1, 1 }, error);
}

gboolean
cleave_tflite_convert_relu_0_to_1 (CleaveTfliteImport *import, GError **error)
{
  return convert_with (import, "Clip", &(CleaveClipAttrs){ 0, 1 }, error);
}

gboolean
cleave_tflite_convert_leaky_relu (CleaveTfliteImport *import, GError **error)
{
  float alpha;

  return cleave_tflite_option_float (import, 0, 0, &alpha, error) &&
         convert_with (import, "LeakyRelu", &(CleaveElementwiseAttrs){ .alpha = (double) alpha },
                       error);
}

gboolean
cleave_tflite_convert_elu (CleaveTfliteImport *import, GError **error)
{
  return convert_with (import, "Elu", &(CleaveElementwiseAttrs){ .alpha = 1 }, error);
}

/* Converts GELU: x / 2 * (1 + erf (x / sqrt 2)). With the option `approximate`: x / 2 * (1 + tanh
 * (sqrt (2 / pi) * (x + 0.044715 x^3))). */
gboolean
cleave_tflite_convert_gelu (CleaveTfliteImport *import, GError **error)
{
  gint64 approximate;
  CleaveResult *x, *inner;

  if (!cleave_tflite_option (import, 0, 1, 0, &approximate, error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  inner = x;
  if (approximate != 0)
    {
      CleaveResult *cube = cleave_tflite_add_binary (import, "Mul", x, x, error);

      cube = cleave_tflite_add_binary (import, "Mul", cube, x, error);
      cube = cleave_tflite_add_binary (import, "Mul", cube,
                                       cleave_tflite_add_float (import, 0.044715f), error);
      inner = cleave_tflite_add_binary (import, "Add", x, cube, error);
    }
  inner = cleave_tflite_add_binary (
      import, "Mul", inner,
      cleave_tflite_add_float (import,
                               (float) (approximate != 0 ? M_2_SQRTPI * M_SQRT1_2 : M_SQRT1_2)),
      error);
  inner = cleave_tflite_add_unary (import, approximate != 0 ? "Tanh" : "Erf", inner, NULL, error);
  inner =
      cleave_tflite_add_binary (import, "Add", inner, cleave_tflite_add_float (import, 1), error);
  inner = cleave_tflite_add_binary (import, "Mul", inner, x, error);
  inner = cleave_tflite_add_binary (import, "Mul", inner, cleave_tflite_add_float (import, 0.5f),
                                    error);
  return cleave_tflite_set (import, 0, inner, error);
}

gboolean
cleave_tflite_convert_squared (CleaveTfliteImport *import, GError **error)
{
  CleaveResult *x, *b;

  if (!cleave_tflite_find_result (import, 0, &x, error) ||
      !cleave_tflite_find_result (import, 1, &b, error))
    return FALSE;
  if (b != NULL)
    x = cleave_tflite_add_binary (import, "Sub", x, b, error);
  return cleave_tflite_set (import, 0, cleave_tflite_add_binary (import, "Mul", x, x, error),
                            error);
}

gboolean
cleave_tflite_convert_rsqrt (CleaveTfliteImport *import, GError **error)
{
  CleaveResult *x;

  if (!cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  x = cleave_tflite_add_unary (import, "Sqrt", x, NULL, error);
  return cleave_tflite_set (import, 0,
                            cleave_tflite_add_unary (import, "Reciprocal", x, NULL, error), error);
}

gboolean
cleave_tflite_convert_not_equal (CleaveTfliteImport *import, GError **error)
{
  CleaveResult *a, *b;

  if (!cleave_tflite_find_result (import, 0, &a, error) ||
      !cleave_tflite_find_result (import, 1, &b, error))
    return FALSE;
  a = cleave_tflite_add_binary (import, "Equal", a, b, error);
  return cleave_tflite_set (import, 0, cleave_tflite_add_unary (import, "Not", a, NULL, error),
                            error);
}

gboolean
cleave_tflite_convert_softmax (CleaveTfliteImport *import, GError **error)
{
  CleaveAxisAttrs attrs = { -1 };
  CleaveResult *x;
  float beta;

  if (!cleave_tflite_option_float (import, 0, 0, &beta, error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  if (beta != 1)
    x = cleave_tflite_add_binary (import, "Mul", x, cleave_tflite_add_float (import, beta), error);
  return cleave_tflite_set (import, 0,
                            cleave_tflite_add_unary (import, "Softmax", x, &attrs, error), error);
}

gboolean
cleave_tflite_convert_log_softmax (CleaveTfliteImport *import, GError **error)
{
  return convert_with (import, "LogSoftmax", &(CleaveAxisAttrs){ -1 }, error);
}

/* Converts L2_NORMALIZATION: x / sqrt (max (sum of squares along the last dimension, 1e-12)). */
gboolean
cleave_tflite_convert_l2_normalization (CleaveTfliteImport *import, GError **error)
{
  CleaveReduceAttrs attrs = { .axes = { 1, { -1 } }, .keepdims = TRUE };
  CleaveResult *x, *sum;

  if (!cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  sum = cleave_tflite_add_unary (import, "ReduceSumSquare", x, &attrs, error);
  sum = cleave_tflite_add_binary (import, "Max", sum, cleave_tflite_add_float (import, 1e-12f),
                                  error);
  sum = cleave_tflite_add_unary (import, "Sqrt", sum, NULL, error);
  x = cleave_tflite_add_binary (import, "Div", x, sum, error);
  return cleave_tflite_set (import, 0, cleave_tflite_add_activation (import, 0, x, error), error);
}

gboolean
cleave_tflite_convert_reduce (CleaveTfliteImport *import, GError **error)
{
  static const struct
  {
    guint code;
    const char *op;
  } ops[] = { { 40, "ReduceMean" },
              { 74, "ReduceSum" },
              { 81, "ReduceProd" },
              { 82, "ReduceMax" },
              { 89, "ReduceMin" } };
  CleaveReduceAttrs attrs = { .noop_with_empty_axes = FALSE };
  gint64 keep;
  guint i = 0;
  CleaveResult *x;

  while (ops[i].code != import->op->code)
    i++;
  if (!cleave_tflite_option (import, 0, 1, 0, &keep, error) ||
      !cleave_tflite_read_ints (import, 1, &attrs.axes, error) ||
      !cleave_tflite_check_same_scale (import, 0, error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  attrs.keepdims = keep != 0;
  if (attrs.axes.n == 0)
    return cleave_tflite_refuse (error, "input 1 has no axes");
  return cleave_tflite_set (import, 0,
                            cleave_tflite_add_unary (import, ops[i].op, x, &attrs, error), error);
}

/* Converts ARG_MAX and ARG_MIN. Among equal elements, both ops select the first element. */
gboolean
cleave_tflite_convert_arg (CleaveTfliteImport *import, GError **error)
{
  const guint arg_max = 56;
  CleaveArgAttrs attrs = { .keepdims = FALSE };
  CleaveCastAttrs cast = { cleave_tflite_output (import, 0)->type.element };
  CleaveInts axis;
  CleaveResult *x;

  if (!cleave_tflite_read_ints (import, 1, &axis, error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  if (axis.n != 1 || (cast.to != CLEAVE_INT32 && cast.to != CLEAVE_INT64))
    return cleave_tflite_refuse (error, "input 1 must be one axis, the output int32 or int64");
  attrs.axis = axis.v[0];
  x = cleave_tflite_add_unary (import, import->op->code == arg_max ? "ArgMax" : "ArgMin", x, &attrs,
                               error);
  if (cast.to != CLEAVE_INT64)
    x = cleave_tflite_add_unary (import, "Cast", x, &cast, error);
  return cleave_tflite_set (import, 0, x, error);
}

CleaveResult *
cleave_tflite_adjoin (CleaveTfliteImport *import, guint field, CleaveResult *x, GError **error)
{
  guint rank = x == NULL ? 0 : cleave_result_get_type (x)->shape.rank;
  CleaveInts perm = { rank, { 0 } };
  gint64 adjoint;

  if (x == NULL || !cleave_tflite_option (import, field, 1, 0, &adjoint, error))
    return NULL;
  if (adjoint == 0 || rank < 2)
    return x;
  for (guint d = 0; d < rank; d++)
    perm.v[d] = d;
  perm.v[rank - 1] = rank - 2;
  perm.v[rank - 2] = rank - 1;
  return cleave_tflite_fold (import, cleave_tflite_add_transpose (import, x, &perm, error), error);
}

gboolean
cleave_tflite_convert_batch_matmul (CleaveTfliteImport *import, GError **error)
{
  CleaveResult *a, *b;

  if (!cleave_tflite_find_result (import, 0, &a, error) ||
      !cleave_tflite_find_result (import, 1, &b, error))
    return FALSE;
  a = cleave_tflite_adjoin (import, 0, a, error);
  b = a == NULL ? NULL
                : cleave_tflite_adjoin (import, 1,
                                        cleave_tflite_float_weights (import, 1, b, error), error);
  return cleave_tflite_set (import, 0, cleave_tflite_add_binary (import, "MatMul", a, b, error),
                            error);
}

gboolean
cleave_tflite_convert_cast (CleaveTfliteImport *import, GError **error)
{
  CleaveCastAttrs attrs = { cleave_tflite_output (import, 0)->type.element };

  if (attrs.to == CLEAVE_NONE)
    return cleave_tflite_refuse (error, "the element type of the output is not supported");
  if (cleave_tflite_input (import, 0)->is_unsigned || cleave_tflite_output (import, 0)->is_unsigned)
    return cleave_tflite_refuse (error, "uint8 with a scale is not supported");
  return convert_with (import, "Cast", &attrs, error);
}
