/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op Cast between all element types. */

#include "apply.h"
#include "graphs.h"
#include "op-case.h"

static const struct
{
  CleaveElement from, to;
  double x, y;
} cases[] = {
  { CLEAVE_FLOAT32, CLEAVE_INT8, -1.9, -1 },
  { CLEAVE_FLOAT32, CLEAVE_INT8, 300, 127 },
  { CLEAVE_FLOAT32, CLEAVE_INT8, -300, -128 },
  { CLEAVE_FLOAT32, CLEAVE_UINT8, -1, 0 },
  { CLEAVE_FLOAT32, CLEAVE_UINT8, 255.9, 255 },
  { CLEAVE_FLOAT32, CLEAVE_UINT8, 256, 255 },
  { CLEAVE_FLOAT32, CLEAVE_INT32, NAN, 0 },
  { CLEAVE_FLOAT64, CLEAVE_INT64, 1e30, 0x1p63 }, /* 2^63 - 1, which is 2^63 as a double */
  { CLEAVE_FLOAT64, CLEAVE_INT64, -INFINITY, -0x1p63 },
  { CLEAVE_FLOAT64, CLEAVE_UINT64, INFINITY, 0x1p64 },
  { CLEAVE_FLOAT64, CLEAVE_UINT64, NAN, 0 },
  { CLEAVE_FLOAT64, CLEAVE_FLOAT32, 1e300, INFINITY },
  { CLEAVE_FLOAT64, CLEAVE_FLOAT32, 0x1.000001p0, 1 },
  { CLEAVE_FLOAT64, CLEAVE_FLOAT16, 0x1.0020000001p0,
    0x1.004p0 }, /* rounded once: rounding to float32 first would give a tie, which rounds to 1 */
  { CLEAVE_FLOAT64, CLEAVE_BFLOAT16, 0x1.0100000001p0, 0x1.02p0 },
  { CLEAVE_FLOAT32, CLEAVE_FLOAT16, 65520, INFINITY },
  { CLEAVE_FLOAT16, CLEAVE_BFLOAT16, 0x1.ffcp0, 2 },
  { CLEAVE_FLOAT16, CLEAVE_INT16, -2.5, -2 },
  { CLEAVE_INT32, CLEAVE_INT8, 200, -56 },
  { CLEAVE_INT32, CLEAVE_UINT8, -1, 255 },
  { CLEAVE_INT64, CLEAVE_UINT32, -1, 4294967295.0 },
  { CLEAVE_UINT64, CLEAVE_INT8, 255, -1 },
  { CLEAVE_INT32, CLEAVE_FLOAT32, 16777217, 16777216 },
  { CLEAVE_INT64, CLEAVE_FLOAT16, -70000, -INFINITY },
  { CLEAVE_INT64, CLEAVE_FLOAT16, 2049, 2048 },
  { CLEAVE_FLOAT32, CLEAVE_BOOL, 0.1, 1 },
  { CLEAVE_FLOAT32, CLEAVE_BOOL, -0.0, 0 },
  { CLEAVE_FLOAT32, CLEAVE_BOOL, NAN, 1 },
  { CLEAVE_INT8, CLEAVE_BOOL, -3, 1 },
  { CLEAVE_BOOL, CLEAVE_FLOAT16, 7, 1 },
  { CLEAVE_BOOL, CLEAVE_INT64, 1, 1 },
};

START_TEST (conversions_have_defined_results)
{
  CleaveCastAttrs attrs = { cases[_i].to };
  g_autoptr (CleaveTensor) a =
      cleave_apply_tensor (cases[_i].from, (CleaveShape){ 0 }, &cases[_i].x);
  g_autoptr (CleaveTensor) y = cleave_apply ("Cast", &a, 1, &attrs);

  ck_assert_int_eq (cleave_tensor_get_type (y)->element, cases[_i].to);
  ck_assert_msg (cleave_apply_at (y, 0) == cases[_i].y, "%g as %s is %.17g, not %g", cases[_i].x,
                 cleave_element_get_name (cases[_i].to), cleave_apply_at (y, 0), cases[_i].y);
}
END_TEST

/* The integer is 2^55 + 2^47 + 1. A conversion to double would drop the 1. The double would be a
 * tie of the rounding to bfloat16. */
START_TEST (long_integers_are_rounded_once)
{
  gint64 v[] = { (1ll << 55) + (1ll << 47) + 1, -((1ll << 55) + (1ll << 47) + 1), 1ll << 55 };
  g_autoptr (CleaveTensor) a = cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT64, 3), v, NULL);
  g_autoptr (CleaveTensor) y = cleave_apply ("Cast", &a, 1, &(CleaveCastAttrs){ CLEAVE_BFLOAT16 });

  cleave_apply_check ("Cast", y, (double[]){ 0x1.02p55, -0x1.02p55, 0x1p55 }, 0);
}
END_TEST

/* Values that every type can represent survive each conversion and the conversion back. */
START_TEST (all_pairs_convert)
{
  const double x[] = { 0, 1, 2, 100 }, bools[] = { 0, 1, 1, 1 };

  for (CleaveElement from = CLEAVE_FLOAT32; from < CLEAVE_N_ELEMENTS; from++)
    for (CleaveElement to = CLEAVE_FLOAT32; to < CLEAVE_N_ELEMENTS; to++)
      {
        g_autoptr (CleaveTensor) a = cleave_apply_tensor (from, CLEAVE_SHAPE (2, 2), x);
        g_autoptr (CleaveTensor) y = cleave_apply ("Cast", &a, 1, &(CleaveCastAttrs){ to });

        cleave_apply_check ("Cast", y, from == CLEAVE_BOOL || to == CLEAVE_BOOL ? bools : x, 0);
      }
}
END_TEST

START_TEST (every_dimension_splits)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *in = cleave_case_input (graph, "x", CLEAVE_SHAPE (4, 5));
  CleaveResult *y = cleave_test_add (graph, "Cast", NULL, (CleaveResult *[]){ in }, 1,
                                     &(CleaveCastAttrs){ CLEAVE_INT8 }, NULL);
  GError *error = NULL;

  cleave_assert_infers (y, &error, "int8 4x5");
  cleave_assert_chunk (y, "1:3,2:4", "1:3,2:4 to=int8");
  ck_assert (cleave_test_add (graph, "Cast", "c", (CleaveResult *[]){ in }, 1,
                              &(CleaveCastAttrs){ CLEAVE_N_ELEMENTS }, &error) == NULL);
  g_clear_error (&error);
  ck_assert (cleave_test_add (graph, "Cast", "c", (CleaveResult *[]){ in }, 1,
                              &(CleaveCastAttrs){ CLEAVE_NONE }, &error) == NULL);
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_ATTRIBUTE));
  g_clear_error (&error);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tables = tcase_create ("table");

  tcase_add_loop_test (tables, conversions_have_defined_results, 0, G_N_ELEMENTS (cases));
  suite_add_tcase (suite, tables);
  cleave_add_case (suite, "others", long_integers_are_rounded_once, all_pairs_convert,
                   every_dimension_splits, NULL);
}

CLEAVE_TEST_SUITE ("cast", add_tests)
