/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The main function of a program of suites. Each suite registers itself at start. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/runtime/kernels.h"
#include "emulate-vnni.h"
#include "test.h"

typedef struct
{
  const char *file;
  const char *name;
  void (*add_tests) (Suite *suite);
} TestSuite;

static TestSuite test_suites[256];
static guint n_test_suites;

void
cleave_test_add_suite (const char *file, const char *name, void (*add_tests) (Suite *suite))
{
  g_assert (n_test_suites < G_N_ELEMENTS (test_suites));
  test_suites[n_test_suites++] = (TestSuite){ file, name, add_tests };
}

void
cleave_add_case (Suite *suite, const char *name, const TTest *test, ...)
{
  TCase *tcase = tcase_create (name);
  va_list tests;

  tcase_set_timeout (tcase, 120);
  va_start (tests, test);
  for (; test != NULL; test = va_arg (tests, const TTest *))
    tcase_add_test (tcase, test);
  va_end (tests);
  suite_add_tcase (suite, tcase);
}

/* Returns whether a suite is selected. "ir/graph" is the suite in tests/ir/graph.c. */
static gboolean
is_wanted (const TestSuite *test_suite, const char *wanted)
{
  g_autofree char *end = g_strdup_printf ("/%s.c", wanted);

  return wanted == NULL || g_str_has_suffix (test_suite->file, end);
}

/* Runs the suite that the argument names, or all suites. Uses the kernels of the level
 * CLEAVE_LEVEL, if that level runs on this machine. */
int
main (int argc, char **argv)
{
  const char *level = g_getenv ("CLEAVE_LEVEL");
  SRunner *runner = srunner_create (NULL);
  guint n_wanted = 0;
  int n_failed;

  if (level != NULL && !cleave_kernel_level_runs (level) && !cleave_test_emulate_level (level))
    {
      g_print ("SKIP: level %s does not run here\n", level);
      return 77;
    }
  for (guint i = 0; i < n_test_suites; i++)
    if (is_wanted (&test_suites[i], argc > 1 ? argv[1] : NULL))
      {
        Suite *suite = suite_create (test_suites[i].name);

        test_suites[i].add_tests (suite);
        srunner_add_suite (runner, suite);
        n_wanted++;
      }
  if (n_wanted == 0)
    g_printerr ("%s holds no suite %s\n", argv[0], argc > 1 ? argv[1] : "");
  srunner_run_all (runner, CK_ENV);
  n_failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return n_wanted > 0 && n_failed == 0 ? 0 : 1;
}
