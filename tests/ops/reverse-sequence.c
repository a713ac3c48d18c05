/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op ReverseSequence, which reverses the first steps of each sequence. */

#include "apply.h"
#include "op-case.h"

static const double x[] = { 0, 1, 2, 3, 4, 5 }, lengths[] = { 2, 9 };

/* A length beyond the end, which ONNX forbids, is treated as the full length. */
START_TEST (the_first_steps_are_reversed)
{
  static const double first[] = { 1, 0, 3, 2 }, second[] = { 2, 5, 0, 3, 4, 1 };
  CleaveReverseSequenceAttrs rows = { 0, 1 }, columns = { 1, 0 };

  for (CleaveElement element = CLEAVE_FLOAT32; element < CLEAVE_BOOL; element++)
    {
      g_autoptr (CleaveTensor) a = cleave_apply_tensor (element, CLEAVE_SHAPE (2, 2), x);
      g_autoptr (CleaveTensor) b = cleave_apply_tensor (element, CLEAVE_SHAPE (3, 2), x);
      g_autoptr (CleaveTensor) one = cleave_apply_tensor (CLEAVE_INT64, CLEAVE_SHAPE (2), lengths);
      g_autoptr (CleaveTensor) y =
          cleave_apply ("ReverseSequence", (CleaveTensor *[]){ a, one }, 2, &rows);
      g_autoptr (CleaveTensor) z =
          cleave_apply ("ReverseSequence", (CleaveTensor *[]){ b, one }, 2, &columns);

      cleave_apply_check ("rows", y, first, 0);
      cleave_apply_check ("columns", z, second, 0);
    }
}
END_TEST

START_TEST (time_is_not_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType n = CLEAVE_TYPE (CLEAVE_INT64, 4);
  CleaveResult *operands[] = { cleave_case_input (graph, "x", CLEAVE_SHAPE (3, 4, 5)),
                               cleave_graph_add_input (graph, "n", &n, NULL) };
  CleaveNode *node = cleave_graph_add (graph, cleave_op_lookup ("ReverseSequence"), NULL, operands,
                                       2, 1, NULL, NULL);
  CleaveResult *y = cleave_node_get_result (node, 0);

  cleave_assert_chunk (y, "0:3,1:3,2:4", "0:3,1:3,2:4 1:3");
  cleave_assert_chunk (y, "0:2,0:4,0:5",
                       "refused: dimension 0 cannot be cut there: a piece of 2 of Y would have 3");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  CleaveTensorType types[] = { CLEAVE_TYPE (CLEAVE_FLOAT32, 3, 4), CLEAVE_TYPE (CLEAVE_INT64, 3) };
  CleaveReverseSequenceAttrs same = { 1, 1 };

  cleave_apply_fails ("ReverseSequence", types, 2, 1, &same, CLEAVE_ERROR_ATTRIBUTE,
                      "ReverseSequence 'y': batch_axis and time_axis must be 0 and 1, not 1 and 1");
  cleave_apply_fails ("ReverseSequence", types, 2, 1, NULL, CLEAVE_ERROR_SHAPE,
                      "ReverseSequence 'y': sequence_lens has 3 entries, the batch has 4");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "reverse-sequence", the_first_steps_are_reversed, time_is_not_split,
                   mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("reverse-sequence", add_tests)
