/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Operators that the table of operators.c cannot describe: with constant operands only, elements of
 * int16, several results, a state, bools, or constants that many operators share. The results are
 * compared with numbers of the specification. */

#include "graphs.h"
#include "run-help.h"
#include "tflite-file.h"

/* All operands of RANGE are constants, since the shape of its result must be known at import. */
START_TEST (a_range_of_constants_is_a_constant)
{
  static const gint32 start[1] = { 3 }, limit[1] = { 12 }, step[1] = { 4 };
  const TfliteTensor tensors[] = {
    { .name = "start", .type = TFLITE_INT32, .shape = "", .data = start, .n_bytes = 4 },
    { .name = "limit", .type = TFLITE_INT32, .shape = "", .data = limit, .n_bytes = 4 },
    { .name = "step", .type = TFLITE_INT32, .shape = "", .data = step, .n_bytes = 4 },
    { .name = "range", .type = TFLITE_INT32, .shape = "3" },
    { .name = "x", .type = TFLITE_INT32, .shape = "3" },
    { .name = "y", .type = TFLITE_INT32, .shape = "3" },
  };
  const TfliteOperator operators[] = {
    { 96, NULL, { 0, 1, 2 }, 3, { 3 }, 1, 0, { { 0 } } },
    { 0, NULL, { 3, 4 }, 2, { 5 }, 1, 0, { { 0 } } },
  };
  const TfliteGraph file = {
    tensors, G_N_ELEMENTS (tensors), operators, G_N_ELEMENTS (operators), { 4 }, 1, { 5 }, 1, 0
  };
  const gint32 x[3] = { 100, 200, 300 }, expected[3] = { 103, 207, 311 };
  g_autoptr (GBytes) bytes = tflite_file_new (&file);
  g_autoptr (CleaveGraph) graph = cleave_tflite_parse (bytes, NULL);
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) outputs = NULL;

  ck_assert_ptr_nonnull (graph);
  g_ptr_array_add (inputs, cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT32, 3), x, NULL));
  outputs = run_graph (graph, inputs, 1);
  ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[0]), expected, sizeof (expected));
}
END_TEST

/* MAX_POOL_2D of int16 with the activation RELU_N1_TO_1 clamps its results to the bounds -1 and 1.
 * With the scale 0.005, these bounds are the integers -200 and 200. */
START_TEST (words_are_pooled)
{
  static const float scale[1] = { 0.005f };
  const TfliteTensor tensors[] = {
    { .name = "x", .type = TFLITE_INT16, .shape = "1x2x4x1", .scales = scale, .n_scales = 1 },
    { .name = "y", .type = TFLITE_INT16, .shape = "1x1x3x1", .scales = scale, .n_scales = 1 },
  };
  const TfliteOperator op = {
    17,
    NULL,
    { 0 },
    1,
    { 1 },
    1,
    5,
    { { 0, 'b', 1 }, { 1, 'i', 1 }, { 2, 'i', 1 }, { 3, 'i', 2 }, { 4, 'i', 2 }, { 5, 'b', 2 } }
  };
  const TfliteGraph file = { tensors, G_N_ELEMENTS (tensors), &op, 1, { 0 }, 1, { 1 }, 1, 0 };
  const gint16 x[8] = { -32768, -300, -400, 7, -500, -600, 150, 32767 };
  const gint16 expected[3] = { -200, 150, 200 };
  g_autoptr (GBytes) bytes = tflite_file_new (&file);
  g_autoptr (CleaveGraph) graph = cleave_tflite_parse (bytes, NULL);
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) outputs = NULL;

  ck_assert_ptr_nonnull (graph);
  g_ptr_array_add (inputs,
                   cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT16, 1, 2, 4, 1), x, NULL));
  outputs = run_graph (graph, inputs, 1);
  ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[0]), expected, sizeof (expected));
}
END_TEST

/* TOPK_V2 returns the largest elements of each row and their indices. */
START_TEST (the_largest_elements_have_their_indices)
{
  static const gint32 k[1] = { 2 };
  const TfliteTensor tensors[] = {
    { .name = "x", .type = TFLITE_FLOAT32, .shape = "2x3" },
    { .name = "k", .type = TFLITE_INT32, .shape = "", .data = k, .n_bytes = 4 },
    { .name = "values", .type = TFLITE_FLOAT32, .shape = "2x2" },
    { .name = "indices", .type = TFLITE_INT32, .shape = "2x2" },
  };
  const TfliteOperator op = { 48, NULL, { 0, 1 }, 2, { 2, 3 }, 2, 0, { { 0 } } };
  const TfliteGraph file = { tensors, G_N_ELEMENTS (tensors), &op, 1, { 0 }, 1, { 2, 3 }, 2, 0 };
  const float x[6] = { 1, 3, 3, -1, -3, -2 }, values[4] = { 3, 3, -1, -2 };
  const gint32 indices[4] = { 1, 2, 0, 2 };
  g_autoptr (GBytes) bytes = tflite_file_new (&file);
  g_autoptr (CleaveGraph) graph = cleave_tflite_parse (bytes, NULL);
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) outputs = NULL;

  ck_assert_ptr_nonnull (graph);
  g_ptr_array_add (inputs, cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_FLOAT32, 2, 3), x, NULL));
  outputs = run_graph (graph, inputs, 1);
  ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[0]), values, sizeof (values));
  ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[1]), indices, sizeof (indices));
}
END_TEST

/* A UNIDIRECTIONAL_SEQUENCE_RNN with RELU computes h = max (2 x - h + 1, 0). The first h is an
 * input. */
START_TEST (a_recurrent_layer_has_a_state)
{
  static const float w[1] = { 2 }, r[1] = { -1 }, b[1] = { 1 };
  const TfliteTensor tensors[] = {
    { .name = "x", .type = TFLITE_FLOAT32, .shape = "1x3x1" },
    { .name = "w", .type = TFLITE_FLOAT32, .shape = "1x1", .data = w, .n_bytes = 4 },
    { .name = "r", .type = TFLITE_FLOAT32, .shape = "1x1", .data = r, .n_bytes = 4 },
    { .name = "b", .type = TFLITE_FLOAT32, .shape = "1", .data = b, .n_bytes = 4 },
    { .name = "h", .type = TFLITE_FLOAT32, .shape = "1x1", .is_variable = TRUE },
    { .name = "y", .type = TFLITE_FLOAT32, .shape = "1x3x1" },
  };
  const TfliteOperator op = {
    35, NULL, { 0, 1, 2, 3, 4 }, 5, { 5 }, 1, 24, { { 0, 'b', 0 }, { 1, 'b', 1 } }
  };
  const TfliteGraph file = { tensors, G_N_ELEMENTS (tensors), &op, 1, { 0 }, 1, { 5 }, 1, 0 };
  const float x[3] = { 3, 1, -5 }, h[1] = { 4 }, expected[3] = { 3, 0, 0 };
  g_autoptr (GBytes) bytes = tflite_file_new (&file);
  g_autoptr (CleaveGraph) graph = cleave_tflite_parse (bytes, NULL);
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autofree char *name = NULL;
  g_autoptr (GPtrArray) outputs = NULL;

  ck_assert_ptr_nonnull (graph);
  name = cleave_result_dup_name (cleave_graph_get_input (graph, 1));
  ck_assert_str_eq (name, "h");
  g_ptr_array_add (inputs,
                   cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 3, 1), x, NULL));
  g_ptr_array_add (inputs, cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 1), h, NULL));
  outputs = run_graph (graph, inputs, 1);
  ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[0]), expected, sizeof (expected));
  ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[1]), &expected[2], sizeof (float));
}
END_TEST

/* REDUCE_ANY and REDUCE_ALL reduce bools, the results of comparisons with 0. */
START_TEST (bools_are_reduced)
{
  static const gint32 axis[1] = { 1 };
  static const float zero[1] = { 0 };
  const TfliteTensor tensors[] = {
    { .name = "x", .type = TFLITE_FLOAT32, .shape = "3x2" },
    { .name = "zero", .type = TFLITE_FLOAT32, .shape = "", .data = zero, .n_bytes = 4 },
    { .name = "above", .type = TFLITE_BOOL, .shape = "3x2" },
    { .name = "axis", .type = TFLITE_INT32, .shape = "1", .data = axis, .n_bytes = 4 },
    { .name = "any", .type = TFLITE_BOOL, .shape = "3" },
    { .name = "all", .type = TFLITE_BOOL, .shape = "3" },
  };
  const TfliteOperator operators[] = {
    { 61, NULL, { 0, 1 }, 2, { 2 }, 1, 0, { { 0 } } },
    { 91, NULL, { 2, 3 }, 2, { 4 }, 1, 0, { { 0 } } },
    { 140, NULL, { 2, 3 }, 2, { 5 }, 1, 0, { { 0 } } },
  };
  const TfliteGraph file = {
    tensors, G_N_ELEMENTS (tensors), operators, G_N_ELEMENTS (operators), { 0 }, 1, { 4, 5 }, 2, 0
  };
  const float x[6] = { 1, 2, 1, -1, -1, -2 };
  const guint8 any[3] = { 1, 1, 0 }, all[3] = { 1, 0, 0 };
  g_autoptr (GBytes) bytes = tflite_file_new (&file);
  g_autoptr (CleaveGraph) graph = cleave_tflite_parse (bytes, NULL);
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) outputs = NULL;

  ck_assert_ptr_nonnull (graph);
  g_ptr_array_add (inputs, cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_FLOAT32, 3, 2), x, NULL));
  outputs = run_graph (graph, inputs, 1);
  ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[0]), any, 3);
  ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[1]), all, 3);
}
END_TEST

/* Many convolutions read one constant. The import stores a transposed copy of the constant for each
 * convolution, up to a limit of bytes. Beyond the limit, a Transpose node in the graph transposes
 * the weights. A copied constant of bools still fits into the limit. */
START_TEST (weights_that_many_convolutions_share_leave_room_for_other_constants)
{
  enum { N_LAYERS = 300, N_CHANNELS = 32, FIRST = 4 };
  static const guint8 choice[1] = { 1 };
  static float w[N_CHANNELS * 2 * 2 * N_CHANNELS];
  g_autoptr (GStringChunk) names = g_string_chunk_new (16);
  TfliteTensor tensors[FIRST + N_LAYERS] = {
    { .name = "x", .shape = "1x2x2x32" },
    { .name = "w", .shape = "32x2x2x32", .data = w, .n_bytes = sizeof (w) },
    { .name = "choice", .type = TFLITE_BOOL, .shape = "1", .data = choice, .n_bytes = 1 },
    { .name = "y", .shape = "1x2x2x32" }
  };
  TfliteOperator operators[N_LAYERS + 1];
  const TfliteGraph file = {
    tensors, G_N_ELEMENTS (tensors), operators, G_N_ELEMENTS (operators), { 0 }, 1, { 3 }, 1, 0
  };
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = NULL;

  for (gint i = 0; i < N_LAYERS; i++)
    {
      g_autofree char *name = g_strdup_printf ("c%d", i);

      tensors[FIRST + i] =
          (TfliteTensor){ .name = g_string_chunk_insert (names, name), .shape = "1x2x2x32" };
      operators[i] = (TfliteOperator){ 3, NULL, { i == 0 ? 0 : FIRST + i - 1, 1 }, 2, { FIRST + i },
                                       1, 1,    { { 1, 'i', 1 }, { 2, 'i', 1 } } };
    }
  operators[N_LAYERS] =
      (TfliteOperator){ 123, NULL, { 2, FIRST + N_LAYERS - 1, 0 }, 3, { 3 }, 1, 0, { { 0 } } };
  bytes = tflite_file_new (&file);
  graph = cleave_tflite_parse (bytes, &error);
  cleave_assert_no_error (error);
  ck_assert_uint_gt (cleave_count_nodes (graph, "Transpose"), 0);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "values", a_range_of_constants_is_a_constant, words_are_pooled,
                   the_largest_elements_have_their_indices, a_recurrent_layer_has_a_state,
                   bools_are_reduced,
                   weights_that_many_convolutions_share_leave_room_for_other_constants, NULL);
}

CLEAVE_TEST_SUITE ("tflite-other-operators", add_tests)
