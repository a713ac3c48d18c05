/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The import of Loop: the iterations are unrolled, so their number must be constant. */

#include "test.h"

#include "models.h"

/* Makes a model with an input x of 2 floats, and a Loop that reads x and carries one value. */
static Model *
model_with_loop (const char *operands, const char *results)
{
  static const gint64 none[] = { 0 }, two[] = { 2 }, many[] = { 300000 };
  static const guint8 yes[] = { 1 }, no[] = { 0 };
  CleaveTensorType number = CLEAVE_TYPE (CLEAVE_INT64, 1), flag = CLEAVE_TYPE (CLEAVE_BOOL, 1);
  Model *model = model_new (16);

  model_add_input (model, "x", "2");
  model_add_initializer (model, "none", &number, none);
  model_add_initializer (model, "two", &number, two);
  model_add_initializer (model, "many", &number, many);
  model_add_initializer (model, "yes", &flag, yes);
  model_add_initializer (model, "no", &flag, no);
  model_add_node (model, "ArgMax", "argmax", "x", "computed");
  model_add_node (model, "Loop", "loop", operands, results);
  model_add_output (model, "y");
  return model;
}

/* Returns a body that reads the iteration number i, the condition c and the carried value s. The
 * arguments name its outputs. */
static Model *
body_new (const char *condition, const char *carried, const char *stacked)
{
  Model *body = model_new (16);

  model_add_input (body, "i", "");
  model_add_input (body, "c", "");
  model_add_input (body, "s", "2");
  model_add_output (body, condition);
  model_add_output (body, carried);
  if (stacked != NULL)
    model_add_output (body, stacked);
  return body;
}

/* Adds the body to the Loop, and takes ownership of the body. */
static void
add_body (Model *model, Model *body)
{
  node_add_graph (model->graph->node[1], "body", body);
}

#define HEAD                                                                                       \
  "%0 = Input : float32 2  # x\n"                                                                  \
  "%1 = ArgMax %0 : int64 1  # argmax\n"

START_TEST (iterations_are_unrolled)
{
  g_autoptr (Model) model = model_with_loop ("two yes x", "y");
  Model *body = body_new ("c", "t", NULL);

  model_add_node (body, "Relu", "n", "s", "r");
  model_add_node (body, "Add", "m", "r x", "t"); /* x is a value of the outer scope */
  add_body (model, body);
  model_assert_dump (model, HEAD "%2 = Relu %0 : float32 2  # n\n"
                                 "%3 = Add %2, %0 : float32 2  # m\n"
                                 "%4 = Relu %3 : float32 2  # n_1\n"
                                 "%5 = Add %4, %0 : float32 2  # m_1\n"
                                 "output %5  # y\n");
}
END_TEST

/* The iteration number is a constant, so the two iterations read the rows 0:1 and 1:2. */
START_TEST (the_iteration_number_is_constant)
{
  g_autoptr (Model) model = model_with_loop ("two - x", "last y");
  static const gint64 one[] = { 1 };
  CleaveTensorType number = CLEAVE_TYPE (CLEAVE_INT64, 1);
  Model *body = body_new ("c", "s", "row");

  model_add_initializer (body, "one", &number, one);
  model_add_node (body, "Mul", "begin", "i one", "begin");
  model_add_node (body, "Add", "end", "begin one", "end");
  model_add_node (body, "Slice", "slice", "s begin end", "row");
  add_body (model, body);
  model_assert_dump (model, HEAD "%2 = Slice %0 0:1 : float32 1  # slice\n"
                                 "%3 = Slice %0 1:2 : float32 1  # slice_1\n"
                                 "%4 = Identity %0 : float32 2  # loop\n"
                                 "%5 = Reshape %2 shape=1,1 : float32 1x1  # loop.iteration\n"
                                 "%6 = Reshape %3 shape=1,1 : float32 1x1  # loop.iteration_1\n"
                                 "%7 = Concat %5, %6 : float32 2x1  # loop.iterations\n"
                                 "output %7  # y\n");
}
END_TEST

/* A Loop without iterations has empty results. Their shape is declared in the body, or inferred. */
START_TEST (a_loop_without_iterations_gives_empty_results)
{
  static const char *const declared[] = { "2x3", "2xn", NULL };
  static const char *const expected[] = { "0x2x3", "0x2", "0x2" };

  for (guint i = 0; i < G_N_ELEMENTS (declared); i++)
    {
      g_autoptr (Model) model = model_with_loop ("none yes x", "last y");
      g_autofree char *dump = g_strconcat (HEAD "%2 = Identity %0 : float32 2  # loop\n"
                                                "%3 = Constant : float32 ",
                                           expected[i], "  # y\noutput %3  # y\n", NULL);
      Model *body = body_new ("c", "t", "z");

      model_add_node (body, "Neg", "n", "s", "t");
      model_add_node (body, "Add", "m", "t x", "z");
      if (declared[i] != NULL)
        model_declare_output (body, 2, declared[i]);
      add_body (model, body);
      model_assert_dump (model, dump);
    }
}
END_TEST

/* The condition that the body computes decides about further iterations. If the Loop has no first
 * iteration, that condition is not evaluated. */
START_TEST (a_computed_condition_counts_only_after_an_iteration)
{
  g_autoptr (Model) model = model_with_loop ("none yes x", "last y");
  Model *body = body_new ("again", "t", "t");

  model_add_node (body, "Neg", "n", "s", "t");
  model_add_node (body, "ReduceMax", "max", "t", "most");
  model_add_node (body, "Greater", "again", "most s", "again");
  add_body (model, body);
  model_assert_dump (model, HEAD "%2 = Identity %0 : float32 2  # loop\n"
                                 "%3 = Constant : float32 0x2  # y\n"
                                 "output %3  # y\n");
}
END_TEST

START_TEST (a_condition_ends_a_loop)
{
  g_autoptr (Model) first = model_with_loop ("two no x", "y"),
                    later = model_with_loop ("- yes x", "y");
  static const gint64 three[] = { 3 };
  const CleaveTensorType number = { .element = CLEAVE_INT64 };
  Model *body = body_new ("c", "t", NULL);

  model_add_node (body, "Neg", "n", "s", "t");
  add_body (first, body);
  model_assert_dump (first, HEAD "%2 = Identity %0 : float32 2  # loop\noutput %2  # y\n");

  body = body_new ("again", "t", NULL);
  model_add_initializer (body, "three", &number, three);
  model_add_node (body, "Neg", "n", "s", "t");
  model_add_node (body, "Sub", "rest", "three i", "rest");
  model_add_node (body, "Cast", "again", "rest", "all");
  node_add_int (body->graph->node[2], "to", 9);
  model_add_node (body, "Identity", "copy", "all", "again");
  add_body (later, body);
  model_assert_dump (later, HEAD "%2 = Neg %0 : float32 2  # n\n"
                                 "%3 = Neg %2 : float32 2  # n_1\n"
                                 "%4 = Neg %3 : float32 2  # n_2\n"
                                 "%5 = Neg %4 : float32 2  # n_3\n"
                                 "output %5  # y\n");
}
END_TEST

START_TEST (all_iterations_share_a_constant_of_the_body)
{
  g_autoptr (Model) model = model_with_loop ("two yes x", "y");
  CleaveTensorType pair = CLEAVE_TYPE (CLEAVE_FLOAT32, 2);
  Model *body = body_new ("c", "t", NULL);

  model_add_initializer (body, "w", &pair, NULL);
  model_add_node (body, "Add", "n", "s w", "t");
  add_body (model, body);
  model_assert_dump (model, HEAD "%2 = Constant : float32 2  # w\n"
                                 "%3 = Add %0, %2 : float32 2  # n\n"
                                 "%4 = Add %3, %2 : float32 2  # n_1\n"
                                 "output %4  # y\n");
}
END_TEST

START_TEST (loops_nest)
{
  g_autoptr (Model) model = model_with_loop ("two yes x", "y");
  Model *outer = body_new ("c", "t", NULL), *inner = body_new ("c2", "u", NULL);

  inner->graph->input[0]->name[0] = 'j';
  model_add_node (inner, "Neg", "n", "s", "u");
  model_add_node (inner, "Identity", "same", "c", "c2");
  node_add_graph (model_add_node (outer, "Loop", "inner", "two yes s", "t"), "body", inner);
  add_body (model, outer);
  model_assert_dump (model, HEAD "%2 = Neg %0 : float32 2  # n\n"
                                 "%3 = Neg %2 : float32 2  # n_1\n"
                                 "%4 = Neg %3 : float32 2  # n_2\n"
                                 "%5 = Neg %4 : float32 2  # n_3\n"
                                 "output %5  # y\n");
}
END_TEST

static void
assert_loop_error (const char *operands,
                   const char *results,
                   const char *condition,
                   const char *carried,
                   const char *message)
{
  g_autoptr (Model) model = model_with_loop (operands, results);
  Model *body = body_new (condition, carried, carried);

  model_add_node (body, "IsNaN", "isnan", "s", "computed");
  model_add_node (body, "Neg", "neg", "s", "t");
  add_body (model, body);
  model_assert_error (model, CLEAVE_ERROR_MODEL, message);
}

START_TEST (a_loop_is_checked)
{
  g_autoptr (Model) bare = model_with_loop ("two yes x", "y");

  model_assert_error (bare, CLEAVE_ERROR_MODEL, "Loop 'loop': it has no body");
  assert_loop_error ("two yes", "y", "c", "t", "Loop 'loop': its body has 3 inputs, not 2");
  assert_loop_error (
      "two yes x", "y z a", "c", "t",
      "Loop 'loop': it has 3 results, but its body has 3 outputs for 1 loop-carried values");
  assert_loop_error (
      "computed yes x", "y", "c", "t",
      "Loop 'loop': its number of iterations must be constant, since loops are unrolled; it "
      "depends on the input 'x', but must be constant: shapes are static (give its value)");
  assert_loop_error ("yes yes x", "y", "c", "t",
                     "Loop 'loop': its number of iterations must be one int64");
  assert_loop_error ("two two x", "y", "c", "t", "Loop 'loop': its condition must be one bool");
  assert_loop_error ("two yes x", "y", "computed", "t",
                     "Loop 'loop': its condition must be one bool");
  assert_loop_error ("two yes x", "y", "c", "q", "Loop 'loop': 'q' is not defined in its body");
  assert_loop_error ("two yes -", "y", "c", "t", "Loop 'loop': operand 2 is missing");
}
END_TEST

START_TEST (the_number_of_iterations_is_limited)
{
  assert_loop_error ("many yes x", "y", "c", "t",
                     "Loop 'loop': unrolling the model's loops makes more than 200000 nodes");
  assert_loop_error ("- - x", "y", "c", "t",
                     "Loop 'loop': unrolling the model's loops makes more than 200000 nodes");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "import-loop", iterations_are_unrolled, the_iteration_number_is_constant,
                   a_loop_without_iterations_gives_empty_results,
                   a_computed_condition_counts_only_after_an_iteration, a_condition_ends_a_loop,
                   all_iterations_share_a_constant_of_the_body, loops_nest, a_loop_is_checked,
                   the_number_of_iterations_is_limited, NULL);
}

CLEAVE_TEST_SUITE ("import-loop", add_tests)
