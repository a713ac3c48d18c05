/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "all-grids.h"
#include "graphs.h"
#include "random-ops.h"
#include "test.h"

/* The search finds the smallest split that meets a constraint. */

static CleaveResult *
unary (CleaveGraph *graph, const char *op, const char *name, CleaveResult *x)
{
  return cleave_graph_add_unary (graph, op, name, x, NULL, NULL);
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

/* Makes a Reshape of 4x18 to 24x3. Six rows of the result are one row of the operand, so the result
 * is cut at multiples of six rows. */
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

/* Makes a transposed convolution. Its MACs are counted by the elements that it reads, so its pieces
 * together have more MACs than the whole node. */
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

/* Returns the fewest pieces of a grid that satisfies the constraint. With a predicate, considers
 * only grids that the search must show to the predicate. */
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
  /* Unless `exact`, the search may find fewer pieces than `fewest`, since it also cuts at ends of
   * blocks. */
  gboolean good = got == 1 || (exact ? got == fewest : fewest == 0 || (got > 0 && got <= fewest));

  ck_assert_msg (good, "%s, %d bytes, %u pieces, %g MACs, modulus %u: %d pieces, but %d do", name,
                 (int) c->max_memory, c->max_pieces, c->max_added_macs, ask->modulus, (int) got,
                 (int) fewest);
}

/* Tries all combinations of several limits, each with several values or absent. */
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
  for (gint64 budget = 40; budget < 1500; budget += budget / 3)
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
  for (gint64 n_bytes = 10; n_bytes < 1000; n_bytes++)
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

/* The search plans one chunk of each kind. For every op, the result agrees with plans of all
 * chunks. */
START_TEST (the_search_agrees_with_all_grids_for_every_op)
{
  static const CleaveRandomOp *const lists[] = {
    cleave_random_ops_conv,  cleave_random_ops_move,      cleave_random_ops_elementwise,
    cleave_random_ops_index, cleave_random_ops_quantized, cleave_random_ops_signal
  };
  guint n_checked = 0;

  for (const CleaveRandomOp *op = lists[_i % 6]; op->op != NULL; op++)
    check_random_op (op, g_str_hash (op->op) + (guint) _i, &n_checked);
  ck_assert_uint_gt (n_checked, 20);
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

START_TEST (a_node_that_fits_stays_whole)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (8));
  CleaveConstraint roomy = { .max_memory = 64 };
  g_autoptr (CleaveSplitReport) report = search (graph, &roomy);
  g_autofree char *got = cleave_describe_split (report, "n");

  ck_assert_str_eq (got, "one-piece: it meets the constraint unsplit");
}
END_TEST

START_TEST (too_few_pieces_are_reported)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (8));
  CleaveConstraint tight = { .max_memory = 8, .max_pieces = 4 };
  g_autoptr (CleaveSplitReport) report = search (graph, &tight);
  g_autofree char *got = cleave_describe_split (report, "n");

  ck_assert_str_eq (
      got, "constraint: too many pieces: it would be 5 or more, at most 4 may be made; the largest "
           "of these needs 16 bytes, 8 of them for X; the limit is 8; ask for larger pieces, or "
           "raise the limit on the number of pieces");
}
END_TEST

/* Returns the length of the longest chunk of a dimension that is cut into `n`. Returns 0 if that
 * cut is impossible. */
static gint64
longest_chunk (gint64 extent, gint64 n, gint64 alignment, gint64 min_chunk)
{
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("0", &n, 1);
  CleaveShape shape = CLEAVE_SHAPE (extent);
  g_autoptr (GArray) ranges = NULL;
  gint64 longest = 0;

  cleave_tiling_set_alignment (split, alignment);
  cleave_tiling_set_min_chunk (split, min_chunk);
  ranges = cleave_tiling_get_ranges (split, &shape, NULL, NULL);
  for (guint i = 0; ranges != NULL && i < ranges->len; i++)
    {
      CleaveSpan span = g_array_index (ranges, CleaveRange, i).dim[0];

      longest = MAX (longest, span.end - span.begin);
    }
  return longest;
}

static const gint64 rules_shape[] = { 12, 10, 7 };
static const gint64 rules_align[] = { 4, 1, 3 }, rules_min[] = { 1, 3, 2 };

/* Returns the smallest number of pieces of a Relu whose largest piece meets the limit. The Relu is
 * cut along two of its three dimensions. Returns 0 if no cut meets the limit. */
static gint64
fewest_aligned (gint64 max_memory)
{
  gint64 fewest = 0;

  for (gint64 i = 1; i <= rules_shape[0]; i++)
    for (gint64 j = 1; j <= rules_shape[2]; j++)
      {
        gint64 bytes = 8 * rules_shape[1] *
                       longest_chunk (rules_shape[0], i, rules_align[0], rules_min[0]) *
                       longest_chunk (rules_shape[2], j, rules_align[2], rules_min[2]);

        if (bytes > 0 && bytes <= max_memory && (fewest == 0 || i * j < fewest))
          fewest = i * j;
      }
  return fewest;
}

/* Chunks of a search respect alignment and minimum, and only the allowed dimensions are cut. */
START_TEST (a_search_may_be_aligned)
{
  guint n_found = 0, n_impossible = 0;

  for (gint64 budget = 200; budget < 6720; budget += 60)
    {
      g_autoptr (CleaveGraph) graph =
          relu_graph (CLEAVE_SHAPE (rules_shape[0], rules_shape[1], rules_shape[2]));
      g_autoptr (CleaveTiling) split = cleave_tiling_by_search ("0,2");
      CleaveConstraint constraint = { .max_memory = budget };
      g_autoptr (CleaveSplitReport) report = NULL;
      gint64 fewest = fewest_aligned (budget);

      cleave_tiling_set_alignments (split, (const gint64[]){ rules_align[0], rules_align[2] }, 2);
      cleave_tiling_set_min_chunks (split, (const gint64[]){ rules_min[0], rules_min[2] }, 2);
      report = cleave_split_node (cleave_graph_find_node (graph, "n"), split, &constraint, NULL);
      ck_assert_uint_eq (cleave_split_report_get_n_split (report), fewest > 0);
      n_found += fewest > 0;
      n_impossible += fewest == 0;
      if (fewest == 0)
        continue;
      ck_assert_int_eq (cleave_split_report_get_split (report, 0)->n_pieces, fewest);
      for (guint i = 0; i < fewest; i++)
        for (guint d = 0; d < 3; d++)
          {
            CleaveSpan span = cleave_split_report_get_split (report, 0)->ranges[i].dim[d];

            ck_assert (d != 1 || span.end - span.begin == rules_shape[1]);
            ck_assert (d == 1 || span.end == rules_shape[d] || span.end % rules_align[d] == 0);
            ck_assert (d == 1 || span.end - span.begin >= rules_min[d]);
          }
    }
  ck_assert_uint_gt (n_found, 20);
  ck_assert_uint_gt (n_impossible, 5);
}
END_TEST

START_TEST (a_search_needs_a_constraint_and_valid_dimensions)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (8));
  CleaveNode *node = cleave_graph_find_node (graph, "n");
  g_autoptr (CleaveTiling) all = cleave_tiling_by_search (NULL),
                           wrong = cleave_tiling_by_search ("1");
  CleaveConstraint half = { .max_memory = 32 };
  g_autoptr (GError) none = NULL, dims = NULL, ranges = NULL;

  ck_assert_ptr_null (cleave_split_node (node, all, NULL, &none));
  ck_assert_str_eq (none->message, "Relu 'n': give a tiling or a constraint to split it");
  ck_assert_ptr_null (cleave_split_node (node, wrong, &half, &dims));
  ck_assert_str_eq (dims->message, "Relu 'n': dimension must be between -1 and 0, not '1'");
  ck_assert_ptr_null (cleave_tiling_get_ranges (all, &CLEAVE_SHAPE (8), NULL, &ranges));
  ck_assert_str_eq (ranges->message, "a search finds ranges for a node, not for a shape");
}
END_TEST

/* A predicate that accepts plans with three or more pieces. */
static gboolean
at_least_three (const CleavePlan *plan, gpointer data, GString *why)
{
  g_string_append (why, "fewer than three");
  return cleave_plan_get_n_chunks (plan) >= 3;
}

START_TEST (a_predicate_sees_small_splits_first)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (8));
  CleaveConstraint three = { .predicate = at_least_three };
  g_autoptr (CleaveSplitReport) report = search (graph, &three);

  ck_assert_uint_eq (cleave_split_report_get_split (report, 0)->n_pieces, 3);
}
END_TEST

START_TEST (a_large_value_is_searched_quickly)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (1, 1000000, 64));
  CleaveConstraint constraint = { .max_memory = 1 << 20 };
  g_autoptr (CleaveSplitReport) report = search (graph, &constraint);

  /* the value has 512,000,000 bytes; a piece of 2,048 rows meets the limit */
  ck_assert_uint_eq (cleave_split_report_get_split (report, 0)->n_pieces, 489);
}
END_TEST

/* A search checks some thousand cuts, not every number of chunks. */
START_TEST (a_huge_number_of_rows_is_searched_quickly)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (1, 4, G_GINT64_CONSTANT (1) << 40, 12));
  CleaveConstraint constraint = { .max_memory = 1024 };
  g_autoptr (CleaveSplitReport) report = search (graph, &constraint);
  g_autofree char *got = cleave_describe_split (report, "n");

  ck_assert_msg (g_str_has_prefix (got, "constraint: too many pieces: it would be 206158430208 or "
                                        "more, at most 100400 may be made"),
                 "%s", got);
}
END_TEST

/* A row of operand and result has 512 bytes, and there are 2^24 rows. So 8,192 pieces of 1 MiB are
 * the fewest. */
START_TEST (with_many_rows_pieces_are_nearly_the_fewest)
{
  g_autoptr (CleaveGraph) graph = relu_graph (CLEAVE_SHAPE (1 << 24, 64));
  CleaveConstraint constraint = { .max_memory = 1 << 20 };
  g_autoptr (CleaveSplitReport) report = search (graph, &constraint);
  guint n = cleave_split_report_get_split (report, 0)->n_pieces;

  ck_assert_uint_ge (n, 8192);
  ck_assert_uint_le (n, 8192 + 8192 / 256);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *ops = tcase_create ("all grids");

  cleave_add_case (suite, "search", rows_are_preferred, a_node_that_fits_stays_whole,
                   too_few_pieces_are_reported, a_predicate_sees_small_splits_first,
                   a_large_value_is_searched_quickly, a_huge_number_of_rows_is_searched_quickly,
                   with_many_rows_pieces_are_nearly_the_fewest, an_impossible_cut_hides_no_other,
                   a_search_may_be_aligned, a_search_needs_a_constraint_and_valid_dimensions, NULL);
  tcase_add_loop_test (ops, the_smallest_split_is_found, 0, G_N_ELEMENTS (smalls));
  tcase_add_loop_test (ops, nothing_smaller_meets_a_predicate, 0, G_N_ELEMENTS (smalls));
  tcase_add_loop_test (ops, the_search_agrees_with_all_grids_for_every_op, 0, 30);
  suite_add_tcase (suite, ops);
}

CLEAVE_TEST_SUITE ("split-search", add_tests)
