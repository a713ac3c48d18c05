/* SPDX-License-Identifier: GPL-2.0-or-later */

/* All unary, binary and variadic element-wise ops: a record and a reference kernel for each line of
 * elementwise.def. Operands are broadcast as in ONNX. All dimensions can be split. */

#include "build.h"
#include "elementwise-math.h"
#include "elementwise-reference.h"
#include "elementwise-types.h"

#define UNSIGNED_SET                                                                               \
  (CLEAVE_ELEMENT_BIT (CLEAVE_UINT8) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT16) |                        \
   CLEAVE_ELEMENT_BIT (CLEAVE_UINT32) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT64))
#define SIGNED_SET                                                                                 \
  (CLEAVE_ELEMENTS_FLOAT | CLEAVE_ELEMENT_BIT (CLEAVE_INT8) | CLEAVE_ELEMENT_BIT (CLEAVE_INT16) |  \
   CLEAVE_ELEMENT_BIT (CLEAVE_INT32) | CLEAVE_ELEMENT_BIT (CLEAVE_INT64))
#define FLOAT_SET CLEAVE_ELEMENTS_FLOAT
#define WHOLE_SET (NUMBER_SET & ~CLEAVE_ELEMENTS_FLOAT)
#define BOOL_SET CLEAVE_ELEMENT_BIT (CLEAVE_BOOL)
#define NUMBER_SET (SIGNED_SET | UNSIGNED_SET)
#define ANY_SET (NUMBER_SET | BOOL_SET)

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  cleave_maps_broadcast (&call->operands[operand].shape, &call->results[0].shape, map);
}

/* Returns the family of fast kernels, or the reference kernel. Fast kernels compute comparisons of
 * all types, and powers of 16-bit floats with float32 exponents. Fast kernels compute all other ops
 * if all operands have the same type, and this type is not float64. */
static CleaveKernel
kernel (const CleaveCall *call)
{
  CleaveElement element = call->results[0].element;
  gboolean is_short = element == CLEAVE_FLOAT16 || element == CLEAVE_BFLOAT16;

  if (element == CLEAVE_BOOL)
    return CLEAVE_KERNEL_CHOOSE;
  for (guint k = 0; k < call->n_operands; k++)
    if (call->operands[k].element != element &&
        !(is_short && call->operands[k].element == CLEAVE_FLOAT32))
      return CLEAVE_KERNEL_REFERENCE;
  if (!cleave_element_is_float (element))
    return CLEAVE_KERNEL_CHOOSE;
  return element == CLEAVE_FLOAT64 ? CLEAVE_KERNEL_REFERENCE : CLEAVE_KERNEL_ELEMENTWISE;
}

/* The tables below describe the attributes of element-wise ops. */

/* clang-format off */
#define NUMBER(field, value) { #field, CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveElementwiseAttrs, field), .fallback = value }

static const CleaveAttr leaky_relu_attrs[] = { NUMBER (alpha, (double) 0.01f), { 0 } };
static const CleaveAttr elu_attrs[] = { NUMBER (alpha, 1), { 0 } };
static const CleaveAttr selu_attrs[] = {
  NUMBER (alpha, 1.67326319217681884765625), NUMBER (gamma, 1.05070102214813232421875), { 0 }
};
static const CleaveAttr hard_sigmoid_attrs[] = { NUMBER (alpha, (double) 0.2f), NUMBER (beta, 0.5), { 0 } };
#undef NUMBER

static const CleaveAttr clip_attrs[] = {
  { "min", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveClipAttrs, min), .fallback = -INFINITY, .onnx_operand = 1 },
  { "max", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveClipAttrs, max), .fallback = INFINITY, .onnx_operand = 2 },
  { 0 },
};
static const CleaveAttr shrink_attrs[] = {
  { "lambd", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveShrinkAttrs, lambd), .fallback = 0.5 },
  { "bias", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveShrinkAttrs, bias) },
  { 0 },
};
static const CleaveAttr is_inf_attrs[] = {
  { "detect_negative", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveIsInfAttrs, detect_negative), .fallback = 1 },
  { "detect_positive", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveIsInfAttrs, detect_positive), .fallback = 1 },
  { 0 },
};
static const CleaveAttr mod_attrs[] = {
  { "fmod", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveModAttrs, fmod) },
  { 0 },
};
static const CleaveAttr bit_shift_attrs[] = {
  { "direction", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveBitShiftAttrs, direction), .names = (const char *const[]){ "LEFT", "RIGHT", NULL },
    .flags = CLEAVE_ATTR_NO_DEFAULT },
  { 0 },
};

/* The loops of the reference kernels: for each op of elementwise.def, one loop for each wide type
 * (CleaveWide) in which the op is computed. */

#define LOOP(name, Wide, P, formula, OPERANDS)                                                     \
  static void name (gconstpointer as, gconstpointer bs, gpointer ys, gint64 n, gconstpointer attrs) \
  {                                                                                                \
    typedef Wide T;                                                                                \
    const P *p G_GNUC_UNUSED = attrs;                                                              \
    T *y = ys;                                                                                     \
                                                                                                   \
    for (gint64 i = 0; i < n; i++)                                                                 \
      {                                                                                            \
        OPERANDS;                                                                                  \
        y[i] = (T) (formula);                                                                      \
      }                                                                                            \
  }
#define ONE_OPERAND const T a = ((const T *) as)[i]
#define TWO_OPERANDS ONE_OPERAND; const T b = ((const T *) bs)[i]
#define LOOP_UNARY(name, Wide, P, formula) LOOP (name, Wide, P, formula, ONE_OPERAND)
#define LOOP_BINARY(name, Wide, P, formula) LOOP (name, Wide, P, formula, TWO_OPERANDS)
#define LOOP_TEST LOOP_UNARY
#define LOOP_SLOPE LOOP_BINARY
#define LOOP_COMPARE LOOP_BINARY
#define LOOP_POWER LOOP_BINARY
#define LOOP_REMAINDER LOOP_BINARY
#define LOOP_FOLD LOOP_BINARY

#define LOOPS_FLOAT(kind, word, P, formula)                                                        \
  LOOP_##kind (word##_f32, float, P, formula)                                                      \
  LOOP_##kind (word##_f64, double, P, formula)                                                     \
  static const CleaveElementwiseLoop word##_loops[CLEAVE_N_WIDES] = { word##_f32, word##_f64 };
#define LOOPS_SIGNED(kind, word, P, formula)                                                       \
  LOOP_##kind (word##_f32, float, P, formula)                                                      \
  LOOP_##kind (word##_f64, double, P, formula)                                                     \
  LOOP_##kind (word##_i64, gint64, P, formula)                                                     \
  static const CleaveElementwiseLoop word##_loops[CLEAVE_N_WIDES] = { word##_f32, word##_f64, word##_i64 };
#define LOOPS_NUMBER(kind, word, P, formula)                                                       \
  LOOP_##kind (word##_f32, float, P, formula)                                                      \
  LOOP_##kind (word##_f64, double, P, formula)                                                     \
  LOOP_##kind (word##_i64, gint64, P, formula)                                                     \
  LOOP_##kind (word##_u64, guint64, P, formula)                                                    \
  static const CleaveElementwiseLoop word##_loops[CLEAVE_N_WIDES] = { word##_f32, word##_f64, word##_i64, word##_u64 };
#define LOOPS_ANY LOOPS_NUMBER
#define LOOPS_UNSIGNED(kind, word, P, formula)                                                     \
  LOOP_##kind (word##_u64, guint64, P, formula)                                                    \
  static const CleaveElementwiseLoop word##_loops[CLEAVE_N_WIDES] = { [CLEAVE_WIDE_U64] = word##_u64 };
#define LOOPS_WHOLE(kind, word, P, formula)                                                        \
  LOOP_##kind (word##_i64, gint64, P, formula)                                                     \
  LOOP_##kind (word##_u64, guint64, P, formula)                                                    \
  static const CleaveElementwiseLoop word##_loops[CLEAVE_N_WIDES] = { [CLEAVE_WIDE_I64] = word##_i64, [CLEAVE_WIDE_U64] = word##_u64 };
#define LOOPS_BOOL LOOPS_UNSIGNED

#define X(kind, word, name, elements, flag, P, table, formula)                                     \
  LOOPS_##elements (kind, word, P, formula)                                                        \
  static gboolean word##_infer (const CleaveCall *call, CleaveTensorType *results, GError **error) \
  {                                                                                                \
    return INFER_##kind (call, elements##_SET, results, error);                                    \
  }                                                                                                \
  static void word##_compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results) \
  {                                                                                                \
    COMPUTE_##kind (call, operands, &results[0], word##_loops);                                    \
  }

#define INFER_UNARY cleave_elementwise_infer
#define INFER_BINARY cleave_elementwise_infer
#define INFER_FOLD cleave_elementwise_infer
#define INFER_COMPARE cleave_elementwise_infer_compare
#define INFER_TEST cleave_elementwise_infer_compare
#define INFER_SLOPE cleave_elementwise_infer_slope
#define INFER_POWER cleave_elementwise_infer_power
#define INFER_REMAINDER cleave_elementwise_infer_remainder

#define COMPUTE_UNARY cleave_elementwise_compute_lines
#define COMPUTE_TEST cleave_elementwise_compute_lines
#define COMPUTE_BINARY cleave_elementwise_compute_lines
#define COMPUTE_SLOPE cleave_elementwise_compute_lines
#define COMPUTE_COMPARE cleave_elementwise_compute_lines
#define COMPUTE_POWER cleave_elementwise_compute_lines
#define COMPUTE_REMAINDER cleave_elementwise_compute_lines
#define COMPUTE_FOLD cleave_elementwise_compute_fold
#include "elementwise.def"
#undef X

/* The code below defines the records of the ops of elementwise.def. */

static guint
since_18 (const CleaveCall *call)
{
  return 18;
}

static const char *const unary_operands[] = { "X", NULL };
static const char *const binary_operands[] = { "A", "B", NULL };
static const char *const unary_results[] = { "Y", NULL };
static const char *const binary_results[] = { "C", NULL };

#define FLAG_PLAIN CLEAVE_OP_BY_STRIDES
#define FLAG_COMMUTATIVE (CLEAVE_OP_BY_STRIDES | CLEAVE_OP_COMMUTATIVE)
#define FLAG_NOT_NEGATIVE (CLEAVE_OP_BY_STRIDES | CLEAVE_OP_NOT_NEGATIVE)

/* SINCE_<set>: the field `since` of an op's record. <set> is the set of element types that
 * elementwise.def gives for the op. NULL: opset 17 has the ops with this set. Only bitwise ops use
 * the set WHOLE (all integers); ONNX has these ops from opset 18 on. */
#define SINCE_FLOAT NULL
#define SINCE_SIGNED NULL
#define SINCE_NUMBER NULL
#define SINCE_UNSIGNED NULL
#define SINCE_WHOLE since_18
#define SINCE_BOOL NULL
#define SINCE_ANY NULL

/* KIND_<kind> (P, more): the fields that the records of one kind of ops (elementwise.def) share. P
 * is the type of the attribute struct; `more` are further flags of the op. */
#define KIND_UNARY(P, more) .operands = unary_operands, .min_operands = 1, .results = unary_results, \
  .flags = CLEAVE_OP_IN_PLACE | (more), .attrs_size = sizeof (P)
#define KIND_TEST(P, more) .operands = unary_operands, .min_operands = 1, .results = unary_results, .flags = (more), \
  .attrs_size = sizeof (P)
#define KIND_BINARY(P, more) .operands = binary_operands, .min_operands = 2, .results = binary_results, \
  .flags = CLEAVE_OP_IN_PLACE | (more), .attrs_size = sizeof (P)
#define KIND_COMPARE(P, more) .operands = binary_operands, .min_operands = 2, .results = binary_results, .flags = (more), \
  .attrs_size = sizeof (P)
#define KIND_SLOPE(P, more) .operands = (const char *const[]){ "X", "slope", NULL }, .min_operands = 2, .results = unary_results, \
  .flags = CLEAVE_OP_IN_PLACE | (more), .attrs_size = sizeof (P)
#define KIND_POWER(P, more) .operands = (const char *const[]){ "X", "Y", NULL }, .min_operands = 2, .results = (const char *const[]){ "Z", NULL }, \
  .flags = CLEAVE_OP_IN_PLACE | (more), .attrs_size = sizeof (P)
#define KIND_REMAINDER KIND_BINARY
#define KIND_FOLD(P, more) .operands = (const char *const[]){ "data_0", NULL }, .min_operands = 1, .results = unary_results, .flags = CLEAVE_OP_VARIADIC | (more)

#define X(kind, word, op_name, elements, flag, P, table, formula)                                  \
  const CleaveOp cleave_op_##word = {                                                              \
    .name = op_name,                                                                               \
    KIND_##kind (P, FLAG_##flag),                                                                  \
    .attrs = table,                                                                                \
    .infer = word##_infer,                                                                         \
    .maps = maps,                                                                                  \
    .kernel = kernel,                                                                              \
    .compute = word##_compute,                                                                     \
    .since = SINCE_##elements,                                                                     \
  };
#include "elementwise.def"
#undef X
/* clang-format on */

/* The functions below are the typed constructors of element-wise ops. */

/* Returns the op of this file with this name and number of operands. Returns NULL and sets the
 * error if there is none. */
static const CleaveOp *
find_op (const char *name, guint n_operands, GError **error)
{
  const CleaveOp *op = cleave_op_lookup (name);

  if (op != NULL && op->maps == maps && (op->flags & CLEAVE_OP_VARIADIC) == 0 &&
      op->min_operands == n_operands)
    return op;
  return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                           "there is no element-wise op '%s' of %u operand%s", name, n_operands,
                           n_operands == 1 ? "" : "s");
}

/**
 * cleave_graph_add_unary:
 * @graph: the graph to add to
 * @op: ONNX name of an element-wise op with one operand: `Relu`, `Exp`, `Not` …
 * @name: (nullable): name of the node; a number is appended if it is taken. %NULL for the op's name
 * @x: (transfer none): a value of any shape
 * @attrs: (nullable): parameters such as the alpha of LeakyRelu; %NULL for the defaults
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds an element-wise op with one operand.
 *
 * The result has the shape and the element type of @x; `IsNaN` and `IsInf` return bool. The node
 * can be split along each dimension.
 *
 * Fails, and leaves the graph unchanged, with
 *
 * - %CLEAVE_ERROR_OPTION if there is no such op;
 * - %CLEAVE_ERROR_ATTRIBUTE if the op has other attributes than alpha, beta and gamma;
 * - %CLEAVE_ERROR_ELEMENT_TYPE if the op does not support the element type.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_unary (CleaveGraph *graph,
                        const char *op,
                        const char *name,
                        CleaveResult *x,
                        const CleaveElementwiseAttrs *attrs,
                        GError **error)
{
  g_return_val_if_fail (op != NULL, NULL);

  const CleaveOp *found = find_op (op, 1, error);

  if (found == NULL)
    return NULL;
  if (attrs != NULL && found->attrs_size != sizeof *attrs)
    return cleave_fail_null (error, CLEAVE_ERROR_ATTRIBUTE, "%s has no alpha, beta or gamma", op);
  return cleave_build (graph, found, name, &x, 1, attrs, error);
}

/**
 * cleave_graph_add_binary:
 * @graph: the graph to add to
 * @op: ONNX name of an element-wise op with two operands: `Add`, `Less`, `And`, `PRelu` …
 * @name: (nullable): name of the node; a number is appended if it is taken. %NULL for the op's name
 * @a: (transfer none): a value of any shape
 * @b: (transfer none): a value whose shape broadcasts with the shape of @a, with the same element
 * type; the exponent of `Pow` may have another element type
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds an element-wise op with two operands, with
 * [ONNX's broadcasting](https://onnx.ai/onnx/repo-docs/Broadcasting.html). Attributes have their
 * defaults.
 *
 * The result has the shape to which both operands broadcast; for `PRelu`, the shape of @a. The
 * result has the element type of @a, or bool if the op compares. The node can be split along each
 * dimension.
 *
 * Integers wrap around. An integer divided by zero gives 0.
 *
 * Fails, and leaves the graph unchanged, with
 *
 * - %CLEAVE_ERROR_OPTION if there is no such op;
 * - %CLEAVE_ERROR_SHAPE if the shapes do not broadcast;
 * - %CLEAVE_ERROR_ELEMENT_TYPE if the element types do not match or the op does not support them.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_binary (CleaveGraph *graph,
                         const char *op,
                         const char *name,
                         CleaveResult *a,
                         CleaveResult *b,
                         GError **error)
{
  g_return_val_if_fail (op != NULL, NULL);

  CleaveResult *operands[] = { a, b };
  const CleaveOp *found = find_op (op, 2, error);

  return found == NULL ? NULL : cleave_build (graph, found, name, operands, 2, NULL, error);
}

/**
 * cleave_graph_add_clip:
 * @graph: the graph to add to
 * @name: (nullable): name of the node; a number is appended if it is taken. %NULL for `clip`
 * @x: (transfer none): a value of any shape
 * @attrs: (nullable): the bounds; %NULL for no bounds
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a [Clip](https://onnx.ai/onnx/operators/onnx__Clip.html): each element of the result is
 * `MIN (max, MAX (min, x))`. NaN gives NaN.
 *
 * The result has the type of @x. The node can be split along each dimension.
 *
 * Fails with %CLEAVE_ERROR_ELEMENT_TYPE if @x is bool. The graph is then unchanged.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_clip (CleaveGraph *graph,
                       const char *name,
                       CleaveResult *x,
                       const CleaveClipAttrs *attrs,
                       GError **error)
{
  return cleave_build (graph, &cleave_op_clip, name, &x, 1, attrs, error);
}
