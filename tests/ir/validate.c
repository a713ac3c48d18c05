/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A test for each invariant of a graph: the test violates the invariant, and the validation must
 * report the violation. */

#include "test.h"

#include "../../lib/ir/graph-private.h"

/* The graph is a chain of an input x of 1x4, a Relu `a`, a Relu b and an output. An Assemble
 * `whole` joins a half of `a` and a half of b. */
static CleaveGraph *graph;
static CleaveNode *a, *b, *whole;

static void
setup (void)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 4);
  CleaveRange ranges[] = { CLEAVE_RANGE (0, 1, 0, 4), CLEAVE_RANGE (1, 2, 0, 4) };
  CleaveResult *parts[2];

  graph = cleave_graph_new (NULL);
  parts[0] = cleave_graph_add_unary (graph, "Relu", "a",
                                     cleave_graph_add_input (graph, "x", &type, NULL), NULL, NULL);
  parts[1] = cleave_graph_add_unary (graph, "Relu", "b", parts[0], NULL, NULL);
  a = parts[0]->node;
  b = parts[1]->node;
  whole = cleave_graph_add_assemble (graph, "whole", parts, ranges, 2, NULL)->node;
  cleave_graph_add_output (graph, "y", &whole->results[0], NULL);
}

static void
teardown (void)
{
  cleave_graph_unref (graph);
}

static void
assert_broken (CleaveError code, const char *message)
{
  g_autoptr (GError) error = NULL;

  ck_assert (!cleave_graph_validate (graph, &error));
  cleave_assert_error (&error, code, message);
}

START_TEST (a_valid_graph_passes)
{
  g_autoptr (GError) error = NULL;

  cleave_graph_validate (graph, &error);
  cleave_assert_no_error (error);
}
END_TEST

START_TEST (an_operand_knows_its_node)
{
  b->operands[0].node = a;
  assert_broken (CLEAVE_ERROR_MODEL, "Relu 'b': operand 0 does not know its node");
  b->operands[0].node = b;
}
END_TEST

START_TEST (an_operand_knows_its_index)
{
  whole->operands[1].index = 0;
  assert_broken (CLEAVE_ERROR_MODEL, "Assemble 'whole': operand 1 does not know its node");
  whole->operands[1].index = 1;
}
END_TEST

START_TEST (a_required_operand_is_there)
{
  cleave_operand_detach (&b->operands[0]);
  assert_broken (CLEAVE_ERROR_MODEL, "Relu 'b': the operand X is missing");
}
END_TEST

START_TEST (an_operand_is_listed_among_the_uses)
{
  CleaveResult *wrong = b->operands[0].result;

  b->operands[0].result = &graph->first->results[0];
  assert_broken (CLEAVE_ERROR_MODEL, "Relu 'a': the uses of result 0 are not linked");
  b->operands[0].result = wrong;
}
END_TEST

START_TEST (an_operand_is_listed_at_all)
{
  CleaveResult *result = b->operands[0].result;

  cleave_operand_detach (&b->operands[0]);
  b->operands[0].result = result;
  assert_broken (CLEAVE_ERROR_MODEL, "5 operands read results, but 4 are listed as uses");
  b->operands[0].result = NULL;
}
END_TEST

START_TEST (uses_are_counted)
{
  a->results[0].n_uses++;
  assert_broken (CLEAVE_ERROR_MODEL, "Relu 'a': result 0 has 2 uses, not 3");
  a->results[0].n_uses--;
}
END_TEST

START_TEST (a_result_knows_its_node)
{
  a->results[0].index = 3;
  assert_broken (CLEAVE_ERROR_MODEL, "Relu 'a': result 0 does not know its node");
  a->results[0].index = 0;
}
END_TEST

START_TEST (operand_and_result_are_in_one_graph)
{
  g_autoptr (CleaveGraph) other = cleave_graph_new (NULL);

  a->graph = other;
  assert_broken (CLEAVE_ERROR_MODEL, "Relu 'a': the list of nodes is not linked");
  a->graph = graph;
}
END_TEST

START_TEST (attributes_are_in_their_normal_form)
{
  CleaveAssembleAttrs *attrs = whole->attrs;

  g_array_index (attrs->ranges, CleaveRange, 1).dim[0] = (CleaveSpan){ 2, 3 };
  assert_broken (CLEAVE_ERROR_SHAPE, "Assemble 'whole': no part covers 1:2,0:4");
  g_array_index (attrs->ranges, CleaveRange, 1).dim[0] = (CleaveSpan){ 1, 2 };
}
END_TEST

START_TEST (stored_types_are_the_inferred_ones)
{
  b->results[0].type.element = CLEAVE_FLOAT64;
  assert_broken (CLEAVE_ERROR_MODEL,
                 "Relu 'b': result 0 is stored as float64 1x4, but inferred as float32 1x4");
}
END_TEST

START_TEST (there_is_no_cycle)
{
  cleave_operand_set (&a->operands[0], &b->results[0]);
  assert_broken (CLEAVE_ERROR_CYCLE, "cycle: 'a' → 'b' → 'a'");
}
END_TEST

START_TEST (names_are_unique)
{
  g_hash_table_replace (graph->nodes, a->name, b);
  assert_broken (CLEAVE_ERROR_MODEL, "Relu 'a': the name leads to another node");
}
END_TEST

START_TEST (names_of_values_are_unique)
{
  cleave_result_set_name (&a->results[0], "value");
  g_hash_table_replace (graph->values, a->results[0].name, &b->results[0]);
  assert_broken (CLEAVE_ERROR_MODEL, "Relu 'a': the name of result 0 leads to another value");
}
END_TEST

START_TEST (indices_are_in_insertion_order)
{
  guint id = b->id;

  b->id = a->id;
  assert_broken (CLEAVE_ERROR_MODEL, "Relu 'b': the index 1 is out of order");
  b->id = graph->n_ids;
  assert_broken (CLEAVE_ERROR_MODEL, "Relu 'b': the index 4 is out of order");
  b->id = id;
}
END_TEST

START_TEST (nodes_are_counted)
{
  graph->n_nodes++;
  assert_broken (CLEAVE_ERROR_MODEL, "there are 4 nodes, not 5");
}
END_TEST

START_TEST (an_output_has_a_value)
{
  CleaveOperand *output = cleave_graph_get_output (graph, 0);

  cleave_operand_detach (output);
  assert_broken (CLEAVE_ERROR_MODEL, "output 'y' has no value of this graph");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = tcase_create ("invariants");

  tcase_add_checked_fixture (tcase, setup, teardown);
  tcase_add_test (tcase, a_valid_graph_passes);
  tcase_add_test (tcase, an_operand_knows_its_node);
  tcase_add_test (tcase, an_operand_knows_its_index);
  tcase_add_test (tcase, a_required_operand_is_there);
  tcase_add_test (tcase, an_operand_is_listed_among_the_uses);
  tcase_add_test (tcase, an_operand_is_listed_at_all);
  tcase_add_test (tcase, uses_are_counted);
  tcase_add_test (tcase, a_result_knows_its_node);
  tcase_add_test (tcase, operand_and_result_are_in_one_graph);
  tcase_add_test (tcase, attributes_are_in_their_normal_form);
  tcase_add_test (tcase, stored_types_are_the_inferred_ones);
  tcase_add_test (tcase, there_is_no_cycle);
  tcase_add_test (tcase, names_are_unique);
  tcase_add_test (tcase, names_of_values_are_unique);
  tcase_add_test (tcase, nodes_are_counted);
  tcase_add_test (tcase, indices_are_in_insertion_order);
  tcase_add_test (tcase, an_output_has_a_value);
  suite_add_tcase (suite, tcase);
}

CLEAVE_TEST_SUITE ("validate", add_tests)
