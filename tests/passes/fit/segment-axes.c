/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests of axes: the dimensions that belong to one axis, and the order in which the search tries
 * axes. */

#include "../../../passes/fit/axes.h"

#include "test.h"

static CleaveGraph *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_graph_parse (text, NULL, &error);

  if (graph == NULL)
    ck_abort_msg ("%s\n%s", error->message, text);
  return graph;
}

/* Returns the index of the node with this name. */
static guint
find_node (const CleaveFitSteps *steps, const char *name)
{
  for (guint i = 0; i < steps->nodes->len; i++)
    if (g_str_equal (cleave_fit_node (steps, i)->node->name, name))
      return i;
  ck_abort_msg ("no node '%s'", name);
  return 0;
}

/* Returns the cut along a dimension of a node. */
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

/* The head of a detector. The channels of a pixel describe three boxes. A Reshape and a Transpose
 * make each box a row of a table. */
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

/* Both dimensions of the scores belong to the axis of tokens, so the search lists two cuts of the
 * scores on this axis. */
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

/* The search lists each dimension once: first the dimensions with a halo from the outermost
 * inwards, then the other dimensions from the second-last outwards, then the last dimension. */
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

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "axes", rows_are_followed_through_reshape_and_transpose,
                   a_value_may_have_an_axis_twice, axes_with_a_halo_come_first, NULL);
}

CLEAVE_TEST_SUITE ("fit-axes", add_tests)
