/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Dependencies between the steps that write operands of a join. */

#include "orders.h"
#include "run-help.h"

#include "../../../lib/ir/topology.h"
#include "../../../lib/runtime/plan/dependencies.h"

/* Returns the first step with this kind and this op, or CLEAVE_NEVER. With this function, the tests
 * find the step that computes an operand of a join, or that copies an operand into a join. */
static guint
find_part (const CleaveStorage *storage, CleaveStepKind kind, const char *op)
{
  for (guint s = 0; s < storage->steps->len; s++)
    {
      const CleaveStep *step = &g_array_index (storage->steps, CleaveStep, s);

      if (step->kind == kind && g_str_equal (step->node->op->name, op))
        return s;
    }
  return CLEAVE_NEVER;
}

/* If a constant operand of a join were copied first, the memory of the join would be in use from
 * the begin of the run. */
START_TEST (a_constant_operand_of_a_join_is_copied_after_a_computed_one)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 8, 8));
  CleaveResult *parts[] = { run_conv (graph, run_unary (graph, "Relu", x), 4, 3,
                                      CLEAVE_LAYOUT_NCHW),
                            run_constant (graph, &CLEAVE_SHAPE (1, 4, 8, 8), 1) };
  g_autoptr (GPtrArray) order = NULL;
  g_autoptr (CleaveStorage) storage = NULL;
  g_auto (CleaveDependencies) dependencies = { 0 };
  guint conv, copy;

  run_output (graph, run_concat (graph, parts, 2, 1));
  order = order_best (graph, NULL);
  storage = cleave_storage_new (graph, order);
  cleave_dependencies_init (&dependencies, storage, graph);
  conv = find_part (storage, CLEAVE_STEP_COMPUTE, "Conv");
  copy = find_part (storage, CLEAVE_STEP_COPY, "Concat");
  ck_assert_uint_ne (conv, CLEAVE_NEVER);
  ck_assert_uint_ne (copy, CLEAVE_NEVER);
  ck_assert_uint_eq (dependencies.begin[copy + 1] - dependencies.begin[copy], 1);
  ck_assert_uint_eq (dependencies.preds[dependencies.begin[copy]], conv);
}
END_TEST

/* A join has two computed parts. An element-wise node computes one of the parts. If another node
 * reads the operand of the element-wise node later, the element-wise node waits for the other part
 * of the join. If the element-wise node is the last reader of its operand, it does not wait. */
START_TEST (a_part_of_a_live_value_is_computed_with_the_others)
{
  for (guint stays = 0; stays < 2; stays++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 8, 8));
      CleaveResult *early = run_conv (graph, x, 4, 3, CLEAVE_LAYOUT_NCHW);
      CleaveResult *dies = run_conv (graph, x, 4, 3, CLEAVE_LAYOUT_NCHW);
      CleaveResult *late = run_conv (graph, early, 4, 1, CLEAVE_LAYOUT_NCHW);
      CleaveResult *rows =
          run_slice (graph, stays == 1 ? early : dies,
                     (CleaveRange){ 4, { { 0, 1 }, { 0, 4 }, { 1, 8 }, { 0, 8 } } });
      CleaveResult *parts[] = { run_unary (graph, "Sigmoid", rows),
                                run_unary (graph, "Neg", late) };
      g_autoptr (GPtrArray) order = NULL;
      g_autoptr (CleaveStorage) storage = NULL;
      g_auto (CleaveDependencies) dependencies = { 0 };
      guint part, made;
      gboolean waits = FALSE;

      run_output (graph, run_concat (graph, parts, 2, 2));
      run_output (graph, run_binary (graph, "Add", early, late));
      order = cleave_topology_sort (graph, NULL);
      storage = cleave_storage_new (graph, order);
      cleave_dependencies_init (&dependencies, storage, graph);
      part = find_part (storage, CLEAVE_STEP_COMPUTE, "Sigmoid");
      made = cleave_storage_assignment (storage, late)->ready;
      for (guint i = dependencies.begin[part]; i < dependencies.begin[part + 1]; i++)
        waits |= dependencies.preds[i] == made;
      ck_assert_uint_lt (made, part);
      ck_assert_int_eq (waits, stays == 1);
    }
}
END_TEST

/* If all operands of a join are constant, there is no computed operand to wait for, so the copies
 * run at once. */
START_TEST (constant_operands_alone_are_copied_at_once)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *parts[] = { run_constant (graph, &CLEAVE_SHAPE (4), 1),
                            run_constant (graph, &CLEAVE_SHAPE (4), 2) };

  run_output (graph, run_concat (graph, parts, 2, 0));
  run_assert_same (graph, 0);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "dependencies",
                   a_constant_operand_of_a_join_is_copied_after_a_computed_one,
                   a_part_of_a_live_value_is_computed_with_the_others,
                   constant_operands_alone_are_copied_at_once, NULL);
}

CLEAVE_TEST_SUITE ("dependencies", add_tests)
