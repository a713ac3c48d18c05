/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Pipelines: the texts that are parsed, and the runs of their passes. */

#include "graphs.h"
#include "random-graph.h"
#include "reduced.h"
#include "run-help.h"

#include <string.h>

static const struct
{
  const char *text, *printed;
} good[] = {
  { "remove-dead", "remove-dead" },
  { " remove-dead ,\n\tmerge-equal # twice\n", "remove-dead,merge-equal" },
  { "repeat ( remove-dead , repeat(merge-equal) ),clean-up",
    "repeat(remove-dead,repeat(merge-equal)),clean-up" },
  { "split{ node=\"a b}\" dims=H,W num-chunks=2,3 }",
    "split{ node=\"a b}\" dims=H,W num-chunks=2,3 }" },
  { "split{node=a node=b slice-ranges=0:1/1:2}", "split{node=a node=b slice-ranges=0:1/1:2}" },
  { "split-for-threads{threads=2}", "split-for-threads{threads=2}" },
  { "fit{max-memory=256KiB max-added-macs=10 exclude-inputs}",
    "fit{max-memory=256KiB max-added-macs=10 exclude-inputs}" },
  { "fit{max-memory=2MB}", "fit{max-memory=2MB}" },
  { "clean-up{}", "clean-up{}" },
};

START_TEST (texts_are_read_and_printed)
{
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (good[i].text, &error),
                                 again = NULL;
      g_autofree char *printed = NULL, *twice = NULL;

      cleave_assert_no_error (error);
      printed = cleave_pipeline_print (pipeline);
      ck_assert_str_eq (printed, good[i].printed);
      again = cleave_pipeline_parse (printed, &error);
      cleave_assert_no_error (error);
      twice = cleave_pipeline_print (again);
      ck_assert_str_eq (twice, printed);
    }
}
END_TEST

static const struct
{
  const char *text, *message;
} bad[] = {
  { "", "column 1: expected a pass or repeat(…), not the end" },
  { "é", "column 1: expected a pass or repeat(…), not 'é'" },
  { "remove-dead,", "column 13: expected a pass or repeat(…), not the end" },
  { "remove-dead merge-equal", "column 13: expected ',' or the end, not 'm'" },
  { "remove-dead)", "column 12: expected ',' or the end, not ')'" },
  { "remove-dead,\n  dead", "line 2, column 3: there is no pass 'dead'" },
  { "repeat", "column 7: expected '(' after repeat" },
  { "repeat(remove-dead", "column 19: expected ',' or ')', not the end" },
  { "repeat()", "column 8: expected a pass or repeat(…), not ')'" },
  { "repeat(merge-equal,split-for-threads)",
    "column 20: split-for-threads cannot be repeated: it would never end" },
  { "repeat(prepare)", "column 8: prepare cannot be repeated: it would never end" },
  { "remove-dead{fast}", "column 13: remove-dead has no option 'fast'" },
  { "split{node=y num-chunk=2}",
    "column 14: split has no option 'num-chunk'; did you mean 'num-chunks'?" },
  { "foldconstants", "column 1: there is no pass 'foldconstants'; did you mean 'fold-constants'?" },
  { "split{node=a", "column 13: expected '}' after the options of split, not the end" },
  { "split{=a}", "column 7: expected an option of split or '}', not '='" },
  { "split{node}", "column 7: node takes a value: node=NAME" },
  { "split{all=1}", "column 10: all is a flag and takes no value" },
  { "split{dims=H dims=W}", "column 14: dims is given twice" },
  { "split{node=\"a}", "column 12: the quoted text does not end" },
  { "split{dims=H num-chunks=2}",
    "column 1: split: expected either node or all to say what to split" },
  { "remove-dead,split{all dims=H num-chunks=0:1}",
    "column 13: split: num-chunks expects whole numbers such as 3,4,5, not '0:1'" },
  { "split{all dims=H num-chunks=2 depth=2}", "column 1: split: depth needs node, not all" },
  { "repeat(fit)", "column 8: fit cannot be repeated: it would never end" },
  { "fit{max-memory=0}", "column 1: fit: max-memory must be more than 0" },
  { "fit{max-added-macs=few}",
    "column 1: fit: max-added-macs expects a percentage of at least 0, not 'few'" },
  { "fit{threads=0}", "column 1: fit: threads expects a whole number from 1 to 1024, not '0'" },
  { "parallelize", "column 1: parallelize: expected num-chunks" },
  { "parallelize{num-chunks=2 kind=rows}",
    "column 1: parallelize: kind must be data or model, not 'rows'" },
  { "parallelize{num-chunks=0}",
    "column 1: parallelize: num-chunks expects a whole number from 1 to 2147483647, not '0'" },
  { "repeat(parallelize{num-chunks=2})",
    "column 8: parallelize cannot be repeated: it would never end" },
  { "split-for-threads{threads=none}",
    "column 1: split-for-threads: threads expects a whole number from 1 to 1024, not 'none'" },
};

START_TEST (errors_give_the_position)
{
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *message = g_strconcat ("pipeline, ", bad[i].message, NULL);

      ck_assert_ptr_null (cleave_pipeline_parse (bad[i].text, &error));
      cleave_assert_error (&error, CLEAVE_ERROR_OPTION, message);
    }
}
END_TEST

START_TEST (deeply_nested_texts_are_errors)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 100000; i++)
    g_string_append (text, "repeat(");
  ck_assert_ptr_null (cleave_pipeline_parse (text->str, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "pipeline, column 455: groups lie at most 64 deep");
  ck_assert_ptr_null (cleave_pipeline_parse ("remove-dead,\xff", &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "pipeline: the text is not UTF-8");
}
END_TEST

START_TEST (every_pass_has_a_name_a_summary_and_options)
{
  guint n_passes;
  const CleavePassInfo *const *passes = cleave_pass_list (&n_passes);

  ck_assert_uint_ge (n_passes, 9);
  for (guint i = 0; i < n_passes; i++)
    {
      const char *name = cleave_pass_info_get_name (passes[i]);
      const char *pipeline = cleave_pass_info_get_pipeline (passes[i]);

      ck_assert_ptr_eq (cleave_pass_lookup (name), passes[i]);
      ck_assert (g_str_has_suffix (cleave_pass_info_get_summary (passes[i]), "."));
      for (guint j = 0; j < cleave_pass_info_get_n_options (passes[i]); j++)
        ck_assert_ptr_nonnull (cleave_pass_info_get_option (passes[i], j)->summary);
      if (pipeline != NULL)
        {
          g_autoptr (CleavePipeline) parsed = cleave_pipeline_parse (pipeline, NULL);

          ck_assert_ptr_nonnull (parsed);
        }
    }
  ck_assert_ptr_null (cleave_pass_lookup ("nothing"));
}
END_TEST

/* The events that a pipeline reported. `n`: number of events so far. `skip_from`: number of events
 * after which passes are skipped. `end_at`: number of events after which the pipeline ends. */
typedef struct
{
  GString *events;
  guint skip_from, end_at, n;
} Watch;

static gboolean
watch (CleavePipelineEvent event, const char *pass, const CleaveGraph *graph, gpointer data)
{
  Watch *w = data;

  if (event == CLEAVE_PIPELINE_BEFORE)
    return w->n < w->skip_from;
  w->n++;
  g_string_append_printf (w->events, "%s%s ", pass, event == CLEAVE_PIPELINE_CHANGED ? "!" : "");
  return w->n != w->end_at;
}

/* Makes a graph whose output y is a Relu of x. A Neg of x has no reader. */
static CleaveGraph *
small_graph (void)
{
  CleaveGraph *graph = cleave_graph_new ("g");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (4, 4));

  run_unary (graph, "Neg", x);
  run_output (graph, run_unary (graph, "Relu", x));
  return graph;
}

START_TEST (observers_see_each_pass_and_may_stop_the_pipeline)
{
  static const struct
  {
    guint skip_from, end_at;
    const char *events;
  } cases[] = {
    { 99, 99, "merge-equal remove-dead! merge-equal remove-dead merge-equal " },
    { 2, 99, "merge-equal remove-dead! " },
    { 0, 99, "" },
    { 99, 1, "merge-equal " },
    { 99, 2, "merge-equal remove-dead! " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleavePipeline) pipeline =
          cleave_pipeline_parse ("repeat(merge-equal,remove-dead),merge-equal", NULL);
      g_autoptr (CleaveGraph) graph = small_graph ();
      g_autoptr (GString) events = g_string_new (NULL);
      Watch w = { events, cases[i].skip_from, cases[i].end_at, 0 };
      gboolean changed = FALSE;

      ck_assert (cleave_pipeline_run (pipeline, graph, watch, &w, &changed, NULL));
      ck_assert_str_eq (events->str, cases[i].events);
      ck_assert_int_eq (changed, strchr (events->str, '!') != NULL);
    }
}
END_TEST

/* A pipeline with the pass `split` has the effect of the C functions. */
START_TEST (a_split_is_a_pass)
{
  const gint64 two = 2;
  const CleaveRecursion recursion = { .depth = 3, .halo = CLEAVE_HALO_CARRY };
  g_autoptr (CleaveGraph) by_text = cleave_test_figure (), by_call = cleave_test_figure ();
  CleaveResult *last = cleave_operand_get_result (cleave_graph_get_output (by_call, 0));
  const char *name = cleave_node_get_name (cleave_result_get_node (last));
  g_autofree char *text =
      g_strdup_printf ("split{node=%s dims=H num-chunks=2 depth=3 halo=carry}", name);
  g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (text, NULL);
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("H", &two, 1);
  g_autoptr (CleaveSplitReport) report = cleave_split_node_recursively (
      cleave_graph_find_node (by_call, name), split, NULL, &recursion, NULL);
  g_autofree char *a = NULL, *b = NULL;
  gboolean changed = FALSE;

  ck_assert_ptr_nonnull (report);
  ck_assert (cleave_pipeline_run (pipeline, by_text, NULL, NULL, &changed, NULL));
  ck_assert (changed);
  a = cleave_graph_print (by_text);
  b = cleave_graph_print (by_call);
  ck_assert_str_eq (a, b);
}
END_TEST

START_TEST (a_wrong_split_is_an_error)
{
  static const struct
  {
    const char *text, *message;
  } cases[] = {
    { "split{node=none dims=0 num-chunks=2}", "split: the graph has no node 'none'" },
    { "split{node=relu dims=7 num-chunks=2}", NULL },
    { "split{node=relu dims=0 num-chunks=2 max-memory=1}",
      "split: Relu 'relu' is not split: piece 0 needs 64 bytes, the limit is 1" },
    { "split{node=relu dims=0 num-chunks=1}", "" },
    { "parallelize{node=none num-chunks=2}", "parallelize: the graph has no node 'none'" },
    { "parallelize{node=relu num-chunks=1}", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (cases[i].text, NULL);
      g_autoptr (CleaveGraph) graph = small_graph ();
      g_autofree char *before = cleave_graph_print (graph), *after = NULL;
      g_autoptr (GError) error = NULL;
      gboolean worked = cleave_pipeline_run (pipeline, graph, NULL, NULL, NULL, &error);

      after = cleave_graph_print (graph);
      ck_assert_str_eq (before, after);
      if (cases[i].message == NULL)
        ck_assert (!worked && g_str_has_prefix (error->message, "split: "));
      else if (*cases[i].message == '\0')
        ck_assert (worked);
      else
        cleave_assert_error (&error, CLEAVE_ERROR_OPTION, cases[i].message);
    }
}
END_TEST

/* The tests below check that a pipeline gives the same graph as a C function. */

static CleaveNode *
last_node (const CleaveGraph *graph)
{
  g_autoptr (GPtrArray) order = cleave_graph_get_order (graph, NULL);

  return order->pdata[order->len - 1];
}

static void
by_clean_up (CleaveGraph *graph)
{
  cleave_clean_up (graph, NULL, NULL);
}

static void
by_preparation (CleaveGraph *graph)
{
  g_autoptr (CleaveSplitReport) report = NULL;

  cleave_pass_join_elementwise (graph, NULL, NULL, NULL);
  report = cleave_split_for_threads (graph, 2, NULL);
  cleave_clean_up (graph, NULL, NULL);
}

static void
by_split (CleaveGraph *graph)
{
  const gint64 n_chunks = 2;
  const CleaveRecursion recursion = { .depth = 3, .halo = CLEAVE_HALO_CARRY };
  g_autoptr (CleaveTiling) tiling = cleave_tiling_by_num_chunks ("0", &n_chunks, 1);
  g_autoptr (CleaveSplitReport) report =
      cleave_split_node_recursively (last_node (graph), tiling, NULL, &recursion, NULL);
}

static void
by_split_of_all (CleaveGraph *graph)
{
  const gint64 size = 2;
  const CleaveConstraint constraint = { .max_pieces = 3 };
  g_autoptr (CleaveTiling) tiling = cleave_tiling_by_chunk_size ("-1", &size, 1);
  g_autoptr (CleaveSplitReport) report = cleave_split_all_nodes (graph, tiling, &constraint, NULL);
}

START_TEST (texts_do_the_same_as_functions)
{
  static const struct
  {
    const char *text;
    void (*run) (CleaveGraph *graph);
  } cases[] = {
    { "clean-up", by_clean_up },
    { "join-elementwise,split-for-threads{threads=2},clean-up", by_preparation },
    { "split{node=LAST dims=0 num-chunks=2 depth=3 halo=carry}", by_split },
    { "split{all dims=-1 chunk-size=2 max-pieces=3}", by_split_of_all },
  };
  guint n_changed[G_N_ELEMENTS (cases)] = { 0 };
  const guint n = CLEAVE_TRIALS (40);

  for (guint i = 0; i < G_N_ELEMENTS (cases) * n; i++)
    {
      g_autoptr (CleaveGraph) a = random_graph (i, 20), b = cleave_graph_copy (a);
      g_auto (GStrv) halves = g_strsplit (cases[i % G_N_ELEMENTS (cases)].text, "LAST", 2);
      g_autofree char *text = g_strjoinv (cleave_node_get_name (last_node (a)), halves);
      g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (text, NULL);
      g_autofree char *before = cleave_graph_print (a), *by_text = NULL, *by_functions = NULL;

      cleave_pipeline_run (pipeline, a, NULL, NULL, NULL, NULL);
      cases[i % G_N_ELEMENTS (cases)].run (b);
      by_text = cleave_graph_print (a);
      by_functions = cleave_graph_print (b);
      ck_assert_str_eq (by_text, by_functions);
      n_changed[i % G_N_ELEMENTS (cases)] += strcmp (before, by_text) != 0;
    }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    ck_assert_msg (n_changed[i] > 0, "%s never changed a graph", cases[i].text);
}
END_TEST

static char *
random_pipeline (GRand *random)
{
  static const char *const passes[] = {
    "remove-dead",
    "fold-constants",
    "forward-slices",
    "fold-views",
    "merge-equal",
    "join-elementwise",
    "clean-up",
    "split{all dims=0 num-chunks=2}",
    "split{all dims=-1 num-chunks=3}",
    "split-for-threads{threads=2}",
    "parallelize{num-chunks=2}",
    "parallelize{kind=model num-chunks=3 align=2}",
    "fit{max-added-macs=20}",
    "repeat(fold-views,remove-dead)",
    "repeat(clean-up,join-elementwise)",
    "gather-to-slice",
    "drop-results",
    "drop-expands",
    "merge-clips",
    "merge-pads",
    "fuse-hard-swish",
    "hoist-quantize",
    "sink-transposes",
    "simplify",
  };
  GString *text = g_string_new (NULL);

  for (gint i = g_rand_int_range (random, 1, 7); i > 0; i--)
    g_string_append_printf (text, "%s%s", text->len > 0 ? "," : "",
                            passes[g_rand_int_range (random, 0, G_N_ELEMENTS (passes))]);
  return g_string_free (text, FALSE);
}

START_TEST (random_pipelines_keep_the_bits)
{
  const guint n = CLEAVE_TRIALS (150);
  ReducedTest test = { 0 };

  for (test.seed = 0; test.seed < n; test.seed++)
    {
      g_autoptr (GRand) random = g_rand_new_with_seed (test.seed);
      g_autoptr (CleaveGraph) graph = random_graph (test.seed, 20);
      g_autofree char *text = random_pipeline (random);

      if (reduced_differs (graph, text, &test))
        {
          g_autofree char *small = reduced_print (graph, text, &test);

          ck_abort_msg ("seed %u, %s\n%s", test.seed, text, small);
        }
    }
  ck_assert_uint_gt (test.n_changed, n / 2);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "parse", texts_are_read_and_printed, errors_give_the_position,
                   deeply_nested_texts_are_errors, every_pass_has_a_name_a_summary_and_options,
                   NULL);
  cleave_add_case (suite, "run", observers_see_each_pass_and_may_stop_the_pipeline,
                   a_split_is_a_pass, a_wrong_split_is_an_error, texts_do_the_same_as_functions,
                   random_pipelines_keep_the_bits, NULL);
}

CLEAVE_TEST_SUITE ("pipeline", add_tests)
