/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs lists of passes. The environment variable CLEAVE_SKIP names passes to skip. CLEAVE_DEBUG
 * says whether to validate or print the graph after each pass. */

#include "pipeline.h"

#include "../lib/ir/error.h"

#include <string.h>

/* Returns whether the comma-separated list in an environment variable contains a word. */
static gboolean
env_has (const char *variable, const char *word)
{
  const char *value = g_getenv (variable);
  g_auto (GStrv) words = g_strsplit (value != NULL ? value : "", ",", -1);

  for (guint i = 0; words[i] != NULL; i++)
    if (strcmp (g_strstrip (words[i]), word) == 0)
      return TRUE;
  return FALSE;
}

/* Aborts if a pass broke the graph, or if it changed the graph and reported no change. Both are
 * bugs of the pass. `before` is the printed graph before the pass. */
static void
check (const CleaveGraph *graph, const char *pass, gboolean changed, const char *before)
{
  g_autofree char *after = cleave_graph_print (graph);
  g_autoptr (GError) error = NULL;

  if (!cleave_graph_validate (graph, &error))
    g_error ("%s broke the graph: %s\n%s", pass, error->message, after);
  if (!changed && strcmp (before, after) != 0)
    g_error ("%s changed the graph but reported no change\n%s\nbecame\n%s", pass, before, after);
}

gboolean
cleave_pass_run (CleaveGraph *graph, const CleavePass *pass, gboolean *changed, GError **error)
{
  gboolean validate = env_has ("CLEAVE_DEBUG", "validate");
  g_autofree char *before = validate ? cleave_graph_print (graph) : NULL;
  gboolean did = FALSE;
  GError *mine = NULL;

  if (env_has ("CLEAVE_SKIP", pass->name))
    return TRUE;
  if (!pass->run (graph, pass->options, &did, &mine))
    {
      if (mine == NULL)
        return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s failed without a message", pass->name);
      g_propagate_prefixed_error (error, mine, "%s: ", pass->name);
      return FALSE;
    }
  if (validate)
    check (graph, pass->name, did, before);
  if (did && env_has ("CLEAVE_DEBUG", "print"))
    {
      g_autofree char *after = cleave_graph_print (graph);

      g_printerr ("after %s:\n%s\n", pass->name, after);
    }
  *changed |= did;
  return TRUE;
}

static gboolean
are_legal (const CleavePass *passes, guint n_passes)
{
  if (passes == NULL)
    return n_passes == 0;
  for (guint i = 0; i < n_passes; i++)
    if (passes[i].name == NULL || passes[i].run == NULL)
      return FALSE;
  return TRUE;
}

/**
 * cleave_passes_run:
 * @graph: a graph
 * @passes: (array length=n_passes): what to run, in this order
 * @n_passes: number of @passes
 * @changed: (out) (optional): whether any pass changed the graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Runs passes, each once. With `CLEAVE_DEBUG=validate` in the environment, the graph is validated
 * after each pass, and a pass that changes the graph without reporting it is a fatal error. With
 * `CLEAVE_DEBUG=print`, the graph is printed after each change. `CLEAVE_SKIP=name,…` skips passes.
 *
 * Fails with the error of the first pass that fails, prefixed with its name. After an error, the
 * graph has the changes of the passes before the failed pass.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_passes_run (
    CleaveGraph *graph, const CleavePass *passes, guint n_passes, gboolean *changed, GError **error)
{
  g_return_val_if_fail (graph != NULL && are_legal (passes, n_passes), FALSE);

  gboolean did = FALSE;
  gboolean worked = TRUE;

  for (guint i = 0; i < n_passes && worked; i++)
    worked = cleave_pass_run (graph, &passes[i], &did, error);
  if (changed != NULL)
    *changed = did;
  return worked;
}

/**
 * cleave_passes_run_to_end:
 * @graph: a graph
 * @passes: (array length=n_passes): what to run, in this order
 * @n_passes: number of @passes
 * @changed: (out) (optional): whether any pass changed the graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Runs passes repeatedly, like `cleave_passes_run()`, until no pass changes the graph.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_passes_run_to_end (
    CleaveGraph *graph, const CleavePass *passes, guint n_passes, gboolean *changed, GError **error)
{
  g_return_val_if_fail (graph != NULL && are_legal (passes, n_passes), FALSE);

  gboolean did;

  if (changed != NULL)
    *changed = FALSE;
  do
    {
      did = FALSE;
      if (!cleave_passes_run (graph, passes, n_passes, &did, error))
        return FALSE;
      if (did && changed != NULL)
        *changed = TRUE;
    }
  while (did);
  return TRUE;
}
