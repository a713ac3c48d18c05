/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the reducer. A pass has a bug, and fails on random graphs. The reducer makes small graphs
 * on which the pass still fails. */

#include "graphs.h"
#include "random-graph.h"
#include "reduced.h"
#include "test.h"

#include "../../lib/ir/graph-private.h"

#include <string.h>

/* A pass with a bug: it merges nodes with equal first operands and attributes, although other
 * operands differ. */
static gboolean
merge_alike (CleaveGraph *graph, gconstpointer options, gboolean *changed, GError **error)
{
  for (CleaveNode *a = graph->first; a != NULL; a = a->next)
    for (CleaveNode *b = a->next; b != NULL; b = b->next)
      if (a->n_operands == 2 && a->op == b->op && b->n_operands == 2 &&
          a->operands[0].result == b->operands[0].result && a->n_results == 1 &&
          cleave_tensor_type_equal (&a->results[0].type, &b->results[0].type) &&
          cleave_attrs_equal (a->op, a->attrs, b->attrs) && b->results[0].n_uses > 0)
        {
          cleave_result_replace_uses (&b->results[0], &a->results[0]);
          *changed = TRUE;
        }
  return cleave_graph_validate (graph, error);
}

static guint
reduce_failure (guint32 seed)
{
  g_autoptr (CleaveGraph) graph = random_graph (seed, 40), small = NULL;
  ReducedTest test = { .seed = seed, .also = merge_alike, .also_name = "join-elementwise" };
  const char *passes = "fold-views,repeat(clean-up,join-elementwise),remove-dead";
  g_autofree char *left = NULL, *text = NULL;
  g_autoptr (GError) error = NULL;

  if (!reduced_differs (graph, passes, &test))
    return 0;
  small = cleave_graph_reduce (graph, passes, reduced_differs, &test, &left, &error);
  cleave_assert_no_error (error);
  text = cleave_graph_to_text (small, NULL, NULL);
  ck_assert_msg (reduced_differs (small, left, &test), "it does not fail any more:\n%s", text);
  ck_assert_str_eq (left, "join-elementwise");
  ck_assert_msg (cleave_graph_get_n_nodes (small) <= 10, "%s", text);
  return 1;
}

START_TEST (a_planted_bug_is_found_and_reduced)
{
  guint n_found = 0;

  for (guint32 seed = 0; seed < 400 && n_found < 3; seed++)
    n_found += reduce_failure (seed);
  ck_assert_uint_eq (n_found, 3);
}
END_TEST

/* The functions below are conditions for the reducer, such as has_conv(). The table `cases` has the
 * smallest graph to which the reducer must reduce GRAPH for each condition. */

#define GRAPH                                                                                      \
  "%x = Input : float32 1x4x12x12\n%z = Input : float32 1x4x12x12\n"                               \
  "%w = Constant seed=1 : float32 4x4x3x3\n%r = Relu %x\n%a = Add %r, %z\n"                        \
  "%c = Conv %a, %w pads=1,1,1,1 : float32 1x4x12x12\n%s = Sigmoid %c\n%t = Tanh %s\n"             \
  "output %t\noutput %r\n"

static gboolean
has_conv (const CleaveGraph *graph, const char *passes, gpointer data)
{
  return cleave_count_nodes (graph, "Conv") > 0;
}

static gboolean
has_both (const CleaveGraph *graph, const char *passes, gpointer data)
{
  return cleave_count_nodes (graph, "Relu") > 0 && cleave_count_nodes (graph, "Tanh") > 0 &&
         (strstr (passes, "merge-equal") != NULL || strstr (passes, "clean-up") != NULL);
}

static gboolean
is_padded (const CleaveGraph *graph, const char *passes, gpointer data)
{
  g_autofree char *text = cleave_graph_print (graph);

  return strstr (text, "pads=1,1,1,1") != NULL;
}

static const struct
{
  CleaveReduceTest test;
  const char *passes, *left, *graph;
} cases[] = {
  { has_conv, NULL, NULL,
    "%0 = Constant : float32 1x1x1x1  # w\n%1 = Input : float32 1x1x1x1  # a\n"
    "%2 = Conv %1, %0 : float32 1x1x1x1  # c\noutput %2  # c\n" },
  { is_padded, NULL, NULL,
    "%0 = Constant : float32 1x1x1x1  # w\n%1 = Input : float32 1x1x1x1  # a\n"
    "%2 = Conv %1, %0 pads=1,1,1,1 : float32 1x1x3x3  # c\noutput %2  # c\n" },
  { has_both, "repeat(clean-up),fold-views", "merge-equal",
    "%0 = Input : float32 1x1x1x1  # x\n%1 = Relu %0 : float32 1x1x1x1  # r\n"
    "%2 = Tanh %1 : float32 1x1x1x1  # t\noutput %2  # t\n" },
};

START_TEST (only_the_needed_part_remains)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = cleave_graph_parse (GRAPH, NULL, &error), small = NULL;
      g_autofree char *left = NULL;

      cleave_assert_no_error (error);
      small = cleave_graph_reduce (graph, cases[i].passes, cases[i].test, NULL, &left, &error);
      cleave_assert_no_error (error);
      cleave_assert_dump (small, cases[i].graph);
      ck_assert_str_eq (left == NULL ? "" : left, cases[i].left == NULL ? "" : cases[i].left);
    }
}
END_TEST

static gboolean
no (const CleaveGraph *graph, const char *passes, gpointer data)
{
  return FALSE;
}

START_TEST (a_test_must_hold_at_first)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (GRAPH, NULL, NULL);
  g_autofree char *left = NULL;
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_graph_reduce (graph, NULL, no, NULL, &left, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "the test is false for the graph itself, so there is nothing to reduce");
  ck_assert_ptr_null (cleave_graph_reduce (graph, "dead", has_conv, NULL, &left, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "pipeline, column 1: there is no pass 'dead'");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "reduce", only_the_needed_part_remains, a_test_must_hold_at_first,
                   a_planted_bug_is_found_and_reduced, NULL);
}

CLEAVE_TEST_SUITE ("reduce", add_tests)
