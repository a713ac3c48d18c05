/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The pass runner: the order of passes, errors, and passes that report a wrong change. */

#include <signal.h>

#include "graphs.h"
#include "test.h"

/* The functions below are passes for the tests of the pass runner. */

static gboolean
rename_node (CleaveGraph *graph, gconstpointer options, gboolean *changed, GError **error)
{
  CleaveResult *x = cleave_graph_get_input (graph, 0);

  cleave_graph_add_output (graph, options, x, NULL);
  if (changed != NULL)
    *changed = TRUE;
  return TRUE;
}

static gboolean
lie (CleaveGraph *graph, gconstpointer options, gboolean *changed, GError **error)
{
  cleave_graph_add_output (graph, "lie", cleave_graph_get_input (graph, 0), NULL);
  return TRUE;
}

static gboolean
refuse (CleaveGraph *graph, gconstpointer options, gboolean *changed, GError **error)
{
  g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION, "no");
  return FALSE;
}

static gboolean
fail_silently (CleaveGraph *graph, gconstpointer options, gboolean *changed, GError **error)
{
  return FALSE;
}

/* Reports a change of the graph and subtracts 1 from the counter to which `options` points. If the
 * counter is 0, reports no change. */
static gboolean
count_down (CleaveGraph *graph, gconstpointer options, gboolean *changed, GError **error)
{
  guint *left = (guint *) options;

  if (*left == 0)
    return TRUE;
  --*left;
  *changed = TRUE;
  return TRUE;
}

static CleaveGraph *
small_graph (void)
{
  CleaveGraph *graph = cleave_graph_new (NULL);

  cleave_test_input (graph, "x", CLEAVE_SHAPE (2));
  return graph;
}

START_TEST (passes_run_in_order)
{
  g_autoptr (CleaveGraph) graph = small_graph ();
  const CleavePass passes[] = { { "first", rename_node, "a" }, { "second", rename_node, "b" } };
  gboolean changed = FALSE;

  ck_assert (cleave_passes_run (graph, passes, 2, &changed, NULL));
  ck_assert (changed);
  ck_assert_str_eq (cleave_graph_get_output_name (graph, 0), "a");
  ck_assert_str_eq (cleave_graph_get_output_name (graph, 1), "b");
}
END_TEST

START_TEST (a_pass_that_sets_no_error_gets_one)
{
  g_autoptr (CleaveGraph) graph = small_graph ();
  const CleavePass pass = { "silent", fail_silently, NULL };
  g_autoptr (GError) error = NULL;

  ck_assert (!cleave_passes_run (graph, &pass, 1, NULL, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "silent failed without a message");
}
END_TEST

START_TEST (an_error_names_the_pass)
{
  g_autoptr (CleaveGraph) graph = small_graph ();
  const CleavePass passes[] = { { "fail", refuse, NULL }, { "second", rename_node, "b" } };
  g_autoptr (GError) error = NULL;

  ck_assert (!cleave_passes_run (graph, passes, 2, NULL, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "fail: no");
  ck_assert_uint_eq (cleave_graph_get_n_outputs (graph), 0);
}
END_TEST

START_TEST (passes_run_until_nothing_changes)
{
  g_autoptr (CleaveGraph) graph = small_graph ();
  guint left = 3;
  const CleavePass passes[] = { { "count-down", count_down, &left } };
  gboolean changed = FALSE;

  ck_assert (cleave_passes_run_to_end (graph, passes, 1, &changed, NULL));
  ck_assert_uint_eq (left, 0);
  ck_assert (changed);
  changed = FALSE;
  ck_assert (cleave_passes_run_to_end (graph, passes, 1, &changed, NULL));
  ck_assert (!changed);
}
END_TEST

START_TEST (a_pass_can_be_skipped)
{
  g_autoptr (CleaveGraph) graph = small_graph ();
  const CleavePass passes[] = { { "first", rename_node, "a" }, { "second", rename_node, "b" } };

  g_setenv ("CLEAVE_SKIP", "none,first", TRUE);
  ck_assert (cleave_passes_run (graph, passes, 2, NULL, NULL));
  g_unsetenv ("CLEAVE_SKIP");
  ck_assert_str_eq (cleave_graph_get_output_name (graph, 0), "b");
}
END_TEST

START_TEST (a_pass_that_misreports_changes_is_caught)
{
  g_autoptr (CleaveGraph) graph = small_graph ();
  const CleavePass passes[] = { { "lie", lie, NULL } };

  g_setenv ("CLEAVE_DEBUG", "validate", TRUE);
  cleave_passes_run (graph, passes, 1, NULL, NULL);
}
END_TEST

START_TEST (a_second_clean_up_changes_nothing)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (200); seed++)
    {
      g_autoptr (CleaveGraph) graph = cleave_random_graph (seed, 12);
      gboolean changed = FALSE;
      g_autoptr (GError) error = NULL;

      ck_assert (cleave_clean_up (graph, NULL, &error));
      ck_assert (cleave_clean_up (graph, &changed, &error));
      ck_assert_msg (!changed, "seed %u", seed);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "runner", passes_run_in_order, an_error_names_the_pass,
                   a_pass_that_sets_no_error_gets_one, passes_run_until_nothing_changes,
                   a_pass_can_be_skipped, NULL);
  cleave_add_case (suite, "clean-up", a_second_clean_up_changes_nothing, NULL);
  if (g_strcmp0 (g_getenv ("CK_FORK"), "no") != 0)
    {
      TCase *tcase = tcase_create ("lies");

      tcase_add_test_raise_signal (tcase, a_pass_that_misreports_changes_is_caught, SIGTRAP);
      suite_add_tcase (suite, tcase);
    }
}

CLEAVE_TEST_SUITE ("pass", add_tests)
