/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Graphs of the op `Relu` and of toy ops: nodes, names, uses, copies and edits. */

#include "test.h"

#include "../../lib/ir/graph-private.h"
#include "../../lib/ir/subgraphs.h"
#include "graphs.h"
#include "random-graph.h"

static const CleaveTensorType type = { CLEAVE_FLOAT32, { 1, { 4 } } };

/* Makes a graph whose input x a Relu reads. The result of the Relu is r, and an Add reads r twice.
 * Outputs are r and the sum. */
static CleaveGraph *
make_graph (void)
{
  CleaveGraph *graph = cleave_graph_new ("g");
  CleaveResult *x = cleave_graph_add_input (graph, "x", &type, NULL);
  CleaveResult *r = cleave_graph_add_unary (graph, "Relu", "r", x, NULL, NULL);
  CleaveResult *sum = cleave_graph_add_binary (graph, "Add", "sum", r, r, NULL);

  cleave_graph_add_output (graph, "out", sum, NULL);
  cleave_graph_add_output (graph, "raw", r, NULL);
  return graph;
}

static const char *const printed = "%0 = Input : float32 4  # x\n"
                                   "%1 = Relu %0 : float32 4  # r\n"
                                   "%2 = Add %1, %1 : float32 4  # sum\n"
                                   "output %2  # out\n"
                                   "output %1  # raw\n";

START_TEST (a_graph_prints_its_nodes_and_outputs)
{
  g_autoptr (CleaveGraph) graph = make_graph ();

  cleave_assert_dump (graph, printed);
}
END_TEST

START_TEST (uses_are_listed_in_insertion_order)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  CleaveResult *r = cleave_node_get_result (cleave_graph_find_node (graph, "r"), 0);
  CleaveOperand *use = cleave_result_get_first_use (r);

  ck_assert_uint_eq (cleave_result_get_n_uses (r), 3);
  ck_assert_str_eq (cleave_operand_get_name (use), "A");
  use = cleave_operand_get_next_use (use);
  ck_assert_str_eq (cleave_operand_get_name (use), "B");
  use = cleave_operand_get_next_use (use);
  ck_assert_ptr_null (cleave_operand_get_node (use));
  ck_assert_str_eq (cleave_operand_get_name (use), "raw");
  ck_assert_ptr_null (cleave_operand_get_next_use (use));
}
END_TEST

START_TEST (replacing_uses_includes_outputs)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  CleaveNode *r = cleave_graph_find_node (graph, "r");

  cleave_result_replace_uses (cleave_node_get_result (r, 0), cleave_graph_get_input (graph, 0));
  cleave_graph_remove (graph, r);
  cleave_assert_dump (graph, "%0 = Input : float32 4  # x\n"
                             "%1 = Add %0, %0 : float32 4  # sum\n"
                             "output %1  # out\n"
                             "output %0  # raw\n");
  ck_assert (cleave_graph_validate (graph, NULL));
  ck_assert_ptr_null (cleave_graph_find_node (graph, "r"));
}
END_TEST

START_TEST (a_copy_is_equal_and_independent)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);

  cleave_assert_dump (copy, printed);
  ck_assert (cleave_graph_validate (copy, NULL));
  cleave_result_replace_uses (cleave_node_get_result (cleave_graph_find_node (copy, "r"), 0),
                              cleave_graph_get_input (copy, 0));
  cleave_assert_dump (graph, printed);
}
END_TEST

START_TEST (a_copy_keeps_names_and_order_of_a_rewired_graph)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  CleaveResult *x = cleave_graph_get_input (graph, 0);
  CleaveResult *late = cleave_graph_add_unary (graph, "Relu", "late", x, NULL, NULL);
  g_autoptr (CleaveGraph) copy = NULL;
  g_autofree char *want = NULL;

  cleave_result_set_name (late, "value");
  cleave_operand_set (cleave_node_get_operand (cleave_graph_find_node (graph, "r"), 0), late);
  want = cleave_graph_print (graph);
  copy = cleave_graph_copy (graph);
  cleave_assert_dump (copy, want);
  ck_assert_ptr_eq (cleave_graph_find_node (copy, "value"), cleave_graph_find_node (copy, "late"));
  ck_assert_ptr_ne (cleave_graph_find_node (copy, "value"),
                    cleave_graph_find_node (graph, "value"));
}
END_TEST

START_TEST (a_name_that_is_taken_gets_a_number)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_graph_add_input (graph, "x", &type, NULL);
  CleaveResult *a = cleave_graph_add_unary (graph, "Relu", "x", x, NULL, NULL);
  CleaveResult *b = cleave_graph_add_unary (graph, "Relu", "x", a, NULL, NULL);
  CleaveResult *c = cleave_graph_add_unary (graph, "Relu", NULL, b, NULL, NULL);

  ck_assert_str_eq (cleave_node_get_name (cleave_result_get_node (a)), "x_1");
  ck_assert_str_eq (cleave_node_get_name (cleave_result_get_node (b)), "x_2");
  ck_assert_str_eq (cleave_node_get_name (cleave_result_get_node (c)), "relu");
}
END_TEST

START_TEST (a_replacement_takes_over_the_name)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  CleaveNode *old = cleave_graph_find_node (graph, "r");
  CleaveNode *node;

  cleave_result_set_name (cleave_node_get_result (old, 0), "activation");
  node = cleave_result_get_node (
      cleave_graph_add_unary (graph, "Relu", "new", cleave_graph_get_input (graph, 0), NULL, NULL));
  cleave_node_take_names (node, old);
  ck_assert_ptr_eq (cleave_graph_find_node (graph, "r"), node);
  ck_assert_ptr_eq (cleave_graph_find_node (graph, "activation"), node);
  ck_assert_ptr_eq (cleave_graph_find_node (graph, "new"), old);
  ck_assert (cleave_graph_validate (graph, NULL));
}
END_TEST

START_TEST (wrong_nodes_are_errors_and_change_nothing)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  g_autoptr (CleaveGraph) other = make_graph ();
  g_autoptr (GError) error = NULL;
  const CleaveOp *add = cleave_op_lookup ("Add");
  CleaveResult *x = cleave_graph_get_input (graph, 0);
  CleaveResult *stranger[] = { x, cleave_graph_get_input (other, 0) };
  CleaveResult *missing[] = { x, NULL };

  ck_assert_ptr_null (cleave_graph_add (graph, add, "a", &x, 1, 1, NULL, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "Add 'a': takes 2 operands, not 1");
  ck_assert_ptr_null (cleave_graph_add (graph, add, "a", stranger, 2, 1, NULL, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "Add 'a': the operand B belongs to another graph");
  ck_assert_ptr_null (cleave_graph_add (graph, add, "a", missing, 2, 1, NULL, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "Add 'a': the operand B is missing");
  ck_assert_ptr_null (cleave_graph_add_input (graph, "x", &type, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "there are two inputs 'x'");
  /* from here on, no other input may be called "other name" */
  cleave_result_set_name (x, "other name");
  ck_assert_ptr_null (cleave_graph_add_input (graph, "other name", &type, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "there are two inputs 'other name'");
  cleave_result_set_name (x, NULL);
  ck_assert (!cleave_graph_add_output (graph, "out", x, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "there are two outputs 'out'");
  cleave_assert_dump (graph, printed);
}
END_TEST

/* Returns the names of the nodes in order, and the subgraph of each. */
static char *
describe (const CleaveGraph *graph)
{
  g_autoptr (GPtrArray) order = cleave_graph_get_order (graph, NULL);
  g_autofree guint *subgraph = g_new (guint, graph->n_ids + 1);
  g_autofree char *dump = cleave_graph_print (graph);
  GString *text = g_string_new (dump);

  cleave_subgraphs_find (graph, subgraph);
  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];

      g_string_append_printf (text, "%s %u\n", node->name, subgraph[node->id]);
    }
  g_string_append_printf (text, "%" G_GINT64_FORMAT, cleave_graph_get_peak_bytes (graph, NULL));
  return g_string_free (text, FALSE);
}

/* Removed nodes leave gaps in the indices of nodes. Functions give the same results for a graph
 * with gaps and for its copy, which has no gaps. */
START_TEST (gaps_in_indices_change_nothing)
{
  guint n_gaps = 0;

  for (guint32 seed = 0; seed < 200; seed++)
    {
      g_autoptr (CleaveGraph) graph = random_graph (seed, 30), copy = NULL;
      g_autofree char *before = NULL, *after = NULL;

      cleave_pass_remove_dead (graph, NULL, NULL, NULL);
      n_gaps += graph->n_ids > graph->n_nodes;
      copy = cleave_graph_copy (graph);
      ck_assert_uint_eq (copy->n_ids, copy->n_nodes);
      before = describe (graph);
      after = describe (copy);
      ck_assert_str_eq (before, after);
      ck_assert (cleave_graph_validate (graph, NULL));
    }
  ck_assert_uint_gt (n_gaps, 50);
}
END_TEST

START_TEST (indices_stay_proportional_to_the_number_of_nodes)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  CleaveResult *r = cleave_node_get_result (cleave_graph_find_node (graph, "r"), 0);

  for (guint i = 0; i < 1000; i++)
    {
      CleaveResult *dead = cleave_graph_add_unary (graph, "Relu", NULL, r, NULL, NULL);

      cleave_graph_remove (graph, cleave_result_get_node (dead));
      ck_assert_uint_le (graph->n_ids, 2 * graph->n_nodes + 1);
    }
  cleave_assert_dump (graph, printed);
}
END_TEST

/* To insert a node N before the readers of a value, a caller first lets all readers of the value,
 * also N, read the result of N. Until the caller sets the operand of N again, N reads its own
 * result. */
START_TEST (a_node_may_read_itself_during_an_edit)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_graph_add_input (graph, "x", &CLEAVE_TYPE (CLEAVE_FLOAT32, 2), NULL);
  CleaveNode *reader =
      cleave_graph_add (graph, cleave_op_lookup ("Neg"), "reader", &x, 1, 1, NULL, NULL);
  CleaveNode *between =
      cleave_graph_add (graph, cleave_op_lookup ("Abs"), "between", &x, 1, 1, NULL, NULL);
  g_autoptr (GError) error = NULL;

  cleave_result_replace_uses (x, cleave_node_get_result (between, 0));
  cleave_operand_set (cleave_node_get_operand (between, 0), x);
  ck_assert_msg (cleave_graph_validate (graph, &error), "%s", error == NULL ? "" : error->message);
  ck_assert (!cleave_node_is_fixed (reader));
}
END_TEST

START_TEST (a_referenced_node_outlives_its_removal_and_its_graph)
{
  CleaveGraph *graph = make_graph ();
  g_autoptr (CleaveNode) r = cleave_node_ref (cleave_graph_find_node (graph, "r"));
  g_autoptr (CleaveResult) value = cleave_result_ref (cleave_node_get_result (r, 0));
  g_autoptr (CleaveOperand) operand = cleave_operand_ref (cleave_node_get_operand (r, 0));
  g_autoptr (CleaveOperand) output = cleave_operand_ref (cleave_graph_get_output (graph, 0));
  g_autoptr (GError) error = NULL;

  cleave_result_replace_uses (value, cleave_graph_get_input (graph, 0));
  cleave_graph_remove (graph, r);
  cleave_graph_unref (graph);
  ck_assert_str_eq (cleave_node_get_name (r), "r");
  ck_assert_ptr_null (cleave_node_get_graph (r));
  ck_assert_ptr_null (cleave_node_get_next (r));
  ck_assert_ptr_null (cleave_operand_get_result (operand));
  ck_assert_ptr_eq (cleave_result_get_node (value), r);
  ck_assert_ptr_eq (
      cleave_node_get_graph (cleave_result_get_node (cleave_operand_get_result (output))), graph);
  ck_assert_ptr_null (cleave_split_node (r, NULL, NULL, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "'r' was removed from its graph");
}
END_TEST

START_TEST (an_empty_graph_is_a_graph)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);

  ck_assert (cleave_graph_validate (copy, NULL));
  cleave_assert_dump (copy, "");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "graph", a_node_may_read_itself_during_an_edit, a_graph_prints_its_nodes_and_outputs,
      uses_are_listed_in_insertion_order, replacing_uses_includes_outputs,
      a_copy_is_equal_and_independent, a_copy_keeps_names_and_order_of_a_rewired_graph,
      a_name_that_is_taken_gets_a_number, a_replacement_takes_over_the_name,
      wrong_nodes_are_errors_and_change_nothing, gaps_in_indices_change_nothing,
      indices_stay_proportional_to_the_number_of_nodes,
      a_referenced_node_outlives_its_removal_and_its_graph, an_empty_graph_is_a_graph, NULL);
}

CLEAVE_TEST_SUITE ("graph", add_tests)
