/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the search for a split on graphs whose result is known: preferences, alignments,
 * predicates, and the time for large values. */

#include "all-grids.h"
#include "graphs.h"
#include "test.h"

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
                           cleave_graph_add_unary (graph, "Relu", "n",
                                                   cleave_test_input (graph, "x", shape), NULL,
                                                   NULL),
                           NULL);
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

/* Returns the length of the longest chunk of a dimension that is cut into `n` chunks. Returns 0 if
 * that cut is impossible. */
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

/* The test cuts a Relu along two of its three dimensions. Returns the smallest number of pieces for
 * which the largest piece meets the limit. Returns 0 if no cut meets the limit. */
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

/* The chunks that a search finds obey the alignments and the minimum chunk sizes of the tiling. The
 * search cuts only the allowed dimensions. */
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

/* Accepts plans with three or more pieces. Constraints use this function as their predicate. */
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
  cleave_add_case (suite, "search", rows_are_preferred, a_node_that_fits_stays_whole,
                   too_few_pieces_are_reported, a_predicate_sees_small_splits_first,
                   a_large_value_is_searched_quickly, a_huge_number_of_rows_is_searched_quickly,
                   with_many_rows_pieces_are_nearly_the_fewest, a_search_may_be_aligned,
                   a_search_needs_a_constraint_and_valid_dimensions, NULL);
}

CLEAVE_TEST_SUITE ("split-search", add_tests)
