/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests that ranks, which run here as threads, compute the same bits as one process, and send
 * exactly the messages of the placement. */

#include "placed.h"

START_TEST (any_placement_computes_the_same_bits)
{
  const guint n = CLEAVE_TRIALS (80);
  guint n_messages = 0;

  for (guint32 seed = 0; seed < n; seed++)
    {
      g_autoptr (CleaveGraph) graph = random_split_graph (seed);
      g_autoptr (GRand) random = g_rand_new_with_seed (seed);
      guint n_ranks = 1 + seed % 4, n_nodes = cleave_graph_get_n_nodes (graph);
      g_autofree guint *ranks = g_new (guint, n_nodes + 1);
      g_autoptr (CleavePlacement) placement = NULL;

      for (guint i = 0; i < n_nodes; i++)
        ranks[i] = (guint) g_rand_int_range (random, 0, (gint32) n_ranks);
      placement = cleave_placement_new_by_node (graph, n_ranks, ranks, n_nodes, NULL);
      n_messages += cleave_placement_get_n_messages (placement);
      assert_same (graph, placement, 1 + seed / 4 % 3, seed);
    }
  ck_assert_uint_gt (n_messages, 10 * n);
}
END_TEST

START_TEST (a_split_for_ranks_computes_the_same_bits)
{
  for (guint n = 2; n < 7; n++)
    {
      const CleaveNetwork network = { 1 + n / 2, 1 + n % 2, 1e11, 1e-9 };
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = cleave_graph_parse (CHAIN, NULL, &error);
      g_autoptr (CleaveSplitReport) report = NULL;
      g_autoptr (CleavePlacement) placement = NULL;

      cleave_assert_no_error (error);
      report = cleave_split_for_ranks (graph, &network, &error);
      cleave_assert_no_error (error);
      ck_assert_uint_gt (cleave_split_report_get_n_split (report), 2);
      cleave_clean_up (graph, NULL, NULL);
      placement = cleave_placement_new (graph, &network, &error);
      ck_assert_uint_gt (cleave_placement_get_n_messages (placement), 3);
      assert_same (graph, placement, network.n_threads, n);
    }
}
END_TEST

static void
note_place (gpointer data, guint message, const CleaveMessagePlace *place)
{
  g_autofree char *dense = g_malloc (count_bytes (place) + 1);

  memset (dense, 0x7f, count_bytes (place));
  copy_place (place, place->n_loops, place->data, dense, TRUE);
}

static void
do_not_send (gpointer data, guint message, const CleaveMessagePlace *place)
{
}

static gboolean
never (gpointer data, guint message)
{
  return FALSE;
}

#define COLUMNS                                                                                    \
  "graph g\n%x = Input : float32 64x256\n%w = Constant seed=1 : float32 256x512\n"                 \
  "%a = MatMul %x, %w\n%b = Relu %a\noutput %b\n"

/* Each rank holds neither the original nor the packed form of the weights that only other ranks
 * read. */
START_TEST (ranks_have_only_their_part_of_the_weights)
{
  const CleaveTransport transport = { NULL, note_place, never, do_not_send, never };
  const CleaveProgramOptions options = { .n_threads = 1 };
  const CleaveNetwork network = { 2, 1, 1e11, 1e-9 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (COLUMNS, NULL, NULL);
  g_autoptr (CleavePipeline) pipeline =
      cleave_pipeline_parse ("split{node=a node=b dims=1 num-chunks=2},clean-up", NULL);
  g_autoptr (CleavePlacement) placement = NULL;

  cleave_pipeline_run (pipeline, graph, NULL, NULL, NULL, NULL);
  placement = cleave_placement_new (graph, &network, NULL);
  for (guint r = 0; r < 2; r++)
    {
      CleaveGraph *own = cleave_placement_build (placement, r, &transport);
      g_autoptr (CleaveProgram) program = cleave_program_new_take (own, &options, NULL);
      CleaveProgramStats stats;

      cleave_program_get_stats (program, &stats);
      ck_assert_int_lt (stats.weight_bytes, 256 * 512 * 4 * 6 / 10);
    }
}
END_TEST

#define HEAVY                                                                                      \
  "graph g\n%x = Input : float32 1x128x16x16\n%w = Constant seed=1 : float32 256x128x3x3\n"        \
  "%v = Constant seed=2 : float32 256x256x3x3\n%d = Constant seed=3 : float32 256x1x3x3\n"         \
  "%a = Conv %x, %w pads=1,1,1,1\n%b = Relu %a\n%c = Conv %b, %d pads=1,1,1,1 group=256\n"         \
  "%e = Conv %c, %v pads=1,1,1,1\n%f = Relu %e\noutput %f\n"

/* A cut by rows would put all weights on both ranks, so channels are cut. Nodes that read these
 * channels are cut by channels, too. */
START_TEST (large_weights_are_cut)
{
  const CleaveNetwork network = { 2, 1, 1e10, 1e-6 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (HEAVY, NULL, NULL);
  g_autoptr (CleaveSplitReport) report = cleave_split_for_ranks (graph, &network, NULL);
  g_autoptr (CleavePlacement) placement = NULL;
  gint64 all = (128 + 256 + 1) * G_GINT64_CONSTANT (256) * 9 * 4;

  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 5);
  cleave_clean_up (graph, NULL, NULL);
  placement = cleave_placement_new (graph, &network, NULL);
  for (guint r = 0; r < 2; r++)
    {
      CleaveRankEstimate estimate;

      cleave_placement_estimate (placement, &network, r, &estimate, NULL);
      ck_assert_int_le (estimate.weight_bytes, all * 51 / 100);
    }
  assert_same (graph, placement, 1, 1);
}
END_TEST

#define HEADS                                                                                      \
  "graph g\n%x = Input : float32 64x512\n%w = Constant seed=1 : float32 512x2048\n"                \
  "%a = MatMul %x, %w\n%b = Reshape %a shape=64,4,512\n"                                           \
  "%c = Relu %b\noutput %c\n"

/* With more ranks than heads, the columns of products are cut for each rank, and the heads are not.
 */
START_TEST (ranks_may_outnumber_heads)
{
  const CleaveNetwork network = { 8, 1, 1e11, 1e-9 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (HEADS, NULL, &error);
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (CleavePlacement) placement = NULL;

  cleave_assert_no_error (error);
  report = cleave_split_for_ranks (graph, &network, &error);
  cleave_assert_no_error (error);
  cleave_clean_up (graph, NULL, NULL);
  placement = cleave_placement_new (graph, &network, NULL);
  assert_same (graph, placement, 1, 1);
}
END_TEST

#define LATERALS                                                                                   \
  "graph g\n%x = Input : float32 1x64x64x64\n%w = Constant seed=1 : float32 64x64x3x3\n"           \
  "%v = Constant seed=2 : float32 64x64x1x1\n%u = Constant seed=3 : float32 64x64x1x1\n"           \
  "%t = Constant seed=4 : float32 64x64x1x1\n%s = Constant seed=5 : float32 64x64x1x1\n"           \
  "%a = Conv %x, %w pads=1,1,1,1\n%b = Conv %a, %w pads=1,1,1,1\n"                                 \
  "%c = Conv %b, %w pads=1,1,1,1\n%e1 = Conv %x, %v\n%f1 = Mul %e1, %a\n"                          \
  "%g1 = GlobalMaxPool %f1\n%e2 = Conv %x, %u\n%f2 = Mul %e2, %a\n%g2 = GlobalMaxPool %f2\n"       \
  "%e3 = Conv %x, %t\n%f3 = Mul %e3, %a\n%g3 = GlobalMaxPool %f3\n%e4 = Conv %x, %s\n"             \
  "%f4 = Mul %e4, %a\n%g4 = GlobalMaxPool %f4\n%y = Concat %g1, %g2, %g3, %g4 axis=1\n"            \
  "output %c\noutput %y\n"

static gint64
get_arena (const CleavePlacement *placement, const CleaveNetwork *network, guint rank)
{
  CleaveRankEstimate estimate;

  ck_assert (cleave_placement_estimate (placement, network, rank, &estimate, NULL));
  return estimate.arena_bytes;
}

/* Rank 1 computes four values, and multiplies each value by a factor from rank 0. If rank 1
 * computed all four values while it waits for the factor, these values would fill the memory of
 * rank 1. The second placement has an order of nodes that needs less memory. */
START_TEST (a_rank_that_waits_does_not_fill_its_memory)
{
  const CleaveNetwork network = { 2, 1, 1e10, 1e-6 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (LATERALS, NULL, &error);
  g_autofree guint *ranks = g_new0 (guint, 64);
  g_autoptr (CleavePlacement) first = NULL, second = NULL;
  guint n = 0;

  cleave_assert_no_error (error);
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    ranks[n++] = strchr ("efgy", cleave_node_get_name (node)[0]) != NULL;
  first = cleave_placement_new_by_node (graph, 2, ranks, n, NULL);
  second = cleave_ranks_sort_for_memory (first, &network, 1);
  ck_assert_int_ge (get_arena (first, &network, 1), 5 << 20);
  ck_assert_int_le (get_arena (second, &network, 1), 4 << 20);
  ck_assert (cleave_placement_simulate (second, &network) <=
             1.05 * cleave_placement_simulate (first, &network));
  assert_same (graph, second, 1, 1);
}
END_TEST

#define MEETING                                                                                    \
  "graph g\n%x = Input : float32 1x8x32x32\n%w = Constant seed=1 : float32 16x8x1x1\n"             \
  "%v = Constant seed=2 : float32 16x16x1x1\n%a = Conv %x, %w\n%b = Conv %a, %v\n"                 \
  "%c = GlobalAveragePool %a\noutput %b\noutput %c\n"

/* Places a node whose name ends with a dot and a number on the rank of that number, and all other
 * nodes on rank 0. */
static CleavePlacement *
place_by_number (CleaveGraph *graph, guint n_ranks)
{
  guint n = 0;
  g_autofree guint *ranks = g_new0 (guint, cleave_graph_get_n_nodes (graph) + 1);

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      const char *dot = strrchr (node->name, '.');

      ranks[n++] = dot == NULL || !g_ascii_isdigit (dot[1]) ? 0 : (guint) atoi (dot + 1);
    }
  return cleave_placement_new_by_node (graph, n_ranks, ranks, n, NULL);
}

/* All ranks compute rows of a value, and each rank needs the whole value, or all rows of some
 * channels. A rank receives the rows of the other ranks, and not its own rows. */
START_TEST (a_value_of_several_ranks_is_joined_on_each_rank)
{
  for (guint n = 2; n < 5; n++)
    {
      g_autofree char *text =
          g_strdup_printf ("split{node=a dims=H num-chunks=%u},split{node=b dims=C num-chunks=%u},"
                           "split{node=c dims=C num-chunks=%u},clean-up",
                           n, n, n);
      g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (text, NULL);
      g_autoptr (CleaveGraph) graph = cleave_graph_parse (MEETING, NULL, NULL);
      g_autoptr (CleavePlacement) placement = NULL;
      gint64 n_bytes = 0;

      ck_assert (cleave_pipeline_run (pipeline, graph, NULL, NULL, NULL, NULL));
      placement = place_by_number (graph, n);
      for (guint i = 0; i < cleave_placement_get_n_messages (placement); i++)
        {
          const CleaveMessage *message = cleave_placement_get_message (placement, i);

          ck_assert_int_le (message->n_bytes, 16 * 32 * 32 * 4 / (gint64) n + 16 * 32 * 4);
          n_bytes += message->n_bytes;
        }
      ck_assert_int_le (n_bytes, 32 * 32 * 4 * (16 * (n - 1) + 8 + 16));
      assert_same (graph, placement, 1, n);
    }
}
END_TEST

/* An order for memory alone would run some nodes late. Other ranks wait for the values of these
 * nodes, so the order of the placement runs them early. */
START_TEST (ranks_keep_the_order_of_the_placement)
{
  const CleaveTransport transport = { NULL, note_place, never, do_not_send, never };
  const CleaveNetwork network = { 2, 1, 1e11, 1e-9 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (CHAIN, NULL, NULL);
  g_autoptr (CleaveSplitReport) report = cleave_split_for_ranks (graph, &network, NULL);
  g_autoptr (CleavePlacement) placement = cleave_placement_new (graph, &network, NULL);

  for (guint r = 0; r < 2; r++)
    {
      g_autoptr (CleaveGraph) own = cleave_placement_build (placement, r, &transport);
      g_autoptr (GPtrArray) built = cleave_topology_sort (own, NULL);
      g_autoptr (CleaveStorage) storage = NULL;
      g_autoptr (GPtrArray) order = cleave_order_with_storage (own, &storage, NULL);

      for (guint i = 0; i < built->len; i++)
        ck_assert_ptr_eq (order->pdata[i], built->pdata[i]);
    }
}
END_TEST

/* If a message never arrives, its value is zero, since a reader may use the value as an index. */
START_TEST (a_message_that_never_arrives_is_zero)
{
  static const char text[] = "graph g\n%x = Input : float32 2x3\n%a = Relu %x\n%b = Neg %a\n"
                             "output %b\n";
  const CleaveTransport transport = { NULL, note_place, never, do_not_send, never };
  const CleaveTensorType token = { CLEAVE_UINT8, { .rank = 1, .dim = { 1 } } };
  const guint ranks[] = { 0, 0, 1 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, NULL);
  g_autoptr (CleavePlacement) placement = cleave_placement_new_by_node (graph, 2, ranks, 3, NULL);
  g_autoptr (CleaveGraph) own = cleave_placement_build (placement, 0, &transport);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1), outputs = NULL;
  const float *numbers;

  g_ptr_array_add (inputs, cleave_tensor_new (&token, NULL));
  outputs = run_graph (own, inputs, 1);
  numbers = cleave_tensor_get_data (outputs->pdata[0]);
  for (guint i = 0; i < 6; i++)
    ck_assert (numbers[i] == 0);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "same bits", any_placement_computes_the_same_bits,
                   a_split_for_ranks_computes_the_same_bits, a_message_that_never_arrives_is_zero,
                   ranks_keep_the_order_of_the_placement, ranks_have_only_their_part_of_the_weights,
                   large_weights_are_cut, ranks_may_outnumber_heads,
                   a_rank_that_waits_does_not_fill_its_memory,
                   a_value_of_several_ranks_is_joined_on_each_rank, NULL);
}

CLEAVE_TEST_SUITE ("placement", add_tests)
