/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave split`: splits nodes of a model. The options select nodes by name, all nodes, or nodes
 * for a number of threads.
 *
 * Over 400 lines: this file has the options of the command, and the three ways to split. */

#include "arguments.h"
#include "check.h"
#include "commands.h"
#include "model.h"
#include "output-names.h"
#include "outputs.h"
#include "page.h"
#include "progress.h"
#include "report.h"
#include "sizes.h"
#include "split-limits.h"

#include <stdio.h>
#include <string.h>

/* The largest number of options of the pass `split`. The command runs the pass, and has all options
 * of the pass except the options that select nodes. Arrays of this length hold the values of the
 * options. */
#define MAX_SPLIT_OPTIONS 32

typedef struct
{
  CleaveModelOptions model;
  char *texts[MAX_SPLIT_OPTIONS]; /* value of each option of the pass; NULL: not given */
  gboolean flags[MAX_SPLIT_OPTIONS];
  GHashTable *given; /* maps the name of each given option to its value */
  char **nodes;
  gboolean all, check, as_json, keep_going, dry_run, verbose;
  char *output, *dot_before, *dot_after, *report, *for_threads;
} Options;

static void
options_clear (Options *o)
{
  g_clear_pointer (&o->given, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static gboolean
selects_nodes (const CleavePassOption *option)
{
  return g_str_equal (option->name, "node") || g_str_equal (option->name, "all");
}

/* Adds the options of the pass `split` to the options of the command. */
static void
add_entries (GArray *entries, Options *o)
{
  const CleavePassInfo *pass = cleave_pass_lookup ("split");

  g_assert (cleave_pass_info_get_n_options (pass) <= MAX_SPLIT_OPTIONS);
  for (guint i = 0; i < cleave_pass_info_get_n_options (pass); i++)
    {
      const CleavePassOption *option = cleave_pass_info_get_option (pass, i);
      GOptionEntry entry = { cleave_split_name_option (option->name),
                             0,
                             0,
                             G_OPTION_ARG_NONE,
                             &o->flags[i],
                             option->summary,
                             option->value };

      if (selects_nodes (option))
        continue;
      if (option->value != NULL)
        {
          entry.arg = G_OPTION_ARG_STRING;
          entry.arg_data = &o->texts[i];
        }
      g_array_append_val (entries, entry);
    }
}

static void
gather_options (Options *o)
{
  const CleavePassInfo *pass = cleave_pass_lookup ("split");

  o->given = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < cleave_pass_info_get_n_options (pass); i++)
    if (o->texts[i] != NULL || o->flags[i])
      g_hash_table_insert (o->given, (gpointer) cleave_pass_info_get_option (pass, i)->name,
                           o->texts[i] != NULL ? o->texts[i] : (gpointer) "");
}

static gboolean
is_given (const Options *o, const char *name)
{
  return g_hash_table_contains (o->given, name);
}

/* Returns the options of the command (GOptionEntry, NULL-terminated), which store their values in
 * `o`. */
static GArray *
list_entries (Options *o)
{
  const GOptionEntry ours[] = {
    { "node", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->nodes, "split this node; may be given again",
      "NAME" },
    { "all", 0, 0, G_OPTION_ARG_NONE, &o->all, "split every node that can take the option", NULL },
    { "for-threads", 0, 0, G_OPTION_ARG_STRING, &o->for_threads,
      "split large values into strips, and other expensive nodes for T threads", "T" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &o->output, "write the split model", "OUT.onnx" },
    { "dot-before", 0, 0, G_OPTION_ARG_FILENAME, &o->dot_before, "draw the model before the split",
      "FILE" },
    { "dot-after", 0, 0, G_OPTION_ARG_FILENAME, &o->dot_after, "draw the split model", "FILE" },
    { "dry-run", 'n', 0, G_OPTION_ARG_NONE, &o->dry_run, "print the report, and write no file",
      NULL },
    { "verbose", 'v', 0, G_OPTION_ARG_NONE, &o->verbose, "list all nodes", NULL },
    { "keep-going", 0, 0, G_OPTION_ARG_NONE, &o->keep_going,
      "write the files even if a limit is not met or nothing is split", NULL },
    { "save-json", 0, 0, G_OPTION_ARG_FILENAME, &o->report,
      "write the object of --json to this file", "FILE.json" },
    { "check", 0, 0, G_OPTION_ARG_NONE, &o->check,
      "run the model before and after the split, and compare shapes and bits", NULL },
    CLEAVE_BYTES_OPTION,
    { "json", 0, 0, G_OPTION_ARG_NONE, &o->as_json, "print the report as JSON", NULL },
    CLEAVE_MODEL_OPTIONS (o->model),
    CLEAVE_FORCE_OPTION (o->model),
  };
  GArray *entries = g_array_new (TRUE, FALSE, sizeof (GOptionEntry));

  g_array_append_vals (entries, ours, 3);
  add_entries (entries, o);
  g_array_append_vals (entries, ours + 3, G_N_ELEMENTS (ours) - 3);
  return entries;
}

GArray *
cleave_cmd_split_list_options (void)
{
  static Options unused;

  return list_entries (&unused);
}

static char **
parse (int argc, char **argv, Options *o, GError **error)
{
  g_autoptr (GArray) entries = list_entries (o);
  static const CleaveArgumentNeed needs[] = {
    { "keep-going", { "output", "dot-before", "dot-after", "save-json" } },
    { "force", { "output", "dot-before", "dot-after", "save-json" } },
    { 0 },
  };
  const CleaveArguments arguments = {
    (const GOptionEntry *) (gpointer) entries->data, cleave_page_is_wanted () ? NULL : needs,
    "MODEL.onnx",
    "Split nodes of a model into pieces that compute the same bits.\nChoose nodes (--node, --all) "
    "and a way to split them: --dims with --num-chunks,\n--chunk-size, --chunk-sizes or "
    "--chunk-weights; "
    "or --slice-ranges; or a limit (--max-…),\nalone or with a way to split. Or let --for-threads "
    "choose nodes and pieces.\nWithout -o, print the report and write no model.",
    1
  };
  char **files = cleave_argument_parse (&arguments, argc, argv, error);

  gather_options (o);
  return files;
}

/* Returns whether the command must fit the model: the options limit the whole model, and select
 * neither nodes nor a tiling. */
static gboolean
is_fit (const Options *o)
{
  guint n_limits = is_given (o, "max-added-macs") ? 2 : 1;

  return o->for_threads == NULL && !o->all && o->nodes == NULL &&
         is_given (o, "max-schedule-memory") && g_hash_table_size (o->given) == n_limits;
}

/* Checks the combination of options before the model is read. */
static gboolean
check_options (const Options *o, GError **error)
{
  gboolean goes_on = is_given (o, "depth") || is_given (o, "halo") ||
                     is_given (o, "strips-per-band") || is_given (o, "single-use");

  if (!is_fit (o) && (o->for_threads != NULL) + (o->all != FALSE) + (o->nodes != NULL) != 1)
    return cleave_argument_fail (
        error, "expected either --node, --all or --for-threads to say what to split");
  if (o->for_threads != NULL && g_hash_table_size (o->given) > 0 && !goes_on)
    return cleave_argument_fail (error, "--for-threads chooses the nodes and how to split them: "
                                        "leave out the other options of a split");
  if (o->dry_run && o->keep_going)
    return cleave_argument_fail (error, "--keep-going writes files and --dry-run none: give one");
  if (o->nodes == NULL && goes_on)
    return cleave_argument_fail (
        error, "--depth, --halo, --strips-per-band and --single-use need --node, not %s",
        o->all ? "--all" : "--for-threads");
  return cleave_output_name_check_model (o->output, error) &&
         cleave_output_name_check_drawings (o->dot_before, o->dot_after, error) &&
         cleave_output_name_check (o->report, NULL, NULL, error);
}

/* The functions below split the graph. */

static void
show_progress (gint64 done, gint64 budget, gpointer data)
{
  cleave_progress_tell_part ((double) done / (double) budget, data);
}

static CleaveSplitReport *
split_for_threads (CleaveGraph *graph, const Options *o, CleaveSummary *summary, GError **error)
{
  CleaveSplitReport *report;
  gint64 n_threads;

  if (!cleave_text_to_int ("--for-threads", o->for_threads, 1, 1024, &n_threads, error))
    return NULL;
  summary->n_threads = (guint) n_threads;
  if (!cleave_pass_remove_dead (graph, NULL, NULL, error) ||
      !cleave_graph_estimate (graph, summary->n_threads, &summary->threads_before, error))
    return NULL;
  report = cleave_split_for_threads (graph, summary->n_threads, error);
  if (report != NULL)
    cleave_graph_estimate (graph, summary->n_threads, &summary->threads_after, NULL);
  return report;
}

static gboolean
has_limit (const CleaveConstraint *constraint)
{
  return constraint->max_memory != 0 || constraint->max_subgraph_memory != 0 ||
         constraint->max_schedule_memory != 0 || constraint->max_added_macs < 0 ||
         constraint->max_added_macs > 0 || constraint->max_pieces != 0;
}

static CleaveSplitReport *
fit (CleaveGraph *graph, const Options *o, CleaveProgressLine *progress, GError **error)
{
  g_autoptr (CleaveTiling) split = NULL;
  g_autoptr (CleaveFitPlan) plan = NULL;
  CleaveFitOptions options = { .watch = cleave_progress_tell_part, .watch_data = progress };
  CleaveConstraint constraint;

  if (!cleave_split_parse (o->given, "--", &split, &constraint, error))
    return NULL;
  options.max_memory = constraint.max_schedule_memory;
  options.max_added_macs = constraint.max_added_macs;
  plan = cleave_fit_plan_new (graph, &options, error);
  return plan == NULL ? NULL : cleave_fit_plan_apply (plan, graph, error);
}

/* Replaces --max-memory in an error of the pass by --max-piece-memory, the option of the
 * command. */
static void
name_option (GError *error)
{
  GString *message = g_string_new (error->message);

  g_string_replace (message, "--max-memory", "--max-piece-memory", 0);
  g_free (error->message);
  error->message = g_string_free (message, FALSE);
}

/* If a node is unknown, adds the next step to the error. If a name of --node has a ',' or a '*',
 * the next step is to give one name. If no node has a similar name, the next step is the command
 * that lists the nodes. */
static void
explain_unknown (const Options *o, GError *error)
{
  gboolean is_list = FALSE;
  char *message;

  for (guint i = 0; o->nodes[i] != NULL; i++)
    is_list = is_list || strpbrk (o->nodes[i], ",*") != NULL;
  if (strstr (error->message, "has no node") == NULL ||
      (!is_list && strstr (error->message, "did you mean") != NULL))
    return;
  message = g_strconcat (error->message,
                         is_list ? "; --node takes one name, and may be given again"
                                 : "; cleave info MODEL --nodes lists the nodes",
                         NULL);
  g_free (error->message);
  error->message = message;
}

static CleaveSplitReport *
split_graph (CleaveGraph *graph,
             const Options *o,
             CleaveSummary *summary,
             CleaveProgressLine *progress,
             GError **error)
{
  g_autoptr (CleaveTiling) split = NULL;
  CleaveConstraint constraint, *limit;
  CleaveRecursion recursion;
  CleaveSplitReport *report;
  GError *mine = NULL;

  if (o->for_threads != NULL)
    return split_for_threads (graph, o, summary, error);
  if (is_fit (o))
    return fit (graph, o, progress, error);
  if (!cleave_split_parse (o->given, "--", &split, &constraint, &mine) ||
      !cleave_recursion_parse (o->given, "--", &recursion, &mine))
    {
      name_option (mine);
      g_propagate_error (error, mine);
      return NULL;
    }
  constraint.watch = show_progress;
  constraint.watch_data = progress;
  limit = has_limit (&constraint) ? &constraint : NULL;
  if (o->all)
    return cleave_split_all_nodes (graph, split, limit, error);
  report = cleave_split_nodes_by_name (graph, (const char *const *) o->nodes, split, limit,
                                       &recursion, &mine);
  if (report == NULL)
    {
      explain_unknown (o, mine);
      g_propagate_error (error, mine);
    }
  return report;
}

/* Returns whether the user named nodes and none of them was split. A node that was "split" into one
 * piece counts as split. */
static gboolean
is_refused (const Options *o, const CleaveSplitReport *report)
{
  gboolean refused = FALSE;

  for (guint i = 0; i < cleave_split_report_get_n_not_split (report); i++)
    refused |= cleave_split_report_get_not_split (report, i)->reason != CLEAVE_NOT_SPLIT_ONE_PIECE;
  if (o->nodes == NULL || !refused || cleave_split_report_get_n_split (report) > 0)
    return FALSE;
  fputs ("cleave: none of the named nodes can be split\n", stderr);
  return TRUE;
}

static gboolean
writes_files (const Options *o)
{
  return o->output != NULL || o->dot_before != NULL || o->dot_after != NULL || o->report != NULL ||
         cleave_page_is_wanted ();
}

/* Writes the files that the options request. If the exit status is CLEAVE_NO, writes only the
 * report. `before` is the graph before the split; NULL if no option requests its drawing. */
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

static void
print_summary (const Options *o, const CleaveSummary *summary, gboolean good)
{
  g_autofree char *json = o->as_json ? cleave_summary_to_json (summary) : NULL;

  if (json != NULL)
    fputs (json, stdout);
  else
    cleave_summary_print (summary);
  if (json == NULL && !o->dry_run && good && !writes_files (o))
    puts ("written     nothing; -o OUT.onnx writes the model");
}

int
cleave_cmd_split (int argc, char **argv, GError **error)
{
  g_auto (Options) o = { 0 };
  g_auto (GStrv) files = parse (argc, argv, &o, error);
  g_autoptr (CleaveGraph) graph = NULL, before = NULL;
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autofree char *verdict = NULL;
  gboolean equal = TRUE, good;
  CleaveProgressLine progress;
  CleaveSummary summary = { 0 };

  if (files == NULL || !check_options (&o, error))
    return CLEAVE_WRONG;
  graph = cleave_model_load (files[0], &o.model, error);
  if (graph == NULL)
    return CLEAVE_WRONG;
  if (o.check || o.dot_before != NULL || cleave_page_is_wanted ())
    before = cleave_graph_copy (graph);
  cleave_progress_begin (&progress, "search, per cent of its budget");
  report = split_graph (graph, &o, &summary, &progress, error);
  cleave_progress_end (&progress);
  if (report == NULL || (o.check && !cleave_check (before, graph, &verdict, &equal, error)))
    return CLEAVE_WRONG;
  summary.report = report;
  summary.nodes_before = cleave_split_report_get_totals (report)->nodes_before;
  summary.nodes_after = cleave_graph_count_operators (graph);
  summary.check = verdict;
  summary.verbose = o.verbose;
  good = cleave_limits_judge (report) & !is_refused (&o, report);
  if (equal && !o.dry_run && !write_files (&o, before, graph, &summary, good, error))
    return CLEAVE_WRONG;
  if (!cleave_page_write (before, graph, &summary, 0, error))
    return CLEAVE_WRONG;
  print_summary (&o, &summary, equal && good);
  return equal && good ? CLEAVE_DONE : CLEAVE_NO;
}
