/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave demo`: splits a built-in MobileNetV2, runs the model before and after the split, and
 * writes the model and drawings. */

#include "arguments.h"
#include "commands.h"
#include "convention.h"
#include "execute.h"
#include "inputs.h"
#include "json.h"
#include "mobilenet.h"
#include "model.h"
#include "output-names.h"
#include "outputs.h"
#include "report.h"
#include "sizes.h"

#include <glib/gstdio.h>
#include <stdio.h>

/* The demo splits values into this many chunks along H, and into as many along W. */
#define N_CHUNKS 4

/* Depth of the recursive split: more than the longest path to the node
 * CLEAVE_MOBILENET_STAGE_END. */
#define DEPTH 1000

typedef struct
{
  char *folder, *model, *threads_text, *repeat_text;
  gboolean as_json;
  gint64 n_threads, repeat;
} Options;

typedef struct
{
  CleaveGraph *before, *after;
  CleaveSplitReport *report;
  CleaveExecution of_before, of_after;
  CleaveDifference difference;
  char *dot_before, *dot_after;
} Demo;

static void
demo_clear (Demo *demo)
{
  g_clear_pointer (&demo->before, cleave_graph_unref);
  g_clear_pointer (&demo->after, cleave_graph_unref);
  g_clear_pointer (&demo->report, cleave_split_report_unref);
  cleave_execution_clear (&demo->of_before);
  cleave_execution_clear (&demo->of_after);
  g_free (demo->dot_before);
  g_free (demo->dot_after);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Demo, demo_clear)

static gboolean
parse (int argc, char **argv, Options *o, GError **error)
{
  const GOptionEntry entries[] = {
    { "output-dir", 'd', 0, G_OPTION_ARG_FILENAME, &o->folder,
      "write the drawings to this folder (default: the current one)", "DIR" },
    { "model", 0, 0, G_OPTION_ARG_FILENAME, &o->model, "also write the unsplit model to this file",
      "FILE.onnx" },
    CLEAVE_THREADS_OPTION (o->threads_text, "the run"),
    { "repeat", 0, 0, G_OPTION_ARG_STRING, &o->repeat_text,
      "run each model this many times (default: 5)", "R" },
    CLEAVE_BYTES_OPTION,
    { "json", 0, 0, G_OPTION_ARG_NONE, &o->as_json, "print one JSON object", NULL },
    G_OPTION_ENTRY_NULL,
  };
  const CleaveArguments arguments = {
    entries, NULL, "",
    "Build MobileNetV2 1.0 at 224x224 with random weights, and split its first stage "
    "(twelve\nconvolutions) in 4x4. Run the unsplit and the split model, compare their "
    "outputs\nbit for bit, and draw the models as demo-before and demo-after.",
    0
  };
  g_auto (GStrv) files = cleave_argument_parse (&arguments, argc, argv, error);

  o->repeat = 5;
  return files != NULL && cleave_argument_threads (o->threads_text, &o->n_threads, error) &&
         (o->repeat_text == NULL ||
          cleave_text_to_int ("--repeat", o->repeat_text, 1, 1000000, &o->repeat, error));
}

static gboolean
build_and_split (Demo *demo, GError **error)
{
  const gint64 counts[] = { N_CHUNKS, N_CHUNKS };
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("H,W", counts, 2);
  CleaveRecursion recursion = { .depth = DEPTH };

  demo->before = cleave_mobilenet_new (0, error);
  if (demo->before == NULL)
    return FALSE;
  demo->after = cleave_graph_copy (demo->before);
  demo->report = cleave_split_node_recursively (
      cleave_graph_find_node (demo->after, CLEAVE_MOBILENET_STAGE_END), split, NULL, &recursion,
      error);
  return demo->report != NULL;
}

static gboolean
run_both (Demo *demo, const Options *o, GError **error)
{
  g_autoptr (GPtrArray) inputs = cleave_make_inputs (demo->before, NULL, error);
  guint n_threads = (guint) o->n_threads, repeat = (guint) o->repeat;

  if (inputs == NULL ||
      !cleave_execute (demo->before, inputs, n_threads, repeat, &demo->of_before, error) ||
      !cleave_execute (demo->after, inputs, n_threads, repeat, &demo->of_after, error))
    return FALSE;
  demo->difference =
      cleave_compare (demo->of_before.outputs->pdata[0], demo->of_after.outputs->pdata[0]);
  return TRUE;
}

/* The functions below write the model and the drawings. */

static gboolean
add_drawings (Demo *demo, CleaveOutputs *outputs, GError **error)
{
  g_autoptr (GArray) pieces = cleave_report_list_pieces (demo->report);
  CleaveDotOptions options = { .pieces = (CleaveDotPiece *) (gpointer) pieces->data,
                               .n_pieces = pieces->len };

  return cleave_outputs_add_drawing (outputs, demo->dot_before, demo->before, NULL, error) &&
         cleave_outputs_add_drawing (outputs, demo->dot_after, demo->after, &options, error);
}

static void
name_drawings (Demo *demo, const char *folder, const char *ending)
{
  g_autofree char *before = g_strconcat ("demo-before.", ending, NULL);
  g_autofree char *after = g_strconcat ("demo-after.", ending, NULL);

  g_free (demo->dot_before);
  g_free (demo->dot_after);
  demo->dot_before = g_build_filename (folder, before, NULL);
  demo->dot_after = g_build_filename (folder, after, NULL);
}

/* Writes drawings as pictures, or as DOT text if the module for pictures cannot be loaded. */
static gboolean
write_files (Demo *demo, const Options *o, GError **error)
{
  const char *folder = o->folder == NULL ? "." : o->folder;
  g_autoptr (CleaveOutputs) pictures = cleave_outputs_new ();
  g_autoptr (CleaveOutputs) texts = cleave_outputs_new ();
  g_autoptr (GError) no_picture = NULL;
  CleaveOutputs *outputs = pictures;

  if (!cleave_output_make_folder (folder, error))
    return FALSE;
  name_drawings (demo, folder, "svg");
  if (!add_drawings (demo, pictures, &no_picture))
    {
      outputs = texts;
      name_drawings (demo, folder, "dot");
      if (!add_drawings (demo, texts, error))
        return FALSE;
    }
  return (o->model == NULL || cleave_outputs_add_model (outputs, o->model, demo->before, error)) &&
         cleave_outputs_commit (outputs, error);
}

/* The functions below print the report. */

static void
add_side (CleaveJson *json,
          const char *name,
          const CleaveGraph *graph,
          gint64 peak,
          const CleaveExecution *e)
{
  cleave_json_begin (json, name);
  cleave_json_int (json, "nodes", cleave_graph_count_operators (graph));
  cleave_json_int (json, "macs", cleave_graph_get_macs (graph));
  cleave_json_int (json, "peak_activation_bytes", peak);
  cleave_json_int (json, "arena_bytes", e->stats.arena_bytes);
  cleave_json_int (json, "copied_bytes", e->stats.copied_bytes);
  cleave_json_begin (json, "latency_ms");
  cleave_json_double (json, "min", e->min_ms);
  cleave_json_double (json, "median", e->median_ms);
  cleave_json_end (json);
  cleave_json_end (json);
}

static void
print_json (const Demo *demo, const Options *o)
{
  const CleaveSplitTotals *totals = cleave_split_report_get_totals (demo->report);
  g_autoptr (CleaveJson) json = cleave_json_new ();

  cleave_json_begin (json, NULL);
  cleave_json_string (json, "model", cleave_graph_get_name (demo->before));
  cleave_json_bool (json, "equal", demo->difference.n_different == 0);
  cleave_json_int (json, "threads", o->n_threads);
  cleave_json_int (json, "repeat", o->repeat);
  add_side (json, "before", demo->before, totals->peak_bytes_before, &demo->of_before);
  add_side (json, "after", demo->after, totals->peak_bytes_after, &demo->of_after);
  cleave_json_string (json, "convention", CLEAVE_MEMORY_CONVENTION);
  cleave_json_int (json, "parallel_subgraphs", totals->n_parallel_subgraphs);
  cleave_json_begin_list (json, "drawings");
  cleave_json_string (json, NULL, demo->dot_before);
  cleave_json_string (json, NULL, demo->dot_after);
  cleave_json_end_list (json);
  cleave_json_print (json);
}

static void
print_ratio (const char *what, double before, double after, const char *unit)
{
  printf ("%-22s%14.*f%14.*f%s\n", what, *unit == '\0' ? 0 : 2, before, *unit == '\0' ? 0 : 2,
          after, unit);
}

static void
print_text (const Demo *demo, const Options *o)
{
  const CleaveSplitTotals *totals = cleave_split_report_get_totals (demo->report);
  g_autofree char *peak_before = cleave_size_to_print (totals->peak_bytes_before);
  g_autofree char *peak_after = cleave_size_to_print (totals->peak_bytes_after);

  printf ("%s, float32: stem and first four blocks in %dx%d\n\n",
          cleave_graph_get_name (demo->before), N_CHUNKS, N_CHUNKS);
  printf ("%-22s%14s%14s\n", "", "before", "after");
  print_ratio ("nodes", cleave_graph_count_operators (demo->before),
               cleave_graph_count_operators (demo->after), "");
  print_ratio ("MACs", (double) totals->macs_before, (double) totals->macs_after, "");
  printf ("%-22s%14s%14s\n", "peak activations", peak_before, peak_after);
  print_ratio ("latency, least", demo->of_before.min_ms, demo->of_after.min_ms, "   ms");
  print_ratio ("latency, median", demo->of_before.median_ms, demo->of_after.median_ms, "   ms");
  printf ("\nThe peak of " CLEAVE_CONVENTION_NAME
          " is %.2f times smaller; one chunk is in flight.\n",
          (double) totals->peak_bytes_before / (double) totals->peak_bytes_after);
  printf ("Latency is of %" G_GINT64_FORMAT " run%s on %" G_GINT64_FORMAT " thread%s.\n", o->repeat,
          CLEAVE_PLURAL (o->repeat), o->n_threads, CLEAVE_PLURAL (o->n_threads));
  printf ("%u subgraph%s can run in parallel.\n", totals->n_parallel_subgraphs,
          CLEAVE_PLURAL (totals->n_parallel_subgraphs));
  if (demo->difference.n_different == 0)
    printf ("Outputs are equal, bit for bit.\n");
  else
    printf ("Outputs differ in %" G_GINT64_FORMAT " element%s, by %.9g at most.\n",
            demo->difference.n_different, CLEAVE_PLURAL (demo->difference.n_different),
            demo->difference.largest);
  printf ("Drawings: %s, %s\n", demo->dot_before, demo->dot_after);
}

int
cleave_cmd_demo (int argc, char **argv, GError **error)
{
  Options o = { 0 };
  g_auto (Demo) demo = { 0 };

  if (!parse (argc, argv, &o, error) || !build_and_split (&demo, error) ||
      !run_both (&demo, &o, error) || !write_files (&demo, &o, error))
    return CLEAVE_WRONG;
  if (o.as_json)
    print_json (&demo, &o);
  else
    print_text (&demo, &o);
  return demo.difference.n_different == 0 ? CLEAVE_DONE : CLEAVE_NO;
}
