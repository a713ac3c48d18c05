/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Ops that move data as programs run them: as views, in place, in other memory orders. */

#include "random-ops.h"
#include "run-help.h"

#define N_SEEDS 12

/* Every second time something reads the result, so that it need not lie in the output. */
static void
run_one (const CleaveRandomOp *op, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (CleaveGraph) graph = cleave_graph_new (op->op);
  CleaveNode *node = op->make (graph, rand);

  for (guint r = 0; r < cleave_node_get_n_results (node); r++)
    {
      CleaveResult *y = cleave_node_get_result (node, r);

      if (seed % 2 == 0 && cleave_result_get_type (y)->element == CLEAVE_FLOAT32)
        y = run_unary (graph, "Relu", y);
      run_output (graph, y);
    }
  run_assert_same (graph, seed);
}

START_TEST (programs_move_data_as_the_interpreter_does)
{
  const CleaveRandomOp *const lists[] = { cleave_random_ops_move, cleave_random_ops_index };

  for (guint l = 0; l < G_N_ELEMENTS (lists); l++)
    for (const CleaveRandomOp *op = lists[l]; op->op != NULL; op++)
      for (guint32 seed = 0; seed < N_SEEDS; seed++)
        run_one (op, seed);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "programs", programs_move_data_as_the_interpreter_does, NULL);
}

CLEAVE_TEST_MAIN ("move", add_tests)
