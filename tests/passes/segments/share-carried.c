/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Parts of a piece that later pieces read: where such carried parts overlap, the overlap is copied
 * once. */

#include "../../../passes/segments/share-carried.h"

#include "graphs.h"
#include "run-help.h"

/* Returns the bytes of the results of all Slices. */
static gint64
count_sliced (const CleaveGraph *graph)
{
  gint64 n = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    if (g_str_equal (node->op->name, "Slice"))
      n += cleave_tensor_type_n_bytes (&node->results[0].type);
  return n;
}

/* Makes a graph in which three Assembles read parts of one piece: two rows, a column, and the
 * corner in which the rows and the column overlap. */
static CleaveGraph *
make_tile (gboolean other_reader)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *piece = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (1, 1, 4, 6)));
  CleaveResult *rows = run_slice (graph, piece, CLEAVE_RANGE (0, 1, 0, 1, 2, 4, 0, 6));
  CleaveResult *column = run_slice (graph, piece, CLEAVE_RANGE (0, 1, 0, 1, 0, 4, 5, 6));
  CleaveResult *corner = run_slice (graph, piece, CLEAVE_RANGE (0, 1, 0, 1, 2, 4, 5, 6));
  CleaveResult *below[] = { rows, run_input (graph, &CLEAVE_SHAPE (1, 1, 1, 6)) };
  CleaveResult *right[] = { column, run_input (graph, &CLEAVE_SHAPE (1, 1, 4, 2)) };
  CleaveResult *both[] = { corner, run_input (graph, &CLEAVE_SHAPE (1, 1, 2, 3)) };
  const CleaveRange in_below[] = { CLEAVE_RANGE (0, 1, 0, 1, 0, 2, 0, 6),
                                   CLEAVE_RANGE (0, 1, 0, 1, 2, 3, 0, 6) };
  const CleaveRange in_right[] = { CLEAVE_RANGE (0, 1, 0, 1, 0, 4, 0, 1),
                                   CLEAVE_RANGE (0, 1, 0, 1, 0, 4, 1, 3) };
  const CleaveRange in_both[] = { CLEAVE_RANGE (0, 1, 0, 1, 0, 2, 0, 1),
                                  CLEAVE_RANGE (0, 1, 0, 1, 0, 2, 1, 4) };

  run_output (graph, run_unary (graph, "Neg", run_assemble (graph, below, in_below, 2)));
  run_output (graph, run_unary (graph, "Neg", run_assemble (graph, right, in_right, 2)));
  run_output (graph, run_unary (graph, "Neg", run_assemble (graph, both, in_both, 2)));
  if (other_reader)
    run_output (graph, run_unary (graph, "Abs", rows));
  return graph;
}

static void
assert_shared (gboolean other_reader, gint64 n_elements)
{
  g_autoptr (CleaveGraph) before = make_tile (other_reader), after = cleave_graph_copy (before);
  g_autoptr (GPtrArray) inputs = run_random_inputs (before, 1);
  g_autoptr (GPtrArray) want = run_graph (before, inputs, 1), got = NULL;
  g_autoptr (GError) error = NULL;

  cleave_share_carried (after);
  ck_assert (cleave_graph_validate (after, &error));
  cleave_assert_no_error (error);
  got = run_graph (after, inputs, 1);
  ck_assert_int_lt (cleave_compare_outputs (want, got), 0);
  ck_assert_int_eq (count_sliced (after), 4 * n_elements);
}

START_TEST (overlaps_of_carried_parts_are_copied_once) { assert_shared (FALSE, 12 + 4 - 2); }
END_TEST

START_TEST (parts_with_other_readers_are_not_shared) { assert_shared (TRUE, 12 + 4); }
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "carried", overlaps_of_carried_parts_are_copied_once,
                   parts_with_other_readers_are_not_shared, NULL);
}

CLEAVE_TEST_SUITE ("share-carried", add_tests)
