/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave report`: writes one HTML page about a model, a split or a fit. */

#include "arguments.h"
#include "commands.h"
#include "model.h"
#include "output-names.h"
#include "page.h"

#include <cleave/cleave-languages.h>

typedef struct
{
  CleaveModelOptions model;
  char *path, *threads;
  gboolean frontier, no_times;
  gint64 n_threads;
} Options;

/* Options of split and fit that `cleave report` does not accept. */
static const char *const excluded[] = { "bytes", "dry-run", "plot", "verbose", NULL };

/* Options about the page that `cleave report` writes. The command does not pass these options to
 * split or fit, except --threads, which fit also gets. */
static const char *const of_page[] = { "output", "threads", "frontier", "no-times", NULL };
static const char *const of_model[] = { "shape", "fix", "force", NULL };

/* The page shows a split if an option of `for_split` is given, and a fit if an option of `for_fit`
 * is given. The command `fit` also has options of `for_split`, but here they select a split. */
static const char *const for_split[] = { "node", "all", "for-threads", "max-schedule-memory",
                                         NULL };
static const char *const for_fit[] = { "max-memory", "max-added-macs", NULL };

static const GOptionEntry *
find_entry (const GArray *entries, const char *name)
{
  for (guint i = 0; i < entries->len; i++)
    if (g_str_equal (g_array_index (entries, GOptionEntry, i).long_name, name))
      return &g_array_index (entries, GOptionEntry, i);
  return NULL;
}

/* Adds an option of split or fit. If both commands have the option with different descriptions, the
 * new description contains the two descriptions. */
static void
add_entry (GArray *entries, GOptionEntry entry, const GArray *of_other, const char *format)
{
  const GOptionEntry *other = find_entry (of_other, entry.long_name);
  g_autofree char *text = NULL;

  if (find_entry (entries, entry.long_name) != NULL || g_strv_contains (excluded, entry.long_name))
    return;
  if (other == NULL)
    text = g_strdup_printf (format, entry.description);
  else if (!g_str_equal (other->description, entry.description))
    text = g_strdup_printf ("split: %s; fit: %s", entry.description, other->description);
  if (text != NULL)
    entry.description = g_intern_string (text);
  g_array_append_val (entries, entry);
}

/* Returns the command's own options, which store their values in `o`, and the options of split and
 * fit. */
static GArray *
list_entries (Options *o, const GArray *split, const GArray *fit)
{
  const GOptionEntry own[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &o->path, "write the page to this file",
      "FILE.html" },
    CLEAVE_THREADS_OPTION (o->threads, "the run and of the fit"),
    { "frontier", 0, 0, G_OPTION_ARG_NONE, &o->frontier,
      "add the possible plans: memory, MACs and time of each", NULL },
    { "no-times", 0, 0, G_OPTION_ARG_NONE, &o->no_times, "do not run the model", NULL },
    CLEAVE_MODEL_OPTIONS (o->model),
    CLEAVE_FORCE_OPTION (o->model),
  };
  GArray *entries = g_array_new (TRUE, FALSE, sizeof (GOptionEntry));

  g_array_append_vals (entries, own, G_N_ELEMENTS (own));
  for (guint i = 0; i < split->len; i++)
    add_entry (entries, g_array_index (split, GOptionEntry, i), fit, "split: %s");
  for (guint i = 0; i < fit->len; i++)
    add_entry (entries, g_array_index (fit, GOptionEntry, i), split, "fit: %s");
  return entries;
}

/* The subject of the page: the model alone, a split or a fit. */
typedef enum {
  SHOW_MODEL,
  SHOW_SPLIT,
  SHOW_FIT,
} Kind;

/* A parsed command line: the tables of options (GOptionEntry), the given options (CleaveArgument)
 * and the files. */
typedef struct
{
  GArray *split, *fit, *entries, *options;
  GPtrArray *files;
  Kind kind;
  const char *reason; /* the option that decides that the page shows a split or a fit; NULL: none */
} Request;

static void
request_clear (Request *request)
{
  g_clear_pointer (&request->split, g_array_unref);
  g_clear_pointer (&request->fit, g_array_unref);
  g_clear_pointer (&request->entries, g_array_unref);
  g_clear_pointer (&request->options, g_array_unref);
  g_clear_pointer (&request->files, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Request, request_clear)

static const CleaveArgument *
get_option (const Request *request, guint i)
{
  return &g_array_index (request->options, CleaveArgument, i);
}

/* Decides whether the page shows a split, a fit or the model alone. The page shows a split if an
 * option names nodes or is an option of split alone. If not, the page shows a fit if an option
 * limits the memory or the MACs of the model, or is an option of fit alone. */
static void
decide (Request *request)
{
  for (guint i = 0; i < request->options->len && request->kind != SHOW_SPLIT; i++)
    {
      const char *name = get_option (request, i)->entry->long_name;
      gboolean in_split = find_entry (request->split, name) != NULL;
      gboolean in_fit = find_entry (request->fit, name) != NULL;

      if (g_strv_contains (of_page, name) || g_strv_contains (of_model, name))
        continue;
      if (in_split && (!in_fit || g_strv_contains (for_split, name)))
        request->kind = SHOW_SPLIT;
      else if (!in_split || g_strv_contains (for_fit, name))
        request->kind = SHOW_FIT;
      else
        continue;
      request->reason = name;
    }
}

/* Checks that every option has an effect on the page. */
static gboolean
check_options (const Request *request, const Options *o, GError **error)
{
  const GArray *table = request->kind == SHOW_SPLIT ? request->split : request->fit;

  for (guint i = 0; i < request->options->len; i++)
    {
      const char *name = get_option (request, i)->entry->long_name;

      if (g_strv_contains (of_page, name) || g_strv_contains (of_model, name))
        continue;
      if (request->kind == SHOW_MODEL)
        return cleave_argument_fail (error,
                                     "--%s has no effect without options of split, such as --node, "
                                     "or of fit, such as --max-memory",
                                     name);
      if (find_entry (table, name) == NULL)
        return cleave_argument_fail (error, "--%s is an option of fit, but --%s makes it a split",
                                     name, request->reason);
    }
  if (o->threads != NULL && o->no_times && !o->frontier && request->kind != SHOW_FIT)
    return cleave_argument_fail (error, "--threads has no effect with --no-times");
  return TRUE;
}

/* Reads the command line. Stores the values of the options in `of_page` and `of_model`. */
static gboolean
parse (int argc, char **argv, Options *o, Request *request, GError **error)
{
  CleaveArguments arguments = {
    NULL, NULL, "MODEL.onnx",
    "Write one page for a browser: the graph, its memory over time, the times of its nodes.\nWith "
    "options of split (--node, --all, --for-threads and others) or of fit\n(--max-memory and "
    "others), split or fit the model first. The page then shows the graph before and\nafter, and "
    "the "
    "reason for each node that was not split.",
    1
  };

  request->split = cleave_cmd_split_list_options ();
  request->fit = cleave_cmd_fit_list_options ();
  request->entries = list_entries (o, request->split, request->fit);
  arguments.entries = (const GOptionEntry *) (gpointer) request->entries->data;
  request->options = cleave_argument_scan (&arguments, argc, argv, &request->files, error);
  if (request->options == NULL)
    return FALSE;
  for (guint i = 0; i < request->options->len; i++)
    {
      const CleaveArgument *option = get_option (request, i);

      if ((g_strv_contains (of_page, option->entry->long_name) ||
           g_strv_contains (of_model, option->entry->long_name)) &&
          !cleave_argument_store (option, error))
        return FALSE;
    }
  decide (request);
  if (!cleave_argument_threads (o->threads, &o->n_threads, error))
    return FALSE;
  if (o->path == NULL)
    return cleave_argument_fail (error, "-o FILE.html is missing: name the page to write");
  if (!cleave_output_name_check (o->path, "write a page", ".html .htm", error))
    return FALSE;
  if (request->files->len != 1)
    return cleave_argument_fail (error, "expected one MODEL.onnx, found %u files",
                                 request->files->len);
  return check_options (request, o, error);
}

/* Writes a page about the model alone. Returns the exit status. */
static int
show_model (const char *path, const Options *o, GError **error)
{
  g_autoptr (CleaveGraph) graph = cleave_model_load (path, &o->model, error);

  return graph != NULL && cleave_page_write (graph, graph, NULL, 0, error) ? CLEAVE_DONE
                                                                           : CLEAVE_WRONG;
}

/* Runs the command split or fit with the options of this command line; that command writes the
 * page. Returns the exit status. */
static int
show_change (const Request *request, const Options *o, GError **error)
{
  g_autoptr (GPtrArray) argv = g_ptr_array_new_with_free_func (g_free);
  gboolean is_split = request->kind == SHOW_SPLIT;

  g_ptr_array_add (argv, g_strdup (is_split ? "split" : "fit"));
  for (guint i = 0; i < request->options->len; i++)
    {
      const CleaveArgument *option = get_option (request, i);
      const char *name = option->entry->long_name;

      if (!g_strv_contains (of_page, name) || (!is_split && g_str_equal (name, "threads")))
        g_ptr_array_add (argv, g_strconcat ("--", name, option->value == NULL ? NULL : "=",
                                            option->value, NULL));
    }
  g_ptr_array_add (argv, g_strdup ("--"));
  g_ptr_array_add (argv, g_strdup (request->files->pdata[0]));
  g_ptr_array_add (argv, NULL);
  return (is_split ? cleave_cmd_split : cleave_cmd_fit) ((int) argv->len - 1, (char **) argv->pdata,
                                                         error);
}

/* Returns the command as text for the page. */
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
  Options o = { 0 };
  g_auto (Request) request = { 0 };
  g_autofree char *command = dup_command (argv);
  CleavePageRequest page = { .command = command };
  int status;

  if (!parse (argc, argv, &o, &request, error))
    return CLEAVE_WRONG;
  page.path = o.path;
  page.n_threads = (guint) o.n_threads;
  page.with_times = !o.no_times;
  page.with_frontier = o.frontier;
  cleave_page_set_request (&page);
  status = request.kind == SHOW_MODEL ? show_model (request.files->pdata[0], &o, error)
                                      : show_change (&request, &o, error);
  cleave_page_set_request (NULL);
  return status;
}
