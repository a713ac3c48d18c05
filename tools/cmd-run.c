/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave run`: runs a model or a saved program, on this machine or on the ranks of MPI. */

#include "arguments.h"
#include "commands.h"
#include "convention.h"
#include "execute.h"
#include "inputs.h"
#include "json.h"
#include "layers.h"
#include "model.h"
#include "npy.h"
#include "output-names.h"
#include "outputs.h"
#include "ranks.h"
#include "sizes.h"
#include "texts.h"
#include "times.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

typedef struct
{
  CleaveModelOptions model;
  CleaveInputOptions inputs;
  char *threads_text, *repeat_text, *stream_text, *in_flight_text, *folder, *inputs_folder, *trace,
      *model_file, *memory_text;
  CleaveNetworkOptions network;
  gboolean as_is, as_json, with_profile, on_ranks;
  gint64 n_threads, repeat, n_in_flight, max_memory;
} Options;

static gboolean
parse_stream (Options *o, GError **error)
{
  if (o->stream_text == NULL && o->in_flight_text == NULL)
    return TRUE;
  if (o->repeat_text != NULL)
    return cleave_argument_fail (error, "--stream sets the number of runs: leave out --repeat");
  o->n_in_flight = 2;
  return cleave_text_to_int ("--stream", o->stream_text, 1, 1000000, &o->repeat, error) &&
         (o->in_flight_text == NULL ||
          cleave_text_to_int ("--in-flight", o->in_flight_text, 1, 64, &o->n_in_flight, error));
}

static gboolean
parse_memory (Options *o, GError **error)
{
  if (o->memory_text == NULL)
    return TRUE;
  if (o->with_profile || o->trace != NULL || o->on_ranks)
    return cleave_argument_fail (error, "--max-memory runs the model part by part: leave out "
                                        "--profile, --trace and --ranks");
  return cleave_text_to_size ("--max-memory", o->memory_text, &o->max_memory, error) &&
         (o->max_memory > 0 || cleave_argument_fail (error, "--max-memory must be more than 0"));
}

static const CleaveArgumentNeed needs[] = {
  { "as-is", { "threads" } },
  { "mean", { "input" } },
  { "scale", { "input" } },
  { "stream", { "ranks" } },
  { "in-flight", { "stream" } },
  { "bandwidth", { "ranks" } },
  { "latency", { "ranks" } },
  { "force", { "output-dir", "save-inputs", "trace" } },
  { 0 },
};

/* Reads the command line into `o`, without checks of values. Returns the files. */
static char **
read_arguments (int argc, char **argv, Options *o, GError **error)
{
  const GOptionEntry entries[] = {
    CLEAVE_INPUT_OPTIONS (o->inputs),
    { "output-dir", 'd', 0, G_OPTION_ARG_FILENAME, &o->folder,
      "write each output to this folder as NAME.npy", "DIR" },
    { "save-inputs", 0, 0, G_OPTION_ARG_FILENAME, &o->inputs_folder,
      "write each input to this folder as NAME.npy", "DIR" },
    { "trace", 0, 0, G_OPTION_ARG_FILENAME, &o->trace,
      "write when each step of the fastest run ran, for Perfetto or Chromium", "FILE.json" },
    CLEAVE_THREADS_OPTION (o->threads_text, "the run"),
    { "repeat", 0, 0, G_OPTION_ARG_STRING, &o->repeat_text, "run this many times (default: 1)",
      "R" },
    { "as-is", 0, 0, G_OPTION_ARG_NONE, &o->as_is,
      "with --threads: do not split the graph for the threads first", NULL },
    { "profile", 0, 0, G_OPTION_ARG_NONE, &o->with_profile, "print the time of each step", NULL },
    { "max-memory", 0, 0, G_OPTION_ARG_STRING, &o->memory_text,
      "run the model part by part, with the weights of one part in memory", "SIZE" },
    { "ranks", 0, 0, G_OPTION_ARG_NONE, &o->on_ranks,
      "run a part of the model in each process that mpirun started", NULL },
    { "stream", 0, 0, G_OPTION_ARG_STRING, &o->stream_text,
      "with --ranks: run this many inputs, several at once", "N" },
    { "in-flight", 0, 0, G_OPTION_ARG_STRING, &o->in_flight_text,
      "with --stream: set the runs in flight (default: 2)", "K" },
    { "made-from", 0, 0, G_OPTION_ARG_FILENAME, &o->model_file,
      "for a saved program: compare it with this model", "MODEL.onnx" },
    CLEAVE_NETWORK_OPTIONS (o->network, "measured", "measured"),
    CLEAVE_BYTES_OPTION,
    { "json", 0, 0, G_OPTION_ARG_NONE, &o->as_json, "print one JSON object", NULL },
    CLEAVE_MODEL_OPTIONS (o->model),
    CLEAVE_FORCE_OPTION (o->model),
    G_OPTION_ENTRY_NULL,
  };
  const CleaveArguments arguments = { entries, needs, "MODEL.onnx|PROGRAM.plan",
                                      "Run a model, or a program that cleave compile saved.", 1 };

  return cleave_argument_parse (&arguments, argc, argv, error);
}

static char **
parse (int argc, char **argv, Options *o, GError **error)
{
  g_auto (GStrv) files = read_arguments (argc, argv, o, error);

  o->repeat = 1;
  o->n_in_flight = 1;
  if (files == NULL || !cleave_argument_threads (o->threads_text, &o->n_threads, error) ||
      (o->repeat_text != NULL &&
       !cleave_text_to_int ("--repeat", o->repeat_text, 1, 1000000, &o->repeat, error)))
    return NULL;
  if (!parse_stream (o, error) || !parse_memory (o, error))
    return NULL;
  if (o->on_ranks && (o->as_is || o->with_profile || o->trace != NULL))
    return cleave_argument_fail (error,
                                 "--ranks cannot be combined with --as-is, --profile or --trace"),
           NULL;
  /* With ranks, only one process writes. */
  if (!o->on_ranks && (!cleave_output_name_check_folder (o->folder, error) ||
                       !cleave_output_name_check_folder (o->inputs_folder, error) ||
                       !cleave_output_name_check (o->trace, NULL, NULL, error)))
    return NULL;
  return g_steal_pointer (&files);
}

/* The number of nodes and the peak of the model before it was split for the threads. If
 * `nodes_before` is 0, the model runs unsplit. */
typedef struct
{
  guint nodes_before;
  gint64 peak_before;
  gboolean found_nothing;
} Split;

/* Files */

/* Returns the SHA-256 of a tensor's bytes in row-major order. Equal tensors have equal sums. */
static char *
dup_sha256 (CleaveTensor *tensor)
{
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_canonical (tensor);

  return g_compute_checksum_for_data (
      G_CHECKSUM_SHA256, cleave_tensor_get_data (dense),
      (gsize) cleave_tensor_type_n_bytes (cleave_tensor_get_type (dense)));
}

/* Returns whether an output has strings. */
static gboolean
has_strings (const CleaveOnnxDynamic *dynamic, const char *output)
{
  return dynamic != NULL && cleave_onnx_dynamic_has_strings (dynamic, output);
}

static gboolean
add_tensors (CleaveOutputs *outputs,
             const char *folder,
             char **names,
             const GPtrArray *tensors,
             const CleaveOnnxDynamic *dynamic,
             GError **error)
{
  g_auto (GStrv) files = NULL;

  if (folder == NULL)
    return TRUE;
  files = cleave_outputs_name_files (names, ".npy");
  if (!cleave_output_make_folder (folder, error))
    return FALSE;
  for (guint i = 0; i < tensors->len; i++)
    {
      g_autofree char *path = g_build_filename (folder, files[i], NULL);
      g_autoptr (GBytes) bytes = has_strings (dynamic, names[i])
                                     ? cleave_npy_serialize_texts (tensors->pdata[i])
                                     : cleave_npy_serialize (tensors->pdata[i]);

      if (!cleave_outputs_add_bytes (outputs, path, bytes, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
write_files (const CleaveExecution *e,
             const Options *o,
             char **input_names,
             const GPtrArray *inputs,
             GError **error)
{
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();
  g_autoptr (GBytes) trace =
      e->trace == NULL ? NULL : g_bytes_new_static (e->trace, strlen (e->trace));

  return add_tensors (outputs, o->inputs_folder, input_names, inputs, NULL, error) &&
         add_tensors (outputs, o->folder, e->names, e->outputs, e->dynamic, error) &&
         (trace == NULL || cleave_outputs_add_bytes (outputs, o->trace, trace, error)) &&
         cleave_outputs_commit (outputs, error);
}

/* Printing */

static void
add_json_strings (CleaveJson *json, CleaveTensor *tensor)
{
  cleave_json_begin_list (json, "strings");
  for (gint64 i = 0; i < cleave_texts_count (tensor); i++)
    {
      g_autofree char *text = cleave_texts_dup (tensor, i);

      cleave_json_string (json, NULL, text);
    }
  cleave_json_end_list (json);
}

static void
add_json_outputs (CleaveJson *json, const CleaveExecution *e, const char *folder)
{
  g_auto (GStrv) files = cleave_outputs_name_files (e->names, ".npy");

  cleave_json_begin_list (json, "outputs");
  for (guint i = 0; i < e->outputs->len; i++)
    {
      g_autofree char *sum = dup_sha256 (e->outputs->pdata[i]);

      cleave_json_begin (json, NULL);
      cleave_json_string (json, "name", e->names[i]);
      cleave_json_type (json, cleave_tensor_get_type (e->outputs->pdata[i]));
      cleave_json_string (json, "sha256", sum);
      if (has_strings (e->dynamic, e->names[i]))
        add_json_strings (json, e->outputs->pdata[i]);
      if (folder != NULL)
        cleave_json_string (json, "file", files[i]);
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
}

static void
add_json_layers (CleaveJson *json, const CleaveLayers *layers)
{
  if (layers->n_parts == 0)
    return;
  cleave_json_begin (json, "layers");
  cleave_json_int (json, "parts", layers->n_parts);
  cleave_json_int (json, "read_bytes", layers->read_bytes);
  cleave_json_int (json, "largest_part_bytes", layers->most_bytes);
  cleave_json_double (json, "made_ms", (double) layers->made_us / 1000);
  cleave_json_end (json);
}

static void
print_layers (const CleaveLayers *layers)
{
  g_autofree char *read = cleave_size_to_print (layers->read_bytes);
  g_autofree char *most = cleave_size_to_print (layers->most_bytes);

  if (layers->n_parts > 0)
    printf ("layers    %u part%s of at most %s; a run reads %s of weights, which took %.3f ms\n",
            layers->n_parts, CLEAVE_PLURAL (layers->n_parts), most, read,
            (double) layers->made_us / 1000);
}

static void
print_json (const CleaveExecution *e,
            const Options *o,
            const Split *split,
            const CleaveLayers *layers)
{
  g_autoptr (CleaveJson) json = cleave_json_new ();

  cleave_json_begin (json, NULL);
  cleave_json_int (json, "threads", e->stats.n_threads);
  cleave_json_int (json, "repeat", o->repeat);
  cleave_json_begin (json, "latency_ms");
  cleave_json_double (json, "min", e->min_ms);
  cleave_json_double (json, "median", e->median_ms);
  cleave_json_end (json);
  cleave_json_int (json, "peak_activation_bytes", e->stats.peak_activation_bytes);
  if (split->nodes_before > 0)
    {
      cleave_json_int (json, "peak_activation_bytes_as_is", split->peak_before);
      cleave_json_int (json, "nodes_as_is", split->nodes_before);
    }
  cleave_json_string (json, "convention", CLEAVE_MEMORY_CONVENTION);
  cleave_json_int (json, "arena_bytes", e->stats.arena_bytes);
  cleave_json_int (json, "scratch_bytes", e->stats.scratch_bytes);
  cleave_json_int (json, "weight_bytes", e->stats.weight_bytes);
  cleave_json_int (json, "copied_bytes", e->stats.copied_bytes);
  cleave_json_int (json, "nodes", e->stats.n_nodes);
  if (e->dynamic != NULL)
    {
      cleave_json_begin (json, "dynamic");
      cleave_json_int (json, "nodes", cleave_onnx_dynamic_get_n_nodes (e->dynamic));
      cleave_json_int (json, "kernels", e->dynamic_stats.n_calls);
      cleave_json_double (json, "latency_ms", e->dynamic_ms);
      cleave_json_int (json, "peak_bytes", e->dynamic_stats.peak_bytes);
      cleave_json_end (json);
    }
  add_json_layers (json, layers);
  if (e->profile != NULL)
    cleave_profile_print_json (e->profile, json);
  add_json_outputs (json, e, o->folder);
  cleave_json_print (json);
}

/* Prints the number of nodes, before and after the split: the graph may have more nodes than its
 * file. */
static void
print_split (const CleaveExecution *e, const Split *split)
{
  if (split->nodes_before == 0)
    printf ("nodes     %u\n", e->stats.n_nodes);
  else if (split->found_nothing)
    printf ("nodes     %u; nothing to split for more threads\n", e->stats.n_nodes);
  else
    printf ("nodes     %u, split for %u threads out of %u (--as-is runs it unsplit)\n",
            e->stats.n_nodes, e->stats.n_threads, split->nodes_before);
}

/* Prints the outputs. If the name of an output's file differs from the name of the output, prints
 * the file name too. */
static void
print_outputs (const CleaveExecution *e, const char *folder)
{
  g_auto (GStrv) files = cleave_outputs_name_files (e->names, ".npy");

  for (guint i = 0; i < e->outputs->len; i++)
    {
      g_autofree char *sum = dup_sha256 (e->outputs->pdata[i]);
      CleaveTensor *tensor = e->outputs->pdata[i];
      g_autofree char *type = has_strings (e->dynamic, e->names[i])
                                  ? cleave_texts_print (tensor)
                                  : cleave_tensor_type_to_string (cleave_tensor_get_type (tensor));

      printf ("output    %s: %s sha256 %s", e->names[i], type, sum);
      if (folder != NULL && strncmp (files[i], e->names[i], strlen (e->names[i])) != 0)
        printf (", in %s", files[i]);
      printf ("\n");
    }
}

static void
print_text (const CleaveExecution *e,
            const Options *o,
            const Split *split,
            const CleaveLayers *layers)
{
  g_autofree char *peak = cleave_size_to_print (e->stats.peak_activation_bytes);
  g_autofree char *unsplit = cleave_size_to_print (split->peak_before);
  g_autofree char *arena = cleave_size_to_print (e->stats.arena_bytes);
  g_autofree char *scratch = cleave_size_to_print (e->stats.scratch_bytes);
  g_autofree char *weights = cleave_size_to_print (e->stats.weight_bytes);
  g_autofree char *copied = cleave_size_to_print (e->stats.copied_bytes);
  g_autofree char *of_dynamic = cleave_size_to_print (e->dynamic_stats.peak_bytes);

  printf ("threads   %u\n", e->stats.n_threads);
  print_split (e, split);
  printf ("latency   %.3f ms least, %.3f ms median of %" G_GINT64_FORMAT "\n", e->min_ms,
          e->median_ms, o->repeat);
  printf ("peak      %s of " CLEAVE_CONVENTION_NAME, peak);
  if (split->nodes_before > 0)
    printf (", unsplit %s", unsplit);
  printf ("\narena     %s for %u thread%s; scratch %s, weights %s\n", arena, e->stats.n_threads,
          e->stats.n_threads == 1 ? "" : "s", scratch, weights);
  printf ("copied    %s by one run\n", copied);
  if (e->dynamic != NULL)
    printf ("dynamic   %.3f ms, kernels %" G_GINT64_FORMAT
            "; values take %s at most, besides the rest\n",
            e->dynamic_ms, e->dynamic_stats.n_calls, of_dynamic);
  print_layers (layers);
  if (e->profile != NULL)
    cleave_profile_print (e->profile);
  print_outputs (e, o->folder);
}

static char **
dup_input_names (const CleaveGraph *graph)
{
  guint n = graph == NULL ? 0 : cleave_graph_get_n_inputs (graph);
  char **names = g_new0 (char *, n + 1);

  for (guint i = 0; i < n; i++)
    names[i] = cleave_result_dup_name (cleave_graph_get_input (graph, i));
  return names;
}

static gboolean
split_to_run (CleaveGraph *graph, guint *n_threads, Split *split, GError **error)
{
  split->nodes_before = cleave_graph_count_operators (graph);
  split->peak_before = cleave_graph_get_peak_bytes_with_threads (graph, *n_threads, error);
  if (split->peak_before < 0 || !cleave_split_to_run (graph, n_threads, error))
    return FALSE;
  split->found_nothing = *n_threads == 1;
  return TRUE;
}

static void
add_json_rank (CleaveJson *json, const CleaveRankLine *line, gint64 repeat)
{
  cleave_json_begin (json, NULL);
  cleave_json_int (json, "nodes", line->n_nodes);
  cleave_json_int (json, "arena_bytes", line->arena_bytes);
  cleave_json_int (json, "scratch_bytes", line->scratch_bytes);
  cleave_json_int (json, "weight_bytes", line->weight_bytes);
  cleave_json_int (json, "messages_sent", line->n_sent / repeat);
  cleave_json_int (json, "messages_received", line->n_received / repeat);
  cleave_json_int (json, "bytes_sent", line->sent_bytes / repeat);
  cleave_json_int (json, "bytes_received", line->received_bytes / repeat);
  cleave_json_end (json);
}

static void
print_ranks_json (const CleaveRankRun *run, const Options *o)
{
  g_autoptr (CleaveJson) json = cleave_json_new ();

  cleave_json_begin (json, NULL);
  cleave_json_int (json, "threads", run->n_threads);
  cleave_json_int (json, "repeat", o->repeat);
  if (o->stream_text != NULL)
    {
      cleave_json_int (json, "in_flight", o->n_in_flight);
      cleave_json_double (json, "per_second", (double) o->repeat / run->seconds);
    }
  cleave_json_begin (json, "latency_ms");
  cleave_json_double (json, "min", run->execution.min_ms);
  cleave_json_double (json, "median", run->execution.median_ms);
  cleave_json_end (json);
  cleave_json_double (json, "bandwidth_gbit", run->network.bandwidth / 1.25e8);
  cleave_json_double (json, "network_latency_us", run->network.latency * 1e6);
  cleave_json_begin_list (json, "ranks");
  for (guint r = 0; r < run->n_ranks; r++)
    add_json_rank (json, &run->lines[r], o->repeat);
  cleave_json_end_list (json);
  add_json_outputs (json, &run->execution, o->folder);
  cleave_json_print (json);
}

static void
print_ranks_text (const CleaveRankRun *run, const Options *o)
{
  gint64 repeat = o->repeat;

  printf ("ranks     %u, threads of each %u\n", run->n_ranks, run->n_threads);
  if (run->is_measured)
    printf ("network   measured: --bandwidth %g --latency %g\n", run->network.bandwidth / 1.25e8,
            run->network.latency * 1e6);
  if (o->stream_text != NULL)
    printf ("rate      %.3f inputs a second, %" G_GINT64_FORMAT " run%s at once\n",
            (double) repeat / run->seconds, o->n_in_flight, CLEAVE_PLURAL (o->n_in_flight));
  printf ("latency   %.3f ms least, %.3f ms median of %" G_GINT64_FORMAT "\n",
          run->execution.min_ms, run->execution.median_ms, repeat);
  for (guint r = 0; r < run->n_ranks; r++)
    {
      const CleaveRankLine *line = &run->lines[r];
      g_autofree char *arena = cleave_size_to_print (line->arena_bytes);
      g_autofree char *scratch = cleave_size_to_print (line->scratch_bytes);
      g_autofree char *weights = cleave_size_to_print (line->weight_bytes);
      g_autofree char *sent = cleave_size_to_print (line->sent_bytes / repeat);

      printf ("rank %-4u %" G_GINT64_FORMAT " node%s; arena %s, scratch %s, weights %s; sends %s "
              "in %" G_GINT64_FORMAT " message%s\n",
              r, line->n_nodes, CLEAVE_PLURAL (line->n_nodes), arena, scratch, weights, sent,
              line->n_sent / repeat, CLEAVE_PLURAL (line->n_sent / repeat));
    }
  print_outputs (&run->execution, o->folder);
}

static gboolean
finish_ranks (CleaveRankRun *run, gpointer data, GError **error)
{
  const Options *o = data;

  if (!write_files (&run->execution, o, run->input_names, run->inputs, error))
    return FALSE;
  if (o->as_json)
    print_ranks_json (run, o);
  else
    print_ranks_text (run, o);
  return TRUE;
}

static int
run_ranks (Options *o, const char *file, GError **error)
{
  const CleaveRankRequest request = { file,
                                      &o->model,
                                      &o->inputs,
                                      &o->network,
                                      g_strcmp0 (o->threads_text, "all") == 0
                                          ? 0
                                          : (guint) o->n_threads,
                                      (guint) o->repeat,
                                      (guint) o->n_in_flight };

  return cleave_run_on_ranks (&request, finish_ranks, o, error) ? CLEAVE_DONE : CLEAVE_WRONG;
}

/* Runs a graph part by part, and takes ownership of the graph. Loads the model again for each
 * further run, since a graph that stays in memory would keep its unpacked weights. */
static gboolean
execute_layers (const Options *o,
                const char *file,
                CleaveGraph *graph,
                const GPtrArray *inputs,
                guint n_threads,
                CleaveExecution *execution,
                CleaveLayers *layers,
                GError **error)
{
  g_autofree gint64 *times = g_new (gint64, o->repeat);

  for (gint64 i = 0; i < o->repeat; i++)
    {
      guint n = (guint) o->n_threads;
      Split split = { 0 };

      if (i > 0)
        {
          cleave_execution_clear (execution);
          *execution = (CleaveExecution){ 0 };
          graph = cleave_model_load_for_inputs (file, &o->model, &o->inputs, error);
          if (graph == NULL ||
              (n_threads > 1 && !o->as_is && !split_to_run (graph, &n, &split, error)))
            {
              g_clear_pointer (&graph, cleave_graph_unref);
              return FALSE;
            }
        }
      if (!cleave_execute_layers (graph, inputs, n_threads, o->max_memory, execution, layers,
                                  error))
        return FALSE;
      times[i] = (gint64) (execution->min_ms * 1000);
    }
  cleave_execution_note_times (execution, times, (guint) o->repeat);
  return TRUE;
}

/* Runs the graph, and takes ownership of it. */
static gboolean
execute (const Options *o,
         const char *file,
         CleaveGraph *graph,
         const GPtrArray *inputs,
         guint n_threads,
         CleaveExecution *execution,
         CleaveLayers *layers,
         GError **error)
{
  if (o->max_memory == 0)
    return cleave_execute_take (graph, inputs, n_threads, (guint) o->repeat, execution, error);
  return execute_layers (o, file, graph, inputs, n_threads, execution, layers, error);
}

static int
run_here (Options *o, const char *file, GError **error)
{
  g_autoptr (CleaveGraph) graph = cleave_model_load_for_inputs (file, &o->model, &o->inputs, error);
  g_autoptr (GPtrArray) inputs =
      graph == NULL ? NULL : cleave_make_inputs (graph, &o->inputs, error);
  g_auto (GStrv) input_names = dup_input_names (graph);
  g_auto (CleaveExecution)
      execution = { .wants_trace = o->trace != NULL, .wants_profile = o->with_profile };
  guint n_threads = (guint) o->n_threads;
  CleaveLayers layers = { 0 };
  Split split = { 0 };

  if (inputs == NULL ||
      (n_threads > 1 && !o->as_is && !split_to_run (graph, &n_threads, &split, error)) ||
      !execute (o, file, g_steal_pointer (&graph), inputs, n_threads, &execution, &layers, error) ||
      !write_files (&execution, o, input_names, inputs, error))
    return CLEAVE_WRONG;
  if (o->as_json)
    print_json (&execution, o, &split, &layers);
  else
    print_text (&execution, o, &split, &layers);
  return CLEAVE_DONE;
}

static gboolean
check_saved (const Options *o, const char *file, GError **error)
{
  if (o->threads_text == NULL && o->model.shapes == NULL && o->model.values == NULL && !o->as_is &&
      !o->on_ranks && o->memory_text == NULL)
    return TRUE;
  return cleave_argument_fail (error,
                               "'%s' is a saved program: give --threads, --shape, --fix and "
                               "--as-is to cleave compile, and run the model with --ranks or "
                               "--max-memory",
                               file);
}

static int
run_saved (Options *o, const char *file, GError **error)
{
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (CleaveProgram) program =
      check_saved (o, file, error)
          ? cleave_program_load (file, o->model_file, o->trace != NULL, &graph, error)
          : NULL;
  g_autoptr (GPtrArray) inputs =
      program == NULL ? NULL : cleave_make_inputs (graph, &o->inputs, error);
  g_auto (GStrv) input_names = dup_input_names (graph);
  g_auto (CleaveExecution)
      execution = { .wants_trace = o->trace != NULL, .wants_profile = o->with_profile };
  const CleaveLayers layers = { 0 };
  const Split split = { 0 };

  cleave_outputs_set_force (o->model.force);
  cleave_outputs_protect (file);
  if (inputs == NULL ||
      !cleave_execute_program (program, graph, inputs, (guint) o->repeat, &execution, error) ||
      !write_files (&execution, o, input_names, inputs, error))
    return CLEAVE_WRONG;
  if (o->as_json)
    print_json (&execution, o, &split, &layers);
  else
    print_text (&execution, o, &split, &layers);
  return CLEAVE_DONE;
}

int
cleave_cmd_run (int argc, char **argv, GError **error)
{
  Options o = { 0 };
  g_auto (GStrv) files = parse (argc, argv, &o, error);

  if (files == NULL)
    return CLEAVE_WRONG;
  o.model.has_dynamic = TRUE;
  if (g_str_has_suffix (files[0], CLEAVE_PROGRAM_SUFFIX))
    return run_saved (&o, files[0], error);
  if (o.model_file != NULL)
    return cleave_argument_fail (error, "--made-from is for a saved program, FILE.plan"),
           CLEAVE_WRONG;
  return o.on_ranks ? run_ranks (&o, files[0], error) : run_here (&o, files[0], error);
}
