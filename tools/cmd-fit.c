/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave fit`: splits a model so that its activations fit into a memory limit. With --frontier,
 * the command lists the possible plans.
 *
 * Over 400 lines: this file reads the options of the command, and makes both results: the split
 * model and the list of plans. */

#include "arguments.h"
#include "check.h"
#include "commands.h"
#include "frontier-picture.h"
#include "json.h"
#include "model.h"
#include "output-names.h"
#include "outputs.h"
#include "page.h"
#include "piece-docs.h"
#include "plan-file.h"
#include "progress.h"
#include "report.h"
#include "scratch.h"
#include "sizes.h"

#include <stdio.h>
#include <string.h>

typedef struct
{
  CleaveModelOptions model;
  char *memory, *macs, *latency, *threads;
  char *output, *dot_before, *dot_after, *report, *plot, *target, *plan, *from_plan;
  gboolean frontier, exclude_inputs, count_scratch, dry_run, verbose, check, as_json;
} Options;

/* Returns the options of the command (GOptionEntry, NULL-terminated), which store their values in
 * `o`. */
static GArray *
list_entries (Options *o)
{
  const GOptionEntry entries[] = {
    { "max-memory", 0, 0, G_OPTION_ARG_STRING, &o->memory,
      "limit the bytes of all activations (default: as few as possible)", "SIZE" },
    { "max-added-macs", 0, 0, G_OPTION_ARG_STRING, &o->macs,
      "limit the MACs that recomputed rows add to the model", "PERCENT" },
    { "max-added-latency", 0, 0, G_OPTION_ARG_STRING, &o->latency,
      "limit the estimated time that the split adds", "PERCENT" },
    CLEAVE_THREADS_OPTION (o->threads, "the run"),
    { "exclude-inputs", 0, 0, G_OPTION_ARG_NONE, &o->exclude_inputs,
      "do not include the model's inputs in the arena", NULL },
    { "count-scratch", 0, 0, G_OPTION_ARG_NONE, &o->count_scratch,
      "include the scratch memory of kernels on this machine in --max-memory", NULL },
    { "frontier", 0, 0, G_OPTION_ARG_NONE, &o->frontier,
      "print the possible plans: memory, MACs and time of each", NULL },
    { "plot", 0, 0, G_OPTION_ARG_FILENAME, &o->plot, "draw the possible plans", "FILE.svg" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &o->output, "write the split model", "OUT.onnx" },
    { "dry-run", 'n', 0, G_OPTION_ARG_NONE, &o->dry_run, "print the report, and write no file",
      NULL },
    { "verbose", 'v', 0, G_OPTION_ARG_NONE, &o->verbose, "list all segments", NULL },
    { "for", 0, 0, G_OPTION_ARG_STRING, &o->target,
      "save memory in this runtime: cleave (default) or ort, ONNX Runtime", "RUNTIME" },
    { "plan", 0, 0, G_OPTION_ARG_FILENAME, &o->plan, "write the plan", "FILE.json" },
    { "from-plan", 0, 0, G_OPTION_ARG_FILENAME, &o->from_plan,
      "split the model by this plan, without a search", "FILE.json" },
    { "dot-before", 0, 0, G_OPTION_ARG_FILENAME, &o->dot_before, "draw the model before the split",
      "FILE" },
    { "dot-after", 0, 0, G_OPTION_ARG_FILENAME, &o->dot_after, "draw the split model", "FILE" },
    { "save-json", 0, 0, G_OPTION_ARG_FILENAME, &o->report,
      "write the object of --json to this file", "FILE.json" },
    { "check", 0, 0, G_OPTION_ARG_NONE, &o->check,
      "run the model before and after the split, and compare shapes and bits", NULL },
    CLEAVE_BYTES_OPTION,
    { "json", 0, 0, G_OPTION_ARG_NONE, &o->as_json, "print the report as JSON", NULL },
    CLEAVE_MODEL_OPTIONS (o->model),
    CLEAVE_FORCE_OPTION (o->model),
  };
  GArray *list = g_array_new (TRUE, FALSE, sizeof (GOptionEntry));

  return g_array_append_vals (list, entries, G_N_ELEMENTS (entries));
}

GArray *
cleave_cmd_fit_list_options (void)
{
  static Options unused;

  return list_entries (&unused);
}

static char **
parse (int argc, char **argv, Options *o, GError **error)
{
  g_autoptr (GArray) entries = list_entries (o);
  static const CleaveArgumentNeed needs[] = {
    { "plot", { "frontier" } },
    { "force", { "output", "dot-before", "dot-after", "save-json", "plot", "plan" } },
    { 0 },
  };
  const CleaveArguments arguments = {
    (const GOptionEntry *) (gpointer) entries->data, cleave_page_is_wanted () ? NULL : needs,
    "MODEL.onnx",
    "Split a model so that its activations fit into a memory budget, with the same bits.\nWithout "
    "--max-memory, take as little memory as the limits on the added cost allow.\n--frontier prints "
    "all plans. Without -o, print the report and write no model.",
    1
  };

  return cleave_argument_parse (&arguments, argc, argv, error);
}

/* Reads a limit in per cent as a fraction. If `text` is NULL, the fraction is unchanged. */
static gboolean
parse_max_added (const char *option, const char *text, double *fraction, GError **error)
{
  return text == NULL || cleave_text_to_max_added (option, text, fraction, error);
}

/* Checks the names of the files to write, before the search. */
static gboolean
check_names (const Options *o, GError **error)
{
  return cleave_output_name_check_model (o->output, error) &&
         cleave_output_name_check_drawings (o->dot_before, o->dot_after, error) &&
         cleave_output_name_check (o->plot, "draw", ".svg", error) &&
         cleave_output_name_check (o->report, NULL, NULL, error) &&
         cleave_output_name_check (o->plan, NULL, NULL, error);
}

static gboolean
parse_options (const Options *o, CleaveFitOptions *options, GError **error)
{
  gint64 n_threads = 1;

  if (o->frontier && (o->output != NULL || o->dot_after != NULL || o->check || o->memory != NULL ||
                      o->dry_run || o->verbose || o->plan != NULL))
    return cleave_argument_fail (error, "--frontier makes no model; it takes no --max-memory, -o, "
                                        "--plan, --dot-after, --check, --dry-run or --verbose");
  if (o->from_plan != NULL &&
      (o->frontier || o->memory != NULL || o->macs != NULL || o->latency != NULL ||
       o->threads != NULL || o->exclude_inputs || o->count_scratch || o->target != NULL))
    return cleave_argument_fail (error,
                                 "--from-plan searches no plan; it takes no --frontier, "
                                 "--max-memory, --max-added-macs, --max-added-latency, --threads, "
                                 "--exclude-inputs, --count-scratch or --for");
  if (o->memory != NULL &&
      !cleave_text_to_size ("--max-memory", o->memory, &options->max_memory, error))
    return FALSE;
  if (!cleave_argument_threads (o->threads, &n_threads, error))
    return FALSE;
  if (g_strcmp0 (o->target, "bundle") == 0)
    return cleave_argument_fail (error,
                                 "a bundle has a plan of its own: run 'cleave bundle', which "
                                 "takes --max-memory and --max-added-macs too");
  if (o->target != NULL && strcmp (o->target, "cleave") != 0 && strcmp (o->target, "ort") != 0)
    return cleave_argument_fail (error, "--for expects cleave or ort, not '%s'", o->target);
  if (o->count_scratch && (o->memory == NULL || g_strcmp0 (o->target, "ort") == 0))
    return cleave_argument_fail (
        error, "--count-scratch needs --max-memory, and cannot be combined with --for ort");
  if (!check_names (o, error))
    return FALSE;
  options->n_threads = (guint) n_threads;
  options->exclude_inputs = o->exclude_inputs;
  options->even_strips = g_strcmp0 (o->target, "ort") == 0;
  return parse_max_added ("--max-added-macs", o->macs, &options->max_added_macs, error) &&
         parse_max_added ("--max-added-latency", o->latency, &options->max_added_latency, error);
}

/* The functions below print the frontier. */

static double
get_per_cent (double before, double after)
{
  return before <= 0 ? 0 : 100 * (after - before) / before;
}

/* Returns, for each plan, the bytes (gint64) that the table of plans shows beside the arena. For a
 * plan with Loops, these are the estimated bytes of values in ONNX Runtime; for any other plan, the
 * scratch memory of kernels, or -1 if the scratch is not known. */
static GArray *
list_bytes (const CleaveGraph *graph, const GPtrArray *plans, guint n_threads)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (gint64));

  for (guint i = 0; i < plans->len; i++)
    {
      const CleaveFitLoops *loops = cleave_fit_plan_get_loops (plans->pdata[i]);
      gint64 n_bytes = loops != NULL
                           ? loops->bytes_after
                           : cleave_scratch_find_planned (graph, plans->pdata[i], n_threads);

      g_array_append_val (list, n_bytes);
    }
  return list;
}

static char *
frontier_to_json (const GPtrArray *plans, const GArray *bytes, const CleaveFitOptions *options)
{
  const CleaveSummary counted = { .exclude_inputs = options->exclude_inputs };
  g_autoptr (CleaveJson) json = cleave_json_new ();

  cleave_json_begin (json, NULL);
  cleave_json_begin_list (json, "frontier");
  for (guint i = 0; i < plans->len; i++)
    {
      const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plans->pdata[i]);

      cleave_json_begin (json, NULL);
      cleave_json_int (json, "arena_bytes", totals->arena_after);
      if (g_array_index (bytes, gint64, i) >= 0)
        cleave_json_int (json, options->even_strips ? "onnx_runtime_bytes" : "scratch_bytes",
                         g_array_index (bytes, gint64, i));
      cleave_json_int (json, "macs", totals->macs_after);
      cleave_json_double (json, "added_macs_per_cent",
                          get_per_cent ((double) totals->macs_before, (double) totals->macs_after));
      cleave_json_double (json, "latency_ms", totals->latency_after / 1e6);
      cleave_json_int (json, "nodes", totals->nodes_after);
      cleave_json_int (json, "segments", cleave_fit_plan_get_n_segments (plans->pdata[i]));
      cleave_json_string (json, "peak", cleave_fit_plan_get_peak (plans->pdata[i]));
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
  cleave_json_string (json, "convention", cleave_summary_get_convention (&counted));
  cleave_json_end (json);
  return cleave_json_to_string (json);
}

static void
print_frontier (const GPtrArray *plans, const GArray *bytes, gboolean for_ort)
{
  printf ("%14s %8s %14s %10s %14s %9s %7s\n", "arena", "of all",
          for_ort ? "ONNX Runtime" : "scratch", "MACs", "latency, about", "segments", "nodes");
  for (guint i = 0; i < plans->len; i++)
    {
      const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plans->pdata[i]);
      gint64 n_bytes = g_array_index (bytes, gint64, i);
      g_autofree char *text = n_bytes < 0 ? g_strdup ("-") : cleave_size_to_print (n_bytes);
      g_autofree char *arena = cleave_size_to_print (totals->arena_after);

      printf ("%14s %6.1f %% %14s %+8.2f %% %11.3f ms %9u %7u\n", arena,
              totals->arena_before == 0
                  ? 100.0
                  : 100 * (double) totals->arena_after / (double) totals->arena_before,
              text, get_per_cent ((double) totals->macs_before, (double) totals->macs_after),
              totals->latency_after / 1e6, cleave_fit_plan_get_n_segments (plans->pdata[i]),
              totals->nodes_after);
    }
  if (plans->len > 0)
    {
      g_autofree char *peak =
          cleave_size_replace_all (cleave_fit_plan_get_peak (plans->pdata[plans->len - 1]));

      printf ("a smaller budget is limited by %s\n", peak);
    }
}

static gboolean
add_plot (CleaveOutputs *outputs,
          const char *path,
          const char *title,
          const GPtrArray *plans,
          GError **error)
{
  char *svg = cleave_frontier_picture_draw (title, plans);
  g_autoptr (GBytes) bytes = g_bytes_new_take (svg, strlen (svg));

  return cleave_outputs_add_bytes (outputs, path, bytes, error);
}

static int
show_frontier (const CleaveGraph *graph,
               const char *title,
               const Options *o,
               const CleaveFitOptions *options,
               GError **error)
{
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();
  const gboolean for_ort = options->even_strips;
  g_autoptr (GPtrArray) plans = for_ort
                                    ? cleave_fit_plan_new_frontier_for_ort (graph, options, error)
                                    : cleave_fit_plan_new_frontier (graph, options, error);
  g_autoptr (GArray) list = plans == NULL ? NULL : list_bytes (graph, plans, options->n_threads);
  g_autofree char *json = plans == NULL ? NULL : frontier_to_json (plans, list, options);
  g_autoptr (GBytes) bytes = json == NULL ? NULL : g_bytes_new_static (json, strlen (json));

  cleave_progress_end (options->watch_data);
  if (plans == NULL || (o->plot != NULL && !add_plot (outputs, o->plot, title, plans, error)) ||
      (o->dot_before != NULL &&
       !cleave_outputs_add_drawing (outputs, o->dot_before, graph, NULL, error)) ||
      (o->report != NULL && !cleave_outputs_add_bytes (outputs, o->report, bytes, error)) ||
      !cleave_outputs_commit (outputs, error))
    return CLEAVE_WRONG;
  if (o->as_json)
    fputs (json, stdout);
  else
    print_frontier (plans, list, for_ort);
  return CLEAVE_DONE;
}

/* The functions below print and write one plan. */

/* Adds the files that the options request. `json` is the text of the report, or NULL if no option
 * requests a report. */
static gboolean
add_files (CleaveOutputs *outputs,
           const Options *o,
           const CleaveGraph *before,
           const CleaveGraph *after,
           const CleaveSummary *summary,
           const char *json,
           GError **error)
{
  g_autoptr (GBytes) bytes = json == NULL ? NULL : g_bytes_new_static (json, strlen (json));
  g_autoptr (GBytes) plan = o->plan == NULL ? NULL : cleave_plan_file_write (summary->plan);

  return (o->output == NULL || cleave_outputs_add_model (outputs, o->output, after, error)) &&
         (o->dot_before == NULL ||
          cleave_outputs_add_drawing (outputs, o->dot_before, before, NULL, error)) &&
         (o->dot_after == NULL ||
          cleave_report_add_drawing (summary->report, outputs, o->dot_after, after, error)) &&
         (o->report == NULL || cleave_outputs_add_bytes (outputs, o->report, bytes, error)) &&
         (plan == NULL || cleave_outputs_add_bytes (outputs, o->plan, plan, error)) &&
         cleave_outputs_commit (outputs, error);
}

static gboolean
writes_files (const Options *o)
{
  return o->output != NULL || o->dot_before != NULL || o->dot_after != NULL || o->report != NULL ||
         o->plan != NULL || cleave_page_is_wanted ();
}

static gboolean
write_files (const Options *o,
             const CleaveGraph *before,
             const CleaveGraph *after,
             const CleaveSummary *summary,
             GError **error)
{
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();
  /* only on request: the JSON lists each piece, and making the JSON takes a tenth of the time of a
   * fit */
  g_autofree char *json = o->as_json || o->report != NULL ? cleave_summary_to_json (summary) : NULL;

  if (!o->dry_run && !add_files (outputs, o, before, after, summary, json, error))
    return FALSE;
  if (o->as_json)
    fputs (json, stdout);
  else
    cleave_summary_print (summary);
  if (!o->as_json && !o->dry_run && !writes_files (o))
    puts ("written     nothing; -o OUT.onnx writes the model");
  return TRUE;
}

static CleaveFitPlan *
find_plan (const CleaveGraph *graph, const Options *o, CleaveFitOptions *options, GError **error)
{
  if (o->from_plan != NULL)
    return cleave_plan_file_read (o->from_plan, graph, options, error);
  if (options->even_strips)
    return cleave_fit_plan_new_for_ort (graph, options, error);
  return o->count_scratch ? cleave_scratch_fit (graph, options, error)
                          : cleave_fit_plan_new (graph, options, error);
}

/* Returns the smallest budget in bytes that the message of a refused fit names, or 0. The smallest
 * budget is the last number after the word "smallest". */
static gint64
find_smallest (const char *message)
{
  const char *part = strstr (message, "smallest");
  gint64 number = 0;

  for (const char *c = part; c != NULL && *c != '\0' && *c != ';'; c++)
    if (g_ascii_isdigit (*c))
      {
        for (number = 0; g_ascii_isdigit (*c) || (*c == ',' && g_ascii_isdigit (c[1])); c++)
          number = *c == ',' ? number : 10 * number + (*c - '0');
        c--;
      }
  return number;
}

static gint64
sum_inputs (const CleaveGraph *graph)
{
  gint64 n_bytes = 0;

  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    n_bytes +=
        cleave_tensor_type_n_bytes (cleave_result_get_type (cleave_graph_get_input (graph, i)));
  return n_bytes;
}

/* If a fit fails because it does not meet its budget, adds to the error the options that may
 * help. */
static void
suggest (const CleaveGraph *graph, const CleaveFitOptions *options, GError *error)
{
  gint64 smallest = find_smallest (error->message), inputs = sum_inputs (graph);
  GString *message;

  if (!g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT) || smallest == 0 ||
      strstr (error->message, "--max-memory") != NULL)
    return;
  message = g_string_new (error->message);
  g_string_append_printf (message, "; try --max-memory %" G_GINT64_FORMAT, smallest);
  if (!options->exclude_inputs && inputs > smallest / 4)
    g_string_append_printf (
        message, ", or --exclude-inputs if the inputs (%" G_GINT64_FORMAT " bytes) lie elsewhere",
        inputs);
  g_free (error->message);
  error->message = g_string_free (message, FALSE);
}

static int
fit (CleaveGraph *graph, const Options *o, CleaveFitOptions *options, GError **error)
{
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, o, options, error);
  g_autoptr (CleaveGraph) before = cleave_graph_copy (graph);
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autofree char *verdict = NULL;
  gboolean equal = TRUE;
  CleaveSummary summary;

  cleave_progress_end (options->watch_data);
  if (plan == NULL)
    {
      suggest (graph, options, *error);
      return CLEAVE_WRONG;
    }
  report = cleave_fit_plan_apply (plan, graph, error);
  if (report == NULL || (o->check && !cleave_check (before, graph, &verdict, &equal, error)))
    return CLEAVE_WRONG;
  if (o->output != NULL)
    cleave_piece_docs_add (graph, report, plan);
  summary = (CleaveSummary){
    .report = report,
    .plan = plan,
    .exclude_inputs = options->exclude_inputs,
    .verbose = o->verbose,
    .loops = cleave_fit_plan_get_loops (plan),
    .nodes_before = cleave_split_report_get_totals (report)->nodes_before,
    .nodes_after = cleave_graph_count_operators (graph),
    .check = verdict,
    .scratch_bytes = options->even_strips ? -1 : cleave_scratch_find (graph, options->n_threads)
  };
  if (!equal)
    {
      cleave_summary_print (&summary);
      return CLEAVE_NO;
    }
  return write_files (o, before, graph, &summary, error) &&
                 cleave_page_write (before, graph, &summary, options->max_memory, error)
             ? CLEAVE_DONE
             : CLEAVE_WRONG;
}

int
cleave_cmd_fit (int argc, char **argv, GError **error)
{
  Options o = { 0 };
  g_auto (GStrv) files = parse (argc, argv, &o, error);
  g_autoptr (CleaveGraph) graph = NULL;
  g_autofree char *title = NULL;
  CleaveFitOptions options = { .watch = cleave_progress_tell_part };
  CleaveProgressLine progress;

  if (files == NULL || !parse_options (&o, &options, error))
    return CLEAVE_WRONG;
  o.model.is_mapped = o.dry_run;
  graph = cleave_model_load (files[0], &o.model, error);
  if (graph == NULL)
    return CLEAVE_WRONG;
  options.watch_data = &progress;
  cleave_progress_begin (&progress, "search, per cent");
  title = g_path_get_basename (files[0]);
  return o.frontier ? show_frontier (graph, title, &o, &options, error)
                    : fit (graph, &o, &options, error);
}
