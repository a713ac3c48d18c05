/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Models with channels in blocks, in the form that ONNX Runtime saves after all its optimizations.
 * Each test writes the same network twice: plain, and with blocked weights and padding. */

#include "test.h"

#include <string.h>

#include "dump.h"
#include "interpret.h"
#include "models.h"

#define N_MIDDLE 20 /* number of channels between the convolutions: not a multiple of 8 */
#define N_LAST 12

static float
weight (gint64 o, gint64 i, gint64 tap)
{
  return (float) ((o * 37 + i * 11 + tap * 5) % 19 - 9) / 16;
}

static gint64
pad_up (gint64 n, gint64 block)
{
  return block == 0 ? n : (n + block - 1) / block * block;
}

/* Adds weights [n_outputs, n_inputs, size, size]. If `block` is not 0, the weights are stored in
 * blocks of `block` channels. With b = `block`, the weight for output channel o and input channel i
 * then lies at [o / b][i][tap][o % b]. If the input channels are also in blocks, the weight lies at
 * [o / b][i / b][tap][i % b][o % b]. */
static void
add_filter (Model *model,
            const char *name,
            gint64 block,
            gboolean has_blocked_inputs,
            gint64 n_outputs,
            gint64 n_inputs,
            gint64 size)
{
  gint64 b = MAX (block, 1), taps = size * size, n_rows = pad_up (n_outputs, block);
  gint64 n_columns = has_blocked_inputs ? pad_up (n_inputs, block) : n_inputs;
  g_autofree float *w = g_new0 (float, (gsize) (n_rows * n_columns * taps));

  for (gint64 o = 0; o < n_outputs; o++)
    for (gint64 i = 0; i < n_inputs; i++)
      for (gint64 tap = 0; tap < taps; tap++)
        w[block == 0 ? (o * n_inputs + i) * taps + tap
          : has_blocked_inputs
              ? ((o / b * (n_columns / b) + i / b) * taps + tap) * b * b + i % b * b + o % b
              : ((o / b * n_inputs + i) * taps + tap) * b + o % b] = weight (o, i, tap);
  model_add_initializer (model, name, &CLEAVE_TYPE (CLEAVE_FLOAT32, n_rows, n_columns, size, size),
                         w);
}

static void
add_bias (Model *model, const char *name, gint64 block, gint64 n)
{
  g_autofree float *bias = g_new0 (float, (gsize) pad_up (n, block));

  for (gint64 o = 0; o < n; o++)
    bias[o] = weight (o, 3, 0);
  model_add_initializer (model, name, &CLEAVE_TYPE (CLEAVE_FLOAT32, pad_up (n, block)), bias);
}

/* Adds a node that is in the domain of blocked ops unless `block` is 0. */
static Onnx__NodeProto *
add (Model *model, gint64 block, const char *op, const char *operands, const char *result)
{
  Onnx__NodeProto *node = model_add_node (model, op, result, operands, result);

  if (block > 0)
    node->domain = g_strdup ("com.microsoft.nchwc");
  return node;
}

static void
add_reorder_output (Model *model, const char *operand, const char *result, gint64 n, gboolean last)
{
  Onnx__NodeProto *node = add (model, 8, "ReorderOutput", operand, result);

  node_add_int (node, "channels", n);
  node_add_int (node, "channels_last", last);
}

static void
add_weights (Model *model, gint64 block)
{
  add_filter (model, "w1", block, FALSE, N_MIDDLE, 3, 3);
  add_bias (model, "b1", block, N_MIDDLE);
  add_filter (model, "w2", block, FALSE, N_MIDDLE, 1, 3);
  add_filter (model, "w3", block, TRUE, N_LAST, N_MIDDLE, 1);
  add_filter (model, "w4", block, TRUE, N_LAST, N_MIDDLE, 1);
  add_bias (model, "b4", block, N_LAST);
}

/* Makes a model of four convolutions. The convolution of x, with a Relu, gives a. A depthwise
 * convolution of a, and a convolution after it, give d. A Relu, a MaxPool and a Sigmoid of Conv (a)
 * + d give y. `block` is the number of channels in a block; 0: the plain form. */
static Model *
make_model (gint64 block)
{
  Model *model = model_new (17);
  const char *relu = "Relu";

  model_add_input (model, "x", "2x3x9x9");
  model_add_output (model, "y");
  add_weights (model, block);
  node_add_ints (add (model, block, "Conv", "x w1 b1", block > 0 ? "a" : "a0"), "pads",
                 &CLEAVE_INTS (1, 1, 1, 1));
  if (block > 0)
    node_add_string (model->graph->node[0], "activation", relu);
  else
    add (model, 0, relu, "a0", "a");
  node_add_int (add (model, block, "Conv", "a w2", "c"), "group", pad_up (N_MIDDLE, block));
  add (model, block, "Conv", "c w3", "d");
  node_add_ints (model->graph->node[model->graph->n_node - 1], "pads", &CLEAVE_INTS (1, 1, 1, 1));
  if (block > 0)
    node_add_string (add (model, block, "Conv", "a w4 b4 d", "e"), "activation", relu);
  else
    {
      add (model, 0, "Conv", "a w4 b4", "e0");
      add (model, 0, "Add", "e0 d", "e1");
      add (model, 0, relu, "e1", "e");
    }
  node_add_ints (add (model, block, "MaxPool", "e", "p"), "kernel_shape", &CLEAVE_INTS (2, 2));
  add (model, 0, "Sigmoid", "p", block > 0 ? "s" : "y");
  if (block > 0)
    add_reorder_output (model, "s", "y", N_LAST, FALSE);
  return model;
}

static CleaveTensor *
evaluate (const CleaveGraph *graph)
{
  g_autoptr (CleaveTensor) x =
      cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_FLOAT32, 2, 3, 9, 9), 5, FALSE);
  g_autoptr (GPtrArray) outputs = cleave_interpret (graph, &x);

  return cleave_tensor_ref (outputs->pdata[0]);
}

START_TEST (the_block_size_is_found_from_the_file)
{
  g_autoptr (Model) plain = make_model (0);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) want = model_import (plain, &error);
  g_autoptr (CleaveTensor) expected = NULL;

  cleave_assert_no_error (error);
  expected = evaluate (want);
  for (gint64 block = 8; block <= 16; block += 8)
    {
      g_autoptr (Model) model = make_model (block);
      g_autoptr (CleaveGraph) graph = model_import (model, &error);
      g_autoptr (CleaveTensor) y = NULL;

      cleave_assert_no_error (error);
      ck_assert_ptr_null (cleave_onnx_get_warnings (graph)[0]);
      ck_assert_uint_eq (cleave_graph_get_n_nodes (graph), cleave_graph_get_n_nodes (want));
      y = evaluate (graph);
      ck_assert (cleave_tensor_equal (y, expected));
    }
}
END_TEST

/* Makes a model of one convolution with 16 channels. */
static Model *
make_square (const char *op)
{
  Model *model = model_new (17);

  model_add_input (model, "x", "1x16x4x4");
  model_add_output (model, "y");
  add_filter (model, "w", 16, TRUE, 16, 16, 1);
  add (model, 16, "ReorderInput", "x", "b");
  add (model, 16, "Conv", "b w", "c");
  if (op != NULL)
    add (model, 0, op, "c", "d");
  add_reorder_output (model, op == NULL ? "c" : "d", "y", 16, TRUE);
  return model;
}

START_TEST (a_file_without_evidence_of_the_block_size_is_read_with_a_warning)
{
  g_autoptr (Model) model = make_square (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = model_import (model, &error);

  cleave_assert_no_error (error);
  ck_assert_ptr_nonnull (cleave_onnx_get_warnings (graph)[0]);
  ck_assert_ptr_nonnull (strstr (cleave_onnx_get_warnings (graph)[0], "blocks of 8 or of 16"));
  ck_assert (cleave_tensor_type_equal (
      cleave_result_get_type (cleave_operand_get_result (cleave_graph_get_output (graph, 0))),
      &CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 4, 4, 16)));
}
END_TEST

START_TEST (an_op_that_mixes_blocked_channels_is_an_error)
{
  g_autoptr (Model) model = make_square ("Softmax");

  model_assert_error (model, CLEAVE_ERROR_MODEL,
                      "Softmax 'd': it reads channels in blocks, which only element-wise ops may: "
                      "save the model with the level 'extended' of ONNX Runtime's optimizations");
}
END_TEST

START_TEST (weights_that_do_not_fit_blocks_are_an_error)
{
  g_autoptr (Model) model = model_new (17);

  model_add_input (model, "x", "1x3x4x4");
  model_add_output (model, "y");
  add_filter (model, "w", 0, FALSE, 12, 3, 1);
  add (model, 16, "Conv", "x w", "c");
  add_reorder_output (model, "c", "y", 12, FALSE);
  model_assert_error (model, CLEAVE_ERROR_MODEL,
                      "Conv 'c': weights of 12 outputs, 3 inputs and 1 groups do not fit blocks of "
                      "16 channels");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "blocked", the_block_size_is_found_from_the_file,
                   a_file_without_evidence_of_the_block_size_is_read_with_a_warning,
                   an_op_that_mixes_blocked_channels_is_an_error,
                   weights_that_do_not_fit_blocks_are_an_error, NULL);
}

CLEAVE_TEST_SUITE ("import-blocked", add_tests)
