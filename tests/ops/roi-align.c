/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "op-case.h"

static CleaveResult *
add (CleaveGraph *graph, CleaveResult *const *operands, gconstpointer attrs, GError **error)
{
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("RoiAlign"), "r", operands, 3, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

static CleaveResult *
add_indices (CleaveGraph *graph, gint64 n)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, n);
  g_autoptr (CleaveTensor) zeros = cleave_tensor_new (&type, NULL);

  return cleave_graph_add_constant (graph, "batch", zeros);
}

START_TEST (pools_regions)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *operands[] = { cleave_case_steps (graph, CLEAVE_SHAPE (1, 1, 4, 4), 0, 1),
                               cleave_case_steps (graph, CLEAVE_SHAPE (1, 4), 0, 1),
                               add_indices (graph, 1) };
  CleaveRoiAlignAttrs a = { CLEAVE_ROI_AVG, CLEAVE_ROI_OUTPUT_HALF_PIXEL, 1, 1, 1, 1 };

  /* From (0, 1) to (2, 3): its middle is row 2, column 1. */
  cleave_assert_values (add (graph, operands, &a, &error), "9");
  a.sampling_ratio = 2; /* rows 1.5 and 2.5, columns 0.5 and 1.5 */
  cleave_assert_values (add (graph, operands, &a, &error), "9");
  a.mode = CLEAVE_ROI_MAX;
  cleave_assert_values (add (graph, operands, &a, &error), "11.5");
  a.coordinate_transformation_mode = CLEAVE_ROI_HALF_PIXEL;
  cleave_assert_values (add (graph, operands, &a, &error), "9");
}
END_TEST

START_TEST (regions_and_channels_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *operands[] = { cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 6, 5, 4)),
                               cleave_case_input (graph, "rois", CLEAVE_SHAPE (7, 4)),
                               add_indices (graph, 7) };
  CleaveRoiAlignAttrs a = { CLEAVE_ROI_AVG, CLEAVE_ROI_HALF_PIXEL, 3, 2, 0, 1 };

  cleave_assert_infers (add (graph, operands, &a, &error), &error, "float32 7x6x3x2");
  cleave_assert_chunk (add (graph, operands, &a, &error), "2:5,1:4,0:3,0:2",
                       "0:2,1:4,0:5,0:4 2:5,0:4 2:5 output_height=3 output_width=2");
  cleave_assert_chunk (add (graph, operands, &a, &error), "0:7,0:6,0:2,0:2",
                       "refused: dimension 2 cannot be cut there: a piece of 2 of Y would have 3");
  operands[2] = add_indices (graph, 6);
  cleave_assert_infers (add (graph, operands, &a, &error), &error,
                        "RoiAlign 'r': rois is 7x4, batch_indices 6, but they should be Rx4 and R");
  operands[2] = add_indices (graph, 7);
  a.sampling_ratio = 5000;
  cleave_assert_infers (add (graph, operands, &a, &error), &error,
                        "RoiAlign 'r': sampling_ratio must be at most 4096, not 5000");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "roi-align", pools_regions, regions_and_channels_split, NULL);
}

CLEAVE_TEST_MAIN ("roi-align", add_tests)
