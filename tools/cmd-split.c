/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "arguments.h"
#include "check.h"
#include "commands.h"
#include "model.h"
#include "outputs.h"
#include "progress.h"
#include "report.h"
#include "split-arguments.h"

#include <stdio.h>
#include <string.h>

typedef struct
{
  CleaveSplitArguments arguments;
  CleaveModelOptions model;
  char **nodes;
  gboolean all, single_use, check, as_json, keep_going;
  char *depth, *halo, *strips, *output, *dot_before, *dot_after, *report, *for_threads;
} Options;

static void
options_clear (Options *o)
{
  cleave_split_arguments_clear (&o->arguments);
  cleave_model_options_clear (&o->model);
  g_strfreev (o->nodes);
  g_free (o->depth);
  g_free (o->halo);
  g_free (o->strips);
  g_free (o->output);
  g_free (o->dot_before);
  g_free (o->dot_after);
  g_free (o->report);
  g_free (o->for_threads);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static char **
parse (int argc, char **argv, Options *o, GError **error)
{
  const GOptionEntry entries[] = {
    { "node", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->nodes, "Split this node; may be given again",
      "NAME" },
    { "all", 0, 0, G_OPTION_ARG_NONE, &o->all, "Split every node that can take the option", NULL },
    { "for-threads", 0, 0, G_OPTION_ARG_STRING, &o->for_threads,
      "Split what is worth it so that T threads have work and large values are never whole", "T" },
    { "dims", 0, 0, G_OPTION_ARG_STRING, &o->arguments.dims,
      "Dimensions to cut: numbers, negative from the end, or N, C, H, W", "D,…" },
    { "num-chunks", 0, 0, G_OPTION_ARG_STRING, &o->arguments.num_chunks,
      "So many chunks along each", "K,…" },
    { "chunk-size", 0, 0, G_OPTION_ARG_STRING, &o->arguments.chunk_size, "Chunks of this size",
      "S,…" },
    { "chunk-sizes", 0, 0, G_OPTION_ARG_STRING, &o->arguments.chunk_sizes,
      "Chunks of these sizes; one may be -1", "S,S/S,…" },
    { "chunk-weights", 0, 0, G_OPTION_ARG_STRING, &o->arguments.chunk_weights,
      "Chunks in these proportions", "W,W/W,…" },
    { "slice-ranges", 0, 0, G_OPTION_ARG_STRING, &o->arguments.slice_ranges,
      "Exactly these chunks, in all dimensions", "B:E,…/…" },
    { "max-memory", 0, 0, G_OPTION_ARG_STRING, &o->arguments.limits.memory,
      "Bytes that each piece may take: operands, weights too, and results in use", "SIZE" },
    { "max-subgraph-memory", 0, 0, G_OPTION_ARG_STRING, &o->arguments.limits.subgraph_memory,
      "Peak of each parallel subgraph run by itself", "SIZE" },
    { "max-schedule-memory", 0, 0, G_OPTION_ARG_STRING, &o->arguments.limits.schedule_memory,
      "Peak of the whole model run depth first", "SIZE" },
    { "max-added-macs", 0, 0, G_OPTION_ARG_STRING, &o->arguments.limits.added_macs,
      "What halos may add to the MACs of the model", "PERCENT" },
    { "max-pieces", 0, 0, G_OPTION_ARG_STRING, &o->arguments.limits.pieces,
      "Pieces that a node may become", "N" },
    { "search-budget", 0, 0, G_OPTION_ARG_STRING, &o->arguments.limits.search_budget,
      "Work that a search may do until it answers \"not found\"", "N" },
    { "depth", 0, 0, G_OPTION_ARG_STRING, &o->depth,
      "Go on to the nodes that it reads, so many deep (1: not)", "N" },
    { "halo", 0, 0, G_OPTION_ARG_STRING, &o->halo,
      "Rows that two chunks need: recompute (default), carry or exchange", "POLICY" },
    { "strips-per-band", 0, 0, G_OPTION_ARG_STRING, &o->strips,
      "With carry and exchange: so many strips follow each other, bands run in parallel", "N" },
    { "align", 0, 0, G_OPTION_ARG_STRING, &o->arguments.align, "Chunks end at multiples of this",
      "A,…" },
    { "min-chunk", 0, 0, G_OPTION_ARG_STRING, &o->arguments.min_chunk,
      "Chunks are at least this long", "M,…" },
    { "small-first", 0, 0, G_OPTION_ARG_NONE, &o->arguments.small_first,
      "The smaller chunks come first", NULL },
    { "single-use", 0, 0, G_OPTION_ARG_NONE, &o->single_use,
      "Do not go past a value with users outside", NULL },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &o->output, "Write the split model", "OUT.onnx" },
    { "dot-before", 0, 0, G_OPTION_ARG_FILENAME, &o->dot_before, "Draw the model as it was",
      "FILE" },
    { "dot-after", 0, 0, G_OPTION_ARG_FILENAME, &o->dot_after, "Draw the split model", "FILE" },
    { "keep-going", 0, 0, G_OPTION_ARG_NONE, &o->keep_going,
      "Write the files even if a limit is not met or nothing is split", NULL },
    { "report", 0, 0, G_OPTION_ARG_FILENAME, &o->report, "Write the report as JSON", "FILE.json" },
    { "check", 0, 0, G_OPTION_ARG_NONE, &o->check,
      "Run both, as written, and compare shapes and bits", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &o->as_json, "Print the report as JSON", NULL },
    CLEAVE_MODEL_OPTIONS (o->model),
    G_OPTION_ENTRY_NULL,
  };

  return cleave_argument_parse (
      argc, argv, entries, "MODEL.onnx",
      "Splits nodes of a model into pieces that compute the same, bit for bit.\n"
      "Say which nodes (--node, --all) and how (--dims with one of the four options after\n"
      "it, --slice-ranges, or a limit (--max-…), alone or with one of them); or --for-threads.",
      1, error);
}

/* A limit on the whole model, and nothing that says what to split: the model is to be fitted. */
static gboolean
is_fit (const Options *o)
{
  const CleaveSplitArguments *a = &o->arguments;

  return o->for_threads == NULL && !o->all && o->nodes == NULL && o->depth == NULL &&
         o->halo == NULL && o->strips == NULL && !o->single_use &&
         a->limits.schedule_memory != NULL && !cleave_split_arguments_has_option (a) &&
         a->limits.memory == NULL && a->limits.subgraph_memory == NULL &&
         a->limits.pieces == NULL && a->limits.search_budget == NULL;
}

/* What is asked for must make sense before a model is read. */
static gboolean
check_options (const Options *o, GError **error)
{
  if (!is_fit (o) && (o->for_threads != NULL) + (o->all != FALSE) + (o->nodes != NULL) != 1)
    return cleave_argument_fail (
        error, "expected either --node, --all or --for-threads to say what to split");
  if (o->for_threads != NULL && cleave_split_arguments_is_given (&o->arguments))
    return cleave_argument_fail (error, "--for-threads finds itself how to split each node");
  if (o->nodes == NULL &&
      (o->depth != NULL || o->halo != NULL || o->strips != NULL || o->single_use))
    return cleave_argument_fail (
        error, "--depth, --halo, --strips-per-band and --single-use need --node, not %s",
        o->all ? "--all" : "--for-threads");
  if (o->arguments.limits.search_budget != NULL && !cleave_limits_is_given (&o->arguments.limits))
    return cleave_argument_fail (error, "--search-budget is for a search, which needs a limit");
  if (o->strips != NULL && (o->halo == NULL || g_str_equal (o->halo, "recompute")))
    return cleave_argument_fail (error, "--strips-per-band needs --halo carry or exchange");
  if (o->output == NULL && o->dot_after == NULL && o->report == NULL && !o->check && !o->as_json)
    return cleave_argument_fail (error, "-o OUT.onnx is missing");
  return TRUE;
}

static gboolean
parse_recursion (const Options *o, CleaveRecursion *recursion, GError **error)
{
  static const char *const halos[] = { [CLEAVE_HALO_RECOMPUTE] = "recompute",
                                       [CLEAVE_HALO_CARRY] = "carry",
                                       [CLEAVE_HALO_EXCHANGE] = "exchange" };
  gint64 depth = 1, strips = 0;

  if (o->depth != NULL && !cleave_argument_int ("--depth", o->depth, 1, G_MAXUINT32, &depth, error))
    return FALSE;
  if (o->strips != NULL &&
      !cleave_argument_int ("--strips-per-band", o->strips, 1, G_MAXUINT32, &strips, error))
    return FALSE;
  *recursion = (CleaveRecursion){ .depth = (guint) depth,
                                  .strips_per_band = (guint) strips,
                                  .single_use = o->single_use };
  if (o->halo == NULL)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (halos); i++)
    if (g_str_equal (o->halo, halos[i]))
      {
        recursion->halo = (CleaveHalo) i;
        return TRUE;
      }
  return cleave_argument_fail (error, "--halo expects recompute, carry or exchange, not '%s'",
                               o->halo);
}

/* Splitting */

static GArray *
make_requests (const CleaveGraph *graph,
               char **names,
               const CleaveSplit *split,
               const CleaveConstraint *constraint,
               GError **error)
{
  g_autoptr (GArray) requests = g_array_new (FALSE, FALSE, sizeof (CleaveSplitRequest));

  for (guint i = 0; names[i] != NULL; i++)
    {
      CleaveSplitRequest request = { cleave_model_find_node (graph, names[i]), split, constraint };

      if (request.node == NULL)
        {
          cleave_argument_fail (error, "--node: the model has no node '%s'", names[i]);
          return NULL;
        }
      g_array_append_val (requests, request);
    }
  return g_steal_pointer (&requests);
}

static void
tell_search (gint64 done, gint64 budget, gpointer data)
{
  cleave_progress_tell (data, (guint) (100 * (double) done / (double) budget), 100);
}

static CleaveSplitReport *
split_for_threads (CleaveGraph *graph, const Options *o, CleaveSummary *summary, GError **error)
{
  CleaveSplitReport *report;
  gint64 n_threads;

  if (!cleave_argument_int ("--for-threads", o->for_threads, 1, 1024, &n_threads, error))
    return NULL;
  summary->n_threads = (guint) n_threads;
  summary->threads_peak_before =
      cleave_graph_get_peak_bytes_with_threads (graph, summary->n_threads, error);
  if (summary->threads_peak_before < 0)
    return NULL;
  report = cleave_split_for_threads (graph, summary->n_threads, error);
  summary->threads_peak_after =
      report == NULL ? -1
                     : cleave_graph_get_peak_bytes_with_threads (graph, summary->n_threads, NULL);
  return report;
}

static void
tell_fit (double part, gpointer data)
{
  cleave_progress_tell (data, (guint) (100 * part), 100);
}

static CleaveSplitReport *
fit (CleaveGraph *graph, const Options *o, CleaveProgressLine *progress, GError **error)
{
  g_autoptr (CleaveSplit) split = NULL;
  g_autoptr (CleaveFitPlan) plan = NULL;
  CleaveFitOptions options = { .watch = tell_fit, .watch_data = progress };
  CleaveConstraint constraint;

  if (!cleave_split_arguments_parse (&o->arguments, &split, &constraint, error))
    return NULL;
  options.max_memory = constraint.max_schedule_memory;
  options.max_added_macs = constraint.max_added_macs;
  plan = cleave_fit_plan_new (graph, &options, error);
  return plan == NULL ? NULL : cleave_fit_plan_apply (plan, graph, error);
}

static CleaveSplitReport *
split_graph (CleaveGraph *graph,
             const Options *o,
             CleaveSummary *summary,
             CleaveProgressLine *progress,
             GError **error)
{
  g_autoptr (CleaveSplit) split = NULL;
  g_autoptr (GArray) requests = NULL;
  CleaveConstraint constraint, *limit;
  CleaveRecursion recursion;

  if (o->for_threads != NULL)
    return split_for_threads (graph, o, summary, error);
  if (is_fit (o))
    return fit (graph, o, progress, error);
  if (!cleave_split_arguments_parse (&o->arguments, &split, &constraint, error) ||
      !parse_recursion (o, &recursion, error))
    return NULL;
  constraint.watch = tell_search;
  constraint.watch_data = progress;
  limit = cleave_limits_is_given (&o->arguments.limits) ? &constraint : NULL;
  if (o->all)
    return cleave_split_all_nodes (graph, split, limit, error);
  requests = make_requests (graph, o->nodes, split, limit, error);
  if (requests == NULL)
    return NULL;
  if (recursion.depth == 1)
    return cleave_split_nodes (graph, (CleaveSplitRequest *) (gpointer) requests->data,
                               requests->len, error);
  return cleave_split_nodes_recursively (graph, (CleaveSplitRequest *) (gpointer) requests->data,
                                         requests->len, &recursion, error);
}

/* A node that is asked for by name is to be split, or to need it not. */
static gboolean
is_refused (const Options *o, const CleaveSplitReport *report)
{
  gboolean refused = FALSE;

  for (guint i = 0; i < cleave_split_report_get_n_not_split (report); i++)
    refused |= cleave_split_report_get_not_split (report, i)->reason != CLEAVE_NOT_SPLIT_ONE_PIECE;
  if (o->nodes == NULL || !refused || cleave_split_report_get_n_split (report) > 0)
    return FALSE;
  fputs ("cleave: none of the nodes asked for can be split\n", stderr);
  return TRUE;
}

/* The report alone if the answer is no.  `before` is NULL where nobody asked for it. */
static gboolean
write_files (const Options *o,
             const CleaveGraph *before,
             const CleaveGraph *after,
             const CleaveSummary *summary,
             gboolean good,
             GError **error)
{
  gboolean all = good || o->keep_going;
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();
  g_autofree char *json = o->report == NULL ? NULL : cleave_summary_to_json (summary);
  g_autoptr (GBytes) bytes = json == NULL ? NULL : g_bytes_new_static (json, strlen (json));

  return (!all || o->output == NULL ||
          cleave_outputs_add_model (outputs, o->output, after, error)) &&
         (!all || o->dot_before == NULL ||
          cleave_outputs_add_drawing (outputs, o->dot_before, before, NULL, error)) &&
         (!all || o->dot_after == NULL ||
          cleave_report_add_drawing (summary->report, outputs, o->dot_after, after, error)) &&
         (o->report == NULL || cleave_outputs_add_bytes (outputs, o->report, bytes, error)) &&
         cleave_outputs_commit (outputs, error);
}

int
cleave_cmd_split (int argc, char **argv, GError **error)
{
  g_auto (Options) o = { 0 };
  g_auto (GStrv) files = parse (argc, argv, &o, error);
  g_autoptr (CleaveGraph) graph = NULL, before = NULL;
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autofree char *verdict = NULL, *json = NULL;
  gboolean equal = TRUE, good;
  CleaveProgressLine progress;
  CleaveSummary summary = { 0 };
  guint n_operators;

  if (files == NULL || !check_options (&o, error))
    return CLEAVE_WRONG;
  graph = cleave_model_load (files[0], &o.model, error);
  if (graph == NULL)
    return CLEAVE_WRONG;
  n_operators = cleave_graph_count_operators (graph);
  if (o.check || o.dot_before != NULL)
    before = cleave_graph_copy (graph);
  cleave_progress_begin (&progress, "search, per cent of its budget");
  report = split_graph (graph, &o, &summary, &progress, error);
  cleave_progress_end (&progress);
  if (report == NULL && cleave_fit_refused (error))
    return CLEAVE_NO;
  if (report == NULL || (o.check && !cleave_check (before, graph, &verdict, &equal, error)))
    return CLEAVE_WRONG;
  summary.report = report;
  summary.nodes_before = n_operators;
  summary.nodes_after = cleave_graph_count_operators (graph);
  summary.check = verdict;
  good = cleave_limits_judge (report) & !is_refused (&o, report);
  if (equal && !write_files (&o, before, graph, &summary, good, error))
    return CLEAVE_WRONG;
  if (o.as_json)
    json = cleave_summary_to_json (&summary);
  if (json != NULL)
    fputs (json, stdout);
  else
    cleave_summary_print (&summary);
  return equal && good ? CLEAVE_DONE : CLEAVE_NO;
}
