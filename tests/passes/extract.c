/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Submodels between two values. */

#include "partition-help.h"
#include "run-help.h"
#include "test.h"

#include <string.h>

/* Returns a value that `to` needs directly or through at most six other nodes. Returns NULL if
 * there is none. */
static CleaveResult *
pick_above (CleaveNode *to, GRand *random)
{
  CleaveResult *found = NULL;

  for (gint32 n = g_rand_int_range (random, 1, 8); n > 0 && !cleave_node_is_input (to); n--)
    {
      guint n_operands = cleave_node_get_n_operands (to);
      CleaveResult *value =
          n_operands == 0 ? NULL
                          : cleave_operand_get_result (cleave_node_get_operand (
                                to, (guint) g_rand_int_range (random, 0, (gint32) n_operands)));

      if (value == NULL || cleave_node_get_constant (cleave_result_get_node (value)) != NULL)
        break;
      found = value;
      to = cleave_result_get_node (value);
    }
  return found;
}

/* Returns names of one or two values that `to` needs, NULL-terminated. */
static char **
pick_from (CleaveNode *to, guint32 seed)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();

  for (guint i = 0; i <= seed % 2; i++)
    {
      CleaveResult *value = pick_above (to, random);
      g_autofree char *name = value == NULL ? NULL : cleave_result_dup_name (value);

      if (name != NULL)
        g_strv_builder_add (names, name);
    }
  return g_strv_builder_end (names);
}

/* Returns the value of the graph with this name. */
static CleaveResult *
find_value (const CleaveGraph *graph, const char *name)
{
  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    for (guint r = 0; r < cleave_node_get_n_results (node); r++)
      {
        g_autofree char *own = cleave_result_dup_name (cleave_node_get_result (node, r));

        if (g_str_equal (own, name))
          return cleave_node_get_result (node, r);
      }
  ck_abort_msg ("there is no %s", name);
}

/* Returns a copy of the graph that has all these values as outputs. */
static CleaveGraph *
make_with_outputs (const CleaveGraph *graph, char *const *from, const char *to)
{
  CleaveGraph *copy = cleave_graph_copy (graph);

  for (guint i = 0; from[i] != NULL; i++)
    cleave_graph_add_output (copy, from[i], find_value (copy, from[i]), NULL);
  cleave_graph_add_output (copy, to, find_value (copy, to), NULL);
  return copy;
}

/* Returns the tensor of the input or output with this name. */
static CleaveTensor *
find_tensor (const CleaveGraph *graph,
             const GPtrArray *inputs,
             const GPtrArray *outputs,
             const char *name)
{
  for (guint i = 0; i < outputs->len; i++)
    if (g_str_equal (cleave_graph_get_output_name (graph, i), name))
      return outputs->pdata[i];
  for (guint i = 0; i < inputs->len; i++)
    {
      g_autofree char *own = cleave_result_dup_name (cleave_graph_get_input (graph, i));

      if (g_str_equal (own, name))
        return inputs->pdata[i];
    }
  ck_abort_msg ("nobody computes %s", name);
}

/* Runs the submodel from `from` to `to` on values that the whole model computed. Asserts that its
 * outputs have the bits of the whole model. */
static void
assert_extract_same (
    const CleaveGraph *graph, char *const *from, const char *to, guint32 seed, const char *what)
{
  const char *const ends[] = { to, NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) part =
      cleave_graph_extract (graph, (const char *const *) from, ends, &error);
  g_autoptr (CleaveGraph) whole = NULL;
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, seed);
  g_autoptr (GPtrArray) taken = g_ptr_array_new (), values = NULL, outputs = NULL;

  cleave_assert_no_error (error);
  ck_assert (cleave_graph_validate (part, NULL));
  whole = make_with_outputs (graph, from, to);
  values = run_graph (whole, inputs, 1);
  for (guint i = 0; i < cleave_graph_get_n_inputs (part); i++)
    {
      g_autofree char *name = cleave_result_dup_name (cleave_graph_get_input (part, i));

      if (i < g_strv_length ((char **) from))
        ck_assert_str_eq (name, from[i]);
      g_ptr_array_add (taken, find_tensor (whole, inputs, values, name));
    }
  outputs = run_graph (part, taken, 1);
  ck_assert_uint_eq (outputs->len, 1);
  ck_assert_str_eq (cleave_graph_get_output_name (part, 0), to);
  ck_assert_msg (cleave_tensor_equal (outputs->pdata[0], find_tensor (whole, inputs, values, to)),
                 "%s: %s differs", what, to);
}

START_TEST (a_submodel_computes_the_values_of_the_whole)
{
  const guint n = CLEAVE_TRIALS (120);
  guint n_good = 0;

  for (guint32 seed = 0; seed < n; seed++)
    {
      g_autoptr (CleaveGraph) graph = partition_make_graph (seed);
      g_auto (GStrv) to = partition_pick_values (graph, seed, 1);
      g_auto (GStrv) from = to[0] == NULL ? g_new0 (char *, 1)
                                          : pick_from (cleave_graph_find_node (graph, to[0]), seed);
      g_autofree char *what = g_strdup_printf ("seed %u", seed);
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) part = from[0] == NULL
                                         ? NULL
                                         : cleave_graph_extract (graph, (const char *const *) from,
                                                                 (const char *const *) to, &error);

      if (part == NULL)
        {
          if (from[0] != NULL)
            ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
          continue;
        }
      assert_extract_same (graph, from, to[0], seed, what);
      n_good++;
    }
  ck_assert_uint_gt (n_good, n / 4);
}
END_TEST

START_TEST (a_submodel_ends_at_the_outputs_that_need_its_beginning)
{
  const char *const from[] = { "b", NULL };
  g_autoptr (CleaveGraph) graph = partition_parse (PARTITION_SKIP);
  g_autoptr (CleaveGraph) part = cleave_graph_extract (graph, from, NULL, NULL);

  ck_assert_uint_eq (cleave_graph_get_n_outputs (part), 1);
  ck_assert_str_eq (cleave_graph_get_output_name (part, 0), "y");
  /* the inputs b and x; `a` is no input, since nodes of the submodel compute it from x */
  ck_assert_uint_eq (cleave_graph_get_n_inputs (part), 2);
}
END_TEST

/* Submodels of the graph PARTITION_SKIP that cannot be extracted, and the message of the error. */
static const struct
{
  const char *from, *to, *message;
} refused[] = {
  { "w", "y", "'w' is a constant" },
  { "c", "b", "'c' is not needed for 'b'" },
  { "b", "b", "the submodel would begin and end at 'b'" },
  { "a", "x", "'x' is an input" },
  { "nothing", "y", "the graph has no value 'nothing'" },
  { "y", NULL, "no output needs" },
};

START_TEST (wrong_submodels_are_refused)
{
  g_autoptr (CleaveGraph) graph = partition_parse (PARTITION_SKIP);

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (GError) error = NULL;
      const char *const from[] = { refused[i].from, NULL }, *const to[] = { refused[i].to, NULL };

      ck_assert_ptr_null (cleave_graph_extract (graph, from, to, &error));
      ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
      ck_assert_msg (strstr (error->message, refused[i].message) != NULL, "%s", error->message);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "extract", a_submodel_computes_the_values_of_the_whole,
                   a_submodel_ends_at_the_outputs_that_need_its_beginning,
                   wrong_submodels_are_refused, NULL);
}

CLEAVE_TEST_SUITE ("extract", add_tests)
