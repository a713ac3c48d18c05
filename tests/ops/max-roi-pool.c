/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op MaxRoiPool. A bin is the part of a region whose maximum becomes one element of the result.
 */

#include "apply.h"
#include "op-case.h"

/* The operand has two images of one channel, 4x4, with the elements 0 … 15 and 16 … 31. */
START_TEST (the_maximum_of_each_bin_is_taken)
{
  static const struct
  {
    double roi[5], scale;
    gint64 rows, columns;
    double y[6];
  } cases[] = {
    { { 0, 0, 0, 3, 3 }, 1, 2, 2, { 5, 7, 13, 15 } },
    { { 1, 0, 0, 3, 3 }, 1, 1, 1, { 31 } },
    { { 0, 0, 1, 3, 2 }, 1, 2, 1, { 7, 11 } },
    /* the region is (1, 0) to (3, 2), since 2.5 and 1.5 round up; bins of the result overlap */
    { { 0, 2, 0, 5, 3 }, 0.5, 2, 2, { 6, 7, 10, 11 } },
    /* the result has twice as many rows as the region, so each row of the region occurs twice */
    { { 0, 0, 0, 1, 0 }, 1, 2, 2, { 0, 1, 0, 1 } },
    /* if the end of a region is before its begin, the region has one element */
    { { 0, 2, 2, 0, 0 }, 1, 1, 2, { 10, 10 } },
    /* a region partly outside, and a region entirely outside */
    { { 0, -2, 2, 1, 5 }, 1, 2, 2, { 0, 13, 0, 0 } },
    { { 1, 8, 8, 9, 9 }, 1, 1, 1, { 0 } },
    { { 0, -1e30, -INFINITY, 1e30, INFINITY }, 1, 1, 1, { 15 } },
    /* the index of the image is out of range, and corners are NaN or far outside */
    { { 7, NAN, 0, 1, 1e9 }, 1, 1, 1, { 29 } },
  };
  static const CleaveElement elements[] = { CLEAVE_FLOAT64, CLEAVE_FLOAT32, CLEAVE_FLOAT16 };
  double x[32];

  for (int i = 0; i < 32; i++)
    x[i] = i;
  for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
    for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
      {
        g_autoptr (CleaveTensor) image =
            cleave_apply_tensor (elements[e], CLEAVE_SHAPE (2, 1, 4, 4), x);
        g_autoptr (CleaveTensor) rois =
            cleave_apply_tensor (elements[e], CLEAVE_SHAPE (1, 5), cases[i].roi);
        CleaveTensor *operands[] = { image, rois };
        CleaveMaxRoiPoolAttrs attrs = { CLEAVE_INTS (cases[i].rows, cases[i].columns),
                                        cases[i].scale };
        g_autoptr (CleaveTensor) y = cleave_apply ("MaxRoiPool", operands, 2, &attrs);
        g_autofree char *what = g_strdup_printf ("case %u", i);

        cleave_apply_check (what, y, cases[i].y, 0);
      }
}
END_TEST

static CleaveResult *
add (CleaveGraph *graph, CleaveResult *const *operands, gconstpointer attrs, GError **error)
{
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("MaxRoiPool"), "r", operands, 2, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

START_TEST (regions_and_channels_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *operands[] = { cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 6, 5, 4)),
                               cleave_case_input (graph, "rois", CLEAVE_SHAPE (7, 5)) };
  CleaveMaxRoiPoolAttrs a = { CLEAVE_INTS (3, 2), 1 };

  cleave_assert_infers (add (graph, operands, &a, &error), &error, "float32 7x6x3x2");
  cleave_assert_chunk (add (graph, operands, &a, &error), "2:5,1:4,0:3,0:2",
                       "0:2,1:4,0:5,0:4 2:5,0:5 pooled_shape=3,2");
  cleave_assert_chunk (add (graph, operands, &a, &error), "0:7,0:6,0:2,0:2",
                       "refused: dimension 2 cannot be cut there: a piece of 2 of Y would have 3");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *operands[] = { cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 6, 5, 4)),
                               cleave_case_input (graph, "rois", CLEAVE_SHAPE (7, 4)) };
  CleaveMaxRoiPoolAttrs a = { CLEAVE_INTS (3), 1 };

  cleave_assert_infers (add (graph, operands, &a, &error), &error,
                        "MaxRoiPool 'r': pooled_shape has 1 entries, but must have 2");
  a.pooled_shape = CLEAVE_INTS (3, 0);
  cleave_assert_infers (add (graph, operands, &a, &error), &error,
                        "MaxRoiPool 'r': pooled_shape must be at least 1, not 0");
  a.pooled_shape = CLEAVE_INTS (3, G_MAXINT64);
  cleave_assert_infers (
      add (graph, operands, &a, &error), &error,
      "MaxRoiPool 'r': pooled_shape has 9223372036854775807, more than 2147483647");
  a.pooled_shape = CLEAVE_INTS (3, 3);
  cleave_assert_infers (
      add (graph, operands, &a, &error), &error,
      "MaxRoiPool 'r': rois is 7x4, but should be Rx5: image, left, top, right, bottom");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "max-roi-pool", the_maximum_of_each_bin_is_taken,
                   regions_and_channels_split, mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("max-roi-pool", add_tests)
