/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Topological orders, cycles, components, reachability and minimum cuts of graphs. Toy graphs are
 * written as text (toy-ops.h). */

#include "../../lib/ir/topology.h"
#include "../../lib/ir/min-cut.h"
#include "toy-ops.h"

#include <time.h>

static char *
join_names (const GPtrArray *nodes)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < nodes->len; i++)
    g_string_append_printf (out, "%s%s", i == 0 ? "" : " ", ((CleaveNode *) nodes->pdata[i])->name);
  return g_string_free (out, FALSE);
}

static void
set_operand (CleaveGraph *graph, const char *node, guint operand, const char *from)
{
  cleave_operand_set (cleave_node_get_operand (cleave_graph_find_node (graph, node), operand),
                      toy_find (graph, from));
}

static void
assert_order (CleaveGraph *graph, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, &error);
  g_autofree char *names = NULL;

  cleave_assert_no_error (error);
  names = join_names (order);
  ck_assert_str_eq (names, expected);
}

START_TEST (insertion_order_is_kept)
{
  g_autoptr (CleaveGraph) graph = toy_graph ("i x; w b x; w a x; w c a b; o c");
  g_autoptr (CleaveGraph) empty = cleave_graph_new (NULL);

  assert_order (graph, "x b a c");
  assert_order (empty, "");
}
END_TEST

/* After the edit, d reads z, which was added last. Among the nodes that can come next, the order
 * takes the node that was added first. */
START_TEST (ties_go_to_the_node_added_first)
{
  g_autoptr (CleaveGraph) graph =
      toy_graph ("i x; w d x; w e d; w f x; w g f e; w y x; w z y; o g");

  set_operand (graph, "d", 0, "z");
  assert_order (graph, "x f y z d e g");
}
END_TEST

START_TEST (operands_used_twice_count_twice)
{
  g_autoptr (CleaveGraph) graph = toy_graph ("i x; w a x x; w b a a; w c x; o b");

  set_operand (graph, "a", 1, "c");
  assert_order (graph, "x c a b");
}
END_TEST

/* Compares the order with a simple search, on random graphs with random edits. At each step, the
 * search looks at all nodes and takes the first node that can come next. */
START_TEST (the_order_is_the_lexicographically_smallest)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  for (guint trial = 0; trial < 200; trial++)
    {
      g_autoptr (CleaveGraph) graph = toy_graph ("i x");
      guint n = 2 + (guint) g_rand_int_range (rand, 0, 20);
      g_autofree guint *rank = g_new0 (guint, n + 1);
      g_autofree gboolean *done = g_new0 (gboolean, n + 1);
      g_autoptr (GPtrArray) nodes = g_ptr_array_new ();
      g_autoptr (GPtrArray) order = NULL;
      CleaveResult *twice[2] = { toy_find (graph, "x"), toy_find (graph, "x") };

      g_ptr_array_add (nodes, twice[0]->node);
      for (guint i = 1; i <= n; i++)
        {
          g_ptr_array_add (nodes,
                           cleave_graph_add (graph, &toy_work, "n", twice, 2, 1, NULL, NULL));
          rank[i] = g_rand_int (rand);
        }
      for (guint i = 1; i <= n; i++)
        for (guint k = 0; k < 2; k++)
          {
            guint j = (guint) g_rand_int_range (rand, 0, (gint) n + 1);

            if (j == 0 || rank[j] < rank[i])
              cleave_operand_set (cleave_node_get_operand (nodes->pdata[i], k),
                                  cleave_node_get_result (nodes->pdata[j], 0));
          }
      order = cleave_topology_sort (graph, NULL);
      ck_assert_ptr_nonnull (order);
      for (guint k = 0; k <= n; k++)
        {
          guint next = 0;

          for (next = 0; next <= n; next++)
            {
              CleaveNode *node = nodes->pdata[next];
              gboolean ready = !done[next];

              for (guint i = 0; i < node->n_operands; i++)
                ready = ready && done[node->operands[i].result->node->id];
              if (ready)
                break;
            }
          ck_assert_msg (order->pdata[k] == nodes->pdata[next], "trial %u, place %u", trial, k);
          done[next] = TRUE;
        }
    }
}
END_TEST

START_TEST (cycle_is_an_error)
{
  g_autoptr (CleaveGraph) graph = toy_graph ("i x; w a x; w b a; w c b; o c");
  g_autoptr (GError) error = NULL;

  set_operand (graph, "a", 0, "b");
  ck_assert_ptr_null (cleave_topology_sort (graph, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_CYCLE, "cycle: 'a' → 'b' → 'a'");
  set_operand (graph, "a", 0, "a");
  ck_assert_ptr_null (cleave_topology_sort (graph, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_CYCLE, "cycle: 'a' → 'a'");
}
END_TEST

/* Nodes that depend on a cycle can never run, but they are not part of the cycle. So the message
 * names only nodes of the cycle. */
START_TEST (cycle_names_its_own_nodes_only)
{
  g_autoptr (CleaveGraph) graph = toy_graph ("i x; w late x; w c x; w a x; w b a; o late");
  g_autoptr (GError) error = NULL;

  set_operand (graph, "late", 0, "c");
  set_operand (graph, "c", 0, "b");
  set_operand (graph, "a", 0, "c");
  ck_assert_ptr_null (cleave_topology_sort (graph, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_CYCLE, "cycle: 'c' → 'a' → 'b' → 'c'");
}
END_TEST

START_TEST (a_long_cycle_is_abbreviated)
{
  g_autoptr (CleaveGraph) graph = toy_graph ("i x");
  g_autoptr (GError) error = NULL;
  CleaveResult *last = toy_find (graph, "x");
  CleaveNode *first = NULL;

  for (guint i = 0; i < 100; i++)
    {
      CleaveNode *node = cleave_graph_add (graph, &toy_work, "n", &last, 1, 1, NULL, NULL);

      first = first == NULL ? node : first;
      last = cleave_node_get_result (node, 0);
    }
  cleave_operand_set (cleave_node_get_operand (first, 0), last);
  ck_assert_ptr_null (cleave_topology_sort (graph, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_CYCLE,
                       "cycle: 'n' → 'n_1' → 'n_2' → 'n_3' → 'n_4' → 'n_5' → 'n_6' → 'n_7' → "
                       "'n_8' → 'n_9' → 'n_10' → 'n_11' → 88 more → 'n'");
}
END_TEST

START_TEST (components_are_numbered_in_insertion_order)
{
  g_autoptr (CleaveGraph) graph = toy_graph ("i x; w a x; w b x; w c a; w d b; w e c d; o e");
  gboolean without[6] = { [0] = TRUE, [5] = TRUE };
  guint component[6];

  ck_assert_uint_eq (cleave_topology_components (graph, without, component), 2);
  for (guint i = 0; i < 6; i++)
    ck_assert_uint_eq (component[i], ((guint[]){ G_MAXUINT, 0, 1, 0, 1, G_MAXUINT })[i]);
  without[5] = FALSE;
  ck_assert_uint_eq (cleave_topology_components (graph, without, component), 1);
}
END_TEST

START_TEST (reachability_works_in_both_directions)
{
  g_autoptr (CleaveGraph) graph = toy_graph ("i x; w a x; w b x; w c a; w d b; o c; o d");
  CleaveNode *from[] = { cleave_graph_find_node (graph, "a"), cleave_graph_find_node (graph, "d") };
  gboolean reached[5];

  cleave_topology_reach (graph, from, 2, TRUE, reached);
  for (guint i = 0; i < 5; i++)
    ck_assert_int_eq (reached[i], ((gboolean[]){ FALSE, TRUE, FALSE, TRUE, TRUE })[i]);
  cleave_topology_reach (graph, from, 1, FALSE, reached);
  for (guint i = 0; i < 5; i++)
    ck_assert_int_eq (reached[i], ((gboolean[]){ TRUE, TRUE, FALSE, FALSE, FALSE })[i]);
  cleave_topology_reach (graph, from, 0, FALSE, reached);
  for (guint i = 0; i < 5; i++)
    ck_assert_int_eq (reached[i], FALSE);
}
END_TEST

/* Sorts a graph of a million nodes twice. At first, the nodes are listed in topological order. Then
 * an edit makes the first node read the last node. */
START_TEST (a_million_nodes_take_a_second)
{
  g_autoptr (CleaveGraph) graph = toy_graph ("i x");
  CleaveResult *pair[2] = { toy_find (graph, "x"), toy_find (graph, "x") };
  CleaveNode *first = NULL;
  CleaveResult *last;

  for (guint i = 0; i < 1000000; i++)
    {
      CleaveNode *node = cleave_graph_add (graph, &toy_work, "n", pair, 2, 1, NULL, NULL);

      first = first == NULL ? node : first;
      pair[i % 2] = cleave_node_get_result (node, 0);
    }
  last = pair[1];
  for (guint trial = 0; trial < 2; trial++)
    {
      clock_t begin = clock ();
      g_autoptr (GPtrArray) order = cleave_topology_sort (graph, NULL);

      ck_assert_uint_eq (order->len, graph->n_nodes);
      ck_assert_int_lt (clock () - begin, 10 * CLOCKS_PER_SEC);
      cleave_result_replace_uses (&first->results[0], toy_find (graph, "x"));
      cleave_operand_set (&first->operands[0], last);
    }
}
END_TEST

/* Returns the bytes of the edges that a set of vertices cuts; -1 if no cut may pass one of these
 * edges. */
static gint64
sum_cut (const GArray *edges, guint32 set)
{
  gint64 sum = 0;

  for (guint i = 0; i < edges->len; i++)
    {
      const CleaveFlowEdge *edge = &g_array_index (edges, CleaveFlowEdge, i);

      if ((set >> edge->from & 1) == 0 || (set >> edge->to & 1) == 1)
        continue;
      if (edge->n_bytes < 0)
        return -1;
      sum += edge->n_bytes;
    }
  return sum;
}

/* Returns random edges between vertices. At least one edge begins at the source, and none joins
 * source and sink. */
static GArray *
make_edges (guint32 seed, gint32 n_vertices)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  GArray *edges = g_array_new (FALSE, FALSE, sizeof (CleaveFlowEdge));

  for (guint i = 0; i < 3 * (guint) n_vertices; i++)
    {
      CleaveFlowEdge edge = { (guint) g_rand_int_range (random, 0, n_vertices),
                              (guint) g_rand_int_range (random, 0, n_vertices),
                              g_rand_int_range (random, -1, 20) };

      if (edge.from != edge.to && MAX (edge.from, edge.to) > 1)
        g_array_append_val (edges, edge);
    }
  return edges;
}

START_TEST (no_other_set_of_vertices_is_cheaper_than_the_minimum_cut)
{
  const guint n = 9;
  guint n_cut = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (100); seed++)
    {
      g_autoptr (GArray) edges = make_edges (seed, (gint32) n);
      gboolean is_before[9];
      gint64 least = G_MAXINT64;
      guint32 found = 0;

      for (guint32 set = 1; set < 1u << n; set++)
        if ((set & 3) == 1 && sum_cut (edges, set) >= 0)
          least = MIN (least, sum_cut (edges, set));
      cleave_min_cut (edges, n, is_before);
      for (guint i = 0; i < n; i++)
        found |= (guint32) is_before[i] << i;
      ck_assert_uint_eq (found & 3, 1);
      ck_assert_int_eq (sum_cut (edges, found), least == G_MAXINT64 ? -1 : least);
      n_cut += least > 0 && least < G_MAXINT64;
    }
  ck_assert_uint_gt (n_cut, CLEAVE_TRIALS (100) / 4);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "sort", insertion_order_is_kept, ties_go_to_the_node_added_first,
                   operands_used_twice_count_twice, the_order_is_the_lexicographically_smallest,
                   a_million_nodes_take_a_second, NULL);
  cleave_add_case (suite, "cycle", cycle_is_an_error, cycle_names_its_own_nodes_only,
                   a_long_cycle_is_abbreviated, NULL);
  cleave_add_case (suite, "components", components_are_numbered_in_insertion_order, NULL);
  cleave_add_case (suite, "cut", no_other_set_of_vertices_is_cheaper_than_the_minimum_cut, NULL);
  cleave_add_case (suite, "reach", reachability_works_in_both_directions, NULL);
}

CLEAVE_TEST_SUITE ("topology", add_tests)
