/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the lower bound for the memory of any split. If the limit is below this bound, the search
 * tries no split. */

#include "../../../passes/split/bound.h"
#include "graphs.h"
#include "test.h"

static CleaveResult *
relu (CleaveGraph *graph, const char *name, CleaveResult *x)
{
  return cleave_graph_add_unary (graph, "Relu", name, x, NULL, NULL);
}

/* Makes the graph a = Relu (x), b = Relu (a), c = MatMul (b, b), d = Relu (c). All values have the
 * shape 4x4. */
static CleaveGraph *
make_graph (void)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *b =
      relu (graph, "b", relu (graph, "a", cleave_test_input (graph, "x", CLEAVE_SHAPE (4, 4))));

  cleave_graph_add_output (
      graph, "y", relu (graph, "d", cleave_graph_add_matmul (graph, "c", b, b, NULL)), NULL);
  return graph;
}

static void
check (const char *name, guint depth, gint64 expected, const char *expected_which)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  CleaveNode *node = cleave_graph_find_node (graph, name);
  g_autofree char *which = NULL;

  ck_assert_int_eq (cleave_bound_find (&node, 1, depth, &which), expected);
  ck_assert_str_eq (which, expected_which);
}

START_TEST (nodes_outside_of_the_region_count_whole)
{
  check ("b", 1, 128, "MatMul 'c', which cannot be split, needs 128 bytes, 64 of them for A");
  check ("b", 9, 128, "MatMul 'c', which cannot be split, needs 128 bytes, 64 of them for A");
  check ("c", 1, 64, "Input 'x', which cannot be split, needs 64 bytes, 64 of them for value");
  check ("d", 2, 64, "Input 'x', which cannot be split, needs 64 bytes, 64 of them for value");
  check ("d", 1, 128, "MatMul 'c', which cannot be split, needs 128 bytes, 64 of them for A");
}
END_TEST

START_TEST (several_roots_reach_more_nodes)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  CleaveNode *nodes[] = { cleave_graph_find_node (graph, "a"),
                          cleave_graph_find_node (graph, "c") };
  g_autofree char *one = NULL, *both = NULL;

  ck_assert_int_eq (cleave_bound_find (nodes, 1, 1, &one), 128);
  ck_assert_int_eq (cleave_bound_find (nodes, 2, 1, &both), 64);
}
END_TEST

/* A limit that some split meets is never reported as impossible. */
START_TEST (a_reached_limit_is_never_impossible)
{
  guint n_impossible = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (1500); seed++)
    {
      g_autoptr (CleaveGraph) graph = cleave_random_graph (seed, 4 + seed % 12);
      CleaveNode *node = cleave_graph_get_first_node (graph);
      CleaveRecursion recursion = { .depth = 1 + seed % 5,
                                    .halo = seed % 2 ? CLEAVE_HALO_CARRY : CLEAVE_HALO_RECOMPUTE };
      const gint64 two = 2;
      g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("-2", &two, 1);
      g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
      g_autoptr (CleaveSplitReport) report = NULL;
      g_autofree char *which = NULL;
      const CleaveSplitTotals *totals;
      gint64 bound;

      for (guint i = 0; i < seed % 20 && cleave_node_get_next (node) != NULL; i++)
        node = cleave_node_get_next (node);
      if (cleave_node_is_input (node) || cleave_node_get_constant (node) != NULL)
        continue;
      report =
          cleave_split_node_recursively (cleave_graph_find_node (copy, cleave_node_get_name (node)),
                                         split, NULL, &recursion, NULL);
      if (report == NULL)
        continue;
      totals = cleave_split_report_get_totals (report);
      bound = cleave_bound_find (&node, 1, recursion.depth, &which);
      ck_assert_msg (bound <= totals->peak_bytes_after && bound <= totals->peak_bytes_before,
                     "seed %u: %s", seed, which);
      n_impossible += bound > totals->peak_bytes_after / 2;
    }
  ck_assert_uint_gt (n_impossible, 50);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "bound", nodes_outside_of_the_region_count_whole,
                   several_roots_reach_more_nodes, a_reached_limit_is_never_impossible, NULL);
}

CLEAVE_TEST_SUITE ("split-bound", add_tests)
