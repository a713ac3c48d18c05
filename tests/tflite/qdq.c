/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The pass tflite-to-qdq. For all values of operands, the results of the changed graph may differ
 * by one at most from the results of the ops of TensorFlow Lite. The changed graph must have a form
 * in ONNX. */

#include "graphs.h"
#include "run-help.h"
#include "tflite-file.h"

#define N(array) ((guint) G_N_ELEMENTS (array))

/* An operator of one or two operands. `y_scale` is large enough that no sum of 32 bits wraps. */
typedef struct
{
  const char *name;
  gint code;
  guint n_operands;
  float a_scale, b_scale, y_scale;
  gint a_zero, b_zero, y_zero;
  TfliteOption option;
} Case;

static const Case bytes[] = {
  { "ADD", 0, 2, 0.5f, 0.25f, 0.75f, 3, -4, 5, { 0 } },
  { "SUB", 41, 2, 0.013f, 0.27f, 0.3f, 7, -9, 11, { 0, 'b', 1 } },
  { "MUL", 18, 2, 0.3f, 0.02f, 0.4f, -3, 0, -128, { 0, 'b', 3 } },
  { "SQUARED_DIFFERENCE", 99, 2, 0.05f, 0.02f, 0.4f, -3, 0, -128, { 0 } },
  { "PRELU", 54, 2, 0.25f, 0.03f, 0.5f, 1, 2, 3, { 0 } },
  { "RELU", 19, 1, 0.25f, 0, 0.5f, 1, 0, 3, { 0 } },
  { "LEAKY_RELU", 98, 1, 0.25f, 0, 0.3f, 1, 0, 3, { 0, 'f', 0.125 } },
  { "QUANTIZE", 114, 1, 0.25f, 0, 0.5f, 1, 0, 3, { 0 } },
  { "LOGISTIC", 14, 1, 0.05f, 0, 0x1p-8f, 3, 0, -128, { 0 } },
  { "SOFTMAX", 25, 1, 0.05f, 0, 0x1p-8f, 3, 0, -128, { 0, 'f', 1 } },
};

static const Case words[] = {
  { "ADD", 0, 2, 0.5f, 0.25f, 90, 0, 0, 0, { 0 } },
  { "MUL", 18, 2, 0x1p-12f, 0x1p-10f, 0x1p-8f, 0, 0, 0, { 0 } },
  { "RELU", 19, 1, 0.5f, 0, 1, 0, 0, 0, { 0 } },
  { "LEAKY_RELU", 98, 1, 0.5f, 0, 0.7f, 0, 0, 0, { 0, 'f', 0.25 } },
  { "ABS", 101, 1, 0.3f, 0, 0.7f, 0, 0, 0, { 0 } },
};

static CleaveGraph *
read_case (const Case *c, gint type)
{
  const TfliteTensor tensors[] = {
    { .name = "a",
      .type = type,
      .shape = c->n_operands == 2 ? "256x256" : "1x256",
      .scales = &c->a_scale,
      .n_scales = 1,
      .zero = c->a_zero },
    { .name = "b",
      .type = type,
      .shape = "256",
      .scales = &c->b_scale,
      .n_scales = 1,
      .zero = c->b_zero },
    { .name = "y",
      .type = type,
      .shape = c->n_operands == 2 ? "256x256" : "1x256",
      .scales = &c->y_scale,
      .n_scales = 1,
      .zero = c->y_zero },
  };
  const TfliteOperator op = { c->code, NULL, { 0, 1 }, (gint) c->n_operands,
                              { 2 },   1,    1,        { c->option } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0, 1 }, (gint) c->n_operands,
                             { 2 },   1,           0 };
  g_autoptr (GBytes) written = tflite_file_new (&file);
  GError *error = NULL;
  CleaveGraph *graph = cleave_tflite_parse (written, &error);

  ck_assert_msg (graph != NULL, "%s: %s", c->name, error == NULL ? "" : error->message);
  return graph;
}

/* Returns a copy of the graph after the pass. */
static CleaveGraph *
lower (const CleaveGraph *graph)
{
  g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse ("tflite-to-qdq,remove-dead", NULL);
  CleaveGraph *copy = cleave_graph_copy (graph);

  ck_assert (cleave_pipeline_run (pipeline, copy, NULL, NULL, NULL, NULL));
  return copy;
}

/* Returns element `i` of a tensor of int8 or int16. */
static gint
element (const CleaveTensor *tensor, gint64 i)
{
  gconstpointer data = cleave_tensor_get_data (tensor);

  return cleave_tensor_get_type (tensor)->element == CLEAVE_INT8 ? ((const gint8 *) data)[i]
                                                                 : ((const gint16 *) data)[i];
}

/* Asserts that the first outputs of both graphs differ by one at most, and that the changed graph
 * has a form in ONNX. Returns the number of elements that differ. */
static guint
count_differences (const char *name,
                   const CleaveGraph *graph,
                   const CleaveGraph *lowered,
                   const GPtrArray *inputs)
{
  g_autoptr (GPtrArray) expected = run_graph (graph, inputs, 1), found = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) onnx = cleave_onnx_serialize (lowered, &error);
  gint64 n;
  guint n_differ = 0;

  ck_assert_msg (onnx != NULL, "%s: %s", name, error == NULL ? "" : error->message);
  found = run_graph (lowered, inputs, 1);
  n = cleave_shape_n_elements (&cleave_tensor_get_type (expected->pdata[0])->shape);
  for (gint64 i = 0; i < n; i++)
    {
      gint difference = element (found->pdata[0], i) - element (expected->pdata[0], i);

      if (ABS (difference) > 1)
        ck_abort_msg ("%s: element %d is %d, not %d", name, (int) i, element (found->pdata[0], i),
                      element (expected->pdata[0], i));
      n_differ += difference != 0;
    }
  return n_differ;
}

/* Returns a tensor with all values of int8, each `step` times in sequence. */
static CleaveTensor *
all_bytes (const CleaveShape *shape, gint step)
{
  CleaveTensorType type = { CLEAVE_INT8, *shape };
  CleaveTensor *tensor = cleave_tensor_new (&type, NULL);
  gint8 *values = cleave_tensor_get_mutable_data (tensor);

  for (gint i = 0; i < 256 * step; i++)
    values[i] = (gint8) (i / step - 128);
  return tensor;
}

/* The pass rounds some ties in the other direction than the operator of TensorFlow Lite, so some
 * elements differ. */
START_TEST (operators_on_bytes_differ_by_one_at_most)
{
  guint n_differ = 0;

  for (guint i = 0; i < N (bytes); i++)
    {
      g_autoptr (CleaveGraph) graph = read_case (&bytes[i], TFLITE_INT8), lowered = lower (graph);
      g_autoptr (GPtrArray) inputs =
          g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

      if (bytes[i].n_operands == 2)
        {
          g_ptr_array_add (inputs, all_bytes (&CLEAVE_SHAPE (256, 256), 256));
          g_ptr_array_add (inputs, all_bytes (&CLEAVE_SHAPE (256), 1));
        }
      else
        g_ptr_array_add (inputs, all_bytes (&CLEAVE_SHAPE (1, 256), 1));
      n_differ += count_differences (bytes[i].name, graph, lowered, inputs);
    }
  ck_assert_uint_gt (n_differ, 0);
}
END_TEST

START_TEST (operators_on_words_differ_by_one_at_most)
{
  for (guint i = 0; i < N (words); i++)
    {
      g_autoptr (CleaveGraph) graph = read_case (&words[i], TFLITE_INT16), lowered = lower (graph);
      g_autoptr (GPtrArray) inputs = run_random_inputs (graph, i);

      count_differences (words[i].name, graph, lowered, inputs);
    }
}
END_TEST

/* Reads a file with a convolution, or a transposed convolution. Each channel has a scale of its
 * own. The convolution has a bias and RELU6. */
static CleaveGraph *
read_conv (gboolean is_transposed)
{
  static const float x = 0.1f, w[2] = { 0.01f, 0.03f }, y = 0.25f;
  static const gint32 bias[2] = { 100, -70 }, shape[4] = { 1, 5, 5, 2 };
  static const gint8 weights[2 * 3 * 3 * 3] = { 12, -100, 7, 99, -3, 127, -128, 64, 5, 31 };
  const TfliteTensor tensors[] = {
    { .name = "x",
      .type = TFLITE_INT8,
      .shape = "1x5x5x3",
      .scales = &x,
      .n_scales = 1,
      .zero = 9 },
    { .name = "w",
      .type = TFLITE_INT8,
      .shape = "2x3x3x3",
      .data = weights,
      .n_bytes = sizeof (weights),
      .scales = w,
      .n_scales = 2 },
    { .name = "b", .type = TFLITE_INT32, .shape = "2", .data = bias, .n_bytes = sizeof (bias) },
    { .name = "shape", .type = TFLITE_INT32, .shape = "4", .data = shape, .n_bytes = 16 },
    { .name = "y",
      .type = TFLITE_INT8,
      .shape = "1x5x5x2",
      .scales = &y,
      .n_scales = 1,
      .zero = 2 },
  };
  const TfliteOperator conv = {
    3, NULL, { 0, 1, 2 }, 3, { 4 }, 1, 1, { { 1, 'i', 1 }, { 2, 'i', 1 }, { 3, 'b', 3 } }
  };
  const TfliteOperator transposed = {
    67, NULL, { 3, 1, 0, 2 }, 4, { 4 }, 1, 1, { { 1, 'i', 1 }, { 2, 'i', 1 } }
  };
  const TfliteGraph file = { tensors, N (tensors), is_transposed ? &transposed : &conv,
                             1,       { 0 },       1,
                             { 4 },   1,           0 };
  g_autoptr (GBytes) written = tflite_file_new (&file);
  CleaveGraph *graph = cleave_tflite_parse (written, NULL);

  ck_assert_ptr_nonnull (graph);
  return graph;
}

START_TEST (convolutions_differ_by_one_at_most)
{
  for (gint is_transposed = 0; is_transposed < 2; is_transposed++)
    {
      g_autoptr (CleaveGraph) graph = read_conv (is_transposed), lowered = lower (graph);
      g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 3);

      ck_assert_uint_eq (cleave_count_nodes (lowered, is_transposed ? "ConvTranspose" : "Conv"), 1);
      ck_assert_uint_eq (cleave_count_nodes (lowered, "Clip"), is_transposed ? 0 : 1);
      count_differences ("convolution", graph, lowered, inputs);
    }
}
END_TEST

/* The pass replaces each op of a model on integers by nodes that ONNX has. The ops are QUANTIZE,
 * DEPTHWISE_CONV_2D, ADD, MEAN, FULLY_CONNECTED and SOFTMAX. */
START_TEST (a_model_of_integers_has_a_form_in_onnx)
{
  g_autoptr (GPtrArray) files = tflite_file_examples ();
  g_autoptr (CleaveGraph) graph = cleave_tflite_parse (files->pdata[1], NULL);
  g_autoptr (CleaveGraph) lowered = lower (graph);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1);

  count_differences ("integers", graph, lowered, inputs);
}
END_TEST

/* The example file with states has an LSTM. ONNX has no form for the LSTM, so the pass keeps the op
 * TfliteLstm. The export fails, and its message names TfliteLstm. */
START_TEST (an_lstm_keeps_its_op)
{
  g_autoptr (GPtrArray) files = tflite_file_examples ();
  g_autoptr (CleaveGraph) graph = cleave_tflite_parse (files->pdata[3], NULL);
  g_autoptr (CleaveGraph) lowered = lower (graph);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) onnx = cleave_onnx_serialize (lowered, &error);

  ck_assert_ptr_null (onnx);
  ck_assert_ptr_nonnull (strstr (error->message, "TfliteLstm"));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "qdq", operators_on_bytes_differ_by_one_at_most,
                   operators_on_words_differ_by_one_at_most, convolutions_differ_by_one_at_most,
                   a_model_of_integers_has_a_form_in_onnx, an_lstm_keeps_its_op, NULL);
}

CLEAVE_TEST_SUITE ("tflite-qdq", add_tests)
