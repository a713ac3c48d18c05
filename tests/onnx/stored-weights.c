/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Weights that a file stores as bytes, and that a DequantizeLinear turns into floats. */

#include "graphs.h"
#include "models.h"
#include "run-help.h"

static CleaveResult *
add_bytes (CleaveGraph *graph, const char *name, CleaveElement element, CleaveShape shape)
{
  CleaveTensorType type = { element, shape };
  g_autoptr (CleaveTensor) tensor = cleave_random_tensor (&type, 7, FALSE);

  return cleave_graph_add_constant (graph, name, tensor);
}

static CleaveResult *
add_scales (CleaveGraph *graph, gint64 n)
{
  CleaveTensorType type = n == 0 ? CLEAVE_SCALAR (CLEAVE_FLOAT32) : CLEAVE_TYPE (CLEAVE_FLOAT32, n);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new (&type, NULL);
  float *data = cleave_tensor_get_mutable_data (tensor);

  for (gint64 i = 0; i < MAX (n, 1); i++)
    data[i] = 0.01f * (float) (i + 1);
  return cleave_graph_add_constant (graph, "scale", tensor);
}

/* Adds weights stored as bytes under `name`, with a scale for each index of dimension 0. */
static CleaveResult *
add_weights (CleaveGraph *graph, const char *name, CleaveShape shape)
{
  CleaveAxisAttrs attrs = { 0 };
  CleaveResult *operands[3] = {
    add_bytes (graph, NULL, CLEAVE_INT8, shape), add_scales (graph, shape.dim[0]),
    add_bytes (graph, "zero", CLEAVE_INT8, CLEAVE_SHAPE (shape.dim[0]))
  };
  CleaveNode *node = cleave_graph_add (graph, cleave_op_lookup ("DequantizeLinear"), name, operands,
                                       3, 1, &attrs, NULL);

  return cleave_node_get_result (node, 0);
}

static CleaveGraph *
make_conv (gint64 channels)
{
  CleaveGraph *graph = cleave_graph_new ("stored");
  CleaveResult *x =
      cleave_graph_add_input (graph, "x", &CLEAVE_TYPE (CLEAVE_FLOAT32, 1, channels, 6, 6), NULL);
  CleaveResult *w = add_weights (graph, "w", CLEAVE_SHAPE (channels, channels, 3, 3));
  CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (1, 1, 1, 1) };

  cleave_graph_add_output (graph, "y",
                           cleave_graph_add_conv (graph, "conv", x, w, NULL, &attrs, NULL), NULL);
  return graph;
}

static guint
count_floats (const CleaveGraph *graph)
{
  guint n = 0;

  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    {
      CleaveTensor *constant = cleave_node_get_constant (node);

      if (constant != NULL && cleave_tensor_get_type (constant)->element == CLEAVE_FLOAT32)
        n += (guint) cleave_shape_n_elements (&cleave_tensor_get_type (constant)->shape);
    }
  return n;
}

static gint64
file_size (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, &error);

  cleave_assert_no_error (error);
  return (gint64) g_bytes_get_size (bytes);
}

static CleaveGraph *
write_and_read (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, &error);
  CleaveGraph *read = cleave_onnx_parse (bytes, NULL, NULL, &error);

  cleave_assert_no_error (error);
  return read;
}

START_TEST (stored_weights_stay_bytes_in_a_file)
{
  g_autoptr (CleaveGraph) graph = make_conv (32);
  g_autoptr (CleaveGraph) read = write_and_read (graph);
  gint64 before = file_size (graph);

  for (guint cleaned = 0; cleaned < 2; cleaned++)
    {
      ck_assert_uint_eq (count_floats (read), 32); /* only the 32 scales are floats */
      ck_assert_uint_eq (cleave_count_nodes (read, "DequantizeLinear"), 1);
      ck_assert_int_le (file_size (read), before);
      ck_assert (cleave_clean_up (read, NULL, NULL));
    }
}
END_TEST

START_TEST (quantize_linear_of_a_constant_is_not_folded)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL), read = NULL;
  CleaveResult *operands[2] = { run_constant (graph, &CLEAVE_SHAPE (4, 300), 3),
                                add_scales (graph, 0) };
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, 4));

  operands[0] = run_add (graph, "QuantizeLinear", operands, 2, NULL);
  operands[0] = run_add (graph, "DequantizeLinear", operands, 2, NULL);
  run_output (graph, run_binary (graph, "MatMul", x, operands[0]));
  read = write_and_read (graph);
  ck_assert (cleave_clean_up (read, NULL, NULL));
  ck_assert_uint_eq (cleave_count_nodes (read, "QuantizeLinear"), 1);
  ck_assert_uint_eq (cleave_count_nodes (read, "DequantizeLinear"), 1);
  run_assert_same (graph, 1);
}
END_TEST

START_TEST (pieces_have_parts_of_the_bytes)
{
  g_autoptr (CleaveGraph) graph = make_conv (4);
  g_autoptr (GError) error = NULL;
  CleaveNode *conv = cleave_graph_find_node (graph, "conv");
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("1", (const gint64[]){ 2 }, 1);
  g_autoptr (CleaveSplitReport) report = cleave_split_node (conv, split, NULL, &error);

  cleave_assert_no_error (error);
  cleave_assert_dump (
      graph, "%0 = Input : float32 1x4x6x6  # x\n"
             "%1 = Constant : int8 2x4x3x3  # conv.0.W.x\n"
             "%2 = Constant : float32 2  # conv.0.W.x_scale\n"
             "%3 = Constant : int8 2  # conv.0.W.x_zero_point\n"
             "%4 = DequantizeLinear %1, %2, %3 axis=0 : float32 2x4x3x3  # conv.0.W\n"
             "%5 = Conv %0, %4 pads=1,1,1,1 : float32 1x2x6x6  # conv.0\n"
             "%6 = Constant : int8 2x4x3x3  # conv.1.W.x\n"
             "%7 = Constant : float32 2  # conv.1.W.x_scale\n"
             "%8 = Constant : int8 2  # conv.1.W.x_zero_point\n"
             "%9 = DequantizeLinear %6, %7, %8 axis=0 : float32 2x4x3x3  # conv.1.W\n"
             "%10 = Conv %0, %9 pads=1,1,1,1 : float32 1x2x6x6  # conv.1\n"
             "%11 = Assemble %5, %10 0:1,0:2,0:6,0:6 0:1,2:4,0:6,0:6 : float32 1x4x6x6  # conv\n"
             "output %11  # y\n");
  run_assert_same (graph, 2);
}
END_TEST

/* A node is cut along each dimension of its weight, with and without a Transpose of the weight. The
 * bits stay the same, and the file does not grow. */
START_TEST (a_split_keeps_bits_and_bytes)
{
  for (guint i = 0; i < 4; i++)
    {
      gint64 n = 2;
      gboolean columns = i % 2 == 1;
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL), whole = NULL, read = NULL;
      CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (6, 8));
      CleaveResult *w = add_weights (graph, "w", CLEAVE_SHAPE (i < 2 ? 8 : 10, i < 2 ? 10 : 8));
      CleaveTransposeAttrs turn = { .perm = CLEAVE_INTS (1, 0) };
      CleaveResult *turned = i < 2 ? w : run_add (graph, "Transpose", &w, 1, &turn);
      g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks (columns ? "1" : "0", &n, 1);
      g_autoptr (CleaveSplitReport) report = NULL;
      g_autoptr (GPtrArray) inputs = NULL, a = NULL, b = NULL;

      run_output (graph, run_binary (graph, "MatMul", x, turned));
      whole = cleave_graph_copy (graph);
      report = cleave_split_all_nodes (graph, split, NULL, NULL);
      ck_assert (report != NULL && cleave_clean_up (graph, NULL, NULL));
      ck_assert_uint_eq (cleave_count_nodes (graph, "MatMul"), 2);
      ck_assert_uint_eq (cleave_count_nodes (graph, "DequantizeLinear"), columns ? 2 : 1);
      ck_assert_uint_eq (count_floats (graph), i < 2 ? 8 : 10);
      read = write_and_read (graph);
      inputs = run_random_inputs (whole, i);
      a = run_graph (whole, inputs, 1);
      b = run_graph (read, inputs, 2);
      ck_assert_int_eq (cleave_compare_outputs (a, b), -1);
    }
}
END_TEST

/* A program dequantizes weights of any size once, when the program is made, even if a Transpose
 * reads the weights. A kernel may keep the bytes instead, so weights may take less memory than in a
 * float model. */
START_TEST (a_program_dequantizes_stored_weights_once)
{
  for (guint turned = 0; turned < 2; turned++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL), plain = cleave_graph_new (NULL);
      CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (3, 600));
      CleaveResult *w = add_weights (graph, "w", CLEAVE_SHAPE (600, 600));
      CleaveTransposeAttrs turn = { .perm = CLEAVE_INTS (1, 0) };
      CleaveProgramStats stats, plain_stats;

      if (turned)
        w = run_unary (graph, "Neg", run_add (graph, "Transpose", &w, 1, &turn));
      run_output (graph, run_binary (graph, "MatMul", x, w));
      x = run_input (plain, &CLEAVE_SHAPE (3, 600));
      w = run_constant (plain, &CLEAVE_SHAPE (600, 600), 1);
      run_output (plain, run_binary (plain, "MatMul", x, w));
      stats = run_get_stats (graph, 1);
      plain_stats = run_get_stats (plain, 1);
      ck_assert_int_eq (cleave_graph_get_peak_bytes (graph, NULL),
                        cleave_graph_get_peak_bytes (plain, NULL));
      ck_assert_int_eq (stats.arena_bytes, plain_stats.arena_bytes);
      ck_assert_int_le (stats.weight_bytes, plain_stats.weight_bytes);
      ck_assert_uint_eq (stats.n_steps, plain_stats.n_steps);
      run_assert_same (graph, turned);
    }
}
END_TEST

/* A node that reads only constants has several results. The program keeps all results as long as it
 * exists, and counts slices of one constant once. */
START_TEST (several_results_are_kept)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *w = add_weights (graph, "w", CLEAVE_SHAPE (50, 60));
  const gint64 sizes[] = { 20, 30 };
  CleaveTopkAttrs attrs = { .k = 7, .axis = 1, .largest = TRUE, .sorted = TRUE };
  CleaveNode *top =
      cleave_graph_add (graph, cleave_op_lookup ("TopK"), NULL, &w, 1, 2, &attrs, NULL);
  CleaveNode *split = cleave_graph_add_split (graph, NULL, w, 0, sizes, 2, NULL);

  for (guint i = 0; i < 2; i++)
    {
      run_output (graph, cleave_node_get_result (top, i));
      run_output (graph, run_unary (graph, "Neg", cleave_node_get_result (split, i)));
      run_output (graph, cleave_node_get_result (split, i));
    }
  run_assert_same (graph, 1);
  ck_assert_uint_eq (run_get_stats (graph, 1).n_steps, 6);
}
END_TEST

/* Edits may make an operand a constant, or replace a constant operand by an input. Both edits
 * change which values count as weights. */
START_TEST (an_edit_is_noticed)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (3, 4));
  CleaveResult *c = run_constant (graph, &CLEAVE_SHAPE (3, 4), 1);
  CleaveResult *y = run_unary (graph, "Neg", c);

  run_output (graph, run_unary (graph, "Relu", y));
  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (GPtrArray) inputs = run_random_inputs (graph, i);

      ck_assert (cleave_graph_validate (graph, NULL));
      ck_assert_uint_eq (run_get_stats (graph, 1).n_steps, i % 2 == 0 ? 2 : 4);
      run_assert_same (graph, i);
      cleave_operand_set (cleave_node_get_operand (cleave_result_get_node (y), 0),
                          i % 2 == 0 ? x : c);
    }
}
END_TEST

/* The import folds an Expand, since the shape of a NonZero depends on the value of the Expand. The
 * import does so although the value has more bytes than the operands of the Expand. */
START_TEST (needed_values_are_computed)
{
  g_autoptr (Model) model = model_new (13);
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (GError) error = NULL;
  gint64 n = 3000;

  model_add_input (model, "x", "3000");
  model_add_output (model, "y");
  model_add_initializer (model, "n", &CLEAVE_TYPE (CLEAVE_INT64, 1), &n);
  model_add_initializer (model, "one", &CLEAVE_TYPE (CLEAVE_INT64, 1), &(gint64){ 1 });
  model_add_node (model, "Expand", "ones", "one n", "ones");
  model_add_node (model, "NonZero", "indices", "ones", "indices");
  model_add_node (model, "Gather", "y", "x indices", "y");
  graph = model_import (model, &error);
  cleave_assert_no_error (error);
  ck_assert_uint_eq (cleave_count_nodes (graph, "Expand"), 0);
  ck_assert_uint_eq (cleave_count_nodes (graph, "Gather"), 1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "stored", stored_weights_stay_bytes_in_a_file,
                   quantize_linear_of_a_constant_is_not_folded, pieces_have_parts_of_the_bytes,
                   a_split_keeps_bits_and_bytes, a_program_dequantizes_stored_weights_once,
                   several_results_are_kept, an_edit_is_noticed, needed_values_are_computed, NULL);
}

CLEAVE_TEST_SUITE ("stored-weights", add_tests)
