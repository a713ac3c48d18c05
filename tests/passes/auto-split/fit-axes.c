/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Which dimensions belong together, and that a fitted graph is cut along any of them. */

#include "../../../passes/auto-split/fit-axes.h"

#include <cleave/cleave-fit.h>

#include "interpret.h"
#include "run-help.h"

static CleaveGraph *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_graph_parse (text, NULL, &error);

  if (graph == NULL)
    ck_abort_msg ("%s\n%s", error->message, text);
  return graph;
}

/* The node of the steps with a name. */
static guint
find_node (const CleaveFitSteps *steps, const char *name)
{
  for (guint i = 0; i < steps->nodes->len; i++)
    if (g_str_equal (cleave_fit_node (steps, i)->node->name, name))
      return i;
  ck_abort_msg ("no node '%s'", name);
  return 0;
}

/* The cut through a dimension of a node. */
static CleaveFitCut
find_cut (const CleaveFitSteps *steps, const char *name, gint dim)
{
  CleaveFitCut cuts[CLEAVE_MAX_RANK];
  const guint node = find_node (steps, name), n = cleave_fit_axes_list_cuts (steps, node, cuts);

  for (guint i = 0; i < n; i++)
    if (cleave_fit_axes_find_dim (steps, node, cuts[i]) == dim)
      return cuts[i];
  ck_abort_msg ("'%s' has no cut through dimension %d", name, dim);
  return 0;
}

static gint
find_dim (const CleaveFitSteps *steps, const char *name, CleaveFitCut cut)
{
  return cleave_fit_axes_find_dim (steps, find_node (steps, name), cut);
}

/* The head of a detector: boxes side by side as channels become rows of a table. */
#define HEAD                                                                                       \
  "graph head\n%x = Input : float32 1x8x20x24\n%w = Constant seed=1 : float32 30x8x1x1\n"          \
  "%c = Conv %x, %w\n%r = Reshape %c shape=1,3,10,20,24\n%t = Transpose %r perm=0,1,3,4,2\n"       \
  "%s = Sigmoid %t\n%b = Reshape %s shape=1,1440,10\n"                                             \
  "%o = Input : float32 1x60x10\n%y = Concat %b, %o axis=1\noutput %y\n"

START_TEST (rows_are_followed_through_reshape_and_transpose)
{
  g_autoptr (CleaveGraph) graph = parse (HEAD);
  g_auto (CleaveFitSteps) steps = { 0 };
  CleaveFitCut rows, columns;

  ck_assert (cleave_fit_steps_init (&steps, graph, NULL));
  rows = find_cut (&steps, "s", 2);
  columns = find_cut (&steps, "s", 3);
  ck_assert_uint_ne (rows, columns);
  ck_assert_int_eq (find_dim (&steps, "c", rows), 2);
  ck_assert_int_eq (find_dim (&steps, "r", rows), 3);
  ck_assert_int_eq (find_dim (&steps, "c", columns), 3);
  ck_assert_int_eq (find_dim (&steps, "r", columns), 4);
}
END_TEST

/* Rows of queries and of keys are tokens both: a cut says which of them. */
START_TEST (a_value_may_have_an_axis_twice)
{
  g_autoptr (CleaveGraph) graph =
      parse ("graph scores\n%x = Input : float32 6x16\n%w = Constant seed=1 : float32 16x16\n"
             "%h = Relu %x\n%q = MatMul %h, %w\n%k = Transpose %h perm=1,0\n%s = MatMul %q, "
             "%k\noutput %s\n");
  g_auto (CleaveFitSteps) steps = { 0 };
  CleaveFitCut rows, columns;

  ck_assert (cleave_fit_steps_init (&steps, graph, NULL));
  rows = find_cut (&steps, "s", 0);
  columns = find_cut (&steps, "s", 1);
  ck_assert_uint_ne (rows, columns);
  ck_assert_uint_eq (rows / CLEAVE_MAX_RANK, columns / CLEAVE_MAX_RANK);
  ck_assert_int_eq (find_dim (&steps, "q", rows), 0);
}
END_TEST

/* Each once: those with a halo from the outermost inwards, then the others, the last one last. */
START_TEST (axes_with_a_halo_come_first)
{
  static const gint want[] = { 2, 3, 1, 0 };
  g_autoptr (CleaveGraph) graph =
      parse ("graph image\n%x = Input : float32 2x4x6x8\n%w = Constant seed=1 : float32 5x4x3x3\n"
             "%y = Conv %x, %w pads=1,1,1,1\noutput %y\n");
  g_auto (CleaveFitSteps) steps = { 0 };
  CleaveFitCut cuts[CLEAVE_MAX_RANK];

  ck_assert (cleave_fit_steps_init (&steps, graph, NULL));
  ck_assert_uint_eq (cleave_fit_axes_list_cuts (&steps, 0, cuts), G_N_ELEMENTS (want));
  for (guint i = 0; i < G_N_ELEMENTS (want); i++)
    {
      ck_assert_int_eq (cleave_fit_axes_find_dim (&steps, 0, cuts[i]), want[i]);
      ck_assert_int_eq (cleave_fit_axes_has_halo (&steps, cuts[i]), i < 2);
    }
}
END_TEST

/* Four dilated convolutions over time, of a value with these dimensions. */
static CleaveGraph *
make_dilated (const CleaveShape *shape)
{
  CleaveGraph *graph = cleave_graph_new ("dilated");
  CleaveResult *x = run_input (graph, shape);
  const guint n_axes = shape->rank - 2;

  for (guint i = 0; i < 4; i++)
    {
      const gint64 dilation = (gint64) 1 << i, n_out = i == 3 ? shape->dim[1] : 24;
      CleaveShape w = *shape;
      CleaveConvAttrs attrs = { 0 };
      g_autoptr (GError) error = NULL;

      w.dim[0] = n_out;
      w.dim[1] = cleave_result_get_type (x)->shape.dim[1];
      attrs.pads.n = 2 * n_axes;
      attrs.dilations.n = n_axes;
      for (guint d = 0; d < n_axes; d++)
        {
          const gboolean is_long = shape->dim[d + 2] > 1;

          w.dim[d + 2] = is_long ? 3 : 1;
          attrs.dilations.v[d] = is_long ? dilation : 1;
          attrs.pads.v[d] = is_long ? 2 * dilation : 0;
        }
      x = cleave_graph_add_conv (graph, NULL, x, run_constant (graph, &w, i + 1), NULL, &attrs,
                                 &error);
      cleave_assert_no_error (error);
    }
  run_output (graph, x);
  return graph;
}

/* Wherever it stands among the dimensions. */
START_TEST (time_is_cut_wherever_it_stands)
{
  const CleaveShape shapes[] = { CLEAVE_SHAPE (1, 2, 600), CLEAVE_SHAPE (1, 2, 1, 600),
                                 CLEAVE_SHAPE (1, 2, 600, 1), CLEAVE_SHAPE (1, 2, 1, 1, 600),
                                 CLEAVE_SHAPE (3, 2, 600) };
  g_autoptr (CleaveGraph) graph = make_dilated (&shapes[_i]), fitted = cleave_graph_copy (graph);
  const CleaveFitOptions options = { .max_added_macs = 0.05 };
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (CleaveFitPlan) plan = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) inputs = NULL, whole = NULL, pieces = NULL;
  const CleaveFitTotals *totals;

  plan = cleave_fit_plan_new (graph, &options, &error);
  cleave_assert_no_error (error);
  totals = cleave_fit_plan_get_totals (plan);
  ck_assert_int_le (totals->arena_after, totals->arena_before / 3);
  report = cleave_fit_plan_apply (plan, fitted, &error);
  cleave_assert_no_error (error);
  inputs = run_random_inputs (graph, 1);
  whole = cleave_interpret (graph, (CleaveTensor *const *) inputs->pdata);
  pieces = run_graph (fitted, inputs, 1);
  ck_assert (cleave_tensor_equal (whole->pdata[0], pieces->pdata[0]));
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *time = tcase_create ("time");

  cleave_add_case (suite, "axes", rows_are_followed_through_reshape_and_transpose,
                   a_value_may_have_an_axis_twice, axes_with_a_halo_come_first, NULL);
  tcase_add_loop_test (time, time_is_cut_wherever_it_stands, 0, 5);
  suite_add_tcase (suite, time);
}

CLEAVE_TEST_SUITE ("fit-axes", add_tests)
