/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The lowering of sequences (LSTM, GRU) for several threads: work that does not depend on the state
 * becomes a separate node. */

#include "../../lib/memory/sequence-lowering.h"

#include "graphs.h"
#include "run-help.h"

#define N_CHUNKS 3

/* A recurrent layer of 6 units that is cut into chunks of 5 steps. */
typedef struct
{
  const char *op;
  guint n_gates, n_states;
  const char *element, *attrs;
  gboolean batch_first, has_bias, begins_with_zeros; /* `begins_with_zeros`: the chunks have no
                                                      * operand for their initial states */
} Chunks;

/* Prints the initial states of a chunk: the last states of the previous chunk, or states of the
 * caller. */
static void
print_states (GString *text, const Chunks *s, guint i)
{
  for (guint r = 1; r <= s->n_states && !(s->begins_with_zeros && i > 0); r++)
    if (i == 0)
      g_string_append_printf (text, ", %%s%u", r);
    else
      g_string_append_printf (text, ", %%y%u_%u", i - 1, r);
}

static CleaveGraph *
make_chunks (const Chunks *s)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph;
  guint rows = 6 * s->n_gates;

  g_string_append_printf (text,
                          "%%w = Constant seed=1 : %s 1x%ux4\n%%r = Constant seed=2 : %s 1x%ux6\n"
                          "%%b = Constant seed=3 : %s 1x%u\n",
                          s->element, rows, s->element, rows, s->element, 2 * rows);
  for (guint r = 1; r <= s->n_states; r++)
    g_string_append_printf (text, "%%s%u = Input : %s %s\n", r, s->element,
                            s->batch_first ? "2x1x6" : "1x2x6");
  for (guint i = 0; i < N_CHUNKS; i++)
    {
      g_string_append_printf (text, "%%x%u = Input : %s %s\n", i, s->element,
                              s->batch_first ? "2x5x4" : "5x2x4");
      for (guint r = 0; r <= s->n_states; r++)
        g_string_append_printf (text, "%s%%y%u_%u", r == 0 ? "" : ", ", i, r);
      g_string_append_printf (text, " = %s %%x%u, %%w, %%r, %s", s->op, i,
                              s->has_bias ? "%b" : "-");
      g_string_append (text, s->begins_with_zeros && i > 0 ? "" : ", -");
      print_states (text, s, i);
      g_string_append_printf (text, " hidden_size=6 layout=%d%s\n", s->batch_first, s->attrs);
    }
  for (guint i = 0; i < N_CHUNKS; i++)
    for (guint r = 0; r <= (i + 1 == N_CHUNKS ? s->n_states : 0); r++)
      g_string_append_printf (text, "output %%y%u_%u\n", i, r);
  graph = cleave_graph_parse (text->str, NULL, &error);
  cleave_assert_no_error (error);
  return graph;
}

static guint
count_ahead (const CleaveGraph *graph)
{
  guint n = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    n += g_str_has_suffix (node->name, ".ahead") ? 1 : 0;
  return n;
}

static const Chunks kinds[] = {
  { "LSTM", 4, 2, "float32", "", FALSE, TRUE, FALSE },
  { "LSTM", 4, 2, "float32", " direction=reverse input_forget=1", TRUE, FALSE, FALSE },
  { "GRU", 3, 1, "float32", " linear_before_reset=1", FALSE, TRUE, FALSE },
  { "GRU", 3, 1, "float32", " direction=reverse", TRUE, TRUE, FALSE },
  { "GRU", 3, 1, "float64", " linear_before_reset=1", TRUE, TRUE, FALSE },
  { "RNN", 1, 1, "float32", " clip=0.3", FALSE, TRUE, FALSE },
  { "RNN", 1, 1, "float64", "", FALSE, FALSE, FALSE },
};

START_TEST (input_sums_of_chunks_are_computed_ahead)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autoptr (CleaveGraph) graph = make_chunks (&kinds[i]), lowered = cleave_lower (graph, 2);

      ck_assert_ptr_nonnull (lowered);
      ck_assert_uint_eq (count_ahead (lowered), N_CHUNKS);
      ck_assert_uint_eq (lowered->n_nodes, graph->n_nodes + N_CHUNKS);
      ck_assert_ptr_nonnull (cleave_graph_find_node (lowered, "y1_0"));
    }
}
END_TEST

START_TEST (bits_stay_the_same)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autoptr (CleaveGraph) graph = make_chunks (&kinds[i]);

      run_assert_same (graph, i);
    }
}
END_TEST

/* The lowering moves the input sums of a recurrent layer into a separate node, which another thread
 * can compute ahead. It leaves unsplit layers and programs for one thread unchanged, since they
 * would not become faster. It leaves layers of float16 unchanged, since the separate node would
 * round the sums to 16 bits. */
START_TEST (other_layers_are_not_lowered)
{
  Chunks half = kinds[0], whole = kinds[0];

  half.element = "float16";
  whole.begins_with_zeros = TRUE;
  for (guint i = 0; i < 3; i++)
    {
      const Chunks *s = i == 0 ? &half : i == 1 ? &whole : &kinds[0];
      g_autoptr (CleaveGraph) graph = make_chunks (s);
      g_autoptr (CleaveGraph) lowered = cleave_lower (graph, i == 2 ? 1 : 2);

      ck_assert_ptr_null (lowered);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "sequence lowering", input_sums_of_chunks_are_computed_ahead,
                   bits_stay_the_same, other_layers_are_not_lowered, NULL);
}

CLEAVE_TEST_SUITE ("sequence-lowering", add_tests)
