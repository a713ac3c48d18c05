/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the op Tile: values, slices and errors. */

#include "op-case.h"

static CleaveResult *
add_tile (CleaveGraph *graph, CleaveResult *x, CleaveInts repeats, GError **error)
{
  CleaveTileAttrs attrs = { repeats };
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("Tile"), "t", &x, 1, 1, &attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

START_TEST (repeats)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (2, 2), 1, 1);
  CleaveResult *y = add_tile (graph, x, CLEAVE_INTS (1, 3), &error);

  cleave_assert_infers (y, &error, "float32 2x6");
  cleave_assert_values (y, "1 2 1 2 1 2 3 4 3 4 3 4");
  cleave_assert_chunk (y, "1:2,2:6", "1:2,0:2 repeats=1,2");
  cleave_assert_chunk (y, "0:2,1:2",
                       "refused: in dimension 1, where 2 elements repeat, it must begin and end at "
                       "a multiple of that");
  cleave_assert_values (add_tile (graph, x, CLEAVE_INTS (2, 1), &error), "1 2 3 4 1 2 3 4");
  cleave_assert_values (add_tile (graph, x, CLEAVE_INTS (2, 2), &error),
                        "1 2 1 2 3 4 3 4 1 2 1 2 3 4 3 4");
  cleave_assert_values (add_tile (graph, x, CLEAVE_INTS (0, 1), &error), "");
  cleave_assert_infers (add_tile (graph, x, CLEAVE_INTS (0, 1), &error), &error, "float32 0x2");
  cleave_assert_infers (add_tile (graph, x, CLEAVE_INTS (2), &error), &error,
                        "Tile 't': repeats has 1 entries for rank 2");
  cleave_assert_infers (add_tile (graph, x, CLEAVE_INTS (2, -1), &error), &error,
                        "Tile 't': repeats must be at least 0, not -1");
  cleave_assert_infers (add_tile (graph, x, CLEAVE_INTS (G_MAXINT64, 1), &error), &error,
                        "Tile 't': dimension 0 with its repeats does not fit 64 bits");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "tile", repeats, NULL);
}

CLEAVE_TEST_SUITE ("tile", add_tests)
