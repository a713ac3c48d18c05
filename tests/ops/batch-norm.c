/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the ops BatchNormalization and InstanceNormalization: operands, slices and values. */

#include "graphs.h"
#include "op-case.h"

static CleaveResult *
add_instance_norm (CleaveGraph *graph,
                   CleaveResult *x,
                   CleaveResult *scale,
                   CleaveResult *b,
                   const CleaveNormAttrs *attrs,
                   GError **error)
{
  CleaveResult *operands[] = { x, scale, b };
  CleaveNode *node = cleave_graph_add (graph, cleave_op_lookup ("InstanceNormalization"), "norm",
                                       operands, 3, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

START_TEST (vectors_must_have_one_element_for_each_channel)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNormAttrs nhwc = { CLEAVE_LAYOUT_NHWC, 0.1 };
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 3, 4, 5));
  CleaveResult *flat = cleave_case_input (graph, "flat", CLEAVE_SHAPE (2, 3));
  CleaveResult *v = cleave_case_input (graph, "v", CLEAVE_SHAPE (3));
  CleaveResult *v5 = cleave_case_input (graph, "v5", CLEAVE_SHAPE (5));
  GError *error = NULL;

  cleave_assert_infers (cleave_test_add (graph, "BatchNormalization", "n",
                                         (CleaveResult *[]){ x, v, v, v, v }, 5, NULL, &error),
                        &error, "float32 2x3x4x5");
  cleave_assert_infers (cleave_test_add (graph, "BatchNormalization", "n",
                                         (CleaveResult *[]){ x, v5, v5, v5, v5 }, 5, &nhwc, &error),
                        &error, "float32 2x3x4x5");
  cleave_assert_infers (cleave_test_add (graph, "BatchNormalization", "n",
                                         (CleaveResult *[]){ flat, v, v, v, v }, 5, NULL, &error),
                        &error, "float32 2x3");
  cleave_assert_infers (cleave_test_add (graph, "BatchNormalization", "n",
                                         (CleaveResult *[]){ x, v, v, v5, v }, 5, NULL, &error),
                        &error,
                        "BatchNormalization 'n': input_mean has 5 elements, X has 3 channels");
  cleave_assert_infers (cleave_test_add (graph, "BatchNormalization", "n",
                                         (CleaveResult *[]){ x, v, v, flat, v }, 5, NULL, &error),
                        &error, "BatchNormalization 'n': input_mean must have rank 1, not 2");
  cleave_assert_infers (add_instance_norm (graph, flat, v, v, NULL, &error), &error,
                        "InstanceNormalization 'norm': input must have rank 3 to 8, not 2");
}
END_TEST

START_TEST (a_chunk_reads_the_parameters_of_its_channels)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNormAttrs nhwc = { CLEAVE_LAYOUT_NHWC, 0.5 };
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 3, 4, 3));
  CleaveResult *v = cleave_case_input (graph, "v", CLEAVE_SHAPE (3));

  cleave_assert_chunk (cleave_test_add (graph, "BatchNormalization", "n",
                                        (CleaveResult *[]){ x, v, v, v, v }, 5, NULL, NULL),
                       "0:2,1:2,1:3,0:3", "0:2,1:2,1:3,0:3 1:2 1:2 1:2 1:2");
  cleave_assert_chunk (cleave_test_add (graph, "BatchNormalization", "n",
                                        (CleaveResult *[]){ x, v, v, v, v }, 5, &nhwc, NULL),
                       "0:2,1:2,1:3,0:2",
                       "0:2,1:2,1:3,0:2 0:2 0:2 0:2 0:2 layout=NHWC epsilon=0.5");
  cleave_assert_chunk (add_instance_norm (graph, x, v, v, NULL, NULL), "1:2,1:2,0:4,0:3",
                       "1:2,1:2,0:4,0:3 1:2 1:2");
  cleave_assert_chunk (
      add_instance_norm (graph, x, v, v, NULL, NULL), "0:2,0:3,0:2,0:3",
      "refused: dimension H cannot be cut there: a piece of 2 of output would have 4");
}
END_TEST

START_TEST (values_are_those_computed_by_hand)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNormAttrs none = { CLEAVE_LAYOUT_NCHW, 0 };
  CleaveResult *x =
      cleave_case_steps (graph, CLEAVE_SHAPE (1, 2, 2), 1, 2); /* channel 0 has the elements 1 and
                                                                * 3, channel 1 has the elements 5
                                                                * and 7 */
  CleaveResult *scale = cleave_case_steps (graph, CLEAVE_SHAPE (2), 1, 1); /* 1 2 */
  CleaveResult *b = cleave_case_steps (graph, CLEAVE_SHAPE (2), 10, 10);   /* 10 20 */
  CleaveResult *var = cleave_case_steps (graph, CLEAVE_SHAPE (2), 4, 12);  /* 4 16 */

  cleave_assert_values (cleave_test_add (graph, "BatchNormalization", "n",
                                         (CleaveResult *[]){ x, scale, b, scale, var }, 5, &none,
                                         NULL),
                        "10 11 21.5 22.5");
  cleave_assert_values (add_instance_norm (graph, x, scale, b, &none, NULL), "9 11 18 22");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "batch-norm", vectors_must_have_one_element_for_each_channel,
                   a_chunk_reads_the_parameters_of_its_channels, values_are_those_computed_by_hand,
                   NULL);
}

CLEAVE_TEST_SUITE ("batch-norm", add_tests)
