/* SPDX-License-Identifier: GPL-2.0-or-later */

/* If a MaxPool is cut along any dimension, its pieces have the indices of the whole MaxPool, in the
 * graph and in the exported model. A MaxUnpool that reads the indices of the pieces has the result
 * of the whole MaxUnpool. */

#include "graphs.h"
#include "interpret.h"
#include "random-pick.h"
#include "run-help.h"

#define N_SEEDS CLEAVE_TRIALS (300)

/* Adds a chain x → Neg → MaxPool → MaxUnpool. The MaxUnpool reads both results of the MaxPool,
 * values and indices. If the MaxUnpool is not legal, adds none. Returns the last node. */
static CleaveNode *
add_nodes (CleaveGraph *graph, GRand *rand)
{
  guint n = (guint) pick (rand, 1, 3);
  CleaveTensorType type = { CLEAVE_FLOAT32, { n + 2, { pick (rand, 1, 3), pick (rand, 1, 3) } } };
  CleavePoolAttrs a = { .kernel_shape.n = n,
                        .strides.n = n,
                        .dilations.n = n,
                        .pads.n = 2 * n,
                        .ceil_mode = (gboolean) pick (rand, 0, 1),
                        .storage_order = pick (rand, 0, 1) };
  CleaveMaxUnpoolAttrs back = { 0 };
  CleaveResult *values[2];
  CleaveNode *pool, *unpool;

  for (guint i = 0; i < n; i++)
    {
      type.shape.dim[2 + i] = pick (rand, 5, 8);
      a.kernel_shape.v[i] = pick (rand, 1, 3);
      a.strides.v[i] = pick (rand, 1, 3);
      a.dilations.v[i] = pick (rand, 1, 2);
      a.pads.v[i] = pick (rand, 0, 2);
      a.pads.v[n + i] = pick (rand, 0, 2);
    }
  back.kernel_shape = a.kernel_shape;
  back.strides = a.strides;
  back.pads = a.pads;
  values[0] = run_unary (graph, "Neg", add_input (graph, "x", &type));
  pool = cleave_graph_add (graph, cleave_op_lookup ("MaxPool"), "pool", values, 1, 2, &a, NULL);
  ck_assert_ptr_nonnull (pool);
  values[0] = cleave_node_get_result (pool, 0);
  values[1] = cleave_node_get_result (pool, 1);
  run_output (graph, values[1]);
  unpool =
      cleave_graph_add (graph, cleave_op_lookup ("MaxUnpool"), "back", values, 2, 1, &back, NULL);
  if (unpool != NULL)
    run_output (graph, cleave_node_get_result (unpool, 0));
  return unpool == NULL || pick (rand, 0, 1) == 0 ? pool : unpool;
}

static void
check (const CleaveGraph *graph, const GPtrArray *inputs, const GPtrArray *expected, guint32 seed)
{
  g_autoptr (GPtrArray) got = cleave_interpret (graph, (CleaveTensor *const *) inputs->pdata);
  g_autofree char *dump = cleave_graph_print (graph);

  ck_assert_msg (cleave_compare_outputs (expected, got) < 0, "seed %u: other bits\n%s", seed, dump);
}

/* Asserts that the exported model has the same outputs and indices. */
static void
check_written (const CleaveGraph *graph,
               const GPtrArray *inputs,
               const GPtrArray *expected,
               guint32 seed)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, &error);
  g_autoptr (CleaveGraph) read = NULL;

  cleave_assert_no_error (error);
  read = cleave_onnx_parse (bytes, NULL, NULL, &error);
  cleave_assert_no_error (error);
  check (read, inputs, expected, seed);
}

/* Splits the node into a grid along all dimensions, or recursively, with recomputed or carried
 * halos. */
static CleaveSplitReport *
split_somehow (CleaveNode *node, GRand *rand)
{
  const CleaveShape *shape = &cleave_result_get_type (cleave_node_get_result (node, 0))->shape;
  CleaveRecursion recursion = { .depth = (guint) pick (rand, 1, 4),
                                .halo = (CleaveHalo) pick (rand, 0, 1) };
  g_autoptr (CleaveTiling) split = NULL;
  g_autoptr (GError) error = NULL;
  gint64 n_chunks[CLEAVE_MAX_RANK];
  CleaveSplitReport *report;

  for (guint d = 0; d < shape->rank; d++)
    n_chunks[d] = pick (rand, 1, (gint32) MIN (shape->dim[d], 3));
  split = cleave_tiling_by_num_chunks (shape->rank == 3   ? "0,1,2"
                                       : shape->rank == 4 ? "0,1,2,3"
                                                          : "0,1,2,3,4",
                                       n_chunks, shape->rank);
  report = cleave_split_node_recursively (node, split, NULL, &recursion, &error);
  cleave_assert_no_error (error);
  return report;
}

START_TEST (indices_are_those_of_the_whole)
{
  guint n_cut = 0, n_whole = 0;

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveNode *node = add_nodes (graph, rand);
      g_autoptr (GPtrArray) inputs = cleave_random_inputs (graph, seed, seed % 3 == 0);
      g_autoptr (GPtrArray) expected =
          cleave_interpret (graph, (CleaveTensor *const *) inputs->pdata);
      g_autoptr (CleaveSplitReport) report = split_somehow (node, rand);

      ck_assert_ptr_nonnull (report);
      if (cleave_count_nodes (graph, "MaxPool") > 1)
        n_cut++;
      else
        n_whole++;
      check (graph, inputs, expected, seed);
      check_written (graph, inputs, expected, seed);
      ck_assert (cleave_clean_up (graph, NULL, NULL));
      check (graph, inputs, expected, seed);
      if (seed % 8 == 0)
        run_assert_same (graph, seed);
    }
  ck_assert_msg (n_cut > N_SEEDS / 3 && n_whole > 0, "%u cut, %u whole", n_cut, n_whole);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "pool-indices", indices_are_those_of_the_whole, NULL);
}

CLEAVE_TEST_SUITE ("pool-indices", add_tests)
