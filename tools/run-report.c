/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints the report of `cleave run`, as text or as JSON. */

#include "run-report.h"

#include "convention.h"
#include "dynamic.h"
#include "json.h"
#include "output-names.h"
#include "sizes.h"
#include "texts.h"
#include "times.h"

#include <stdio.h>
#include <string.h>

/* Returns the SHA-256 of a tensor's bytes in row-major order. Equal tensors have equal sums. */
static char *
dup_sha256 (CleaveTensor *tensor)
{
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_canonical (tensor);

  return g_compute_checksum_for_data (
      G_CHECKSUM_SHA256, cleave_tensor_get_data (dense),
      (gsize) cleave_tensor_type_n_bytes (cleave_tensor_get_type (dense)));
}

gboolean
cleave_run_has_strings (const CleaveOnnxDynamic *dynamic, const char *output)
{
  const char *dot = strrchr (output, '.');
  g_autofree char *list = dot == NULL ? NULL : g_strndup (output, (gsize) (dot - output));

  if (dynamic == NULL)
    return FALSE;
  return cleave_onnx_dynamic_has_strings (dynamic, output) ||
         (list != NULL && cleave_onnx_dynamic_has_strings (dynamic, list));
}

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
  g_auto (GStrv) files = cleave_output_name_files (e->names, ".npy");

  cleave_json_begin_list (json, "outputs");
  for (guint i = 0; i < e->outputs->len; i++)
    {
      g_autofree char *sum = dup_sha256 (e->outputs->pdata[i]);

      cleave_json_begin (json, NULL);
      cleave_json_string (json, "name", e->names[i]);
      cleave_json_type (json, cleave_tensor_get_type (e->outputs->pdata[i]));
      cleave_json_string (json, "sha256", sum);
      if (cleave_run_has_strings (e->dynamic, e->names[i]))
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
            const CleaveRunReport *report,
            const CleaveRunSplit *split,
            const CleaveLayers *layers)
{
  g_autoptr (CleaveJson) json = cleave_json_new ();

  cleave_json_begin (json, NULL);
  cleave_json_int (json, "threads", e->stats.n_threads);
  cleave_json_int (json, "repeat", report->repeat);
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
  add_json_outputs (json, e, report->folder);
  cleave_json_print (json);
}

/* Prints the number of nodes that run. If the graph was split for the threads, also prints the
 * smaller number of nodes in the model's file. */
static void
print_split (const CleaveExecution *e, const CleaveRunSplit *split)
{
  if (split->nodes_before == 0)
    printf ("nodes     %u\n", e->stats.n_nodes);
  else if (split->found_nothing)
    printf ("nodes     %u; nothing to split for more threads\n", e->stats.n_nodes);
  else
    printf ("nodes     %u, split for %u threads out of %u (--as-is runs it unsplit)\n",
            e->stats.n_nodes, e->stats.n_threads, split->nodes_before);
}

/* Prints the outputs that are empty lists. */
static void
print_empty (const CleaveExecution *e)
{
  const char *const *name =
      e->dynamic == NULL ? NULL : cleave_onnx_dynamic_get_outputs (e->dynamic);

  for (; name != NULL && *name != NULL; name++)
    {
      g_autofree char *first = cleave_dynamic_item_name (*name, 0);
      const char *type = cleave_dynamic_list_type (e->dynamic, *name);

      if (type != NULL && !g_strv_contains ((const char *const *) e->names, first))
        printf ("output    %s: %s without a tensor\n", *name, type);
    }
}

/* Prints the outputs. If the name of an output's file differs from the name of the output, prints
 * the file name too. */
static void
print_outputs (const CleaveExecution *e, const char *folder)
{
  g_auto (GStrv) files = cleave_output_name_files (e->names, ".npy");

  for (guint i = 0; i < e->outputs->len; i++)
    {
      g_autofree char *sum = dup_sha256 (e->outputs->pdata[i]);
      CleaveTensor *tensor = e->outputs->pdata[i];
      g_autofree char *type = cleave_run_has_strings (e->dynamic, e->names[i])
                                  ? cleave_texts_print (tensor)
                                  : cleave_tensor_type_to_string (cleave_tensor_get_type (tensor));

      printf ("output    %s: %s sha256 %s", e->names[i], type, sum);
      if (folder != NULL && strncmp (files[i], e->names[i], strlen (e->names[i])) != 0)
        printf (", in %s", files[i]);
      printf ("\n");
    }
  print_empty (e);
}

static void
print_text (const CleaveExecution *e,
            const CleaveRunReport *report,
            const CleaveRunSplit *split,
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
          e->median_ms, report->repeat);
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
  print_outputs (e, report->folder);
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
print_ranks_json (const CleaveRankRun *run, const CleaveRunReport *report)
{
  g_autoptr (CleaveJson) json = cleave_json_new ();

  cleave_json_begin (json, NULL);
  cleave_json_int (json, "threads", run->n_threads);
  cleave_json_int (json, "repeat", report->repeat);
  if (report->n_in_flight > 0)
    {
      cleave_json_int (json, "in_flight", report->n_in_flight);
      cleave_json_double (json, "per_second", (double) report->repeat / run->seconds);
    }
  cleave_json_begin (json, "latency_ms");
  cleave_json_double (json, "min", run->execution.min_ms);
  cleave_json_double (json, "median", run->execution.median_ms);
  cleave_json_end (json);
  cleave_json_double (json, "bandwidth_gbit", run->network.bandwidth / 1.25e8);
  cleave_json_double (json, "network_latency_us", run->network.latency * 1e6);
  cleave_json_begin_list (json, "ranks");
  for (guint r = 0; r < run->n_ranks; r++)
    add_json_rank (json, &run->lines[r], report->repeat);
  cleave_json_end_list (json);
  add_json_outputs (json, &run->execution, report->folder);
  cleave_json_print (json);
}

static void
print_ranks_text (const CleaveRankRun *run, const CleaveRunReport *report)
{
  gint64 repeat = report->repeat;

  printf ("ranks     %u, threads of each %u\n", run->n_ranks, run->n_threads);
  if (run->is_measured)
    printf ("network   measured: --bandwidth %g --latency %g\n", run->network.bandwidth / 1.25e8,
            run->network.latency * 1e6);
  if (report->n_in_flight > 0)
    printf ("rate      %.3f inputs a second, %" G_GINT64_FORMAT " run%s at once\n",
            (double) repeat / run->seconds, report->n_in_flight,
            CLEAVE_PLURAL (report->n_in_flight));
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
  print_outputs (&run->execution, report->folder);
}

void
cleave_run_print (const CleaveExecution *e,
                  const CleaveRunReport *report,
                  const CleaveRunSplit *split,
                  const CleaveLayers *layers)
{
  if (report->as_json)
    print_json (e, report, split, layers);
  else
    print_text (e, report, split, layers);
}

void
cleave_run_print_ranks (const CleaveRankRun *run, const CleaveRunReport *report)
{
  if (report->as_json)
    print_ranks_json (run, report);
  else
    print_ranks_text (run, report);
}
