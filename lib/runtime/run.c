/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "program-private.h"

#include <omp.h>
#include <sched.h>
#include <stdatomic.h>

static void
run_task (const CleaveProgram *program, const CleaveTask *task, gpointer scratch)
{
  const CleaveSite *site = &task->site;

  switch (task->kind)
    {
    case CLEAVE_STEP_LOAD:
      cleave_view_copy (&site->results[0], &program->inputs[task->index].view);
      break;
    case CLEAVE_STEP_STORE:
      cleave_view_copy (&program->outputs[task->index].view, &site->operands[0]);
      break;
    case CLEAVE_STEP_COPY:
      cleave_view_copy (&site->results[0], &site->operands[0]);
      break;
    case CLEAVE_STEP_COMPUTE:
      if (task->family != NULL)
        task->family->run (task->state, site, scratch);
      else
        site->call.op->compute (&site->call, site->operands, site->results);
      break;
    case CLEAVE_STEP_JOIN:
      break;
    }
}

/* All steps on one thread, in an order that is right for any arena. */
static void
run_in_order (const CleaveProgram *program)
{
  const CleaveSchedule *schedule = program->schedule;

  for (guint i = 0; i < schedule->n_steps; i++)
    {
      guint step = schedule->order[i];

      run_task (program, &program->tasks[step], program->scratch[schedule->thread[step]]);
    }
}

static inline void
relax (void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause ();
#endif
}

/* There may be more threads than cores: after a short while the core is left to others. */
static void
wait_for (const CleaveProgress *progress, guint count)
{
  const guint patience = 256;

  for (guint i = 0; atomic_load_explicit (&progress->n_done, memory_order_acquire) < count; i++)
    if (i < patience)
      relax ();
    else
      sched_yield ();
}

static void
run_sequence (CleaveProgram *program, guint thread)
{
  const CleaveSchedule *schedule = program->schedule;

  for (guint i = 0; i < schedule->n_sequence[thread]; i++)
    {
      guint step = schedule->sequence[thread][i];

      for (guint w = schedule->first_wait[step]; w < schedule->first_wait[step + 1]; w++)
        {
          const CleaveWait *wait = &g_array_index (schedule->waits, CleaveWait, w);

          wait_for (&program->progress[wait->thread], wait->count);
        }
      run_task (program, &program->tasks[step], program->scratch[thread]);
      atomic_store_explicit (&program->progress[thread].n_done, i + 1, memory_order_release);
    }
}

/* The sequences wait for each other, so that each needs a thread of its own: where OpenMP gives
 * fewer (it is told to, or this is itself a parallel region), one does it all. */
static void
run_threads (CleaveProgram *program)
{
  guint n_threads = program->schedule->n_threads;

  for (guint t = 0; t < n_threads; t++)
    atomic_store_explicit (&program->progress[t].n_done, 0, memory_order_relaxed);
#pragma omp parallel num_threads(n_threads) default(none) shared(program) firstprivate(n_threads)
  {
    if ((guint) omp_get_num_threads () == n_threads)
      run_sequence (program, (guint) omp_get_thread_num ());
    else if (omp_get_thread_num () == 0)
      run_in_order (program);
  }
}

/**
 * cleave_program_run:
 * @program: a program with tensors bound to it
 *
 * Reads the inputs, runs every step, writes the outputs.
 *
 * Allocates nothing, takes no lock and cannot fail.  Opens one parallel region, or none with one
 * thread.  A program has one arena, so that it must not run twice at the same time.
 */
void
cleave_program_run (CleaveProgram *program)
{
  g_return_if_fail (program != NULL && program->bound);
  if (program->schedule->n_threads == 1)
    run_in_order (program);
  else
    run_threads (program);
}
