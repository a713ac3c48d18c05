/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The limit on the number of nodes that a split may create. */

#include "graphs.h"
#include "test.h"

#include "../../../passes/split/apply.h"

/* A split that would create too many nodes is refused before any of them is created. */

/* Makes a chain of an input x and `n` Relu nodes r0, r1, … */
static CleaveGraph *
make_chain (CleaveShape shape, guint n)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *y = cleave_test_input (graph, "x", shape);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("r%u", i);

      y = cleave_graph_add_unary (graph, "Relu", name, y, NULL, NULL);
    }
  cleave_graph_add_output (graph, "y", y, NULL);
  return graph;
}

static void
assert_refused (CleaveGraph *graph,
                const char *before,
                CleaveSplitReport *report,
                GError **error,
                const char *message)
{
  ck_assert_ptr_null (report);
  cleave_assert_error (error, CLEAVE_ERROR_LIMIT, message);
  cleave_assert_dump (graph, before);
}

START_TEST (pieces_of_all_nodes_are_counted_together)
{
  g_autoptr (CleaveGraph) graph = make_chain (CLEAVE_SHAPE (600000, 1), 3);
  g_autofree char *before = cleave_graph_print (graph);
  const gint64 one = 1;
  g_autoptr (CleaveTiling) rows = cleave_tiling_by_chunk_size ("0", &one, 1);
  g_autoptr (GError) error = NULL;
  CleaveSplitReport *report = cleave_split_all_nodes (graph, rows, NULL, &error);

  assert_refused (
      graph, before, report, &error,
      "too many pieces: Relu 'r1' would become 600000, and all nodes up to it more than "
      "1048832 together; ask for larger pieces or name fewer nodes");
}
END_TEST

START_TEST (pieces_of_nodes_that_recursion_reaches_are_counted)
{
  g_autoptr (CleaveGraph) graph = make_chain (CLEAVE_SHAPE (50000, 1), 30);
  g_autofree char *before = cleave_graph_print (graph);
  const CleaveRecursion recursion = { .depth = 30 };
  const gint64 one = 1;
  g_autoptr (CleaveTiling) rows = cleave_tiling_by_chunk_size ("0", &one, 1);
  g_autoptr (GError) error = NULL;
  CleaveSplitReport *report = cleave_split_node_recursively (cleave_graph_find_node (graph, "r29"),
                                                             rows, NULL, &recursion, &error);

  assert_refused (
      graph, before, report, &error,
      "too many pieces: the split would make more than 1100000 nodes, 50000 of them "
      "pieces of Relu 'r29'; the limit is 1050560. Ask for larger pieces or split fewer "
      "nodes");
}
END_TEST

/* The last node is cut into 3,000 columns, and its operand into 3,000 rows. Each column reads a
 * Slice of each row. */
START_TEST (slices_that_pieces_read_are_counted)
{
  g_autoptr (CleaveGraph) graph = make_chain (CLEAVE_SHAPE (3000, 3000), 2);
  g_autofree char *before = cleave_graph_print (graph);
  const gint64 one = 1;
  g_autoptr (CleaveTiling) rows = cleave_tiling_by_chunk_size ("0", &one, 1);
  g_autoptr (CleaveTiling) columns = cleave_tiling_by_chunk_size ("1", &one, 1);
  const CleaveSplitRequest requests[] = { { cleave_graph_find_node (graph, "r0"), rows, NULL },
                                          { cleave_graph_find_node (graph, "r1"), columns, NULL } };
  g_autoptr (GError) error = NULL;
  CleaveSplitReport *report = cleave_split_nodes (graph, requests, 2, &error);

  assert_refused (graph, before, report, &error,
                  "too many pieces: the split would make more than 9012000 nodes, 3000 of them "
                  "pieces of Relu 'r1'; the limit is 1048768. Ask for larger pieces or split fewer "
                  "nodes");
}
END_TEST

/* Each of two searches finds few pieces, but the two searches cut different dimensions. So the
 * pieces of one search need many Slices of the pieces of the other search. */
START_TEST (a_search_names_a_sufficient_budget)
{
  g_autoptr (CleaveGraph) graph = make_chain (CLEAVE_SHAPE (512, 512), 2);
  g_autofree char *before = cleave_graph_print (graph);
  const CleaveConstraint small = { .max_memory = 4096, .search_budget = 10000 };
  g_autoptr (CleaveTiling) rows = cleave_tiling_by_search ("0");
  g_autoptr (CleaveTiling) columns = cleave_tiling_by_search ("1");
  const CleaveSplitRequest requests[] = { { cleave_graph_find_node (graph, "r0"), rows, &small },
                                          { cleave_graph_find_node (graph, "r1"), columns,
                                            &small } };
  g_autoptr (GError) error = NULL;
  CleaveSplitReport *report = cleave_split_nodes (graph, requests, 2, &error);

  assert_refused (
      graph, before, report, &error,
      "too many pieces: the split would make more than 264192 nodes, 512 of them pieces of "
      "Relu 'r1'; the limit is 16576. Ask for larger pieces, split fewer nodes, or give "
      "the search a budget of 1320960 or more");
}
END_TEST

/* Returns roots that cut a random dimension of each node into a few chunks. */
static GArray *
make_roots (CleaveGraph *graph, GRand *rand)
{
  GArray *roots = g_array_new (FALSE, TRUE, sizeof (CleaveRoot));

  g_array_set_clear_func (roots, cleave_root_clear);
  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      const CleaveShape *shape = &node->results[0].type.shape;
      CleaveRoot root = { .node = node };
      guint d = shape->rank == 0 ? 0 : (guint) g_rand_int_range (rand, 0, (gint32) shape->rank);
      g_autofree char *dim = g_strdup_printf ("%u", d);
      gint64 n = shape->rank == 0 ? 1 : MIN (shape->dim[d], g_rand_int_range (rand, 2, 6));
      g_autoptr (CleaveTiling) tiling = cleave_tiling_by_num_chunks (dim, &n, 1);

      if (node->op->maps == NULL || n < 2 || node->n_operands == 0)
        continue;
      root.ranges = cleave_tiling_get_ranges (tiling, shape, NULL, NULL);
      if (root.ranges != NULL) /* NULL: the tiling does not fit the shape of the node */
        g_array_append_val (roots, root);
    }
  return roots;
}

/* Splits a random graph. Adds the number of created nodes to `made`, and the estimated number of
 * created nodes to `estimated`. */
static void
compare_counts (guint32 seed, guint depth, gint64 *made, gint64 *estimated)
{
  g_autoptr (CleaveGraph) graph = cleave_random_graph (seed, 4 + seed % 12);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GArray) roots = make_roots (graph, rand);
  const CleaveRecursion recursion = { .depth = depth };
  const CleaveMadeLimit limit = { G_MAXINT64 - 1, 0 };
  const CleaveRoot *first = (const CleaveRoot *) (gpointer) roots->data;
  guint n_before = graph->n_nodes;
  g_autoptr (CleaveRegion) region = cleave_region_plan_within (
      graph, first, depth == 1 ? roots->len : MIN (roots->len, 1), &recursion, limit, NULL);
  gint64 n_estimated = region->n_made;

  cleave_region_apply (region);
  ck_assert_msg ((gint64) graph->n_nodes - n_before <= 2 * n_estimated + 10,
                 "seed %u, depth %u: %u nodes from %u, %d were estimated", seed, depth,
                 graph->n_nodes, n_before, (int) n_estimated);
  *made += (gint64) graph->n_nodes - n_before;
  *estimated += n_estimated;
}

START_TEST (the_estimate_is_near_the_number_of_nodes)
{
  gint64 made = 0, estimated = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (100); seed++)
    for (guint depth = 1; depth < 5; depth += 3)
      compare_counts (seed, depth, &made, &estimated);
  ck_assert_int_gt (made, 10 * CLEAVE_TRIALS (100));
  ck_assert_msg (estimated >= made && estimated < 3 * made, "%d made, %d estimated", (int) made,
                 (int) estimated);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "limits", pieces_of_all_nodes_are_counted_together,
                   pieces_of_nodes_that_recursion_reaches_are_counted,
                   slices_that_pieces_read_are_counted, a_search_names_a_sufficient_budget, NULL);
  cleave_add_case (suite, "estimate", the_estimate_is_near_the_number_of_nodes, NULL);
}

CLEAVE_TEST_SUITE ("split-too-many", add_tests)
