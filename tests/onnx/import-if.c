/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The import of If: a constant condition leaves one branch. A computed condition leaves both
 * branches, and a Where for each result. */

#include "test.h"

#include "models.h"

/* Makes a model with an input x of 2 floats and an If. `condition` is the name of a constant or of
 * a computed value. */
static Model *
model_with_if (const char *condition, const char *results)
{
  static const guint8 yes[] = { 1 }, no[] = { 0 };
  CleaveTensorType flag = CLEAVE_TYPE (CLEAVE_BOOL, 1);
  Model *model = model_new (16);

  model_add_input (model, "x", "2");
  model_add_input (model, "one", "1");
  model_add_initializer (model, "yes", &flag, yes);
  model_add_initializer (model, "no", &flag, no);
  model_add_node (model, "IsNaN", "isnan", "one", "computed");
  model_add_node (model, "If", "if", condition, results);
  model_add_output (model, "y");
  return model;
}

/* Returns a branch with one node, as a model. */
static Model *
branch_of (const char *op, const char *operands, const char *result, const char *output)
{
  Model *branch = model_new (16);

  if (op != NULL)
    model_add_node (branch, op, "n", operands, result);
  model_add_output (branch, output);
  return branch;
}

static Onnx__NodeProto *
if_of (Model *model)
{
  return model->graph->node[1];
}

static void
add_branches (Model *model, Model *one, Model *other)
{
  node_add_graph (if_of (model), "then_branch", one);
  node_add_graph (if_of (model), "else_branch", other);
}

#define HEAD                                                                                       \
  "%0 = Input : float32 2  # x\n"                                                                  \
  "%1 = Input : float32 1  # one\n"                                                                \
  "%2 = IsNaN %1 : bool 1  # isnan\n"

START_TEST (a_branch_may_read_the_result_of_a_later_node)
{
  g_autoptr (Model) model = model_with_if ("yes", "y");

  add_branches (model, branch_of ("Relu", "later", "r", "r"),
                branch_of (NULL, NULL, NULL, "later"));
  model_add_node (model, "Neg", "neg", "x", "later");
  model_assert_dump (model, HEAD "%3 = Neg %0 : float32 2  # neg\n"
                                 "%4 = Relu %3 : float32 2  # n\noutput %4  # y\n");
}
END_TEST

START_TEST (a_constant_condition_leaves_one_branch)
{
  static const char *const conditions[] = { "yes", "no" };
  static const char *const dumps[] = { HEAD "%3 = Relu %0 : float32 2  # n\noutput %3  # y\n",
                                       HEAD "%3 = Neg %0 : float32 2  # n\noutput %3  # y\n" };

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (Model) model = model_with_if (conditions[i], "y");

      add_branches (model, branch_of ("Relu", "x", "r", "r"), branch_of ("Neg", "x", "r", "r"));
      model_assert_dump (model, dumps[i]);
    }
}
END_TEST

/* With a computed condition, both branches become part of the graph. The two branches contain
 * values of the same names. */
START_TEST (a_computed_condition_chooses_between_both)
{
  g_autoptr (Model) model = model_with_if ("computed", "y");

  add_branches (model, branch_of ("Relu", "x", "r", "r"), branch_of ("Neg", "x", "r", "r"));
  model_assert_dump (model, HEAD "%3 = Relu %0 : float32 2  # n\n"
                                 "%4 = Neg %0 : float32 2  # n_1\n"
                                 "%5 = Where %2, %3, %4 : float32 2  # if\n"
                                 "output %5  # y\n");
}
END_TEST

/* A condition with one element and one dimension becomes a scalar, since a condition of shape [1]
 * would add a dimension to the result of the Where. */
START_TEST (a_condition_with_dimensions_becomes_a_scalar)
{
  g_autoptr (Model) model = model_with_if ("computed", "y");

  add_branches (model, branch_of ("Squeeze", "one", "r", "r"),
                branch_of ("Squeeze", "one", "r", "r"));
  model_assert_dump (model, HEAD "%3 = Squeeze %1 axes=0 : float32 scalar  # n\n"
                                 "%4 = Squeeze %1 axes=0 : float32 scalar  # n_1\n"
                                 "%5 = Reshape %2 : bool scalar  # if.condition\n"
                                 "%6 = Where %5, %3, %4 : float32 scalar  # if\n"
                                 "output %6  # y\n");
}
END_TEST

START_TEST (branches_of_a_computed_condition_must_agree)
{
  g_autoptr (Model) model = model_with_if ("computed", "y");

  add_branches (model, branch_of ("Relu", "x", "r", "r"), branch_of ("Neg", "one", "r", "r"));
  model_assert_error (model, CLEAVE_ERROR_MODEL,
                      "If 'if': its condition is computed, and its branches give float32 2 and "
                      "float32 1: types are static, so they must be the same");
}
END_TEST

/* A branch whose output is an input of the graph: the input keeps its name. */
START_TEST (a_branch_may_pass_on_an_outer_value)
{
  g_autoptr (Model) model = model_with_if ("yes", "y");

  add_branches (model, branch_of (NULL, NULL, NULL, "x"), branch_of ("Neg", "x", "r", "r"));
  model_assert_dump (model, HEAD "%3 = Identity %0 : float32 2  # if\noutput %3  # y\n");
}
END_TEST

/* A branch of the outer If contains the inner If. The branches of the inner If read `x`, a value of
 * the graph, and `a`, a value of the outer branch. A branch of the inner If may also name its own
 * result `a`. */
START_TEST (branches_nest)
{
  g_autoptr (Model) model = model_with_if ("yes", "y");
  Model *middle = model_new (16);
  Onnx__NodeProto *inner;

  model_add_node (middle, "Abs", "abs", "x", "a");
  inner = model_add_node (middle, "If", "inner", "no", "m");
  node_add_graph (inner, "then_branch", branch_of ("Relu", "x", "a", "a"));
  node_add_graph (inner, "else_branch", branch_of ("Add", "a x", "b", "b"));
  model_add_output (middle, "m");
  add_branches (model, middle, branch_of ("Neg", "x", "r", "r"));
  model_assert_dump (model, HEAD "%3 = Abs %0 : float32 2  # abs\n"
                                 "%4 = Add %3, %0 : float32 2  # n\n"
                                 "output %4  # y\n");
}
END_TEST

START_TEST (results_of_a_branch_are_local)
{
  g_autoptr (Model) model = model_with_if ("yes", "y");

  add_branches (model, branch_of ("Relu", "x", "r", "r"), branch_of ("Neg", "x", "r", "r"));
  model_add_node (model, "Neg", "after", "r", "z");
  model_assert_error (model, CLEAVE_ERROR_MODEL, "Neg 'after': its operand 'r' is not defined");
}
END_TEST

START_TEST (an_if_is_checked)
{
  g_autoptr (Model) bare = model_with_if ("yes", "y"), number = model_with_if ("x", "y"),
                    nothing = model_with_if ("yes", "y"), loop = model_with_if ("yes", "y");

  model_assert_error (bare, CLEAVE_ERROR_MODEL, "If 'if': it has no then_branch or no else_branch");
  model_assert_error (number, CLEAVE_ERROR_MODEL, "If 'if': its condition must be one bool");
  add_branches (nothing, branch_of (NULL, NULL, NULL, "r"), branch_of ("Neg", "x", "r", "r"));
  model_assert_error (nothing, CLEAVE_ERROR_MODEL,
                      "If 'if': 'r' is not defined in its inner graph");
  add_branches (loop, branch_of ("SequenceAt", "x", "r", "r"), branch_of ("Neg", "x", "r", "r"));
  model_assert_error (loop, CLEAVE_ERROR_MODEL,
                      "SequenceAt 'n': its first operand must be a sequence");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "import-if", a_constant_condition_leaves_one_branch,
                   a_branch_may_read_the_result_of_a_later_node,
                   a_computed_condition_chooses_between_both,
                   a_condition_with_dimensions_becomes_a_scalar,
                   branches_of_a_computed_condition_must_agree, a_branch_may_pass_on_an_outer_value,
                   branches_nest, results_of_a_branch_are_local, an_if_is_checked, NULL);
}

CLEAVE_TEST_SUITE ("import-if", add_tests)
