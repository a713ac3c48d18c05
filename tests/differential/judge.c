/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Judges a random model: reads it from its ONNX file, changes the graph at random (way.h), runs it
 * and compares the outputs. */

#include "judge.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "way.h"

/* A trial (a random model), its graph, and the outputs of the reference kernels. */
typedef struct
{
  Trial trial;
  CleaveGraph *graph;
  GPtrArray *expected;
  Report *report;
} Case;

const char *
verdict_name (Verdict verdict)
{
  static const char *const names[] = { "good",        "not read",   "not run",
                                       "wrong type",  "wrong bits", "wrote",
                                       "not changed", "crash",      "hang" };

  return names[verdict];
}

void
judge_tapes (guint64 seed, guint way, Tape *graph, Tape *of_way)
{
  guint64 state = seed;

  tape_init (graph, tape_next_random (&state));
  for (guint i = 0; i <= way; i++)
    tape_next_random (&state);
  tape_init (of_way, tape_next_random (&state));
}

static Verdict
tell (Report *report, Verdict verdict, const char *what, const char *why)
{
  report->verdict = verdict;
  g_snprintf (report->message, sizeof report->message, "%s%s%s", what, why == NULL ? "" : ": ",
              why == NULL ? "" : why);
  return verdict;
}

static CleaveGraph *
read_model (Case *at, gboolean all_inputs, GError **error)
{
  g_autoptr (GBytes) bytes = trial_write (&at->trial, all_inputs);

  return cleave_onnx_parse (bytes, NULL, NULL, error);
}

static Verdict
begin (Case *at, Tape *tape, Report *report)
{
  GError *error = NULL;
  GString *what = g_string_new (NULL);
  Verdict verdict = VERDICT_GOOD;

  *at = (Case){ .report = report };
  trial_init (&at->trial, tape);
  trial_grow (&at->trial);
  at->graph = read_model (at, FALSE, &error);
  if (at->graph == NULL)
    verdict = tell (report, VERDICT_NOT_READ, "import", error->message);
  else if (!compare_types (&at->trial, at->graph, what))
    verdict = tell (report, VERDICT_WRONG_TYPE, "imported", what->str);
  else if ((at->expected = compare_run (&at->trial, at->graph, 1, TRUE, 0, what)) == NULL)
    verdict = tell (report, VERDICT_NOT_RUN, "reference", what->str);
  g_clear_error (&error);
  g_string_free (what, TRUE);
  return verdict;
}

static void
end (Case *at)
{
  g_clear_pointer (&at->graph, cleave_graph_unref);
  g_clear_pointer (&at->expected, g_ptr_array_unref);
  trial_clear (&at->trial);
}

/* Runs the graph after random changes (way.h). Compares the outputs with the outputs of the
 * reference kernels. */
static Verdict
run_way (Case *at, Way *way)
{
  static const guint threads[] = { 1, 2, 3, 8 };
  static const char *const names[] = { "1-thread", "2-threads", "3-threads", "8-threads" };
  GString *what = g_string_new (NULL);
  guint t = tape_draw (way->tape, 4), poison = tape_draw (way->tape, 4);
  gboolean reference = tape_chance (way->tape, 12);
  GPtrArray *got;
  Verdict verdict = VERDICT_GOOD;

  counts_way (way->counts, names[t], FALSE);
  counts_way (way->counts, reference ? "reference" : "fast", FALSE);
  g_string_append_printf (way->text, "; %s%s", names[t], reference ? ", reference" : "");
  way->counts->programs++;
  if (!compare_types (&at->trial, way->graph, what))
    verdict = VERDICT_WRONG_TYPE;
  else if ((got = compare_run (&at->trial, way->graph, threads[t], reference, poison, what)) ==
           NULL)
    verdict = what->str[0] == '!' ? VERDICT_WRITES : VERDICT_NOT_RUN;
  else
    {
      if (!compare_outputs (&at->trial, got, at->expected, what))
        verdict = VERDICT_WRONG_BITS;
      g_ptr_array_unref (got);
    }
  if (verdict != VERDICT_GOOD)
    {
      g_string_append_printf (way->text, "\n%s", what->str);
      tell (at->report, verdict, way->text->str, NULL);
    }
  g_string_free (what, TRUE);
  return verdict;
}

/* The functions below judge tails: appended nodes whose shapes depend on data. */

/* Picks a tail (appended nodes whose shapes depend on data) and the value that the tail reads.
 * Returns FALSE if the graph has no float32 value that a tail can read. */
static gboolean
pick_tail (Trial *trial, Tape *tape)
{
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint v = 1; v < trial->values->len; v++)
    {
      const TrialValue *value = &g_array_index (trial->values, TrialValue, v);

      if (value->kind == TRIAL_RESULT && value->type.element == F32 && value->type.rank > 0)
        g_array_append_val (values, v);
    }
  if (values->len == 0)
    return FALSE;
  trial->tail = 1 + tape_draw (tape, TRIAL_N_TAILS);
  trial->tail_of = g_array_index (values, guint, tape_draw (tape, values->len));
  return TRUE;
}

/* Runs the graph of `way`: the static part, which way_change() has changed, and then the dynamic
 * part. Also imports `model`, the unchanged file, with constants for all inputs, so that the import
 * computes the outputs. All outputs must have the same bits. */
static Verdict
run_tail (Case *at, Way *way, GBytes *model)
{
  g_autoptr (GString) what = g_string_new (NULL);
  guint n_threads = 1 + tape_draw (way->tape, 3), poison = tape_draw (way->tape, 4);
  g_autoptr (GPtrArray) want = compare_fold_tail (&at->trial, model);
  g_autoptr (GPtrArray) got =
      compare_run_tail (&at->trial, way->graph, n_threads, FALSE, poison, what);
  Verdict verdict = VERDICT_GOOD;

  counts_way (way->counts, "tail", want == NULL);
  counts_way (way->counts, "dynamic", cleave_onnx_get_dynamic (way->graph) == NULL);
  way->counts->programs++;
  if (got == NULL)
    verdict = VERDICT_NOT_RUN;
  for (guint i = 0; got != NULL && want != NULL && i < want->len; i++)
    if (got->len != want->len || !cleave_tensor_equal (got->pdata[i], want->pdata[i]))
      {
        g_string_append_printf (what, "; output %u of a model with a tail differs", i);
        verdict = VERDICT_WRONG_BITS;
      }
  if (verdict != VERDICT_GOOD)
    {
      g_string_append_printf (way->text, "\n%s", what->str);
      tell (at->report, verdict, way->text->str, NULL);
    }
  return verdict;
}

static Verdict
try_tail (Case *at, Tape *tape)
{
  g_autoptr (GString) failure = g_string_new (NULL), text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) model = NULL;
  Way way = { tape, NULL, &at->report->counts, text, at->trial.deep };
  Verdict verdict;

  if (!pick_tail (&at->trial, tape))
    return VERDICT_GOOD;
  model = trial_write (&at->trial, FALSE);
  g_string_append_printf (text, "tail %u of v%u", at->trial.tail, at->trial.tail_of);
  at->trial.tail = 0;
  way.graph = cleave_onnx_parse (model, NULL, &(CleaveOnnxOptions){ .dynamic = TRUE }, &error);
  if (way.graph == NULL)
    return tell (at->report, VERDICT_NOT_READ, text->str, error->message);
  if (way_change (&way, failure))
    verdict = run_tail (at, &way, model);
  else
    {
      g_string_append_printf (text, "\n%s", failure->str);
      verdict = tell (at->report, VERDICT_NOT_CHANGED, text->str, NULL);
    }
  cleave_graph_unref (way.graph);
  return verdict;
}

static Verdict
try_graph (Case *at, Tape *tape)
{
  GString *failure = g_string_new (NULL);
  gboolean all_inputs = tape_chance (tape, 15), change = tape_chance (tape, 75);
  GError *error = NULL;
  Way way = { tape, all_inputs ? read_model (at, TRUE, &error) : cleave_graph_copy (at->graph),
              &at->report->counts, g_string_new (all_inputs ? "constants as inputs" : NULL),
              at->trial.deep };
  Verdict verdict;

  counts_way (way.counts, all_inputs ? "inputs" : "constants", FALSE);
  if (way.graph == NULL)
    verdict = tell (at->report, VERDICT_NOT_READ, "constants as inputs", error->message);
  else if (change && !way_change (&way, failure))
    {
      g_string_append_printf (way.text, "\n%s", failure->str);
      verdict = tell (at->report, VERDICT_NOT_CHANGED, way.text->str, NULL);
    }
  else
    verdict = run_way (at, &way);
  g_clear_error (&error);
  g_clear_pointer (&way.graph, cleave_graph_unref);
  g_string_free (way.text, TRUE);
  g_string_free (failure, TRUE);
  return verdict;
}

/* Changes the graph at random (way.h), runs the changed graph and returns the verdict. In 8 % of
 * the calls, first adds a tail: nodes whose shapes depend on data. */
static Verdict
try_way (Case *at, Tape *tape)
{
  return tape_chance (tape, 8) ? try_tail (at, tape) : try_graph (at, tape);
}

static void
count_ops (const Trial *trial, Counts *counts)
{
  counts->graphs++;
  counts->nodes += trial->nodes->len;
  for (guint i = 0; i < trial->nodes->len; i++)
    counts->ops[counts_op (g_array_index (trial->nodes, TrialNode, i).op)].seen++;
}

Verdict
judge_seed (guint64 seed, Report *report)
{
  Verdict verdict;
  Tape graph, way;
  Case at;

  report->way = 0;
  judge_tapes (seed, 0, &graph, &way);
  verdict = begin (&at, &graph, report);
  tape_clear (&way);
  count_ops (&at.trial, &report->counts);
  for (guint i = 0; i < N_WAYS && verdict == VERDICT_GOOD; i++)
    {
      Tape unused;

      report->way = i;
      judge_tapes (seed, i, &unused, &way);
      verdict = try_way (&at, &way);
      tape_clear (&way);
      tape_clear (&unused);
    }
  end (&at);
  tape_clear (&graph);
  return verdict;
}

Verdict
judge_way (Tape *graph, Tape *way, Report *report)
{
  Case at;
  Verdict verdict;

  graph->copy = &report->graph;
  way->copy = &report->of_way;
  report->graph.n = report->of_way.n = 0;
  verdict = begin (&at, graph, report);
  if (verdict == VERDICT_GOOD)
    verdict = try_way (&at, way);
  end (&at);
  return verdict;
}
