/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes programs: memory plan, tasks, fusion, footprints and bindings, in this order
 * (program-private.h). */

#include "program-private.h"
#include "shared-calls.h"

#include <stdlib.h>

#include "../ir/boxed.h"
#include "../ir/debug.h"
#include "../ir/memory.h"
#include "../memory/sequence-lowering.h"
#include "plan/memory-plan.h"

CLEAVE_DEFINE_VALUE (CleaveProgramOptions, program_options)
CLEAVE_DEFINE_VALUE (CleaveProgramStats, program_stats)
CLEAVE_DEFINE_VALUE (CleaveEstimate, estimate)

static void
make_bindings (CleaveProgram *program, const CleaveGraph *graph)
{
  program->n_inputs = cleave_graph_get_n_inputs (graph);
  program->n_outputs = cleave_graph_get_n_outputs (graph);
  program->inputs = g_new0 (CleaveBinding, program->n_inputs);
  program->outputs = g_new0 (CleaveBinding, program->n_outputs);
  for (guint i = 0; i < program->n_inputs; i++)
    {
      CleaveResult *input = cleave_graph_get_input (graph, i);

      program->inputs[i].name = cleave_result_dup_name (input);
      program->inputs[i].type = *cleave_result_get_type (input);
    }
  for (guint i = 0; i < program->n_outputs; i++)
    {
      CleaveResult *output = cleave_operand_get_result (cleave_graph_get_output (graph, i));

      program->outputs[i].name = g_strdup (cleave_graph_get_output_name (graph, i));
      program->outputs[i].type = *cleave_result_get_type (output);
    }
}

static gboolean
make_memory (CleaveProgram *program,
             const CleaveMaking *making,
             const CleaveArena *arena,
             gboolean is_shared,
             GError **error)
{
  CleaveProgramStats *stats = &program->stats;

  program->arena =
      is_shared ? cleave_memory_try_shared (arena->n_bytes, CLEAVE_BUFFER_ALIGNMENT, "activations",
                                            &program->arena_fd, error)
                : cleave_memory_try (arena->n_bytes, CLEAVE_BUFFER_ALIGNMENT, "activations", error);
  if (program->arena == NULL)
    return FALSE;
  stats->arena_bytes = arena->n_bytes;
  stats->peak_activation_bytes = arena->peak;
  stats->copied_bytes = making->storage->copied_bytes;
  return cleave_program_prepare (program, making, arena, error);
}

static CleaveProgram *
program_new (const CleaveGraph *graph, guint n_threads, const GArray *packed)
{
  CleaveProgram *program = g_atomic_rc_box_new0 (CleaveProgram);

  program->arena_fd = -1;
  program->stats.n_threads = n_threads;
  program->stats.n_nodes = cleave_graph_count_operators (graph);
  program->weights = cleave_weights_new (packed);
  program->constants = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  program->progress =
      g_aligned_alloc0 (n_threads, sizeof (CleaveProgress), sizeof (CleaveProgress));
  make_bindings (program, graph);
  return program;
}

/* Fails if a node has no kernel. The importer keeps nodes of unknown ops unchanged; they cannot
 * run. */
static gboolean
check_kernels (const CleaveGraph *graph, GError **error)
{
  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    if (node->op->compute == NULL && !cleave_node_is_input (node))
      {
        g_autoptr (GString) attrs = g_string_new (NULL);

        cleave_attrs_print (node->op, node->attrs, attrs);
        return cleave_fail (error, CLEAVE_ERROR_MODEL,
                            "%s '%s':%s cannot be run: this op is unknown", node->op->name,
                            node->name, attrs->str);
      }
  return TRUE;
}

static gboolean
is_reference (const CleaveProgramOptions *options)
{
  return (options != NULL && options->reference) || cleave_debug_is_on (CLEAVE_DEBUG_REFERENCE);
}

static CleaveProgram *
make (const CleaveMaking *of, const CleaveProgramOptions *options, guint n_threads, GError **error)
{
  g_autoptr (CleaveProgram) program = NULL;
  g_auto (CleaveMemoryPlan) plan = { 0 };
  CleaveMaking making = *of;
  CleaveSavedDecisions *decisions = of->decisions;
  gboolean is_known = decisions != NULL && decisions->is_known;

  if (!(is_known ? cleave_memory_plan_restore (&plan, of->graph, &decisions->record, error)
                 : cleave_memory_plan_init (&plan, of->graph, n_threads, error)))
    return NULL;
  making.storage = plan.storage;
  if (decisions != NULL && !is_known)
    cleave_record_init (&decisions->record, &plan);
  program = program_new (of->graph, plan.schedule->n_threads, is_known ? decisions->packed : NULL);
  program->schedule = g_steal_pointer (&plan.schedule);
  if (!make_memory (program, &making, &plan.arena, options != NULL && options->share, error))
    return NULL;
  if (options != NULL && options->trace)
    cleave_program_begin_trace (program, plan.storage);
  return g_steal_pointer (&program);
}

/* Returns a program of the graph, or NULL on error. `given` TRUE: takes ownership of the graph.
 * Unless the options ask for reference kernels, first joins nodes between quantized values: each
 * quantized group becomes one node. */
static CleaveProgram *
lower_and_make (CleaveGraph *graph,
                const CleaveProgramOptions *options,
                gboolean given,
                CleaveSavedDecisions *decisions,
                GError **error)
{
  guint n_threads = options == NULL ? 0 : options->n_threads;
  guint n_nodes = cleave_graph_count_operators (graph);
  CleaveMaking making = {
    .graph = graph, .given = given, .reference = is_reference (options), .decisions = decisions
  };
  g_autoptr (CleaveGraph) lowered = NULL;
  CleaveProgram *program = NULL;

  if (cleave_count_threads (&n_threads, error) && check_kernels (graph, error))
    {
      lowered = making.reference ? NULL : cleave_lower (graph, n_threads);
      if (lowered != NULL && given)
        g_clear_pointer (&graph, cleave_graph_unref);
      if (lowered != NULL)
        making.graph = lowered;
      program = make (&making, options, n_threads, error);
    }
  if (program != NULL)
    program->stats.n_nodes = n_nodes;
  if (given)
    g_clear_pointer (&graph, cleave_graph_unref);
  return program;
}

/**
 * cleave_program_new:
 * @graph: the graph to run; the program does not refer to the graph, so the caller may change or
 * free it afterwards
 * @options: (nullable): the number of threads and the kind of kernels; %NULL for the defaults
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a graph ready to run: decides the order of nodes, the location of each value in memory, the
 * steps and their threads, and packs weights. This function does not split nodes:
 * [func@Cleave.split_to_run] splits a graph for the threads first.
 *
 * The program keeps only constants that it does not pack. If the graph is not needed afterwards,
 * [ctor@Cleave.Program.new_take] takes the graph and needs less memory.
 *
 * The order is depth first, subgraph by subgraph. With T threads, T subgraphs are in flight, and
 * the arena holds the values of all these subgraphs. The results are bit-identical for any number
 * of threads. Time and memory are proportional to the number of nodes. The time to pack the arena
 * is also proportional to the number of values that are live at once.
 *
 * A run also computes nodes that no output needs; `cleave_pass_remove_dead()` removes these nodes.
 *
 * Fails with %CLEAVE_ERROR_CYCLE if the graph has a cycle. Fails with %CLEAVE_ERROR_OPTION if the
 * options ask for more than 1024 threads, and with %CLEAVE_ERROR_MEMORY if there is no memory for
 * activations, packed weights or scratch.
 *
 * Returns: (transfer full) (nullable): the program, or %NULL on error
 *
 * Since: 0.1
 */
CleaveProgram *
cleave_program_new (const CleaveGraph *graph, const CleaveProgramOptions *options, GError **error)
{
  g_return_val_if_fail (graph != NULL, NULL);
  return lower_and_make ((CleaveGraph *) graph, options, FALSE, NULL, error);
}

/**
 * cleave_program_new_take:
 * @graph: (transfer full): the graph to run; the caller must hold the only reference
 * @options: (nullable): the number of threads and the kind of kernels; %NULL for the defaults
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a program as [ctor@Cleave.Program.new] does, from a graph that nothing else needs. Each
 * constant is freed when the last step that reads it has packed it, so that weights never exist
 * twice. The graph is freed on error, too.
 *
 * Fails as [ctor@Cleave.Program.new] does.
 *
 * Returns: (transfer full) (nullable): the program, or %NULL on error
 *
 * Since: 0.1
 */
CleaveProgram *
cleave_program_new_take (CleaveGraph *graph, const CleaveProgramOptions *options, GError **error)
{
  g_return_val_if_fail (graph != NULL, NULL);
  return lower_and_make (graph, options, TRUE, NULL, error);
}

void
cleave_saved_decisions_clear (CleaveSavedDecisions *decisions)
{
  cleave_record_clear (&decisions->record);
  g_clear_pointer (&decisions->packed, g_array_unref);
}

CleaveProgram *
cleave_program_new_by (const CleaveGraph *graph,
                       const CleaveProgramOptions *options,
                       CleaveSavedDecisions *decisions,
                       GBytes *bytes,
                       GError **error)
{
  CleaveProgram *program = lower_and_make ((CleaveGraph *) graph, options, FALSE, decisions, error);

  if (program != NULL && bytes != NULL)
    program->bytes = g_bytes_ref (bytes);
  return program;
}

static void
clear_bindings (CleaveBinding *bindings, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_free (bindings[i].name);
      g_clear_pointer (&bindings[i].patches, g_array_unref);
      g_clear_pointer (&bindings[i].tensor, cleave_tensor_unref);
    }
  g_free (bindings);
}

static void
clear_task (CleaveTask *task)
{
  CleaveKernelInstance *instance = &task->instance;

  if (!task->shares && task->family != NULL && task->family->free != NULL)
    task->family->free (task->state);
  if (!task->shares)
    cleave_call_clear (&instance->call);
  g_free (task->name);
  g_free (task->part);
  g_free (instance->operands != NULL ? instance->operands : instance->results);
  g_free (instance->constants);
}

static void
clear (gpointer data)
{
  CleaveProgram *program = data;

  for (guint i = 0; i < program->n_tasks; i++)
    clear_task (&program->tasks[i]);
  g_aligned_free (program->tasks);
  g_free (program->fused);
  g_free (program->events);
  for (guint i = 0; program->names != NULL && i < program->n_tasks; i++)
    g_free (program->names[i]);
  g_free (program->names);
  for (guint t = 0; program->scratch != NULL && t < program->stats.n_threads; t++)
    free (program->scratch[t]);
  g_free (program->scratch);
  clear_bindings (program->inputs, program->n_inputs);
  clear_bindings (program->outputs, program->n_outputs);
  cleave_schedule_free (program->schedule);
  cleave_waits_clear (&program->waits);
  cleave_footprints_clear (&program->footprints);
  g_aligned_free (program->progress);
  cleave_memory_free_shared (program->arena, program->stats.arena_bytes, program->arena_fd);
  cleave_weights_free (program->weights);
  g_ptr_array_unref (program->constants);
  g_clear_pointer (&program->bytes, g_bytes_unref);
}

/**
 * cleave_program_ref:
 * @program: a program
 *
 * Adds a reference.
 *
 * Returns: (transfer full): @program
 *
 * Since: 0.1
 */

/**
 * cleave_program_unref:
 * @program: (nullable) (transfer full): a program
 *
 * Drops a reference; the last one frees the program and its memory.
 *
 * Since: 0.1
 */

CLEAVE_DEFINE_COUNTED (CleaveProgram, program, clear)

/**
 * cleave_program_get_arena_file: (skip)
 * @program: a program made with the option `share`
 * @begin: (out) (optional): where this process has the arena
 *
 * Returns the file that contains the arena, at offset 0. Other processes can map this file and read
 * the values that this process computes. The steps of the program determine where and when each
 * value is stored.
 *
 * Returns: a descriptor, which the program closes; or -1 if the arena is not shared
 *
 * Since: 0.2
 */
int
cleave_program_get_arena_file (const CleaveProgram *program, gconstpointer *begin)
{
  g_return_val_if_fail (program != NULL, -1);
  if (begin != NULL)
    *begin = program->arena;
  return program->arena_fd;
}

/**
 * cleave_program_get_stats:
 * @program: a program
 * @stats: (out caller-allocates): the numbers
 *
 * Returns the memory, steps and threads of the program.
 *
 * Memory is counted as %CLEAVE_MEMORY_CONVENTION says: in the elements' own types, with each buffer
 * rounded up to 64 bytes. An input is live from the beginning of the run to its last use. An output
 * is live from its computation to the end of the run. `peak_activation_bytes` is the largest sum of
 * buffers in use at once; with several threads, at the times that the schedule estimates.
 * `arena_bytes` is equal to the peak or a few percent larger. A thread that gets further ahead than
 * estimated waits for memory.
 *
 * `copied_bytes` counts two kinds of copies in a run. The first are copies of a join's operands, if
 * the operands cannot be computed in the join's buffer. The second are copies of values for ops
 * that need row-major order. Copies that load inputs and store outputs are not counted.
 *
 * Since: 0.1
 */
void
cleave_program_get_stats (const CleaveProgram *program, CleaveProgramStats *stats)
{
  g_return_if_fail (program != NULL && stats != NULL);
  *stats = program->stats;
}
