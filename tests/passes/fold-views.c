/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "graphs.h"
#include "test.h"

/* What may be done to Split and Concat, rule by rule. */

static void
output (CleaveGraph *graph, CleaveResult *value)
{
  g_autofree char *name = g_strdup_printf ("out%u", cleave_graph_get_n_outputs (graph));

  ck_assert_ptr_nonnull (value);
  cleave_graph_add_output (graph, name, value, NULL);
}

static CleaveNode *
split (CleaveGraph *graph, const char *name, CleaveResult *x, gint64 a, gint64 b, gint64 c)
{
  const gint64 sizes[] = { a, b, c };

  return cleave_graph_add_split (graph, name, x, 0, sizes, c == 0 ? b == 0 ? 1 : 2 : 3, NULL);
}

static CleaveResult *
concat (CleaveGraph *graph, const char *name, CleaveResult *a, CleaveResult *b, CleaveResult *c)
{
  CleaveResult *parts[] = { a, b, c };

  return cleave_graph_add_concat (graph, name, parts, c == NULL ? b == NULL ? 1 : 2 : 3, 0, NULL);
}

static CleaveResult *
relu (CleaveGraph *graph, CleaveResult *x)
{
  return cleave_graph_add_unary (graph, "Relu", NULL, x, NULL, NULL);
}

#define INPUT(name, n) cleave_test_input (graph, name, CLEAVE_SHAPE (n))
#define RESULT(node, index) cleave_node_get_result (node, index)

static void
check (CleaveGraph *graph, const char *expected)
{
  gboolean changed = FALSE;

  ck_assert (cleave_clean_up (graph, NULL, NULL));
  cleave_assert_dump (graph, expected);
  ck_assert (cleave_clean_up (graph, &changed, NULL));
  ck_assert (!changed);
}

START_TEST (rule_1_of_one_is_the_operand)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = INPUT ("x", 6);

  output (graph, RESULT (split (graph, NULL, x, 6, 0, 0), 0));
  output (graph, concat (graph, NULL, x, NULL, NULL));
  check (graph, "%0 = Input : float32 6  # x\n"
                "output %0  # out0\n"
                "output %0  # out1\n");
}
END_TEST

START_TEST (rule_2_all_results_in_order_are_the_operand)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *s = split (graph, "s", INPUT ("x", 6), 1, 2, 3);

  output (graph, concat (graph, "c", RESULT (s, 0), RESULT (s, 1), RESULT (s, 2)));
  check (graph, "%0 = Input : float32 6  # x\n"
                "output %0  # out0\n");
}
END_TEST

START_TEST (rule_2_out_of_order_stays)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *s = split (graph, "s", INPUT ("x", 6), 1, 2, 3);

  output (graph, concat (graph, "c", RESULT (s, 1), RESULT (s, 0), RESULT (s, 2)));
  check (graph, "%0 = Input : float32 6  # x\n"
                "%1, %2, %3 = Split %0 split=1,2,3 : float32 1, float32 2, float32 3  # s\n"
                "%4 = Concat %2, %1, %3 : float32 6  # c\n"
                "output %4  # out0\n");
}
END_TEST

START_TEST (rule_3_a_run_is_one_slice)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *s = split (graph, "s", INPUT ("x", 6), 1, 2, 3);

  output (graph, concat (graph, "c", INPUT ("y", 2), RESULT (s, 1), RESULT (s, 2)));
  check (graph, "%0 = Input : float32 6  # x\n"
                "%1 = Input : float32 2  # y\n"
                "%2 = Slice %0 1:6 : float32 5  # c_1\n"
                "%3 = Concat %1, %2 : float32 7  # c\n"
                "output %3  # out0\n");
}
END_TEST

START_TEST (rule_4_equal_borders_are_the_operands)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *a = INPUT ("a", 1), *b = INPUT ("b", 2), *c = INPUT ("c", 3);
  CleaveNode *s = split (graph, "s", concat (graph, "j", a, b, c), 3, 3, 0);

  output (graph, RESULT (s, 0));
  output (graph, RESULT (s, 1));
  check (graph, "%0 = Input : float32 1  # a\n"
                "%1 = Input : float32 2  # b\n"
                "%2 = Input : float32 3  # c\n"
                "%3 = Concat %0, %1 : float32 3  # s_1\n"
                "output %3  # out0\n"
                "output %2  # out1\n");
}
END_TEST

START_TEST (rule_5_inside_one_operand_is_its_slice)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = INPUT ("y", 2), *z = INPUT ("z", 4);
  CleaveNode *s = split (graph, "s", concat (graph, "j", y, z, NULL), 1, 1, 4);

  for (guint i = 0; i < 3; i++)
    output (graph, RESULT (s, i));
  check (graph, "%0 = Input : float32 2  # y\n"
                "%1 = Input : float32 4  # z\n"
                "%2 = Slice %0 0:1 : float32 1  # s_1\n"
                "%3 = Slice %0 1:2 : float32 1  # s_2\n"
                "output %2  # out0\n"
                "output %3  # out1\n"
                "output %1  # out2\n");
}
END_TEST

START_TEST (rule_6_a_split_of_a_result_is_one_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *outer = split (graph, "s", INPUT ("x", 6), 2, 4, 0);
  CleaveNode *inner = split (graph, "t", RESULT (outer, 1), 1, 3, 0);

  output (graph, RESULT (outer, 0));
  output (graph, RESULT (inner, 0));
  output (graph, RESULT (inner, 1));
  check (graph, "%0 = Input : float32 6  # x\n"
                "%1, %2, %3 = Split %0 split=2,1,3 : float32 2, float32 1, float32 3  # s_1\n"
                "output %1  # out0\n"
                "output %2  # out1\n"
                "output %3  # out2\n");
}
END_TEST

START_TEST (rule_6_needs_the_result_for_itself)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *outer = split (graph, "s", INPUT ("x", 6), 2, 4, 0);
  CleaveNode *inner = split (graph, "t", RESULT (outer, 1), 1, 3, 0);

  output (graph, relu (graph, RESULT (outer, 1)));
  output (graph, RESULT (inner, 0));
  ck_assert (cleave_clean_up (graph, NULL, NULL));
  ck_assert_uint_eq (cleave_count_nodes (graph, "Split"), 2);
}
END_TEST

START_TEST (rule_12_a_concat_of_a_concat_is_one)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *a = INPUT ("a", 1), *b = INPUT ("b", 2), *c = INPUT ("c", 3);

  output (graph, concat (graph, "k", a, concat (graph, "j", b, c, NULL), NULL));
  check (graph, "%0 = Input : float32 1  # a\n"
                "%1 = Input : float32 2  # b\n"
                "%2 = Input : float32 3  # c\n"
                "%3 = Concat %0, %1, %2 : float32 6  # k\n"
                "output %3  # out0\n");
}
END_TEST

START_TEST (rule_12_nothing_is_dropped)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *a = INPUT ("a", 2), *none = INPUT ("none", 0);

  output (graph, concat (graph, "k", a, none, relu (graph, a)));
  check (graph, "%0 = Input : float32 2  # a\n"
                "%1 = Input : float32 0  # none\n"
                "%2 = Relu %0 : float32 2  # relu\n"
                "%3 = Concat %0, %2 : float32 4  # k\n"
                "output %3  # out0\n");
}
END_TEST

START_TEST (views_of_everything_are_the_value)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (2, 3));
  CleaveInts same = CLEAVE_INTS (0, 1), shape = CLEAVE_INTS (2, 3);
  CleavePadAttrs nothing = { .pads = CLEAVE_INTS (0, 0, 0, 0) };
  CleaveNode *identity =
      cleave_graph_add (graph, cleave_op_lookup ("Identity"), NULL, &x, 1, 1, NULL, NULL);
  CleaveResult *y = RESULT (identity, 0);

  y = cleave_graph_add_transpose (graph, NULL, y, &same, NULL);
  y = cleave_graph_add_reshape (graph, NULL, y, &shape, NULL);
  y = cleave_test_add (graph, "Pad", NULL, (CleaveResult *[]){ y }, 1, &nothing, NULL);
  output (graph, relu (graph, y));
  check (graph, "%0 = Input : float32 2x3  # x\n"
                "%1 = Relu %0 : float32 2x3  # relu\n"
                "output %1  # out0\n");
}
END_TEST

/* As much is added as is cropped. */
START_TEST (a_pad_of_the_same_shape_is_not_everything)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleavePadAttrs shift = { .pads = CLEAVE_INTS (1, -1) };

  output (graph, cleave_test_add (graph, "Pad", "p", (CleaveResult *[]){ INPUT ("x", 6) }, 1,
                                  &shift, NULL));
  check (graph, "%0 = Input : float32 6  # x\n"
                "%1 = Pad %0 pads=1,-1 : float32 6  # p\n"
                "output %1  # out0\n");
}
END_TEST

/* Rules 7 to 11 and 13, with the numbers of their examples. */

static CleaveResult *
slice (CleaveGraph *graph, const char *name, CleaveResult *x, gint64 begin, gint64 end, gint64 step)
{
  CleaveSliceAttrs a = { .starts = CLEAVE_INTS (begin),
                         .ends = CLEAVE_INTS (end),
                         .axes = CLEAVE_INTS (0),
                         .steps = CLEAVE_INTS (step) };

  return cleave_graph_add_slice (graph, name, x, &a, NULL);
}

START_TEST (rule_7_a_slice_of_a_result_is_one_of_the_operand)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *s = split (graph, "s", INPUT ("x", 6), 2, 4, 0);

  output (graph, slice (graph, "y", RESULT (s, 1), 1, 3, 1));
  check (graph, "%0 = Input : float32 6  # x\n"
                "%1 = Slice %0 3:5 : float32 2  # y\n"
                "output %1  # out0\n");
}
END_TEST

START_TEST (rule_8_a_slice_of_a_slice_is_one)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);

  output (graph, slice (graph, "y", slice (graph, "s", INPUT ("x", 9), 1, 9, 1), 2, 6, 2));
  check (graph, "%0 = Input : float32 9  # x\n"
                "%1 = Slice %0 3:6:2 : float32 2  # y\n"
                "output %1  # out0\n");
}
END_TEST

START_TEST (rule_10_a_slice_of_a_concat_is_a_concat_of_slices)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = INPUT ("y", 2), *z = INPUT ("z", 4);

  output (graph, slice (graph, "s", concat (graph, "c", y, z, NULL), 1, 5, 1));
  check (graph, "%0 = Input : float32 2  # y\n"
                "%1 = Input : float32 4  # z\n"
                "%2 = Slice %0 1:2 : float32 1  # s_1\n"
                "%3 = Slice %1 0:3 : float32 3  # s_2\n"
                "%4 = Concat %2, %3 : float32 4  # s\n"
                "output %4  # out0\n");
}
END_TEST

START_TEST (rule_13_what_nobody_needs_goes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = INPUT ("x", 6);

  split (graph, "unused", x, 2, 4, 0);
  output (graph, slice (graph, "all", x, 0, 6, 1));
  check (graph, "%0 = Input : float32 6  # x\n"
                "output %0  # out0\n");
}
END_TEST

START_TEST (rule_13_parts_of_a_constant_share_its_bytes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 6);
  g_autoptr (CleaveTensor) tensor = cleave_random_tensor (&type, 1, FALSE);
  CleaveNode *s = split (graph, "s", cleave_graph_add_constant (graph, "w", tensor), 2, 4, 0);
  CleaveResult *y =
      cleave_graph_add_binary (graph, "Add", "y", INPUT ("x", 4), RESULT (s, 1), NULL);
  const float *bytes = cleave_tensor_get_data (tensor);
  CleaveResult *part;

  output (graph, y);
  ck_assert (cleave_clean_up (graph, NULL, NULL));
  part = cleave_operand_get_result (cleave_node_get_operand (cleave_result_get_node (y), 1));
  ck_assert_ptr_eq (
      cleave_tensor_get_data (cleave_node_get_constant (cleave_result_get_node (part))), bytes + 2);
}
END_TEST

START_TEST (other_axes_are_left_alone)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (2, 2));
  const gint64 sizes[] = { 1, 1 };
  CleaveNode *s = cleave_graph_add_split (graph, "s", x, 0, sizes, 2, NULL);
  CleaveResult *parts[] = { RESULT (s, 0), RESULT (s, 1) };

  output (graph, cleave_graph_add_concat (graph, "c", parts, 2, 1, NULL));
  check (graph, "%0 = Input : float32 2x2  # x\n"
                "%1, %2 = Split %0 split=1,1 : float32 1x2, float32 1x2  # s\n"
                "%3 = Concat %1, %2 axis=1 : float32 1x4  # c\n"
                "output %3  # out0\n");
}
END_TEST

static CleaveResult *
reshape (CleaveGraph *graph, const char *name, CleaveResult *x, CleaveInts shape)
{
  return cleave_graph_add_reshape (graph, name, x, &shape, NULL);
}

static CleaveResult *
transpose (CleaveGraph *graph, const char *name, CleaveResult *x, CleaveInts perm)
{
  return cleave_graph_add_transpose (graph, name, x, &perm, NULL);
}

START_TEST (a_reshape_of_a_reshape_is_one)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (2, 3, 4));
  CleaveResult *flat = reshape (graph, "flat", x, CLEAVE_INTS (24));

  output (graph, reshape (graph, "a", flat, CLEAVE_INTS (6, 4)));
  output (graph, reshape (graph, "b", flat, CLEAVE_INTS (2, 3, 4)));
  check (graph, "%0 = Input : float32 2x3x4  # x\n"
                "%1 = Reshape %0 shape=6,4 : float32 6x4  # a\n"
                "output %1  # out0\n"
                "output %0  # out1\n");
}
END_TEST

START_TEST (a_transpose_of_a_transpose_is_one)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (2, 3, 4));
  CleaveResult *t = transpose (graph, "t", x, CLEAVE_INTS (1, 2, 0));

  output (graph, transpose (graph, "a", t, CLEAVE_INTS (1, 2, 0)));
  output (graph, transpose (graph, "b", t, CLEAVE_INTS (2, 0, 1)));
  check (graph, "%0 = Input : float32 2x3x4  # x\n"
                "%1 = Transpose %0 perm=2,0,1 : float32 4x2x3  # a\n"
                "output %1  # out0\n"
                "output %0  # out1\n");
}
END_TEST

START_TEST (a_transpose_past_dimensions_of_1_is_a_reshape)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 3, 1, 4));

  output (graph, transpose (graph, "a", x, CLEAVE_INTS (1, 3, 0, 2)));
  output (graph, transpose (graph, "b", x, CLEAVE_INTS (0, 3, 2, 1)));
  check (graph, "%0 = Input : float32 1x3x1x4  # x\n"
                "%1 = Transpose %0 perm=0,3,2,1 : float32 1x4x1x3  # b\n"
                "%2 = Reshape %0 shape=3,4,1,1 : float32 3x4x1x1  # a\n"
                "output %2  # out0\n"
                "output %1  # out1\n");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "rules", rule_1_of_one_is_the_operand, rule_2_all_results_in_order_are_the_operand,
      rule_2_out_of_order_stays, rule_3_a_run_is_one_slice, rule_4_equal_borders_are_the_operands,
      rule_5_inside_one_operand_is_its_slice, rule_6_a_split_of_a_result_is_one_split,
      rule_6_needs_the_result_for_itself, rule_12_a_concat_of_a_concat_is_one,
      rule_12_nothing_is_dropped, views_of_everything_are_the_value,
      a_pad_of_the_same_shape_is_not_everything, rule_7_a_slice_of_a_result_is_one_of_the_operand,
      rule_8_a_slice_of_a_slice_is_one, rule_10_a_slice_of_a_concat_is_a_concat_of_slices,
      rule_13_what_nobody_needs_goes, rule_13_parts_of_a_constant_share_its_bytes,
      other_axes_are_left_alone, NULL);
  cleave_add_case (suite, "movement", a_reshape_of_a_reshape_is_one,
                   a_transpose_of_a_transpose_is_one, a_transpose_past_dimensions_of_1_is_a_reshape,
                   NULL);
}

CLEAVE_TEST_SUITE ("fold-views", add_tests)
