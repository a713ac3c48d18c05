/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The fusion of STORE steps, each of which copies a part of one value to an output. */

#include "run-help.h"

#include "../../../lib/runtime/program-private.h"
#include "interpret.h"

/* Makes a value of 4 MiB that is cut along its last dimension into parts of these sizes. Each part
 * is an output. */
static CleaveGraph *
make_parts (gint64 extent, const gint64 *sizes, guint n)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, (1 << 20) / extent / 2 + 1, extent));
  CleaveNode *node = cleave_graph_add_split (graph, "split", x, 2, sizes, n, NULL);

  for (guint i = 0; i < n; i++)
    run_output (graph, cleave_node_get_result (node, i));
  return graph;
}

/* Returns the number of STORE steps that run together with another STORE. */
static guint
count_joined (const CleaveGraph *graph)
{
  CleaveProgramOptions options = { .n_threads = 1 };
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, NULL);
  guint n = 0;

  for (guint i = 0; i < program->n_tasks; i++)
    n += program->tasks[i].kind == CLEAVE_STEP_STORE && program->tasks[i].is_fused;
  return n;
}

START_TEST (equal_parts_are_stored_together)
{
  const gint64 sizes[] = { 64, 64 };
  g_autoptr (CleaveGraph) graph = make_parts (128, sizes, 2);

  ck_assert_uint_eq (count_joined (graph), 1);
  run_assert_same (graph, 1);
}
END_TEST

START_TEST (unequal_parts_are_stored_together)
{
  const gint64 sizes[] = { 4, 100, 0, 24 };
  g_autoptr (CleaveGraph) graph = make_parts (128, sizes, 4);

  ck_assert_uint_eq (count_joined (graph), 3);
  run_assert_same (graph, 2);
}
END_TEST

START_TEST (rows_of_partial_vectors_are_stored)
{
  const gint64 sizes[] = { 3, 61, 65 };
  g_autoptr (CleaveGraph) graph = make_parts (129, sizes, 3);

  run_assert_same (graph, 3);
}
END_TEST

START_TEST (many_parts_are_stored_in_groups)
{
  gint64 sizes[600];
  g_autoptr (CleaveGraph) graph = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    sizes[i] = 4;
  graph = make_parts (2400, sizes, G_N_ELEMENTS (sizes));
  ck_assert_uint_eq (count_joined (graph), 600 - 3);
  run_assert_same (graph, 4);
}
END_TEST

/* Two values are cut into parts. The outputs of the second value follow the outputs of the first.
 */
START_TEST (parts_of_several_values_are_stored)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  const gint64 sizes[] = { 32, 96 };

  for (guint i = 0; i < 2; i++)
    {
      CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 8200, 128));
      CleaveResult *y = i == 0 ? x : run_unary (graph, "Neg", x);
      CleaveNode *node = cleave_graph_add_split (graph, NULL, y, 2, sizes, 2, NULL);

      run_output (graph, cleave_node_get_result (node, 0));
      run_output (graph, cleave_node_get_result (node, 1));
    }
  run_assert_same (graph, 5);
}
END_TEST

START_TEST (small_outputs_are_stored_separately)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (8, 128));
  const gint64 sizes[] = { 64, 64 };
  CleaveNode *node = cleave_graph_add_split (graph, NULL, x, 1, sizes, 2, NULL);

  run_output (graph, cleave_node_get_result (node, 0));
  run_output (graph, cleave_node_get_result (node, 1));
  ck_assert_uint_eq (count_joined (graph), 0);
  run_assert_same (graph, 6);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "stores", equal_parts_are_stored_together,
                   unequal_parts_are_stored_together, rows_of_partial_vectors_are_stored,
                   many_parts_are_stored_in_groups, parts_of_several_values_are_stored,
                   small_outputs_are_stored_separately, NULL);
}

CLEAVE_TEST_SUITE ("stores", add_tests)
