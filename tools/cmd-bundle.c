/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave bundle`: writes a model as plain C99 for a small device.
 *
 * Over 400 lines: this file has the options of the command, their checks and the two reports. */

#include "arguments.h"
#include "bundle-check.h"
#include "bundle-files.h"
#include "commands.h"
#include "dynamic.h"
#include "json.h"
#include "model.h"
#include "output-names.h"
#include "sizes.h"

#include <stdio.h>
#include <string.h>

typedef struct
{
  CleaveModelOptions model;
  char *max_memory, *macs, *name, *align, *io_type, *kernels, *weights;
  char **inputs, **outputs, **memories, **states;
  const char *folder; /* folder of the bundle, a value of -o; NULL: none */
  gboolean single_file, check, verbose, as_json;
} Options;

/* Returns whether a value of --output selects the memory of an output, such as "apart" or
 * "NAME=apart". Any other value is the folder. */
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

/* Fails if options contradict each other, or if no option requests a folder, a check or a
 * report. */
static gboolean
check_together (const Options *o, GError **error)
{
  if (o->folder == NULL && !o->check && !o->verbose && !o->as_json)
    return cleave_argument_fail (error,
                                 "expected -o FOLDER, or --check, --verbose or --json to write "
                                 "nothing");
  if (o->check && g_strcmp0 (o->kernels, "dsp") == 0)
    return cleave_argument_fail (error,
                                 "--check runs the bundle on this machine, which lacks the DSP "
                                 "instructions of ARM; check with --kernels c, whose bits are the "
                                 "same");
  if (o->check && g_strcmp0 (o->kernels, "cmsis-nn") == 0)
    return cleave_argument_fail (error, "--check compiles the bundle without CMSIS-NN; check with "
                                        "--kernels c, whose bits are the same");
  return TRUE;
}

/* Fails if the folder has the name of a file, or cannot be made. */
static gboolean
check_folder (const Options *o, GError **error)
{
  if (o->folder != NULL &&
      (g_str_has_suffix (o->folder, ".c") || g_str_has_suffix (o->folder, ".h")))
    return cleave_argument_fail (
        error, "-o names the folder of the C files, not '%s'; --name names the files", o->folder);
  return cleave_output_name_check_folder (o->folder, error);
}

/* Reads the command line into `o`, without checks of values. Returns the files. */
static char **
read_arguments (int argc, char **argv, Options *o, GError **error)
{
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_STRING_ARRAY, &o->outputs,
      "write the C files into this folder; or, given again, place an output in the arena (default) "
      "or apart",
      "FOLDER|[NAME=]arena|apart" },
    { "max-memory", 0, 0, G_OPTION_ARG_STRING, &o->max_memory,
      "limit the bytes of the arena (default: as few as possible)", "SIZE" },
    { "memory", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->memories,
      "divide the arena among memories of the device; give the fastest memory first", "NAME=SIZE" },
    { "max-added-macs", 0, 0, G_OPTION_ARG_STRING, &o->macs,
      "limit the MACs that recomputed columns add to the model (default: 0)", "PERCENT" },
    { "input", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->inputs,
      "place an input in the arena (default), apart (the caller passes a pointer), or rows (a "
      "function of the caller supplies it row by row); without NAME, all inputs",
      "[NAME=]arena|apart|rows" },
    { "io-type", 0, 0, G_OPTION_ARG_STRING, &o->io_type,
      "pass inputs and outputs as int8 (without conversions at the ends), as float, or as in the "
      "model (default)",
      "int8|float|model" },
    { "state", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->states,
      "keep an output for the next run as an input (default OUTPUT: INPUT_next); \"all\": all such "
      "pairs (default for .tflite), \"none\": no input",
      "INPUT[=OUTPUT]|all|none" },
    { "kernels", 0, 0, G_OPTION_ARG_STRING, &o->kernels,
      "write kernels in c, with dsp instructions of ARM, or for any processor (default); cmsis-nn "
      "calls CMSIS-NN for layers that fit into the arena whole",
      "any|c|dsp|cmsis-nn" },
    { "weights", 0, 0, G_OPTION_ARG_STRING, &o->weights,
      "write constants as C source (default), or as an assembler file that becomes an object "
      "faster",
      "source|object" },
    { "single-file", 0, 0, G_OPTION_ARG_NONE, &o->single_file,
      "write one C file with tables, constants and kernels, and its header", NULL },
    { "align", 0, 0, G_OPTION_ARG_STRING, &o->align,
      "align the arena and its values to 4, 8 or 16 bytes (default: 4)", "BYTES" },
    { "name", 0, 0, G_OPTION_ARG_STRING, &o->name,
      "set the prefix of files, functions and macros (default: the model's file name)", "NAME" },
    { "check", 0, 0, G_OPTION_ARG_NONE, &o->check,
      "compile the bundle with cc for this machine, run it, compare bits, and print sizes", NULL },
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

  return cleave_argument_parse (&arguments, argc, argv, error);
}

static char **
parse (int argc, char **argv, Options *o, GError **error)
{
  g_auto (GStrv) files = read_arguments (argc, argv, o, error);

  if (files == NULL || !find_folder (o, error) || !check_together (o, error) ||
      !check_folder (o, error))
    return NULL;
  return g_steal_pointer (&files);
}

/* The functions below fill the options of the library. */

static void
add_text (GStrvBuilder *texts, const char *option, const char *value)
{
  g_autofree char *text = value == NULL ? NULL : g_strdup_printf ("%s=%s", option, value);

  if (text != NULL)
    g_strv_builder_add (texts, text);
}

static void
add_texts (GStrvBuilder *texts, const char *option, char *const *values, const char *except)
{
  for (guint i = 0; values != NULL && values[i] != NULL; i++)
    if (values[i] != except)
      add_text (texts, option, values[i]);
}

/* Adds the states that the options name. Without options, the variables of a TensorFlow Lite model
 * are the states. */
static void
add_states (GStrvBuilder *texts, const Options *o, const char *path)
{
  if (o->states == NULL && g_str_has_suffix (path, ".tflite"))
    add_text (texts, "state", "all");
  for (guint i = 0; o->states != NULL && o->states[i] != NULL; i++)
    if (strcmp (o->states[i], "none") != 0)
      add_text (texts, "state", o->states[i]);
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

/* If a bundle fails because the graph is split already, adds to the error that `bundle` needs the
 * unsplit graph. */
static void
explain_cut (GError *error)
{
  char *message;

  if (strstr (error->message, "Assemble '") == NULL)
    return;
  message =
      g_strconcat ("the model was split before; bundle the unsplit model, which cleave bundle "
                   "cuts itself: ",
                   error->message, NULL);
  g_free (error->message);
  error->message = message;
}

/* Prints a note if the pass fuse-quantized would make integer nodes of the graph, which need less
 * memory than floats. */
static void
note_floats (const CleaveGraph *graph)
{
  g_autoptr (CleavePipeline) pass = cleave_pipeline_parse ("fuse-quantized", NULL);
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  gboolean is_changed = FALSE;

  if (cleave_pipeline_run (pass, copy, NULL, NULL, &is_changed, NULL) && is_changed)
    g_printerr ("cleave: note: some nodes compute floats from quantized weights. For less memory, "
                "make integer nodes first: cleave opt MODEL --passes "
                "simplify,fuse-quantized,clean-up -o BYTES.onnx\n");
}

static CleaveBundle *
make_bundle (const char *path, const Options *o, GError **error)
{
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) texts = NULL;
  g_autofree char *name = o->name != NULL ? g_strdup (o->name) : find_name (path);
  CleaveBundle *bundle;

  add_text (builder, "name", name);
  add_text (builder, "max-memory", o->max_memory);
  add_text (builder, "max-added-macs", o->macs);
  add_text (builder, "align", o->align);
  add_text (builder, "io-type", o->io_type);
  add_text (builder, "kernels", o->kernels);
  add_text (builder, "weights", o->weights);
  add_texts (builder, "input", o->inputs, NULL);
  add_texts (builder, "output", o->outputs, o->folder);
  add_texts (builder, "memory", o->memories, NULL);
  add_states (builder, o, path);
  if (o->single_file)
    g_strv_builder_add (builder, "single-file");
  texts = g_strv_builder_end (builder);
  graph = cleave_model_load (path, &o->model, error);
  bundle = graph == NULL ? NULL
                         : cleave_bundle_new_from_texts (graph, (const char *const *) texts, error);
  if (bundle != NULL)
    {
      cleave_dynamic_warn_left_out (graph);
      note_floats (graph);
    }
  else if (graph != NULL)
    explain_cut (*error);
  return bundle;
}

/* The functions below print the report. */

/* Returns the names of the memories that the options define, such as "fast" and "slow". */
static GStrv
list_memories (const Options *o)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();

  for (guint i = 0; o->memories != NULL && o->memories[i] != NULL; i++)
    {
      g_autofree char *name = NULL;
      const char *size;

      cleave_argument_pair (o->memories[i], &name, &size);
      if (name != NULL)
        g_strv_builder_add (names, name);
    }
  return g_strv_builder_end (names);
}

static void
print_memories (const CleaveBundle *bundle, const Options *o, CleaveJson *json)
{
  g_auto (GStrv) names = list_memories (o);

  if (names[0] == NULL)
    return;
  if (json != NULL)
    cleave_json_begin (json, "memory_bytes");
  for (guint i = 0; names[i] != NULL; i++)
    if (json != NULL)
      cleave_json_int (json, names[i], cleave_bundle_get_memory_bytes (bundle, names[i]));
    else
      printf ("memory   %" G_GINT64_FORMAT " bytes in %s\n",
              cleave_bundle_get_memory_bytes (bundle, names[i]), names[i]);
  if (json != NULL)
    cleave_json_end (json);
}

/* Prints the sizes that a check measured. */
static void
print_check (const CleaveBundleCheck *check)
{
  puts (check->status == 0   ? "check    same bits as cleave run"
        : check->status == 1 ? "check    an output differs from that of cleave run"
                             : "check    the bundle wrote outside of its arena");
  printf ("compiler %s\n", check->compiler);
  printf ("stack    %" G_GINT64_FORMAT " bytes of a run, on this machine\n", check->stack_bytes);
  if (check->code_bytes < 0)
    puts ("code     unknown: this machine has no program `size` (GNU binutils)");
  else
    printf ("code     %" G_GINT64_FORMAT " bytes, on this machine\n"
            "tables   %" G_GINT64_FORMAT " bytes, on this machine\n",
            check->code_bytes, check->table_bytes);
}

static void
print_json_check (const CleaveBundleCheck *check, CleaveJson *json)
{
  cleave_json_bool (json, "equal", check->status == 0);
  cleave_json_string (json, "compiler", check->compiler);
  cleave_json_int (json, "stack_bytes", check->stack_bytes);
  if (check->code_bytes >= 0)
    {
      cleave_json_int (json, "code_bytes", check->code_bytes);
      cleave_json_int (json, "table_bytes", check->table_bytes);
    }
}

static void
print_json (const CleaveBundle *bundle,
            const CleaveBundleStats *stats,
            const Options *o,
            const CleaveBundleCheck *check)
{
  g_autoptr (CleaveJson) json = cleave_json_new ();

  cleave_json_begin (json, NULL);
  cleave_json_int (json, "arena_bytes", stats->arena_bytes);
  cleave_json_int (json, "unsplit_arena_bytes", stats->unsplit_bytes);
  cleave_json_int (json, "weight_bytes", stats->weight_bytes);
  cleave_json_int (json, "macs", stats->macs);
  cleave_json_int (json, "layers", stats->n_layers);
  cleave_json_int (json, "loops", stats->n_segments);
  if (stats->state_bytes > 0)
    cleave_json_int (json, "state_bytes", stats->state_bytes);
  if (g_strcmp0 (o->kernels, "cmsis-nn") == 0)
    {
      cleave_json_int (json, "cmsis_nn_layers", stats->n_calls);
      cleave_json_int (json, "context_bytes", stats->context_bytes);
    }
  print_memories (bundle, o, json);
  if (o->check)
    print_json_check (check, json);
  cleave_json_print (json);
}

static void
print_text (const CleaveBundle *bundle, const CleaveBundleStats *stats, const Options *o)
{
  g_autofree char *unsplit = cleave_size_to_print (stats->unsplit_bytes);
  g_autofree char *weights = cleave_size_to_print (stats->weight_bytes);

  printf ("arena    %" G_GINT64_FORMAT " bytes (%s if each layer is whole)\n", stats->arena_bytes,
          unsplit);
  print_memories (bundle, o, NULL);
  if (stats->state_bytes > 0)
    printf ("state    %" G_GINT64_FORMAT " bytes, kept from run to run\n", stats->state_bytes);
  printf ("weights  %" G_GINT64_FORMAT " bytes of constants (%s)\n", stats->weight_bytes, weights);
  printf ("MACs     %" G_GINT64_FORMAT "\n", stats->macs);
  printf ("layers   %u in %u loop%s\n", stats->n_layers, stats->n_segments,
          stats->n_segments == 1 ? "" : "s");
  if (g_strcmp0 (o->kernels, "cmsis-nn") == 0)
    printf ("cmsis-nn %u layer%s; context buffers of up to %" G_GINT64_FORMAT
            " bytes in the arena\n",
            stats->n_calls, stats->n_calls == 1 ? "" : "s", stats->context_bytes);
}

/* Prints a note with the layers that do not call CMSIS-NN, and the reasons. */
static void
print_kept (const CleaveBundleStats *stats)
{
  guint n_small = stats->n_larger_calls, n_other = stats->n_no_calls;

  if (n_small > 0)
    g_printerr (
        "cleave: note: %u layer%s would call CMSIS-NN in a larger arena: give --max-memory, "
        "up to %" G_GINT64_FORMAT " bytes and the context buffers. CMSIS-NN has no function "
        "with the same bits for %u other layer%s.\n",
        n_small, n_small == 1 ? "" : "s", stats->unsplit_bytes, n_other, n_other == 1 ? "" : "s");
  else if (n_other > 0)
    g_printerr ("cleave: note: CMSIS-NN has no function with the same bits for %u layer%s.\n",
                n_other, n_other == 1 ? "" : "s");
}

static int
report (const CleaveBundle *bundle, const Options *o, const CleaveBundleCheck *check)
{
  CleaveBundleStats stats;

  cleave_bundle_get_stats (bundle, &stats);
  if (o->as_json)
    print_json (bundle, &stats, o, check);
  else
    print_text (bundle, &stats, o);
  if (g_strcmp0 (o->kernels, "cmsis-nn") == 0)
    print_kept (&stats);
  if (o->verbose && !o->as_json)
    {
      g_autofree char *plan = cleave_bundle_print (bundle);

      fputs (plan, stdout);
    }
  if (o->check && !o->as_json)
    print_check (check);
  return check->status == 0 ? CLEAVE_DONE : CLEAVE_NO;
}

int
cleave_cmd_bundle (int argc, char **argv, GError **error)
{
  Options o = { 0 };
  g_auto (GStrv) files = parse (argc, argv, &o, error);
  g_autoptr (CleaveBundle) bundle = files == NULL ? NULL : make_bundle (files[0], &o, error);
  g_autoptr (GHashTable) texts = NULL;
  g_auto (CleaveBundleCheck) check = { 0 };
  CleaveBundleStats stats;

  if (bundle == NULL)
    return CLEAVE_WRONG;
  if (o.folder != NULL || o.check)
    {
      cleave_bundle_get_stats (bundle, &stats);
      texts = cleave_bundle_dup_files (bundle, error);
      if (texts == NULL ||
          (o.check && !cleave_bundle_check (texts, stats.weight_bytes, &check, error)) ||
          (o.folder != NULL && !cleave_bundle_files_write (texts, o.folder, error)))
        return CLEAVE_WRONG;
    }
  return report (bundle, &o, &check);
}
