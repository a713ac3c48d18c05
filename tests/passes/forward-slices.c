/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Properties of the pass `forward-slices` that tests/passes/text cannot express: the bytes that a
 * slice shares, the nodes that are not replaced, and the cost. */

#include "graphs.h"
#include "test.h"

static CleaveResult *
slice (CleaveGraph *graph, const char *name, CleaveResult *x, CleaveRange range)
{
  g_autoptr (GError) error = NULL;
  CleaveResult *result = cleave_graph_add_slice_range (graph, name, x, &range, &error);

  cleave_assert_no_error (error);
  return result;
}

#define SLICE(name, x, ...) slice (graph, name, x, CLEAVE_RANGE (__VA_ARGS__))

static void
output (CleaveGraph *graph, CleaveResult *value)
{
  g_autofree char *name = g_strdup_printf ("out%u", cleave_graph_get_n_outputs (graph));

  ck_assert_ptr_nonnull (value);
  cleave_graph_add_output (graph, name, value, NULL);
}

/* An empty Slice of any form takes no memory, and the pass does not replace it. */
START_TEST (an_empty_slice_is_left_alone)
{
  static const gint64 steps[] = { 1, 2, -1, G_MAXINT64 };

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autoptr (GError) error = NULL;
      CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (4));

      CleaveSliceAttrs attrs = { .starts = CLEAVE_INTS (3),
                                 .ends = CLEAVE_INTS (3),
                                 .steps = CLEAVE_INTS (steps[i]) };
      gboolean changed = FALSE;

      output (graph, cleave_graph_add_slice (graph, "s", x, &attrs, &error));
      cleave_assert_no_error (error);
      ck_assert (cleave_pass_forward_slices (graph, NULL, &changed, NULL));
      ck_assert (!changed);
    }
}
END_TEST

/* Adds a value that depends only on constants. `kind` 0: a stored constant; 1: a QuantizeLinear of
 * a constant; 2: a Transpose of a constant; 3: a Relu of a constant. */
static CleaveResult *
add_fixed (CleaveGraph *graph, guint kind)
{
  CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (4, 3));
  CleaveResult *operands[] = { w, cleave_test_weights (graph, "scale", (CleaveShape){ 0 }) };
  CleaveTransposeAttrs transpose = { CLEAVE_INTS (1, 0) };

  switch (kind)
    {
    case 0:
      return w;
    case 1:
      return cleave_node_get_result (cleave_graph_add (graph, cleave_op_lookup ("QuantizeLinear"),
                                                       "q", operands, 2, 1, NULL, NULL),
                                     0);
    case 2:
      return cleave_node_get_result (cleave_graph_add (graph, cleave_op_lookup ("Transpose"), "t",
                                                       operands, 1, 1, &transpose, NULL),
                                     0);
    default:
      return cleave_node_get_result (
          cleave_graph_add (graph, cleave_op_lookup ("Relu"), "r", operands, 1, 1, NULL, NULL), 0);
    }
}

/* The first call of the pass replaces each Slice, also an empty Slice or a Slice with steps. A
 * second call changes nothing. If it changed the graph again, a clean-up would not end. */
START_TEST (a_slice_of_a_computed_constant_is_made_once)
{
  for (guint kind = 0; kind < 4; kind++)
    for (gint64 begin = 0; begin <= 3; begin++)
      for (gint64 end = begin; end <= 3; end++)
        for (gint64 step = 1; step <= 2; step++)
          {
            g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
            g_autoptr (GError) error = NULL;
            CleaveResult *x = add_fixed (graph, kind);
            CleaveSliceAttrs attrs = { .starts = CLEAVE_INTS (begin, 1),
                                       .ends = CLEAVE_INTS (end, 3),
                                       .steps = CLEAVE_INTS (step, 1) };
            gboolean changed = FALSE;

            output (graph, cleave_graph_add_slice (graph, "s", x, &attrs, &error));
            cleave_assert_no_error (error);
            ck_assert (cleave_pass_forward_slices (graph, NULL, NULL, NULL));
            ck_assert (cleave_pass_remove_dead (graph, NULL, NULL, NULL));
            ck_assert (cleave_pass_forward_slices (graph, NULL, &changed, NULL));
            ck_assert_msg (!changed, "kind %u, %d:%d:%d", kind, (int) begin, (int) end, (int) step);
          }
}
END_TEST

START_TEST (a_slice_of_a_constant_shares_its_bytes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (6));
  CleaveTensor *whole = cleave_node_get_constant (cleave_result_get_node (w));
  CleaveTensor *part;
  CleaveRange range;

  output (graph, w);
  output (graph, SLICE ("a", w, 2, 4));
  ck_assert (cleave_pass_forward_slices (graph, NULL, NULL, NULL));
  ck_assert (cleave_pass_remove_dead (graph, NULL, NULL, NULL));
  part = cleave_node_get_constant (cleave_graph_find_node (graph, "a"));
  ck_assert_ptr_eq (cleave_tensor_get_base (part, &range), whole);
  ck_assert_int_eq (range.dim[0].begin, 2);
}
END_TEST

/* Joins of joins, nested 3,000 deep, or 500 with a sanitizer: the clean-up must not recurse along
 * them. */
START_TEST (joins_of_joins_cost_no_stack)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = cleave_test_input (graph, "x", CLEAVE_SHAPE (2));
  CleaveResult *z = cleave_test_input (graph, "z", CLEAVE_SHAPE (1));
  const gint64 n = CLEAVE_SANITIZED ? 500 : 3000;

  for (gint64 i = 0; i < n; i++)
    {
      CleaveResult *parts[] = { y, z };

      y = cleave_graph_add_concat (graph, NULL, parts, 2, 0, NULL);
    }
  output (graph, SLICE ("a", y, 1, n));
  ck_assert (cleave_clean_up (graph, NULL, NULL));
  ck_assert_uint_eq (cleave_count_nodes (graph, "Concat"), 1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "views", an_empty_slice_is_left_alone,
                   a_slice_of_a_computed_constant_is_made_once,
                   a_slice_of_a_constant_shares_its_bytes, joins_of_joins_cost_no_stack, NULL);
}

CLEAVE_TEST_SUITE ("forward-slices", add_tests)
