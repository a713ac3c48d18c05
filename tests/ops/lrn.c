/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op LRN, which normalizes by a window over the channels. */

#include "apply.h"
#include "graphs.h"
#include "op-case.h"

/* The operand has one position, with the values 1 to 5 in its channels. A window of even size has
 * one more channel after its center than before its center. */
START_TEST (windows_are_clipped_at_the_channels)
{
  static const double sums[2][5] = { { 5, 14, 29, 50, 41 }, { 14, 30, 54, 50, 41 } };
  const double x[] = { 1, 2, 3, 4, 5 };

  for (int even = 0; even < 2; even++)
    for (int nhwc = 0; nhwc < 2; nhwc++)
      {
        CleaveShape shape = nhwc ? CLEAVE_SHAPE (1, 1, 1, 5) : CLEAVE_SHAPE (1, 5, 1, 1);
        CleaveLrnAttrs attrs = { nhwc ? CLEAVE_LAYOUT_NHWC : CLEAVE_LAYOUT_NCHW, .alpha = 0.5,
                                 .beta = 0.75, .bias = 2, .size = 3 + even };
        g_autoptr (CleaveTensor) a = cleave_apply_tensor (CLEAVE_FLOAT32, shape, x);
        g_autoptr (CleaveTensor) y = cleave_apply ("LRN", &a, 1, &attrs);
        double expected[5];

        for (int i = 0; i < 5; i++)
          expected[i] = x[i] / pow (2 + 0.5 / (3 + even) * sums[even][i], 0.75);
        cleave_apply_check ("LRN", y, expected, 1e-7);
      }
}
END_TEST

START_TEST (channels_are_not_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *in = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 6, 4, 4));
  CleaveLrnAttrs attrs = { .alpha = 0.5, .beta = 0.5, .bias = 1, .size = 5 };
  CleaveResult *y = cleave_test_add (graph, "LRN", NULL, (CleaveResult *[]){ in }, 1, &attrs, NULL);

  cleave_assert_chunk (y, "0:1,0:6,1:3,0:2", "0:1,0:6,1:3,0:2 alpha=0.5 beta=0.5 size=5");
  cleave_assert_chunk (y, "0:2,0:3,0:4,0:4",
                       "refused: dimension C cannot be cut there: a piece of 3 of Y would have 6");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2, 3),
                   line = CLEAVE_TYPE (CLEAVE_FLOAT32, 2), ints = CLEAVE_TYPE (CLEAVE_INT8, 2, 3);

  cleave_apply_fails ("LRN", &type, 1, 1, &(CleaveLrnAttrs){ .size = -1 }, CLEAVE_ERROR_ATTRIBUTE,
                      "LRN 'y': size must be at least 1, not -1");
  cleave_apply_fails ("LRN", &line, 1, 1, NULL, CLEAVE_ERROR_SHAPE,
                      "LRN 'y': X must have rank 2 to 8, not 1");
  cleave_apply_fails ("LRN", &ints, 1, 1, NULL, CLEAVE_ERROR_ELEMENT_TYPE,
                      "LRN 'y': X cannot be int8");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "lrn", windows_are_clipped_at_the_channels, channels_are_not_split,
                   mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("lrn", add_tests)
