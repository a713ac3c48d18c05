/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the import of operators that opset 18 changed: reductions (axes as an operand), Split
 * (num_outputs) and Pad (axes). */

#include "test.h"

#include "models.h"

static Model *
model_of (gint64 opset, const char *op, const char *operands, const char *results)
{
  Model *model = model_new (opset);
  CleaveInts axes = CLEAVE_INTS (1);

  model_add_input (model, "x", "2x5");
  model_add_ints (model, "axes", &axes);
  model_add_node (model, op, "n", operands, results);
  model_add_output (model, "y");
  return model;
}

START_TEST (reductions_18_have_axes_as_an_operand)
{
  g_autoptr (Model) some = model_of (18, "ReduceMax", "x axes", "y"),
                    all = model_of (18, "ReduceMax", "x", "y"),
                    none = model_of (18, "ReduceMax", "x", "y"),
                    computed = model_of (18, "ReduceMax", "x x", "y");

  model_assert_dump (some, "%0 = Input : float32 2x5  # x\n"
                           "%1 = ReduceMax %0 axes=1 : float32 2x1  # n\n"
                           "output %1  # y\n");
  model_assert_dump (all, "%0 = Input : float32 2x5  # x\n"
                          "%1 = ReduceMax %0 : float32 1x1  # n\n"
                          "output %1  # y\n");
  node_add_int (none->graph->node[0], "noop_with_empty_axes", 1);
  model_assert_dump (none, "%0 = Input : float32 2x5  # x\n"
                           "%1 = Identity %0 : float32 2x5  # n\n"
                           "output %1  # y\n");
  model_assert_error (
      computed, CLEAVE_ERROR_MODEL,
      "ReduceMax 'n': axes is the input 'x', but must be constant: shapes are static "
      "(give its value)");
}
END_TEST

START_TEST (reductions_17_do_not)
{
  g_autoptr (Model) model = model_of (17, "ReduceMax", "x axes", "y");

  model_assert_error (model, CLEAVE_ERROR_OPTION, "ReduceMax 'n': takes 1 operands, not 2");
}
END_TEST

START_TEST (split_18_has_a_number_of_outputs)
{
  g_autoptr (Model) model = model_of (18, "Split", "x", "y z"),
                    both = model_of (18, "Split", "x axes", "y z"),
                    old = model_of (17, "Split", "x", "y z"),
                    many = model_of (18, "Split", "x", "y");

  node_add_int (model->graph->node[0], "num_outputs", 2);
  node_add_int (model->graph->node[0], "axis", -1);
  model_assert_dump (model, "%0 = Input : float32 2x5  # x\n"
                            "%1, %2 = Split %0 axis=1 split=3,2 : float32 2x3, float32 2x2  # n\n"
                            "output %1  # y\n");
  node_add_int (both->graph->node[0], "num_outputs", 2);
  model_assert_error (both, CLEAVE_ERROR_MODEL, "Split 'n': it has both split and num_outputs");
  node_add_int (old->graph->node[0], "num_outputs", 2);
  model_assert_error (old, CLEAVE_ERROR_MODEL,
                      "Split 'n': attribute 'num_outputs' is not known in opset 17");
  node_add_int (many->graph->node[0], "num_outputs", 2);
  model_assert_error (many, CLEAVE_ERROR_ATTRIBUTE,
                      "Split 'n': ONNX Split: num_outputs is 2 for 1 outputs");
}
END_TEST

/* An operand that is computed from constants alone is treated as a constant. The test has such an
 * operand: the axes of a Pad. */
START_TEST (operands_that_constants_alone_make_are_constant)
{
  g_autoptr (Model) model = model_new (18);
  CleaveInts pads = CLEAVE_INTS (1, 0);
  const guint8 stored = 1;
  const float scale = 1;

  model_add_input (model, "x", "2x3");
  model_add_ints (model, "pads", &pads);
  model_add_initializer (model, "stored", &CLEAVE_TYPE (CLEAVE_UINT8, 1), &stored);
  model_add_initializer (model, "scale", &CLEAVE_SCALAR (CLEAVE_FLOAT32), &scale);
  model_add_node (model, "DequantizeLinear", "d", "stored scale", "real");
  node_add_int (model_add_node (model, "Cast", "c", "real", "axis"), "to", 7);
  model_add_node (model, "Pad", "n", "x pads - axis", "y");
  model_add_output (model, "y");
  model_assert_dump (model, "%0 = Input : float32 2x3  # x\n"
                            "%1 = Constant : uint8 1  # stored\n"
                            "%2 = Constant : float32 scalar  # scale\n"
                            "%3 = Pad %0 pads=0,1,0,0 : float32 2x4  # n\n"
                            "output %3  # y\n");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "upgrade-later", reductions_18_have_axes_as_an_operand,
                   reductions_17_do_not, split_18_has_a_number_of_outputs,
                   operands_that_constants_alone_make_are_constant, NULL);
}

CLEAVE_TEST_SUITE ("upgrade-later", add_tests)
