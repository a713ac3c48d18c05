/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the footprint of each step as ranges of cache lines, and drops all footprints of a program
 * if their sum is at most FEW_BYTES. Two tasks may share one call and one kernel state; the second
 * task then adds only its own pointers. */

#include "footprints.h"

#include "program-private.h"

/* Largest total footprint of a program, in bytes, that is not prefetched: the cache nearest to the
 * core holds it from one run to the next. */
#define FEW_BYTES (16 << 10)

void
cleave_memory_lines_add (GArray *lines, gconstpointer begin, gsize n_bytes)
{
  const gsize before = (gsize) begin % CLEAVE_CACHE_LINE;
  CleaveMemoryLines some;

  if (begin == NULL || n_bytes == 0)
    return;
  some = (CleaveMemoryLines){ .begin = (const char *) begin - before,
                              .n = (before + n_bytes + CLEAVE_CACHE_LINE - 1) / CLEAVE_CACHE_LINE };
  g_array_append_val (lines, some);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const CleaveMemoryLines *x = a, *y = b;

  return (x->begin > y->begin) - (x->begin < y->begin);
}

void
cleave_memory_lines_unite (GArray *lines, guint first)
{
  CleaveMemoryLines *all = (CleaveMemoryLines *) (gpointer) lines->data;
  guint n = first;

  if (lines->len == first)
    return;
  qsort (all + first, lines->len - first, sizeof *all, compare);
  for (guint i = first + 1; i < lines->len; i++)
    {
      gsize apart = (gsize) (all[i].begin - all[n].begin) / CLEAVE_CACHE_LINE;

      if (apart <= all[n].n)
        all[n].n = MAX (all[n].n, apart + all[i].n);
      else
        all[++n] = all[i];
    }
  g_array_set_size (lines, n + 1);
}

/* Appends to `lines` (CleaveMemoryLines) the cache lines that contain the data pointers of a
 * kernel's operands and results. The caller uses this function for a task that shares the call and
 * the kernel state of another task, since such tasks differ only in these pointers. Most kernels
 * read strides from the state, so the strides in the views are not added. */
static void
add_addresses (GArray *lines, const CleaveKernelInstance *instance)
{
  cleave_memory_lines_add (lines, &instance->operands, sizeof instance->operands);
  for (guint i = 0; i < instance->call.n_operands; i++)
    cleave_memory_lines_add (lines, &instance->operands[i], sizeof (gpointer));
  for (guint r = 0; r < instance->call.n_results; r++)
    cleave_memory_lines_add (lines, &instance->results[r], sizeof (gpointer));
}

static void
add_shared (GArray *lines, const CleaveKernelInstance *instance)
{
  add_addresses (lines, instance);
  for (guint i = 0; i < instance->n_fused; i++)
    {
      cleave_memory_lines_add (lines, &instance->fused[i], sizeof instance->fused[i]);
      add_addresses (lines, instance->fused[i].instance);
    }
}

static void
add_instance (GArray *lines, const CleaveKernelInstance *instance)
{
  cleave_memory_lines_add (lines, instance, sizeof *instance);
  cleave_memory_lines_add (lines, instance->operands,
                           instance->call.n_operands * sizeof (CleaveView));
  cleave_memory_lines_add (lines, instance->results,
                           instance->call.n_results * sizeof (CleaveView));
  if (instance->call.op != NULL)
    cleave_memory_lines_add (lines, instance->call.attrs,
                             MIN (instance->call.op->attrs_size, CLEAVE_CACHE_LINE));
}

static void
add_task (GArray *lines, const CleaveTask *task)
{
  if (task->rows.n_rows > 0)
    {
      cleave_memory_lines_add (lines, task, CLEAVE_CACHE_LINE);
      return;
    }
  cleave_memory_lines_add (lines, task, sizeof *task);
  if (task->shares)
    {
      add_shared (lines, &task->instance);
      return;
    }
  add_instance (lines, &task->instance);
  if (task->kind != CLEAVE_STEP_COMPUTE)
    {
      cleave_memory_lines_add (lines, task->instance.operands, sizeof (CleaveView));
      cleave_memory_lines_add (lines, task->instance.results, sizeof (CleaveView));
    }
  cleave_kernel_add_memory (task->family, task->state, lines);
  for (guint i = 0; i < task->instance.n_fused; i++)
    {
      const CleaveFusedConsumer *consumer = &task->instance.fused[i];

      cleave_memory_lines_add (lines, consumer, sizeof *consumer);
      add_instance (lines, consumer->instance);
    }
}

static gboolean
is_empty (const CleaveFootprints *footprints, guint step)
{
  return footprints->first[step] == footprints->first[step + 1];
}

/* Sets `next` for each step of a thread: the index of the thread's next step that has a footprint,
 * or the step's own index if there is none. Fused steps and steps that only wait have no footprint.
 */
static void
find_next (CleaveFootprints *footprints, const CleaveSchedule *schedule, guint thread)
{
  guint next = G_MAXUINT;

  for (guint i = schedule->n_sequence[thread]; i-- > 0;)
    {
      guint step = schedule->sequence[thread][i];

      footprints->next[step] = next == G_MAXUINT ? step : next;
      next = is_empty (footprints, step) ? next : step;
    }
}

static gsize
count_bytes (const GArray *lines)
{
  gsize n = 0;

  for (guint i = 0; i < lines->len; i++)
    n += g_array_index (lines, CleaveMemoryLines, i).n;
  return n * CLEAVE_CACHE_LINE;
}

void
cleave_program_find_footprints (CleaveProgram *program)
{
  CleaveFootprints *footprints = &program->footprints;

  footprints->next = g_new0 (guint, program->n_tasks);
  footprints->first = g_new0 (gsize, program->n_tasks + 1);
  footprints->lines = g_array_new (FALSE, FALSE, sizeof (CleaveMemoryLines));
  for (guint s = 0; s < program->n_tasks; s++)
    {
      const CleaveTask *task = &program->tasks[s];

      if (task->kind != CLEAVE_STEP_JOIN && !task->is_fused)
        add_task (footprints->lines, task);
      cleave_memory_lines_unite (footprints->lines, (guint) footprints->first[s]);
      footprints->first[s + 1] = footprints->lines->len;
    }
  for (guint t = 0; t < program->schedule->n_threads; t++)
    find_next (footprints, program->schedule, t);
  if (count_bytes (footprints->lines) <= FEW_BYTES)
    cleave_footprints_clear (footprints);
}

void
cleave_footprints_clear (CleaveFootprints *footprints)
{
  g_clear_pointer (&footprints->next, g_free);
  g_clear_pointer (&footprints->first, g_free);
  g_clear_pointer (&footprints->lines, g_array_unref);
}
