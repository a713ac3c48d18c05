/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints and runs pipelines. A step of a pipeline is a pass with options, or a group of steps
 * that runs until it changes nothing. */

#include "pipeline.h"

#include "../lib/ir/boxed.h"
#include "../lib/ir/graph-private.h"
#include "../lib/ir/topology.h"

static void
step_clear (gpointer data)
{
  CleavePipelineStep *step = data;

  g_clear_pointer (&step->options, g_hash_table_unref);
  g_clear_pointer (&step->group, cleave_pipeline_unref);
  g_free (step->text);
}

CleavePipeline *
cleave_pipeline_new (void)
{
  CleavePipeline *pipeline = g_atomic_rc_box_new0 (CleavePipeline);

  pipeline->steps = g_array_new (FALSE, FALSE, sizeof (CleavePipelineStep));
  g_array_set_clear_func (pipeline->steps, step_clear);
  return pipeline;
}

static void
clear (gpointer data)
{
  CleavePipeline *pipeline = data;

  g_array_unref (pipeline->steps);
}

/**
 * cleave_pipeline_ref:
 * @pipeline: a pipeline
 *
 * Adds a reference.
 *
 * Returns: (transfer full): @pipeline
 *
 * Since: 0.1
 */

/**
 * cleave_pipeline_unref:
 * @pipeline: (transfer full) (nullable): a pipeline
 *
 * Drops a reference; the last one frees the pipeline.
 *
 * Since: 0.1
 */

CLEAVE_DEFINE_COUNTED (CleavePipeline, pipeline, clear)

/**
 * cleave_pipeline_print:
 * @pipeline: a pipeline
 *
 * Returns: (transfer full): the pipeline as text, which [func@Cleave.Pipeline.parse] reads
 *
 * Since: 0.1
 */
char *
cleave_pipeline_print (const CleavePipeline *pipeline)
{
  GString *out = g_string_new (NULL);

  g_return_val_if_fail (pipeline != NULL, g_string_free (out, FALSE));
  for (guint i = 0; i < pipeline->steps->len; i++)
    {
      const CleavePipelineStep *step = &g_array_index (pipeline->steps, CleavePipelineStep, i);
      g_autofree char *group = step->info == NULL ? cleave_pipeline_print (step->group) : NULL;

      if (i > 0)
        g_string_append_c (out, ',');
      if (group != NULL)
        g_string_append_printf (out, "repeat(%s)", group);
      else
        g_string_append (out, step->text);
    }
  return g_string_free (out, FALSE);
}

typedef struct
{
  CleaveGraph *graph;
  CleavePipelineObserver observer;
  gpointer data;
  gboolean changed;
  gboolean ended; /* the observer ended the run */
} Run;

/* Runs a pass that has only `visit`: calls `visit` for each node with users. `info` is the pass's
 * record, passed in place of options. Returns FALSE and sets the error if the graph has a cycle. */
static gboolean
visit_nodes (CleaveGraph *graph, gconstpointer info, gboolean *changed, GError **error)
{
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, error);

  for (guint i = 0; order != NULL && i < order->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (order, i);

      if (cleave_node_is_used (node) && ((const CleavePassInfo *) info)->visit (node))
        *changed = TRUE;
    }
  return order != NULL;
}

static gboolean
run_pass (Run *run, const CleavePipelineStep *step, GError **error)
{
  const CleavePassInfo *info = step->info;
  const CleavePass pass = { info->name, info->visit != NULL ? visit_nodes : info->run,
                            info->visit != NULL ? (gconstpointer) info : step->options };
  gboolean changed = FALSE;

  if (run->observer != NULL &&
      !run->observer (CLEAVE_PIPELINE_BEFORE, step->text, run->graph, run->data))
    return TRUE;
  if (!cleave_pass_run (run->graph, &pass, &changed, error))
    return FALSE;
  run->changed |= changed;
  run->ended = run->observer != NULL &&
               !run->observer (changed ? CLEAVE_PIPELINE_CHANGED : CLEAVE_PIPELINE_UNCHANGED,
                               step->text, run->graph, run->data);
  return TRUE;
}

static gboolean
run_steps (Run *run, const CleavePipeline *pipeline, GError **error)
{
  for (guint i = 0; i < pipeline->steps->len && !run->ended; i++)
    {
      const CleavePipelineStep *step = &g_array_index (pipeline->steps, CleavePipelineStep, i);

      if (step->info != NULL && step->group == NULL)
        {
          if (!run_pass (run, step, error))
            return FALSE;
        }
      else if (step->info != NULL)
        {
          if (!run_steps (run, step->group, error))
            return FALSE;
        }
      else
        {
          gboolean changed_before = run->changed, again;

          do
            {
              run->changed = FALSE;
              if (!run_steps (run, step->group, error))
                return FALSE;
              again = run->changed;
              changed_before |= again;
            }
          while (again && !run->ended);
          run->changed = changed_before;
        }
    }
  return TRUE;
}

/**
 * cleave_pipeline_run:
 * @pipeline: a pipeline
 * @graph: the graph to change
 * @observer: (scope call) (nullable) (closure data): called before and after each pass; it can skip
 * passes and end the pipeline. %NULL for none
 * @data: data for @observer
 * @changed: (out) (optional): whether any pass changed the graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Runs the passes of a pipeline in order, and repeats groups until none of their passes changes the
 * graph. Obeys `CLEAVE_DEBUG` and `CLEAVE_SKIP` like [func@Cleave.passes_run].
 *
 * Fails with the error of the first pass that fails, prefixed with its name. After an error, the
 * graph has the changes of the passes before the failed pass.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_pipeline_run (const CleavePipeline *pipeline,
                     CleaveGraph *graph,
                     CleavePipelineObserver observer,
                     gpointer data,
                     gboolean *changed,
                     GError **error)
{
  Run run = { .graph = graph, .observer = observer, .data = data };
  gboolean worked;

  g_return_val_if_fail (pipeline != NULL && graph != NULL, FALSE);
  worked = run_steps (&run, pipeline, error);
  if (changed != NULL)
    *changed = run.changed;
  return worked;
}
