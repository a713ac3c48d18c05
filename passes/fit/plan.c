/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Implements the public type CleaveFitPlan: the search for a plan, the accessors, and the
 * application to a graph.
 *
 * Over 400 lines: the public functions of one type, half of it their documentation. */

#include "plan.h"
#include "../../lib/ir/boxed.h"
#include "../../lib/ir/max-threads.h"
#include "../split/report.h"
#include "order.h"
#include "variants.h"

#include <cleave/cleave-onnx.h>
#include <math.h>

CLEAVE_DEFINE_VALUE (CleaveFitOptions, fit_options)

/* Returns the public form of a part. The result points into the part, so it is valid only while the
 * part exists. */
static CleaveFitSegment
describe (const CleaveFitPart *part)
{
  return (CleaveFitSegment){ .n_nodes = g_strv_length (part->nodes),
                             .nodes = (const char *const *) part->nodes,
                             .n_ends = g_strv_length (part->ends),
                             .ends = (const char *const *) part->ends,
                             .dims = (const guint *) (gpointer) part->dims->data,
                             .column_dims = (const guint *) (gpointer) part->columns->data,
                             .n_strips = part->candidate.n_strips,
                             .n_columns = part->candidate.n_columns,
                             .halo = part->candidate.halo,
                             .column_halo = part->candidate.in_bands ? CLEAVE_HALO_RECOMPUTE
                                                                     : part->candidate.halo,
                             .n_bytes = part->candidate.n_bytes,
                             .added_macs = (gint64) part->candidate.macs };
}

CleaveFitPlan *
cleave_fit_plan_make (const CleaveFitMeasurement *measured,
                      const CleaveFitRewrite *rewrite,
                      const CleaveFitTotals *before,
                      guint n_threads,
                      gboolean exclude_inputs)
{
  CleaveFitPlan *plan = g_atomic_rc_box_new0 (CleaveFitPlan);

  plan->rewrite = cleave_fit_rewrite_copy (rewrite);
  plan->parts = g_ptr_array_ref (measured->parts);
  plan->segments = g_array_new (FALSE, FALSE, sizeof (CleaveFitSegment));
  for (guint i = 0; i < plan->parts->len; i++)
    {
      CleaveFitSegment segment = describe (plan->parts->pdata[i]);

      g_array_append_val (plan->segments, segment);
    }
  plan->totals = *before;
  plan->totals.arena_after = measured->estimate.arena_bytes;
  plan->totals.macs_after = measured->macs;
  plan->totals.nodes_after = measured->n_nodes;
  plan->totals.latency_after = measured->estimate.nanoseconds;
  plan->peak_without_overlays = measured->peak_without_overlays;
  plan->spans = measured->spans == NULL ? NULL : g_array_ref (measured->spans);
  plan->n_threads = n_threads;
  plan->exclude_inputs = exclude_inputs;
  plan->peak = g_strdup (measured->peak);
  return plan;
}

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

/* Compares the times of two plans. Returns -1, 0 or 1 if the first plan takes less, equal or more
 * time. */
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

/* Returns the cheapest plan with an arena of at most `max_bytes`. Returns NULL if there is none.
 * Among the plans that take the least time, returns the one with the smallest arena. Places the
 * buffers of each plan that may fit and takes no more time than the result. */
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

/* Returns the cheapest of the plans with the smallest arena. */
static const CleaveFitMeasurement *
find_least (Frontier *frontier)
{
  gint64 least = G_MAXINT64;

  g_ptr_array_sort (frontier->measurements, compare_bytes);
  for (guint i = 0; i < frontier->measurements->len; i++)
    {
      CleaveFitMeasurement *measured = frontier->measurements->pdata[i];

      if (measured->estimate.arena_bytes >= least)
        /* the remaining plans have at least this lower bound, and placing buffers never makes an
         * arena smaller: no remaining plan has a smaller arena */
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
 * A segment is a run of nodes.  A plan splits segments into strips or tiles along any axis that the
 * dimension maps can cut.  Strips carry their overlap or recompute it.  Between segments, values
 * stay whole.
 *
 * The search splits copies of the graph and measures the arena of their programs with `n_threads`
 * threads, from the unsplit graph down to the least memory. The search measures the same plans for
 * any limits, and the limits select from these plans. So a budget of the bytes of a plan of
 * [func@Cleave.FitPlan.new_frontier] finds this plan again, and a looser limit never gives a worse
 * plan. The search also measures variants of the graph, in which values are split per reader or
 * recomputed, or nodes run earlier or later. This function does not change the graph: see
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

/* Returns whether a plan is no worse than another in bytes, MACs and time. */
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
  for (guint i = best->len; i-- > 0;) /* a plan that was added later may dominate plan `i`, since
                                         placing buffers enlarges arenas */
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
 * plan has fewer MACs or takes less time than all plans with an arena of its size or less. The
 * first plan changes nothing, unless another plan is better.
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

gboolean
cleave_fit_plan_changes (const CleaveFitPlan *plan)
{
  return plan->parts->len > 0 || !cleave_fit_rewrite_is_empty (&plan->rewrite);
}

static gboolean
apply_to (const CleaveFitPlan *plan, CleaveGraph *graph, CleaveSplitReport *report, GError **error)
{
  return cleave_fit_rewrite_apply (&plan->rewrite, graph, report, error) &&
         cleave_fit_parts_apply (plan->parts, graph, report, error);
}

/* Applies a whole plan, or leaves the graph unchanged on error. A rewrite and the order of nodes
 * cannot be undone. Therefore, a copy of the graph is rewritten and checked first. */
static gboolean
apply (const CleaveFitPlan *plan, CleaveGraph *graph, CleaveSplitReport *report, GError **error)
{
  g_autoptr (CleaveGraph) copy = NULL;

  if (!cleave_fit_plan_changes (plan))
    return TRUE;
  copy = cleave_graph_copy (graph);
  return cleave_fit_rewrite_apply (&plan->rewrite, copy, NULL, error) &&
         cleave_fit_parts_check (plan->parts, copy, error) && apply_to (plan, graph, report, error);
}

/* Returns a copy of a graph that counts inputs as the plan does. */
static CleaveGraph *
copy_for (const CleaveFitPlan *plan, const CleaveGraph *graph)
{
  CleaveGraph *copy = cleave_graph_copy (graph);

  copy->exclude_inputs = plan->exclude_inputs;
  return copy;
}

/* Returns whether a plan still has a part if the parts with TRUE in `whole` are left out. */
static gboolean
has_part (const CleaveFitPlan *plan, const gboolean *whole)
{
  for (guint i = 0; i < plan->parts->len; i++)
    if (!whole[i])
      return TRUE;
  return FALSE;
}

/**
 * cleave_fit_plan_new_without:
 * @plan: a plan
 * @graph: the graph that the plan was made for
 * @n_segments: number of segments to leave out
 * @segments: (array length=n_segments): indices of the segments to leave out
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a plan of the remaining segments and measures it. In most cases, the new plan needs more
 * memory.  If no segment is left, the plan changes nothing: it does not recompute or move nodes,
 * either.
 *
 * Fails with %CLEAVE_ERROR_OPTION if the graph does not have the nodes of the plan.
 *
 * Returns: (transfer full) (nullable): the plan, or %NULL on error
 *
 * Since: 0.2
 */
CleaveFitPlan *
cleave_fit_plan_new_without (const CleaveFitPlan *plan,
                             const CleaveGraph *graph,
                             guint n_segments,
                             const guint *segments,
                             GError **error)
{
  g_autofree gboolean *whole = NULL;
  g_autoptr (CleaveGraph) rewritten = NULL;
  g_autoptr (CleaveFitMeasurement) measured = NULL;
  static const CleaveFitRewrite none = { 0 };
  const CleaveFitRewrite *rewrite;

  g_return_val_if_fail (plan != NULL && graph != NULL, NULL);
  g_return_val_if_fail (segments != NULL || n_segments == 0, NULL);
  rewrite = &plan->rewrite;
  rewritten = copy_for (plan, graph);
  if (!cleave_fit_rewrite_apply (rewrite, rewritten, NULL, error) ||
      !cleave_fit_parts_check (plan->parts, rewritten, error))
    return NULL;
  whole = g_new0 (gboolean, plan->parts->len + 1);
  for (guint i = 0; i < n_segments; i++)
    if (segments[i] < plan->parts->len)
      whole[segments[i]] = TRUE;
  if (!has_part (plan, whole))
    {
      rewrite = &none;
      cleave_graph_unref (rewritten);
      rewritten = copy_for (plan, graph);
    }
  measured = cleave_fit_measurement_new_without (rewritten, plan->parts, whole, plan->n_threads);
  return cleave_fit_plan_make (measured, rewrite, &plan->totals, plan->n_threads,
                               plan->exclude_inputs);
}

static void
clear (gpointer data)
{
  CleaveFitPlan *plan = data;

  g_array_unref (plan->segments);
  g_ptr_array_unref (plan->parts);
  cleave_fit_rewrite_clear (&plan->rewrite);
  g_clear_pointer (&plan->spans, g_array_unref);
  g_free (plan->peak);
  g_free (plan->loops);
}

/**
 * cleave_fit_plan_ref:
 * @plan: a plan
 *
 * Adds a reference.
 *
 * Returns: (transfer full): @plan
 *
 * Since: 0.1
 */

/**
 * cleave_fit_plan_unref:
 * @plan: (nullable) (transfer full): a plan
 *
 * Drops a reference; the last one frees the plan.
 *
 * Since: 0.1
 */

CLEAVE_DEFINE_COUNTED (CleaveFitPlan, fit_plan, clear)

/**
 * cleave_fit_plan_get_n_segments:
 * @plan: a plan
 *
 * Returns: the number of segments that the plan splits
 *
 * Since: 0.1
 */
guint
cleave_fit_plan_get_n_segments (const CleaveFitPlan *plan)
{
  g_return_val_if_fail (plan != NULL, 0);
  return plan->segments->len;
}

/**
 * cleave_fit_plan_get_segment:
 * @plan: a plan
 * @index: index of a segment, in the order in which segments run
 *
 * Returns: (transfer none): the segment, which the plan owns
 *
 * Since: 0.1
 */
const CleaveFitSegment *
cleave_fit_plan_get_segment (const CleaveFitPlan *plan, guint index)
{
  g_return_val_if_fail (plan != NULL, NULL);
  g_return_val_if_fail (index < plan->segments->len, NULL);
  return &g_array_index (plan->segments, CleaveFitSegment, index);
}

/**
 * cleave_fit_plan_get_totals:
 * @plan: a plan
 *
 * Returns: (transfer none): memory, MACs, nodes and time, before and after the split
 *
 * Since: 0.1
 */
const CleaveFitTotals *
cleave_fit_plan_get_totals (const CleaveFitPlan *plan)
{
  g_return_val_if_fail (plan != NULL, NULL);
  return &plan->totals;
}

/**
 * cleave_fit_plan_get_peak:
 * @plan: a plan
 *
 * Returns: (transfer none): a text that names the largest values that are live at the peak
 *
 * Since: 0.1
 */
const char *
cleave_fit_plan_get_peak (const CleaveFitPlan *plan)
{
  g_return_val_if_fail (plan != NULL, NULL);
  return plan->peak;
}

void
cleave_fit_plan_set_loops (CleaveFitPlan *plan, const CleaveFitLoops *loops)
{
  g_free (plan->loops);
  plan->loops = g_memdup2 (loops, sizeof *loops);
}

/**
 * cleave_fit_plan_get_loops:
 * @plan: a plan
 *
 * Returns: (transfer none) (nullable): the results of [ctor@Cleave.FitPlan.new_for_ort]; %NULL for
 * other plans
 *
 * Since: 0.2
 */
const CleaveFitLoops *
cleave_fit_plan_get_loops (const CleaveFitPlan *plan)
{
  g_return_val_if_fail (plan != NULL, NULL);
  return plan->loops;
}

static CleaveSplitReport *
apply_and_report (const CleaveFitPlan *plan, CleaveGraph *graph, GError **error)
{
  g_autoptr (CleaveSplitReport) report = cleave_split_report_new (graph);
  gint64 peak = -1;

  if (!apply (plan, graph, report, error))
    return NULL;
  if (cleave_fit_plan_changes (plan))
    peak = cleave_fit_arrange (graph, plan);
  cleave_split_report_finish_with_peak (
      report, graph, peak < 0 ? cleave_graph_get_peak_bytes (graph, NULL) : peak);
  return g_steal_pointer (&report);
}

/**
 * cleave_fit_plan_apply:
 * @plan: a plan
 * @graph: the graph that the plan was made for, or another with the same nodes
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits the graph by the plan. A segment may contain copies of nodes that the plan adds first.
 * Results stay the same, bit for bit. After the split, the nodes are in the order in which they
 * run. A file of the graph keeps this order, and a runtime that follows the order needs the memory
 * of the plan. The peaks of the report include the inputs of the graph only if the plan includes
 * them.
 *
 * Fails with %CLEAVE_ERROR_OPTION if the graph does not have the nodes of the plan. After this
 * error, the graph is unchanged.
 *
 * Returns: (transfer full) (nullable): a report on the pieces of each node, or %NULL on error
 *
 * Since: 0.1
 */
CleaveSplitReport *
cleave_fit_plan_apply (const CleaveFitPlan *plan, CleaveGraph *graph, GError **error)
{
  CleaveSplitReport *report;
  gboolean were_excluded;

  g_return_val_if_fail (plan != NULL && graph != NULL, NULL);
  were_excluded = graph->exclude_inputs;
  graph->exclude_inputs = plan->exclude_inputs; /* the report counts inputs as the plan does */
  report = apply_and_report (plan, graph, error);
  graph->exclude_inputs = were_excluded;
  if (report != NULL && plan->loops != NULL)
    cleave_onnx_set_loops (graph, TRUE);
  return report;
}
