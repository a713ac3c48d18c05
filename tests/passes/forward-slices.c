/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "graphs.h"
#include "test.h"

/* Slices of joins, of Splits and of Slices: before and after. */

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

/* Runs the pass, drops what is left over, expects this; a second run changes nothing. */
static void
check (CleaveGraph *graph, const char *expected)
{
  static const CleavePass passes[] = { { "forward-slices", cleave_pass_forward_slices, NULL },
                                       { "remove-dead", cleave_pass_remove_dead, NULL } };
  gboolean changed = FALSE;

  ck_assert (cleave_passes_run (graph, passes, 2, NULL, NULL));
  cleave_assert_dump (graph, expected);
  ck_assert (cleave_passes_run (graph, passes, 2, &changed, NULL));
  ck_assert (!changed);
}

/* x and y are 2 and 4 rows of 3. */
typedef struct
{
  CleaveResult *x, *y, *joined;
} Join;

static Join
add_concat (CleaveGraph *graph)
{
  Join join = { cleave_test_input (graph, "x", CLEAVE_SHAPE (2, 3)),
                cleave_test_input (graph, "y", CLEAVE_SHAPE (4, 3)), NULL };
  CleaveResult *parts[] = { join.x, join.y };

  join.joined = cleave_graph_add_concat (graph, "concat", parts, 2, 0, NULL);
  return join;
}

static Join
add_assemble (CleaveGraph *graph)
{
  Join join = { cleave_test_input (graph, "x", CLEAVE_SHAPE (2, 3)),
                cleave_test_input (graph, "y", CLEAVE_SHAPE (4, 3)), NULL };
  CleaveResult *parts[] = { join.x, join.y };
  const CleaveRange ranges[] = { CLEAVE_RANGE (0, 2, 0, 3), CLEAVE_RANGE (2, 6, 0, 3) };

  join.joined = cleave_graph_add_assemble (graph, "assemble", parts, ranges, 2, NULL);
  return join;
}

START_TEST (a_part_is_read_itself)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  Join join = add_assemble (graph);

  output (graph, SLICE ("a", join.joined, 0, 2, 0, 3));
  output (graph, SLICE ("b", join.joined, 2, 6, 0, 3));
  check (graph, "%0 = Input : float32 2x3  # x\n"
                "%1 = Input : float32 4x3  # y\n"
                "output %0  # out0\n"
                "output %1  # out1\n");
}
END_TEST

START_TEST (less_than_a_part_is_a_slice_of_it)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  Join join = add_assemble (graph);

  output (graph, SLICE ("a", join.joined, 3, 5, 1, 2));
  check (graph, "%0 = Input : float32 2x3  # x\n"
                "%1 = Input : float32 4x3  # y\n"
                "%2 = Slice %1 1:3,1:2 : float32 2x1  # a\n"
                "output %2  # out0\n");
}
END_TEST

START_TEST (several_parts_are_a_smaller_assemble)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  Join join = add_assemble (graph);

  output (graph, SLICE ("a", join.joined, 1, 5, 0, 3));
  check (graph, "%0 = Input : float32 2x3  # x\n"
                "%1 = Input : float32 4x3  # y\n"
                "%2 = Slice %0 1:2,0:3 : float32 1x3  # a_1\n"
                "%3 = Slice %1 0:3,0:3 : float32 3x3  # a_2\n"
                "%4 = Assemble %2, %3 0:1,0:3 1:4,0:3 : float32 4x3  # a\n"
                "output %4  # out0\n");
}
END_TEST

START_TEST (of_a_concat_it_is_a_smaller_concat)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  Join join = add_concat (graph);

  output (graph, SLICE ("a", join.joined, 1, 5, 0, 3));
  check (graph, "%0 = Input : float32 2x3  # x\n"
                "%1 = Input : float32 4x3  # y\n"
                "%2 = Slice %0 1:2,0:3 : float32 1x3  # a_1\n"
                "%3 = Slice %1 0:3,0:3 : float32 3x3  # a_2\n"
                "%4 = Concat %2, %3 : float32 4x3  # a\n"
                "output %4  # out0\n");
}
END_TEST

START_TEST (of_a_join_that_is_read_it_is_a_view_where_it_meets_all_parts)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  Join join = add_concat (graph);
  CleaveResult *z = cleave_test_input (graph, "z", CLEAVE_SHAPE (1, 3));
  CleaveResult *parts[] = { join.joined, z };
  CleaveResult *more = cleave_graph_add_concat (graph, "more", parts, 2, 0, NULL);

  output (graph, SLICE ("a", join.joined, 1, 5, 0, 3));
  output (graph, join.joined);
  output (graph, SLICE ("b", more, 1, 5, 0, 3));
  output (graph, more);
  check (graph, "%0 = Input : float32 2x3  # x\n"
                "%1 = Input : float32 4x3  # y\n"
                "%2 = Concat %0, %1 : float32 6x3  # concat\n"
                "%3 = Input : float32 1x3  # z\n"
                "%4 = Concat %2, %3 : float32 7x3  # more\n"
                "%5 = Slice %2 1:5,0:3 : float32 4x3  # a\n"
                "%6 = Slice %2 1:5,0:3 : float32 4x3  # b\n"
                "output %5  # out0\n"
                "output %2  # out1\n"
                "output %6  # out2\n"
                "output %4  # out3\n");
}
END_TEST

START_TEST (across_the_seams_only)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  Join join = add_concat (graph);

  output (graph, SLICE ("a", join.joined, 0, 6, 1, 2));
  check (graph, "%0 = Input : float32 2x3  # x\n"
                "%1 = Input : float32 4x3  # y\n"
                "%2 = Concat %0, %1 : float32 6x3  # concat\n"
                "%3 = Slice %2 0:6,1:2 : float32 6x1  # a\n"
                "output %3  # out0\n");
}
END_TEST

START_TEST (a_slice_of_a_slice_is_one)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (10));
  CleaveSliceAttrs attrs = { .starts = CLEAVE_INTS (2),
                             .ends = CLEAVE_INTS (6),
                             .steps = CLEAVE_INTS (2) };

  output (graph, cleave_graph_add_slice (graph, "b", SLICE ("a", x, 1, 9), &attrs, NULL));
  check (graph, "%0 = Input : float32 10  # x\n"
                "%1 = Slice %0 3:6:2 : float32 2  # b\n"
                "output %1  # out0\n");
}
END_TEST

/* However such a Slice was written, what it takes is nothing; it is not made anew in each run. */
START_TEST (a_slice_of_nothing_is_left_alone)
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

/* Values that constants alone make: each as stored as, and each that is only computed. */
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

/* Every window, with nothing in it or with steps, too, is read where it can be in one run: were it
 * made anew in each, a clean-up would not end. */
START_TEST (a_slice_of_what_is_constant_is_made_once)
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

START_TEST (a_slice_that_runs_backwards_stays)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (10));
  CleaveSliceAttrs attrs = { .starts = CLEAVE_INTS (-1),
                             .ends = CLEAVE_INTS (-100),
                             .steps = CLEAVE_INTS (-1) };

  output (graph, SLICE ("b", cleave_graph_add_slice (graph, "a", x, &attrs, NULL), 1, 4));
  check (graph, "%0 = Input : float32 10  # x\n"
                "%1 = Slice %0 9:-11:-1 : float32 10  # a\n"
                "%2 = Slice %1 1:4 : float32 3  # b\n"
                "output %2  # out0\n");
}
END_TEST

START_TEST (a_slice_of_a_split_is_one_of_its_operand)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (6));
  const gint64 sizes[] = { 2, 4 };
  CleaveNode *split = cleave_graph_add_split (graph, "split", x, 0, sizes, 2, NULL);

  output (graph, SLICE ("a", cleave_node_get_result (split, 1), 1, 3));
  check (graph, "%0 = Input : float32 6  # x\n"
                "%1 = Slice %0 3:5 : float32 2  # a\n"
                "output %1  # out0\n");
}
END_TEST

START_TEST (a_slice_of_everything_is_the_value)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (6));

  output (graph, SLICE ("a", x, 0, 6));
  check (graph, "%0 = Input : float32 6  # x\n"
                "output %0  # out0\n");
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
  check (graph, "%0 = Constant : float32 6  # w\n"
                "%1 = Constant : float32 2  # a\n"
                "output %0  # out0\n"
                "output %1  # out1\n");
  part = cleave_node_get_constant (cleave_graph_find_node (graph, "a"));
  ck_assert_ptr_eq (cleave_tensor_get_base (part, &range), whole);
  ck_assert_int_eq (range.dim[0].begin, 2);
}
END_TEST

/* Joins of joins, as deep as it likes. */
START_TEST (joins_of_joins_cost_no_stack)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = cleave_test_input (graph, "x", CLEAVE_SHAPE (2));
  CleaveResult *z = cleave_test_input (graph, "z", CLEAVE_SHAPE (1));
  const gint64 n = 3000;

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

/* Transposed, the rows are columns; the second one takes less than its part. */
START_TEST (of_a_transposed_join_it_is_the_part_transposed)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  Join join = add_assemble (graph);
  CleaveInts perm = CLEAVE_INTS (1, 0);
  CleaveResult *t = cleave_graph_add_transpose (graph, "t", join.joined, &perm, NULL);

  output (graph, SLICE ("a", t, 0, 3, 0, 2));
  output (graph, SLICE ("b", t, 1, 2, 3, 5));
  check (graph, "%0 = Input : float32 2x3  # x\n"
                "%1 = Input : float32 4x3  # y\n"
                "%2 = Transpose %0 perm=1,0 : float32 3x2  # a\n"
                "%3 = Slice %1 1:3,1:2 : float32 2x1  # b_1\n"
                "%4 = Transpose %3 perm=1,0 : float32 1x2  # b\n"
                "output %2  # out0\n"
                "output %4  # out1\n");
}
END_TEST

/* It reads an input: there is nothing to read further back. */
START_TEST (of_a_transposed_value_it_stays)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (2, 3));
  CleaveInts perm = CLEAVE_INTS (1, 0);

  output (graph, SLICE ("a", cleave_graph_add_transpose (graph, "t", x, &perm, NULL), 0, 1, 0, 2));
  check (graph, "%0 = Input : float32 2x3  # x\n"
                "%1 = Transpose %0 perm=1,0 : float32 3x2  # t\n"
                "%2 = Slice %1 0:1,0:2 : float32 1x2  # a\n"
                "output %2  # out0\n");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "joins", a_part_is_read_itself, less_than_a_part_is_a_slice_of_it,
                   several_parts_are_a_smaller_assemble, of_a_concat_it_is_a_smaller_concat,
                   of_a_join_that_is_read_it_is_a_view_where_it_meets_all_parts,
                   across_the_seams_only, joins_of_joins_cost_no_stack,
                   of_a_transposed_join_it_is_the_part_transposed, of_a_transposed_value_it_stays,
                   NULL);
  cleave_add_case (suite, "views", a_slice_of_a_slice_is_one, a_slice_of_nothing_is_left_alone,
                   a_slice_that_runs_backwards_stays, a_slice_of_a_split_is_one_of_its_operand,
                   a_slice_of_everything_is_the_value, a_slice_of_a_constant_shares_its_bytes,
                   a_slice_of_what_is_constant_is_made_once, NULL);
}

CLEAVE_TEST_SUITE ("forward-slices", add_tests)
