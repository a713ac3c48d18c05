/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests that the search finds the smallest split that meets a constraint. Each test compares the
 * split that the search finds with plans of all grids. search.c tests graphs whose smallest split
 * is known. */

#include "all-grids.h"
#include "graphs.h"
#include "random-ops.h"
#include "test.h"

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

/* Makes a Reshape of 4x18 to 24x3. Six rows of the result have the elements of one row of the
 * operand, so the result is cut at multiples of six rows. */
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

/* Makes a Softmax, whose last axis cannot be cut. */
static CleaveGraph *
small_softmax (gint64 unused)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (5, 6, 7));

  cleave_graph_add_output (graph, "y", cleave_graph_add_softmax (graph, "n", x, 2, NULL), NULL);
  return graph;
}

/* Makes a transposed convolution. The number of MACs depends on the number of elements that a node
 * reads. So all pieces together have more MACs than the whole node. */
static CleaveGraph *
small_conv_transpose (gint64 group)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveConvTransposeAttrs attrs = { .group = group };
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 4, 6, 3));
  CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (4, 2, 3, 2));

  cleave_graph_add_output (graph, "y",
                           cleave_test_add (graph, "ConvTranspose", "n",
                                            (CleaveResult *[]){ x, w, NULL }, 3, &attrs, NULL),
                           NULL);
  return graph;
}

/* Makes a node for which most cuts are impossible: two of three rows of its result read nothing. In
 * a cut into 80 chunks of two rows, every third chunk is impossible, but the chunks that the search
 * checks first are possible. */
static CleaveGraph *
sparse_rows (void)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveConvTransposeAttrs attrs = { .group = 1, .strides = CLEAVE_INTS (3, 1) };
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 1, 54, 1));
  CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (1, 1, 1, 1));

  cleave_graph_add_output (graph, "y",
                           cleave_test_add (graph, "ConvTranspose", "n",
                                            (CleaveResult *[]){ x, w, NULL }, 3, &attrs, NULL),
                           NULL);
  return graph;
}

typedef CleaveGraph *(*Make) (gint64 group);

typedef struct
{
  Make make;
  gint64 group;
} Small;

static const Small smalls[] = {
  { small_conv, 1 },   { small_conv, 2 },    { small_conv, 4 },    { small_conv_transpose, 1 },
  { small_matmul, 0 }, { small_softmax, 0 }, { small_reshape, 0 }, { small_conv_transpose, 2 },
};

/* A constraint for a search, and the data with which the test decides whether a grid satisfies the
 * constraint. */
typedef struct
{
  CleaveConstraint constraint;
  gint64 macs;   /* MACs of the node */
  guint modulus; /* the predicate accepts plans whose hash is a multiple of `modulus`; 0: no
                    predicate */
  guint n_asked; /* number of calls of the predicate */
} Ask;

static gboolean
is_one_of_few (const CleavePlan *plan, gpointer data, GString *why)
{
  Ask *ask = data;

  ask->n_asked++;
  g_string_append (why, "not one of the few");
  return cleave_plan_get_n_chunks (plan) > 1 && cleave_plan_hash (plan) % ask->modulus == 0;
}

static gboolean
meets (const CleaveGrid *grid, const Ask *ask)
{
  const CleaveConstraint *c = &ask->constraint;
  double added = (double) (grid->macs - ask->macs) / (double) MAX (ask->macs, 1);

  return (c->max_memory == 0 || grid->n_bytes <= c->max_memory) &&
         (c->max_pieces == 0 || grid->n <= c->max_pieces) &&
         (c->max_added_macs == 0 || added <= MAX (c->max_added_macs, 0)) &&
         (ask->modulus == 0 || grid->hash % ask->modulus == 0);
}

/* Returns the fewest pieces of a grid that satisfies the constraint; 0 if no grid does. If the
 * constraint has a predicate, considers only grids whose larger chunks come first, since the search
 * need not call the predicate for other grids. */
static gint64
fewest_of (const GArray *grids, const Ask *ask)
{
  gint64 fewest = 0;

  for (guint i = 0; i < grids->len; i++)
    {
      const CleaveGrid *grid = &g_array_index (grids, CleaveGrid, i);

      if (meets (grid, ask) && (ask->modulus == 0 || grid->first) &&
          (fewest == 0 || grid->n < fewest))
        fewest = grid->n;
    }
  return fewest;
}

/* Searches on a copy of the graph. Returns the number of pieces, 1 if the node stays whole, or 0 if
 * no split satisfies the constraint. */
static gint64
search_pieces (const CleaveGraph *graph, const char *name, Ask *ask)
{
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report = NULL;

  ask->constraint.predicate = ask->modulus != 0 ? is_one_of_few : NULL;
  ask->constraint.data = ask;
  report = cleave_split_node (cleave_graph_find_node (copy, name), NULL, &ask->constraint, &error);
  cleave_assert_no_error (error);
  if (cleave_split_report_get_n_split (report) > 0)
    return cleave_split_report_get_split (report, 0)->n_pieces;
  return cleave_split_report_get_not_split (report, 0)->reason == CLEAVE_NOT_SPLIT_ONE_PIECE;
}

static void
check_ask (
    const CleaveGraph *graph, const char *name, const GArray *grids, gboolean exact, Ask *ask)
{
  const CleaveConstraint *c = &ask->constraint;
  gint64 fewest = fewest_of (grids, ask), got = search_pieces (graph, name, ask);
  /* Unless `exact`, the search may find fewer pieces than `fewest`. The search also cuts at
   * multiples of the `block` of a dimension map, and the list of all grids does not. */
  gboolean good = got == 1 || (exact ? got == fewest : fewest == 0 || (got > 0 && got <= fewest));

  ck_assert_msg (good, "%s, %d bytes, %u pieces, %g MACs, modulus %u: %d pieces, but %d do", name,
                 (int) c->max_memory, c->max_pieces, c->max_added_macs, ask->modulus, (int) got,
                 (int) fewest);
}

/* Checks the search for all combinations of a limit on pieces and a limit on added MACs. A limit is
 * absent or has one of several values. */
static void
check_small (const CleaveGraph *graph, const GArray *grids, gboolean exact, gint64 budget)
{
  static const guint pieces[] = { 0, 7, 40 };
  static const double added[] = { 0, -1, 0.2, 0.7 };
  const CleaveNode *node = cleave_graph_find_node (graph, "n");

  for (guint p = 0; p < G_N_ELEMENTS (pieces); p++)
    for (guint a = 0; a < G_N_ELEMENTS (added); a++)
      {
        Ask ask = { .constraint = { .max_memory = budget,
                                    .max_pieces = pieces[p],
                                    .max_added_macs = added[a] },
                    .macs = cleave_node_get_macs (node) };

        check_ask (graph, "n", grids, exact, &ask);
      }
}

START_TEST (the_smallest_split_is_found)
{
  g_autoptr (CleaveGraph) graph = smalls[_i].make (smalls[_i].group);
  g_autoptr (GArray) grids = cleave_all_grids (cleave_graph_find_node (graph, "n"), 20000);

  ck_assert_uint_gt (grids->len, 1);
  for (gint64 budget = 40; budget < 1500; budget += CLEAVE_SANITIZED ? 3 * budget : budget / 3)
    check_small (graph, grids, smalls[_i].make != small_reshape, budget);
}
END_TEST

/* The search detects an impossible cut only after it has checked some chunks. The search
 * nevertheless finds the fewest pieces. */
START_TEST (an_impossible_cut_hides_no_other)
{
  g_autoptr (CleaveGraph) graph = sparse_rows ();
  g_autoptr (GArray) grids = cleave_all_grids (cleave_graph_find_node (graph, "n"), 20000);

  ck_assert_uint_gt (grids->len, 1);
  for (gint64 n_bytes = 10; n_bytes < 1000; n_bytes += CLEAVE_SANITIZED ? 10 : 1)
    {
      Ask ask = { .constraint.max_memory = n_bytes };

      check_ask (graph, "n", grids, TRUE, &ask);
    }
}
END_TEST

/* Since a predicate may accept any grid, the search skips no grid, and tries grids with fewer
 * pieces first. */
START_TEST (nothing_smaller_meets_a_predicate)
{
  g_autoptr (CleaveGraph) graph = smalls[_i].make (smalls[_i].group);
  g_autoptr (GArray) grids = cleave_all_grids (cleave_graph_find_node (graph, "n"), 20000);
  guint n_asked = 0;

  for (guint modulus = 2; modulus < 60; modulus += 1 + modulus / 2)
    for (gint64 budget = 0; budget < 1000; budget = budget * 2 + 150)
      {
        Ask ask = { .constraint.max_memory = budget, .modulus = modulus };

        check_ask (graph, "n", grids, FALSE, &ask);
        n_asked += ask.n_asked;
      }
  ck_assert_uint_gt (n_asked, 20);
}
END_TEST

static void
check_random_op (const CleaveRandomOp *op, guint seed, guint *n_checked)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveNode *node = op->make (graph, rand);
  g_autofree char *name = g_strdup (cleave_node_get_name (node));
  g_autoptr (GArray) grids = NULL;

  cleave_graph_add_output (graph, "y", cleave_node_get_result (node, 0), NULL);
  grids = cleave_all_grids (node, 300);
  for (guint i = 0; grids != NULL && i < grids->len; i += 1 + grids->len / 12)
    {
      Ask ask = { .constraint.max_memory = g_array_index (grids, CleaveGrid, i).n_bytes,
                  .macs = cleave_node_get_macs (node) };

      check_ask (graph, name, grids, FALSE, &ask);
      ++*n_checked;
    }
}

/* If several chunks have equal shapes, pads and bytes, the search plans only one of these chunks.
 * For every op, the search needs no more pieces than the best grid of a list. For this list, the
 * test plans every chunk. */
START_TEST (the_search_agrees_with_all_grids_for_every_op)
{
  static const CleaveRandomOp *const lists[] = {
    cleave_random_ops_conv,  cleave_random_ops_move,  cleave_random_ops_elementwise,
    cleave_random_ops_axes,  cleave_random_ops_index, cleave_random_ops_quantized,
    cleave_random_ops_signal
  };
  guint n_checked = 0;

  for (const CleaveRandomOp *op = lists[(guint) _i % G_N_ELEMENTS (lists)]; op->op != NULL; op++)
    check_random_op (op, g_str_hash (op->op) + (guint) _i, &n_checked);
  ck_assert_uint_gt (n_checked, 10);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *ops = tcase_create ("all grids");

  cleave_add_case (suite, "hidden", an_impossible_cut_hides_no_other, NULL);
  tcase_add_loop_test (ops, the_smallest_split_is_found, 0, G_N_ELEMENTS (smalls));
  tcase_add_loop_test (ops, nothing_smaller_meets_a_predicate, 0, G_N_ELEMENTS (smalls));
  tcase_add_loop_test (ops, the_search_agrees_with_all_grids_for_every_op, 0,
                       CLEAVE_SANITIZED ? 7 : 35);
  suite_add_tcase (suite, ops);
}

CLEAVE_TEST_SUITE ("split-search-grids", add_tests)
