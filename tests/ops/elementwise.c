/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Ops with two and more operands, attributes, broadcasting, errors and constructors. */

#include "apply.h"
#include "graphs.h"

#define F32 CLEAVE_FLOAT32
/* The initializer of a CleaveShape in a static table. */
#define SHAPE(...)                                                                                 \
  {                                                                                                \
    CLEAVE_COUNT_ (gint64, __VA_ARGS__), { __VA_ARGS__ }                                           \
  }
#define TYPE(...)                                                                                  \
  {                                                                                                \
    F32, SHAPE (__VA_ARGS__)                                                                       \
  }

/* Results of ops with two operands, for pairs of numbers. */

static const struct
{
  const char *op;
  CleaveElement element;
  double a, b, y;
} pairs[] = {
  { "Add", F32, 0.1, 0.2, (double) (0.1f + 0.2f) },
  { "Add", CLEAVE_FLOAT16, 2048, 1, 2048 },
  { "Add", CLEAVE_FLOAT16, 2048, 3, 2052 },
  { "Add", CLEAVE_BFLOAT16, 256, 3, 260 },
  { "Add", CLEAVE_INT8, 127, 1, -128 },
  { "Add", CLEAVE_UINT8, 255, 2, 1 },
  { "Add", CLEAVE_INT32, 2147483647, 1, -2147483648.0 },
  { "Sub", CLEAVE_UINT16, 0, 1, 65535 },
  { "Sub", CLEAVE_INT64, -3, 4, -7 },
  { "Mul", CLEAVE_INT16, 300, 300, 24464 },
  { "Mul", CLEAVE_FLOAT64, 0.1, 0.1, 0.1 * 0.1 },
  { "Div", F32, 1, 3, (double) (1.0f / 3) },
  { "Div", F32, 1, 0, INFINITY },
  { "Div", CLEAVE_INT32, -7, 2, -3 },
  { "Div", CLEAVE_INT32, 7, 0, 0 },
  { "Div", CLEAVE_UINT32, 7, 0, 0 },
  { "Div", CLEAVE_INT32, -2147483648.0, -1, -2147483648.0 },
  { "Div", CLEAVE_INT64, -0x1p63, -1, -0x1p63 },
  { "Div", CLEAVE_INT8, -128, -1, -128 },
  { "Mod", CLEAVE_INT32, -7, 3, 2 },
  { "Mod", CLEAVE_INT32, 7, -3, -2 },
  { "Mod", CLEAVE_INT32, 6, -3, 0 },
  { "Mod", CLEAVE_INT32, 6, 0, 0 },
  { "Mod", CLEAVE_INT64, -0x1p63, -1, 0 },
  { "Mod", CLEAVE_UINT8, 250, 7, 5 },
  { "Pow", F32, 3, 2, 9 },
  { "Pow", F32, 2, 0.5, (double) 1.41421354f },
  { "Pow", F32, -8, 3, -512 },
  { "Pow", F32, -8, 0.5, NAN },
  { "Pow", F32, -INFINITY, 0.5, INFINITY },
  { "Pow", F32, (double) 1.1f, 3, (double) (1.1f * 1.1f * 1.1f) },
  { "Pow", CLEAVE_INT32, 3, 4, 81 },
  { "Pow", CLEAVE_INT32, 3, -1, 0 },
  { "Pow", CLEAVE_INT32, -1, -3, -1 },
  { "Pow", CLEAVE_INT64, 0, 0, 1 },
  { "And", CLEAVE_BOOL, 1, 0, 0 },
  { "Or", CLEAVE_BOOL, 1, 0, 1 },
  { "Xor", CLEAVE_BOOL, 1, 1, 0 },
  { "BitwiseAnd", CLEAVE_UINT8, 12, 10, 8 },
  { "BitwiseAnd", CLEAVE_INT8, -2, 7, 6 },
  { "BitwiseOr", CLEAVE_INT64, -8, 3, -5 },
  { "BitwiseXor", CLEAVE_UINT32, 12, 10, 6 },
  { "BitwiseXor", CLEAVE_INT16, -1, 5, -6 },
  { "BitShift", CLEAVE_UINT8, 129, 1, 2 },
  { "BitShift", CLEAVE_UINT64, 1, 64, 0 },
  { "PRelu", F32, -4, 0.25, -1 },
  { "PRelu", F32, 4, 0.25, 4 },
  { "PRelu", CLEAVE_INT32, -4, 3, -12 },
  { "PRelu", CLEAVE_UINT32, 4, 3, 4 },
  { "Equal", CLEAVE_BOOL, 1, 1, 1 },
  { "Equal", F32, NAN, NAN, 0 },
  { "Equal", F32, 0, -0.0, 1 },
  { "Less", CLEAVE_INT8, -1, 1, 1 },
  { "Less", CLEAVE_UINT8, 200, 100, 0 },
  { "Greater", CLEAVE_FLOAT16, 2, 1, 1 },
  { "LessOrEqual", CLEAVE_INT64, 5, 5, 1 },
  { "GreaterOrEqual", F32, NAN, 1, 0 },
  { "Sum", CLEAVE_FLOAT64, 1, 2, 3 },
  { "Mean", F32, 1, 2, 1.5 },
  { "Max", F32, NAN, 1, NAN },
  { "Max", F32, 1, NAN, NAN },
  { "Max", CLEAVE_INT8, -5, 3, 3 },
  { "Max", CLEAVE_UINT8, 200, 3, 200 },
  { "Min", F32, 1, NAN, NAN },
  { "Min", CLEAVE_UINT64, 7, 3, 3 },
};

START_TEST (binary_ops_have_the_values_of_onnx)
{
  CleaveShape scalar = { 0 };
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (pairs[_i].element, scalar, &pairs[_i].a);
  g_autoptr (CleaveTensor) b = cleave_apply_tensor (pairs[_i].element, scalar, &pairs[_i].b);
  g_autoptr (CleaveTensor) y = cleave_apply (pairs[_i].op, (CleaveTensor *[]){ a, b }, 2, NULL);

  cleave_apply_check (pairs[_i].op, y, &pairs[_i].y, 0);
}
END_TEST

/* If several operands of Max or Min are equal, the result is the first of them. */
START_TEST (of_equal_elements_the_first_wins)
{
  static const char *const ops[] = { "Max", "Min" };
  const float x[] = { -0.0f, 0.0f };
  g_autoptr (CleaveTensor) a = cleave_tensor_new_copy (&CLEAVE_TYPE (F32, 2), x, NULL);
  g_autoptr (CleaveTensor) b = cleave_tensor_new (&CLEAVE_TYPE (F32, 2), NULL);

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    {
      g_autoptr (CleaveTensor) y = cleave_apply (ops[i], (CleaveTensor *[]){ a, b }, 2, NULL);
      g_autoptr (CleaveTensor) z = cleave_apply (ops[i], (CleaveTensor *[]){ b, a }, 2, NULL);

      ck_assert (cleave_tensor_equal (y, a));
      ck_assert (cleave_tensor_equal (z, b));
    }
}
END_TEST

START_TEST (attributes_change_the_result)
{
  const double x[] = { -3, -1, 0, 0.5, 3, INFINITY };
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (F32, CLEAVE_SHAPE (6), x);
  const struct
  {
    const char *op;
    gconstpointer attrs;
    double y[6];
  } cases[] = {
    { "LeakyRelu", &(CleaveElementwiseAttrs){ .alpha = 0.5 }, { -1.5, -0.5, 0, 0.5, 3, INFINITY } },
    { "Elu",
      &(CleaveElementwiseAttrs){ .alpha = 2 },
      { 2 * expm1 (-3), 2 * expm1 (-1), 0, 0.5, 3, INFINITY } },
    { "Celu",
      &(CleaveElementwiseAttrs){ .alpha = 2 },
      { 2 * expm1 (-1.5), 2 * expm1 (-0.5), 0, 0.5, 3, INFINITY } },
    { "ThresholdedRelu", &(CleaveElementwiseAttrs){ .alpha = 0.5 }, { 0, 0, 0, 0, 3, INFINITY } },
    { "HardSigmoid", &(CleaveElementwiseAttrs){ .alpha = 1, .beta = 0 }, { 0, 0, 0, 0.5, 1, 1 } },
    { "Selu",
      &(CleaveElementwiseAttrs){ .alpha = 1, .gamma = 2 },
      { 2 * expm1 (-3), 2 * expm1 (-1), 0, 1, 6, INFINITY } },
    { "Clip", &(CleaveClipAttrs){ -1, 2 }, { -1, -1, 0, 0.5, 2, 2 } },
    { "Clip", &(CleaveClipAttrs){ 2, 1 }, { 1, 1, 1, 1, 1, 1 } },
    { "Shrink", &(CleaveShrinkAttrs){ 1, 0.5 }, { -2.5, 0, 0, 0, 2.5, INFINITY } },
    { "Shrink", &(CleaveShrinkAttrs){ -0.5, 1 }, { -2, 0, 1, -0.5, 2, INFINITY } },
    { "IsInf", &(CleaveIsInfAttrs){ TRUE, FALSE }, { 0, 0, 0, 0, 0, 0 } },
    { "IsInf", &(CleaveIsInfAttrs){ FALSE, TRUE }, { 0, 0, 0, 0, 0, 1 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveTensor) y = cleave_apply (cases[i].op, &a, 1, cases[i].attrs);

      cleave_apply_check (cases[i].op, y, cases[i].y, 1e-6);
    }
}
END_TEST

START_TEST (integer_attributes_are_used)
{
  const double x[] = { -100, 5, 100 }, clipped[] = { -7, 5, 7 }, kept[] = { -100, 5, 100 };
  const double a[] = { -7, 7, 12 }, b[] = { 3, -3, 5 }, rest[] = { -1, 1, 2 },
               bits[] = { 128, 255, 1 }, halves[] = { 64, 127, 0 };
  const double ones[] = { 1, 1, 1 }, shrunk[] = { -98, 3, 98 }, low[] = { 129, 254, 2 };
  g_autoptr (CleaveTensor) tx = cleave_apply_tensor (CLEAVE_INT8, CLEAVE_SHAPE (3), x);
  g_autoptr (CleaveTensor) ta = cleave_apply_tensor (CLEAVE_INT64, CLEAVE_SHAPE (3), a);
  g_autoptr (CleaveTensor) tb = cleave_apply_tensor (CLEAVE_INT64, CLEAVE_SHAPE (3), b);
  g_autoptr (CleaveTensor) tu = cleave_apply_tensor (CLEAVE_UINT8, CLEAVE_SHAPE (3), bits);
  g_autoptr (CleaveTensor) t1 = cleave_apply_tensor (CLEAVE_UINT8, CLEAVE_SHAPE (3), ones);
  g_autoptr (CleaveTensor) y0 = cleave_apply ("Clip", &tx, 1, &(CleaveClipAttrs){ -7.5, 7.5 });
  g_autoptr (CleaveTensor) y1 = cleave_apply ("Clip", &tx, 1, NULL);
  g_autoptr (CleaveTensor) y2 =
      cleave_apply ("Mod", (CleaveTensor *[]){ ta, tb }, 2, &(CleaveModAttrs){ TRUE });
  g_autoptr (CleaveTensor) y3 = cleave_apply ("BitShift", (CleaveTensor *[]){ tu, t1 }, 2,
                                              &(CleaveBitShiftAttrs){ CLEAVE_SHIFT_RIGHT });
  g_autoptr (CleaveTensor) y4 = cleave_apply ("Shrink", &tx, 1, &(CleaveShrinkAttrs){ 4, 1.5 });
  g_autoptr (CleaveTensor) y5 = cleave_apply ("Shrink", &tu, 1, &(CleaveShrinkAttrs){ -200, 1 });

  cleave_apply_check ("Shrink", y4, shrunk, 0);
  cleave_apply_check ("Shrink", y5, low, 0);
  cleave_apply_check ("Clip", y0, clipped, 0);
  cleave_apply_check ("Clip", y1, kept, 0);
  cleave_apply_check ("Mod", y2, rest, 0);
  cleave_apply_check ("BitShift", y3, halves, 0);
}
END_TEST

START_TEST (pow_mixes_types)
{
  static const struct
  {
    CleaveElement base, exponent;
    double a, b, y;
  } cases[] = {
    { F32, CLEAVE_INT64, 2, 10, 1024 },       { F32, CLEAVE_FLOAT64, 4, 0.5, 2 },
    { CLEAVE_INT32, F32, 4, 0.5, 2 },         { CLEAVE_INT32, CLEAVE_FLOAT64, 10, 12, 2147483647 },
    { CLEAVE_INT64, CLEAVE_INT8, -2, 3, -8 }, { CLEAVE_FLOAT16, CLEAVE_INT32, 2, 20, INFINITY },
    { CLEAVE_INT64, CLEAVE_UINT8, 3, 2, 9 },  { CLEAVE_FLOAT16, F32, 2, 3, 8 },
  };
  CleaveShape scalar = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveTensor) a = cleave_apply_tensor (cases[i].base, scalar, &cases[i].a);
      g_autoptr (CleaveTensor) b = cleave_apply_tensor (cases[i].exponent, scalar, &cases[i].b);
      g_autoptr (CleaveTensor) y = cleave_apply ("Pow", (CleaveTensor *[]){ a, b }, 2, NULL);

      ck_assert_int_eq (cleave_tensor_get_type (y)->element, cases[i].base);
      cleave_apply_check ("Pow", y, &cases[i].y, 0);
    }
}
END_TEST

/* The tests below check operands that broadcast. */

/* Returns the element of a broadcast tensor at an index of `shape`. */
static double
broadcast_at (const CleaveTensor *tensor, const CleaveShape *shape, const gint64 *index)
{
  const CleaveShape *own = &cleave_tensor_get_type (tensor)->shape;
  gint64 at = 0;

  for (guint d = 0; d < own->rank; d++)
    at = at * own->dim[d] + (own->dim[d] == 1 ? 0 : index[shape->rank - own->rank + d]);
  return cleave_apply_at (tensor, at);
}

static const struct
{
  CleaveShape a, b, y;
} broadcasts[] = {
  { { 0 }, { 0 }, { 0 } },
  { { 0 }, SHAPE (3), SHAPE (3) },
  { SHAPE (2, 3), SHAPE (3), SHAPE (2, 3) },
  { SHAPE (3), SHAPE (2, 3), SHAPE (2, 3) },
  { SHAPE (2, 1), SHAPE (1, 3), SHAPE (2, 3) },
  { SHAPE (2, 1, 4, 1), SHAPE (3, 1, 5), SHAPE (2, 3, 4, 5) },
  { SHAPE (1, 1, 1), SHAPE (5), SHAPE (1, 1, 5) },
  { SHAPE (0, 3), SHAPE (1, 3), SHAPE (0, 3) },
  { SHAPE (3, 700), SHAPE (3, 1), SHAPE (3, 700) },
  { SHAPE (2, 2, 2, 2, 2, 2, 2, 2), SHAPE (2, 1, 2, 1, 1, 2), SHAPE (2, 2, 2, 2, 2, 2, 2, 2) },
};

START_TEST (operands_broadcast)
{
  static const char *const ops[] = { "Sub", "Max" };
  const CleaveShape *shape = &broadcasts[_i].y;
  g_autoptr (CleaveTensor) a =
      cleave_random_tensor (&(CleaveTensorType){ F32, broadcasts[_i].a }, 1, FALSE);
  g_autoptr (CleaveTensor) b =
      cleave_random_tensor (&(CleaveTensorType){ F32, broadcasts[_i].b }, 2, FALSE);

  for (guint o = 0; o < 2; o++)
    {
      g_autoptr (CleaveTensor) y = cleave_apply (ops[o], (CleaveTensor *[]){ a, b }, 2, NULL);
      gint64 index[CLEAVE_MAX_RANK], at = 0;

      ck_assert (cleave_shape_equal (&cleave_tensor_get_type (y)->shape, shape));
      for (gboolean more = cleave_index_first (shape, index); more;
           more = cleave_index_next (shape, index), at++)
        {
          double p = broadcast_at (a, shape, index), q = broadcast_at (b, shape, index);

          ck_assert_double_eq (cleave_apply_at (y, at),
                               o == 0 ? (double) (float) (p - q) : fmax (p, q));
        }
    }
}
END_TEST

/* Strided views give the same result as dense views, also if the result overwrites the operand. */
START_TEST (strided_and_in_place_results_are_equal)
{
  g_autoptr (CleaveTensor) a = cleave_random_tensor (&CLEAVE_TYPE (F32, 3, 5, 7), 1, FALSE);
  g_autoptr (CleaveTensor) b = cleave_random_tensor (&CLEAVE_TYPE (F32, 5, 1), 2, FALSE);
  g_autoptr (CleaveTensor) y = cleave_apply ("Mul", (CleaveTensor *[]){ a, b }, 2, NULL);
  const CleaveTensorType *type = cleave_tensor_get_type (a);
  float turned[3 * 5 * 7 * 2];
  CleaveView x = { turned, *type, { 14, 42, 2 } }, dense = cleave_view_tensor (a),
             wanted = cleave_view_tensor (y);
  CleaveView operands[] = { x, cleave_view_tensor (b) };
  CleaveTensorType types[] = { *type, operands[1].type };
  CleaveCall call = { .op = cleave_op_lookup ("Mul"),
                      .n_operands = 2,
                      .n_results = 1,
                      .operands = types,
                      .results = types };
  gint64 index[CLEAVE_MAX_RANK];

  cleave_view_copy (&x, &dense);
  call.op->compute (&call, operands, &x);
  for (gboolean more = cleave_index_first (&type->shape, index); more;
       more = cleave_index_next (&type->shape, index))
    ck_assert_double_eq ((double) *(float *) cleave_view_at (&x, index),
                         (double) *(float *) cleave_view_at (&wanted, index));
}
END_TEST

START_TEST (three_operands_are_combined)
{
  const double x[] = { 1, -2, 3 }, y[] = { 3, 0, 5 }, z = 5;
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (F32, CLEAVE_SHAPE (3), x);
  g_autoptr (CleaveTensor) b = cleave_apply_tensor (F32, CLEAVE_SHAPE (3), y);
  g_autoptr (CleaveTensor) c = cleave_apply_tensor (F32, (CleaveShape){ 0 }, &z);
  CleaveTensor *operands[] = { c, a, b };
  g_autoptr (CleaveTensor) sum = cleave_apply ("Sum", operands, 3, NULL);
  g_autoptr (CleaveTensor) mean = cleave_apply ("Mean", operands, 3, NULL);
  g_autoptr (CleaveTensor) max = cleave_apply ("Max", operands, 3, NULL);
  g_autoptr (CleaveTensor) one = cleave_apply ("Mean", &a, 1, NULL);

  cleave_apply_check ("Sum", sum, (double[]){ 9, 3, 13 }, 0);
  cleave_apply_check ("Mean", mean, (double[]){ 3, 1, (double) (13.0f / 3) }, 0);
  cleave_apply_check ("Max", max, (double[]){ 5, 5, 5 }, 0);
  cleave_apply_check ("Mean", one, x, 0);
}
END_TEST

/* The tests below check errors, dimension maps and constructors. */

static const struct
{
  const char *op;
  CleaveTensorType a, b;
  CleaveError code;
  const char *message;
} errors[] = {
  { "Relu",
    { CLEAVE_BOOL, { 0 } },
    { 0 },
    CLEAVE_ERROR_ELEMENT_TYPE,
    "Relu 'y': X cannot be bool" },
  { "Relu",
    { CLEAVE_UINT8, { 0 } },
    { 0 },
    CLEAVE_ERROR_ELEMENT_TYPE,
    "Relu 'y': X cannot be uint8" },
  { "Exp",
    { CLEAVE_INT32, { 0 } },
    { 0 },
    CLEAVE_ERROR_ELEMENT_TYPE,
    "Exp 'y': X cannot be int32" },
  { "Not", { F32, { 0 } }, { 0 }, CLEAVE_ERROR_ELEMENT_TYPE, "Not 'y': X cannot be float32" },
  { "And",
    { F32, { 0 } },
    { F32, { 0 } },
    CLEAVE_ERROR_ELEMENT_TYPE,
    "And 'y': A cannot be float32" },
  { "Add",
    { F32, { 0 } },
    { CLEAVE_FLOAT64, { 0 } },
    CLEAVE_ERROR_ELEMENT_TYPE,
    "Add 'y': A is float32, but B is float64" },
  { "Add", TYPE (2, 3), TYPE (2), CLEAVE_ERROR_SHAPE,
    "Add 'y': B with 2 does not broadcast to 2x3" },
  { "Add", TYPE (2, 3), { 0 }, CLEAVE_ERROR_OPTION, "Add 'y': takes 2 operands, not 1" },
  { "PRelu", TYPE (3), TYPE (2, 3), CLEAVE_ERROR_SHAPE,
    "PRelu 'y': slope does not broadcast to X, which is 3" },
  { "Mod",
    { F32, { 0 } },
    { F32, { 0 } },
    CLEAVE_ERROR_ATTRIBUTE,
    "Mod 'y': fmod must be 1 for float32" },
  { "Max", TYPE (2, 3), TYPE (4, 3), CLEAVE_ERROR_SHAPE,
    "Max 'y': data_0 with 4x3 does not broadcast to 2x3" },
  { "Pow",
    { F32, { 0 } },
    { CLEAVE_BOOL, { 0 } },
    CLEAVE_ERROR_ELEMENT_TYPE,
    "Pow 'y': Y cannot be bool" },
};

START_TEST (mistakes_are_errors)
{
  CleaveTensorType types[] = { errors[_i].a, errors[_i].b };

  cleave_apply_fails (errors[_i].op, types, errors[_i].b.element == CLEAVE_NONE ? 1 : 2, 1, NULL,
                      errors[_i].code, errors[_i].message);
}
END_TEST

START_TEST (slices_follow_the_broadcast)
{
  CleaveTensorType types[] = { CLEAVE_TYPE (F32, 4, 1, 6), CLEAVE_TYPE (F32, 5, 6) };
  CleaveTensorType result = CLEAVE_TYPE (F32, 4, 5, 6);
  CleaveCall call = { .op = cleave_op_lookup ("Add"),
                      .n_operands = 2,
                      .n_results = 1,
                      .operands = types,
                      .results = &result };
  CleaveRange chunk = CLEAVE_RANGE (1, 3, 2, 5, 0, 4);
  CleaveSlice a = cleave_call_slice (&call, 0, &chunk), b = cleave_call_slice (&call, 1, &chunk);

  g_autofree char *of_a = cleave_range_to_string (&a.range);
  g_autofree char *of_b = cleave_range_to_string (&b.range);

  ck_assert_str_eq (of_a, "1:3,0:1,0:4");
  ck_assert_str_eq (of_b, "2:5,0:4");
}
END_TEST

START_TEST (constructors_refuse_other_ops)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_graph_add_input (graph, "x", &CLEAVE_TYPE (F32, 2), NULL);
  CleaveElementwiseAttrs attrs = { .alpha = 0.5 };
  GError *error = NULL;

  ck_assert (cleave_graph_add_unary (graph, "Elu", "a", x, &attrs, NULL) != NULL);
  ck_assert (cleave_graph_add_binary (graph, "PRelu", "b", x, x, NULL) != NULL);
  ck_assert (cleave_test_add (graph, "Sum", "c", (CleaveResult *[]){ x, x, x }, 3, NULL, NULL) !=
             NULL);
  ck_assert (cleave_graph_add_clip (graph, "d", x, &(CleaveClipAttrs){ 0, 6 }, NULL) != NULL);
  cleave_assert_dump (graph, "%0 = Input : float32 2  # x\n"
                             "%1 = Elu %0 alpha=0.5 : float32 2  # a\n"
                             "%2 = PRelu %0, %0 : float32 2  # b\n"
                             "%3 = Sum %0, %0, %0 : float32 2  # c\n"
                             "%4 = Clip %0 min=0 max=6 : float32 2  # d\n");
  ck_assert (cleave_graph_add_unary (graph, "Add", NULL, x, NULL, &error) == NULL);
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "there is no element-wise op 'Add' of 1 operand");
  ck_assert (cleave_graph_add_binary (graph, "Assemble", NULL, x, x, &error) == NULL);
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "there is no element-wise op 'Assemble' of 2 operands");
  ck_assert (cleave_graph_add_unary (graph, "Clip", NULL, x, &attrs, &error) == NULL);
  cleave_assert_error (&error, CLEAVE_ERROR_ATTRIBUTE, "Clip has no alpha, beta or gamma");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tables = tcase_create ("tables");

  tcase_add_loop_test (tables, binary_ops_have_the_values_of_onnx, 0, G_N_ELEMENTS (pairs));
  tcase_add_loop_test (tables, operands_broadcast, 0, G_N_ELEMENTS (broadcasts));
  tcase_add_loop_test (tables, mistakes_are_errors, 0, G_N_ELEMENTS (errors));
  suite_add_tcase (suite, tables);
  cleave_add_case (suite, "formulas", of_equal_elements_the_first_wins,
                   attributes_change_the_result, integer_attributes_are_used, pow_mixes_types,
                   three_operands_are_combined, strided_and_in_place_results_are_equal, NULL);
  cleave_add_case (suite, "node", slices_follow_the_broadcast, constructors_refuse_other_ops, NULL);
}

CLEAVE_TEST_SUITE ("elementwise", add_tests)
