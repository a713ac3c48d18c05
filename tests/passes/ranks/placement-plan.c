/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Placements: the ranks that are chosen, their estimated times, and errors. */

#include "placed.h"

static guint
count_split (const char *bandwidth)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (CHAIN, NULL, NULL);
  g_autofree char *text = g_strdup_printf (
      "split-for-ranks{ranks=2 threads=1 bandwidth=%s latency=1},clean-up", bandwidth);
  g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (text, NULL);

  ck_assert (cleave_pipeline_run (pipeline, graph, NULL, NULL, NULL, NULL));
  return cleave_graph_get_n_nodes (graph);
}

START_TEST (there_is_no_split_for_a_slow_network)
{
  ck_assert_uint_eq (count_split ("0.01"), 11);
  ck_assert_uint_gt (count_split ("1000"), 17);
}
END_TEST

START_TEST (networks_are_checked)
{
  static const char *const bad[][2] = {
    { "split-for-ranks{ranks=0}", "ranks expects a whole number from 1 to 1024, not '0'" },
    { "split-for-ranks{bandwidth=fast}",
      "bandwidth expects a number of at least 1e-06, not 'fast'" },
    { "split-for-ranks{latency=-1}", "latency expects a number of at least 0, not '-1'" },
  };
  const CleaveNetwork large = { 1024, 2, 1e9, 0 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (CHAIN, NULL, NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      ck_assert_ptr_null (cleave_pipeline_parse (bad[i][0], &error));
      ck_assert_msg (strstr (error->message, bad[i][1]) != NULL, "%s", error->message);
      g_clear_error (&error);
    }
  ck_assert_ptr_null (cleave_split_for_ranks (graph, &large, &error));
  ck_assert_str_eq (error->message, "ranks times threads must be 1 to 1024, not 1024 times 2");
}
END_TEST

/* A graph of two products with equal work, which are added. */
#define TEXT                                                                                       \
  "graph g\n%x = Input : float32 64x256\n%w = Constant seed=1 : float32 256x256\n"                 \
  "%v = Constant seed=2 : float32 256x256\n%k = Constant value=3 : float32 2\n"                    \
  "%a = MatMul %x, %w\n%b = MatMul %x, %v\n%s = Add %a, %b\noutput %s\noutput %k\noutput %x # y\n"

START_TEST (nodes_without_gain_stay_on_one_rank)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (TEXT, NULL, &error);
  CleaveNetwork network = { 2, 1, 1e11, 1e-9 };
  g_autoptr (CleavePlacement) fast = NULL, slow = NULL;
  double alone;

  cleave_assert_no_error (error);
  fast = cleave_placement_new (graph, &network, &error);
  ck_assert_int_ne (cleave_placement_get_rank (fast, cleave_graph_find_node (graph, "a")),
                    cleave_placement_get_rank (fast, cleave_graph_find_node (graph, "b")));
  ck_assert_int_eq (cleave_placement_get_rank (fast, cleave_graph_find_node (graph, "w")), -1);
  ck_assert_uint_eq (cleave_placement_get_n_messages (fast), 2);
  for (guint i = 0; i < 2; i++)
    {
      const CleaveMessage *message = cleave_placement_get_message (fast, i);

      ck_assert_int_eq (message->n_bytes, 64 * 256 * 4);
      ck_assert_uint_eq (message->from, i);
      ck_assert_uint_eq (message->to, 1 - i);
    }
  assert_same (graph, fast, 1, 1);
  network.bandwidth = 1e7;
  slow = cleave_placement_new (graph, &network, &error);
  ck_assert_uint_eq (cleave_placement_get_n_messages (slow), 0);
  alone = cleave_placement_simulate (slow, &network);
  ck_assert (cleave_placement_simulate (fast, &network) > 2 * alone);
  network.bandwidth = 1e11;
  ck_assert (cleave_placement_simulate (fast, &network) < 0.7 * alone);
}
END_TEST

/* Four layers with equal work, each a product and a Relu. The value between two layers has 64 KiB,
 * and the weights have 256 KiB. */
#define DEEP                                                                                       \
  "graph g\n%x = Input : float32 64x256\n%w = Constant seed=1 : float32 256x256\n"                 \
  "%a = MatMul %x, %w\n%b = Relu %a\n%c = MatMul %b, %w\n%d = Relu %c\n%e = MatMul %d, %w\n"       \
  "%f = Relu %e\n%g = MatMul %f, %w\n%h = Relu %g\noutput %h\n"

/* A single run is no faster on several ranks, since each layer reads the previous layer. A stream
 * is faster, since four runs are in flight. */
START_TEST (a_stream_is_cut_into_segments)
{
  static const char *const layers[] = { "a", "c", "e", "g" };
  const CleaveNetwork network = { 4, 1, 1e10, 1e-7 }, slow = { 4, 1, 1e6, 1e-7 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (DEEP, NULL, NULL);
  g_autoptr (CleavePlacement) one = cleave_placement_new (graph, &network, NULL);
  g_autoptr (CleavePlacement) few = cleave_placement_new_for_stream (graph, &network, 2, NULL);
  g_autoptr (CleavePlacement) many = cleave_placement_new_for_stream (graph, &network, 6, NULL);
  g_autoptr (CleavePlacement) alone = cleave_placement_new_for_stream (graph, &slow, 6, NULL);
  double time = cleave_placement_simulate (one, &network);

  ck_assert_uint_eq (cleave_placement_get_n_messages (one), 0);
  ck_assert_uint_eq (cleave_placement_get_n_messages (alone), 0);
  ck_assert_uint_gt (cleave_placement_get_n_messages (few), 1);
  ck_assert_uint_eq (cleave_placement_get_n_messages (many), 4);
  for (guint i = 0; i < G_N_ELEMENTS (layers); i++)
    ck_assert_int_eq (cleave_placement_get_rank (many, cleave_graph_find_node (graph, layers[i])),
                      (int) i);
  ck_assert_double_eq (cleave_placement_simulate_stream (one, &network, 1), time);
  ck_assert_double_eq (cleave_placement_simulate_stream (one, &network, 6), time);
  ck_assert_double_lt (cleave_placement_simulate_stream (many, &network, 6), 0.3 * time);
  ck_assert_double_gt (cleave_placement_simulate_stream (many, &network, 2), 0.45 * time);
  assert_same (graph, many, 1, 1);
}
END_TEST

START_TEST (an_impossible_network_is_refused)
{
  static const struct
  {
    CleaveNetwork network;
    const char *message;
  } cases[] = {
    { { 2, 5000, 1e9, 0 }, "expected 1 to 1024 threads of each rank, not 5000" },
    { { 2, 0, 1e9, 0 }, "expected 1 to 1024 threads of each rank, not 0" },
    { { 2, 1, 0, 0 }, "expected a bandwidth of at least 1 byte a second, not 0" },
    { { 2, 1, 1e9, -1 }, "expected a latency of 0 to 1e+06 seconds, not -1" },
    { { 2, 1, 1e9, 1e7 }, "expected a latency of 0 to 1e+06 seconds, not 1e+07" },
  };
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (CleavePlacement) placement = NULL;

  run_output (graph, run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (4))));
  placement = cleave_placement_new_by_node (graph, 2, (const guint[]){ 0, 1 }, 2, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      CleaveRankEstimate estimate;

      ck_assert (!cleave_placement_estimate (placement, &cases[i].network, 0, &estimate, &error));
      cleave_assert_error (&error, CLEAVE_ERROR_OPTION, cases[i].message);
    }
}
END_TEST

START_TEST (estimates_are_per_rank)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (TEXT, NULL, NULL);
  const CleaveNetwork network = { 2, 1, 1e11, 1e-9 };
  g_autoptr (CleavePlacement) placement = cleave_placement_new (graph, &network, NULL);
  CleaveRankEstimate estimate[2];
  guint n_nodes = 0;

  for (guint r = 0; r < 2; r++)
    {
      ck_assert (cleave_placement_estimate (placement, &network, r, &estimate[r], NULL));
      ck_assert_int_eq (estimate[r].sent_bytes, 64 * 256 * 4);
      ck_assert_int_eq (estimate[r].received_bytes, 64 * 256 * 4);
      ck_assert (estimate[r].busy > 0 && estimate[r].sending > 0);
      ck_assert_int_gt (estimate[r].arena_bytes, 64 * 256 * 4);
      n_nodes += estimate[r].n_nodes;
    }
  ck_assert_uint_eq (n_nodes, 3);
  ck_assert_int_eq (estimate[0].weight_bytes, 256 * 256 * 4 + 8);
  ck_assert_int_eq (estimate[1].weight_bytes, 256 * 256 * 4);
}
END_TEST

START_TEST (hashes_distinguish_models_and_placements)
{
  guint ranks[] = { 0, 0, 0, 0, 0, 1, 0 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (TEXT, NULL, NULL);
  g_autoptr (CleaveGraph) same = cleave_graph_parse (TEXT, NULL, NULL);
  g_auto (GStrv) parts = g_strsplit (TEXT, "seed=2", 2);
  g_autofree char *text = g_strjoinv ("seed=3", parts);
  g_autoptr (CleaveGraph) other = cleave_graph_parse (text, NULL, NULL);
  g_autoptr (CleavePlacement) a = cleave_placement_new_by_node (graph, 2, ranks, 7, NULL);
  g_autoptr (CleavePlacement) b = cleave_placement_new_by_node (same, 2, ranks, 7, NULL);
  g_autoptr (CleavePlacement) c = cleave_placement_new_by_node (other, 2, ranks, 7, NULL), d = NULL;

  ranks[5] = 0;
  d = cleave_placement_new_by_node (graph, 2, ranks, 7, NULL);
  ck_assert (cleave_placement_get_hash (a) == cleave_placement_get_hash (b));
  ck_assert (cleave_placement_get_hash (a) != cleave_placement_get_hash (c));
  ck_assert (cleave_placement_get_hash (a) != cleave_placement_get_hash (d));
}
END_TEST

START_TEST (mistakes_are_errors)
{
  const guint ranks[] = { 0, 0, 0, 0, 0, 2, 0 };
  const CleaveNetwork network = { 0, 1, 1e9, 0 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (TEXT, NULL, NULL);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_placement_new_by_node (graph, 2, ranks, 7, &error));
  ck_assert_str_eq (error->message, "'b' is placed on rank 2, but there are 2 ranks");
  g_clear_error (&error);
  ck_assert_ptr_null (cleave_placement_new_by_node (graph, 3, ranks, 6, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
  g_clear_error (&error);
  ck_assert_ptr_null (cleave_placement_new (graph, &network, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "split", there_is_no_split_for_a_slow_network, networks_are_checked,
                   NULL);
  cleave_add_case (suite, "plan", nodes_without_gain_stay_on_one_rank,
                   an_impossible_network_is_refused, estimates_are_per_rank,
                   hashes_distinguish_models_and_placements, a_stream_is_cut_into_segments,
                   mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("placement-plan", add_tests)
