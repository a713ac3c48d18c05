/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints the report of a split as text, part by part, and lists its pieces for drawings. */

#include "report.h"

#include "convention.h"
#include "model.h"
#include "sizes.h"
#include "split-limits.h"

#include <stdio.h>

/* Prints one split node and its pieces. A report may have a million pieces, so printf() would take
 * a large share of the time of a split. Skips pieces that no longer exist, because later passes
 * replaced them by other pieces or by views. */
static void
print_split (const CleaveSplitNode *split)
{
  char digits[12];
  guint n = sizeof digits, pieces = split->n_pieces;

  do
    digits[--n] = (char) ('0' + pieces % 10);
  while ((pieces /= 10) > 0);
  fputs ("split       ", stdout);
  fputs (cleave_op_get_name (split->op), stdout);
  fputs (" '", stdout);
  fputs (split->name, stdout);
  fputs ("': ", stdout);
  if (split->n_pieces == 0)
    fputs ("no piece is left: its readers read its operands directly\n", stdout);
  else
    {
      fwrite (digits + n, 1, sizeof digits - n, stdout);
      fputs (split->n_pieces == 1 ? " piece is left\n" : " pieces\n", stdout);
    }
}

/* Without --verbose, at most this many lines list nodes or segments. */
#define MAX_LINES 8

/* Returns how many of `n` lines to print. print_rest() prints how many lines are left out. */
static guint
get_n_lines (const CleaveSummary *summary, guint n)
{
  return summary->verbose || n <= MAX_LINES ? n : MAX_LINES - 1;
}

static void
print_rest (const CleaveSummary *summary, const char *what, guint n)
{
  if (get_n_lines (summary, n) < n)
    printf ("            … and %u more %s; -v lists them\n", n - get_n_lines (summary, n), what);
}

static void
print_nodes (const CleaveSummary *summary)
{
  const CleaveSplitReport *report = summary->report;
  guint n_split = cleave_split_report_get_n_split (report);
  guint n_not_split = cleave_split_report_get_n_not_split (report);

  for (guint i = 0; i < get_n_lines (summary, n_split); i++)
    print_split (cleave_split_report_get_split (report, i));
  print_rest (summary, "nodes that are split", n_split);
  for (guint i = 0; i < get_n_lines (summary, n_not_split); i++)
    {
      const CleaveUnsplitNode *node = cleave_split_report_get_not_split (report, i);

      printf ("not split   %s '%s': %s%s%s\n", cleave_op_get_name (node->op), node->name,
              cleave_not_split_get_name (node->reason), node->message == NULL ? "" : ": ",
              node->message == NULL ? "" : node->message);
    }
  print_rest (summary, "nodes that are not split", n_not_split);
}

static void
print_limits (const CleaveSplitReport *report)
{
  for (guint i = 0; i < cleave_split_report_get_n_limits (report); i++)
    {
      const CleaveSplitLimit *limit = cleave_split_report_get_limit (report, i);
      g_autofree char *reached = cleave_limit_dup_number (limit->kind, limit->reached);
      g_autofree char *asked = cleave_limit_dup_number (limit->kind, limit->asked);

      printf ("limit       --%s %s: %s, %s\n", cleave_limit_get_option (limit->kind), asked,
              reached, limit->is_met ? "met" : "not met");
    }
}

/* Prints the peak of a run with `n_threads` threads. This peak may be higher than the peak with one
 * thread: pieces that run at the same time have their operands in memory at the same time. */
/* Prints times, which are given in nanoseconds. */
static void
print_latency (double before, double after)
{
  printf ("latency     about %.3f ms before, %.3f ms after\n", before / 1e6, after / 1e6);
}

static void
print_threads (const CleaveSummary *summary)
{
  gint64 before = summary->threads_before.peak_activation_bytes;
  gint64 after = summary->threads_after.peak_activation_bytes;
  g_autofree char *size_before = cleave_size_to_print (before);
  g_autofree char *size_after = cleave_size_to_print (after);

  printf ("            %s before, %s after with %u thread%s", size_before, size_after,
          summary->n_threads, summary->n_threads == 1 ? "" : "s");
  if (after > before && before > 0)
    printf (": it rises by %.1f %%", 100 * (double) (after - before) / (double) before);
  printf ("\n");
  print_latency (summary->threads_before.nanoseconds, summary->threads_after.nanoseconds);
}

static void
print_sizes (const char *what, gint64 before, gint64 after)
{
  g_autofree char *size_before = cleave_size_to_print (before);
  g_autofree char *size_after = cleave_size_to_print (after);

  printf ("%-11s %s before, %s after", what, size_before, size_after);
}

/* A name in a line of text has at most this many characters. A longer name is shortened: exporters
 * join the names of fused nodes, so names can be very long. */
#define MAX_NAME 64

/* Appends a name. If the name is long, appends only its first and last characters. */
static void
append_name (GString *line, const char *name, gsize n)
{
  g_autofree char *text = g_utf8_make_valid (name, (gssize) n);
  glong n_letters = g_utf8_strlen (text, -1);

  if (n_letters <= MAX_NAME)
    {
      g_string_append_printf (line, "'%s'", text);
      return;
    }
  g_string_append_printf (line, "'%.*s…%s'",
                          (int) (g_utf8_offset_to_pointer (text, MAX_NAME / 2) - text), text,
                          g_utf8_offset_to_pointer (text, n_letters - MAX_NAME / 2));
}

/* Returns a text in which each long name between two quotes is shortened. */
static char *
shorten_names (const char *text)
{
  GString *line = g_string_new (NULL);

  for (const char *c = text; *c != '\0';)
    {
      const char *end = *c == '\'' ? strchr (c + 1, '\'') : NULL;

      if (end == NULL)
        g_string_append_c (line, *c++);
      else
        {
          append_name (line, c + 1, (gsize) (end - c - 1));
          c = end + 1;
        }
    }
  return g_string_free (line, FALSE);
}

static void
print_segment (const CleaveFitSegment *segment)
{
  gboolean differ = segment->column_halo != segment->halo;
  g_autofree char *size = cleave_size_to_print (segment->n_bytes);
  g_autoptr (GString) names = g_string_new (NULL);

  append_name (names, segment->nodes[0], strlen (segment->nodes[0]));
  g_string_append (names, " … ");
  append_name (names, segment->ends[0], strlen (segment->ends[0]));
  printf ("segment     %s: %u x %u strip%s, %s%s%s, %s\n", names->str, segment->n_strips,
          segment->n_columns, CLEAVE_PLURAL (segment->n_strips * segment->n_columns),
          cleave_summary_get_halo_name (segment->halo), differ ? " rows, columns " : "",
          differ ? cleave_summary_get_halo_name (segment->column_halo) : "", size);
}

static void
print_fit (const CleaveSummary *summary)
{
  const CleaveFitPlan *plan = summary->plan;
  const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plan);
  guint n_segments = cleave_fit_plan_get_n_segments (plan);
  g_autofree char *sized = cleave_size_replace_all (cleave_fit_plan_get_peak (plan));
  g_autofree char *peak = shorten_names (sized);

  for (guint i = 0; i < get_n_lines (summary, n_segments); i++)
    print_segment (cleave_fit_plan_get_segment (plan, i));
  print_rest (summary, "segments", n_segments);
  print_sizes ("arena", totals->arena_before, totals->arena_after);
  if (summary->scratch_bytes >= 0)
    {
      g_autofree char *scratch = cleave_size_to_print (summary->scratch_bytes);
      g_autofree char *sum = cleave_size_to_print (totals->arena_after + summary->scratch_bytes);

      printf ("; kernels need %s of scratch memory besides, %s together", scratch, sum);
    }
  putchar ('\n');
  print_latency (totals->latency_before, totals->latency_after);
  printf ("at the peak %s\n", peak);
}

static void
print_loops (const CleaveSummary *summary)
{
  const CleaveFitLoops *loops = summary->loops;
  g_autofree char *before = cleave_size_to_print (loops->bytes_before);
  g_autofree char *after = cleave_size_to_print (loops->bytes_after);
  g_autofree char *refused = cleave_size_to_print (loops->bytes_refused);

  printf ("loops       segments as a Loop: %u; as pieces without one: %u; whole: %u\n",
          loops->n_loops, loops->n_pieces, loops->n_whole);
  printf ("            ONNX Runtime needs an estimated %s for values before, %s after\n", before,
          after);
  if (loops->n_loops + loops->n_pieces > 0)
    return;
  if (loops->bytes_refused > 0)
    printf ("            the best split would need an estimated %s, and saves too little to be "
            "worth a Loop or many pieces\n",
            refused);
  else
    puts ("            the search found no split of equal strips that takes less memory");
}

void
cleave_summary_print (const CleaveSummary *summary)
{
  const CleaveSplitTotals *totals = cleave_split_report_get_totals (summary->report);
  g_autofree char *before = cleave_macs_to_string (totals->macs_before);
  g_autofree char *after = cleave_macs_to_string (totals->macs_after);

  if (summary->plan != NULL)
    print_fit (summary);
  else
    print_nodes (summary);
  if (summary->loops != NULL)
    print_loops (summary);
  print_limits (summary->report);
  printf ("nodes       %u before, %u after\n", summary->nodes_before, summary->nodes_after);
  printf ("MACs        %s before, %s after (%+.1f %%)\n", before, after,
          totals->macs_before == 0
              ? 0.0
              : 100 * ((double) totals->macs_after - (double) totals->macs_before) /
                    (double) totals->macs_before);
  print_sizes ("peak", totals->peak_bytes_before, totals->peak_bytes_after);
  printf (", of " CLEAVE_CONVENTION_NAME "%s\n",
          summary->exclude_inputs ? ", inputs not counted" : "");
  if (summary->n_threads > 0)
    print_threads (summary);
  printf ("parallel    %u subgraph%s with %.1f %% of the MACs\n", totals->n_parallel_subgraphs,
          CLEAVE_PLURAL (totals->n_parallel_subgraphs),
          totals->macs_after == 0
              ? 0.0
              : 100 * (double) totals->parallel_macs / (double) totals->macs_after);
  if (summary->check != NULL)
    printf ("check       %s\n", summary->check);
}

CleaveShape
cleave_report_get_whole (const CleaveSplitNode *split)
{
  CleaveShape whole = { 0 };

  for (guint i = 0; i < split->n_pieces; i++)
    for (guint d = 0; d < split->ranges[i].rank; d++)
      {
        whole.rank = split->ranges[i].rank;
        whole.dim[d] = MAX (whole.dim[d], split->ranges[i].dim[d].end);
      }
  return whole;
}

GArray *
cleave_report_list_pieces (const CleaveSplitReport *report)
{
  GArray *pieces = g_array_new (FALSE, FALSE, sizeof (CleaveDotPiece));

  for (guint i = 0; i < cleave_split_report_get_n_split (report); i++)
    {
      const CleaveSplitNode *split = cleave_split_report_get_split (report, i);
      CleaveShape whole = cleave_report_get_whole (split);

      for (guint j = 0; j < split->n_pieces; j++)
        {
          CleaveDotPiece piece = { split->pieces[j], split->ranges[j], whole };

          g_array_append_val (pieces, piece);
        }
    }
  return pieces;
}

gboolean
cleave_report_add_drawing (const CleaveSplitReport *report,
                           CleaveOutputs *outputs,
                           const char *path,
                           const CleaveGraph *after,
                           GError **error)
{
  g_autoptr (GArray) pieces = cleave_report_list_pieces (report);
  const CleaveDotOptions options = { .pieces = (CleaveDotPiece *) (gpointer) pieces->data,
                                     .n_pieces = pieces->len };

  return cleave_outputs_add_drawing (outputs, path, after, &options, error);
}
