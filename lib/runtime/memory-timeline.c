/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes the memory that a run needs, and the lifetimes of its buffers, from a memory plan. No
 * program is made, so no weights are packed and nothing is allocated for a run. */

#include "memory-timeline.h"

#include "../ir/boxed.h"
#include "../memory/ordering.h"
#include "../memory/sequence-lowering.h"
#include "plan/memory-plan.h"
#include "plan/schedule-search.h"
#include "program-private.h"

/* Makes the memory plan of a program of `graph` with `n_threads` threads. If the graph must be
 * lowered first, sets `lowered` to the lowered graph, else to NULL. The plan refers to the lowered
 * graph, so the caller must keep this graph as long as the plan. Returns FALSE on error. */
static gboolean
init_plan (CleaveMemoryPlan *plan,
           const CleaveGraph *graph,
           guint n_threads,
           CleaveGraph **lowered,
           GError **error)
{
  if (!cleave_count_threads (&n_threads, error))
    return FALSE;
  *lowered = cleave_lower (graph, n_threads);
  return cleave_memory_plan_init (plan, *lowered != NULL ? *lowered : graph, n_threads, error);
}

/**
 * cleave_graph_get_peak_bytes:
 * @graph: a graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Returns the memory that the graph's activations need: the largest sum of bytes of live values if
 * the nodes run one after the other, depth first.
 *
 * The bytes are counted as %CLEAVE_MEMORY_CONVENTION says. The result equals
 * `peak_activation_bytes` of a program with one thread. The time is proportional to the number of
 * nodes and operands.
 *
 * Fails with %CLEAVE_ERROR_CYCLE if the graph has a cycle.
 *
 * Returns: the bytes, or -1 on error
 *
 * Since: 0.1
 */
gint64
cleave_graph_get_peak_bytes (const CleaveGraph *graph, GError **error)
{
  g_return_val_if_fail (graph != NULL, 0);
  return cleave_order_least_peak (graph, error);
}

/**
 * cleave_graph_estimate:
 * @graph: a graph
 * @n_threads: number of threads that run the graph; 0 stands for one per core
 * @estimate: (out caller-allocates): the numbers
 * @error: return location for a [struct@GLib.Error]
 *
 * Estimates a program of the graph with @n_threads threads, without making the program:
 * `peak_activation_bytes`, `arena_bytes`, and the time of a run.
 *
 * The bytes are counted as %CLEAVE_MEMORY_CONVENTION says. The call takes as long as
 * [ctor@Cleave.Program.new] takes without packing weights.
 *
 * Fails with %CLEAVE_ERROR_CYCLE if the graph has a cycle, and with %CLEAVE_ERROR_OPTION for more
 * than 1024 threads.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_graph_estimate (const CleaveGraph *graph,
                       guint n_threads,
                       CleaveEstimate *estimate,
                       GError **error)
{
  g_autoptr (CleaveGraph) lowered = NULL;
  g_auto (CleaveMemoryPlan) plan = { 0 };

  g_return_val_if_fail (graph != NULL && estimate != NULL, FALSE);
  *estimate = (CleaveEstimate){ 0 };
  if (!init_plan (&plan, graph, n_threads, &lowered, error))
    return FALSE;
  *estimate = (CleaveEstimate){ plan.arena.peak, plan.arena.n_bytes,
                                cleave_schedule_search_estimate (plan.storage, plan.schedule) };
  return TRUE;
}

/**
 * cleave_graph_get_peak_bytes_with_threads:
 * @graph: a graph
 * @n_threads: number of threads that run the graph; 0 stands for one per core
 * @error: return location for a [struct@GLib.Error]
 *
 * Returns the memory that the graph's activations need if @n_threads threads run it. The result
 * equals `peak_activation_bytes` of a program with these threads, but no program is made. The
 * result is larger than the result of [method@Cleave.Graph.get_peak_bytes] if several subgraphs run
 * at the same time.
 *
 * The bytes are counted as %CLEAVE_MEMORY_CONVENTION says. The call takes as long as
 * [ctor@Cleave.Program.new] takes without packing weights.
 *
 * Fails with %CLEAVE_ERROR_CYCLE if the graph has a cycle, and with %CLEAVE_ERROR_OPTION for more
 * than 1024 threads.
 *
 * Returns: the bytes, or -1 on error
 *
 * Since: 0.1
 */
gint64
cleave_graph_get_peak_bytes_with_threads (const CleaveGraph *graph, guint n_threads, GError **error)
{
  CleaveEstimate estimate;

  g_return_val_if_fail (graph != NULL, -1);
  return cleave_graph_estimate (graph, n_threads, &estimate, error) ? estimate.peak_activation_bytes
                                                                    : -1;
}

static void
add_steps (CleaveMemoryTimeline *timeline, const CleaveMemoryPlan *plan, const CleaveGraph *graph)
{
  timeline->n_steps = plan->schedule->n_steps;
  timeline->steps = g_new0 (CleaveMemoryStep, timeline->n_steps + 1);
  for (guint i = 0; i < timeline->n_steps; i++)
    {
      const CleaveStep *step =
          &g_array_index (plan->storage->steps, CleaveStep, plan->schedule->order[i]);

      timeline->steps[i].op =
          cleave_step_kind_name (step->kind, step->node == NULL ? NULL : step->node->op);
      timeline->steps[i].name =
          g_strdup (step->node != NULL ? step->node->name
                                       : cleave_graph_get_output_name (graph, step->index));
    }
}

static void
add_buffers (CleaveMemoryTimeline *timeline, const CleaveMemoryPlan *plan)
{
  g_autoptr (GArray) spans = cleave_arena_list_spans (&plan->arena, plan->storage);

  timeline->n_buffers = spans->len;
  timeline->buffers = g_new0 (CleaveBufferLifetime, timeline->n_buffers + 1);
  for (guint i = 0; i < timeline->n_buffers; i++)
    {
      const CleaveArenaSpan *span = &g_array_index (spans, CleaveArenaSpan, i);
      const CleaveBuffer *buffer =
          &g_array_index (plan->storage->buffers, CleaveBuffer, span->buffer);

      timeline->buffers[i] = (CleaveBufferLifetime){
        .name = cleave_result_dup_name (plan->storage->assignments[buffer->value].result),
        .n_bytes = span->n_bytes,
        .offset = plan->arena.offsets[span->buffer] + span->begin,
        .first = span->first,
        .last = span->gone - 1,
      };
    }
}

static void
note_apart (CleaveMemoryTimeline *timeline, const CleaveMemoryPlan *plan)
{
  const gint64 *apart = plan->storage->live_before_laps;

  for (guint i = 0; i < timeline->n_steps; i++)
    timeline->steps[i].live_bytes_apart =
        apart == NULL ? timeline->steps[i].live_bytes : apart[plan->schedule->order[i]];
}

/* Computes, for each step, the bytes of live buffers, and the maximum over all steps. */
static void
sum_up (CleaveMemoryTimeline *timeline)
{
  g_autofree gint64 *change = g_new0 (gint64, timeline->n_steps + 1);
  gint64 live = 0;

  for (guint i = 0; i < timeline->n_buffers; i++)
    {
      change[timeline->buffers[i].first] += timeline->buffers[i].n_bytes;
      change[timeline->buffers[i].last + 1] -= timeline->buffers[i].n_bytes;
    }
  for (guint i = 0; i < timeline->n_steps; i++)
    {
      live += change[i];
      timeline->steps[i].live_bytes = live;
      if (live <= timeline->peak_bytes)
        continue;
      timeline->peak_bytes = live;
      timeline->peak_step = i;
    }
}

static CleaveMemoryTimeline *
describe (const CleaveMemoryPlan *plan, const CleaveGraph *graph)
{
  CleaveMemoryTimeline *timeline = g_atomic_rc_box_new0 (CleaveMemoryTimeline);

  timeline->arena_bytes = plan->arena.n_bytes;
  timeline->nanoseconds = cleave_schedule_search_estimate (plan->storage, plan->schedule);
  add_steps (timeline, plan, graph);
  add_buffers (timeline, plan);
  sum_up (timeline);
  note_apart (timeline, plan);
  return timeline;
}

/**
 * cleave_memory_timeline_new:
 * @graph: a graph
 * @n_threads: number of threads that run the graph; 0 stands for one per core
 * @error: return location for a [struct@GLib.Error]
 *
 * Lists the buffers of a program with @n_threads threads, without making the program. For each
 * buffer, lists the first and the last step that use it, and the offset in the arena. The totals
 * equal the numbers that [method@Cleave.Program.get_stats] returns for the program.
 *
 * The bytes are counted as %CLEAVE_MEMORY_CONVENTION says. The call takes as long as
 * [ctor@Cleave.Program.new] takes without packing weights.
 *
 * Fails with %CLEAVE_ERROR_CYCLE if the graph has a cycle, and with %CLEAVE_ERROR_OPTION for more
 * than 1024 threads.
 *
 * Returns: (transfer full) (nullable): the timeline, or %NULL on error
 *
 * Since: 0.1
 */
CleaveMemoryTimeline *
cleave_memory_timeline_new (const CleaveGraph *graph, guint n_threads, GError **error)
{
  g_autoptr (CleaveGraph) lowered = NULL;
  g_auto (CleaveMemoryPlan) plan = { 0 };

  g_return_val_if_fail (graph != NULL, NULL);
  return init_plan (&plan, graph, n_threads, &lowered, error) ? describe (&plan, graph) : NULL;
}

CleaveMemoryTimeline *
cleave_memory_timeline_new_unplaced (const CleaveGraph *graph,
                                     gint64 *most_bytes,
                                     GArray **spans,
                                     GError **error)
{
  g_autoptr (CleaveGraph) lowered = cleave_lower (graph, 1);
  g_auto (CleaveMemoryPlan) plan = { 0 };

  if (!cleave_memory_plan_init_unplaced (&plan, lowered != NULL ? lowered : graph, error))
    return NULL;
  *most_bytes = cleave_storage_is_lapped (plan.storage) ? cleave_memory_plan_get_peak_apart (&plan)
                                                        : G_MAXINT64;
  *spans = cleave_arena_list_spans (&plan.arena, plan.storage);
  return describe (&plan, graph);
}

static void
clear (gpointer data)
{
  CleaveMemoryTimeline *timeline = data;

  for (guint i = 0; i < timeline->n_steps; i++)
    g_free (timeline->steps[i].name);
  for (guint i = 0; i < timeline->n_buffers; i++)
    g_free (timeline->buffers[i].name);
  g_free (timeline->steps);
  g_free (timeline->buffers);
}

/**
 * cleave_memory_timeline_ref:
 * @timeline: a timeline
 *
 * Adds a reference.
 *
 * Returns: (transfer full): @timeline
 *
 * Since: 0.1
 */

/**
 * cleave_memory_timeline_unref:
 * @timeline: (transfer full) (nullable): a timeline
 *
 * Drops a reference; the last one frees the timeline.
 *
 * Since: 0.1
 */

CLEAVE_DEFINE_COUNTED (CleaveMemoryTimeline, memory_timeline, clear)

/**
 * cleave_memory_timeline_get_step:
 * @timeline: a timeline
 * @index: index of the step, in the order in which steps run
 *
 * Returns: (transfer none): the step, which the timeline owns
 *
 * Since: 0.1
 */
const CleaveMemoryStep *
cleave_memory_timeline_get_step (const CleaveMemoryTimeline *timeline, guint index)
{
  g_return_val_if_fail (timeline != NULL && index < timeline->n_steps, NULL);
  return &timeline->steps[index];
}

/**
 * cleave_memory_timeline_get_buffer:
 * @timeline: a timeline
 * @index: index of the buffer; buffers are sorted by their first step
 *
 * Returns: (transfer none): the buffer, which the timeline owns
 *
 * Since: 0.1
 */
const CleaveBufferLifetime *
cleave_memory_timeline_get_buffer (const CleaveMemoryTimeline *timeline, guint index)
{
  g_return_val_if_fail (timeline != NULL && index < timeline->n_buffers, NULL);
  return &timeline->buffers[index];
}
