/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes a failing case small. A case has two tapes of random choices: one makes the model, the
 * other makes the Way, a random way to compute the model (way.h). Drops and lowers choices, while
 * the model still fails with the same verdict. */

#include "shrink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SECONDS 120

typedef struct
{
  GArray *graph, *way;
  Report *report;
  Verdict verdict;
  gint64 hang_after, end;
} Shrink;

static GArray *
copy (const GArray *array)
{
  GArray *to = g_array_new (FALSE, FALSE, sizeof (guint32));

  g_array_append_vals (to, array->data, array->len);
  return to;
}

static gboolean
is_same (Shrink *at, const GArray *graph, const GArray *way)
{
  Tape a, b;

  if (g_get_monotonic_time () > at->end)
    return FALSE;
  tape_init_replay (&a, (guint32 *) (gpointer) graph->data, graph->len);
  tape_init_replay (&b, (guint32 *) (gpointer) way->data, way->len);
  return workers_judge (at->report, &a, &b, at->hang_after) == at->verdict;
}

/* Replaces `tape`, the random choices for the graph or for the changes (tape.h), by `next`. Does so
 * only if the case still fails with the same verdict. Returns whether the tape was replaced. */
static gboolean
accept (Shrink *at, GArray **tape, GArray *next)
{
  gboolean of_way = tape == &at->way;

  if (!is_same (at, of_way ? at->graph : next, of_way ? next : at->way))
    {
      g_array_unref (next);
      return FALSE;
    }
  g_array_unref (*tape);
  *tape = next;
  return TRUE;
}

static gboolean
drop_blocks (Shrink *at, GArray **tape, guint size)
{
  gboolean changed = FALSE;

  for (guint end = (*tape)->len; end > 0; end = end > size ? end - size : 0)
    {
      guint begin = end > size ? end - size : 0;
      GArray *next;

      if (end > (*tape)->len)
        continue;
      next = copy (*tape);
      g_array_remove_range (next, begin, end - begin);
      changed |= accept (at, tape, next);
    }
  return changed;
}

static gboolean
lower (Shrink *at, GArray **tape)
{
  gboolean changed = FALSE;

  for (guint i = 0; i < (*tape)->len; i++)
    for (guint32 v = 0, was = g_array_index (*tape, guint32, i); v < was; v += (was - v + 1) / 2)
      {
        GArray *next = copy (*tape);

        g_array_index (next, guint32, i) = v;
        if (accept (at, tape, next))
          {
            changed = TRUE;
            break;
          }
      }
  return changed;
}

/* Returns the random choices that a process has recorded in shared memory. The choices are complete
 * even if the process crashed. */
static GArray *
take (const TapeCopy *copy)
{
  GArray *tape = g_array_new (FALSE, FALSE, sizeof (guint32));

  g_array_append_vals (tape, copy->choices, copy->n);
  return tape;
}

static void
shrink_all (Shrink *at)
{
  gboolean changed = TRUE;

  while (changed && g_get_monotonic_time () < at->end)
    {
      changed = FALSE;
      for (guint size = 64; size > 0; size /= 2)
        {
          changed |= drop_blocks (at, &at->way, size);
          changed |= drop_blocks (at, &at->graph, size);
        }
      changed |= lower (at, &at->graph);
      changed |= lower (at, &at->way);
    }
}

static void
print_choices (GString *out, const char *name, const GArray *tape)
{
  g_string_append (out, name);
  for (guint i = 0; i < tape->len; i++)
    g_string_append_printf (out, " %u", g_array_index (tape, guint32, i));
  g_string_append_c (out, '\n');
}

static void
save (const Plan *plan, guint64 seed, const char *suffix, gconstpointer data, gsize size)
{
  g_autofree char *name = g_strdup_printf ("%" G_GUINT64_FORMAT "%s", seed, suffix);
  g_autofree char *path = NULL;

  if (plan->folder == NULL)
    return;
  path = g_build_filename (plan->folder, name, NULL);
  g_mkdir_with_parents (plan->folder, 0777);
  g_file_set_contents (path, data, (gssize) size, NULL);
}

static void
keep (const Shrink *at, guint64 seed, const Plan *plan)
{
  GString *out = g_string_new (NULL);
  g_autofree char *graph = NULL;
  g_autoptr (GBytes) bytes = NULL;
  Trial trial;
  Tape tape;

  tape_init_replay (&tape, (guint32 *) (gpointer) at->graph->data, at->graph->len);
  trial_init (&trial, &tape);
  trial_grow (&trial);
  graph = trial_print (&trial);
  bytes = trial_write (&trial, FALSE);
  g_string_append_printf (out, "%s%s: %s\n", graph, verdict_name (at->verdict),
                          at->report->message);
  g_print ("  shrunk:\n%s\n", out->str);
  fflush (stdout);
  save (plan, seed, ".txt", out->str, out->len);
  save (plan, seed, ".onnx", g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  g_string_truncate (out, 0);
  print_choices (out, "graph", at->graph);
  print_choices (out, "way", at->way);
  save (plan, seed, ".case", out->str, out->len);
  g_string_free (out, TRUE);
  trial_clear (&trial);
  tape_clear (&tape);
}

void
shrink (guint64 seed, guint way, Verdict verdict, const Plan *plan)
{
  Shrink at = { NULL, NULL, workers_new_report (), verdict, 2, G_MAXINT64 };
  Tape graph, of_way;

  judge_tapes (seed, way, &graph, &of_way);
  if (workers_judge (at.report, &graph, &of_way, at.hang_after) != verdict)
    {
      g_print ("  it does not fail alone\n");
      return;
    }
  at.graph = take (&at.report->graph);
  at.way = take (&at.report->of_way);
  at.end = g_get_monotonic_time () + MAX_SECONDS * G_USEC_PER_SEC;
  shrink_all (&at);
  at.end = G_MAXINT64;
  is_same (&at, at.graph, at.way); /* judge the shrunk case again, since keep() prints the message
                                      of the last judged case */
  keep (&at, seed, plan);
  g_array_unref (at.graph);
  g_array_unref (at.way);
}

static void
read_choices (const char *line, Tape *tape)
{
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  GArray *choices = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 1; words[i] != NULL; i++)
    {
      guint32 choice = (guint32) atoll (words[i]);

      g_array_append_val (choices, choice);
    }
  tape_init_replay (tape, (guint32 *) (gpointer) choices->data, choices->len);
  g_array_unref (choices);
}

int
shrink_replay (const char *path)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  Report *report = workers_new_report ();
  Tape graph, way;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return 2;
  lines = g_strsplit (text, "\n", -1);
  read_choices (lines[0], &graph);
  read_choices (lines[1], &way);
  judge_way (&graph, &way, report);
  g_print ("%s: %s\n", verdict_name (report->verdict), report->message);
  return report->verdict != VERDICT_GOOD;
}
