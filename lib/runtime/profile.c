/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Implements cleave_program_profile(), which measures the time of each step. An ordinary run uses
 * the code of run.c, which measures nothing. */

#include "program-private.h"

#include "../ir/boxed.h"

#include <time.h>

/* The bytes that a step reads and writes. Each address counts once: if a step reads a value that it
 * has written, the value is in the cache and does not count again. */
typedef struct
{
  GHashTable *read, *written;
  gint64 n_bytes;
} Touched;

static gint64
now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (gint64) t.tv_sec * G_GINT64_CONSTANT (1000000000) + t.tv_nsec;
}

/* Adds the bytes of a view, unless its address was counted before. The view of a packed weight has
 * no address; its bytes always count. An absent operand has 0 bytes. */
static void
touch (Touched *touched, GHashTable *places, const CleaveView *view)
{
  if (view->data == NULL || (!g_hash_table_contains (touched->written, view->data) &&
                             g_hash_table_add (places, view->data)))
    touched->n_bytes += cleave_tensor_type_n_bytes (&view->type);
}

static void
touch_instance (Touched *touched, const CleaveKernelInstance *instance, CleaveStepKind kind)
{
  guint n_operands =
      instance->call.op != NULL ? instance->call.n_operands : instance->operands != NULL;
  guint n_results =
      instance->call.op != NULL ? instance->call.n_results : instance->results != NULL;

  for (guint i = 0; i < n_operands; i++)
    touch (touched, touched->read, &instance->operands[i]);
  for (guint i = 0; i < n_results; i++)
    touch (touched, touched->written, &instance->results[i]);
  if (kind == CLEAVE_STEP_LOAD || kind == CLEAVE_STEP_STORE)
    touched->n_bytes *= 2; /* a LOAD step also reads the bound tensor, a STORE step writes it */
}

static gint64
count_macs (const CleaveKernelInstance *instance)
{
  return instance->call.op == NULL || instance->call.op->macs == NULL
             ? 0
             : instance->call.op->macs (&instance->call);
}

static void
describe (const CleaveTask *task, CleaveStepTime *step)
{
  const CleaveKernelInstance *instance = &task->instance;
  g_autoptr (GHashTable) read = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) written = g_hash_table_new (NULL, NULL);
  GString *what = g_string_new (cleave_step_kind_name (task->kind, instance->call.op));
  Touched touched = { .read = read, .written = written };

  touch_instance (&touched, instance, task->kind);
  step->macs = count_macs (instance);
  for (guint i = 0; i < instance->n_fused; i++)
    {
      const CleaveKernelInstance *consumer = instance->fused[i].instance;

      g_string_append_printf (what, " + %s", consumer->call.op->name);
      touch_instance (&touched, consumer, CLEAVE_STEP_COMPUTE);
      step->macs = cleave_saturated_add (step->macs, count_macs (consumer));
    }
  step->name = g_strdup (task->name);
  step->what = g_string_free (what, FALSE);
  step->bytes = touched.n_bytes;
  step->reference = task->kind == CLEAVE_STEP_COMPUTE && task->family == NULL;
  step->nanoseconds = G_MAXINT64;
}

static gboolean
takes_time (const CleaveTask *task)
{
  return task->kind != CLEAVE_STEP_JOIN && !task->is_fused;
}

static void
time_run (const CleaveProgram *program, CleaveProfile *profile)
{
  const CleaveSchedule *schedule = program->schedule;
  guint n = 0;
  gint64 begin = now (), end;

  for (guint i = 0; i < schedule->n_steps; i++)
    if (takes_time (&program->tasks[schedule->order[i]]))
      {
        CleaveStepTime *step = &profile->steps[n++];

        cleave_footprints_fetch (&program->footprints, schedule->order[i]);
        cleave_program_run_step (program, schedule->order[i]);
        end = now ();
        step->nanoseconds = MIN (step->nanoseconds, end - begin);
        begin = end;
      }
}

/**
 * cleave_program_profile:
 * @program: a program with tensors bound to it
 * @n_runs: number of runs; the fastest time of each step counts
 *
 * Runs the program, one step after the other on this thread, and measures the time of each step.
 *
 * A fused step has no time of its own: its time is part of the time of the step before it, and
 * `what` of that step names both. The bytes of a step are the bytes of its operands, with the
 * constants, and of its results. If a result overwrites an operand, the bytes of both count.
 * [method@Cleave.Program.run] measures nothing.
 *
 * Returns: (transfer full): the steps in the order of the run
 *
 * Since: 0.1
 */
CleaveProfile *
cleave_program_profile (CleaveProgram *program, guint n_runs)
{
  CleaveProfile *profile;

  g_return_val_if_fail (program != NULL && program->bound, NULL);
  profile = g_atomic_rc_box_new0 (CleaveProfile);
  profile->steps = g_new0 (CleaveStepTime, program->n_tasks);
  for (guint i = 0; i < program->schedule->n_steps; i++)
    {
      const CleaveTask *task = &program->tasks[program->schedule->order[i]];

      if (takes_time (task))
        describe (task, &profile->steps[profile->n_steps++]);
    }
  for (guint r = 0; r < MAX (n_runs, 1); r++)
    time_run (program, profile);
  return profile;
}

static void
clear (gpointer data)
{
  CleaveProfile *profile = data;

  for (guint i = 0; i < profile->n_steps; i++)
    {
      g_free (profile->steps[i].name);
      g_free (profile->steps[i].what);
    }
  g_free (profile->steps);
}

/**
 * cleave_profile_ref:
 * @profile: a profile
 *
 * Adds a reference.
 *
 * Returns: (transfer full): @profile
 *
 * Since: 0.1
 */

/**
 * cleave_profile_unref:
 * @profile: (transfer full) (nullable): a profile
 *
 * Drops a reference; the last one frees the profile.
 *
 * Since: 0.1
 */

CLEAVE_DEFINE_COUNTED (CleaveProfile, profile, clear)

/**
 * cleave_profile_get_step:
 * @profile: a profile
 * @index: index of the step, in the order in which steps run
 *
 * Returns: (transfer none): the time of the step, which the profile owns
 *
 * Since: 0.1
 */
const CleaveStepTime *
cleave_profile_get_step (const CleaveProfile *profile, guint index)
{
  g_return_val_if_fail (profile != NULL && index < profile->n_steps, NULL);
  return &profile->steps[index];
}
