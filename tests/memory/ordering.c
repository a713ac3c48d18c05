/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The order of nodes that the planner finds, and the peak memory of a run in that order. */

#include "../../lib/ir/topology.h"
#include "../../lib/memory/hoisting.h"
#include "../../lib/memory/materialized.h"
#include "../../lib/memory/node-orders.h"
#include "graphs.h"
#include "orders.h"
#include "random-graph.h"
#include "run-help.h"

/* Makes a chain of `n` element-wise ops. Every op is cut along its rows into `n_chunks` pieces. The
 * nodes are added breadth first: all pieces of an op before the pieces of the next op. */
static CleaveGraph *
split_chain (guint n_chunks, guint n)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, (gint64) n_chunks * 8, 16));
  g_autofree CleaveResult **parts = g_new (CleaveResult *, n_chunks);
  g_autofree CleaveRange *ranges = g_new (CleaveRange, n_chunks);

  for (guint i = 0; i < n_chunks; i++)
    {
      ranges[i] = CLEAVE_RANGE (0, 1, 0, 8, i * 8, i * 8 + 8, 0, 16);
      parts[i] = run_slice (graph, x, CLEAVE_RANGE (0, 1, 0, 4, i * 8, i * 8 + 8, 0, 16));
    }
  for (guint k = 0; k < n; k++)
    for (guint i = 0; i < n_chunks; i++)
      parts[i] = run_conv (graph, parts[i], k + 1 == n ? 8 : 32, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_assemble (graph, parts, ranges, n_chunks));
  return graph;
}

static gint64
find_peak (const CleaveGraph *graph, gboolean file_order)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) order =
      file_order ? cleave_topology_sort (graph, &error) : order_best (graph, &error);

  cleave_assert_no_error (error);
  return order_peak (graph, order);
}

START_TEST (a_split_graph_needs_memory_for_its_chunks_only)
{
  g_autoptr (CleaveGraph) graph = split_chain (4, 3);
  const gint64 row = 16 * 4, input = 32 * row * 4, output = 32 * row * 8, piece = 8 * row * 32;

  ck_assert_int_eq (find_peak (graph, FALSE), input + output + 2 * piece);
  ck_assert_int_eq (find_peak (graph, TRUE), 5 * piece);
}
END_TEST

/* cleave_graph_get_peak_bytes() returns the peak with laps, which save memory in this graph. */
START_TEST (the_peak_is_public)
{
  g_autoptr (CleaveGraph) graph = split_chain (3, 2);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveStorage) storage = NULL;
  g_autoptr (GPtrArray) order = cleave_order_with_laps (graph, &storage, &error);

  cleave_assert_no_error (error);
  ck_assert_int_eq (cleave_graph_get_peak_bytes (graph, &error), cleave_storage_get_peak (storage));
  ck_assert_int_lt (cleave_storage_get_peak (storage), find_peak (graph, FALSE));
  cleave_assert_no_error (error);
}
END_TEST

/* The larger branch runs first: its intermediate value is freed before the smaller branch begins.
 */
START_TEST (the_branch_that_needs_most_memory_runs_first)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 1, 16, 16));
  CleaveResult *small = run_conv (graph, x, 2, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *big =
      run_conv (graph, run_conv (graph, x, 64, 1, CLEAVE_LAYOUT_NCHW), 2, 1, CLEAVE_LAYOUT_NCHW);

  run_output (graph, run_binary (graph, "Add", small, big));
  ck_assert_int_eq (find_peak (graph, FALSE), 1024 * (1 + 64 + 2));
  ck_assert_int_eq (find_peak (graph, TRUE), 1024 * (2 + 64 + 2));
}
END_TEST

static void
assert_order (const CleaveGraph *graph, const GPtrArray *order)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  ck_assert_uint_eq (order->len, cleave_graph_get_n_nodes (graph));
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];

      for (guint k = 0; k < cleave_node_get_n_operands (node); k++)
        {
          const CleaveResult *operand =
              cleave_operand_get_result (cleave_node_get_operand (node, k));

          ck_assert (operand == NULL ||
                     g_hash_table_contains (seen, cleave_result_get_node (operand)));
        }
      ck_assert (g_hash_table_add (seen, node));
    }
}

START_TEST (an_order_has_every_node_once_after_its_operands)
{
  g_autoptr (CleaveGraph) graph = split_chain (5, 3);
  g_autoptr (GPtrArray) order = NULL;

  /* no node reads the result of this Relu */
  run_unary (graph, "Relu", cleave_graph_get_input (graph, 0));
  order = order_best (graph, NULL);
  assert_order (graph, order);
}
END_TEST

/* Two values are computed from the strips of one value. Only one strip of that value is live at a
 * time. */
START_TEST (strips_with_two_consumers_are_finished_one_by_one)
{
  enum { N = 8 };
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, N * 8, 16));
  CleaveResult *inner[N], *ends[2][N];
  CleaveRange ranges[N];
  const gint64 row = 16 * 4;

  for (guint i = 0; i < N; i++)
    {
      ranges[i] = CLEAVE_RANGE (0, 1, 0, 2, i * 8, i * 8 + 8, 0, 16);
      inner[i] =
          run_conv (graph, run_slice (graph, x, CLEAVE_RANGE (0, 1, 0, 4, i * 8, i * 8 + 8, 0, 16)),
                    64, 1, CLEAVE_LAYOUT_NCHW);
    }
  for (guint end = 0; end < 2; end++)
    {
      for (guint i = 0; i < N; i++)
        ends[end][i] = run_conv (graph, inner[i], 2, 1, CLEAVE_LAYOUT_NCHW);
      run_output (graph, run_assemble (graph, ends[end], ranges, N));
    }
  ck_assert_int_eq (find_peak (graph, FALSE), row * (4 * N * 8 + 2 * 2 * N * 8 + 64 * 8));
}
END_TEST

START_TEST (eager_orders_have_every_node_after_its_operands)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (200); seed++)
    {
      g_autoptr (CleaveGraph) graph = cleave_random_graph (seed, 40);
      g_autoptr (GPtrArray) order = cleave_order_depth_first (graph, NULL);
      g_autoptr (GPtrArray) eager = cleave_order_eager (graph, order);

      assert_order (graph, eager);
    }
}
END_TEST

/* The search finds positions before which all candidate orders have run the same nodes. Between two
 * of these positions, the search takes the nodes in the order of the candidate with the smallest
 * peak. So the peak of the found order is at most the peak of cleave_topology_sort(). */
START_TEST (orders_are_combined_and_no_worse_than_the_file)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (200); seed++)
    {
      g_autoptr (CleaveGraph) graph = cleave_random_graph (seed, 40);
      g_autoptr (GPtrArray) order = order_best (graph, NULL);
      g_autoptr (GPtrArray) file = NULL;

      assert_order (graph, order);
      file = cleave_topology_sort (graph, NULL);
      ck_assert_int_le (order_peak (graph, order), order_peak (graph, file));
    }
}
END_TEST

static gint64
find_down_to (const CleaveGraph *graph, gint64 n_bytes, GPtrArray **order)
{
  g_autoptr (CleaveStorage) storage = NULL;
  gint64 peak = 0;

  *order = cleave_order_with_laps_down_to (graph, n_bytes, &storage, NULL);
  for (guint s = 0; s < storage->steps->len; s++)
    peak = MAX (peak, storage->live_before_laps == NULL ? storage->live[s]
                                                        : storage->live_before_laps[s]);
  return peak;
}

/* A lower bound of the peak does not change the result of the search. If the caller accepts a
 * larger peak, the search tries fewer orders. */
START_TEST (orders_are_tried_until_one_is_good_enough)
{
  guint n_enough = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (200); seed++)
    {
      g_autoptr (CleaveGraph) graph = cleave_random_graph (seed, 40);
      g_autoptr (GPtrArray) order = NULL, known = NULL, other = NULL;
      gint64 least = find_down_to (graph, 0, &order), more;

      ck_assert_int_eq (find_down_to (graph, least, &known), least);
      for (guint i = 0; i < order->len; i++)
        ck_assert_ptr_eq (order->pdata[i], known->pdata[i]);
      more = find_down_to (graph, 2 * least, &other);
      ck_assert_int_le (more, MAX (order_peak (graph, order), 2 * least));
      n_enough += more > least ? 1 : 0;
    }
  ck_assert_uint_gt (n_enough, 0);
}
END_TEST

static guint
find_position (GPtrArray *order, const CleaveResult *value)
{
  guint position = G_MAXUINT;

  ck_assert (g_ptr_array_find (order, cleave_result_get_node (value), &position));
  return position;
}

/* The buffer of the join is live already for another part, so the hoisted part allocates nothing.
 * No other node reads the operand of the part, so running the part early frees that operand. */
START_TEST (a_node_that_frees_memory_is_hoisted)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 16, 16));
  CleaveResult *large = run_conv (graph, x, 64, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *first = run_conv (graph, x, 8, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *clip = run_unary (graph, "Relu", first);
  CleaveResult *other = run_conv (graph, x, 96, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *few = run_conv (graph, other, 2, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *second = run_conv (graph, large, 8, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *parts[] = { clip, second, few };
  g_autoptr (GPtrArray) order = NULL, hoisted = NULL, again = NULL;
  g_autoptr (CleaveStorage) storage = NULL, better = NULL;

  run_output (graph, run_concat (graph, parts, 3, 1));
  order = cleave_topology_sort (graph, NULL);
  storage = cleave_storage_new (graph, order);
  hoisted = cleave_order_hoist_last (order, storage);
  ck_assert_ptr_nonnull (hoisted);
  assert_order (graph, hoisted);
  ck_assert_uint_eq (find_position (hoisted, second), find_position (hoisted, clip) + 1);
  better = cleave_storage_new (graph, hoisted);
  ck_assert_int_eq (cleave_storage_get_peak (storage), (4 + 64 + 18 + 96) * 1024);
  ck_assert_int_eq (cleave_storage_get_peak (better), (4 + 18 + 96) * 1024);
  again = cleave_order_hoist_last (hoisted, better);
  ck_assert_ptr_null (again);
}
END_TEST

/* If `part` is computed early, the large buffer of the join is in use early. The operand of `part`
 * stays live in any case, so `part` runs late, like the other operand of the join. `part` is too
 * small to be staged. */
START_TEST (a_node_that_occupies_a_large_join_early_sinks)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 16, 16));
  CleaveResult *stays = run_conv (graph, x, 8, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *part = run_unary (graph, "Relu", stays);
  CleaveResult *large = run_conv (graph, x, 400, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *few = run_conv (graph, large, 2, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *rest = run_conv (graph, few, 16, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *whole = run_concat (graph, (CleaveResult *[]){ part, rest }, 2, 1);
  CleaveResult *last = run_conv (graph, whole, 8, 1, CLEAVE_LAYOUT_NCHW);
  g_autoptr (GPtrArray) order = NULL, sunk = NULL, again = NULL;
  g_autoptr (CleaveStorage) storage = NULL, better = NULL;

  run_output (graph, run_binary (graph, "Add", last, stays));
  order = cleave_topology_sort (graph, NULL);
  storage = cleave_storage_new (graph, order);
  sunk = cleave_order_sink (order, storage);
  ck_assert_ptr_nonnull (sunk);
  assert_order (graph, sunk);
  ck_assert_uint_eq (find_position (sunk, part) + 1, find_position (sunk, whole));
  better = cleave_storage_new (graph, sunk);
  ck_assert_int_eq (cleave_storage_get_peak (storage), (4 + 8 + 24 + 400) * 1024);
  ck_assert_int_eq (cleave_storage_get_peak (better), (4 + 8 + 400) * 1024);
  again = cleave_order_sink (sunk, better);
  ck_assert_ptr_null (again);
}
END_TEST

START_TEST (a_node_that_frees_memory_does_not_sink)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 16, 16));
  CleaveResult *goes = run_conv (graph, x, 40, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *part = run_conv (graph, goes, 8, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *large = run_conv (graph, x, 400, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *rest = run_conv (graph, large, 16, 1, CLEAVE_LAYOUT_NCHW);
  g_autoptr (GPtrArray) order = NULL, sunk = NULL;
  g_autoptr (CleaveStorage) storage = NULL;

  run_output (graph, run_concat (graph, (CleaveResult *[]){ part, rest }, 2, 1));
  order = cleave_topology_sort (graph, NULL);
  storage = cleave_storage_new (graph, order);
  sunk = cleave_order_sink (order, storage);
  ck_assert_ptr_null (sunk);
}
END_TEST

/* Adds convolutions from 1 channel to 32, to 32 with a 3x3 kernel, and back to 1. */
static CleaveResult *
add_block (CleaveGraph *graph, CleaveResult *x)
{
  CleaveResult *wide = run_conv (graph, x, 32, 1, CLEAVE_LAYOUT_NCHW);

  wide = run_conv (graph, wide, 32, 3, CLEAVE_LAYOUT_NCHW);
  return run_conv (graph, wide, 1, 1, CLEAVE_LAYOUT_NCHW);
}

/* A strip keeps two rows of a large value for the next strip. These rows are copied only after the
 * result of the first strip is freed. */
START_TEST (carried_rows_are_copied_after_the_previous_strip_is_freed)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 1, 32, 16));
  CleaveResult *y = add_block (graph, add_block (graph, x));
  const gint64 n = 8, row = 16 * 4;
  const gint64 window = 32 * 6 * row, strip = 32 * 4 * row, kept = 32 * 2 * row;
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("H", &n, 1);
  const CleaveRecursion recursion = { .depth = 9, .halo = CLEAVE_HALO_CARRY };
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GError) error = NULL;

  run_output (graph, y);
  report =
      cleave_split_node_recursively (cleave_result_get_node (y), split, NULL, &recursion, &error);
  cleave_assert_no_error (error);
  ck_assert_int_eq (find_peak (graph, FALSE), (2 * 32 + 4) * row + window + strip + kept);
  run_assert_same (graph, 0);
}
END_TEST

/* Adds a value of 16 rows, and `n` Concats that read `n_rows` of its rows long after it was
 * computed. Returns the Slice that takes the rows for the first Concat. */
static const CleaveNode *
add_late_reads (CleaveGraph *graph, guint n, gint64 n_rows)
{
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 16, 16)), *rows[8];
  CleaveResult *large = run_conv (graph, x, 64, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *few = run_conv (graph, large, 2, 1, CLEAVE_LAYOUT_NCHW);

  for (guint i = 0; i < n; i++)
    rows[i] = run_slice (graph, large, CLEAVE_RANGE (0, 1, 0, 64, i, i + n_rows, 0, 16));
  few =
      run_conv (graph, run_conv (graph, few, 96, 1, CLEAVE_LAYOUT_NCHW), 64, 1, CLEAVE_LAYOUT_NCHW);
  for (guint i = 0; i < n; i++)
    {
      CleaveResult *both = run_concat (graph, (CleaveResult *[]){ rows[i], few }, 2, 2);

      run_output (graph, run_conv (graph, both, 2, 1, CLEAVE_LAYOUT_NCHW));
    }
  return rows[0]->node;
}

/* Rows that a node reads late are copied, so that the value can be freed. If the copies take more
 * memory than the value, the rows are not copied. */
START_TEST (rows_are_copied_unless_they_are_read_many_times)
{
  for (guint many = 0; many < 2; many++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      const CleaveNode *rows = add_late_reads (graph, many ? 4 : 2, many ? 12 : 1);
      g_autoptr (GPtrArray) order = cleave_topology_sort (graph, NULL);
      g_autoptr (CleaveStorage) storage = cleave_storage_new (graph, order);

      ck_assert_int_eq (cleave_storage_is_materialized (storage, rows), !many);
    }
}
END_TEST

/* A Concat joins a value with the result of a chain of 20 convolutions that begins at the value. A
 * strip is one row of the result. The first strip computes 21 rows of the value, and the join reads
 * one of these rows in each of the first 21 strips. So each row is copied to a separate buffer, and
 * freed after its last read. While rows are copied, each row exists twice. */
START_TEST (rows_read_by_many_strips_are_freed_one_by_one)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 1, 48, 16)), *both[2];
  const gint64 n = 48, row = 16 * 4;
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("H", &n, 1);
  const CleaveRecursion recursion = { .depth = 99, .halo = CLEAVE_HALO_CARRY };
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GError) error = NULL;

  both[0] = run_conv (graph, x, 64, 1, CLEAVE_LAYOUT_NCHW);
  both[1] = run_conv (graph, both[0], 1, 1, CLEAVE_LAYOUT_NCHW);
  for (guint i = 0; i < 20; i++)
    both[1] = run_conv (graph, both[1], 1, 3, CLEAVE_LAYOUT_NCHW);
  x = run_conv (graph, run_concat (graph, both, 2, 1), 1, 1, CLEAVE_LAYOUT_NCHW);
  run_output (graph, x);
  report =
      cleave_split_node_recursively (cleave_result_get_node (x), split, NULL, &recursion, &error);
  cleave_assert_no_error (error);
  ck_assert_int_le (find_peak (graph, FALSE), (2 * 48 + (21 + 21 + 1) * 64) * row);
  run_assert_same (graph, 0);
}
END_TEST

START_TEST (cycle_is_an_error)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (4));
  CleaveResult *a = run_unary (graph, "Relu", x), *b = run_unary (graph, "Neg", a);
  g_autoptr (GError) error = NULL;

  run_output (graph, b);
  cleave_operand_set (cleave_node_get_operand (cleave_result_get_node (a), 0), b);
  ck_assert_ptr_null (order_best (graph, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_CYCLE));
  g_clear_error (&error);
  ck_assert_int_eq (cleave_graph_get_peak_bytes (graph, &error), -1);
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_CYCLE));
  cleave_operand_set (cleave_node_get_operand (cleave_result_get_node (a), 0), x);
}
END_TEST

/* Reverses the list of uses of each value, as if the operands had been set in the reverse order. */
static void
turn_uses_round (CleaveGraph *graph)
{
  for (CleaveNode *node = graph->last; node != NULL; node = node->prev)
    for (guint i = node->n_operands; i-- > 0;)
      {
        CleaveResult *operand = node->operands[i].result;

        cleave_operand_detach (&node->operands[i]);
        if (operand != NULL)
          cleave_operand_attach (&node->operands[i], operand);
      }
}

/* The order of nodes does not depend on the order of uses. A file does not store the order of uses;
 * a copy of a graph has uses in the order of its nodes. */
START_TEST (the_order_of_uses_does_not_matter)
{
  g_autoptr (CleaveGraph) graph =
      _i % 2 == 0 ? random_graph ((guint32) _i, 14) : cleave_random_graph ((guint32) _i, 14);
  g_autoptr (CleaveGraph) edited = cleave_graph_copy (graph);
  g_autoptr (GError) error = NULL;

  turn_uses_round (edited);
  for (guint n_threads = 1; n_threads <= 2; n_threads++)
    {
      CleaveEstimate a, b;

      ck_assert (cleave_graph_estimate (graph, n_threads, &a, &error));
      ck_assert (cleave_graph_estimate (edited, n_threads, &b, &error));
      ck_assert_int_eq (a.arena_bytes, b.arena_bytes);
      ck_assert_int_eq (a.peak_activation_bytes, b.peak_activation_bytes);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *random = tcase_create ("random");

  tcase_add_loop_test (random, the_order_of_uses_does_not_matter, 0, CLEAVE_TRIALS (700));
  suite_add_tcase (suite, random);
  cleave_add_case (
      suite, "depth first", a_split_graph_needs_memory_for_its_chunks_only,
      the_branch_that_needs_most_memory_runs_first, an_order_has_every_node_once_after_its_operands,
      strips_with_two_consumers_are_finished_one_by_one,
      eager_orders_have_every_node_after_its_operands,
      orders_are_combined_and_no_worse_than_the_file, orders_are_tried_until_one_is_good_enough,
      a_node_that_frees_memory_is_hoisted, a_node_that_occupies_a_large_join_early_sinks,
      a_node_that_frees_memory_does_not_sink,
      carried_rows_are_copied_after_the_previous_strip_is_freed,
      rows_are_copied_unless_they_are_read_many_times,
      rows_read_by_many_strips_are_freed_one_by_one, cycle_is_an_error, NULL);
  cleave_add_case (suite, "peak", the_peak_is_public, NULL);
}

CLEAVE_TEST_SUITE ("order", add_tests)
