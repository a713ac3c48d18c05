/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The simulated time of a run of the programs of all ranks. */

#include "../../../passes/ranks/simulate.h"
#include "random-graph.h"
#include "test.h"

#define BANDWIDTH 1e9
#define LATENCY 1.0

static const CleaveNetwork far = { 2, 1, BANDWIDTH, LATENCY };

/* Simulates an order on another network than the network for which the order was found. A rank that
 * waits for a message does not run later nodes, although it could. */
START_TEST (nodes_of_a_rank_keep_their_order)
{
  for (guint32 seed = 1; seed <= 40; seed++)
    {
      g_autoptr (CleaveGraph) graph = random_graph (seed, 24);
      g_autoptr (GRand) random = g_rand_new_with_seed (seed);
      guint n = cleave_graph_get_n_nodes (graph);
      g_autofree guint *ranks = g_new0 (guint, n);
      g_autoptr (CleavePlacement) placement = NULL;
      g_auto (CleaveRankTimes) times = { 0 };
      double last[2] = { 0, 0 };

      for (guint i = 0; i < n; i++)
        ranks[i] = (guint) g_rand_int_range (random, 0, 2);
      placement = cleave_placement_new_by_node (graph, 2, ranks, n, NULL);
      cleave_rank_times_init (&times, placement, &far);
      for (guint i = 0; i < placement->order->len; i++)
        {
          const CleaveNode *node = placement->order->pdata[i];
          guint rank = placement->rank[node->id];

          ck_assert_double_ge (times.begin[node->id], last[rank]);
          last[rank] = times.begin[node->id];
        }
    }
}
END_TEST

static double
simulate_there_and_back (gint64 n_floats)
{
  const guint ranks[] = { 0, 1 };
  g_autofree char *text = g_strdup_printf ("graph g\n%%x = Input : float32 %" G_GINT64_FORMAT
                                           "\n%%a = Relu %%x\noutput %%a\n",
                                           n_floats);
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, NULL);
  g_autoptr (CleavePlacement) placement = cleave_placement_new_by_node (graph, 2, ranks, 2, NULL);

  return cleave_placement_simulate (placement, &far);
}

/* The sender announces a large message, waits for the answer of the receiver, and then sends the
 * rest of the message. */
START_TEST (a_large_message_is_acknowledged_first)
{
  double small = simulate_there_and_back ((64 << 10) / 4);
  double large = simulate_there_and_back ((64 << 10) / 4 + 1);

  ck_assert_double_lt (small, 2.1 * LATENCY);
  ck_assert_double_gt (small, 2 * LATENCY);
  ck_assert_double_lt (large, 6.1 * LATENCY);
  ck_assert_double_gt (large, 6 * LATENCY);
}
END_TEST

/* A small message is sent after a large message. If the receiver does not expect the large message
 * yet, the small message leaves before the rest of the large message. */
START_TEST (later_messages_overtake_the_rest_of_a_large_one)
{
  static const char text[] = "graph g\n%x = Input : float32 33554432\n%y = Input : float32 16384\n"
                             "%a = Relu %x\n%b = Relu %y\n%c = Neg %a\n%d = Neg %b\n"
                             "output %c\noutput %d\n";
  const guint ranks[] = { 0, 0, 0, 0, 1, 1 };
  const CleaveNetwork slow = { 2, 1, 1e5, 1e-6 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, NULL);
  g_autoptr (CleavePlacement) placement = cleave_placement_new_by_node (graph, 2, ranks, 6, NULL);
  g_auto (CleaveRankTimes) times = { 0 };
  const CleaveNode *c = cleave_graph_find_node (cleave_placement_get_graph (placement), "c");

  cleave_rank_times_init (&times, placement, &slow);
  ck_assert_double_ge (times.begin[c->id] / 1e9, (33554432.0 * 4 + 16384 * 4) / 1e5);
}
END_TEST

/* With a profile, the time of a node is the measured time of its step. A node without a step was
 * fused with another node and takes no time. */
START_TEST (times_of_steps_are_taken_from_a_profile)
{
  static const char text[] = "graph g\n%x = Input : float32 4\n%a = Relu %x\n%b = Neg %a\n"
                             "%c = Exp %b\noutput %c\n";
  char first[] = "a", last[] = "c";
  CleaveStepTime steps[] = { { .name = first, .nanoseconds = 2000000000 },
                             { .name = last, .nanoseconds = 500000000 },
                             { .name = first, .nanoseconds = 500000000 } };
  const CleaveProfile profile = { G_N_ELEMENTS (steps), steps };
  const guint ranks[] = { 0, 0, 0, 1 };
  const CleaveNetwork near = { 2, 1, 1e12, 1e-9 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, NULL);
  g_autoptr (CleavePlacement) placement = cleave_placement_new_by_node (graph, 2, ranks, 4, NULL);
  CleaveRankEstimate rank;

  cleave_placement_set_profile (placement, &profile);
  ck_assert_double_ge (cleave_placement_simulate (placement, &near), 3);
  ck_assert_double_lt (cleave_placement_simulate (placement, &near), 3.001);
  ck_assert (cleave_placement_estimate (placement, &near, 0, &rank, NULL));
  ck_assert_double_ge (rank.busy, 2.5);
  ck_assert_double_lt (rank.busy, 2.501);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "replay", nodes_of_a_rank_keep_their_order,
                   a_large_message_is_acknowledged_first,
                   later_messages_overtake_the_rest_of_a_large_one,
                   times_of_steps_are_taken_from_a_profile, NULL);
}

CLEAVE_TEST_SUITE ("replay", add_tests)
