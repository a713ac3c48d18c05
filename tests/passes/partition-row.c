/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Partitions into parts that follow each other, and submodels between two values. */

#include "graphs.h"
#include "partition-help.h"
#include "random-graph.h"
#include "run-help.h"
#include "test.h"

#include <string.h>

static CleaveGraph *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_graph_parse (text, NULL, &error);

  cleave_assert_no_error (error);
  return graph;
}

/* Returns a random graph of one of several kinds. Some graphs have empty tensors. */
static CleaveGraph *
make_graph (guint32 seed)
{
  static const char *const pipelines[] = { "clean-up", "split{all dims=-1 num-chunks=3}",
                                           "split{all dims=0 num-chunks=2},clean-up" };
  g_autoptr (CleavePipeline) pipeline =
      cleave_pipeline_parse (pipelines[seed / 2 % G_N_ELEMENTS (pipelines)], NULL);
  CleaveGraph *graph = seed % 2 == 0 ? random_graph (seed, 25) : cleave_random_graph (seed, 25);

  cleave_pipeline_run (pipeline, graph, NULL, NULL, NULL, NULL);
  return graph;
}

/* Returns the bytes of the largest part: its weights and activations together. */
static gint64
find_largest (const CleavePartition *partition)
{
  gint64 largest = 0;

  for (guint i = 0; i < cleave_partition_get_n_parts (partition); i++)
    {
      gint64 weights, arena;

      ck_assert (cleave_partition_measure (partition, i, &weights, &arena, NULL));
      largest = MAX (largest, weights + arena);
    }
  return largest;
}

/* Counts the nodes that parts compute. */
static guint
count_nodes (const CleaveGraph *graph, const CleavePartition *partition)
{
  guint n = 0;

  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    n += cleave_partition_find (partition, node) >= 0;
  return n;
}

START_TEST (as_many_parts_as_asked_for_compute_the_same_bits)
{
  const guint n = CLEAVE_TRIALS (120);
  guint n_good = 0;

  for (guint32 seed = 0; seed < n; seed++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = make_graph (seed);
      g_autofree char *what = g_strdup_printf ("seed %u", seed);
      const guint n_parts = 1 + seed % 7;
      g_autoptr (CleavePartition) partition =
          cleave_partition_new_by_count (graph, n_parts, &error);

      if (partition == NULL)
        {
          ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
          continue;
        }
      ck_assert_uint_eq (cleave_partition_get_n_parts (partition), n_parts);
      assert_partition_same (partition, graph, seed, what);
      n_good++;
    }
  ck_assert_uint_gt (n_good, n * 9 / 10);
}
END_TEST

START_TEST (parts_within_bytes_compute_the_same_bits)
{
  const guint n = CLEAVE_TRIALS (120);
  guint n_cut = 0, n_refused = 0;

  for (guint32 seed = 0; seed < n; seed++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = make_graph (seed);
      g_autofree char *what = g_strdup_printf ("seed %u", seed);
      g_autoptr (CleavePartition) whole = cleave_partition_new_by_count (graph, 1, NULL);
      const gint64 limit = MAX (find_largest (whole) * (30 + seed % 80) / 100, 1);
      g_autoptr (CleavePartition) partition = cleave_partition_new_by_bytes (graph, limit, &error);

      if (partition == NULL)
        {
          ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT));
          n_refused++;
          continue;
        }
      ck_assert_int_le (find_largest (partition), limit);
      ck_assert_uint_eq (count_nodes (graph, partition), count_nodes (graph, whole));
      assert_partition_same (partition, graph, seed, what);
      n_cut += cleave_partition_get_n_parts (partition) > 1;
    }
  ck_assert_uint_gt (n_cut, n / 3);
  ck_assert_uint_gt (n_refused, 0);
}
END_TEST

/* Returns the number that follows the text `after` in a message. */
static gint64
read_number (const char *message, const char *after)
{
  const char *found = strstr (message, after);

  ck_assert_msg (found != NULL, "%s", message);
  return g_ascii_strtoll (found + strlen (after), NULL, 10);
}

START_TEST (the_limit_that_a_refusal_names_is_met)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (40); seed++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = make_graph (seed);
      g_autoptr (CleavePartition) none = cleave_partition_new_by_bytes (graph, 1, &error);
      g_autoptr (CleavePartition) partition = NULL;
      gint64 limit;

      if (none != NULL) /* the graph has only empty values */
        continue;
      ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT));
      limit = read_number (error->message, "alone needs ");
      g_clear_error (&error);
      partition = cleave_partition_new_by_bytes (graph, limit, &error);
      cleave_assert_no_error (error);
      ck_assert_int_le (find_largest (partition), limit);
    }
}
END_TEST

/* Returns the names of some values that nodes compute, NULL-terminated. */
static char **
pick_values (const CleaveGraph *graph, guint32 seed, guint n)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  g_autoptr (CleavePartition) whole = cleave_partition_new_by_count (graph, 1, NULL);
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  guint left = count_nodes (graph, whole);

  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL && n > 0;
       node = cleave_node_get_next (node))
    if (cleave_partition_find (whole, node) >= 0 && cleave_node_get_constant (node) == NULL &&
        g_rand_int_range (random, 0, (gint32) left--) < (gint32) n)
      {
        g_autofree char *name = cleave_result_dup_name (cleave_node_get_result (node, 0));

        g_strv_builder_add (names, name);
        n--;
      }
  return g_strv_builder_end (names);
}

START_TEST (parts_cut_at_values_compute_the_same_bits)
{
  const guint n = CLEAVE_TRIALS (120);
  guint n_good = 0;

  for (guint32 seed = 0; seed < n; seed++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = make_graph (seed);
      g_auto (GStrv) values = pick_values (graph, seed, 1 + seed % 4);
      g_autofree char *what = g_strdup_printf ("seed %u", seed);
      g_autoptr (CleavePartition) partition =
          cleave_partition_new_at (graph, (const char *const *) values, &error);

      if (partition == NULL)
        {
          ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
          continue;
        }
      ck_assert_uint_eq (cleave_partition_get_n_parts (partition), g_strv_length (values) + 1);
      assert_partition_same (partition, graph, seed, what);
      n_good++;
    }
  ck_assert_uint_gt (n_good, n / 3);
}
END_TEST

/* x → a → b → c → y. The value a skips b and c: the last Add reads c and a. */
#define SKIP                                                                                       \
  "graph g\n%x = Input : float32 1x2x8x8\n%w = Constant seed=1 : float32 2x2x3x3\n"                \
  "%a = Conv %x, %w pads=1,1,1,1\n%b = Conv %a, %w pads=1,1,1,1\n%c = Conv %b, %w pads=1,1,1,1\n"  \
  "%y = Add %c, %a\noutput %y\noutput %b  # inner\n"

START_TEST (a_value_that_skips_a_part_is_an_input_of_a_later_one)
{
  const char *const values[] = { "c", "a", NULL };
  g_autoptr (CleaveGraph) graph = parse (SKIP);
  g_autoptr (CleavePartition) partition = cleave_partition_new_at (graph, values, NULL);
  const CleaveGraph *last;

  ck_assert_uint_eq (cleave_partition_get_n_parts (partition), 3);
  ck_assert_int_eq (cleave_partition_find (partition, cleave_graph_find_node (graph, "b")), 1);
  ck_assert_int_eq (cleave_partition_find (partition, cleave_graph_find_node (graph, "w")), -1);
  last = cleave_partition_get_graph (partition, 2);
  ck_assert_uint_eq (cleave_graph_get_n_inputs (last), 2);
  ck_assert_uint_eq (cleave_partition_get_n_before (partition, 2), 2);
  ck_assert_uint_eq (cleave_partition_get_level (partition, 2), 2);
  assert_partition_same (partition, graph, 1, "skip");
}
END_TEST

/* b and c are nodes that no output needs. b and c are in no part, so every part has an output. */
START_TEST (unused_nodes_are_in_no_part)
{
  static const char *const names[] = { "b", "c" };
  const char *const values[] = { "a", NULL }, *const unused[] = { "b", NULL };
  g_autoptr (CleaveGraph) graph =
      parse ("%x = Input : float32 4\n%a = Relu %x\n%b = Neg %a\n%c = Abs %b\n%y = Neg %a\n"
             "output %y\n");
  g_autoptr (CleavePartition) subgraphs = cleave_partition_new (graph, NULL);
  g_autoptr (CleavePartition) two = cleave_partition_new_by_count (graph, 2, NULL);
  g_autoptr (CleavePartition) at = cleave_partition_new_at (graph, values, NULL);
  const CleavePartition *const all[] = { subgraphs, two, at };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    {
      for (guint k = 0; k < G_N_ELEMENTS (names); k++)
        ck_assert_int_eq (cleave_partition_find (all[i], cleave_graph_find_node (graph, names[k])),
                          -1);
      for (guint k = 0; k < cleave_partition_get_n_parts (all[i]); k++)
        ck_assert_uint_gt (cleave_graph_get_n_outputs (cleave_partition_get_graph (all[i], k)), 0);
    }
  ck_assert_ptr_null (cleave_partition_new_by_count (graph, 3, NULL));
  ck_assert_ptr_null (cleave_partition_new_at (graph, unused, NULL));
}
END_TEST

/* A chain whose narrowest value is d, with 2 of the 16 channels. */
#define NARROW                                                                                     \
  "graph g\n%x = Input : float32 1x16x8x8\n%w = Constant seed=1 : float32 16x16x3x3\n"             \
  "%v = Constant seed=2 : float32 2x16x3x3\n%u = Constant seed=3 : float32 16x2x3x3\n"             \
  "%a = Conv %x, %w pads=1,1,1,1\n%b = Conv %a, %w pads=1,1,1,1\n%c = Conv %b, %w pads=1,1,1,1\n"  \
  "%d = Conv %c, %v pads=1,1,1,1\n%e = Conv %d, %u pads=1,1,1,1\n%f = Conv %e, %w pads=1,1,1,1\n"  \
  "%y = Conv %f, %w pads=1,1,1,1\noutput %y\n"

START_TEST (cuts_are_where_the_fewest_bytes_cross)
{
  g_autoptr (CleaveGraph) graph = parse (NARROW);
  g_autoptr (CleavePartition) two = cleave_partition_new_by_count (graph, 2, NULL);
  g_autoptr (CleavePartition) within =
      cleave_partition_new_by_bytes (graph, find_largest (two) + 1, NULL);

  ck_assert_int_eq (cleave_partition_find (two, cleave_graph_find_node (graph, "d")), 0);
  ck_assert_int_eq (cleave_partition_find (two, cleave_graph_find_node (graph, "e")), 1);
  ck_assert_uint_eq (cleave_partition_get_n_parts (within), 2);
  ck_assert_int_eq (cleave_partition_find (within, cleave_graph_find_node (graph, "d")), 0);
  ck_assert_int_eq (cleave_partition_find (within, cleave_graph_find_node (graph, "e")), 1);
}
END_TEST

/* The order of this graph runs all nodes of the chain a before the nodes of the chain b, since a1
 * needs the most memory. In this order, only a cut after a3 keeps the second part within its limit
 * of bytes, and hands over the 4096 bytes of a3. Another order runs b1 and b2 before a3, and hands
 * over only a2 and b2: 512 + 256 bytes. */
#define TWO_CHAINS                                                                                 \
  "graph g\n%x = Input : float32 1x16x8x8\n%w1 = Constant seed=1 : float32 32x16x3x3\n"            \
  "%w2 = Constant seed=2 : float32 2x32x3x3\n%w3 = Constant seed=3 : float32 16x2x3x3\n"           \
  "%w4 = Constant seed=4 : float32 16x16x3x3\n%w5 = Constant seed=5 : float32 16x16x3x3\n"         \
  "%w6 = Constant seed=6 : float32 16x16x3x3\n%v1 = Constant seed=7 : float32 16x16x3x3\n"         \
  "%v2 = Constant seed=8 : float32 1x16x3x3\n"                                                     \
  "%a1 = Conv %x, %w1 pads=1,1,1,1\n%a2 = Conv %a1, %w2 pads=1,1,1,1\n"                            \
  "%a3 = Conv %a2, %w3 pads=1,1,1,1\n%a4 = Conv %a3, %w4 pads=1,1,1,1\n"                           \
  "%a5 = Conv %a4, %w5 pads=1,1,1,1\n%a6 = Conv %a5, %w6 pads=1,1,1,1\n"                           \
  "%b1 = Conv %x, %v1 pads=1,1,1,1\n%b2 = Conv %b1, %v2 pads=1,1,1,1\n%y = Add %a6, %b2\n"         \
  "output %y\n"

START_TEST (nodes_change_their_part_where_fewer_bytes_then_cross)
{
  const gint64 limit = 45000;
  g_autoptr (CleaveGraph) graph = parse (TWO_CHAINS);
  g_autoptr (CleavePartition) parts = cleave_partition_new_by_bytes (graph, limit, NULL);

  ck_assert_uint_eq (cleave_partition_get_n_parts (parts), 2);
  ck_assert_int_le (find_largest (parts), limit);
  ck_assert_int_eq (cleave_partition_find (parts, cleave_graph_find_node (graph, "a2")), 0);
  ck_assert_int_eq (cleave_partition_find (parts, cleave_graph_find_node (graph, "b2")), 0);
  ck_assert_int_eq (cleave_partition_find (parts, cleave_graph_find_node (graph, "a3")), 1);
  assert_partition_same (parts, graph, 1, "two chains");
}
END_TEST

/* Returns a value that `to` needs, from a node a few operands before `to`. Returns NULL if there is
 * none. */
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
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
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
      g_autoptr (CleaveGraph) graph = make_graph (seed);
      g_auto (GStrv) to = pick_values (graph, seed, 1);
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
  g_autoptr (CleaveGraph) graph = parse (SKIP);
  g_autoptr (CleaveGraph) part = cleave_graph_extract (graph, from, NULL, NULL);

  ck_assert_uint_eq (cleave_graph_get_n_outputs (part), 1);
  ck_assert_str_eq (cleave_graph_get_output_name (part, 0), "y");
  ck_assert_uint_eq (cleave_graph_get_n_inputs (part), 2); /* inputs b and x: `a` is computed from x
                                                            * */
}
END_TEST

/* Requests that are errors with this message: a partition that is cut at the value `at`, or a
 * submodel from `from` to `to`. */
static const struct
{
  const char *at, *from, *to, *message;
} refused[] = {
  { "bb", NULL, NULL, "the graph has no value 'bb'; did you mean 'b'?" },
  { "x", NULL, NULL, "'x' is an input" },
  { "w", NULL, NULL, "'w' is a constant" },
  { "y", NULL, NULL, "'y' needs all nodes that are left" },
  { NULL, "w", "y", "'w' is a constant" },
  { NULL, "c", "b", "'c' is not needed for 'b'" },
  { NULL, "b", "b", "the submodel would begin and end at 'b'" },
  { NULL, "a", "x", "'x' is an input" },
  { NULL, "nothing", "y", "the graph has no value 'nothing'" },
  { NULL, "y", NULL, "no output needs" },
};

START_TEST (wrong_values_are_refused)
{
  const char *const twice[] = { "b", "inner", NULL }; /* both names are of the value b */
  g_autoptr (CleaveGraph) graph = parse (SKIP);

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (GError) error = NULL;
      const char *const at[] = { refused[i].at, NULL }, *const from[] = { refused[i].from, NULL };
      const char *const to[] = { refused[i].to, NULL };

      ck_assert (refused[i].at != NULL
                     ? (gpointer) cleave_partition_new_at (graph, at, &error) == NULL
                     : (gpointer) cleave_graph_extract (graph, from, to, &error) == NULL);
      ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
      ck_assert_msg (strstr (error->message, refused[i].message) != NULL, "%s", error->message);
    }
  ck_assert_ptr_null (cleave_partition_new_at (graph, twice, NULL));
  ck_assert_ptr_null (cleave_partition_new_by_count (graph, 0, NULL));
  ck_assert_ptr_null (cleave_partition_new_by_count (graph, 1001, NULL));
  ck_assert_ptr_null (cleave_partition_new_by_bytes (graph, 0, NULL));
}
END_TEST

START_TEST (errors_count_one_node_and_several)
{
  g_autoptr (CleaveGraph) several = parse (SKIP);
  g_autoptr (CleaveGraph) one =
      parse ("graph g\n%x = Input : float32 1x4\n%y = Relu %x\noutput %y\n");
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_partition_new_by_count (several, 5, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "the graph has 4 nodes that can be in parts: it cannot be cut into 5 parts; "
                       "ask for at most 4");
  ck_assert_ptr_null (cleave_partition_new_by_count (one, 2, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "the graph has 1 node that can be in parts: it cannot be cut into 2 parts; "
                       "ask for at most 1");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "row", as_many_parts_as_asked_for_compute_the_same_bits,
      parts_within_bytes_compute_the_same_bits, the_limit_that_a_refusal_names_is_met,
      parts_cut_at_values_compute_the_same_bits,
      a_value_that_skips_a_part_is_an_input_of_a_later_one, cuts_are_where_the_fewest_bytes_cross,
      nodes_change_their_part_where_fewer_bytes_then_cross, unused_nodes_are_in_no_part, NULL);
  cleave_add_case (suite, "extract", a_submodel_computes_the_values_of_the_whole,
                   a_submodel_ends_at_the_outputs_that_need_its_beginning, wrong_values_are_refused,
                   errors_count_one_node_and_several, NULL);
}

CLEAVE_TEST_SUITE ("partition-row", add_tests)
