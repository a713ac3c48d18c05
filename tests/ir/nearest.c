/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the suggestions for a misspelled word or node name. Also tests that a tensor releases
 * borrowed memory together with its last slice. */

#include "test.h"

#include <cleave/cleave-languages.h>

START_TEST (the_nearest_word_is_the_one_with_fewest_edits)
{
  static const char *const words[] = { "num-chunks", "chunk-size", "chunk-sizes",
                                       "dims",       "Conv_12",    NULL };
  static const struct
  {
    const char *text, *nearest;
  } cases[] = {
    { "num-chunk", "num-chunks" },
    { "nmu-chunks", "num-chunks" },
    { "NUM_CHUNKS", "num-chunks" },
    { "chunk-size", "chunk-size" },
    { "chunk-sise", "chunk-size" },
    { "chunks-sizes", "chunk-sizes" },
    { "dim", "dims" },
    { "dimss", "dims" },
    { "conv_12", "Conv_12" },
    { "conv_21", "Conv_12" },
    { "num", "num-chunks" },
    { "chu", "chunk-size" },
    { "n", NULL },
    { "wings", NULL },
    { "", NULL },
  };
  g_autofree char *long_text = g_strnfill (1000, 'x');

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    ck_assert_pstr_eq (cleave_text_find_nearest (cases[i].text, words), cases[i].nearest);
  ck_assert_ptr_null (cleave_text_find_nearest (long_text, words));
}
END_TEST

START_TEST (a_node_is_suggested_for_a_similar_name)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  const CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2);

  ck_assert_ptr_null (cleave_graph_find_nearest_name (graph, "input"));
  cleave_graph_add_input (graph, "block1.conv", &type, NULL);
  cleave_graph_add_input (graph, "block2.conv", &type, NULL);
  ck_assert_str_eq (cleave_graph_find_nearest_name (graph, "block2conv"), "block2.conv");
  ck_assert_str_eq (cleave_graph_find_nearest_name (graph, "block3.conv"), "block1.conv");
  ck_assert_ptr_null (cleave_graph_find_nearest_name (graph, "pooling"));
}
END_TEST

START_TEST (a_node_is_found_by_name_or_the_error_lists_names)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  g_autoptr (GError) error = NULL;
  const CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2);
  CleaveResult *input = cleave_graph_add_input (graph, "block1.conv", &type, NULL);

  ck_assert_ptr_eq (cleave_graph_select_node (graph, "block1.conv", &error),
                    cleave_result_get_node (input));
  ck_assert_ptr_null (cleave_graph_select_node (graph, "block2.conv", &error));
  ck_assert_str_eq (error->message,
                    "the graph has no node 'block2.conv'; did you mean 'block1.conv'?");
}
END_TEST

static void
count_release (gpointer count)
{
  ++*(guint *) count;
}

START_TEST (borrowed_memory_is_released_with_the_last_slice)
{
  static const CleaveTensorType type = { CLEAVE_FLOAT32, { 1, { 4 } } };
  const CleaveRange range = CLEAVE_RANGE (1, 3);
  float memory[5] = { 1, 2, 3, 4 };
  guint n_released = 0;
  g_autoptr (GError) error = NULL;
  CleaveTensor *tensor =
      cleave_tensor_new_borrowed (&type, memory, count_release, &n_released, &error);
  CleaveTensor *slice;

  cleave_assert_no_error (error);
  slice = cleave_tensor_new_slice (tensor, &range);
  ck_assert_ptr_eq (cleave_tensor_get_data (tensor), memory);
  ck_assert_ptr_null (cleave_tensor_get_mutable_data (tensor));
  cleave_tensor_unref (tensor);
  ck_assert_uint_eq (n_released, 0);
  memory[1] = 7;
  ck_assert (*(const float *) cleave_tensor_get_data (slice) == 7);
  cleave_tensor_unref (slice);
  ck_assert_uint_eq (n_released, 1);
  tensor =
      cleave_tensor_new_borrowed (&type, (char *) memory + 1, count_release, &n_released, &error);
  ck_assert_ptr_null (tensor);
  ck_assert_uint_eq (n_released, 1);
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION, "the memory is not aligned for float32");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "nearest", the_nearest_word_is_the_one_with_fewest_edits,
                   a_node_is_suggested_for_a_similar_name,
                   a_node_is_found_by_name_or_the_error_lists_names, NULL);
  cleave_add_case (suite, "borrowed", borrowed_memory_is_released_with_the_last_slice, NULL);
}

CLEAVE_TEST_SUITE ("nearest", add_tests)
