/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "../../lib/memory/cost.h"
#include "../../lib/memory/quantized-group.h"
#include "run-help.h"

static double
cost_of (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, &error);

  cleave_assert_no_error (error);
  return cleave_cost_of_shared (cleave_graph_find_node (graph, "y"));
}

/* As they are, and between a DequantizeLinear of each operand and a QuantizeLinear: but not where
 * one operand is one of floats. */
START_TEST (sums_of_bytes_take_less)
{
  static const char *const floats = "%x = Input : float32 64x256\n"
                                    "%w = Constant : float32 256x128\n"
                                    "%y = MatMul %x, %w\noutput %y\n";
  static const struct
  {
    const char *text;
    double times;
  } cases[] = {
    { "%x = Input : uint8 64x256\n%w = Constant : int8 256x128\n"
      "%y = MatMulInteger %x, %w\noutput %y\n",
      3 },
    { "%b = Input : uint8 64x256\n%c = Constant : int8 256x128\n%s = Constant : float32 scalar\n"
      "%x = DequantizeLinear %b, %s\n%w = DequantizeLinear %c, %s\n"
      "%y = MatMul %x, %w\noutput %y\n",
      3 },
    { "%x = Input : float32 64x256\n%c = Constant : int8 256x128\n%s = Constant : float32 scalar\n"
      "%w = DequantizeLinear %c, %s\n%y = MatMul %x, %w\noutput %y\n",
      1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    ck_assert_double_eq_tol (cost_of (floats) / cost_of (cases[i].text), cases[i].times, 1e-9);
}
END_TEST

/* What is read once for many steps is not. */
START_TEST (steps_of_few_rows_take_longer)
{
  static const char *const text = "%%x = Input : float32 20x%ux8\n"
                                  "%%w = Constant : float32 1x64x8\n"
                                  "%%r = Constant : float32 1x64x64\n"
                                  "%%y, %%h = RNN %%x, %%w, %%r\noutput %%y\n";
  double costs[4];

  for (guint i = 0; i < G_N_ELEMENTS (costs); i++)
    {
      g_autofree char *of_rows = g_strdup_printf (text, i + 1);

      costs[i] = cost_of (of_rows);
    }
  ck_assert_double_eq_tol (costs[1] / costs[0], (2.0 * 72 + 64) / (72 + 64), 1e-9);
  ck_assert_double_eq_tol (costs[3] / costs[1], (4.0 * 72 + 64) / (2.0 * 72 + 64), 1e-9);
}
END_TEST

/* Neither operand is a constant: they are made floats. */
START_TEST (activations_are_no_bytes)
{
  static const char *const text = "%b = Input : uint8 64x256\n%c = Input : int8 256x128\n"
                                  "%s = Constant : float32 scalar\n"
                                  "%x = DequantizeLinear %b, %s\n%w = DequantizeLinear %c, %s\n"
                                  "%y = MatMul %x, %w\noutput %y\n";

  ck_assert_double_eq_tol (cost_of (text), cleave_cost_of_macs (64 * 256 * 128), 1e-9);
}
END_TEST

/* The node that ends a group, as a step. */
static double
cost_of_group (const char *op, const char *attrs)
{
  g_autofree char *text = g_strdup_printf ("%%b = Input : uint8 64x512\n"
                                           "%%s = Constant : float32 scalar\n"
                                           "%%x = DequantizeLinear %%b, %%s\n"
                                           "%%z = %s %%x%s\n"
                                           "%%y = QuantizeLinear %%z, %%s\noutput %%y\n",
                                           op, attrs);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, &error), lowered = NULL;

  cleave_assert_no_error (error);
  lowered = cleave_group_quantized (graph);
  ck_assert (cleave_node_is_group (lowered->last));
  return cleave_cost_of_node (lowered->last) - CLEAVE_COST_OF_STEP;
}

/* Bytes take as long as floats where they are computed with, and twice that where they are made
 * floats first. */
START_TEST (groups_take_what_their_elements_take)
{
  double table = cost_of_group ("Relu", "");

  ck_assert_double_gt (table, 2 * cleave_cost_of_bytes (2 * 64 * 512));
  ck_assert_double_eq_tol (cost_of_group ("Softmax", " axis=1"), 2 * table, 1e-9);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "cost", sums_of_bytes_take_less, steps_of_few_rows_take_longer,
                   activations_are_no_bytes, groups_take_what_their_elements_take, NULL);
}

CLEAVE_TEST_SUITE ("cost", add_tests)
