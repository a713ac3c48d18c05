/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The import of sequences and optional values as lists of tensors, and of sparse initializers as
 * dense tensors. */

#include "test.h"

#include <string.h>

#include "models.h"

/* Begins a model with an input x of 6x4 and an output y. */
static Model *
start (void)
{
  Model *model = model_new (17);

  model_add_input (model, "x", "6x4");
  model_add_output (model, "y");
  return model;
}

static void
add_number (Model *model, const char *name, gint64 value)
{
  model_add_initializer (model, name, &CLEAVE_SCALAR (CLEAVE_INT64), &value);
}

START_TEST (split_to_sequence_and_sequence_at_are_a_split)
{
  g_autoptr (Model) model = start ();

  model_add_ints (model, "sizes", &CLEAVE_INTS (1, 2, 3));
  add_number (model, "last", -1);
  model_add_node (model, "SplitToSequence", "s", "x sizes", "parts");
  model_add_node (model, "SequenceAt", "at", "parts last", "r");
  model_add_node (model, "Relu", "relu", "r", "y");
  model_assert_dump (model, "%0 = Input : float32 6x4  # x\n"
                            "%1, %2, %3 = Split %0 split=1,2,3 : float32 1x4, float32 2x4, float32 "
                            "3x4  # s\n"
                            "%4 = Relu %3 : float32 3x4  # relu\n"
                            "output %4  # y\n");
}
END_TEST

/* Splits x into tensors of equal size and a smaller last tensor. Joins the tensors in another
 * order, with and without a new axis. */
START_TEST (concat_from_sequence_is_a_concat)
{
  g_autoptr (Model) model = start (), stacked = start ();

  add_number (model, "four", 4);
  add_number (model, "first", 0);
  model_add_node (model, "SplitToSequence", "s", "x four", "parts");
  model_add_node (model, "SequenceAt", "at", "parts first", "p");
  model_add_node (model, "SequenceErase", "e", "parts first", "rest");
  model_add_node (model, "SequenceInsert", "i", "rest p", "both");
  node_add_int (model_add_node (model, "ConcatFromSequence", "c", "both", "y"), "axis", 0);
  model_assert_dump (model, "%0 = Input : float32 6x4  # x\n"
                            "%1, %2 = Split %0 split=4,2 : float32 4x4, float32 2x4  # s\n"
                            "%3 = Concat %2, %1 : float32 6x4  # c\n"
                            "output %3  # y\n");
  model_add_node (stacked, "SequenceConstruct", "s", "x x", "both");
  node_add_int (model_add_node (stacked, "ConcatFromSequence", "c", "both", "y"), "axis", -1);
  node_add_int (stacked->graph->node[1], "new_axis", 1);
  {
    g_autoptr (GError) error = NULL;
    g_autoptr (CleaveGraph) graph = model_import (stacked, &error);

    cleave_assert_no_error (error);
    ck_assert (cleave_tensor_type_equal (
        cleave_result_get_type (cleave_operand_get_result (cleave_graph_get_output (graph, 0))),
        &CLEAVE_TYPE (CLEAVE_FLOAT32, 6, 4, 2)));
  }
}
END_TEST

/* A SplitToSequence without sizes gives a tensor for each row, without the dimension of rows. */
START_TEST (rows_become_tensors_and_are_counted)
{
  g_autoptr (Model) model = start ();

  node_add_int (model_add_node (model, "SplitToSequence", "s", "x", "rows"), "keepdims", 0);
  model_add_node (model, "SequenceLength", "l", "rows", "n");
  model_add_node (model, "SequenceEmpty", "e", "", "none");
  model_add_node (model, "SequenceInsert", "i", "none n", "one");
  add_number (model, "first", 0);
  model_add_node (model, "SequenceAt", "at", "one first", "y");
  {
    g_autoptr (GError) error = NULL;
    g_autoptr (CleaveGraph) graph = model_import (model, &error);
    CleaveTensor *constant;

    cleave_assert_no_error (error);
    constant = cleave_node_get_constant (
        cleave_result_get_node (cleave_operand_get_result (cleave_graph_get_output (graph, 0))));
    ck_assert_ptr_nonnull (constant);
    ck_assert_int_eq (*(const gint64 *) cleave_tensor_get_data (constant), 6);
  }
}
END_TEST

START_TEST (wrong_sequences_are_errors)
{
  static const struct
  {
    const char *op, *operands, *message;
  } cases[] = {
    { "Relu", "rows", "Relu 'n': operand 0 is a sequence, which only ops of sequences can read" },
    { "SequenceAt", "x two", "SequenceAt 'n': its first operand must be a sequence" },
    { "SequenceAt", "rows six",
      "SequenceAt 'n': position 6 lies outside of a sequence of 6 tensors" },
    { "SequenceAt", "rows x",
      "SequenceAt 'n': position is the input 'x', but must be constant: shapes are static (give "
      "its "
      "value)" },
    { "SequenceErase", "none", "SequenceErase 'n': its sequence is empty" },
    { "SplitToSequence", "rows", "SplitToSequence 'n': operand 0 must be a tensor" },
    { "SplitToSequence", "x zero", "SplitToSequence 'n': split must be more than 0" },
    { "SplitToSequence", "x sizes", "SplitToSequence 'n': its sizes add up to 3, not to 6" },
    { "SequenceInsert", "rows rows", "SequenceInsert 'n': operand 1 must be a tensor" },
    { "ConcatFromSequence", "rows", "ConcatFromSequence 'n': it needs one axis" },
    { "Identity", "x",
      "the output 'rows' is a sequence: give its tensors as outputs, or load the model with a "
      "dynamic part" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Model) model = start ();

      add_number (model, "zero", 0);
      add_number (model, "two", 2);
      add_number (model, "six", 6);
      model_add_ints (model, "sizes", &CLEAVE_INTS (1, 2));
      model_add_node (model, "SplitToSequence", "s", "x", "rows");
      model_add_node (model, "SequenceEmpty", "e", "", "none");
      model_add_node (model, cases[i].op, "n", cases[i].operands, "y");
      if (strcmp (cases[i].op, "Identity") == 0)
        model_add_output (model, "rows");
      model_assert_error (model, CLEAVE_ERROR_MODEL, cases[i].message);
    }
}
END_TEST

/* The tests below check SequenceMap, values with two names, and optional values. */

/* A SequenceMap reads its body once for each tensor. Output 0 of this body is the sum of the tensor
 * and t; output 1 is the unchanged tensor. */
START_TEST (a_map_is_its_body_for_each_tensor)
{
  g_autoptr (Model) model = start ();
  Model *body = model_new (17);

  model_add_ints (model, "sizes", &CLEAVE_INTS (2, 4));
  model_add_input (model, "t", "1x4");
  model_add_node (model, "SplitToSequence", "s", "x sizes", "parts");
  model_add_input (body, "a", NULL);
  model_add_input (body, "b", NULL);
  model_add_node (body, "Add", "add", "a b", "sum");
  model_add_output (body, "sum");
  model_add_output (body, "a");
  node_add_graph (model_add_node (model, "SequenceMap", "m", "parts t", "sums same"), "body", body);
  model_add_node (model, "Identity", "i", "same", "again");
  node_add_int (model_add_node (model, "ConcatFromSequence", "c", "sums", "y"), "axis", 0);
  node_add_int (model_add_node (model, "ConcatFromSequence", "d", "again", "z"), "axis", 0);
  model_add_output (model, "z");
  model_assert_dump (model, "%0 = Input : float32 6x4  # x\n"
                            "%1 = Input : float32 1x4  # t\n"
                            "%2, %3 = Split %0 split=2,4 : float32 2x4, float32 4x4  # s\n"
                            "%4 = Add %2, %1 : float32 2x4  # add\n"
                            "%5 = Add %3, %1 : float32 4x4  # add_1\n"
                            "%6 = Concat %4, %5 : float32 6x4  # c\n"
                            "%7 = Concat %2, %3 : float32 6x4  # d\n"
                            "output %6  # y\n"
                            "output %7  # z\n");
}
END_TEST

/* An If on OptionalHasElement takes the branch that reads an optional with a value. The other
 * branch reads an empty optional, and would fail. */
START_TEST (an_optional_value_has_its_tensor_or_is_empty)
{
  g_autoptr (Model) model = start ();
  Model *then = model_new (17), *other = model_new (17);

  model_add_node (model, "Optional", "full", "x", "o");
  model_add_node (model, "Optional", "none", "", "e");
  model_add_node (model, "OptionalHasElement", "has", "o", "b");
  model_add_node (model, "OptionalHasElement", "lacks", "e", "c");
  model_add_node (model, "Xor", "one", "b c", "d");
  model_add_node (then, "OptionalGetElement", "get", "o", "got");
  model_add_node (then, "Relu", "relu", "got", "r");
  model_add_output (then, "r");
  model_add_node (other, "OptionalGetElement", "fail", "e", "got");
  model_add_output (other, "got");
  node_add_graph (model_add_node (model, "If", "if", "d", "y"), "then_branch", then);
  node_add_graph (model->graph->node[5], "else_branch", other);
  model_assert_dump (model, "%0 = Input : float32 6x4  # x\n"
                            "%1 = Identity %0 : float32 6x4  # get\n"
                            "%2 = Relu %1 : float32 6x4  # relu\n"
                            "output %2  # y\n");
}
END_TEST

START_TEST (an_optional_sequence_has_its_tensors)
{
  g_autoptr (Model) model = start ();

  model_add_node (model, "SequenceConstruct", "s", "x x", "both");
  model_add_node (model, "Optional", "full", "both", "o");
  model_add_node (model, "OptionalGetElement", "get", "o", "got");
  node_add_int (model_add_node (model, "ConcatFromSequence", "c", "got", "y"), "axis", 0);
  model_assert_dump (model, "%0 = Input : float32 6x4  # x\n"
                            "%1 = Concat %0, %0 : float32 12x4  # c\n"
                            "output %1  # y\n");
}
END_TEST

START_TEST (wrong_optional_values_are_errors)
{
  static const struct
  {
    const char *op, *operands, *message;
  } cases[] = {
    { "OptionalGetElement", "none", "OptionalGetElement 'n': its optional value is empty" },
    { "Optional", "full", "Optional 'n': operand 0 is an optional value already" },
    { "Relu", "full",
      "Relu 'n': operand 0 is an optional value, which only ops of sequences can read" },
    { "SequenceLength", "full", "SequenceLength 'n': its first operand must be a sequence" },
    { "SequenceMap", "x", "SequenceMap 'n': its first operand must be a sequence" },
    { "SequenceMap", "rows", "SequenceMap 'n': it has no body" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Model) model = start ();

      model_add_node (model, "SplitToSequence", "s", "x", "rows");
      model_add_node (model, "Optional", "o", "x", "full");
      model_add_node (model, "Optional", "e", "", "none");
      model_add_node (model, cases[i].op, "n", cases[i].operands, "y");
      model_assert_error (model, CLEAVE_ERROR_MODEL, cases[i].message);
    }
}
END_TEST

/* The tests below check models with a sparse initializer. */

/* Makes a model that adds an input x of 2x3 and a sparse initializer with values at the positions 1
 * and 5. */
static Model *
with_sparse (const CleaveTensorType *indices, const gint64 *where)
{
  Model *model = model_new (17);
  Onnx__SparseTensorProto *sparse = g_new (Onnx__SparseTensorProto, 1);

  onnx__sparse_tensor_proto__init (sparse);
  sparse->values = tensor_new ("w", &CLEAVE_TYPE (CLEAVE_FLOAT32, 2), (const float[]){ 5, 7 });
  sparse->indices = tensor_new ("", indices, where);
  sparse->dims = g_new (int64_t, 2);
  sparse->dims[0] = 2;
  sparse->dims[1] = 3;
  sparse->n_dims = 2;
  model->graph->n_sparse_initializer = 1;
  model->graph->sparse_initializer = g_new (Onnx__SparseTensorProto *, 1);
  model->graph->sparse_initializer[0] = sparse;
  model_add_node (model, "Neg", "n", "w", "y");
  model_add_output (model, "y");
  return model;
}

static void
assert_dense (Model *made)
{
  static const float expected[] = { 0, -5, 0, 0, 0, -7 };
  g_autoptr (Model) model = made;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = model_import (model, &error);
  CleaveTensor *constant;

  cleave_assert_no_error (error);
  constant = cleave_node_get_constant (
      cleave_result_get_node (cleave_operand_get_result (cleave_graph_get_output (graph, 0))));
  ck_assert_ptr_nonnull (constant);
  for (guint i = 0; i < 6; i++)
    ck_assert (((const float *) cleave_tensor_get_data (constant))[i] == expected[i]);
}

START_TEST (sparse_initializers_become_dense)
{
  assert_dense (with_sparse (&CLEAVE_TYPE (CLEAVE_INT64, 2), (const gint64[]){ 1, 5 }));
  assert_dense (with_sparse (&CLEAVE_TYPE (CLEAVE_INT64, 2, 2), (const gint64[]){ 0, 1, 1, 2 }));
}
END_TEST

START_TEST (wrong_sparse_initializers_are_errors)
{
  g_autoptr (Model) outside =
      with_sparse (&CLEAVE_TYPE (CLEAVE_INT64, 2), (const gint64[]){ 1, 6 });
  g_autoptr (Model) negative =
      with_sparse (&CLEAVE_TYPE (CLEAVE_INT64, 2, 2), (const gint64[]){ 0, 1, -1, 2 });
  g_autoptr (Model) few = with_sparse (&CLEAVE_TYPE (CLEAVE_INT64, 1), (const gint64[]){ 1 });
  g_autoptr (Model) huge = with_sparse (&CLEAVE_TYPE (CLEAVE_INT64, 2), (const gint64[]){ 1, 5 });

  model_assert_error (outside, CLEAVE_ERROR_MODEL,
                      "sparse tensor 'w': index 1 lies outside of the tensor");
  model_assert_error (negative, CLEAVE_ERROR_MODEL,
                      "sparse tensor 'w': index 1 lies outside of the tensor");
  model_assert_error (few, CLEAVE_ERROR_MODEL,
                      "sparse tensor 'w': its indices must be int64 of shape 2, or 2x2");
  huge->graph->sparse_initializer[0]->dims[0] = 1 << 30;
  model_assert_error (huge, CLEAVE_ERROR_MODEL,
                      "sparse tensor 'w': 12884901888 bytes are more than 1073741824");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "sequences", split_to_sequence_and_sequence_at_are_a_split,
                   concat_from_sequence_is_a_concat, rows_become_tensors_and_are_counted,
                   wrong_sequences_are_errors, a_map_is_its_body_for_each_tensor,
                   an_optional_value_has_its_tensor_or_is_empty,
                   an_optional_sequence_has_its_tensors, wrong_optional_values_are_errors, NULL);
  cleave_add_case (suite, "sparse", sparse_initializers_become_dense,
                   wrong_sparse_initializers_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("import-sequences", add_tests)
