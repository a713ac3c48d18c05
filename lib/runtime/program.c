/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes programs: memory plan, tasks, fusion, footprints and bindings, in this order
 * (program-private.h). */

#include "program-private.h"

#include "../ir/debug.h"
#include "../ir/memory.h"
#include "../memory/sequence-lowering.h"
#include "plan/memory-plan.h"

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
program_new (const CleaveMaking *making, guint n_threads)
{
  const CleaveGraph *graph = making->graph;
  const CleaveSavedDecisions *decisions = making->decisions;
  CleaveProgram *program = g_atomic_rc_box_new0 (CleaveProgram);

  program->arena_fd = -1;
  program->stats.n_threads = n_threads;
  program->stats.n_nodes = cleave_graph_count_operators (graph);
  program->weights = making->measures
                         ? cleave_weights_new_unpacked ()
                         : cleave_weights_new (
                               decisions != NULL && decisions->is_known ? decisions->packed : NULL);
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

/* Makes the memory plan of a program, or restores the plan of a saved program. The scratch does not
 * depend on the offsets of buffers, so a program that only measures its scratch has no offsets. */
static gboolean
make_plan (CleaveMemoryPlan *plan, const CleaveMaking *making, guint n_threads, GError **error)
{
  const CleaveSavedDecisions *decisions = making->decisions;

  if (decisions != NULL && decisions->is_known)
    return cleave_memory_plan_restore (plan, making->graph, &decisions->record, error);
  if (making->measures && n_threads == 1)
    return cleave_memory_plan_init_unplaced (plan, making->graph, error);
  return cleave_memory_plan_init (plan, making->graph, n_threads, error);
}

static CleaveProgram *
make (const CleaveMaking *of, const CleaveProgramOptions *options, guint n_threads, GError **error)
{
  g_autoptr (CleaveProgram) program = NULL;
  g_auto (CleaveMemoryPlan) plan = { 0 };
  CleaveMaking making = *of;
  CleaveSavedDecisions *decisions = of->decisions;

  if (!make_plan (&plan, of, n_threads, error))
    return NULL;
  making.storage = plan.storage;
  if (decisions != NULL && !decisions->is_known)
    cleave_record_init (&decisions->record, &plan);
  program = program_new (of, plan.schedule->n_threads);
  program->schedule = g_steal_pointer (&plan.schedule);
  if (!make_memory (program, &making, &plan.arena, options != NULL && options->share, error))
    return NULL;
  if (options != NULL && options->trace)
    cleave_program_begin_trace (program, plan.storage);
  return g_steal_pointer (&program);
}

/* Makes a program of `graph`. Frees the graph if `making.given`. Unless the options ask for
 * reference kernels, first merges each quantized group into one node. Returns NULL on error. */
static CleaveProgram *
lower_and_make (CleaveGraph *graph,
                const CleaveProgramOptions *options,
                CleaveMaking making,
                GError **error)
{
  guint n_threads = options == NULL ? 0 : options->n_threads;
  guint n_nodes = cleave_graph_count_operators (graph);
  const gboolean given = making.given;
  g_autoptr (CleaveGraph) lowered = NULL;
  CleaveProgram *program = NULL;

  making.graph = graph;
  making.reference = is_reference (options);
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
  return lower_and_make ((CleaveGraph *) graph, options, (CleaveMaking){ 0 }, error);
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
  return lower_and_make (graph, options, (CleaveMaking){ .given = TRUE }, error);
}

/**
 * cleave_graph_get_scratch_bytes:
 * @graph: a graph
 * @n_threads: number of threads; 0 for one per core
 * @error: return location for a [struct@GLib.Error]
 *
 * Returns the bytes of scratch memory that kernels need beside the arena if a program runs the
 * graph, summed over all threads. The result equals `scratch_bytes` of a program with this number
 * of threads. This function packs no weights, so it takes less time and memory than making the
 * program. The result depends on the processor, since each processor has kernels of its own.
 *
 * Fails with %CLEAVE_ERROR_CYCLE if the graph has a cycle, and with %CLEAVE_ERROR_OPTION for more
 * than 1024 threads. Fails with %CLEAVE_ERROR_MODEL if a node has an unknown op.
 *
 * Returns: the bytes, or -1 on error
 *
 * Since: 0.2
 */
gint64
cleave_graph_get_scratch_bytes (const CleaveGraph *graph, guint n_threads, GError **error)
{
  const CleaveProgramOptions options = { .n_threads = n_threads };
  g_autoptr (CleaveProgram) program = NULL;

  g_return_val_if_fail (graph != NULL, -1);
  program =
      lower_and_make ((CleaveGraph *) graph, &options, (CleaveMaking){ .measures = TRUE }, error);
  return program == NULL ? -1 : program->stats.scratch_bytes;
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
  CleaveProgram *program = lower_and_make ((CleaveGraph *) graph, options,
                                           (CleaveMaking){ .decisions = decisions }, error);

  if (program != NULL && bytes != NULL)
    program->bytes = g_bytes_ref (bytes);
  return program;
}
