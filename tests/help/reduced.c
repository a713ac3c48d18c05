/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reduces a graph and a pipeline that give other bits than the graph alone, and prints both. */

#include "reduced.h"

#include "graphs.h"
#include "run-help.h"

#include <string.h>

gboolean
reduced_differs (const CleaveGraph *graph, const char *passes, gpointer data)
{
  ReducedTest *test = data;
  g_autoptr (CleaveGraph) changed = cleave_graph_copy (graph);
  g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (passes, NULL);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, test->seed), before = NULL, after = NULL;
  g_autoptr (GError) error = NULL;
  gboolean did = FALSE, did_also = FALSE;

  before = run_graph (graph, inputs, 1);
  if (!cleave_pipeline_run (pipeline, changed, NULL, NULL, &did, &error) &&
      strstr (error->message, "no node can take the option") == NULL)
    return TRUE;
  if (test->also != NULL && strstr (passes, test->also_name) != NULL)
    test->also (changed, NULL, &did_also, NULL);
  test->n_changed += did || did_also;
  if (!cleave_graph_validate (changed, NULL))
    return TRUE;
  after = run_graph (changed, inputs, 2);
  return cleave_compare_outputs (before, after) >= 0;
}

char *
reduced_print (const CleaveGraph *graph, const char *passes, ReducedTest *test)
{
  g_autofree char *left = NULL, *text = NULL;
  g_autoptr (CleaveGraph) small =
      cleave_graph_reduce (graph, passes, reduced_differs, test, &left, NULL);

  if (small == NULL)
    return g_strdup_printf ("passes: %s\nwhich fails only now and then", passes);
  text = cleave_graph_to_text (small, NULL, NULL);
  return g_strdup_printf ("passes: %s\n%s", left, text);
}
