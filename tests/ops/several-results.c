/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Ops with several results. Element-wise nodes overwrite each result, and the graph gives the same
 * bits for any number of threads and any split. */

#include "../../lib/ir/graph-private.h"
#include "interpret.h"
#include "random-ops.h"
#include "run-help.h"

#define N_SEEDS CLEAVE_TRIALS (60)

static const guint thread_counts[] = { 1, 2, 3, 8 };

/* Adds one to three element-wise nodes in a chain. */
static CleaveResult *
add_chain (CleaveGraph *graph, GRand *rand, CleaveResult *value)
{
  static const char *const numbers[] = { "Neg", "Abs", "Relu" }, *const flags[] = { "Not" };
  gboolean is_flag = cleave_result_get_type (value)->element == CLEAVE_BOOL;
  guint n = is_flag ? G_N_ELEMENTS (flags) : G_N_ELEMENTS (numbers);

  for (gint i = g_rand_int_range (rand, 0, 3); i >= 0; i--)
    {
      const char *op = (is_flag ? flags : numbers)[g_rand_int (rand) % n];
      CleaveResult *next = cleave_graph_add_unary (graph, op, NULL, value, NULL, NULL);

      value = next == NULL ? value : next;
    }
  return value;
}

/* Makes a graph of a random node of the op, with a chain of element-wise nodes on each result.
 * Returns NULL if the node has only one result. */
static CleaveGraph *
make_graph (const CleaveRandomOp *op, guint32 seed)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveNode *node = op->make (graph, rand);
  guint n = node == NULL ? 0 : cleave_node_get_n_results (node);

  if (n < 2)
    return NULL;
  for (guint r = 0; r < n; r++)
    run_output (graph, add_chain (graph, rand, cleave_node_get_result (node, r)));
  return g_steal_pointer (&graph);
}

static void
assert_threads (const CleaveGraph *graph,
                const GPtrArray *inputs,
                const GPtrArray *want,
                const char *what,
                guint32 seed)
{
  for (guint t = 0; t < G_N_ELEMENTS (thread_counts); t++)
    {
      g_autoptr (GPtrArray) got = run_graph (graph, inputs, thread_counts[t]);

      for (guint i = 0; i < want->len; i++)
        ck_assert_msg (cleave_tensor_equal (got->pdata[i], want->pdata[i]),
                       "%s, seed %u, %u threads: output %u differs", what, seed, thread_counts[t],
                       i);
    }
}

/* Splits each chain and its producer in two along a random dimension. */
static guint
split_all (CleaveGraph *graph, guint32 seed)
{
  const gint64 two = 2;
  guint n_split = 0;

  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    {
      CleaveResult *y = cleave_operand_get_result (cleave_graph_get_output (graph, i));
      guint rank = cleave_result_get_type (y)->shape.rank;
      g_autofree char *dim = g_strdup_printf ("%u", rank == 0 ? 0 : seed % rank);
      g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks (dim, &two, 1);
      const CleaveRecursion recursion = { .depth = 8 };
      g_autoptr (CleaveSplitReport) report = NULL;

      if (rank > 0 && cleave_result_get_type (y)->shape.dim[seed % rank] >= 2)
        report = cleave_split_node_recursively (cleave_result_get_node (y), split, NULL, &recursion,
                                                NULL);
      n_split += report != NULL && cleave_split_report_get_n_split (report) > 0;
    }
  return n_split;
}

START_TEST (each_result_may_be_overwritten)
{
  guint n_graphs = 0, n_split = 0;

  for (guint l = 0; cleave_random_op_lists[l] != NULL; l++)
    for (const CleaveRandomOp *op = cleave_random_op_lists[l]; op->op != NULL; op++)
      for (guint32 seed = 0; seed < N_SEEDS; seed++)
        {
          g_autoptr (CleaveGraph) graph = make_graph (op, seed);
          g_autoptr (GPtrArray) inputs = NULL, want = NULL;

          if (graph == NULL)
            continue;
          inputs = run_random_inputs (graph, seed);
          want = cleave_interpret (graph, (CleaveTensor *const *) inputs->pdata);
          assert_threads (graph, inputs, want, op->op, seed);
          n_graphs++;
          n_split += split_all (graph, seed);
          assert_threads (graph, inputs, want, op->op, seed);
        }
  ck_assert_uint_gt (n_graphs, 5 * N_SEEDS);
  ck_assert_uint_gt (n_split, 2 * N_SEEDS);
}
END_TEST

/* Results are large enough that several threads share the work. */
START_TEST (large_results_may_be_overwritten)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleavePoolAttrs attrs = { .kernel_shape = CLEAVE_INTS (2, 2), .strides = CLEAVE_INTS (2, 2) };
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 8, 128, 128));
  CleaveNode *pool =
      cleave_graph_add (graph, cleave_op_lookup ("MaxPool"), "pool", &x, 1, 2, &attrs, NULL);

  run_output (graph, run_unary (graph, "Relu", cleave_node_get_result (pool, 0)));
  run_output (graph, run_unary (graph, "Neg", cleave_node_get_result (pool, 1)));
  run_assert_same (graph, 0);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "several results", each_result_may_be_overwritten,
                   large_results_may_be_overwritten, NULL);
}

CLEAVE_TEST_SUITE ("several-results", add_tests)
