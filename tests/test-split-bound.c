/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "../passes/split-bound.h"
#include "graphs.h"
#include "test.h"

/* What no split can better: below it none is tried. */

static CleaveResult *
relu (CleaveGraph *graph, const char *name, CleaveResult *x)
{
  return cleave_graph_add_unary (graph, "Relu", name, x, NULL, NULL);
}

/* x 4x4 → a → b → MatMul(b, b) c → d */
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
check (const char *node, guint depth, gint64 limit, const char *expected)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  g_autoptr (GString) why = g_string_new (NULL);
  gboolean allows = cleave_bound_allows (cleave_graph_find_node (graph, node), depth, limit, why);

  ck_assert (allows == (expected == NULL));
  ck_assert_str_eq (why->str, expected == NULL ? "" : expected);
}

START_TEST (nodes_out_of_reach_take_what_they_take)
{
  check ("b", 1, 128, NULL);
  check ("b", 1, 127,
         "MatMul 'c', which stays whole, needs 128 bytes, 64 of them for A; the limit is 127");
  check ("c", 1, 64, NULL); /* in place */
  check ("c", 9, 63,
         "Input 'x', which stays whole, needs 64 bytes, 64 of them for value; the limit is 63");
  check ("d", 2, 64, NULL);
  check ("d", 1, 127,
         "MatMul 'c', which stays whole, needs 128 bytes, 64 of them for A; the limit is 127");
}
END_TEST

/* A limit that some split meets is never said to be impossible. */
START_TEST (what_was_reached_is_possible)
{
  guint n_impossible = 0;

  for (guint32 seed = 0; seed < 1500; seed++)
    {
      g_autoptr (CleaveGraph) graph = cleave_random_graph (seed, 4 + seed % 12);
      CleaveNode *node = cleave_graph_get_first_node (graph);
      CleaveRecursion recursion = { .depth = 1 + seed % 5,
                                    .halo = seed % 2 ? CLEAVE_HALO_CARRY : CLEAVE_HALO_RECOMPUTE };
      const gint64 two = 2;
      g_autoptr (CleaveSplit) split = cleave_split_by_num_chunks ("-2", &two, 1);
      g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
      g_autoptr (CleaveSplitReport) report = NULL;
      g_autoptr (GString) why = g_string_new (NULL);
      const CleaveSplitTotals *totals;

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
      ck_assert_msg (
          cleave_bound_allows (node, recursion.depth, totals->peak_bytes_after, why) &&
              cleave_bound_allows (node, recursion.depth, totals->peak_bytes_before, why),
          "seed %u: %s", seed, why->str);
      n_impossible +=
          !cleave_bound_allows (node, recursion.depth, totals->peak_bytes_after / 2, why);
    }
  ck_assert_uint_gt (n_impossible, 50);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "bound", nodes_out_of_reach_take_what_they_take,
                   what_was_reached_is_possible, NULL);
}

CLEAVE_TEST_MAIN ("split-bound", add_tests)
