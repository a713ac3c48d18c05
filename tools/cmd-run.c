/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "arguments.h"
#include "commands.h"
#include "execute.h"
#include "json.h"
#include "model.h"
#include "npy.h"
#include "outputs.h"
#include "times.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

typedef struct
{
  CleaveModelOptions model;
  char **inputs;
  char *seed_text, *threads_text, *repeat_text, *folder, *trace;
  gboolean as_is, as_json, with_profile;
  gint64 seed, n_threads, repeat;
} Options;

static void
options_clear (Options *options)
{
  cleave_model_options_clear (&options->model);
  g_strfreev (options->inputs);
  g_free (options->seed_text);
  g_free (options->threads_text);
  g_free (options->repeat_text);
  g_free (options->folder);
  g_free (options->trace);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static char **
parse (int argc, char **argv, Options *o, GError **error)
{
  const GOptionEntry entries[] = {
    { "input", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->inputs, "Take an input from a .npy or .pb file",
      "NAME=FILE" },
    { "seed", 0, 0, G_OPTION_ARG_STRING, &o->seed_text, "Seed of the inputs that are not given (0)",
      "N" },
    { "output-dir", 0, 0, G_OPTION_ARG_FILENAME, &o->folder, "Write each output as NAME.npy",
      "DIR" },
    { "trace", 0, 0, G_OPTION_ARG_FILENAME, &o->trace,
      "Write when each step of the fastest run ran, for Perfetto or Chromium", "FILE.json" },
    { "threads", 0, 0, G_OPTION_ARG_STRING, &o->threads_text, "Number of threads (all cores)",
      "T" },
    { "repeat", 0, 0, G_OPTION_ARG_STRING, &o->repeat_text, "Run so many times (1)", "R" },
    { "as-is", 0, 0, G_OPTION_ARG_NONE, &o->as_is, "Do not split the graph for the threads first",
      NULL },
    { "profile", 0, 0, G_OPTION_ARG_NONE, &o->with_profile, "Tell which steps take the time",
      NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &o->as_json, "Print one JSON object", NULL },
    CLEAVE_MODEL_OPTIONS (o->model),
    G_OPTION_ENTRY_NULL,
  };
  g_auto (GStrv) files =
      cleave_argument_parse (argc, argv, entries, "MODEL.onnx", "Runs a model here.", 1, error);

  o->n_threads = g_get_num_processors ();
  o->repeat = 1;
  if (files == NULL ||
      (o->seed_text != NULL &&
       !cleave_text_to_int ("--seed", o->seed_text, 0, G_MAXINT64, &o->seed, error)) ||
      (o->threads_text != NULL &&
       !cleave_text_to_int ("--threads", o->threads_text, 1, 1024, &o->n_threads, error)) ||
      (o->repeat_text != NULL &&
       !cleave_text_to_int ("--repeat", o->repeat_text, 1, 1000000, &o->repeat, error)))
    return NULL;
  return g_steal_pointer (&files);
}

/* Outputs */

/* The sum over the bytes in row-major order, that of equal tensors being the same. */
static char *
dup_sha256 (CleaveTensor *tensor)
{
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_canonical (tensor);

  return g_compute_checksum_for_data (
      G_CHECKSUM_SHA256, cleave_tensor_get_data (dense),
      (gsize) cleave_tensor_type_n_bytes (cleave_tensor_get_type (dense)));
}

static char *
make_path (const char *folder, const char *name)
{
  g_autofree char *file = g_strconcat (name, ".npy", NULL);

  for (char *c = file; *c != '\0'; c++)
    if (!g_ascii_isalnum (*c) && strchr ("._-", *c) == NULL)
      *c = '_';
  return g_build_filename (folder, file, NULL);
}

static gboolean
write_trace (const char *path, const char *trace, GError **error)
{
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();
  g_autoptr (GBytes) bytes = g_bytes_new (trace, trace == NULL ? 0 : strlen (trace));

  return cleave_outputs_add_bytes (outputs, path, bytes, error) &&
         cleave_outputs_commit (outputs, error);
}

static gboolean
write_outputs (const CleaveExecution *e, const char *folder, GError **error)
{
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();

  if (g_mkdir_with_parents (folder, 0777) != 0)
    return cleave_argument_fail (error, "cannot make the folder '%s'", folder);
  for (guint i = 0; i < e->outputs->len; i++)
    {
      g_autofree char *path = make_path (folder, e->names[i]);
      g_autoptr (GBytes) bytes = cleave_npy_serialize (e->outputs->pdata[i]);

      if (!cleave_outputs_add_bytes (outputs, path, bytes, error))
        return FALSE;
    }
  return cleave_outputs_commit (outputs, error);
}

/* `whole_peak` is that of the model unsplit; -1: it is run as it is. */
static void
print_json (const CleaveExecution *e, gint64 repeat, gint64 whole_peak)
{
  g_autoptr (CleaveJson) json = cleave_json_new ();
  g_autofree char *text = NULL;

  cleave_json_begin (json, NULL);
  cleave_json_int (json, "threads", e->stats.n_threads);
  cleave_json_int (json, "repeat", repeat);
  cleave_json_begin (json, "latency_ms");
  cleave_json_double (json, "min", e->min_ms);
  cleave_json_double (json, "median", e->median_ms);
  cleave_json_end (json);
  cleave_json_int (json, "peak_activation_bytes", e->stats.peak_activation_bytes);
  if (whole_peak >= 0)
    cleave_json_int (json, "peak_activation_bytes_as_is", whole_peak);
  cleave_json_string (json, "convention", CLEAVE_MEMORY_CONVENTION);
  cleave_json_int (json, "arena_bytes", e->stats.arena_bytes);
  cleave_json_int (json, "scratch_bytes", e->stats.scratch_bytes);
  cleave_json_int (json, "weight_bytes", e->stats.weight_bytes);
  cleave_json_int (json, "copied_bytes", e->stats.copied_bytes);
  cleave_json_int (json, "nodes", e->stats.n_nodes);
  if (e->profile != NULL)
    cleave_profile_print_json (e->profile, json);
  cleave_json_begin_list (json, "outputs");
  for (guint i = 0; i < e->outputs->len; i++)
    {
      g_autofree char *sum = dup_sha256 (e->outputs->pdata[i]);

      cleave_json_begin (json, NULL);
      cleave_json_string (json, "name", e->names[i]);
      cleave_json_type (json, cleave_tensor_get_type (e->outputs->pdata[i]));
      cleave_json_string (json, "sha256", sum);
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
  cleave_json_end (json);
  text = cleave_json_to_string (json);
  fputs (text, stdout);
}

static void
print_text (const CleaveExecution *e, gint64 repeat, gint64 whole_peak)
{
  printf ("threads   %u\nnodes     %u\n", e->stats.n_threads, e->stats.n_nodes);
  printf ("latency   %.3f ms least, %.3f ms median of %" G_GINT64_FORMAT "\n", e->min_ms,
          e->median_ms, repeat);
  printf ("peak      %" G_GINT64_FORMAT " bytes (%s)\n", e->stats.peak_activation_bytes,
          CLEAVE_MEMORY_CONVENTION);
  if (whole_peak >= 0)
    printf ("as it is  %" G_GINT64_FORMAT " bytes at the peak, unsplit\n", whole_peak);
  printf ("arena     %" G_GINT64_FORMAT " bytes for %u threads; scratch %" G_GINT64_FORMAT
          ", weights %" G_GINT64_FORMAT "\n",
          e->stats.arena_bytes, e->stats.n_threads, e->stats.scratch_bytes, e->stats.weight_bytes);
  printf ("copied    %" G_GINT64_FORMAT " bytes by one run\n", e->stats.copied_bytes);
  if (e->profile != NULL)
    cleave_profile_print (e->profile);
  for (guint i = 0; i < e->outputs->len; i++)
    {
      g_autofree char *sum = dup_sha256 (e->outputs->pdata[i]);
      g_autofree char *type =
          cleave_tensor_type_to_string (cleave_tensor_get_type (e->outputs->pdata[i]));

      printf ("output    %s: %s sha256 %s\n", e->names[i], type, sum);
    }
}

int
cleave_cmd_run (int argc, char **argv, GError **error)
{
  g_auto (Options) o = { 0 };
  g_auto (GStrv) files = parse (argc, argv, &o, error);
  g_autoptr (CleaveGraph) graph =
      files == NULL ? NULL : cleave_model_load (files[0], &o.model, error);
  g_autoptr (GPtrArray) inputs =
      graph == NULL ? NULL : cleave_make_inputs (graph, o.inputs, (guint64) o.seed, error);
  g_auto (CleaveExecution)
      execution = { .wants_trace = o.trace != NULL, .wants_profile = o.with_profile };
  guint n_threads = (guint) o.n_threads;
  gint64 whole_peak = -1;

  if (inputs == NULL ||
      (n_threads > 1 && !o.as_is && !cleave_split_to_run (graph, &n_threads, &whole_peak, error)) ||
      !cleave_execute_take (g_steal_pointer (&graph), inputs, n_threads, (guint) o.repeat,
                            &execution, error) ||
      (o.folder != NULL && !write_outputs (&execution, o.folder, error)) ||
      (o.trace != NULL && !write_trace (o.trace, execution.trace, error)))
    return CLEAVE_WRONG;
  if (o.as_json)
    print_json (&execution, o.repeat, whole_peak);
  else
    print_text (&execution, o.repeat, whole_peak);
  return CLEAVE_DONE;
}
