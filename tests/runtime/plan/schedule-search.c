/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The search for a schedule, which balances the time and the memory of a run. */

#include "../../../lib/runtime/plan/schedule-search.h"
#include "../../../lib/runtime/plan/arena.h"
#include "orders.h"
#include "run-help.h"

/* Makes a large value, and a long chain of small values. Another value, which only the last node
 * reads, is computed from the input in little time. */
static CleaveGraph *
make_graph (void)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 24, 24));
  CleaveResult *early = run_conv (graph, x, 96, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *chain = run_conv (graph, early, 16, 1, CLEAVE_LAYOUT_NCHW), *late[3];

  for (guint i = 0; i < 12; i++)
    chain = run_conv (graph, chain, 16, 5, CLEAVE_LAYOUT_NCHW);
  for (guint i = 0; i < 2; i++)
    late[i] = run_conv (graph, x, 32, 1, CLEAVE_LAYOUT_NCHW);
  late[2] = run_conv (graph, chain, 32, 1, CLEAVE_LAYOUT_NCHW);
  run_output (graph,
              run_binary (graph, "Add", run_binary (graph, "Add", late[2], late[0]), late[1]));
  return graph;
}

START_TEST (values_needed_late_are_computed_late)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  gint64 one = run_get_stats (graph, 1).arena_bytes;

  for (guint n_threads = 2; n_threads <= 4; n_threads++)
    ck_assert_int_le (run_get_stats (graph, n_threads).arena_bytes, one);
  run_assert_same (graph, 0);
}
END_TEST

/* Eight steps of equal cost compute eight values. A schedule with fewer live values would take
 * longer. */
START_TEST (memory_is_not_traded_for_time)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 24, 24));
  gint64 each = 64 * 24 * 24 * 4;

  for (guint i = 0; i < 8; i++)
    run_output (graph, run_conv (graph, run_conv (graph, x, 64, 5, CLEAVE_LAYOUT_NCHW), 2, 5,
                                 CLEAVE_LAYOUT_NCHW));
  for (guint n_threads = 1; n_threads <= 4; n_threads *= 2)
    ck_assert_int_ge (run_get_stats (graph, n_threads).peak_activation_bytes, n_threads * each);
}
END_TEST

/* Makes independent chains, in which large and small values alternate. */
static CleaveGraph *
make_chains (guint n_chains)
{
  CleaveGraph *graph = cleave_graph_new (NULL);

  for (guint i = 0; i < n_chains; i++)
    {
      CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 8, 32, 32));

      for (guint k = 0; k < 6; k++)
        x = run_conv (graph, x, k % 2 == 0 ? 48 - 4 * k : 8, 3, CLEAVE_LAYOUT_NCHW);
      run_output (graph, x);
    }
  return graph;
}

/* A chain does not reuse memory of another thread's chain. If a chain reused this memory, a slow
 * thread would delay the other thread. */
START_TEST (chains_do_not_wait_for_each_others_memory)
{
  for (guint n_threads = 2; n_threads <= 4; n_threads++)
    {
      g_autoptr (CleaveGraph) graph = make_chains (n_threads);
      g_autoptr (GPtrArray) order = order_best (graph, NULL);
      g_autoptr (CleaveStorage) storage = NULL;
      g_autoptr (CleaveSchedule) schedule = NULL;
      g_auto (CleaveArena) arena = { 0 };
      g_auto (CleaveWaits) waits = { 0 };
      g_autofree guint *groups = NULL;
      guint n_groups;

      groups = cleave_schedule_search_find_groups (graph, &n_groups);
      storage = cleave_storage_new (graph, order);
      schedule =
          cleave_schedule_search_schedule (storage, graph, groups, n_groups, n_threads, &arena);
      waits = cleave_arena_find_waits (&arena, storage, graph, NULL, schedule);
      ck_assert_uint_eq (waits.list->len, 0);
      ck_assert_int_le (arena.n_bytes, (gint64) (CLEAVE_ARENA_CLOSE * (double) arena.peak));
    }
}
END_TEST

/* The order has four steps, and then a chain of four steps, all of equal cost. Two threads finish
 * in the time of the chain. */
START_TEST (a_long_chain_starts_early)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 16, 24, 24)), *chain = x;
  g_autoptr (GPtrArray) order = NULL;
  g_autoptr (CleaveStorage) storage = NULL;
  double time[2];

  for (guint i = 0; i < 4; i++)
    run_output (graph, run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW));
  for (guint i = 0; i < 4; i++)
    chain = run_conv (graph, chain, 16, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, chain);
  order = order_best (graph, NULL);
  storage = cleave_storage_new (graph, order);
  for (guint n_threads = 1; n_threads <= 2; n_threads++)
    {
      g_autofree guint *groups = NULL;
      g_autoptr (CleaveSchedule) schedule = NULL;
      g_auto (CleaveArena) arena = { 0 };
      guint n_groups;

      groups = cleave_schedule_search_find_groups (graph, &n_groups);
      schedule =
          cleave_schedule_search_schedule (storage, graph, groups, n_groups, n_threads, &arena);
      time[n_threads - 1] = cleave_schedule_search_estimate (storage, schedule);
    }
  ck_assert_double_lt (time[1], 0.6 * time[0]);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "choice", values_needed_late_are_computed_late,
                   memory_is_not_traded_for_time, chains_do_not_wait_for_each_others_memory,
                   a_long_chain_starts_early, NULL);
}

CLEAVE_TEST_SUITE ("choice", add_tests)
