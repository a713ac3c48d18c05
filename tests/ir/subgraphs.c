/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The parallel subgraphs of a graph, and their numbers. */

#include "../../lib/ir/subgraphs.h"
#include "../../lib/ir/hash.h"
#include "toy-ops.h"

#include <time.h>

/* Returns "0:a,b 1:c" for the subgraphs of the graph, with nodes in insertion order. */
static char *
print_subgraphs (CleaveGraph *graph)
{
  g_autofree guint *subgraph = g_new (guint, graph->n_nodes + 1);
  guint n = cleave_subgraphs_find (graph, subgraph);
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    {
      const char *part = "";

      g_string_append_printf (out, "%s%u:", i == 0 ? "" : " ", i);
      for (CleaveNode *node = graph->first; node != NULL; node = node->next)
        if (subgraph[node->id] == i)
          {
            g_string_append_printf (out, "%s%s", part, node->name);
            part = ",";
          }
    }
  return g_string_free (out, FALSE);
}

static const struct
{
  const char *what, *graph, *subgraphs;
} cases[] = {
  { "nothing", "", "" },
  { "a chain has none", "i x; w a x; w b a; w c b; o c", "" },
  { "two pieces of a chain",
    "i x; v s0 x; v s1 x; w c0 s0; w c1 s1; w r0 c0; w r1 c1; j y r0 r1; o y",
    "0:s0,c0,r0 1:s1,c1,r1" },
  { "before and after them is nothing beside",
    "i x; w stem x; v s0 stem; v s1 stem; w c0 s0; w c1 s1; j y c0 c1; w tail y; o tail",
    "0:s0,c0 1:s1,c1" },
  { "a piece with a residual is one",
    "i x; v s0 x; v s1 x; w a0 s0; w a1 s1; w b0 a0 s0; w b1 a1 s1; j y b0 b1; o y",
    "0:s0,a0,b0 1:s1,a1,b1" },
  { "a residual is no branch", "i x; w a x; w b a; w c b a; o c", "" },
  { "a stage inside a residual",
    "i x; w a x; v s0 a; v s1 a; w c0 s0; w c1 s1; j y c0 c1; w add y a; o add",
    "0:s0,c0 1:s1,c1" },
  { "a border of two values, one before the other",
    "i x; w a x; w b a; v a0 a; v a1 a; v b0 b; v b1 b; w s0 a0 b0; w s1 a1 b1; j y s0 s1; o y",
    "0:a0,b0,s0 1:a1,b1,s1" },
  { "pieces along channels read the whole", "i x; w a x; w c0 a; w c1 a; j y c0 c1; o y",
    "0:c0 1:c1" },
  { "a slice that two pieces share joins nothing", "i x; v s x; w c0 s; w c1 s; j y c0 c1; o y",
    "0:c0 1:c1" },
  { "pieces put together for a user outside, too",
    "i x; v s0 x; v s1 x; w a0 s0; w a1 s1; j all a0 a1; w b0 a0; w b1 a1; j y b0 b1; w add y all; "
    "o add",
    "0:s0,a0,b0 1:s1,a1,b1" },
  { "pieces put together for a user outside, before the other piece is read",
    "i x; v s0 x; v s1 x; w a0 s0; w a1 s1; w b0 a0; j all a0 a1; w f all; w b1 a1; j y b0 b1; "
    "o f; o y",
    "0:s0,a0,b0 1:s1,a1,b1 2:all,f" },
  { "two stages", "i x; w a0 x; w a1 x; j m a0 a1; w mid m; w b0 mid; w b1 mid; j y b0 b1; o y",
    "0:a0 1:a1 2:b0 3:b1" },
  { "strips follow each other",
    "i x; v s0 x; v s1 x; w a0 s0; w a1 s1; w b0 a0; v k a0; j h k a1; w b1 h; j y b0 b1; o y",
    "" },
  { "strips as narrow as the value between them",
    "i x; w a0 x; w a1 x; w a2 x; w b0 a0; j h1 a0 a1; w b1 h1; j h2 a1 a2; w b2 h2; j y b0 b1 b2; "
    "o y",
    "" },
  { "a strip with nothing new",
    "i x; w a0 x; w a1 x; w b0 a0; v k a0; j h1 k a1; w b1 h1; v l a0; v m a1; j h2 l m; w b2 h2; "
    "j y b0 b1 b2; o y",
    "" },
  { "a piece that straddles two",
    "i x; w a0 x; w a1 x; w b0 a0; v k a0; v l a1; j h k l; w b1 h; w b2 a1; j y b0 b1 b2; o y",
    "0:a0,b0 1:a1,k,l,h,b1,b2" },
  { "a skip inside each piece",
    "i x; w a0 x; w a1 x; w b0 a0; w b1 a1; j c0 b0 a0; j c1 b1 a1; w d0 c0; w d1 c1; j y d0 d1; o "
    "y",
    "0:a0,b0,c0,d0 1:a1,b1,c1,d1" },
  { "pieces that all read all", "i x; w a0 x; w a1 x; j m a0 a1; w b0 m; w b1 m; j y b0 b1; o y",
    "0:a0 1:a1 2:b0 3:b1" },
  { "bands of two strips",
    "i x; w a0 x; w a1 x; w b0 a0; v k a0; j h k a1; w b1 h;"
    "w c0 x; w c1 x; w d0 c0; v l c0; j g l c1; w d1 g; j y b0 b1 d0 d1; o y",
    "0:a0,a1,b0,k,h,b1 1:c0,c1,d0,l,g,d1" },
  { "bands that meet at their seams",
    "i x; w a0 x; w a1 x; v k0 a0; v k1 a1; j h0 a0 k1; j h1 k0 a1; w b0 h0; w b1 h1; j y b0 b1; o "
    "y",
    "0:a0,k1,h0,b0 1:a1,k0,h1,b1" },
  { "what nobody reads is beside nothing", "i x; w a x; w dead a; w b a; o b", "" },
  { "nodes that no input reaches run beside nothing", "i x; w fixed; w a x fixed; w b a; o b", "" },
  { "two outputs are two ends", "i x; w a x; w b a; w c a; o b; o c", "0:b 1:c" },
  { "two inputs", "i x; i z; w a x; w b z; w c a b; o c", "0:a 1:b" },
};

START_TEST (subgraphs_are_as_drawn)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph =
          *cases[i].graph == '\0' ? cleave_graph_new (NULL) : toy_graph (cases[i].graph);
      g_autofree char *got = print_subgraphs (graph);

      ck_assert_msg (g_str_equal (got, cases[i].subgraphs), "%s: %s, not %s", cases[i].what, got,
                     cases[i].subgraphs);
    }
}
END_TEST

START_TEST (a_graph_with_a_cycle_has_no_subgraphs)
{
  g_autoptr (CleaveGraph) graph = toy_graph ("i x; w a x x; w b a; w c a; o b; o c");
  guint subgraph[4];

  cleave_operand_set (cleave_node_get_operand (cleave_graph_find_node (graph, "a"), 1),
                      toy_find (graph, "b"));
  ck_assert_uint_eq (cleave_subgraphs_find (graph, subgraph), 0);
}
END_TEST

/* The graph has 100,000 stages with two pieces each. If the cost were not linear, the test would
 * take minutes. */
START_TEST (the_cost_is_linear_in_the_nodes)
{
  g_autoptr (CleaveGraph) graph = toy_graph ("i x");
  CleaveResult *x = toy_find (graph, "x");
  CleaveResult *part[2];
  g_autofree guint *subgraph = NULL;
  clock_t begin;

  for (guint i = 0; i < 100000; i++)
    {
      for (guint j = 0; j < 2; j++)
        part[j] = cleave_node_get_result (
            cleave_graph_add (graph, &toy_work, "p", &x, 1, 1, NULL, NULL), 0);
      x = cleave_node_get_result (cleave_graph_add (graph, &toy_join, "j", part, 2, 1, NULL, NULL),
                                  0);
    }
  ck_assert (cleave_graph_add_output (graph, "y", x, NULL));
  subgraph = g_new (guint, graph->n_ids);
  begin = clock ();
  ck_assert_uint_eq (cleave_subgraphs_find (graph, subgraph), 200000);
  ck_assert_int_lt (clock () - begin, 20 * CLOCKS_PER_SEC);
}
END_TEST

/* cleave_hash_pair() computes a hash from a pair of 32-bit numbers, the numbers of two subgraphs.
 * Hashes 1,000 pairs that differ only in the first number, and 1,000 pairs that differ only in the
 * second number. All hashes must differ. */
START_TEST (pairs_are_compared_by_both_numbers)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint64 i = 0; i < 1000; i++)
    {
      guint64 from = i << 32 | 7, to = 7u << 31 | i;

      g_hash_table_add (seen, GUINT_TO_POINTER (cleave_hash_pair (&from)));
      g_hash_table_add (seen, GUINT_TO_POINTER (cleave_hash_pair (&to)));
    }
  ck_assert_uint_eq (g_hash_table_size (seen), 2000);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "find", subgraphs_are_as_drawn, a_graph_with_a_cycle_has_no_subgraphs,
                   the_cost_is_linear_in_the_nodes, pairs_are_compared_by_both_numbers, NULL);
}

CLEAVE_TEST_SUITE ("subgraphs", add_tests)
