/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds plans for ONNX Runtime: the forms (ort-form.h) of the plans on the frontier of even
 * strips. */

#include "ort-form.h"

#include <cleave/cleave-onnx.h>
#include <gio/gio.h>

/* Returns the forms (CleaveFitPlan) of all plans on the frontier of even strips. Returns NULL and
 * sets the error on failure. */
static GPtrArray *
list_forms (const CleaveGraph *graph, const CleaveFitOptions *options, GError **error)
{
  g_autoptr (CleaveGraph) before = cleave_graph_copy (graph);
  g_autoptr (GPtrArray) plans = NULL,
                        forms =
                            g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_fit_plan_unref);
  CleaveFitOptions even = *options;
  gint64 bytes_before;

  even.even_strips = TRUE;
  cleave_onnx_set_loops (before, TRUE);
  bytes_before = cleave_onnx_estimate_bytes (before, error);
  plans = bytes_before < 0 ? NULL : cleave_fit_plan_new_frontier (graph, &even, error);
  for (guint i = 0; plans != NULL && i < plans->len; i++)
    {
      CleaveFitLoops loops = { .bytes_before = bytes_before };
      CleaveFitPlan *form;

      if (g_cancellable_set_error_if_cancelled (options->cancellable, error))
        return NULL;
      form = cleave_fit_ort_form (plans->pdata[i], graph, &loops, error);
      if (form == NULL)
        return NULL;
      cleave_fit_plan_set_loops (form, &loops);
      g_ptr_array_add (forms, form);
    }
  return plans == NULL ? NULL : g_steal_pointer (&forms);
}

/* The costs of a plan. is_less() and is_dominated() compare plans by these costs. */
enum { ARENA, RUNTIME_BYTES, LATENCY, MACS, N_COSTS };

static double
get_cost (const CleaveFitPlan *plan, guint cost)
{
  const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plan);
  const double costs[N_COSTS] = { (double) totals->arena_after,
                                  (double) cleave_fit_plan_get_loops (plan)->bytes_after,
                                  totals->latency_after, (double) totals->macs_after };

  return costs[cost];
}

/* Returns whether plan `a` costs less than plan `b` in the first of `n` costs in which they
 * differ. */
static gboolean
is_less (const CleaveFitPlan *a, const CleaveFitPlan *b, const guint *costs, guint n)
{
  for (guint i = 0; i < n; i++)
    if (get_cost (a, costs[i]) != get_cost (b, costs[i]))
      return get_cost (a, costs[i]) < get_cost (b, costs[i]);
  return FALSE;
}

/* Returns the best plan (is_less()) among the plans whose arena has at most `max_bytes` bytes. Of
 * several equal plans, returns the first one. Returns NULL if no arena is small enough. */
static CleaveFitPlan *
find_least (const GPtrArray *plans, gint64 max_bytes, const guint *costs, guint n)
{
  CleaveFitPlan *best = NULL;

  for (guint i = 0; i < plans->len; i++)
    if (cleave_fit_plan_get_totals (plans->pdata[i])->arena_after <= max_bytes &&
        (best == NULL || is_less (plans->pdata[i], best, costs, n)))
      best = plans->pdata[i];
  return best;
}

/* If `plan` splits no segment, sets `bytes_refused` of the plan. This number is the smallest
 * estimate of a split that was refused for one of `plans`. */
static void
set_refused (CleaveFitPlan *plan, const GPtrArray *plans)
{
  CleaveFitLoops loops = *cleave_fit_plan_get_loops (plan);

  if (loops.n_loops + loops.n_pieces > 0)
    return;
  for (guint i = 0; i < plans->len; i++)
    {
      gint64 refused = cleave_fit_plan_get_loops (plans->pdata[i])->bytes_refused;

      if (refused > 0 && (loops.bytes_refused == 0 || refused < loops.bytes_refused))
        loops.bytes_refused = refused;
    }
  cleave_fit_plan_set_loops (plan, &loops);
}

/**
 * cleave_fit_plan_new_for_ort:
 * @graph: a graph
 * @options: the limits of the plan; strips are even for any value of @even_strips
 * @error: return location for a [struct@GLib.Error]
 *
 * Finds a plan for ONNX Runtime. ONNX Runtime needs little memory for the strips of a segment only
 * if the strips are iterations of a `Loop`. A segment that cannot become a `Loop` is usually not
 * split. If no split is estimated to reduce the memory of ONNX Runtime, no segment is split.
 *
 * @max_memory limits the arena of the plan. If @max_memory is 0, the plan has the least estimated
 * memory in ONNX Runtime. [method@Cleave.FitPlan.get_loops] returns the estimate.
 * [method@Cleave.FitPlan.apply] marks the graph to be written with `Loop`s, as
 * [func@Cleave.onnx_set_loops] does.
 *
 * Fails with %CLEAVE_ERROR_LIMIT if no plan meets the limits.
 *
 * Returns: (transfer full) (nullable): the plan, or %NULL on error
 *
 * Since: 0.2
 */
CleaveFitPlan *
cleave_fit_plan_new_for_ort (const CleaveGraph *graph,
                             const CleaveFitOptions *options,
                             GError **error)
{
  static const guint fewest_bytes[] = { RUNTIME_BYTES, ARENA, LATENCY },
                     least_time[] = { LATENCY, ARENA, RUNTIME_BYTES }, least_arena[] = { ARENA };
  g_autoptr (GPtrArray) plans = NULL;
  CleaveFitPlan *best;

  g_return_val_if_fail (graph != NULL && options != NULL, NULL);
  plans = list_forms (graph, options, error);
  if (plans == NULL)
    return NULL;
  best = options->max_memory == 0
             ? find_least (plans, G_MAXINT64, fewest_bytes, G_N_ELEMENTS (fewest_bytes))
             : find_least (plans, options->max_memory, least_time, G_N_ELEMENTS (least_time));
  if (best != NULL)
    {
      set_refused (best, plans);
      return cleave_fit_plan_ref (best);
    }
  best = find_least (plans, G_MAXINT64, least_arena, G_N_ELEMENTS (least_arena));
  g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT,
               "the budget is %" G_GINT64_FORMAT " bytes, the smallest that a plan meets is "
               "%" G_GINT64_FORMAT " bytes; a smaller budget is limited by %s",
               options->max_memory, cleave_fit_plan_get_totals (best)->arena_after,
               cleave_fit_plan_get_peak (best));
  return NULL;
}

/* Returns whether another plan is no worse than `plan` in all costs. If several plans have equal
 * costs, the first of these plans dominates the later ones. */
static gboolean
is_dominated (const GPtrArray *plans, guint plan)
{
  for (guint i = 0; i < plans->len; i++)
    {
      gboolean is_no_worse = TRUE, is_equal = TRUE;

      for (guint cost = 0; cost < N_COSTS; cost++)
        {
          double own = get_cost (plans->pdata[plan], cost),
                 other = get_cost (plans->pdata[i], cost);

          is_no_worse = is_no_worse && other <= own;
          is_equal = is_equal && other == own;
        }
      if (is_no_worse && (!is_equal || i < plan))
        return TRUE;
    }
  return FALSE;
}

static int
compare_arenas (gconstpointer a, gconstpointer b)
{
  double x = get_cost (*(CleaveFitPlan *const *) a, ARENA);
  double y = get_cost (*(CleaveFitPlan *const *) b, ARENA);

  return (x < y) - (x > y);
}

/**
 * cleave_fit_plan_new_frontier_for_ort:
 * @graph: a graph
 * @options: the limits on added MACs and time; @max_memory is ignored
 * @error: return location for a [struct@GLib.Error]
 *
 * Finds the plans that [ctor@Cleave.FitPlan.new_for_ort] selects from, from the largest arena to
 * the smallest. Leaves out each plan if another plan needs no more arena, memory in ONNX Runtime,
 * MACs and time. So no plan meets a budget that is smaller than the arena of the last plan.
 *
 * Fails as [ctor@Cleave.FitPlan.new_for_ort] does, except with %CLEAVE_ERROR_LIMIT.
 *
 * Returns: (transfer full) (nullable) (element-type CleaveFitPlan): the plans, or %NULL on error
 *
 * Since: 0.2
 */
GPtrArray *
cleave_fit_plan_new_frontier_for_ort (const CleaveGraph *graph,
                                      const CleaveFitOptions *options,
                                      GError **error)
{
  g_autoptr (GPtrArray) plans = NULL;
  GPtrArray *best;

  g_return_val_if_fail (graph != NULL && options != NULL, NULL);
  plans = list_forms (graph, options, error);
  if (plans == NULL)
    return NULL;
  best = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_fit_plan_unref);
  for (guint i = 0; i < plans->len; i++)
    if (!is_dominated (plans, i))
      g_ptr_array_add (best, cleave_fit_plan_ref (plans->pdata[i]));
  g_ptr_array_sort (best, compare_arenas);
  return best;
}
