/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Inputs and outputs of a program: whether a run reads and writes the bound tensors directly or
 * through copies. */

#include "run-help.h"

#include "../../lib/runtime/program-private.h"
#include "interpret.h"

/* Binds the tensors, runs the program, and compares the outputs with the outputs of
 * cleave_interpret(). Asserts that the input has not changed. */
static void
check_run (CleaveProgram *program, CleaveGraph *graph, CleaveTensor *x, CleaveTensor **y)
{
  g_autoptr (CleaveTensor) before = cleave_tensor_dup_dense (x);
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (x);
  guint n = cleave_graph_get_n_outputs (graph);
  g_autoptr (GPtrArray) want = cleave_interpret (graph, &dense);
  g_autoptr (GError) error = NULL;

  ck_assert (cleave_program_bind (program, &x, 1, y, n, &error));
  cleave_program_run (program);
  ck_assert (cleave_tensor_equal (x, before));
  for (guint i = 0; i < n; i++)
    ck_assert (cleave_tensor_equal (y[i], want->pdata[i]));
}

/* Returns a tensor of this type that is a slice of a larger tensor. */
static CleaveTensor *
make_part (const CleaveTensorType *type)
{
  CleaveTensorType wide = *type;
  CleaveRange range = cleave_range_whole (&type->shape);
  guint last = type->shape.rank - 1;
  g_autoptr (CleaveTensor) whole = NULL;

  wide.shape.dim[last] += 5;
  range.dim[last] = (CleaveSpan){ 3, 3 + type->shape.dim[last] };
  whole = cleave_random_tensor (&wide, 9, FALSE);
  return cleave_tensor_new_slice (whole, &range);
}

/* Runs a graph with one input on dense tensors, then on slices of larger tensors, then on dense
 * tensors again. If `in_direct`, the program reads the input without a copy. If `out_direct`, the
 * program computes the outputs without a copy. */
static void
check_graph (CleaveGraph *graph, gboolean in_direct, gboolean out_direct)
{
  CleaveProgramOptions options = { .n_threads = 1 };
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, NULL);
  CleaveTensorType x_type = *cleave_result_get_type (cleave_graph_get_input (graph, 0));
  guint n = cleave_graph_get_n_outputs (graph);
  g_autoptr (CleaveTensor) x = cleave_random_tensor (&x_type, 1, FALSE);
  g_autoptr (CleaveTensor) x_part = make_part (&x_type);

  for (guint round = 0; round < 4; round++)
    {
      gboolean parts = round == 1, part_in = round == 2;
      g_autoptr (GPtrArray) y =
          g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

      for (guint i = 0; i < n; i++)
        {
          CleaveTensorType type = *cleave_result_get_type (
              cleave_operand_get_result (cleave_graph_get_output (graph, i)));

          g_ptr_array_add (y, parts ? make_part (&type) : cleave_random_tensor (&type, 2, FALSE));
        }
      check_run (program, graph, parts || part_in ? x_part : x, (CleaveTensor **) y->pdata);
      ck_assert_int_eq (program->inputs[0].direct, in_direct && !parts && !part_in);
      ck_assert_int_eq (program->outputs[0].direct, out_direct && !parts);
    }
}

START_TEST (an_input_that_is_only_read_is_not_copied)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (4, 6));
  const gint64 sizes[] = { 1, 3, 2 };
  CleaveNode *split = cleave_graph_add_split (graph, NULL, x, 1, sizes, 3, NULL);

  for (guint i = 0; i < 3; i++)
    run_output (graph, cleave_node_get_result (split, i));
  check_graph (graph, TRUE, FALSE);
}
END_TEST

START_TEST (an_overwritten_input_is_copied_first)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (4, 6));

  run_output (graph, run_unary (graph, "Neg", x));
  check_graph (graph, FALSE, TRUE);
}
END_TEST

START_TEST (parts_are_written_directly_into_an_output)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (4, 6));
  CleaveResult *parts[] = { run_unary (graph, "Neg", x), x, run_unary (graph, "Abs", x) };

  run_output (graph, cleave_graph_add_concat (graph, NULL, parts, 3, 1, NULL));
  check_graph (graph, TRUE, TRUE);
}
END_TEST

/* The strips of the output overlay the rows of the input. The caller's tensors are two separate
 * pieces of memory, so the program copies the input and the output. */
START_TEST (an_input_and_an_output_that_share_memory_are_copied)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (16, 32)), *parts[8];
  CleaveResult *w = run_constant (graph, &CLEAVE_SHAPE (32, 32), 1);
  CleaveRange ranges[8];

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      ranges[i] = cleave_range_whole (&cleave_result_get_type (x)->shape);
      ranges[i].dim[0] = (CleaveSpan){ 2 * i, 2 * i + 2 };
      parts[i] = run_add (graph, "MatMul", (CleaveResult *[]){ run_slice (graph, x, ranges[i]), w },
                          2, NULL);
    }
  run_output (graph, run_assemble (graph, parts, ranges, G_N_ELEMENTS (parts)));
  check_graph (graph, FALSE, FALSE);
}
END_TEST

START_TEST (one_value_may_be_two_outputs)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (4, 6));
  CleaveResult *y = run_unary (graph, "Neg", x);

  run_output (graph, y);
  run_output (graph, y);
  run_output (graph, x);
  check_graph (graph, TRUE, TRUE);
}
END_TEST

START_TEST (other_memory_orders_are_converted)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 5, 4));

  run_output (graph, run_conv (graph, x, 3, 3, CLEAVE_LAYOUT_NCHW));
  check_graph (graph, FALSE, FALSE);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "borders", an_input_that_is_only_read_is_not_copied,
                   an_overwritten_input_is_copied_first, parts_are_written_directly_into_an_output,
                   an_input_and_an_output_that_share_memory_are_copied,
                   one_value_may_be_two_outputs, other_memory_orders_are_converted, NULL);
}

CLEAVE_TEST_SUITE ("borders", add_tests)
