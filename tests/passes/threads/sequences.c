/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Stacks of recurrent layers that are cut along the time, so that a layer begins before the
 * previous layer ends. */

#include "../../../passes/threads/sequences.h"

#include "graphs.h"
#include "run-help.h"

#define N_SEEDS CLEAVE_TRIALS (60)

/* A stack of recurrent layers. Each layer has 6 units, and its operand has 19 time steps. */
typedef struct
{
  const char *op;
  guint n_gates, n_states, n_layers, batch;
  const char *direction;
  gboolean batch_first, has_states, has_relu;
} Stack;

/* Prints a layer: its weights, its bias, its initial states, and the node. */
static void
print_layer (GString *text, const Stack *s, const char *x, guint i)
{
  guint rows = 6 * s->n_gates;

  for (guint o = 0; o < 2; o++)
    g_string_append_printf (text, "%%w%u_%u = Constant seed=%u : float32 1x%ux6\n", i, o, 9 * i + o,
                            rows);
  g_string_append_printf (text, "%%b%u = Constant seed=%u : float32 1x%u\n", i, 9 * i + 2,
                          2 * rows);
  for (guint o = 0; s->has_states && o < s->n_states; o++)
    g_string_append_printf (text, "%%s%u_%u = Input : float32 %ux%ux6\n", i, o,
                            s->batch_first ? s->batch : 1, s->batch_first ? 1 : s->batch);
  for (guint r = 0; r <= s->n_states; r++)
    g_string_append_printf (text, "%s%%y%u_%u", r == 0 ? "" : ", ", i, r);
  g_string_append_printf (text, " = %s %%%s, %%w%u_0, %%w%u_1, %%b%u", s->op, x, i, i, i);
  for (guint o = 0; s->has_states && o < s->n_states; o++)
    g_string_append_printf (text, "%s, %%s%u_%u", o == 0 ? ", -" : "", i, o);
  g_string_append_printf (text, " direction=%s hidden_size=6 layout=%d\n", s->direction,
                          s->batch_first);
}

/* Prints the nodes that turn the result of layer `i` into the input of the next layer. */
static void
print_between (GString *text, const Stack *s, guint i)
{
  const char *y = "y";

  if (!s->batch_first)
    g_string_append_printf (text, "%%t%u = Transpose %%y%u_0 perm=0,2,1,3\n", i, i);
  else
    g_string_append_printf (text, "%%t%u = Identity %%y%u_0\n", i, i);
  y = "t";
  if (s->has_relu)
    g_string_append_printf (text, "%%r%u = Relu %%t%u\n", i, i);
  y = s->has_relu ? "r" : y;
  g_string_append_printf (text, "%%x%u = Reshape %%%s%u shape=%u,%u,6\n", i + 1, y, i,
                          s->batch_first ? s->batch : 19, s->batch_first ? 19 : s->batch);
}

static CleaveGraph *
make_stack (const Stack *s)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph;

  g_string_append_printf (text, "%%x0 = Input : float32 %ux%ux6\n", s->batch_first ? s->batch : 19,
                          s->batch_first ? 19 : s->batch);
  for (guint i = 0; i < s->n_layers; i++)
    {
      g_autofree char *x = g_strdup_printf ("x%u", i);

      print_layer (text, s, x, i);
      print_between (text, s, i);
    }
  g_string_append_printf (text, "output %%x%u\n", s->n_layers);
  for (guint i = 0; i < s->n_layers; i++)
    for (guint r = 1; r <= s->n_states; r++)
      g_string_append_printf (text, "output %%y%u_%u\n", i, r);
  graph = cleave_graph_parse (text->str, NULL, &error);
  cleave_assert_no_error (error);
  return graph;
}

/* Cuts the layers and returns the number of chunks. */
static guint
cut (CleaveGraph *graph, guint n_threads)
{
  const CleaveThreads threads = { .n = n_threads };
  g_autoptr (GHashTable) members = g_hash_table_new (NULL, NULL);
  g_autoptr (CleaveSplitReport) report = cleave_split_report_new (graph);
  g_autoptr (GError) error = NULL;

  ck_assert (cleave_sequences_cut (graph, &threads, members, report, &error));
  cleave_split_report_finish (report, graph);
  cleave_clean_up (graph, NULL, &error);
  ck_assert (cleave_graph_validate (graph, &error));
  cleave_assert_no_error (error);
  return g_hash_table_size (members);
}

static void
try_stack (guint32 seed)
{
  static const struct
  {
    const char *op;
    guint n_gates, n_states;
  } kinds[] = { { "RNN", 1, 1 }, { "GRU", 3, 1 }, { "LSTM", 4, 2 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint kind = (guint) g_rand_int_range (rand, 0, 3);
  const Stack s = { .op = kinds[kind].op,
                    .n_gates = kinds[kind].n_gates,
                    .n_states = kinds[kind].n_states,
                    .n_layers = (guint) g_rand_int_range (rand, 2, 4),
                    .batch = (guint) g_rand_int_range (rand, 1, 4),
                    .direction = g_rand_boolean (rand) ? "forward" : "reverse",
                    .batch_first = g_rand_boolean (rand),
                    .has_states = g_rand_boolean (rand),
                    .has_relu = g_rand_boolean (rand) };
  g_autoptr (CleaveGraph) graph = make_stack (&s);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, seed);
  g_autoptr (GPtrArray) whole = run_graph (graph, inputs, 1), pieces = NULL;

  ck_assert_uint_eq (cut (graph, 2), 3 * s.n_layers);
  pieces = run_graph (graph, inputs, 2);
  ck_assert_msg (cleave_compare_outputs (whole, pieces) == -1, "seed %u", seed);
  run_assert_same (graph, seed);
}

START_TEST (bits_stay_the_same)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_stack (seed);
}
END_TEST

/* Cuts a random stack of LSTM layers, and the nodes that read its last layer, so that the peak is
 * lower. Asserts that the bits stay the same. */
static void
try_for_memory (guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  const Stack s = { .op = "LSTM",
                    .n_gates = 4,
                    .n_states = 2,
                    .n_layers = (guint) g_rand_int_range (rand, 1, 4),
                    .batch = (guint) g_rand_int_range (rand, 1, 4),
                    .direction = g_rand_boolean (rand) ? "forward" : "reverse",
                    .batch_first = g_rand_boolean (rand),
                    .has_states = g_rand_boolean (rand),
                    .has_relu = g_rand_boolean (rand) };
  g_autoptr (CleaveGraph) graph = make_stack (&s);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, seed), whole = NULL, pieces = NULL;
  g_autoptr (CleaveSplitReport) report = cleave_split_report_new (graph);
  g_autoptr (GError) error = NULL;

  whole = run_graph (graph, inputs, 1);
  ck_assert (cleave_sequences_cut_for_memory (graph, 1, report));
  cleave_split_report_finish (report, graph);
  ck_assert_uint_ge (cleave_split_report_get_n_split (report), s.n_layers);
  ck_assert_msg (cleave_graph_validate (graph, &error), "seed %u", seed);
  pieces = run_graph (graph, inputs, 2);
  ck_assert_msg (cleave_compare_outputs (whole, pieces) == -1, "seed %u", seed);
}

START_TEST (bits_stay_the_same_for_memory)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_for_memory (seed);
}
END_TEST

/* A layer of 64 units. A product reduces the result of the layer to 4 columns for each time step.
 */
#define NARROWED                                                                                   \
  "%x = Input : float32 48x1x4\n%w = Constant seed=1 : float32 1x192x4\n"                          \
  "%u = Constant seed=2 : float32 1x192x64\n%v = Constant seed=3 : float32 64x4\n"                 \
  "%y, %h = GRU %x, %w, %u hidden_size=64\n%s = Squeeze %y axes=1\n%t = Transpose %s perm=1,0,2\n" \
  "%p = MatMul %t, %v\n%r = Relu %p\noutput %r\n"

START_TEST (the_result_of_a_layer_is_never_whole)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (NARROWED, NULL, &error);

  cleave_assert_no_error (error);
  ck_assert (!cleave_sequences_cut_for_memory (graph, 48 * 64 * 4 + 1, NULL));
  ck_assert_int_gt (cleave_graph_get_peak_bytes (graph, NULL), 48 * 64 * 4);
  ck_assert (cleave_sequences_cut_for_memory (graph, 48 * 64 * 4, NULL));
  ck_assert_int_lt (cleave_graph_get_peak_bytes (graph, NULL), 48 * 64 * 4 / 2);
  run_assert_same (graph, 1);
}
END_TEST

static Stack
a_stack (guint n_layers, guint batch, const char *direction)
{
  return (Stack){ .op = "GRU",
                  .n_gates = 3,
                  .n_states = 1,
                  .n_layers = n_layers,
                  .batch = batch,
                  .direction = direction,
                  .has_relu = TRUE };
}

/* Counts the nodes with the op `op` among `node` and all nodes on which `node` depends. Skips nodes
 * that are in `seen`, and adds all visited nodes to `seen`. */
static guint
count_behind (const CleaveNode *node, const char *op, GHashTable *seen)
{
  guint n = 0;

  if (!g_hash_table_add (seen, (gpointer) node))
    return 0;
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      n += count_behind (node->operands[i].result->node, op, seen);
  return n + g_str_equal (node->op->name, op);
}

/* The first chunk of the second layer depends only on the first chunk of the first layer. */
START_TEST (a_layer_begins_before_the_previous_one_ends)
{
  const Stack s = a_stack (2, 1, "forward");
  g_autoptr (CleaveGraph) graph = make_stack (&s);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  const CleaveNode *first;

  ck_assert_uint_eq (cut (graph, 2), 6);
  first = cleave_graph_find_node (graph, "y1_0.0");
  ck_assert_ptr_nonnull (first);
  ck_assert_uint_eq (count_behind (first, "GRU", seen), 2);
}
END_TEST

static guint
cut_text (const char *text, guint n_threads)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, &error);

  cleave_assert_no_error (error);
  return cut (graph, n_threads);
}

/* Layers that are not cut along the time. A single layer has no other layer to run at the same
 * time. If there are more threads than layers, and the batch has at least one element for each
 * thread, the batch is cut instead. */
START_TEST (layers_that_gain_nothing_are_not_cut)
{
  const Stack one = a_stack (1, 1, "forward"), batch = a_stack (2, 4, "forward");
  const Stack few[] = { a_stack (2, 3, "forward"), a_stack (2, 2, "reverse") };
  g_autoptr (CleaveGraph) single = make_stack (&one), wide = make_stack (&batch);

  ck_assert_uint_eq (cut (single, 2), 0);
  ck_assert_uint_eq (cut (wide, 4), 0);
  for (guint i = 0; i < G_N_ELEMENTS (few); i++)
    {
      g_autoptr (CleaveGraph) graph = make_stack (&few[i]);

      ck_assert_uint_eq (cut (graph, 4), 6);
    }
}
END_TEST

/* Layers that cannot run in chunks: a bidirectional layer, a layer with sequence lengths, and a
 * reverse layer after a forward layer. */
START_TEST (layers_that_cannot_run_by_chunks_are_not_cut)
{
  const char *lines = "%x = Input : float32 16x1x6\n"
                      "%l = Input : int32 1\n"
                      "%w = Constant : float32 2x18x6\n"
                      "%v = Constant : float32 1x18x6\n"
                      "%u = Constant : float32 1x18x12\n";
  g_autofree char *both = g_strconcat (lines,
                                       "%y, %h = GRU %x, %w, %w direction=bidirectional\n"
                                       "%t = Transpose %y perm=0,2,1,3\n"
                                       "%z = Reshape %t shape=16,1,12\n"
                                       "%a, %b = GRU %z, %u, %v\n"
                                       "output %a\n",
                                       NULL);
  g_autofree char *lengths = g_strconcat (lines,
                                          "%y, %h = GRU %x, %v, %v, -, %l\n"
                                          "%z = Squeeze %y axes=1\n"
                                          "%a, %b = GRU %z, %v, %v\n"
                                          "output %a\n",
                                          NULL);
  g_autofree char *against = g_strconcat (lines,
                                          "%y, %h = GRU %x, %v, %v\n"
                                          "%z = Squeeze %y axes=1\n"
                                          "%a, %b = GRU %z, %v, %v direction=reverse\n"
                                          "output %a\n",
                                          NULL);

  ck_assert_uint_eq (cut_text (both, 2), 0);
  ck_assert_uint_eq (cut_text (lengths, 2), 0);
  ck_assert_uint_eq (cut_text (against, 2), 0);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "sequences", bits_stay_the_same, a_layer_begins_before_the_previous_one_ends,
      layers_that_gain_nothing_are_not_cut, layers_that_cannot_run_by_chunks_are_not_cut, NULL);
  cleave_add_case (suite, "memory", bits_stay_the_same_for_memory,
                   the_result_of_a_layer_is_never_whole, NULL);
}

CLEAVE_TEST_SUITE ("sequences", add_tests)
