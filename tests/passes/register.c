/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Passes that modules and programs register. */

#include "build-config.h"
#include "graphs.h"
#include "random-graph.h"
#include "reduced.h"
#include "run-help.h"

#include <string.h>

/* Runs a pipeline on %d = a - b; returns the graph as text. */
static char *
run_on_a_difference (const char *text, gboolean *changed)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph =
      cleave_graph_parse ("%a = Input : float32 4\n%b = Input : float32 4\n"
                          "%d = Sub %a, %b # d\noutput %d\n",
                          NULL, &error);
  g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (text, &error);

  cleave_assert_no_error (error);
  ck_assert (cleave_pipeline_run (pipeline, graph, NULL, NULL, changed, &error));
  return cleave_graph_print (graph);
}

START_TEST (a_loaded_pass_creates_nodes)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *lowered = NULL, *kept = NULL;
  guint n_before, n_after;
  gboolean changed;

  cleave_pass_list (&n_before);
  ck_assert_msg (cleave_pass_load (PASS_MODULE, &error), "%s", error ? error->message : "");
  ck_assert_str_eq (cleave_pass_info_get_name (cleave_pass_list (&n_after)[n_before]), "lower-sub");
  ck_assert_uint_eq (n_after, n_before + 1);
  lowered = run_on_a_difference ("repeat(lower-sub,remove-dead)", &changed);
  ck_assert (changed);
  ck_assert_ptr_nonnull (strstr (lowered, " = Neg "));
  ck_assert_ptr_nonnull (strstr (lowered, " = Add "));
  ck_assert_ptr_null (strstr (lowered, " = Sub "));
  kept = run_on_a_difference ("lower-sub{except=d},remove-dead", &changed);
  ck_assert (!changed);
  ck_assert_ptr_nonnull (strstr (kept, " = Sub "));
}
END_TEST

START_TEST (loading_a_module_twice_is_an_error_and_registers_nothing)
{
  g_autoptr (GError) error = NULL;
  guint n_before, n_after;

  /* If the tests run in one process, another test may have loaded the module already. */
  if (cleave_pass_lookup ("lower-sub") == NULL)
    ck_assert (cleave_pass_load (PASS_MODULE, NULL));
  cleave_pass_list (&n_before);
  ck_assert (!cleave_pass_load (PASS_MODULE, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "'" PASS_MODULE "': there is already a pass 'lower-sub'");
  cleave_pass_list (&n_after);
  ck_assert_uint_eq (n_after, n_before);
}
END_TEST

START_TEST (a_module_that_fails_registers_none_of_its_passes)
{
  g_autoptr (GError) error = NULL;
  guint n_before, n_after;

  cleave_pass_list (&n_before);
  ck_assert (!cleave_pass_load (HALF_MODULE, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "'" HALF_MODULE "': there is already a pass 'clean-up'");
  cleave_pass_list (&n_after);
  ck_assert_uint_eq (n_after, n_before);
  ck_assert_ptr_null (cleave_pass_lookup ("half"));
}
END_TEST

START_TEST (a_file_that_is_no_module_is_an_error)
{
  static const char *const paths[] = { "nothere.so", "/", "" };

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *begin = g_strdup_printf ("cannot load '%s': ", paths[i]);

      ck_assert (!cleave_pass_load (paths[i], &error));
      ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
      ck_assert_msg (g_str_has_prefix (error->message, begin), "%s", error->message);
    }
}
END_TEST

static gboolean
change_nothing (CleaveGraph *graph, gconstpointer options, gboolean *changed, GError **error)
{
  return TRUE;
}

static const struct
{
  const char *name;
  CleavePassOption options[2];
  const char *message;
} wrong_passes[] = {
  { "", { { 0 } }, "the name of a pass has letters, digits, '-' and '_' only, not ''" },
  { "a pass", { { 0 } }, "the name of a pass has letters, digits, '-' and '_' only, not 'a pass'" },
  { "repeat", { { 0 } }, "'repeat' begins a group of passes and cannot name a pass" },
  { "clean-up", { { 0 } }, "there is already a pass 'clean-up'" },
  { "x",
    { { "a=", "N", "s", FALSE }, { 0 } },
    "x: the name of option 0 has letters, digits, '-' and '_' only, not 'a='" },
  { "x", { { "a", "N", NULL, FALSE }, { 0 } }, "x: option 'a' has no summary" },
  { "x",
    { { "a", "N", "s", FALSE }, { "a", NULL, "s", FALSE } },
    "x: option 'a' is described twice" },
};

START_TEST (a_pass_with_a_wrong_name_or_option_is_not_registered)
{
  guint n_before, n_after;

  cleave_pass_list (&n_before);
  for (guint i = 0; i < G_N_ELEMENTS (wrong_passes); i++)
    {
      g_autoptr (GError) error = NULL;
      guint n = wrong_passes[i].options[0].name == NULL   ? 0
                : wrong_passes[i].options[1].name == NULL ? 1
                                                          : 2;

      ck_assert (!cleave_pass_register (wrong_passes[i].name, "summary", wrong_passes[i].options, n,
                                        change_nothing, &error));
      cleave_assert_error (&error, CLEAVE_ERROR_OPTION, wrong_passes[i].message);
    }
  cleave_pass_list (&n_after);
  ck_assert_uint_eq (n_after, n_before);
}
END_TEST

START_TEST (a_registered_pass_keeps_its_own_copy_of_the_texts)
{
  char name[] = "own-pass", option_name[] = "level";
  const CleavePassOption option = { option_name, "N", "the level", FALSE };
  const CleavePassInfo *info;

  ck_assert (cleave_pass_register (name, "Changes nothing.", &option, 1, change_nothing, NULL));
  memset (name, 'x', sizeof name - 1);
  memset (option_name, 'x', sizeof option_name - 1);
  info = cleave_pass_lookup ("own-pass");
  ck_assert_ptr_nonnull (info);
  ck_assert_uint_eq (cleave_pass_info_get_n_options (info), 1);
  ck_assert_str_eq (cleave_pass_info_get_option (info, 0)->name, "level");
  ck_assert_ptr_null (cleave_pass_info_get_pipeline (info));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "register", a_loaded_pass_creates_nodes,
                   loading_a_module_twice_is_an_error_and_registers_nothing,
                   a_module_that_fails_registers_none_of_its_passes,
                   a_file_that_is_no_module_is_an_error,
                   a_pass_with_a_wrong_name_or_option_is_not_registered,
                   a_registered_pass_keeps_its_own_copy_of_the_texts, NULL);
}

CLEAVE_TEST_SUITE ("register", add_tests)
