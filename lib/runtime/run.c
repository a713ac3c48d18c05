/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs programs: each thread runs the steps of its sequence, and waits for steps of other
 * threads. */

#include "program-private.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

static void
copy (const CleaveTask *task, const CleaveView *to, const CleaveView *from)
{
  if (task->streams)
    cleave_view_stream (to, from);
  else
    cleave_view_copy (to, from);
}

static void
load (const CleaveProgram *program, const CleaveTask *task)
{
  const CleaveBinding *input = &program->inputs[task->index];
  CleaveView from;

  if (input->direct)
    return;
  from = cleave_view_slice (&input->view, task->part);
  cleave_view_copy (&task->instance.results[0], &from);
}

static void
do_task (const CleaveProgram *program, const CleaveTask *task, gpointer scratch)
{
  const CleaveKernelInstance *instance = &task->instance;

  if (task->rows.n_rows > 0)
    {
      cleave_row_copy_run (&task->rows);
      return;
    }
  switch (task->kind)
    {
    case CLEAVE_STEP_LOAD:
      load (program, task);
      break;
    case CLEAVE_STEP_STORE:
      if (task->n_together > 1)
        cleave_program_store_together (program, task);
      else if (!task->is_fused && !program->outputs[task->index].direct)
        copy (task, &program->outputs[task->index].view, &instance->operands[0]);
      break;
    case CLEAVE_STEP_COPY:
      copy (task, &instance->results[0], &instance->operands[0]);
      break;
    case CLEAVE_STEP_COMPUTE:
      if (task->is_fused)
        break;
      if (task->family != NULL)
        task->family->run (task->state, instance, scratch);
      else
        instance->call.op->compute (&instance->call, instance->operands, instance->results);
      break;
    case CLEAVE_STEP_JOIN:
      break;
    }
}

static gint64
get_time (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * G_GINT64_CONSTANT (1000000000) + now.tv_nsec;
}

/* Runs a step of the sequence of thread `sequence`. `thread` is the thread that executes the step,
 * which may differ from `sequence`; the trace records it. */
static void
run_task (const CleaveProgram *program, guint step, guint sequence, guint thread)
{
  const CleaveTask *task = &program->tasks[step];
  CleaveTraceEvent *event = program->events == NULL ? NULL : &program->events[step];

  if (event != NULL)
    *event = (CleaveTraceEvent){ .begin = get_time (), .thread = thread };
  do_task (program, task, program->scratch[sequence]);
  if (event != NULL)
    event->end = get_time ();
}

/* Runs all steps on one thread, in the schedule's order. No step has to wait in this order. */
static void
run_in_order (const CleaveProgram *program)
{
  const CleaveSchedule *schedule = program->schedule;

  for (guint i = 0; i < schedule->n_steps; i++)
    {
      guint step = schedule->order[i];

      cleave_footprints_fetch (&program->footprints, step);
      run_task (program, step, schedule->thread[step], 0);
    }
}

void
cleave_program_run_step (const CleaveProgram *program, guint step)
{
  do_task (program, &program->tasks[step], program->scratch[program->schedule->thread[step]]);
}

/* Lets the other hardware thread of the core work while this thread waits. Without this pause, the
 * waiting thread would fill the core's pipelines with loads of the same cache line. */
static inline void
relax (void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause ();
#elif defined(__aarch64__) || (defined(__ARM_ARCH) && __ARM_ARCH >= 7)
  __asm__ volatile("yield" ::: "memory");
#else
  __asm__ volatile("" ::: "memory"); /* the compiler must not remove the loop */
#endif
}

static gboolean
is_finished (const CleaveProgram *program, guint sequence)
{
  return atomic_load_explicit (&program->progress[sequence].n_done, memory_order_acquire) ==
         program->schedule->n_sequence[sequence];
}

static gboolean
is_all_finished (const CleaveProgram *program)
{
  for (guint t = 0; t < program->schedule->n_threads; t++)
    if (!is_finished (program, t))
      return FALSE;
  return TRUE;
}

/* Returns whether all steps for which a step waits have finished. */
static gboolean
is_ready (const CleaveProgram *program, guint step)
{
  const CleaveWaits *waits = &program->waits;

  for (guint w = waits->first[step]; w < waits->first[step + 1]; w++)
    {
      const CleaveWait *wait = &g_array_index (waits->list, CleaveWait, w);

      if (atomic_load_explicit (&program->progress[wait->thread].n_done, memory_order_acquire) <
          wait->count)
        return FALSE;
    }
  return TRUE;
}

/* Runs steps of a sequence until a step has to wait. Returns FALSE if no step ran, or if another
 * thread runs the sequence. */
static gboolean
advance (CleaveProgram *program, guint sequence, guint thread)
{
  const CleaveSchedule *schedule = program->schedule;
  CleaveProgress *progress = &program->progress[sequence];
  guint begin, i;

  if (atomic_exchange_explicit (&progress->taken, TRUE, memory_order_acquire))
    return FALSE;
  begin = i = atomic_load_explicit (&progress->n_done, memory_order_relaxed);
  for (; i < schedule->n_sequence[sequence]; i++)
    {
      guint step = schedule->sequence[sequence][i];

      if (!is_ready (program, step))
        break;
      cleave_footprints_fetch (&program->footprints, step);
      run_task (program, step, sequence, thread);
      atomic_store_explicit (&progress->n_done, i + 1, memory_order_release);
    }
  atomic_store_explicit (&progress->taken, FALSE, memory_order_release);
  return i > begin;
}

static gboolean
can_advance (const CleaveProgram *program, guint sequence)
{
  const CleaveSchedule *schedule = program->schedule;
  const CleaveProgress *progress = &program->progress[sequence];
  guint i = atomic_load_explicit (&progress->n_done, memory_order_acquire);

  return i < schedule->n_sequence[sequence] &&
         !atomic_load_explicit (&progress->taken, memory_order_relaxed) &&
         is_ready (program, schedule->sequence[sequence][i]);
}

/* Runs steps of another thread's sequence. (Another process may keep the other thread's core busy.)
 * Returns FALSE if no step of any other sequence ran. */
static gboolean
advance_another (CleaveProgram *program, guint thread)
{
  guint n_threads = program->schedule->n_threads;

  for (guint i = 1; i < n_threads; i++)
    {
      guint other = (thread + i) % n_threads;

      if (can_advance (program, other) && advance (program, other, thread))
        return TRUE;
    }
  return FALSE;
}

/* Runs steps until all sequences are finished. The thread prefers its own sequence, whose memory is
 * in its cache. After `loyalty` searches without a ready step, the thread also runs steps of other
 * sequences. After `patience` searches without a ready step, the thread sleeps 20 us after each
 * search, to leave the core to other work. */
static void
run_sequences (CleaveProgram *program, guint thread)
{
  const struct timespec nap = { .tv_nsec = 20000 };
  const guint loyalty = 64, patience = 8192;
  guint idle = 0;

  while (!is_all_finished (program))
    {
      gboolean ran = can_advance (program, thread) && advance (program, thread, thread);

      if (!ran && idle >= loyalty)
        ran = advance_another (program, thread);
      idle = ran ? 0 : MIN (idle + 1, patience);
      if (idle == patience)
        nanosleep (&nap, NULL);
      else if (idle > 0)
        relax ();
    }
}

/* Returns the number of threads whose sequence has steps. Sequences with steps come before
 * sequences without steps. */
static guint
count_busy (const CleaveSchedule *schedule)
{
  guint n = schedule->n_threads;

  while (n > 1 && schedule->n_sequence[n - 1] == 0)
    n--;
  return n;
}

/* Runs all sequences in a parallel region. OpenMP may provide fewer threads than there are
 * sequences, for example in a nested region. The provided threads then run all sequences. */
static void
run_region (CleaveProgram *program)
{
  guint n_threads = count_busy (program->schedule);

#pragma omp parallel num_threads(n_threads) default(none) shared(program)
  run_sequences (program, (guint) omp_get_thread_num ());
}

/* `has_lost_threads` is TRUE in the child of a fork if the parent had further threads, such as
 * threads of libgomp. These threads do not exist in the child, and a parallel region on the thread
 * that forked would wait for them forever. So a run of the child begins its region on a new thread,
 * for which libgomp starts new threads. `leaves_threads`: the value of `has_lost_threads` in the
 * next child. */
static _Thread_local gboolean leaves_threads, has_lost_threads;

static gboolean
is_only_thread (void)
{
#if __has_include(<sys/single_threaded.h>)
  return __libc_single_threaded;
#else
  return FALSE;
#endif
}

static void
before_fork (void)
{
  leaves_threads = has_lost_threads || !is_only_thread ();
}

static void
after_fork (void)
{
  has_lost_threads = leaves_threads;
}

__attribute__ ((constructor)) static void
watch_forks (void)
{
  pthread_atfork (before_fork, NULL, after_fork);
}

static void *
run_on_new_thread (void *program)
{
  run_region (program);
  return NULL;
}

static void
run_threads (CleaveProgram *program)
{
  pthread_t thread;

  for (guint t = 0; t < program->schedule->n_threads; t++)
    {
      atomic_store_explicit (&program->progress[t].n_done, 0, memory_order_relaxed);
      atomic_store_explicit (&program->progress[t].taken, FALSE, memory_order_relaxed);
    }
  if (!has_lost_threads)
    run_region (program);
  else if (pthread_create (&thread, NULL, run_on_new_thread, program) == 0)
    pthread_join (thread, NULL);
  else
    run_in_order (program);
}

/**
 * cleave_program_run:
 * @program: a program with tensors bound to it
 *
 * Reads the inputs, runs every step, writes the outputs.
 *
 * Allocates nothing, takes no lock and cannot fail. Opens one parallel region, or none if one
 * thread has all steps. A program has one arena, so it must not run twice at the same time.
 *
 * A process may fork between two runs. The child can then run its copy of the program, and other
 * programs. If the parent had OpenMP threads before the fork, each run of the child begins in a new
 * thread, which takes about 0.1 ms.
 *
 * Since: 0.1
 */
void
cleave_program_run (CleaveProgram *program)
{
  g_return_if_fail (program != NULL && program->bound);
  if (count_busy (program->schedule) == 1)
    run_in_order (program);
  else
    run_threads (program);
}
