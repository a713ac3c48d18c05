/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The ops GlobalAveragePool, GlobalMaxPool and GlobalLpPool. */

#include "apply.h"
#include "op-case.h"

#define NHWC CLEAVE_LAYOUT_NHWC

START_TEST (spatial_dimensions_become_one)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveGlobalPoolAttrs nhwc = { NHWC, 0 };
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 3, 4, 5));
  CleaveResult *line = cleave_case_input (graph, "line", CLEAVE_SHAPE (2, 3));
  CleaveResult *none = cleave_case_input (graph, "none", CLEAVE_SHAPE (2, 3, 0));
  GError *error = NULL;

  cleave_assert_infers (
      cleave_graph_add_global_pool (graph, "GlobalAveragePool", "a", x, NULL, NULL), NULL,
      "float32 2x3x1x1");
  cleave_assert_infers (cleave_graph_add_global_pool (graph, "GlobalMaxPool", "m", x, &nhwc, NULL),
                        NULL, "float32 2x1x1x5");
  cleave_assert_infers (
      cleave_graph_add_global_pool (graph, "GlobalLpPool", "l", line, NULL, &error), &error,
      "GlobalLpPool 'l': X must have rank 3 to 8, not 2");
  cleave_assert_infers (
      cleave_graph_add_global_pool (graph, "GlobalMaxPool", "m", none, NULL, &error), &error,
      "GlobalMaxPool 'm': X is empty in spatial dimension 0");
}
END_TEST

START_TEST (a_chunk_reads_whole_channels)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveGlobalPoolAttrs nhwc = { NHWC, 0 };
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 3, 4, 5));

  cleave_assert_chunk (
      cleave_graph_add_global_pool (graph, "GlobalAveragePool", "n", x, NULL, NULL),
      "1:2,0:2,0:1,0:1", "1:2,0:2,0:4,0:5");
  cleave_assert_chunk (cleave_graph_add_global_pool (graph, "GlobalMaxPool", "n", x, &nhwc, NULL),
                       "0:2,0:1,0:1,3:5", "0:2,0:3,0:4,3:5 layout=NHWC");
}
END_TEST

START_TEST (values_are_those_computed_by_hand)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveGlobalPoolAttrs one = { .p = 1 }, nhwc = { NHWC, 0 };
  CleaveResult *x =
      cleave_case_steps (graph, CLEAVE_SHAPE (1, 2, 2, 2), -3,
                         1); /* channel 0 of x has the elements -3 … 0, channel 1 has 1 … 4 */

  cleave_assert_values (
      cleave_graph_add_global_pool (graph, "GlobalAveragePool", "n", x, NULL, NULL), "-1.5 2.5");
  cleave_assert_values (cleave_graph_add_global_pool (graph, "GlobalMaxPool", "n", x, NULL, NULL),
                        "0 4");
  cleave_assert_values (cleave_graph_add_global_pool (graph, "GlobalMaxPool", "n", x, &nhwc, NULL),
                        "3 4");
  cleave_assert_values (cleave_graph_add_global_pool (graph, "GlobalLpPool", "n", x, &one, NULL),
                        "6 10");
  cleave_assert_values (cleave_graph_add_global_pool (graph, "GlobalLpPool", "n", x, NULL, NULL),
                        "3.74166 5.47723");
}
END_TEST

/* A sum in eight lanes is exact here. In any other order, the large number would absorb some of the
 * small numbers. */
START_TEST (the_average_adds_up_by_eight_lanes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 1, 16);
  const float values[16] = { 0x1p24f, 1, 1, 1, 0, 0, 0, 0, -0x1p24f, 1, 1, 1, 0, 0, 0, 10 };
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, values, NULL);
  CleaveResult *x = cleave_graph_add_constant (graph, "x", tensor);

  cleave_assert_values (
      cleave_graph_add_global_pool (graph, "GlobalAveragePool", "n", x, NULL, NULL), "1");
}
END_TEST

/* x has more channels, and each channel more elements, than the kernel processes at once. The sums
 * are exact in any order, but their roots are not exact in float32. Channels are outermost or
 * innermost in memory. */
START_TEST (norms_of_many_channels_are_right)
{
  enum { N_CHANNELS = 260, N_PIXELS = 300 };
  CleaveGlobalPoolAttrs nchw = { .p = 1 + _i }, nhwc = { NHWC, 1 + _i };
  g_autofree double *first = g_new (double, N_CHANNELS *N_PIXELS), *last = NULL;
  g_autoptr (CleaveTensor) inner = NULL, outer = NULL, along = NULL, across = NULL;
  double expected[N_CHANNELS];

  last = g_new (double, N_CHANNELS *N_PIXELS);
  for (int c = 0; c < N_CHANNELS; c++)
    {
      double sum = 0;

      for (int i = 0; i < N_PIXELS; i++)
        {
          double value = (c + i) % 5 - 2;

          first[c * N_PIXELS + i] = last[i * N_CHANNELS + c] = value;
          sum += pow (fabs (value), 1 + _i);
        }
      expected[c] = pow (sum, 1. / (1 + _i));
    }
  inner = cleave_apply_tensor (CLEAVE_FLOAT32, CLEAVE_SHAPE (1, N_CHANNELS, 10, 30), first);
  outer = cleave_apply_tensor (CLEAVE_FLOAT32, CLEAVE_SHAPE (1, 10, 30, N_CHANNELS), last);
  along = cleave_apply ("GlobalLpPool", &inner, 1, &nchw);
  across = cleave_apply ("GlobalLpPool", &outer, 1, &nhwc);
  cleave_apply_check ("along", along, expected, 0x1p-24);
  cleave_apply_check ("across", across, expected, 0x1p-24);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *many = tcase_create ("many");

  tcase_add_loop_test (many, norms_of_many_channels_are_right, 0, 3);
  suite_add_tcase (suite, many);
  cleave_add_case (suite, "global-pool", spatial_dimensions_become_one,
                   a_chunk_reads_whole_channels, values_are_those_computed_by_hand,
                   the_average_adds_up_by_eight_lanes, NULL);
}

CLEAVE_TEST_SUITE ("global-pool", add_tests)
