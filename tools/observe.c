/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints graphs, differences and times after each pass of a pipeline, writes drawings, and stops
 * the pipeline where an option asks for it. A difference lists the nodes that a pass removed and
 * added, as lines of the printed graph. */

#include "observe.h"

#include <stdio.h>
#include <string.h>

#include "outputs.h"

/* The total time of all runs of a pass. */
typedef struct
{
  char *pass;
  guint n_runs, n_changes;
  gint64 microseconds;
} Time;

static void
time_clear (gpointer data)
{
  g_free (((Time *) data)->pass);
}

static void
add_time (CleaveObserver *observer, const char *pass, gboolean changed)
{
  gint64 took = g_get_monotonic_time () - observer->begin;
  Time *time = NULL;

  if (observer->times == NULL)
    {
      observer->times = g_array_new (FALSE, FALSE, sizeof (Time));
      g_array_set_clear_func (observer->times, time_clear);
    }
  for (guint i = 0; i < observer->times->len && time == NULL; i++)
    if (g_str_equal (g_array_index (observer->times, Time, i).pass, pass))
      time = &g_array_index (observer->times, Time, i);
  if (time == NULL)
    {
      const Time none = { .pass = g_strdup (pass) };

      g_array_append_val (observer->times, none);
      time = &g_array_index (observer->times, Time, observer->times->len - 1);
    }
  time->n_runs++;
  time->n_changes += changed != FALSE;
  time->microseconds += took;
}

void
cleave_observer_print_times (const CleaveObserver *observer)
{
  gint64 all = 0;

  for (guint i = 0; observer->times != NULL && i < observer->times->len; i++)
    all += g_array_index (observer->times, Time, i).microseconds;
  fprintf (stderr, "        ms       %%   runs  changed  pass\n");
  for (guint i = 0; observer->times != NULL && i < observer->times->len; i++)
    {
      const Time *time = &g_array_index (observer->times, Time, i);

      fprintf (stderr, "%10.3f  %5.1f  %5u  %7u  %s\n", (double) time->microseconds / 1000,
               100 * (double) time->microseconds / (double) MAX (all, 1), time->n_runs,
               time->n_changes, time->pass);
    }
}

/* Adds to `names` the numbers of values, such as %3, that begin a line of a printed graph. Each
 * number is mapped to the name at the end of the line. */
static void
note_names (const char *line, GHashTable *names)
{
  const char *name = strstr (line, "  # ");
  const char *equals = strstr (line, " = ");

  for (const char *c = line; name != NULL && equals != NULL && c < equals; c++)
    if (*c == '%')
      {
        char *number = g_strndup (c, 1 + strspn (c + 1, "0123456789"));

        g_hash_table_insert (names, number, g_strdup (name + 4));
      }
}

static gboolean
put_name (const GMatchInfo *match, GString *out, gpointer names)
{
  g_autofree char *number = g_match_info_fetch (match, 0);
  const char *name = g_hash_table_lookup (names, number);

  g_string_append (out, name != NULL ? name : number);
  return FALSE;
}

/* Returns a printed graph with names in place of the numbers of values. A new node changes the
 * numbers of all later values, but no names. */
static char *
dup_with_names (const char *text)
{
  g_autoptr (GRegex) number = g_regex_new ("%[0-9]+", 0, 0, NULL);
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    note_names (lines[i], names);
  return g_regex_replace_eval (number, text, -1, 0, 0, put_name, names, NULL);
}

/* Prints the lines of `text` that `without` does not have, each after `sign`. */
static void
print_lines_without (const char *text, const char *without, char sign)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1), others = g_strsplit (without, "\n", -1);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; others[i] != NULL; i++)
    g_hash_table_add (seen, others[i]);
  for (guint i = 0; lines[i] != NULL; i++)
    if (!g_hash_table_contains (seen, lines[i]))
      fprintf (stderr, "%c%s\n", sign, lines[i]);
}

/* Prints a difference of two graphs: the sign - before each node that only graph `a` has, and the
 * sign + before each node that only graph `b` has. The order of nodes does not count. */
static void
print_difference (const char *a, const char *b)
{
  g_autofree char *before = dup_with_names (a), *after = dup_with_names (b);

  print_lines_without (before, after, '-');
  print_lines_without (after, before, '+');
}

static void
print_graph (CleaveObserver *observer, const char *pass, const CleaveGraph *graph, gboolean changed)
{
  g_autofree char *after = cleave_graph_print (graph);

  if (observer->print_changed && changed)
    {
      fprintf (stderr, "; %s\n", pass);
      print_difference (observer->before, after);
    }
  if (observer->print_after_all)
    fprintf (stderr, "; after %s%s\n%s", pass, changed ? "" : ", which changed nothing", after);
}

static gboolean
draw (CleaveObserver *observer, const char *pass, const CleaveGraph *graph)
{
  g_autofree char *name = g_strndup (pass, strcspn (pass, "{"));
  g_autofree char *file =
      g_strdup_printf ("%03" G_GINT64_FORMAT "-%s.dot", observer->n_changes, name);
  g_autofree char *path = g_build_filename (observer->dot_folder, file, NULL);
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();

  return cleave_outputs_add_drawing (outputs, path, graph, NULL, &observer->error) &&
         cleave_outputs_commit (outputs, &observer->error);
}

static gboolean
is_pass (const char *pass, const char *name)
{
  gsize n = strlen (name);

  return strncmp (pass, name, n) == 0 && (pass[n] == '\0' || pass[n] == '{' || pass[n] == ' ');
}

static gboolean
after_pass (CleaveObserver *observer, const char *pass, const CleaveGraph *graph, gboolean changed)
{
  observer->n_changes += changed != FALSE;
  if (observer->print_after_all || observer->print_changed)
    print_graph (observer, pass, graph, changed);
  if (observer->verify_each && !cleave_graph_validate (graph, &observer->error))
    {
      g_prefix_error (&observer->error, "after %s: ", pass);
      return FALSE;
    }
  if (changed && observer->dot_folder != NULL && !draw (observer, pass, graph))
    return FALSE;
  observer->stopped = observer->stop_after != NULL && is_pass (pass, observer->stop_after);
  return !observer->stopped;
}

gboolean
cleave_observe (CleavePipelineEvent event,
                const char *pass,
                const CleaveGraph *graph,
                gpointer data)
{
  CleaveObserver *observer = data;

  if (event != CLEAVE_PIPELINE_BEFORE)
    {
      add_time (observer, pass, event == CLEAVE_PIPELINE_CHANGED);
      return after_pass (observer, pass, graph, event == CLEAVE_PIPELINE_CHANGED);
    }
  if (observer->max_changes >= 0 && observer->n_changes >= observer->max_changes)
    return FALSE;
  if (observer->print_changed)
    {
      g_free (observer->before);
      observer->before = cleave_graph_print (graph);
    }
  observer->begin = g_get_monotonic_time ();
  return TRUE;
}

void
cleave_observer_clear (CleaveObserver *observer)
{
  g_free (observer->before);
  g_clear_pointer (&observer->times, g_array_unref);
  g_clear_error (&observer->error);
}
