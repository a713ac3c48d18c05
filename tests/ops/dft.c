/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The ops DFT and STFT. */

#include "op-case.h"

static CleaveResult *
add (CleaveGraph *graph,
     const char *op,
     CleaveResult *x,
     CleaveResult *window,
     gconstpointer attrs,
     GError **error)
{
  CleaveResult *operands[] = { x, window };
  CleaveNode *node = cleave_graph_add (graph, cleave_op_lookup (op), "t", operands,
                                       window == NULL ? 1 : 2, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

START_TEST (transforms)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *one = cleave_case_steps (graph, CLEAVE_SHAPE (1, 2, 1), 1, 2);
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (3, 8, 5, 1));
  CleaveResult *z = cleave_case_input (graph, "z", CLEAVE_SHAPE (3, 8, 5, 2));
  CleaveDftAttrs a = { .axis = 1 };

  /* The transform of 1 and 3 has their sum and their difference, each with an imaginary part. */
  cleave_assert_values (add (graph, "DFT", one, NULL, &a, &error), "4 0 -2 -3.67394e-16");
  cleave_assert_infers (add (graph, "DFT", x, NULL, &a, &error), &error, "float32 3x8x5x2");
  cleave_assert_chunk (add (graph, "DFT", x, NULL, &a, &error), "1:3,0:8,2:4,0:2",
                       "1:3,0:8,2:4,0:1 dft_length=8");
  cleave_assert_chunk (
      add (graph, "DFT", x, NULL, &a, &error), "0:3,0:4,0:5,0:2",
      "refused: dimension 1 cannot be cut there: a piece of 4 of output would have 8");
  a.onesided = TRUE;
  a.dft_length = 12;
  cleave_assert_infers (add (graph, "DFT", x, NULL, &a, &error), &error, "float32 3x7x5x2");
  cleave_assert_infers (add (graph, "DFT", z, NULL, &a, &error), &error,
                        "DFT 't': onesided needs a real input, not a complex one");
  a.axis = -1;
  cleave_assert_infers (
      add (graph, "DFT", x, NULL, &a, &error), &error,
      "DFT 't': axis must not be 3, the dimension of the real and imaginary parts");
}
END_TEST

START_TEST (frames_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 128, 1));
  CleaveResult *w = cleave_case_input (graph, "w", CLEAVE_SHAPE (16));
  CleaveStftAttrs a = { 8, 0, TRUE };

  cleave_assert_infers (add (graph, "STFT", x, w, &a, &error), &error, "float32 2x15x9x2");
  cleave_assert_chunk (add (graph, "STFT", x, w, &a, &error), "0:1,3:6,0:9,0:2",
                       "0:1,24:56,0:1 0:16 frame_step=8 frame_length=16");
  cleave_assert_infers (add (graph, "STFT", x, NULL, &a, &error), &error,
                        "STFT 't': window or frame_length is needed");
  a.frame_length = 12;
  cleave_assert_infers (add (graph, "STFT", x, w, &a, &error), &error,
                        "STFT 't': window has 16 elements, frame_length is 12");
  a.frame_length = 200;
  cleave_assert_infers (add (graph, "STFT", x, NULL, &a, &error), &error,
                        "STFT 't': the signal has 128 samples, fewer than a frame of 200");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "dft", transforms, frames_split, NULL);
}

CLEAVE_TEST_SUITE ("dft", add_tests)
