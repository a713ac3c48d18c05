/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the ops ArgMax and ArgMin: values, equal elements, slices and errors. */

#include "apply.h"
#include "graphs.h"
#include "op-case.h"

static const double x[] = { 1, 3, 3, -1, NAN, NAN, 2, 2, 2 };

START_TEST (of_equal_elements_the_first_or_the_last_wins)
{
  static const struct
  {
    const char *op;
    gboolean last;
    double y[3];
  } cases[] = {
    { "ArgMax", FALSE, { 1, 1, 0 } },
    { "ArgMax", TRUE, { 2, 2, 2 } },
    { "ArgMin", FALSE, { 0, 1, 0 } },
    { "ArgMin", TRUE, { 0, 2, 2 } },
  };
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (CLEAVE_FLOAT32, CLEAVE_SHAPE (3, 3), x);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CleaveArgAttrs attrs = { .axis = 1, .select_last_index = cases[i].last };
      g_autoptr (CleaveTensor) y = cleave_apply (cases[i].op, &a, 1, &attrs);

      ck_assert_int_eq (cleave_tensor_get_type (y)->element, CLEAVE_INT64);
      cleave_apply_check (cases[i].op, y, cases[i].y, 0);
    }
}
END_TEST

START_TEST (integers_are_compared_as_integers)
{
  const double v[] = { 200, 100, 255 };
  g_autoptr (CleaveTensor) u8 = cleave_apply_tensor (CLEAVE_UINT8, CLEAVE_SHAPE (3), v);
  g_autoptr (CleaveTensor) i8 =
      cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT8, 3), cleave_tensor_get_data (u8), NULL);
  g_autoptr (CleaveTensor) a = cleave_apply ("ArgMax", &u8, 1, NULL);
  g_autoptr (CleaveTensor) b = cleave_apply ("ArgMax", &i8, 1, NULL);

  cleave_apply_check ("ArgMax", a, (double[]){ 2 }, 0);
  cleave_apply_check ("ArgMax", b, (double[]){ 1 }, 0);
}
END_TEST

START_TEST (indices_in_long_rows_are_right)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT16, 1000);
  g_autoptr (CleaveTensor) a = cleave_tensor_new (&type, NULL);
  g_autoptr (CleaveTensor) y = NULL;

  ((guint16 *) cleave_tensor_get_mutable_data (a))[777] = 0x3c00;
  y = cleave_apply ("ArgMax", &a, 1, NULL);
  cleave_apply_check ("ArgMax", y, (double[]){ 777 }, 0);
}
END_TEST

START_TEST (the_axis_is_not_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *in = cleave_case_input (graph, "x", CLEAVE_SHAPE (4, 5, 6));
  CleaveResult *a = cleave_test_add (graph, "ArgMax", NULL, (CleaveResult *[]){ in }, 1,
                                     &(CleaveArgAttrs){ 1, TRUE, FALSE }, NULL);
  CleaveResult *b = cleave_test_add (graph, "ArgMin", NULL, (CleaveResult *[]){ in }, 1,
                                     &(CleaveArgAttrs){ -2, FALSE, FALSE }, NULL);
  GError *error = NULL;

  cleave_assert_infers (a, &error, "int64 4x1x6");
  cleave_assert_infers (b, &error, "int64 4x6");
  cleave_assert_chunk (a, "1:3,0:1,2:4", "1:3,0:5,2:4 axis=1");
  cleave_assert_chunk (b, "1:3,2:4", "1:3,0:5,2:4 axis=1 keepdims=0");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  CleaveTensorType empty = CLEAVE_TYPE (CLEAVE_FLOAT32, 2, 0), bools = CLEAVE_TYPE (CLEAVE_BOOL, 2);

  cleave_apply_fails ("ArgMax", &empty, 1, 1, &(CleaveArgAttrs){ .axis = 1 }, CLEAVE_ERROR_SHAPE,
                      "ArgMax 'y': data has no elements along axis 1");
  cleave_apply_fails ("ArgMin", &bools, 1, 1, NULL, CLEAVE_ERROR_ELEMENT_TYPE,
                      "ArgMin 'y': data cannot be bool");
  cleave_apply_fails ("ArgMin", &CLEAVE_SCALAR (CLEAVE_FLOAT32), 1, 1, NULL, CLEAVE_ERROR_SHAPE,
                      "ArgMin 'y': data must have rank 1 to 8, not 0");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "values", of_equal_elements_the_first_or_the_last_wins,
                   integers_are_compared_as_integers, indices_in_long_rows_are_right, NULL);
  cleave_add_case (suite, "node", the_axis_is_not_split, mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("arg", add_tests)
