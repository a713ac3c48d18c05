/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "arguments.h"
#include "commands.h"
#include "model.h"
#include "page.h"

#include <stdio.h>
#include <string.h>

/* What is this command's own; all else goes to the command that splits. */
typedef struct
{
  CleaveModelOptions model;
  char *path, *threads;
  gboolean frontier, no_times;
} Options;

static void
options_clear (Options *o)
{
  cleave_model_options_clear (&o->model);
  g_free (o->path);
  g_free (o->threads);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

#define OWN_OPTIONS(o)                                                                              \
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &(o).path, "The page to write", "FILE.html" },         \
      { "threads", 0, 0, G_OPTION_ARG_STRING, &(o).threads, "Run it on so many threads (1)", "T" }, \
      { "frontier",                                                                                 \
        0,                                                                                          \
        0,                                                                                          \
        G_OPTION_ARG_NONE,                                                                          \
        &(o).frontier,                                                                              \
        "Also show what is possible: memory, MACs and time of each plan",                           \
        NULL },                                                                                     \
  {                                                                                                 \
    "no-times", 0, 0, G_OPTION_ARG_NONE, &(o).no_times, "Do not run the model", NULL                \
  }

/* Takes this command's options out of the arguments, but for those that fit needs, too. */
static gboolean
take_own (int *argc, char ***argv, Options *o, GError **error)
{
  const GOptionEntry entries[] = { OWN_OPTIONS (*o), G_OPTION_ENTRY_NULL };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_ignore_unknown_options (context, TRUE);
  g_option_context_set_help_enabled (context, FALSE);
  return g_option_context_parse (context, argc, argv, error);
}

static gboolean
has_any (char **argv, const char *const *names)
{
  for (guint i = 1; argv[i] != NULL; i++)
    for (guint j = 0; names[j] != NULL; j++)
      {
        gsize n = strlen (names[j]);

        if (strncmp (argv[i], names[j], n) == 0 && (argv[i][n] == '\0' || argv[i][n] == '='))
          return TRUE;
      }
  return FALSE;
}

/* What says which nodes makes it a split; else a limit makes it a fit. */
static const char *const of_split[] = { "--node", "--all", "--for-threads", NULL };
static const char *const of_fit[] = { "--max-memory", "--max-added-macs", "--max-latency-added",
                                      NULL };

/* The model alone. */
static int
show_model (int argc, char **argv, Options *o, GError **error)
{
  const GOptionEntry entries[] = { OWN_OPTIONS (*o), CLEAVE_MODEL_OPTIONS (o->model),
                                   G_OPTION_ENTRY_NULL };
  g_auto (GStrv) files = cleave_argument_parse (
      argc, argv, entries, "MODEL.onnx",
      "Writes one page for a browser: the graph, its memory over time, the times of its nodes.\n"
      "With the options of split (--node, --all, --for-threads and others) or of fit\n"
      "(--max-memory and others) it does that, too, and shows the graph before and after, and\n"
      "why each node that was asked for was not split.",
      1, error);
  g_autoptr (CleaveGraph) graph = NULL;

  if (files == NULL)
    return CLEAVE_WRONG;
  graph = cleave_model_load (files[0], &o->model, error);
  if (graph == NULL || !cleave_page_write (graph, graph, NULL, 0, error))
    return CLEAVE_WRONG;
  return CLEAVE_DONE;
}

static gboolean
is_help (char **argv)
{
  static const char *const help[] = { "--help", "-h", "--help-all", "--list-options", NULL };

  return has_any (argv, help);
}

/* What was asked, to be read. */
static char *
dup_command (char **argv)
{
  g_autoptr (GString) command = g_string_new ("cleave report");

  for (guint i = 1; argv[i] != NULL; i++)
    {
      g_autofree char *valid = g_utf8_make_valid (argv[i], -1);

      g_string_append_printf (command, " %s", valid);
    }
  return g_string_free (g_steal_pointer (&command), FALSE);
}

int
cleave_cmd_report (int argc, char **argv, GError **error)
{
  g_auto (Options) o = { 0 };
  g_autofree char *command = dup_command (argv);
  g_autofree char **left = g_memdup2 (argv, ((gsize) argc + 1) * sizeof *argv);
  CleavePageRequest request = { .command = command };
  gint64 n_threads = 1;
  gboolean fits;
  int status;

  if (is_help (argv))
    return show_model (argc, argv, &o, error);
  if (!take_own (&argc, &left, &o, error))
    return CLEAVE_WRONG;
  if (o.path == NULL || (o.threads != NULL &&
                         !cleave_text_to_int ("--threads", o.threads, 1, 1024, &n_threads, error)))
    {
      if (o.path == NULL)
        cleave_argument_fail (error, "-o FILE.html is missing");
      return CLEAVE_WRONG;
    }
  request.path = o.path;
  request.n_threads = (guint) n_threads;
  request.with_times = !o.no_times;
  request.with_frontier = o.frontier;
  cleave_page_set_request (&request);
  fits = !has_any (left, of_split) && has_any (left, of_fit);
  status = has_any (left, of_split) ? cleave_cmd_split (argc, left, error)
           : fits                   ? cleave_cmd_fit (argc, left, error)
                                    : show_model (argc, left, &o, error);
  cleave_page_set_request (NULL);
  return status;
}
