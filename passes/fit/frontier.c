/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Selects plans by the limits of the caller: the plan for a number of bytes, the plan with the
 * least memory, or the frontier. The search measures the same plans for all limits (search.h), and
 * the functions of this file choose among the measured plans. */

#include "../../lib/ir/max-threads.h"
#include "plan.h"
#include "variants.h"

#include <math.h>

static gboolean
check_options (const CleaveFitOptions *options, GError **error)
{
  if (options->max_memory < 0)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "max_memory must be positive, not %" G_GINT64_FORMAT, options->max_memory);
  if (options->n_threads > CLEAVE_MAX_THREADS)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "n_threads must be at most %d, not %u",
                        CLEAVE_MAX_THREADS, options->n_threads);
  if (isnan (options->max_added_macs) || isnan (options->max_added_latency))
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "a limit is not a number");
  return TRUE;
}

/* The measured plans of all graph variants, and the limits that select from them. */
typedef struct
{
  GPtrArray *variants;     /* CleaveFitVariant: the graph variants, each with its plans */
  GPtrArray *measurements; /* CleaveFitMeasurement: plans within the limits on MACs and time */
  CleaveFitOptions options;
} Frontier;

static void
frontier_clear (Frontier *frontier)
{
  g_clear_pointer (&frontier->measurements, g_ptr_array_unref);
  g_clear_pointer (&frontier->variants, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Frontier, frontier_clear)

/* Returns the plan without segments, which is the first plan of the first variant. */
static const CleaveFitMeasurement *
get_unsplit (const Frontier *frontier)
{
  return ((const CleaveFitVariant *) frontier->variants->pdata[0])->measurements->pdata[0];
}

/* Returns 1 + `limit`, limited to a finite number, since 0 * infinity is NaN. */
static double
get_factor (double limit)
{
  return 1 + CLAMP (limit, 0, G_MAXUINT32);
}

static gboolean
is_allowed (const Frontier *frontier, const CleaveFitMeasurement *measured)
{
  const CleaveFitOptions *options = &frontier->options;
  const CleaveFitMeasurement *unsplit = get_unsplit (frontier);

  return (options->max_added_macs == 0 ||
          (double) measured->macs <=
              get_factor (options->max_added_macs) * (double) unsplit->macs) &&
         (options->max_added_latency == 0 ||
          measured->estimate.nanoseconds <=
              get_factor (options->max_added_latency) * unsplit->estimate.nanoseconds);
}

static gboolean
frontier_init (Frontier *frontier,
               const CleaveGraph *graph,
               const CleaveFitOptions *options,
               GError **error)
{
  if (!check_options (options, error))
    return FALSE;
  *frontier = (Frontier){ .options = *options };
  frontier->options.n_threads = MAX (options->n_threads, 1); /* treat 0 threads as 1 */
  frontier->variants = cleave_fit_search_variants (graph, &frontier->options, error);
  if (frontier->variants == NULL)
    return FALSE;
  frontier->measurements = g_ptr_array_new ();
  for (guint v = 0; v < frontier->variants->len; v++)
    {
      const CleaveFitVariant *variant = frontier->variants->pdata[v];

      for (guint i = 0; i < variant->measurements->len; i++)
        if (is_allowed (frontier, variant->measurements->pdata[i]))
          g_ptr_array_add (frontier->measurements, variant->measurements->pdata[i]);
    }
  return TRUE;
}

/* Compares the times of two plans. Returns -1, 0 or 1 if the first plan takes less time, the same
 * time or more time. */
static int
compare_times (gconstpointer a, gconstpointer b)
{
  double x = (*(CleaveFitMeasurement *const *) a)->estimate.nanoseconds;
  double y = (*(CleaveFitMeasurement *const *) b)->estimate.nanoseconds;

  return (x > y) - (x < y);
}

static int
compare_bytes (gconstpointer a, gconstpointer b)
{
  gint64 x = (*(CleaveFitMeasurement *const *) a)->estimate.arena_bytes;
  gint64 y = (*(CleaveFitMeasurement *const *) b)->estimate.arena_bytes;

  return (x > y) - (x < y);
}

/* Returns the plan that takes the least time and whose arena has at most `max_bytes` bytes. Returns
 * NULL if no arena is small enough. Among plans with equal times, returns the plan with the
 * smallest arena. Visits the plans by increasing time, and places the buffers of a plan only if the
 * plan may be returned. */
static const CleaveFitMeasurement *
find_cheapest (Frontier *frontier, gint64 max_bytes)
{
  CleaveFitMeasurement *best = NULL;

  g_ptr_array_sort (frontier->measurements, compare_times); /* the sort is stable: plans with equal
                                                             * times keep their order */
  for (guint i = 0; i < frontier->measurements->len; i++)
    {
      CleaveFitMeasurement *measured = frontier->measurements->pdata[i];

      if (best != NULL && measured->estimate.nanoseconds > best->estimate.nanoseconds)
        break;
      if (measured->estimate.arena_bytes <= max_bytes &&
          cleave_fit_measurement_place (measured) <= max_bytes &&
          (best == NULL || compare_bytes (&measured, &best) < 0))
        best = measured;
    }
  return best;
}

/* Returns the plan that takes the least time, among the plans with the smallest arena. */
static const CleaveFitMeasurement *
find_least (Frontier *frontier)
{
  gint64 least = G_MAXINT64;

  g_ptr_array_sort (frontier->measurements, compare_bytes);
  for (guint i = 0; i < frontier->measurements->len; i++)
    {
      CleaveFitMeasurement *measured = frontier->measurements->pdata[i];

      if (measured->estimate.arena_bytes >= least)
        /* the lower bounds of all remaining plans are at least `least`, and an arena is never
         * smaller than its lower bound */
        break;
      least = MIN (least, cleave_fit_measurement_place (measured));
    }
  return find_cheapest (frontier, least);
}

static CleaveFitPlan *
make_plan (const Frontier *frontier, const CleaveFitMeasurement *measured)
{
  const CleaveFitMeasurement *before = get_unsplit (frontier);
  const CleaveFitTotals totals = { .arena_before = before->estimate.arena_bytes,
                                   .macs_before = before->macs,
                                   .nodes_before = before->n_nodes,
                                   .latency_before = before->estimate.nanoseconds };
  const CleaveFitVariant *variant = NULL;

  for (guint v = 0; v < frontier->variants->len && variant == NULL; v++)
    if (g_ptr_array_find (((CleaveFitVariant *) frontier->variants->pdata[v])->measurements,
                          measured, NULL))
      variant = frontier->variants->pdata[v];
  return cleave_fit_plan_make (measured, &variant->rewrite, &totals, frontier->options.n_threads,
                               frontier->options.exclude_inputs);
}

/**
 * cleave_fit_plan_new:
 * @graph: a graph
 * @options: the limits of the plan
 * @error: return location for a [struct@GLib.Error]
 *
 * Plans how to split a whole graph so that its activations need at most `max_memory` bytes, in the
 * least time. Without `max_memory`, plans for the fewest bytes that the other limits allow.
 *
 * A segment consists of consecutive nodes. A plan splits segments into strips or tiles along any
 * axis that the dimension maps can cut. Strips carry their overlap or recompute it. Between
 * segments, values stay whole.
 *
 * The search splits copies of the graph and measures the arena of their programs with `n_threads`
 * threads, from the unsplit graph down to the least memory. The search measures the same plans for
 * any limits, and the limits select from these plans. The search ignores nodes that no output
 * needs, and [method@Cleave.FitPlan.apply] removes these nodes. So a budget equal to the arena of a
 * plan of [func@Cleave.FitPlan.new_frontier] gives this plan again. A looser limit never gives a
 * worse plan. The search also measures variants of the graph, in which values are split per reader
 * or recomputed, or nodes run earlier or later. This function does not change the graph: see
 * [method@Cleave.FitPlan.apply].
 *
 * One thread for each processor, at most 16 threads, searches for segments. All these threads end
 * before the function returns. The plan does not depend on the number of threads. Only the caller's
 * thread calls `watch`.
 *
 * Fails with %CLEAVE_ERROR_LIMIT if no plan meets the limits. The message states the smallest
 * budget found, and the largest values that are live at the peak of its plan. With this smallest
 * budget, the same call succeeds. Fails with %CLEAVE_ERROR_OPTION if a limit is wrong, with
 * %CLEAVE_ERROR_CYCLE, and with %G_IO_ERROR_CANCELLED.
 *
 * Returns: (transfer full) (nullable): the plan, or %NULL on error
 *
 * Since: 0.1
 */
CleaveFitPlan *
cleave_fit_plan_new (const CleaveGraph *graph, const CleaveFitOptions *options, GError **error)
{
  g_auto (Frontier) frontier = { 0 };
  const CleaveFitMeasurement *least, *found = NULL;

  g_return_val_if_fail (graph != NULL && options != NULL, NULL);
  if (!frontier_init (&frontier, graph, options, error))
    return NULL;
  if (options->max_memory > 0)
    found = find_cheapest (&frontier, options->max_memory);
  if (found != NULL)
    return make_plan (&frontier, found);
  least = find_least (&frontier);
  g_assert (least != NULL); /* the unsplit graph adds no MACs and no time, so it meets all limits */
  if (options->max_memory == 0)
    return make_plan (&frontier, least);
  cleave_fail (error, CLEAVE_ERROR_LIMIT,
               "the budget is %" G_GINT64_FORMAT " bytes, the smallest that a plan meets is "
               "%" G_GINT64_FORMAT " bytes; a smaller budget is limited by %s",
               options->max_memory, least->estimate.arena_bytes, least->peak);
  return NULL;
}

/* Returns whether plan `measured` needs no more bytes, MACs or time than plan `other`. */
static gboolean
is_no_worse (const CleaveFitMeasurement *measured, const CleaveFitMeasurement *other)
{
  return measured->estimate.arena_bytes <= other->estimate.arena_bytes &&
         measured->macs <= other->macs &&
         measured->estimate.nanoseconds <= other->estimate.nanoseconds;
}

/* Returns whether one of `plans` (CleaveFitMeasurement), other than the plan itself, is no worse
 * than the plan. */
static gboolean
is_dominated (const CleaveFitMeasurement *measured, const GPtrArray *plans)
{
  for (guint i = 0; i < plans->len; i++)
    if (plans->pdata[i] != measured && is_no_worse (plans->pdata[i], measured))
      return TRUE;
  return FALSE;
}

/* Places the buffers of each plan that no other plan dominates. Returns these plans, the smallest
 * arena first. Returns only one of equal plans. */
static GPtrArray *
list_best (Frontier *frontier)
{
  GPtrArray *best = g_ptr_array_new ();

  g_ptr_array_sort (frontier->measurements, compare_times);
  g_ptr_array_sort (frontier->measurements, compare_bytes); /* the sort is stable: plans with equal
                                                             * arenas keep their order */
  for (guint i = 0; i < frontier->measurements->len; i++)
    {
      CleaveFitMeasurement *measured = frontier->measurements->pdata[i];

      if (is_dominated (measured, best))
        continue;
      cleave_fit_measurement_place (measured);
      if (!is_dominated (measured, best))
        g_ptr_array_add (best, measured);
    }
  /* the loop above visits plans in the order of the lower bounds of their arenas. After the
   * placement, a later plan may have the smaller arena and dominate plan `i`. */
  for (guint i = best->len; i-- > 0;)
    if (is_dominated (best->pdata[i], best))
      g_ptr_array_remove_index (best, i);
  g_ptr_array_sort (best, compare_bytes);
  return best;
}

/**
 * cleave_fit_plan_new_frontier:
 * @graph: a graph
 * @options: the limits on added MACs and time; `max_memory` is ignored
 * @error: return location for a [struct@GLib.Error]
 *
 * Finds the trade-off between memory and cost: plans from the largest arena to the smallest. Each
 * plan has fewer MACs or takes less time than every plan whose arena is as large or smaller. The
 * first plan changes nothing, unless another plan is no worse in memory, MACs and time.
 *
 * Fails as [ctor@Cleave.FitPlan.new] does, except with %CLEAVE_ERROR_LIMIT.
 *
 * Returns: (transfer full) (nullable) (element-type CleaveFitPlan): the plans, or %NULL on error
 *
 * Since: 0.1
 */
GPtrArray *
cleave_fit_plan_new_frontier (const CleaveGraph *graph,
                              const CleaveFitOptions *options,
                              GError **error)
{
  g_autoptr (GPtrArray) plans =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_fit_plan_unref);
  g_autoptr (GPtrArray) best = NULL;
  g_auto (Frontier) frontier = { 0 };

  g_return_val_if_fail (graph != NULL && options != NULL, NULL);
  if (!frontier_init (&frontier, graph, options, error))
    return NULL;
  best = list_best (&frontier);
  for (guint i = best->len; i-- > 0;)
    g_ptr_array_add (plans, make_plan (&frontier, best->pdata[i]));
  return g_steal_pointer (&plans);
}
