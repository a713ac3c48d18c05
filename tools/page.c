/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs the graphs of the page if the page shows times, collects its data as JSON, and fills the
 * template with the data. A side is one graph of the page: the model, or the graph after the split.
 */

#include "page.h"

#include "arguments.h"
#include "execute.h"
#include "inputs.h"
#include "json.h"
#include "page-graph.h"

#include <gio/gio.h>
#include <stdio.h>
#include <string.h>

static const CleavePageRequest *wanted;

void
cleave_page_set_request (const CleavePageRequest *request)
{
  wanted = request;
}

gboolean
cleave_page_is_wanted (void)
{
  return wanted != NULL;
}

/* A graph on the page: the model, or the graph after the split. */
typedef struct
{
  const char *name;
  const CleaveGraph *graph;
  const CleaveSplitReport *report; /* the report that names the pieces; NULL: the graph is not
                                    * split */
  CleaveExecution execution;
} Side;

/* Runs the graph and stores the times of its steps. If Cleave does not know an op of the graph, the
 * graph cannot run, and there are no times. */
static void
measure (Side *side, gboolean wants_trace)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) inputs = cleave_make_inputs (side->graph, NULL, &error);

  side->execution.wants_trace = wants_trace;
  side->execution.wants_profile = TRUE;
  if (inputs == NULL || !cleave_execute (side->graph, inputs, MAX (wanted->n_threads, 1), 2,
                                         &side->execution, &error))
    fprintf (stderr, "cleave: the page has no times: %s\n", error->message);
}

/* Adds the live bytes of each step. If the page shows a fit, the bytes are counted as the fit
 * counts them: with its threads, and with or without the inputs. */
static gboolean
add_memory (CleaveJson *json, const Side *side, const CleaveSummary *summary, GError **error)
{
  g_autoptr (CleaveMemoryTimeline) timeline =
      summary != NULL && summary->plan != NULL
          ? cleave_fit_plan_dup_timeline (summary->plan, side->graph, error)
          : cleave_memory_timeline_new (side->graph, 1, error);

  if (timeline == NULL)
    return FALSE;
  cleave_json_begin (json, NULL);
  cleave_json_string (json, "name", side->name);
  cleave_json_int (json, "peak", timeline->peak_bytes);
  cleave_json_int (json, "arena", timeline->arena_bytes);
  cleave_json_string (json, "at",
                      timeline->n_steps == 0 ? "" : timeline->steps[timeline->peak_step].name);
  cleave_json_begin_list (json, "live");
  for (guint i = 0; i < timeline->n_steps; i++)
    cleave_json_int (json, NULL, timeline->steps[i].live_bytes);
  cleave_json_end_list (json);
  cleave_json_end (json);
  return TRUE;
}

static char *
dup_main_json (
    const Side *sides, guint n_sides, const CleaveSummary *summary, gint64 budget, GError **error)
{
  g_autoptr (CleaveJson) json = cleave_json_new ();
  gboolean good = TRUE;

  cleave_json_begin (json, NULL);
  cleave_json_string (json, "title", cleave_graph_get_name (sides[0].graph));
  cleave_json_string (json, "command", wanted->command);
  cleave_json_string (json, "convention", cleave_summary_get_convention (summary));
  cleave_json_int (json, "budget", budget);
  cleave_json_begin_list (json, "graphs");
  for (guint i = 0; i < n_sides && good; i++)
    good = cleave_page_add_graph (json, sides[i].name, sides[i].graph, sides[i].report,
                                  sides[i].execution.profile, error);
  cleave_json_end_list (json);
  cleave_json_begin_list (json, "memory");
  for (guint i = 0; i < n_sides && good; i++)
    good = add_memory (json, &sides[i], summary, error);
  cleave_json_end_list (json);
  cleave_json_end (json);
  return good ? cleave_json_to_compact_string (json) : NULL;
}

/* Appends JSON to the script of the page. Escapes "<", which occurs only in strings, since
 * "</script" would end the script. */
static void
append_json (GString *data, const char *name, const char *text)
{
  if (text == NULL)
    return;
  g_string_append_printf (data, "%s\"%s\":", data->len > 1 ? "," : "", name);
  for (const char *c = text; *c != '\0'; c++)
    if (*c == '<')
      g_string_append (data, "\\u003c");
    else
      g_string_append_c (data, *c);
}

static char *
dup_frontier_json (const CleaveGraph *graph, const CleaveSummary *summary, GError **error)
{
  CleaveFitOptions options = { .n_threads = wanted->n_threads,
                               .exclude_inputs = summary != NULL && summary->exclude_inputs };
  g_autoptr (GPtrArray) plans = cleave_fit_plan_new_frontier (graph, &options, error);
  g_autoptr (CleaveJson) json = cleave_json_new ();

  if (plans == NULL)
    return NULL;
  cleave_json_begin_list (json, NULL);
  for (guint i = 0; i < plans->len; i++)
    {
      const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plans->pdata[i]);
      double before = (double) totals->macs_before, after = (double) totals->macs_after;

      cleave_json_begin (json, NULL);
      cleave_json_int (json, "arena_bytes", totals->arena_after);
      cleave_json_double (json, "added_macs_per_cent",
                          before <= 0 ? 0 : 100 * (after - before) / before);
      cleave_json_double (json, "latency_ms", totals->latency_after / 1e6);
      cleave_json_int (json, "segments", cleave_fit_plan_get_n_segments (plans->pdata[i]));
      cleave_json_int (json, "nodes", totals->nodes_after);
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
  return cleave_json_to_compact_string (json);
}

static GString *
make_data (Side *sides, guint n_sides, const CleaveSummary *summary, gint64 budget, GError **error)
{
  g_autoptr (GString) data = g_string_new ("{");
  g_autofree char *page = dup_main_json (sides, n_sides, summary, budget, error);
  g_autofree char *report = summary == NULL ? NULL : cleave_summary_to_compact_json (summary);
  g_autofree char *frontier = NULL;

  if (page == NULL)
    return NULL;
  if (wanted->with_frontier)
    {
      frontier = dup_frontier_json (sides[0].graph, summary, error);
      if (frontier == NULL)
        return NULL;
    }
  append_json (data, "page", page);
  append_json (data, "report", report);
  append_json (data, "frontier", frontier);
  append_json (data, "trace", sides[n_sides - 1].execution.trace);
  g_string_append_c (data, '}');
  return g_steal_pointer (&data);
}

static const char *
get_file (const char *name)
{
  g_autofree char *path = g_strconcat ("/cleave/report/", name, NULL);
  g_autoptr (GBytes) bytes = g_resources_lookup_data (path, 0, NULL);

  /* the bytes of a resource are in the program and end with a zero byte */
  return bytes == NULL ? "" : g_bytes_get_data (bytes, NULL);
}

/* Returns the template of the page. Replaces "@CSS@", "@DATA@" and "@JS@" by the styles, `data` and
 * the script. */
static GBytes *
fill_template (const char *data)
{
  static const char *const marks[] = { "@CSS@", "@DATA@", "@JS@" };
  const char *texts[] = { get_file ("page.css"), data, get_file ("page.js") };
  const char *rest = get_file ("page.html");
  GString *page = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (marks); i++)
    {
      const char *at = strstr (rest, marks[i]);

      g_string_append_len (page, rest, at - rest);
      g_string_append (page, texts[i]);
      rest = at + strlen (marks[i]);
    }
  g_string_append (page, rest);
  return g_string_free_to_bytes (page);
}

gboolean
cleave_page_write (const CleaveGraph *before,
                   const CleaveGraph *after,
                   const CleaveSummary *summary,
                   gint64 budget,
                   GError **error)
{
  Side sides[2] = { { "before", before, NULL, { 0 } },
                    { "after", after, summary == NULL ? NULL : summary->report, { 0 } } };
  guint n_sides = summary == NULL ? 1 : 2;
  g_autoptr (CleaveOutputs) outputs = NULL;
  g_autoptr (GString) data = NULL;
  g_autoptr (GBytes) bytes = NULL;

  if (wanted == NULL)
    return TRUE;
  if (summary == NULL)
    sides[0].name = "model";
  outputs = cleave_outputs_new ();
  for (guint i = 0; i < n_sides && wanted->with_times; i++)
    measure (&sides[i], i + 1 == n_sides);
  data = make_data (sides, n_sides, summary, budget, error);
  for (guint i = 0; i < n_sides; i++)
    cleave_execution_clear (&sides[i].execution);
  if (data == NULL)
    return FALSE;
  bytes = fill_template (data->str);
  return cleave_outputs_add_bytes (outputs, wanted->path, bytes, error) &&
         cleave_outputs_commit (outputs, error);
}
