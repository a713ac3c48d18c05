/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Partitions into parts that follow each other. */

#include "partition-help.h"
#include "test.h"

#include <string.h>

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

START_TEST (as_many_parts_as_asked_for_compute_the_same_bits)
{
  const guint n = CLEAVE_TRIALS (120);
  guint n_good = 0;

  for (guint32 seed = 0; seed < n; seed++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = partition_make_graph (seed);
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
      g_autoptr (CleaveGraph) graph = partition_make_graph (seed);
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
      ck_assert_uint_eq (partition_count_nodes (graph, partition),
                         partition_count_nodes (graph, whole));
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
      g_autoptr (CleaveGraph) graph = partition_make_graph (seed);
      g_autoptr (CleavePartition) none = cleave_partition_new_by_bytes (graph, 1, &error);
      g_autoptr (CleavePartition) partition = NULL;
      gint64 limit;

      if (none != NULL) /* the graph has only empty values */
        continue;
      ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT));
      limit = read_number (error->message, "alone needs ");
      g_clear_error (&error);
      ck_assert_int_eq (cleave_partition_find_least_bytes (graph, &error), limit);
      partition = cleave_partition_new_by_bytes (graph, limit, &error);
      cleave_assert_no_error (error);
      ck_assert_int_le (find_largest (partition), limit);
    }
}
END_TEST

START_TEST (parts_cut_at_values_compute_the_same_bits)
{
  const guint n = CLEAVE_TRIALS (120);
  guint n_good = 0;

  for (guint32 seed = 0; seed < n; seed++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = partition_make_graph (seed);
      g_auto (GStrv) values = partition_pick_values (graph, seed, 1 + seed % 4);
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

START_TEST (a_value_that_skips_a_part_is_an_input_of_a_later_one)
{
  const char *const values[] = { "c", "a", NULL };
  g_autoptr (CleaveGraph) graph = partition_parse (PARTITION_SKIP);
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
  g_autoptr (CleaveGraph) graph = partition_parse (
      "%x = Input : float32 4\n%a = Relu %x\n%b = Neg %a\n%c = Abs %b\n%y = Neg %a\n"
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
  g_autoptr (CleaveGraph) graph = partition_parse (NARROW);
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
  g_autoptr (CleaveGraph) graph = partition_parse (TWO_CHAINS);
  g_autoptr (CleavePartition) parts = cleave_partition_new_by_bytes (graph, limit, NULL);

  ck_assert_uint_eq (cleave_partition_get_n_parts (parts), 2);
  ck_assert_int_le (find_largest (parts), limit);
  ck_assert_int_eq (cleave_partition_find (parts, cleave_graph_find_node (graph, "a2")), 0);
  ck_assert_int_eq (cleave_partition_find (parts, cleave_graph_find_node (graph, "b2")), 0);
  ck_assert_int_eq (cleave_partition_find (parts, cleave_graph_find_node (graph, "a3")), 1);
  assert_partition_same (parts, graph, 1, "two chains");
}
END_TEST

/* Values at which the graph PARTITION_SKIP cannot be cut, and the message of the error. */
static const struct
{
  const char *at, *message;
} refused[] = {
  { "bb", "the graph has no value 'bb'; did you mean 'b'?" },
  { "x", "'x' is an input" },
  { "w", "'w' is a constant" },
  { "y", "'y' needs all nodes that are left" },
};

START_TEST (wrong_cuts_are_refused)
{
  const char *const twice[] = { "b", "inner", NULL }; /* both names are of the value b */
  g_autoptr (CleaveGraph) graph = partition_parse (PARTITION_SKIP);

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (GError) error = NULL;
      const char *const at[] = { refused[i].at, NULL };

      ck_assert_ptr_null (cleave_partition_new_at (graph, at, &error));
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
  g_autoptr (CleaveGraph) several = partition_parse (PARTITION_SKIP);
  g_autoptr (CleaveGraph) one =
      partition_parse ("graph g\n%x = Input : float32 1x4\n%y = Relu %x\noutput %y\n");
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
      nodes_change_their_part_where_fewer_bytes_then_cross, unused_nodes_are_in_no_part,
      wrong_cuts_are_refused, errors_count_one_node_and_several, NULL);
}

CLEAVE_TEST_SUITE ("partition-row", add_tests)
