/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave bundle`: writes a model as plain C99 for a small device. */

#include "arguments.h"
#include "commands.h"
#include "json.h"
#include "model.h"
#include "outputs.h"
#include "sizes.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

typedef struct
{
  CleaveModelOptions model;
  char *memory, *macs, *name, *align;
  char **inputs, **outputs;
  const char *folder; /* the value of -o that is a folder; NULL: none */
  gboolean check, verbose, as_json;
} Options;

static void
options_clear (Options *o)
{
  cleave_model_options_clear (&o->model);
  g_free (o->memory);
  g_free (o->macs);
  g_free (o->name);
  g_free (o->align);
  g_strfreev (o->inputs);
  g_strfreev (o->outputs);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* Returns whether the value of --output places an output: a place, or a name and a place. */
static gboolean
is_place (const char *text)
{
  return strcmp (text, "arena") == 0 || strcmp (text, "apart") == 0 ||
         g_str_has_suffix (text, "=arena") || g_str_has_suffix (text, "=apart") ||
         g_str_has_suffix (text, "=rows");
}

/* Finds the value of --output that is the folder. */
static gboolean
find_folder (Options *o, GError **error)
{
  for (guint i = 0; o->outputs != NULL && o->outputs[i] != NULL; i++)
    {
      if (is_place (o->outputs[i]))
        continue;
      if (o->folder != NULL)
        return cleave_argument_fail (error, "--output has two folders, '%s' and '%s'", o->folder,
                                     o->outputs[i]);
      o->folder = o->outputs[i];
    }
  return TRUE;
}

static char **
parse (int argc, char **argv, Options *o, GError **error)
{
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_STRING_ARRAY, &o->outputs,
      "write the C files into this folder; or, given again, place an output in the arena (default) "
      "or apart",
      "FOLDER|[NAME=]arena|apart" },
    { "max-memory", 0, 0, G_OPTION_ARG_STRING, &o->memory,
      "limit the bytes of the arena (default: as few as possible)", "SIZE" },
    { "max-added-macs", 0, 0, G_OPTION_ARG_STRING, &o->macs,
      "limit the MACs that recomputed columns add to the model (default: 0)", "PERCENT" },
    { "input", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->inputs,
      "place an input in the arena (default), apart (the caller passes a pointer), or rows (a "
      "function of the caller supplies it row by row); without NAME, all inputs",
      "[NAME=]arena|apart|rows" },
    { "align", 0, 0, G_OPTION_ARG_STRING, &o->align,
      "align the arena and its values to 4, 8 or 16 bytes (default: 4)", "BYTES" },
    { "name", 0, 0, G_OPTION_ARG_STRING, &o->name,
      "set the prefix of files, functions and macros (default: the model's file name)", "NAME" },
    { "check", 0, 0, G_OPTION_ARG_NONE, &o->check,
      "compile the bundle with cc for this machine, run it, and compare bits", NULL },
    { "verbose", 'v', 0, G_OPTION_ARG_NONE, &o->verbose, "print the loops and their rings", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &o->as_json, "print one JSON object", NULL },
    CLEAVE_BYTES_OPTION,
    CLEAVE_MODEL_OPTIONS (o->model),
    CLEAVE_FORCE_OPTION (o->model),
    G_OPTION_ENTRY_NULL,
  };
  static const CleaveArgumentNeed needs[] = { { "force", { "output" } }, { 0 } };
  const CleaveArguments arguments = { entries, needs, "MODEL",
                                      "Write a model as plain C99 for a small device: constant "
                                      "weights, one arena of an\nexact size, the bits of cleave "
                                      "run. The files are licensed 0BSD.",
                                      1 };
  g_auto (GStrv) files = cleave_argument_parse (&arguments, argc, argv, error);

  if (files != NULL && !find_folder (o, error))
    return NULL;
  if (files != NULL && o->folder == NULL && !o->check && !o->verbose && !o->as_json)
    return cleave_argument_fail (error,
                                 "expected -o FOLDER, or --check, --verbose or --json to write "
                                 "nothing"),
           NULL;
  return g_steal_pointer (&files);
}

/* Places */

static gboolean
parse_place (const char *option, const char *text, CleaveBundleIo *io, char **name, GError **error)
{
  static const struct
  {
    const char *word;
    CleaveBundleWhere where;
  } words[] = { { "arena", CLEAVE_BUNDLE_IN_ARENA },
                { "apart", CLEAVE_BUNDLE_APART },
                { "rows", CLEAVE_BUNDLE_ROWS } };
  const char *word;

  cleave_argument_pair (text, name, &word);
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (word, words[i].word) == 0)
      {
        *io = (CleaveBundleIo){ *name, words[i].where };
        return TRUE;
      }
  return cleave_argument_fail (error, "%s expects arena, apart or rows, not '%s'", option, word);
}

/* Reads the places of inputs or outputs (CleaveBundleIo) from all texts but `folder`. The names are
 * added to `names`. */
static GArray *
parse_places (
    const char *option, char **texts, const char *folder, GPtrArray *names, GError **error)
{
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (CleaveBundleIo));

  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    {
      CleaveBundleIo io;
      char *name = NULL;

      if (texts[i] == folder)
        continue;
      if (!parse_place (option, texts[i], &io, &name, error))
        {
          g_free (name);
          return NULL;
        }
      if (name != NULL)
        g_ptr_array_add (names, name);
      g_array_append_val (places, io);
    }
  return g_steal_pointer (&places);
}

/* Returns the name of a file without folder and ending. */
static char *
find_name (const char *path)
{
  g_autofree char *base = g_path_get_basename (path);
  char *dot = strrchr (base, '.');

  if (dot != NULL && dot != base)
    *dot = '\0';
  return g_steal_pointer (&base);
}

static CleaveBundle *
make_bundle (const char *path, const Options *o, GError **error)
{
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) inputs = parse_places ("--input", o->inputs, NULL, names, error);
  g_autoptr (GArray) outputs =
      inputs == NULL ? NULL : parse_places ("--output", o->outputs, o->folder, names, error);
  g_autofree char *name = o->name != NULL ? g_strdup (o->name) : find_name (path);
  CleaveBundleOptions options = { .name = name, .max_added_macs = CLEAVE_NOTHING_ADDED };
  gint64 align = 0;

  if (outputs == NULL ||
      (o->memory != NULL &&
       !cleave_text_to_size ("--max-memory", o->memory, &options.max_memory, error)) ||
      (o->macs != NULL &&
       !cleave_text_to_max_added ("--max-added-macs", o->macs, &options.max_added_macs, error)) ||
      (o->align != NULL && !cleave_text_to_int ("--align", o->align, 4, 16, &align, error)))
    return NULL;
  options.align = (guint) align;
  options.inputs = (const CleaveBundleIo *) (gpointer) inputs->data;
  options.n_inputs = inputs->len;
  options.outputs = (const CleaveBundleIo *) (gpointer) outputs->data;
  options.n_outputs = outputs->len;
  graph = cleave_model_load (path, &o->model, error);
  return graph == NULL ? NULL : cleave_bundle_new (graph, &options, error);
}

/* Files */

static gboolean
write_files (GHashTable *files, const char *folder, GError **error)
{
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();
  GHashTableIter iter;
  gpointer name, text;

  if (g_mkdir_with_parents (folder, 0777) != 0)
    return cleave_argument_fail (error, "cannot make the folder '%s'", folder);
  g_hash_table_iter_init (&iter, files);
  while (g_hash_table_iter_next (&iter, &name, &text))
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));

      if (!cleave_outputs_add_bytes (outputs, path, bytes, error))
        return FALSE;
    }
  return cleave_outputs_commit (outputs, error);
}

static gboolean
run_program (const char *folder, const char *const *words, int *status, GError **error)
{
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);
  g_autoptr (GSubprocess) process = NULL;

  g_subprocess_launcher_set_cwd (launcher, folder);
  process = g_subprocess_launcher_spawnv (launcher, words, error);
  if (process == NULL || !g_subprocess_wait (process, NULL, error))
    return FALSE;
  *status = g_subprocess_get_if_exited (process) ? g_subprocess_get_exit_status (process) : -1;
  return TRUE;
}

/* Compiles all C files of a folder with the C compiler of this machine, and runs the program. */
static gboolean
compile_and_run (GHashTable *files, const char *folder, int *status, GError **error)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  const char *const run[] = { "./check", NULL };
  static const char *const flags[] = {
    "cc", "-std=c99", "-O2", "-ffp-contract=off", "-o", "check"
  };
  GHashTableIter iter;
  gpointer name;

  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    g_ptr_array_add (words, (gpointer) flags[i]);
  g_hash_table_iter_init (&iter, files);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    if (g_str_has_suffix (name, ".c"))
      g_ptr_array_add (words, name);
  g_ptr_array_add (words, (gpointer) "-lm");
  g_ptr_array_add (words, NULL);
  if (!run_program (folder, (const char *const *) words->pdata, status, error))
    return FALSE;
  if (*status != 0)
    return cleave_argument_fail (error, "cc could not compile the bundle");
  return run_program (folder, run, status, error);
}

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_unlink (path);
    }
  g_rmdir (folder);
}

/* Compiles and runs the bundle in a folder of its own. Sets the exit status of its test. */
static gboolean
check (GHashTable *files, int *status, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("cleave-bundle-XXXXXX", error);
  gboolean done;

  if (folder == NULL)
    return FALSE;
  done = write_files (files, folder, error) && compile_and_run (files, folder, status, error);
  remove_folder (folder);
  return done;
}

/* Reports */

static void
print_json (const CleaveBundleStats *stats, gboolean is_checked, gboolean is_equal)
{
  g_autoptr (CleaveJson) json = cleave_json_new ();
  g_autofree char *text = NULL;

  cleave_json_begin (json, NULL);
  cleave_json_int (json, "arena_bytes", stats->arena_bytes);
  cleave_json_int (json, "unsplit_arena_bytes", stats->unsplit_bytes);
  cleave_json_int (json, "weight_bytes", stats->weight_bytes);
  cleave_json_int (json, "macs", stats->macs);
  cleave_json_int (json, "layers", stats->n_layers);
  cleave_json_int (json, "loops", stats->n_segments);
  if (is_checked)
    cleave_json_bool (json, "equal", is_equal);
  cleave_json_end (json);
  text = cleave_json_to_string (json);
  fputs (text, stdout);
}

static void
print_text (const CleaveBundleStats *stats)
{
  g_autofree char *unsplit = cleave_size_to_print (stats->unsplit_bytes);
  g_autofree char *weights = cleave_size_to_print (stats->weight_bytes);

  printf ("arena    %" G_GINT64_FORMAT " bytes (%s if each layer is whole)\n", stats->arena_bytes,
          unsplit);
  printf ("weights  %s of constants\n", weights);
  printf ("MACs     %" G_GINT64_FORMAT "\n", stats->macs);
  printf ("layers   %u in %u loop%s\n", stats->n_layers, stats->n_segments,
          stats->n_segments == 1 ? "" : "s");
}

static int
report (const CleaveBundle *bundle, const Options *o, int status)
{
  CleaveBundleStats stats;

  cleave_bundle_get_stats (bundle, &stats);
  if (o->as_json)
    print_json (&stats, o->check, status == 0);
  else
    print_text (&stats);
  if (o->verbose && !o->as_json)
    {
      g_autofree char *plan = cleave_bundle_print (bundle);

      fputs (plan, stdout);
    }
  if (o->check && !o->as_json)
    puts (status == 0   ? "check    same bits as cleave run"
          : status == 1 ? "check    an output differs from that of cleave run"
                        : "check    the bundle wrote outside of its arena");
  return status == 0 ? CLEAVE_DONE : CLEAVE_NO;
}

int
cleave_cmd_bundle (int argc, char **argv, GError **error)
{
  g_auto (Options) o = { 0 };
  g_auto (GStrv) files = parse (argc, argv, &o, error);
  g_autoptr (CleaveBundle) bundle = files == NULL ? NULL : make_bundle (files[0], &o, error);
  g_autoptr (GHashTable) texts = NULL;
  int status = 0;

  if (bundle == NULL)
    return CLEAVE_WRONG;
  if (o.folder != NULL || o.check)
    {
      texts = cleave_bundle_dup_files (bundle, error);
      if (texts == NULL || (o.check && !check (texts, &status, error)) ||
          (o.folder != NULL && !write_files (texts, o.folder, error)))
        return CLEAVE_WRONG;
    }
  return report (bundle, &o, status);
}
