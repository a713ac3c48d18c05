/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Implements the searches of cleave-fit.h for bindings of other languages. A binding cannot put a
 * function into options, so the functions of this file have separate parameters. */

#include <cleave/cleave-fit.h>

static CleaveFitOptions
add_watch (const CleaveFitOptions *options,
           GCancellable *cancellable,
           CleaveFitFunc watch,
           gpointer watch_data)
{
  CleaveFitOptions watched = *options;

  watched.cancellable = cancellable;
  watched.watch = watch;
  watched.watch_data = watch_data;
  return watched;
}

/**
 * cleave_fit_plan_new_watched:
 * @graph: a graph
 * @options: the limits of the plan
 * @cancellable: (nullable): ends the search with %G_IO_ERROR_CANCELLED
 * @watch: (scope call) (nullable) (closure watch_data): receives the progress of the search
 * @watch_data: the last argument of @watch
 * @error: return location for a [struct@GLib.Error]
 *
 * Does what [ctor@Cleave.FitPlan.new] does.  This function is for bindings of other languages,
 * which cannot put a function into options.
 *
 * Returns: (transfer full) (nullable): the plan, or %NULL on error
 *
 * Since: 0.1
 */
CleaveFitPlan *
cleave_fit_plan_new_watched (const CleaveGraph *graph,
                             const CleaveFitOptions *options,
                             GCancellable *cancellable,
                             CleaveFitFunc watch,
                             gpointer watch_data,
                             GError **error)
{
  CleaveFitOptions watched;

  g_return_val_if_fail (graph != NULL && options != NULL, NULL);
  watched = add_watch (options, cancellable, watch, watch_data);
  return cleave_fit_plan_new (graph, &watched, error);
}

/**
 * cleave_fit_plan_new_for_ort_watched:
 * @graph: a graph
 * @options: the limits of the plan
 * @cancellable: (nullable): ends the search with %G_IO_ERROR_CANCELLED
 * @watch: (scope call) (nullable) (closure watch_data): receives the progress of the search
 * @watch_data: the last argument of @watch
 * @error: return location for a [struct@GLib.Error]
 *
 * Does what [ctor@Cleave.FitPlan.new_for_ort] does.  This function is for bindings of other
 * languages, which cannot put a function into options.
 *
 * Returns: (transfer full) (nullable): the plan, or %NULL on error
 *
 * Since: 0.2
 */
CleaveFitPlan *
cleave_fit_plan_new_for_ort_watched (const CleaveGraph *graph,
                                     const CleaveFitOptions *options,
                                     GCancellable *cancellable,
                                     CleaveFitFunc watch,
                                     gpointer watch_data,
                                     GError **error)
{
  CleaveFitOptions watched;

  g_return_val_if_fail (graph != NULL && options != NULL, NULL);
  watched = add_watch (options, cancellable, watch, watch_data);
  return cleave_fit_plan_new_for_ort (graph, &watched, error);
}

/**
 * cleave_fit_plan_new_frontier_watched:
 * @graph: a graph
 * @options: limits of the search, as in [func@Cleave.FitPlan.new_frontier]
 * @cancellable: (nullable): ends the search with %G_IO_ERROR_CANCELLED
 * @watch: (scope call) (nullable) (closure watch_data): called with the progress of the search
 * @watch_data: given to @watch
 * @error: return location for a [struct@GLib.Error]
 *
 * Does what [func@Cleave.FitPlan.new_frontier] does. This function is for bindings of other
 * languages. The array frees its plans, so a binding takes separate references.
 *
 * Returns: (transfer container) (nullable) (element-type CleaveFitPlan): the plans, or %NULL on
 * error
 *
 * Since: 0.2
 */
GPtrArray *
cleave_fit_plan_new_frontier_watched (const CleaveGraph *graph,
                                      const CleaveFitOptions *options,
                                      GCancellable *cancellable,
                                      CleaveFitFunc watch,
                                      gpointer watch_data,
                                      GError **error)
{
  CleaveFitOptions watched;

  g_return_val_if_fail (graph != NULL && options != NULL, NULL);
  watched = add_watch (options, cancellable, watch, watch_data);
  return cleave_fit_plan_new_frontier (graph, &watched, error);
}
