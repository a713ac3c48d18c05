/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave run`: runs a model or a saved program, on this machine or on the ranks of MPI. */

#include "arguments.h"
#include "commands.h"
#include "dynamic.h"
#include "execute.h"
#include "inputs.h"
#include "model.h"
#include "npy.h"
#include "output-names.h"
#include "outputs.h"
#include "run-report.h"
#include "sizes.h"

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
  return cleave_text_to_size ("--max-memory", o->memory_text, &o->max_memory, error);
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
  /* with ranks, only the first process writes files */
  if (!o->on_ranks && (!cleave_output_name_check_folder (o->folder, error) ||
                       !cleave_output_name_check_folder (o->inputs_folder, error) ||
                       !cleave_output_name_check (o->trace, NULL, NULL, error)))
    return NULL;
  return g_steal_pointer (&files);
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
  files = cleave_output_name_files (names, ".npy");
  if (!cleave_output_make_folder (folder, error))
    return FALSE;
  for (guint i = 0; i < tensors->len; i++)
    {
      g_autofree char *path = g_build_filename (folder, files[i], NULL);
      g_autoptr (GBytes) bytes = cleave_run_has_strings (dynamic, names[i])
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

  g_autoptr (GPtrArray) flat =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_auto (GStrv) names =
      cleave_dynamic_flatten (e->dynamic, (const char *const *) input_names, inputs, flat);

  return add_tensors (outputs, o->inputs_folder, names, flat, e->dynamic, error) &&
         add_tensors (outputs, o->folder, e->names, e->outputs, e->dynamic, error) &&
         (trace == NULL || cleave_outputs_add_bytes (outputs, o->trace, trace, error)) &&
         cleave_outputs_commit (outputs, error);
}

/* Returns the names of the inputs of the model: first the inputs of the graph, then the inputs that
 * are sequences or optional values. */
static char **
dup_input_names (const CleaveGraph *graph)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  const CleaveOnnxDynamic *dynamic = graph == NULL ? NULL : cleave_onnx_get_dynamic (graph);
  const char *const *list = dynamic == NULL ? NULL : cleave_onnx_dynamic_get_inputs (dynamic);

  for (guint i = 0; graph != NULL && i < cleave_graph_get_n_inputs (graph); i++)
    g_ptr_array_add (names, cleave_result_dup_name (cleave_graph_get_input (graph, i)));
  for (; list != NULL && *list != NULL; list++)
    g_ptr_array_add (names, g_strdup (*list));
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_steal (names, NULL);
}

static gboolean
split_to_run (CleaveGraph *graph, guint *n_threads, CleaveRunSplit *split, GError **error)
{
  split->nodes_before = cleave_graph_count_operators (graph);
  split->peak_before = cleave_graph_get_peak_bytes_with_threads (graph, *n_threads, error);
  if (split->peak_before < 0 || !cleave_split_to_run (graph, n_threads, error))
    return FALSE;
  split->found_nothing = *n_threads == 1;
  return TRUE;
}

static gboolean
finish_ranks (CleaveRankRun *run, gpointer data, GError **error)
{
  const Options *o = data;

  if (!write_files (&run->execution, o, run->input_names, run->inputs, error))
    return FALSE;
  cleave_run_print_ranks (run, &(CleaveRunReport){ o->as_json, o->repeat,
                                                   o->stream_text == NULL ? 0 : o->n_in_flight,
                                                   o->folder });
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
      CleaveRunSplit split = { 0 };

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

/* Writes the files and prints the report of a run in this process. Returns the exit status. */
static int
finish (const Options *o,
        const CleaveExecution *execution,
        char **input_names,
        const GPtrArray *inputs,
        const CleaveRunSplit *split,
        const CleaveLayers *layers,
        GError **error)
{
  const CleaveRunReport report = { o->as_json, o->repeat, 0, o->folder };

  if (!write_files (execution, o, input_names, inputs, error))
    return CLEAVE_WRONG;
  cleave_run_print (execution, &report, split, layers);
  return CLEAVE_DONE;
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
  CleaveRunSplit split = { 0 };

  if (inputs == NULL ||
      (n_threads > 1 && !o->as_is && !split_to_run (graph, &n_threads, &split, error)) ||
      !execute (o, file, g_steal_pointer (&graph), inputs, n_threads, &execution, &layers, error))
    return CLEAVE_WRONG;
  return finish (o, &execution, input_names, inputs, &split, &layers, error);
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
  const CleaveRunSplit split = { 0 };

  cleave_outputs_set_force (o->model.force);
  cleave_outputs_protect (file);
  if (inputs == NULL ||
      !cleave_execute_program (program, graph, inputs, (guint) o->repeat, &execution, error))
    return CLEAVE_WRONG;
  return finish (o, &execution, input_names, inputs, &split, &layers, error);
}

int
cleave_cmd_run (int argc, char **argv, GError **error)
{
  Options o = { 0 };
  g_auto (GStrv) files = parse (argc, argv, &o, error);

  if (files == NULL)
    return CLEAVE_WRONG;
  o.model.has_dynamic = TRUE;
  o.model.is_mapped = o.max_memory > 0;
  if (g_str_has_suffix (files[0], CLEAVE_PROGRAM_SUFFIX))
    return run_saved (&o, files[0], error);
  if (o.model_file != NULL)
    return cleave_argument_fail (error, "--made-from is for a saved program, FILE.plan"),
           CLEAVE_WRONG;
  return o.on_ranks ? run_ranks (&o, files[0], error) : run_here (&o, files[0], error);
}
