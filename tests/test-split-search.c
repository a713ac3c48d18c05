/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "graphs.h"
#include "test.h"

#include <string.h>

/* The smallest split that meets a constraint; and nothing smaller would. */

static CleaveResult *
unary (CleaveGraph *graph, const char *op, const char *name, CleaveResult *x)
{
  return cleave_graph_add_unary (graph, op, name, x, NULL, NULL);
}

static gint64
largest (const CleavePlan *plan)
{
  gint64 most = 0;

  for (guint i = 0; i < cleave_plan_get_n_chunks (plan); i++)
    most = MAX (most, cleave_plan_get_n_bytes (plan, i));
  return most;
}

/* Remembers the largest piece of the last plan, and allows nothing. */
static gboolean
look (const CleavePlan *plan, gpointer data, GString *why)
{
  *(gint64 *) data = largest (plan);
  g_string_append (why, "only looking");
  return FALSE;
}

/* Bytes of the largest piece of this grid; -1 if it cannot be. */
static gint64
grid_bytes (CleaveNode *node, const gint64 *counts, guint rank)
{
  g_autoptr (CleaveSplit) by = cleave_split_by_num_chunks (rank == 2   ? "0,1"
                                                           : rank == 3 ? "0,1,2"
                                                                       : "0,1,2,3",
                                                           counts, rank);
  gint64 most = -1;
  CleaveConstraint constraint = { .predicate = look, .data = &most };
  g_autoptr (CleaveSplitReport) report = cleave_split_node (node, by, &constraint, NULL);

  ck_assert_ptr_nonnull (report);
  return most;
}

/* The fewest pieces of any grid that fits, by trying all; 0 if none does. */
static gint64
try_all (CleaveNode *node, gint64 budget)
{
  const CleaveShape *shape = &cleave_result_get_type (cleave_node_get_result (node, 0))->shape;
  gint64 counts[CLEAVE_MAX_RANK], fewest = 0;

  for (guint d = 0; d < shape->rank; d++)
    counts[d] = 1;
  while (TRUE)
    {
      gint64 n = 1, bytes;
      guint d = 0;

      for (guint i = 0; i < shape->rank; i++)
        n *= counts[i];
      bytes = n > 1 && (fewest == 0 || n < fewest) ? grid_bytes (node, counts, shape->rank) : -1;
      if (bytes >= 0 && bytes <= budget)
        fewest = n;
      while (d < shape->rank && ++counts[d] > shape->dim[d])
        counts[d++] = 1;
      if (d == shape->rank)
        return fewest;
    }
}

static CleaveGraph *
small_conv (gint64 group)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveConvAttrs attrs = { .group = group,
                            .strides = CLEAVE_INTS (2, 1),
                            .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (2, 4, 8, 5));
  CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (4, 4 / group, 3, 3));

  cleave_graph_add_output (graph, "y", cleave_graph_add_conv (graph, "n", x, w, NULL, &attrs, NULL),
                           NULL);
  return graph;
}

static CleaveGraph *
small_matmul (gint64 unused)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *a = cleave_test_input (graph, "a", CLEAVE_SHAPE (3, 6, 4));
  CleaveResult *b = cleave_test_input (graph, "b", CLEAVE_SHAPE (3, 4, 7));

  cleave_graph_add_output (graph, "y", cleave_graph_add_matmul (graph, "n", a, b, NULL), NULL);
  return graph;
}

/* Six rows of the operand make one of the result: cuts must keep to that. */
static CleaveGraph *
small_reshape (gint64 unused)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveInts shape = CLEAVE_INTS (24, 3);

  cleave_graph_add_output (
      graph, "y",
      cleave_graph_add_reshape (graph, "n", cleave_test_input (graph, "x", CLEAVE_SHAPE (4, 18)),
                                &shape, NULL),
      NULL);
  return graph;
}

/* The last axis cannot be cut. */
static CleaveGraph *
small_softmax (gint64 unused)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (5, 6, 7));

  cleave_graph_add_output (graph, "y", cleave_graph_add_softmax (graph, "n", x, 2, NULL), NULL);
  return graph;
}

typedef CleaveGraph *(*Make) (gint64 group);

static void
check_budget (Make make, gint64 group, gint64 budget)
{
  g_autoptr (CleaveGraph) graph = make (group);
  CleaveNode *node = cleave_graph_find_node (graph, "n");
  gint64 fewest = try_all (node, budget);
  CleaveConstraint constraint = { .max_memory = budget };
  g_autoptr (CleaveSplitReport) report = NULL;
  gint64 got = 0;

  report = cleave_split_node (node, NULL, &constraint, NULL);
  ck_assert_ptr_nonnull (report);
  if (cleave_split_report_get_n_split (report) > 0)
    got = cleave_split_report_get_split (report, 0)->n_pieces;
  else if (cleave_split_report_get_not_split (report, 0)->reason == CLEAVE_NOT_SPLIT_ONE_PIECE)
    return;
  /* It may do with fewer, since it also cuts where blocks end. */
  ck_assert_msg (fewest == 0 ? TRUE : got > 0 && got <= fewest, "budget %d: %d pieces, but %d do",
                 (int) budget, (int) got, (int) fewest);
  ck_assert_msg (make == small_reshape || got == fewest, "budget %d: %d pieces, not %d",
                 (int) budget, (int) got, (int) fewest);
}

START_TEST (nothing_smaller_would_do)
{
  static const struct
  {
    Make make;
    gint64 group;
  } makes[] = {
    { small_conv, 1 },   { small_conv, 2 },    { small_conv, 4 },
    { small_matmul, 0 }, { small_softmax, 0 }, { small_reshape, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (makes); i++)
    for (gint64 budget = 40; budget < 1500; budget += budget / 3)
      check_budget (makes[i].make, makes[i].group, budget);
}
END_TEST

static CleaveSplitReport *
search (CleaveGraph *graph, const CleaveConstraint *constraint)
{
  g_autoptr (GError) error = NULL;
  CleaveSplitReport *report =
      cleave_split_node (cleave_graph_find_node (graph, "n"), NULL, constraint, &error);

  cleave_assert_no_error (error);
  return report;
}

static CleaveGraph *
relu_graph (CleaveShape shape)
{
  CleaveGraph *graph = cleave_graph_new (NULL);

  cleave_graph_add_output (graph, "y",
                           unary (graph, "Relu", "n", cleave_test_input (graph, "x", shape)), NULL);
  return graph;
}

START_TEST (rows_are_preferred)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (1, 8, 8, 8));
  CleaveConstraint half = { .max_memory = 2048 };
  g_autoptr (CleaveSplitReport) report = search (graph, &half);
  g_autofree char *got = cleave_describe_split (report, "n");

  ck_assert_str_eq (got, "n.0 0:1,0:4,0:8,0:8 n.1 0:1,4:8,0:8,0:8");
}
END_TEST

START_TEST (what_fits_is_left_alone)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (8));
  CleaveConstraint roomy = { .max_memory = 64 };
  g_autoptr (CleaveSplitReport) report = search (graph, &roomy);
  g_autofree char *got = cleave_describe_split (report, "n");

  ck_assert_str_eq (got, "one-piece: it meets the constraint as it is");
}
END_TEST

START_TEST (too_few_pieces_are_told)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (8));
  CleaveConstraint tight = { .max_memory = 8, .max_pieces = 4 };
  g_autoptr (CleaveSplitReport) report = search (graph, &tight);
  g_autofree char *got = cleave_describe_split (report, "n");

  ck_assert_str_eq (got, "constraint: no number of pieces that is allowed will do");
}
END_TEST

/* Three pieces or more. */
static gboolean
at_least_three (const CleavePlan *plan, gpointer data, GString *why)
{
  g_string_append (why, "fewer than three");
  return cleave_plan_get_n_chunks (plan) >= 3;
}

START_TEST (a_predicate_is_asked_from_few_to_many)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (8));
  CleaveConstraint three = { .predicate = at_least_three };
  g_autoptr (CleaveSplitReport) report = search (graph, &three);

  ck_assert_uint_eq (cleave_split_report_get_split (report, 0)->n_pieces, 3);
}
END_TEST

START_TEST (a_large_value_is_searched_at_once)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (1, 1000000, 64));
  CleaveConstraint constraint = { .max_memory = 1 << 20 };
  g_autoptr (CleaveSplitReport) report = search (graph, &constraint);

  /* 512,000,000 bytes, of which 2,048 rows fit */
  ck_assert_uint_eq (cleave_split_report_get_split (report, 0)->n_pieces, 489);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "search", nothing_smaller_would_do, rows_are_preferred,
                   what_fits_is_left_alone, too_few_pieces_are_told,
                   a_predicate_is_asked_from_few_to_many, a_large_value_is_searched_at_once, NULL);
}

CLEAVE_TEST_MAIN ("split-search", add_tests)
