/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The memory of the rank that needs the most memory, after a split for ranks. Each rank runs its
 * nodes in an order of its own. */

#include "../../../lib/ir/topology.h"
#include "../../../passes/ranks/own-orders.h"
#include "../../../passes/ranks/simulate.h"
#include "../../../passes/threads/for-threads.h"
#include "random-graph.h"
#include "test.h"

static CleaveGraph *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_graph_parse (text, NULL, &error);

  cleave_assert_no_error (error);
  return graph;
}

/* Splits the graph for the ranks of the network, and places its nodes. */
static CleavePlacement *
place (CleaveGraph *graph, const CleaveNetwork *network)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report = cleave_split_for_ranks (graph, network, &error);

  cleave_assert_no_error (error);
  ck_assert (cleave_clean_up (graph, NULL, &error));
  return cleave_placement_new (graph, network, &error);
}

static CleaveRankEstimate
find_most (const CleavePlacement *placement, const CleaveNetwork *network)
{
  CleaveRankEstimate most = { 0 };

  for (guint r = 0; r < network->n_ranks; r++)
    {
      CleaveRankEstimate own;

      ck_assert (cleave_placement_estimate (placement, network, r, &own, NULL));
      most.arena_bytes = MAX (most.arena_bytes, own.arena_bytes);
      most.weight_bytes = MAX (most.weight_bytes, own.weight_bytes);
      most.n_nodes = MAX (most.n_nodes, own.n_nodes);
    }
  return most;
}

/* Makes layers with depthwise convolutions of 5x5 on values of 3 MB. If the bands recomputed their
 * halos, they would compute a third more MACs. */
static CleaveGraph *
make_blocks (guint n)
{
  g_autoptr (GString) text = g_string_new (
      "graph g\n%x = Input : float32 1x3x256x256\n%k = Constant seed=1 : float32 48x3x5x5\n"
      "%w = Constant seed=2 : float32 48x1x5x5\n%v = Constant seed=3 : float32 48x48x1x1\n"
      "%d0 = Conv %x, %k pads=2,2,2,2 strides=2,2\n");

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text,
                            "%%a%u = Conv %%d%u, %%w pads=2,2,2,2 group=48\n"
                            "%%b%u = Conv %%a%u, %%v\n%%c%u = Add %%b%u, %%d%u\n"
                            "%%d%u = Relu %%c%u\n",
                            i, i, i, i, i, i, i, i + 1, i);
  g_string_append_printf (text, "%%y = MaxPool %%d%u kernel_shape=4,4 strides=4,4\noutput %%y\n",
                          n);
  return parse (text->str);
}

START_TEST (strips_of_two_ranks_exchange_halos)
{
  const CleaveNetwork network = { 2, 1, 1.25e10, 1e-6 };
  g_autoptr (CleaveGraph) graph = make_blocks (12);
  gint64 macs = cleave_graph_get_macs (graph);
  g_autoptr (CleavePlacement) placement = place (graph, &network);
  CleaveRankEstimate most = find_most (placement, &network);

  ck_assert_int_eq (cleave_graph_get_macs (graph), macs);
  ck_assert_uint_gt (most.n_nodes, 150); /* 77 nodes are cut into two pieces each */
  /* Another order of the nodes would need an arena of only 5.0 MB, but ranks would wait for a third
   * of the time of a run. */
  ck_assert_int_le (most.arena_bytes, 7000000);
}
END_TEST

/* A search with the cache finds the same strips as a search without the cache, whatever earlier
 * searches have stored in the cache. */
START_TEST (strips_are_cached)
{
  g_autoptr (GHashTable) memory = cleave_strips_cache_new ();
  static const double strictnesses[] = { 0, 2, 0, 2 };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (strictnesses); i++)
    {
      const CleaveThreads fresh = { .n = 2 + i / G_N_ELEMENTS (strictnesses),
                                    .have_own_memory = TRUE,
                                    .strictness = strictnesses[i % G_N_ELEMENTS (strictnesses)] };
      CleaveThreads again = fresh;
      g_autoptr (CleaveGraph) one = make_blocks (6), two = make_blocks (6);
      g_autoptr (CleaveSplitReport) report = cleave_split_for (one, &fresh, NULL), other = NULL;
      g_autofree char *expected = cleave_graph_print (one), *text = NULL;

      again.strips = memory;
      other = cleave_split_for (two, &again, NULL);
      text = cleave_graph_print (two);
      ck_assert_str_eq (text, expected);
    }
  ck_assert_uint_gt (g_hash_table_size (memory), 3);
}
END_TEST

/* A Softmax along the rows prevents strips through the whole graph. */
#define SQUEEZE                                                                                    \
  "graph g\n%x = Input : float32 1x3x96x96\n%w = Constant seed=1 : float32 4x3x3x3\n"              \
  "%v = Constant seed=2 : float32 128x4x1x1\n%u = Constant seed=3 : float32 128x128x1x1\n"         \
  "%t = Constant seed=4 : float32 16x128x3x3\n%s = Constant seed=5 : float32 96x16x1x1\n"          \
  "%r = Constant seed=6 : float32 4x96x3x3\n%a = Conv %x, %w pads=1,1,1,1\n%b = Relu %a\n"         \
  "%c = Conv %b, %v\n%d = GlobalAveragePool %c\n%e = Conv %d, %u\n%f = HardSigmoid %e\n"           \
  "%g = Mul %c, %f\n%h = Add %c, %g\n%i = Conv %h, %t pads=1,1,1,1\n%j = Conv %i, %s\n"            \
  "%k = Softmax %j axis=2\n%y = Conv %k, %r pads=1,1,1,1\noutput %y\n"

/* Each piece computes all rows of some channels. If pieces computed rows, ranks would send these
 * rows to each other, and both ranks would hold the whole value. */
START_TEST (recomputed_values_are_whole_on_a_rank)
{
  const CleaveThreads threads = { .n = 2, .have_own_memory = TRUE };
  g_autoptr (CleaveGraph) graph = parse (SQUEEZE);
  g_autoptr (CleaveSplitReport) report = cleave_split_for (graph, &threads, NULL);
  guint n_pools = 0;

  cleave_clean_up (graph, NULL, NULL);
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    if (g_str_equal (node->op->name, "GlobalAveragePool"))
      {
        n_pools++;
        ck_assert_str_eq (node->operands[0].result->node->op->name, "Conv");
      }
  ck_assert_uint_eq (n_pools, 4);
}
END_TEST

#define ENLARGED                                                                                   \
  "graph g\n%x = Input : float32 1x256x20x20\n%w = Constant seed=1 : float32 48x256x3x3\n"         \
  "%u = Constant seed=2 : float32 512x48x1x1\n%v = Constant seed=3 : float32 512x1x3x3\n"          \
  "%t = Constant seed=4 : float32 8x512x1x1\n%a = Conv %x, %w pads=1,1,1,1\n%b = Relu %a\n"        \
  "%c = Resize %b scales=1,1,3,3 coordinate_transformation_mode=asymmetric nearest_mode=floor\n"   \
  "%d = Conv %c, %u\n%e = Relu %d\n%f = Conv %e, %v pads=1,1,1,1 group=512\n%g = Conv %f, %t\n"    \
  "output %g\n"

/* The convolutions are cut by channels because of their weights, and the upsampled value is cut by
 * rows. Ranks send each other the smaller values before the upsampling. */
START_TEST (values_are_sent_before_they_are_upsampled)
{
  const CleaveThreads threads = { .n = 2, .have_own_memory = TRUE, .weights_to_cut = 0.2 };
  g_autoptr (CleaveGraph) graph = parse (ENLARGED);
  g_autoptr (CleaveSplitReport) report = cleave_split_for (graph, &threads, NULL);

  cleave_clean_up (graph, NULL, NULL);
  ck_assert_int_eq (cleave_graph_find_node (graph, "a.0")->results[0].type.shape.dim[1], 24);
  ck_assert_int_eq (cleave_graph_find_node (graph, "c.0")->results[0].type.shape.dim[1], 48);
}
END_TEST

/* The weights of each layer are as large as the operand of the layer. The split then accepts a
 * longer run, so that each rank needs less memory for weights. */
START_TEST (time_is_traded_for_memory)
{
  const CleaveNetwork network = { 2, 1, 1.25e10, 1e-6 };
  g_autoptr (GString) text = g_string_new ("graph g\n%a0 = Input : float32 1x256x16x16\n");
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (CleavePlacement) placement = NULL;

  for (guint i = 0; i < 12; i++)
    g_string_append_printf (text,
                            "%%w%u = Constant seed=%u : float32 256x256x1x1\n"
                            "%%a%u = Conv %%a%u, %%w%u\n",
                            i, i + 1, i + 1, i, i);
  g_string_append (text, "output %a12\n");
  graph = parse (text->str);
  placement = place (graph, &network);
  ck_assert_int_le (find_most (placement, &network).weight_bytes, 12 * 256 * 256 * 4 * 51 / 100);
}
END_TEST

static void
assert_topological (const GPtrArray *order, const CleaveGraph *graph)
{
  g_autoptr (GHashTable) done = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];

      for (guint o = 0; o < node->n_operands; o++)
        ck_assert (node->operands[o].result == NULL ||
                   g_hash_table_contains (done, node->operands[o].result->node));
      ck_assert (g_hash_table_add (done, (gpointer) node));
    }
  ck_assert_uint_eq (g_hash_table_size (done), cleave_graph_get_n_nodes (graph));
}

/* Each order of a rank has all nodes of the rank, for random placements and random waiting times.
 */
START_TEST (orders_of_ranks_have_all_nodes)
{
  for (guint seed = 0; seed < CLEAVE_TRIALS (60); seed++)
    {
      g_autoptr (CleaveGraph) graph = random_split_graph (seed);
      g_autoptr (GRand) random = g_rand_new_with_seed (seed);
      guint n_ranks = 1 + seed % 4, n_nodes = cleave_graph_get_n_nodes (graph);
      g_autofree guint *ranks = g_new (guint, n_nodes + 1);
      g_autoptr (CleavePlacement) placement = NULL;
      g_autoptr (GPtrArray) order = NULL;

      for (guint i = 0; i < n_nodes; i++)
        ranks[i] = (guint) g_rand_int_range (random, 0, (gint32) n_ranks);
      placement = cleave_placement_new_by_node (graph, n_ranks, ranks, n_nodes, NULL);
      order =
          cleave_ranks_find_own_orders (placement, (const GPtrArray *const[]){ placement->all }, 1);
      assert_topological (order, placement->graph);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "rank-memory", strips_of_two_ranks_exchange_halos, strips_are_cached,
                   recomputed_values_are_whole_on_a_rank, values_are_sent_before_they_are_upsampled,
                   time_is_traded_for_memory, orders_of_ranks_have_all_nodes, NULL);
}

CLEAVE_TEST_SUITE ("rank-memory", add_tests)
