/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Implements the value type CleaveProgram: reference counting, freeing, the file that contains a
 * shared arena, and the statistics of a program. program.c makes programs. */

#include "program-private.h"
#include "shared-calls.h"

#include <stdlib.h>

#include "../ir/boxed.h"
#include "../ir/memory.h"

CLEAVE_DEFINE_VALUE (CleaveProgramOptions, program_options)
CLEAVE_DEFINE_VALUE (CleaveProgramStats, program_stats)
CLEAVE_DEFINE_VALUE (CleaveEstimate, estimate)

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
