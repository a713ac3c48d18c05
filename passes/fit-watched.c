/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Searches for bindings, which cannot put a function into options. */

#include <cleave/cleave-fit.h>

/**
 * cleave_fit_plan_new_frontier_watched:
 * @graph: a graph
 * @options: limits of the search, as in [func@Cleave.FitPlan.new_frontier]
 * @cancellable: (nullable): ends the search with %G_IO_ERROR_CANCELLED
 * @watch: (scope call) (nullable) (closure watch_data): called with the progress of the search
 * @watch_data: given to @watch
 * @error: return location for a [struct@GLib.Error]
 *
 * Does the same as [func@Cleave.FitPlan.new_frontier], for bindings: the array frees its plans, so
 * a binding must take references of its own.
 *
 * Returns: (transfer container) (nullable) (element-type CleaveFitPlan): the plans, or %NULL on
 * error
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
  watched = *options;
  watched.watch = watch;
  watched.watch_data = watch_data;
  watched.cancellable = cancellable;
  return cleave_fit_plan_new_frontier (graph, &watched, error);
}
