/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave compile`: compiles a model to a program and saves the program, which `cleave run` loads.
 */

#include "arguments.h"
#include "commands.h"
#include "convention.h"
#include "dynamic.h"
#include "execute.h"
#include "json.h"
#include "model.h"
#include "output-names.h"
#include "outputs.h"
#include "sizes.h"

#include <glib/gstdio.h>
#include <stdio.h>

typedef struct
{
  CleaveModelOptions model;
  char *threads_text, *output;
  gboolean as_is, as_json;
  gint64 n_threads;
} Options;

static char **
parse (int argc, char **argv, Options *o, GError **error)
{
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &o->output, "write the program to this file",
      "PROGRAM.plan" },
    CLEAVE_THREADS_OPTION (o->threads_text, "the program"),
    { "as-is", 0, 0, G_OPTION_ARG_NONE, &o->as_is,
      "with --threads: do not split the graph for the threads first", NULL },
    CLEAVE_BYTES_OPTION,
    { "json", 0, 0, G_OPTION_ARG_NONE, &o->as_json, "print one JSON object", NULL },
    CLEAVE_MODEL_OPTIONS (o->model),
    CLEAVE_FORCE_OPTION (o->model),
    G_OPTION_ENTRY_NULL,
  };
  static const CleaveArgumentNeed needs[] = { { "as-is", { "threads" } }, { 0 } };
  const CleaveArguments arguments = {
    entries, needs, "MODEL.onnx",
    "Compile a model to a program and save it. 'cleave run' maps the "
    "saved program,\nwithout a search and without packing weights.",
    1
  };
  g_auto (GStrv) files = cleave_argument_parse (&arguments, argc, argv, error);

  if (files == NULL || !cleave_argument_threads (o->threads_text, &o->n_threads, error))
    return NULL;
  if (o->output == NULL || cleave_standard_is (o->output))
    return cleave_argument_fail (error, "-o PROGRAM" CLEAVE_PROGRAM_SUFFIX
                                        " is missing: name the file for the program"),
           NULL;
  if (!cleave_output_name_check (o->output, "save a program", CLEAVE_PROGRAM_SUFFIX, error))
    return NULL;
  return g_steal_pointer (&files);
}

static void
print_json (const CleaveProgramStats *stats, gint64 file_bytes)
{
  g_autoptr (CleaveJson) json = cleave_json_new ();

  cleave_json_begin (json, NULL);
  cleave_json_int (json, "threads", stats->n_threads);
  cleave_json_int (json, "nodes", stats->n_nodes);
  cleave_json_int (json, "peak_activation_bytes", stats->peak_activation_bytes);
  cleave_json_string (json, "convention", CLEAVE_MEMORY_CONVENTION);
  cleave_json_int (json, "arena_bytes", stats->arena_bytes);
  cleave_json_int (json, "scratch_bytes", stats->scratch_bytes);
  cleave_json_int (json, "weight_bytes", stats->weight_bytes);
  cleave_json_int (json, "file_bytes", file_bytes);
  cleave_json_print (json);
}

static void
print_text (const CleaveProgramStats *stats, gint64 file_bytes)
{
  g_autofree char *peak = cleave_size_to_print (stats->peak_activation_bytes);
  g_autofree char *arena = cleave_size_to_print (stats->arena_bytes);
  g_autofree char *scratch = cleave_size_to_print (stats->scratch_bytes);
  g_autofree char *weights = cleave_size_to_print (stats->weight_bytes);
  g_autofree char *file = cleave_size_to_print (file_bytes);

  printf ("threads   %u\nnodes     %u\n", stats->n_threads, stats->n_nodes);
  printf ("peak      %s of " CLEAVE_CONVENTION_NAME "\n", peak);
  printf ("arena     %s for %u thread%s; scratch %s, weights %s\n", arena, stats->n_threads,
          stats->n_threads == 1 ? "" : "s", scratch, weights);
  printf ("file      %s\n", file);
}

/* Reports on the file that was written, by loading it again. */
static gboolean
report (const Options *o, GError **error)
{
  g_autoptr (CleaveProgram) program = cleave_program_load (o->output, NULL, FALSE, NULL, error);
  CleaveProgramStats stats;
  GStatBuf info;

  if (program == NULL)
    return FALSE;
  cleave_program_get_stats (program, &stats);
  if (g_stat (o->output, &info) != 0)
    return cleave_argument_fail (error, "cannot read '%s'", o->output);
  if (o->as_json)
    print_json (&stats, info.st_size);
  else
    print_text (&stats, info.st_size);
  return TRUE;
}

int
cleave_cmd_compile (int argc, char **argv, GError **error)
{
  Options o = { .model.has_dynamic = TRUE };
  g_auto (GStrv) files = parse (argc, argv, &o, error);
  g_autoptr (CleaveGraph) graph =
      files == NULL ? NULL : cleave_model_load (files[0], &o.model, error);
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();
  guint n_threads = (guint) o.n_threads;
  CleaveProgramOptions options = { 0 };

  if (graph == NULL ||
      !cleave_dynamic_refuse (graph, "a saved program cannot have them: use cleave run", error) ||
      (!o.as_is && !cleave_split_to_run (graph, &n_threads, error)))
    return CLEAVE_WRONG;
  options.n_threads = n_threads;
  return cleave_outputs_add_program (outputs, o.output, graph, &options, error) &&
                 cleave_outputs_commit (outputs, error) && report (&o, error)
             ? CLEAVE_DONE
             : CLEAVE_WRONG;
}
