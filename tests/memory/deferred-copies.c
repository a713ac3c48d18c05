/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Staged parts: operands of a join that are computed in separate buffers. A copy moves them into
 * the join's buffer when the join is needed. */

#include "../../lib/ir/topology.h"
#include "../../lib/memory/node-orders.h"
#include "../../lib/runtime/plan/dependencies.h"
#include "orders.h"
#include "random-graph.h"
#include "run-help.h"

/* Makes a join of a small part and a large part. Between the computations of the two parts, a value
 * with `n_between` channels is computed. */
static CleaveGraph *
make_graph (gint64 n_between)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 16, 16));
  CleaveResult *part = run_conv (graph, x, 8, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *between = run_conv (graph, part, n_between, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *few = run_conv (graph, between, 4, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *parts[] = { part, run_conv (graph, few, 56, 1, CLEAVE_LAYOUT_NCHW) };

  run_output (graph, run_concat (graph, parts, 2, 1));
  return graph;
}

START_TEST (a_part_is_staged_while_memory_is_scarce)
{
  g_autoptr (CleaveGraph) graph = make_graph (128);
  CleaveProgramStats stats = run_get_stats (graph, 1);

  ck_assert_int_eq (stats.peak_activation_bytes, (8 + 128 + 4) * 1024);
  ck_assert_int_eq (stats.copied_bytes, 8 * 1024);
  run_assert_same (graph, 0);
}
END_TEST

/* The join is complete when memory is largest. Staging the part would not reduce this peak, since
 * the staged part would need a second buffer. */
START_TEST (a_part_is_not_staged_without_gain)
{
  g_autoptr (CleaveGraph) graph = make_graph (4);
  CleaveProgramStats stats = run_get_stats (graph, 1);

  ck_assert_int_eq (stats.peak_activation_bytes, (64 + 4 + 4) * 1024);
  ck_assert_int_eq (stats.copied_bytes, 0);
}
END_TEST

/* Makes joins, each of which has all operands of the previous join and further operands. If
 * `dense`, each join reads the previous join, as in a dense block. */
static CleaveGraph *
make_block (gboolean dense)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 16, 16)), *parts[5];
  CleaveResult *between, *few, *join = NULL;

  parts[0] = run_conv (graph, x, 16, 1, CLEAVE_LAYOUT_NCHW);
  between = run_conv (graph, parts[0], 256, 1, CLEAVE_LAYOUT_NCHW);
  few = run_conv (graph, between, 4, 1, CLEAVE_LAYOUT_NCHW);
  for (guint i = 1; i < 5; i++)
    {
      parts[i] = run_conv (graph, i == 1 || !dense ? few : join, 32, 3, CLEAVE_LAYOUT_NCHW);
      join = run_concat (graph, parts, i + 1, 1);
      if (!dense)
        run_output (graph, run_conv (graph, join, 1, 1, CLEAVE_LAYOUT_NCHW));
    }
  run_output (graph, join);
  return graph;
}

START_TEST (a_part_of_many_joins_is_copied_once)
{
  g_autoptr (CleaveGraph) graph = make_block (TRUE);
  CleaveProgramStats stats = run_get_stats (graph, 1);

  ck_assert_int_eq (stats.peak_activation_bytes, (16 + 256 + 4) * 1024);
  ck_assert_int_eq (stats.copied_bytes, 16 * 1024);
  run_assert_same (graph, 0);
}
END_TEST

/* Returns whether a step always runs after another, for any number of threads. */
static gboolean
comes_after (const CleaveDependencies *dependencies, guint step, guint pred)
{
  for (guint i = dependencies->begin[step]; i < dependencies->begin[step + 1]; i++)
    if (dependencies->preds[i] == pred || comes_after (dependencies, dependencies->preds[i], pred))
      return TRUE;
  return FALSE;
}

START_TEST (each_join_waits_for_the_copy)
{
  g_autoptr (CleaveGraph) graph = make_block (FALSE);
  g_autoptr (GPtrArray) order = order_best (graph, NULL);
  g_autoptr (CleaveStorage) storage = cleave_storage_new (graph, order);
  g_auto (CleaveDependencies) dependencies = { 0 };
  guint copy = 0, n_joins = 0;

  cleave_dependencies_init (&dependencies, storage, graph);
  while (g_array_index (storage->steps, CleaveStep, copy).kind != CLEAVE_STEP_COPY)
    copy++;
  for (guint s = 0; s < storage->steps->len; s++)
    {
      if (g_array_index (storage->steps, CleaveStep, s).kind != CLEAVE_STEP_JOIN)
        continue;
      n_joins++;
      ck_assert (comes_after (&dependencies, s, copy));
    }
  ck_assert_uint_eq (n_joins, 4);
}
END_TEST

/* Asserts that the lower bound of the peak is at most the peak with staged parts. Returns FALSE if
 * no part is staged. */
static gboolean
check_bound (const CleaveGraph *graph, const GPtrArray *order)
{
  g_autoptr (CleaveStorage) before = cleave_storage_new (graph, order), staged = NULL;
  g_autofree gboolean *waiting = NULL;

  if (!cleave_storage_find_waiting (before, &waiting))
    return FALSE;
  staged = cleave_storage_new_staged (graph, order, before);
  ck_assert_int_le (cleave_storage_bound_staged (before, NULL, waiting),
                    cleave_storage_get_peak (staged));
  return TRUE;
}

START_TEST (staged_parts_need_at_least_their_bound)
{
  guint n_checked = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (400); seed++)
    {
      g_autoptr (CleaveGraph) graph = random_split_graph (seed);
      g_autoptr (GPtrArray) first = cleave_order_depth_first (graph, NULL);
      g_autoptr (GPtrArray) file = cleave_topology_sort (graph, NULL);

      n_checked += check_bound (graph, first) ? 1 : 0;
      n_checked += check_bound (graph, file) ? 1 : 0;
    }
  ck_assert_uint_gt (n_checked, CLEAVE_TRIALS (400) / 20);
}
END_TEST

/* A convolution with a kernel of seven rows computes two result rows from a window of eight operand
 * rows. A strip of the operand has two rows, so four windows contain each strip. The test limits
 * memory to two complete windows. */
START_TEST (windows_are_completed_one_by_one)
{
  const gint64 n_strips = 32, window = 8 * 16 * 64 * 4;
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 64, 16));
  CleaveRecursion recursion = { .depth = 3, .halo = CLEAVE_HALO_CARRY };
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("2", &n_strips, 1);
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GError) error = NULL;
  gint64 outside = 2 * (2 * 64 * 16 * 4);

  x = run_conv (graph, x, 64, 1, CLEAVE_LAYOUT_NCHW);
  x = run_conv (graph, x, 2, 7, CLEAVE_LAYOUT_NCHW);
  run_output (graph, x);
  report =
      cleave_split_node_recursively (cleave_result_get_node (x), split, NULL, &recursion, &error);
  cleave_assert_no_error (error);
  ck_assert_int_le (run_get_stats (graph, 1).peak_activation_bytes,
                    outside + 2 * window + window / 4);
  run_assert_same (graph, 0);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "apart", a_part_is_staged_while_memory_is_scarce,
                   a_part_is_not_staged_without_gain, a_part_of_many_joins_is_copied_once,
                   each_join_waits_for_the_copy, windows_are_completed_one_by_one,
                   staged_parts_need_at_least_their_bound, NULL);
}

CLEAVE_TEST_SUITE ("storage-apart", add_tests)
