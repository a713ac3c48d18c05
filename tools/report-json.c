/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes the report of a split as JSON, part by part. */

#include "report.h"

#include "convention.h"
#include "json.h"

static void
add_split (CleaveJson *json, const CleaveSplitNode *split)
{
  cleave_json_begin (json, NULL);
  cleave_json_string (json, "node", split->name);
  cleave_json_string (json, "op", cleave_op_get_name (split->op));
  cleave_json_begin_list (json, "pieces");
  for (guint i = 0; i < split->n_pieces; i++)
    {
      cleave_json_begin (json, NULL);
      cleave_json_string (json, "node", cleave_node_get_name (split->pieces[i]));
      cleave_json_range (json, "range", &split->ranges[i]);
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
  cleave_json_end (json);
}

static void
add_unsplit (CleaveJson *json, const CleaveUnsplitNode *unsplit)
{
  cleave_json_begin (json, NULL);
  cleave_json_string (json, "node", unsplit->name);
  cleave_json_string (json, "op", cleave_op_get_name (unsplit->op));
  cleave_json_string (json, "reason", cleave_not_split_get_name (unsplit->reason));
  cleave_json_string (json, "message", unsplit->message == NULL ? "" : unsplit->message);
  cleave_json_end (json);
}

static void
add_pair (CleaveJson *json, const char *name, gint64 before, gint64 after, const char *convention)
{
  cleave_json_begin (json, name);
  cleave_json_int (json, "before", before);
  cleave_json_int (json, "after", after);
  if (convention != NULL)
    cleave_json_string (json, "convention", convention);
  cleave_json_end (json);
}

static void
add_number (CleaveJson *json, const char *name, CleaveLimitKind kind, double number)
{
  if (kind == CLEAVE_LIMIT_ADDED_MACS)
    cleave_json_double (json, name, 100 * number);
  else
    cleave_json_int (json, name, (gint64) number);
}

static void
add_limits (CleaveJson *json, const CleaveSplitReport *report)
{
  cleave_json_begin_list (json, "limits");
  for (guint i = 0; i < cleave_split_report_get_n_limits (report); i++)
    {
      const CleaveSplitLimit *limit = cleave_split_report_get_limit (report, i);

      cleave_json_begin (json, NULL);
      cleave_json_string (json, "limit", cleave_limit_kind_get_name (limit->kind));
      add_number (json, "asked", limit->kind, limit->asked);
      add_number (json, "reached", limit->kind, limit->reached);
      cleave_json_bool (json, "met", limit->is_met);
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
}

static void
add_search (CleaveJson *json, const CleaveSplitTotals *totals)
{
  if (totals->search_budget == 0)
    return;
  cleave_json_begin (json, "search");
  cleave_json_int (json, "work", totals->search_work);
  cleave_json_int (json, "budget", totals->search_budget);
  cleave_json_bool (json, "gave_up", totals->search_gave_up);
  cleave_json_end (json);
}

static void
add_names (CleaveJson *json, const char *name, const char *const *names, guint n)
{
  cleave_json_begin_list (json, name);
  for (guint i = 0; i < n; i++)
    cleave_json_string (json, NULL, names[i]);
  cleave_json_end_list (json);
}

const char *
cleave_summary_get_halo_name (CleaveHalo halo)
{
  return halo == CLEAVE_HALO_CARRY          ? "carry"
         : halo == CLEAVE_HALO_CARRY_NARROW ? "carry-narrow"
                                            : "recompute";
}

/* Adds times, which are given in nanoseconds. */
static void
add_latency (CleaveJson *json, double before, double after)
{
  cleave_json_begin (json, "latency_ms");
  cleave_json_double (json, "before", before / 1e6);
  cleave_json_double (json, "after", after / 1e6);
  cleave_json_end (json);
}

static void
add_fit (CleaveJson *json, const CleaveSummary *summary)
{
  const CleaveFitPlan *plan = summary->plan;
  const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plan);

  add_pair (json, "arena_bytes", totals->arena_before, totals->arena_after, NULL);
  if (summary->scratch_bytes >= 0)
    cleave_json_int (json, "scratch_bytes", summary->scratch_bytes);
  add_latency (json, totals->latency_before, totals->latency_after);
  cleave_json_string (json, "peak", cleave_fit_plan_get_peak (plan));
  cleave_json_begin_list (json, "segments");
  for (guint i = 0; i < cleave_fit_plan_get_n_segments (plan); i++)
    {
      const CleaveFitSegment *segment = cleave_fit_plan_get_segment (plan, i);

      cleave_json_begin (json, NULL);
      cleave_json_string (json, "from", segment->nodes[0]);
      add_names (json, "to", segment->ends, segment->n_ends);
      cleave_json_int (json, "strips", segment->n_strips);
      cleave_json_int (json, "columns", segment->n_columns);
      cleave_json_string (json, "halo", cleave_summary_get_halo_name (segment->halo));
      cleave_json_string (json, "column_halo", cleave_summary_get_halo_name (segment->column_halo));
      cleave_json_int (json, "bytes", segment->n_bytes);
      cleave_json_int (json, "added_macs", segment->added_macs);
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
}

static void
add_loops (CleaveJson *json, const CleaveFitLoops *loops)
{
  cleave_json_int (json, "loops", loops->n_loops);
  cleave_json_int (json, "segments_without_loop", loops->n_pieces);
  cleave_json_int (json, "segments_whole", loops->n_whole);
  add_pair (json, "onnx_runtime_bytes", loops->bytes_before, loops->bytes_after, NULL);
  if (loops->bytes_refused > 0)
    cleave_json_int (json, "refused_onnx_runtime_bytes", loops->bytes_refused);
}

const char *
cleave_summary_get_convention (const CleaveSummary *summary)
{
  return summary != NULL && summary->exclude_inputs ? CLEAVE_CONVENTION_WITHOUT_INPUTS
                                                    : CLEAVE_MEMORY_CONVENTION;
}

static CleaveJson *
make_json (const CleaveSummary *summary)
{
  const CleaveSplitReport *report = summary->report;
  const CleaveSplitTotals *totals = cleave_split_report_get_totals (report);
  g_autoptr (CleaveJson) json = cleave_json_new ();

  cleave_json_begin (json, NULL);
  cleave_json_begin_list (json, "split");
  for (guint i = 0; i < cleave_split_report_get_n_split (report); i++)
    add_split (json, cleave_split_report_get_split (report, i));
  cleave_json_end_list (json);
  cleave_json_begin_list (json, "not_split");
  for (guint i = 0; i < cleave_split_report_get_n_not_split (report); i++)
    add_unsplit (json, cleave_split_report_get_not_split (report, i));
  cleave_json_end_list (json);
  add_limits (json, report);
  add_search (json, totals);
  add_pair (json, "nodes", summary->nodes_before, summary->nodes_after, NULL);
  add_pair (json, "macs", totals->macs_before, totals->macs_after, NULL);
  add_pair (json, "peak_activation_bytes", totals->peak_bytes_before, totals->peak_bytes_after,
            cleave_summary_get_convention (summary));
  if (summary->plan != NULL)
    cleave_json_bool (json, "inputs_counted", !summary->exclude_inputs);
  if (summary->n_threads > 0)
    {
      cleave_json_int (json, "threads", summary->n_threads);
      add_pair (json, "peak_activation_bytes_with_threads",
                summary->threads_before.peak_activation_bytes,
                summary->threads_after.peak_activation_bytes, CLEAVE_MEMORY_CONVENTION);
      add_latency (json, summary->threads_before.nanoseconds, summary->threads_after.nanoseconds);
    }
  if (summary->plan != NULL)
    add_fit (json, summary);
  if (summary->loops != NULL)
    add_loops (json, summary->loops);
  cleave_json_int (json, "parallel_subgraphs", totals->n_parallel_subgraphs);
  cleave_json_int (json, "parallel_macs", totals->parallel_macs);
  if (summary->check != NULL)
    cleave_json_string (json, "check", summary->check);
  cleave_json_end (json);
  return g_steal_pointer (&json);
}

char *
cleave_summary_to_json (const CleaveSummary *summary)
{
  g_autoptr (CleaveJson) json = make_json (summary);

  return cleave_json_to_string (json);
}

char *
cleave_summary_to_compact_json (const CleaveSummary *summary)
{
  g_autoptr (CleaveJson) json = make_json (summary);

  return cleave_json_to_compact_string (json);
}
