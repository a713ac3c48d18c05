/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op Split, whose results are parts of its operand along an axis. */

#include "op-case.h"

static CleaveNode *
add_split (CleaveGraph *graph,
           CleaveResult *x,
           gint64 axis,
           GArray *sizes,
           guint n_results,
           GError **error)
{
  CleaveSplitAttrs attrs = { axis, sizes };

  return cleave_graph_add (graph, cleave_op_lookup ("Split"), "s", &x, 1, n_results, &attrs, error);
}

START_TEST (without_sizes_parts_are_equal)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 6));

  ck_assert_ptr_nonnull (add_split (graph, x, -1, NULL, 3, &error));
  cleave_assert_dump (
      graph,
      "%0 = Input : float32 2x6  # x\n"
      "%1, %2, %3 = Split %0 axis=1 split=2,2,2 : float32 2x2, float32 2x2, float32 2x2  # s");
  ck_assert_ptr_null (add_split (graph, x, 1, NULL, 4, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_ATTRIBUTE,
                       "Split 's': dimension 1 has 6, which does not divide by the 4 results");
}
END_TEST

static const struct
{
  gint64 sizes[3];
  guint n;
  gint64 axis;
  const char *message;
} mistakes[] = {
  { { 1, 2, 2 }, 3, 0, "sizes 1, 2, 2 add up to 5, dimension 0 has 6" },
  { { 7, -1 }, 2, 0, "entry 1 of sizes must be at least 0, not -1" },
  { { G_MAXINT64, 6 }, 2, 0, "the sum of sizes does not fit 64 bits at entry 1" },
  { { 6 }, 1, 2, "axis must be between -2 and 1 for rank 2, not 2" },
  { { 6 }, 1, -3, "axis must be between -2 and 1 for rank 2, not -3" },
};

START_TEST (a_mistake_is_an_error)
{
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autoptr (GError) error = NULL;
      CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (6, 4));
      g_autofree char *message = g_strdup_printf ("Split 'heads': %s", mistakes[i].message);

      ck_assert_ptr_null (cleave_graph_add_split (graph, "heads", x, mistakes[i].axis,
                                                  mistakes[i].sizes, mistakes[i].n, &error));
      cleave_assert_error (&error, CLEAVE_ERROR_ATTRIBUTE, message);
      cleave_assert_dump (graph, "%0 = Input : float32 6x4  # x");
    }
}
END_TEST

START_TEST (there_is_one_size_per_result_and_no_scalar)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) sizes = g_array_new (FALSE, TRUE, sizeof (gint64));
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (6, 4));
  CleaveResult *s = cleave_graph_add_input (graph, "s", &CLEAVE_SCALAR (CLEAVE_FLOAT32), NULL);
  gint64 six = 6;

  g_array_append_val (sizes, six);
  ck_assert_ptr_null (add_split (graph, x, 0, sizes, 2, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_ATTRIBUTE, "Split 's': 1 sizes for 2 results");
  ck_assert_ptr_null (add_split (graph, s, 0, NULL, 1, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_SHAPE, "Split 's': input must have rank 1 to 8, not 0");
}
END_TEST

START_TEST (chunks_cut_other_axes_only)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (4, 6));
  CleaveNode *split = cleave_graph_add_split (graph, "s", x, 1, (gint64[]){ 1, 3, 2 }, 3, NULL);
  CleaveResult *y = cleave_node_get_result (split, 0);

  cleave_assert_chunk (y, "1:3,0:1", "1:3,0:6 axis=1 split=1,3,2");
  split = cleave_graph_add_split (graph, "t", x, 1, (gint64[]){ 3, 3 }, 2, NULL);
  y = cleave_node_get_result (split, 0);
  cleave_assert_chunk (
      y, "0:4,0:2", "refused: along dimension 1 the results are the pieces: a chunk must be 0:3");
}
END_TEST

START_TEST (parts_may_be_empty)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (2, 3), 1, 1);
  CleaveNode *split = cleave_graph_add_split (graph, NULL, x, -1, (gint64[]){ 1, 2 }, 2, NULL);

  cleave_assert_values (cleave_node_get_result (split, 0), "1 4");
  cleave_assert_values (cleave_node_get_result (split, 1), "2 3 5 6");
  split = cleave_graph_add_split (graph, NULL, x, 0, (gint64[]){ 0, 2 }, 2, NULL);
  cleave_assert_values (cleave_node_get_result (split, 0), "");
  cleave_assert_values (cleave_node_get_result (split, 1), "1 2 3 4 5 6");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "split", without_sizes_parts_are_equal, a_mistake_is_an_error,
                   there_is_one_size_per_result_and_no_scalar, chunks_cut_other_axes_only,
                   parts_may_be_empty, NULL);
}

CLEAVE_TEST_SUITE ("split", add_tests)
