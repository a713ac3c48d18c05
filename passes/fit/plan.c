/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Implements the public type CleaveFitPlan: a plan made from a measurement, the accessors, and the
 * application to a graph. frontier.c searches for plans. */

#include "plan.h"
#include "../../lib/ir/boxed.h"
#include "../split/report.h"
#include "order.h"

#include <cleave/cleave-onnx.h>
#include <cleave/cleave-pass.h>

CLEAVE_DEFINE_VALUE (CleaveFitOptions, fit_options)

/* Returns the public form of a segment of a plan (`part`). The result points into `part`, so the
 * result is valid only while `part` exists. */
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

/* Returns a copy of a graph without dead nodes. Sets `exclude_inputs` of the copy as in the plan.
 */
static CleaveGraph *
copy_for (const CleaveFitPlan *plan, const CleaveGraph *graph)
{
  CleaveGraph *copy = cleave_graph_copy (graph);

  cleave_pass_remove_dead (copy, NULL, NULL, NULL);
  copy->exclude_inputs = plan->exclude_inputs;
  return copy;
}

/* Returns whether a plan fits a graph, and sets the error if not. A rewrite and the order of nodes
 * cannot be undone. Therefore, the function rewrites and checks a copy of the graph. */
static gboolean
check (const CleaveFitPlan *plan, const CleaveGraph *graph, GError **error)
{
  g_autoptr (CleaveGraph) copy = NULL;

  if (!cleave_fit_plan_changes (plan))
    return TRUE;
  copy = copy_for (plan, graph);
  return cleave_fit_rewrite_apply (&plan->rewrite, copy, NULL, error) &&
         cleave_fit_parts_check (plan->parts, copy, error);
}

/* Returns whether a plan splits at least one segment if the segments with TRUE in `whole` stay
 * whole. */
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
  measured = cleave_fit_measurement_new_of (rewritten, plan->parts, whole, plan->n_threads);
  cleave_fit_measurement_place (measured);
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
  g_autoptr (CleaveSplitReport) report = NULL;
  gint64 peak = -1;

  if (!check (plan, graph, error))
    return NULL;
  cleave_pass_remove_dead (graph, NULL, NULL, NULL);
  report = cleave_split_report_new (graph);
  if (cleave_fit_plan_changes (plan))
    {
      if (!apply_to (plan, graph, report, error))
        return NULL;
      peak = cleave_fit_arrange (graph, plan);
    }
  cleave_split_report_finish_with_peak (
      report, graph, peak < 0 ? cleave_graph_get_peak_bytes (graph, NULL) : peak);
  return g_steal_pointer (&report);
}

/**
 * cleave_fit_plan_dup_timeline:
 * @plan: a plan
 * @graph: the graph that the plan was made for, or the graph after [method@Cleave.FitPlan.apply]
 * @error: return location for a [struct@GLib.Error]
 *
 * Returns the memory that each step of a run uses, for the number of threads of the plan. The bytes
 * include the inputs of the graph only if the plan includes them.
 *
 * Fails as [ctor@Cleave.MemoryTimeline.new] does.
 *
 * Returns: (transfer full) (nullable): the steps and the buffers, or %NULL on error
 *
 * Since: 0.2
 */
CleaveMemoryTimeline *
cleave_fit_plan_dup_timeline (const CleaveFitPlan *plan, const CleaveGraph *graph, GError **error)
{
  g_autoptr (CleaveGraph) copy = NULL;

  g_return_val_if_fail (plan != NULL && graph != NULL, NULL);
  copy = copy_for (plan, graph);
  return cleave_memory_timeline_new (copy, plan->n_threads, error);
}

/**
 * cleave_fit_plan_apply:
 * @plan: a plan
 * @graph: the graph that the plan was made for, or another with the same nodes
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits the graph by the plan. Removes nodes that no output needs, as
 * [func@Cleave.pass_remove_dead] does. A segment may contain copies of nodes that the plan adds
 * first.
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
  /* the report counts the bytes of inputs only if the plan counts them */
  graph->exclude_inputs = plan->exclude_inputs;
  report = apply_and_report (plan, graph, error);
  graph->exclude_inputs = were_excluded;
  if (report != NULL && plan->loops != NULL)
    cleave_onnx_set_loops (graph, TRUE);
  return report;
}
