/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Records when each step of a run begins and ends, and writes the record as JSON. */

#include "program-private.h"

void
cleave_program_begin_trace (CleaveProgram *program, const CleaveStorage *storage)
{
  program->events = g_new0 (CleaveTraceEvent, program->n_tasks + 1);
  program->names = g_new0 (char *, program->n_tasks + 1);
  for (guint s = 0; s < program->n_tasks; s++)
    {
      const CleaveStep *step = &g_array_index (storage->steps, CleaveStep, s);

      program->names[s] = step->node == NULL ? g_strdup (program->outputs[step->index].name)
                                             : g_strdup (step->node->name);
    }
}

/* Appends a JSON string, with quotes, backslashes and control characters escaped. */
static void
add_string (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  for (const char *c = text; *c != '\0'; c++)
    if (*c == '"' || *c == '\\')
      g_string_append_printf (out, "\\%c", *c);
    else if ((guchar) *c < 0x20)
      g_string_append_printf (out, "\\u%04x", (guint) *c);
    else
      g_string_append_c (out, *c);
  g_string_append_c (out, '"');
}

static void
add_microseconds (GString *out, const char *key, gint64 nanoseconds)
{
  g_string_append_printf (out, ",\"%s\":%" G_GINT64_FORMAT ".%03d", key, nanoseconds / 1000,
                          (int) (nanoseconds % 1000));
}

/* Appends the waits of a step, which show why the step did not begin earlier. Each wait is a pair:
 * a thread, and the number of that thread's steps that had to finish before. */
static void
add_waits (GString *out, const CleaveWaits *waits, guint step)
{
  g_string_append (out, ",\"waits\":[");
  for (guint w = waits->first[step]; w < waits->first[step + 1]; w++)
    {
      const CleaveWait *wait = &g_array_index (waits->list, CleaveWait, w);

      g_string_append_printf (out, "%s[%u,%u]", w > waits->first[step] ? "," : "", wait->thread,
                              wait->count);
    }
  g_string_append_c (out, ']');
}

static void
add_event (GString *out, const CleaveProgram *program, guint step, gint64 begin)
{
  const CleaveTask *task = &program->tasks[step];
  const CleaveTraceEvent *event = &program->events[step];

  g_string_append_printf (out, "%s\n{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"name\":",
                          out->str[out->len - 1] == '[' ? "" : ",", event->thread);
  add_string (out, program->names[step] != NULL ? program->names[step] : "");
  g_string_append_printf (out, ",\"cat\":\"%s\"",
                          cleave_step_kind_name (task->kind, task->instance.call.op));
  add_microseconds (out, "ts", event->begin - begin);
  add_microseconds (out, "dur", event->end - event->begin);
  g_string_append_printf (out, ",\"args\":{\"step\":%u,\"sequence\":%u,\"index\":%u", step,
                          program->schedule->thread[step], program->schedule->index[step]);
  add_waits (out, &program->waits, step);
  g_string_append (out, "}}");
}

/**
 * cleave_program_dup_trace:
 * @program: a program made with the option `trace`
 *
 * Returns the begin, the duration and the thread of each step of the last run, in the [Trace Event
 * Format](https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU) of
 * Perfetto and Chromium's tracing pages. Each step is one complete event. The category of an event
 * is the op of the node or the kind of the step. Times are in microseconds since the first step.
 * Steps that only wait, and fused steps, take no time. `sequence` and `index` are the step's place
 * in the schedule. `waits` lists pairs of a sequence and the number of its steps that must be done
 * before the step begins.
 *
 * Returns: (transfer full) (nullable): the JSON text, or %NULL if the program was made without the
 * option `trace` or has not run yet
 *
 * Since: 0.1
 */
char *
cleave_program_dup_trace (const CleaveProgram *program)
{
  g_return_val_if_fail (program != NULL, NULL);

  GString *out;
  gint64 begin = G_MAXINT64;

  for (guint s = 0; program->events != NULL && s < program->n_tasks; s++)
    if (program->events[s].end != 0)
      begin = MIN (begin, program->events[s].begin);
  if (begin == G_MAXINT64)
    return NULL;
  out = g_string_new ("{\"traceEvents\":[");
  for (guint s = 0; s < program->n_tasks; s++)
    add_event (out, program, s, begin);
  g_string_append (out, "\n]}\n");
  return g_string_free (out, FALSE);
}
