/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reductions, such as ReduceSum. A row is the elements that become one element of the result. */

#include "apply.h"
#include "graphs.h"
#include "op-case.h"

#define F32 CLEAVE_FLOAT32

static const double x[] = { 1, -2, 3, 4, 5, -6 };

static const struct
{
  const char *op;
  CleaveElement element;
  double whole, columns[3];
} cases[] = {
  { "ReduceSum", F32, 5, { 5, 3, -3 } },
  { "ReduceSum", CLEAVE_INT32, 5, { 5, 3, -3 } },
  { "ReduceSum", CLEAVE_FLOAT16, 5, { 5, 3, -3 } },
  { "ReduceMean", CLEAVE_FLOAT64, 5.0 / 6, { 2.5, 1.5, -1.5 } },
  { "ReduceMean", CLEAVE_INT8, 0, { 2, 1, -1 } },
  { "ReduceMax", F32, 5, { 4, 5, 3 } },
  { "ReduceMax", CLEAVE_INT64, 5, { 4, 5, 3 } },
  { "ReduceMin", CLEAVE_BFLOAT16, -6, { 1, -2, -6 } },
  { "ReduceProd", F32, 720, { 4, -10, -18 } },
  { "ReduceProd",
    CLEAVE_INT8,
    -48,
    { 4, -10, -18 } }, /* the product is 720, of which int8 keeps the low 8 bits */
  { "ReduceL1", F32, 21, { 5, 7, 9 } },
  { "ReduceL1", CLEAVE_INT16, 21, { 5, 7, 9 } },
  { "ReduceSumSquare", CLEAVE_INT32, 91, { 17, 29, 45 } },
  { "ReduceL2",
    F32,
    9.5393920141694561,
    { 4.1231056256176606, 5.3851648071345037, 6.7082039324993694 } },
  { "ReduceL2", CLEAVE_INT32, 9, { 4, 5, 6 } },
  { "ReduceLogSum", F32, 1.6094379124341003, { 1.6094379124341003, 1.0986122886681098, NAN } },
  { "ReduceLogSumExp",
    F32,
    5.420326756010547,
    { 4.048587351573742, 5.000911466453774, 3.000123402189723 } },
};

START_TEST (reductions_have_the_values_of_onnx)
{
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (cases[_i].element, CLEAVE_SHAPE (2, 3), x);
  CleaveReduceAttrs rows = { .axes = CLEAVE_INTS (-2) };
  g_autoptr (CleaveTensor) all = cleave_apply (cases[_i].op, &a, 1, NULL);
  g_autoptr (CleaveTensor) columns = cleave_apply (cases[_i].op, &a, 1, &rows);

  ck_assert_uint_eq (cleave_tensor_get_type (all)->shape.rank, 2);
  ck_assert_uint_eq (cleave_tensor_get_type (columns)->shape.rank, 1);
  cleave_apply_check (cases[_i].op, all, &cases[_i].whole, 1e-7);
  cleave_apply_check (cases[_i].op, columns, cases[_i].columns, 1e-7);
}
END_TEST

START_TEST (unsigned_integers_stay_unsigned)
{
  const double v[] = { 250, 10, 0x1p63 };
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (CLEAVE_UINT8, CLEAVE_SHAPE (2), v);
  g_autoptr (CleaveTensor) b = cleave_apply_tensor (CLEAVE_UINT64, CLEAVE_SHAPE (2), v + 1);
  g_autoptr (CleaveTensor) sum = cleave_apply ("ReduceSum", &a, 1, NULL);
  g_autoptr (CleaveTensor) max = cleave_apply ("ReduceMax", &a, 1, NULL);
  g_autoptr (CleaveTensor) large = cleave_apply ("ReduceMax", &b, 1, NULL);

  cleave_apply_check ("ReduceSum", sum, (double[]){ 4 }, 0);
  cleave_apply_check ("ReduceMax", max, (double[]){ 250 }, 0);
  cleave_apply_check ("ReduceMax", large, (double[]){ 0x1p63 }, 0);
}
END_TEST

START_TEST (an_empty_reduction_gives_the_neutral_element)
{
  static const struct
  {
    const char *op;
    CleaveElement element;
    double y;
  } empty[] = {
    { "ReduceSum", F32, 0 },
    { "ReduceProd", F32, 1 },
    { "ReduceMax", F32, -INFINITY },
    { "ReduceMax", CLEAVE_INT8, -128 },
    { "ReduceMin", CLEAVE_UINT8, 255 },
    { "ReduceMean", F32, NAN },
    { "ReduceLogSum", F32, -INFINITY },
    { "ReduceLogSumExp", F32, -INFINITY },
    { "ReduceL2", F32, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (empty); i++)
    {
      g_autoptr (CleaveTensor) a =
          cleave_apply_tensor (empty[i].element, CLEAVE_SHAPE (2, 0), NULL);
      g_autoptr (CleaveTensor) y =
          cleave_apply (empty[i].op, &a, 1, &(CleaveReduceAttrs){ .axes = CLEAVE_INTS (1) });

      cleave_apply_check (empty[i].op, y, (double[]){ empty[i].y, empty[i].y }, 0);
    }
}
END_TEST

START_TEST (no_axes_may_mean_none)
{
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (F32, CLEAVE_SHAPE (2, 3), x);
  g_autoptr (CleaveTensor) y =
      cleave_apply ("ReduceSum", &a, 1, &(CleaveReduceAttrs){ .noop_with_empty_axes = TRUE });

  ck_assert (cleave_tensor_equal (a, y));
}
END_TEST

/* Means of 3,000 equal elements. If the op added doubles one after the other, the mean would not
 * equal the elements. */
START_TEST (long_sums_do_not_lose_small_elements)
{
  CleaveTensorType type = CLEAVE_TYPE (F32, 3, 1000, 5);
  g_autoptr (CleaveTensor) a = cleave_tensor_new (&type, NULL);
  float *data = cleave_tensor_get_mutable_data (a);
  g_autoptr (CleaveTensor) mean = NULL;

  for (int i = 0; i < 15000; i++)
    data[i] = 0.1f;
  mean = cleave_apply ("ReduceMean", &a, 1, &(CleaveReduceAttrs){ .axes = CLEAVE_INTS (0, 1) });
  for (int i = 0; i < 5; i++)
    ck_assert_double_eq (cleave_apply_at (mean, i), (double) 0.1f);
}
END_TEST

START_TEST (logarithms_of_sums_do_not_overflow)
{
  const double v[] = { 1000, 1000, -INFINITY, -INFINITY, INFINITY, 0 };
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (F32, CLEAVE_SHAPE (3, 2), v);
  g_autoptr (CleaveTensor) y =
      cleave_apply ("ReduceLogSumExp", &a, 1, &(CleaveReduceAttrs){ .axes = CLEAVE_INTS (1) });

  cleave_apply_check ("ReduceLogSumExp", y, (double[]){ 1000.69314718, -INFINITY, INFINITY }, 1e-7);
}
END_TEST

START_TEST (a_nan_wins)
{
  const double v[] = { 1, NAN, 3 };
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (F32, CLEAVE_SHAPE (3), v);
  g_autoptr (CleaveTensor) max = cleave_apply ("ReduceMax", &a, 1, NULL);
  g_autoptr (CleaveTensor) min = cleave_apply ("ReduceMin", &a, 1, NULL);

  ck_assert (isnan (cleave_apply_at (max, 0)) && isnan (cleave_apply_at (min, 0)));
}
END_TEST

START_TEST (remaining_dimensions_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *in = cleave_case_input (graph, "x", CLEAVE_SHAPE (4, 5, 6));
  CleaveReduceAttrs kept = { .axes = CLEAVE_INTS (1), .keepdims = TRUE },
                    gone = { .axes = CLEAVE_INTS (-2) };
  CleaveResult *a =
      cleave_test_add (graph, "ReduceSum", NULL, (CleaveResult *[]){ in }, 1, &kept, NULL);
  CleaveResult *b =
      cleave_test_add (graph, "ReduceMax", NULL, (CleaveResult *[]){ in }, 1, &gone, NULL);
  CleaveResult *c =
      cleave_test_add (graph, "ReduceMax", NULL, (CleaveResult *[]){ in }, 1, NULL, NULL);
  GError *error = NULL;

  cleave_assert_infers (a, &error, "float32 4x1x6");
  cleave_assert_infers (b, &error, "float32 4x6");
  cleave_assert_infers (c, &error, "float32 1x1x1");
  cleave_assert_chunk (a, "1:3,0:1,2:4", "1:3,0:5,2:4 axes=1");
  cleave_assert_chunk (b, "1:3,2:4", "1:3,0:5,2:4 axes=1 keepdims=0");
  cleave_assert_chunk (c, "0:1,0:1,0:1", "0:4,0:5,0:6");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  CleaveTensorType type = CLEAVE_TYPE (F32, 2, 3), bools = CLEAVE_TYPE (CLEAVE_BOOL, 2);

  cleave_apply_fails ("ReduceSum", &type, 1, 1, &(CleaveReduceAttrs){ .axes = CLEAVE_INTS (0, -2) },
                      CLEAVE_ERROR_ATTRIBUTE, "ReduceSum 'y': axes has 0 twice");
  cleave_apply_fails ("ReduceSum", &type, 1, 1, &(CleaveReduceAttrs){ .axes = CLEAVE_INTS (2) },
                      CLEAVE_ERROR_ATTRIBUTE,
                      "ReduceSum 'y': axes must be between -2 and 1 for rank 2, not 2");
  cleave_apply_fails ("ReduceSum", &bools, 1, 1, NULL, CLEAVE_ERROR_ELEMENT_TYPE,
                      "ReduceSum 'y': data cannot be bool");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tables = tcase_create ("table");

  tcase_add_loop_test (tables, reductions_have_the_values_of_onnx, 0, G_N_ELEMENTS (cases));
  suite_add_tcase (suite, tables);
  cleave_add_case (suite, "values", unsigned_integers_stay_unsigned,
                   an_empty_reduction_gives_the_neutral_element, no_axes_may_mean_none,
                   long_sums_do_not_lose_small_elements, logarithms_of_sums_do_not_overflow,
                   a_nan_wins, NULL);
  cleave_add_case (suite, "node", remaining_dimensions_split, mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("reduce", add_tests)
