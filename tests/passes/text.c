/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests passes by their effect on texts: the files in tests/passes/text. A file has cases,
 * separated by lines of `===`. A case has a line `passes: ...`, a graph, a line `---`, and the
 * resulting graph, or nothing if the graph does not change. Both graphs must compute the same
 * bits, unless a line `tolerance: ...` allows a difference. A second run of the
 * passes must change nothing, unless a line `once: ...` gives the reason for a change. */

#include "build-config.h"
#include "run-help.h"

#include <math.h>
#include <string.h>

/* Returns the rest of the line that begins with a word, and removes the line. */
static char *
take_line (GString *text, const char *word)
{
  const char *at = strstr (text->str, word);
  gsize n = at == NULL ? 0 : strcspn (at, "\n");
  char *found = at == NULL ? NULL : g_strstrip (g_strndup (at + strlen (word), n - strlen (word)));

  if (at != NULL)
    g_string_erase (text, at - text->str, (gssize) n);
  return found;
}

static CleaveGraph *
read_graph (const char *file, const char *text)
{
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_graph_parse (text, NULL, &error);

  ck_assert_msg (graph != NULL, "%s: %s\n%s", file, error == NULL ? "" : error->message, text);
  return graph;
}

static void
assert_close (const char *file, const CleaveTensor *a, const CleaveTensor *b, double tolerance)
{
  const CleaveTensorType *type = cleave_tensor_get_type (a);
  const float *x = cleave_tensor_get_data (a), *y = cleave_tensor_get_data (b);

  ck_assert_uint_eq (type->element, CLEAVE_FLOAT32);
  for (gint64 i = 0; i < cleave_tensor_type_n_bytes (type) / 4; i++)
    ck_assert_msg (fabsf (x[i] - y[i]) <= (float) tolerance * fmaxf (1, fabsf (x[i])),
                   "%s: element %d is %g, not %g", file, (int) i, (double) y[i], (double) x[i]);
}

static void
compare (const char *file, const GPtrArray *a, const GPtrArray *b, const char *tolerance)
{
  ck_assert_uint_eq (a->len, b->len);
  for (guint i = 0; i < a->len; i++)
    if (tolerance != NULL)
      assert_close (file, a->pdata[i], b->pdata[i], g_ascii_strtod (tolerance, NULL));
    else
      ck_assert_msg (cleave_tensor_equal (a->pdata[i], b->pdata[i]), "%s: output %u differs", file,
                     i);
}

static void
try_case (const char *file, const char *text)
{
  g_auto (GStrv) sides = g_strsplit (text, "\n---\n", 2);
  g_autoptr (GString) before = g_string_new (sides[0]);
  g_autofree char *once = take_line (before, "once: ");
  g_autofree char *passes = take_line (before, "passes: "), *expected = NULL, *got = NULL;
  g_autofree char *tolerance = take_line (before, "tolerance: ");
  g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (passes == NULL ? "" : passes, NULL);
  g_autoptr (CleaveGraph) graph = read_graph (file, before->str);
  g_autoptr (CleaveGraph) after = read_graph (file, sides[1] != NULL ? sides[1] : before->str);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1), a = NULL, b = NULL;
  g_autoptr (GError) error = NULL;
  gboolean changed = FALSE;

  ck_assert_msg (pipeline != NULL, "%s: the pipeline is wrong: %s", file, passes);
  a = run_graph (graph, inputs, 1);
  ck_assert (cleave_pipeline_run (pipeline, graph, NULL, NULL, &changed, &error));
  expected = cleave_graph_print (after);
  got = cleave_graph_print (graph);
  ck_assert_msg (strcmp (expected, got) == 0, "%s: %s should give\n%s\nbut gives\n%s", file, passes,
                 expected, got);
  ck_assert_msg (changed == (sides[1] != NULL), "%s: %s", file, passes);
  ck_assert (cleave_pipeline_run (pipeline, graph, NULL, NULL, &changed, &error));
  ck_assert_msg (!changed || once != NULL, "%s: a second run of %s changes the graph:\n%s", file,
                 passes, got);
  b = run_graph (graph, inputs, 2);
  compare (file, a, b, tolerance);
}

START_TEST (files)
{
  g_autoptr (GDir) folder = g_dir_open (TEXT_FOLDER, 0, NULL);
  const char *name;
  guint n = 0;

  while ((name = g_dir_read_name (folder)) != NULL)
    if (g_str_has_suffix (name, ".cleave"))
      {
        g_autofree char *path = g_build_filename (TEXT_FOLDER, name, NULL), *text = NULL;
        g_auto (GStrv) cases = NULL;

        ck_assert (g_file_get_contents (path, &text, NULL, NULL));
        cases = g_strsplit (text, "\n===\n", -1);
        for (guint i = 0; cases[i] != NULL; i++, n++)
          try_case (name, cases[i]);
      }
  ck_assert_uint_gt (n, 0);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "text", files, NULL);
}

CLEAVE_TEST_SUITE ("text", add_tests)
