/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The import of TensorFlow Lite files. The tests write the files. */

#include "graphs.h"
#include "run-help.h"
#include "tflite-file.h"

#include <glib/gstdio.h>
#include <math.h>

#define N(array) ((guint) G_N_ELEMENTS (array))

static CleaveGraph *
parse (GBytes *file)
{
  GError *error = NULL;
  CleaveGraph *graph = cleave_tflite_parse (file, &error);

  ck_assert_msg (graph != NULL, "%s", error == NULL ? "" : error->message);
  return graph;
}

START_TEST (examples_are_read_and_run)
{
  g_autoptr (GPtrArray) files = tflite_file_examples ();

  for (guint i = 0; i < files->len; i++)
    {
      g_autoptr (CleaveGraph) graph = parse (files->pdata[i]);

      run_assert_same (graph, i);
    }
}
END_TEST

/* PAD becomes pads of the convolution. The operators from SHAPE to PACK compute a shape, which
 * becomes a constant. */
START_TEST (constants_and_pads_leave_no_nodes)
{
  g_autoptr (GPtrArray) files = tflite_file_examples ();
  g_autoptr (CleaveGraph) floats = parse (files->pdata[0]), moves = parse (files->pdata[2]);

  ck_assert_uint_eq (cleave_count_nodes (floats, "Pad"), 0);
  ck_assert_uint_eq (cleave_count_nodes (floats, "Transpose"), 0);
  ck_assert_uint_eq (cleave_count_nodes (floats, "Conv"), 1);
  ck_assert_uint_eq (cleave_graph_count_operators (moves), 3);
  ck_assert_uint_eq (cleave_count_nodes (moves, "Cast"), 0);
}
END_TEST

/* A CONV_2D with one tap computes sum = (x + 5) * w + b, and rounds twice. The first rounding gives
 * high = round (sum * m / 2^31), the second y = 9 + round (high * 2^shift). The scales of the
 * tensors give the multiplier m / 2^31 and the exponent `shift`. The test checks this rule for
 * every value x of int8. */
START_TEST (a_quantized_convolution_follows_the_rule)
{
  static const gint8 w[1] = { 77 };
  static const gint32 b[1] = { -31 };
  static const float xs[1] = { 0.05f }, ws[1] = { 0.003f }, ys[1] = { 0.02f };
  const TfliteTensor tensors[] = {
    { .name = "x",
      .type = TFLITE_INT8,
      .shape = "1x16x16x1",
      .scales = xs,
      .n_scales = 1,
      .zero = -5 },
    { .name = "w",
      .type = TFLITE_INT8,
      .shape = "1x1x1x1",
      .data = w,
      .n_bytes = 1,
      .scales = ws,
      .n_scales = 1 },
    { .name = "b", .type = TFLITE_INT32, .shape = "1", .data = b, .n_bytes = 4 },
    { .name = "y",
      .type = TFLITE_INT8,
      .shape = "1x16x16x1",
      .scales = ys,
      .n_scales = 1,
      .zero = 9 },
  };
  const TfliteOperator operators[] = {
    { 3, NULL, { 0, 1, 2 }, 3, { 3 }, 1, 1, { { 1, 'i', 1 }, { 2, 'i', 1 }, { 3, 'b', 1 } } },
  };
  const TfliteGraph file = {
    tensors, N (tensors), operators, N (operators), { 0 }, 1, { 3 }, 1, 0
  };
  g_autoptr (GBytes) bytes = tflite_file_new (&file);
  g_autoptr (CleaveGraph) graph = parse (bytes);
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) outputs = NULL;
  gint8 x[256];
  const gint8 *y;
  int shift;
  gint64 m =
      (gint64) round (frexp ((double) xs[0] * (double) ws[0] / (double) ys[0], &shift) * 0x1p31);

  for (gint i = 0; i < 256; i++)
    x[i] = (gint8) (i - 128);
  g_ptr_array_add (inputs,
                   cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT8, 1, 16, 16, 1), x, NULL));
  outputs = run_graph (graph, inputs, 2);
  y = cleave_tensor_get_data (outputs->pdata[0]);
  for (gint i = 0; i < 256; i++)
    {
      gint64 sum = (x[i] + 5) * w[0] + b[0],
             high = (gint64) floor ((double) (sum * m) / 0x1p31 + 0.5);
      gint64 rule = 9 + (gint64) round (ldexp ((double) high, shift));

      ck_assert_int_eq (y[i], CLAMP (rule, 9, G_MAXINT8)); /* RELU clamps at the zero point */
    }
}
END_TEST

/* RELU6 with the scale 1/16 and the zero point -20 clamps to [-20, 76]. */
START_TEST (a_quantized_relu6_clamps)
{
  static const float scale[1] = { 1.0f / 16 };
  const TfliteTensor tensors[] = {
    { .name = "x", .type = TFLITE_INT8, .shape = "5", .scales = scale, .n_scales = 1, .zero = -20 },
    { .name = "y", .type = TFLITE_INT8, .shape = "5", .scales = scale, .n_scales = 1, .zero = -20 },
  };
  const TfliteOperator op = { 21, NULL, { 0 }, 1, { 1 }, 1, 0, { { 0 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 1 }, 1, 0 };
  const gint8 x[5] = { -128, -21, 0, 76, 77 }, expected[5] = { -20, -20, 0, 76, 76 };
  g_autoptr (GBytes) bytes = tflite_file_new (&file);
  g_autoptr (CleaveGraph) graph = parse (bytes);
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) outputs = NULL;

  g_ptr_array_add (inputs, cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT8, 5), x, NULL));
  outputs = run_graph (graph, inputs, 1);
  ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[0]), expected, 5);
}
END_TEST

/* Adds a constant of `n` numbers from `min` to below `max`. */
static CleaveResult *
add_numbers (CleaveGraph *graph, GRand *rand, gint64 n, gint32 min, gint32 max)
{
  g_autoptr (CleaveTensor) numbers = cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_INT32, n), NULL);

  for (gint64 i = 0; i < n; i++)
    ((gint32 *) cleave_tensor_get_mutable_data (numbers))[i] = g_rand_int_range (rand, min, max);
  return cleave_graph_add_constant (graph, NULL, numbers);
}

/* Makes a random convolution of int8. Its weights are constant or an input. */
static CleaveGraph *
random_conv (guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  gint64 group = g_rand_boolean (rand) ? 1 : g_rand_int_range (rand, 1, 20);
  gint64 in = g_rand_int_range (rand, 1, group == 1 ? 40 : 3), out = g_rand_int_range (rand, 1, 40);
  gint64 h = g_rand_int_range (rand, 3, 12), w = g_rand_int_range (rand, 3, 12);
  gint64 k = g_rand_int_range (rand, 1, 4);
  CleaveTfliteConvAttrs attrs = {
    .conv = { .layout = CLEAVE_LAYOUT_NHWC, .group = group, .pads = CLEAVE_INTS (0, 1, 1, 0) },
    .min = -100,
    .max = 120
  };
  CleaveGraph *graph = cleave_graph_new ("conv");
  CleaveTensorType weights;
  CleaveTensorType scalar = CLEAVE_SCALAR (CLEAVE_INT8);
  CleaveTensorType x = CLEAVE_TYPE (CLEAVE_INT8, g_rand_int_range (rand, 1, 3), h, w, group * in);
  CleaveResult *operands[7];
  CleaveNode *node;

  out = group == 1 ? out : group * g_rand_int_range (rand, 1, 3);
  weights = CLEAVE_TYPE (CLEAVE_INT8, out, in, k, k);
  operands[0] = cleave_graph_add_input (graph, "x", &x, NULL);
  operands[1] = cleave_graph_add_input (graph, "xz", &scalar, NULL);
  operands[2] = cleave_graph_add_input (graph, "w", &weights, NULL);
  if (g_rand_boolean (rand))
    {
      g_autoptr (CleaveTensor) value = cleave_random_tensor (&weights, seed, FALSE);

      operands[2] = cleave_graph_add_constant (graph, "constant", value);
    }
  operands[3] = add_numbers (graph, rand, out, 1 << 30, G_MAXINT32);
  operands[4] = add_numbers (graph, rand, out, -16, -6);
  operands[5] = cleave_graph_add_input (graph, "yz", &scalar, NULL);
  operands[6] = add_numbers (graph, rand, out, -100000, 100000);
  node = cleave_graph_add (graph, cleave_op_lookup ("TfliteConv"), "conv", operands, 7, 1, &attrs,
                           NULL);
  ck_assert_ptr_nonnull (node);
  cleave_graph_add_output (graph, "y", cleave_node_get_result (node, 0), NULL);
  return graph;
}

START_TEST (fast_convolutions_have_the_bits_of_the_reference)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (200); seed++)
    {
      g_autoptr (CleaveGraph) graph = random_conv (seed);

      run_assert_same (graph, seed);
    }
}
END_TEST

static void
assert_refused (const TfliteGraph *file, const char *message)
{
  g_autoptr (GBytes) bytes = tflite_file_new (file);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_tflite_parse (bytes, &error));
  ck_assert_ptr_nonnull (error);
  ck_assert_str_eq (error->message, message);
}

START_TEST (errors_name_operator_and_tensor)
{
  TfliteTensor tensors[] = { { .name = "x", .shape = "1x4" }, { .name = "y", .shape = "1x5" } };
  TfliteOperator op = { 109, NULL, { 0 }, 1, { 1 }, 1, 0, { { 0 } } };
  TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 1 }, 1, 0 };

  assert_refused (&file, "operator 0, WHERE 'y': the operator is not supported");
  op.code = 32;
  op.custom = "ethos-u";
  assert_refused (&file, "operator 0, ethos-u 'y': the operator is not supported");
  op = (TfliteOperator){ 19, NULL, { 0 }, 1, { 1 }, 1, 0, { { 0 } } };
  assert_refused (&file, "operator 0, RELU 'y': output 0, tensor 1 'y', is float32 1x4, the file "
                         "declares float32 1x5");
  op.inputs[0] = 1;
  assert_refused (&file,
                  "operator 0, RELU 'y': input 0, tensor 1 'y', is neither a constant nor an "
                  "input of the graph, and no earlier operator computes it");
  op.inputs[0] = 7;
  assert_refused (&file, "operator 0: input 0 is tensor 7, the subgraph has 2 tensors");
  op.inputs[0] = 0;
  tensors[1].type = 5; /* the number of STRING in the schema */
  assert_refused (&file,
                  "operator 0, RELU 'y': output 0 has the element type 5 of the schema, which "
                  "is not supported");
  op.inputs[0] = -1;
  assert_refused (&file, "operator 0, RELU 'y': input 0 is absent");
  tensors[1].type = 0;
  op = (TfliteOperator){ 83, NULL, { 0, -1 }, 2, { 1 }, 1, 0, { { 0 } } };
  assert_refused (&file, "operator 0, PACK 'y': input 1 is absent");
}
END_TEST

/* The import refuses an SVDF without its last input, which is the state. */
START_TEST (an_svdf_without_a_state_is_refused)
{
  static const float scale[1] = { 0.5f };
  static const gint8 w[1] = { 1 };
  const TfliteTensor tensors[] = {
    { .name = "x", .type = TFLITE_INT8, .shape = "1x1", .scales = scale, .n_scales = 1 },
    { .name = "w",
      .type = TFLITE_INT8,
      .shape = "1x1",
      .data = w,
      .n_bytes = 1,
      .scales = scale,
      .n_scales = 1 },
    { .name = "y", .type = TFLITE_INT8, .shape = "1x1", .scales = scale, .n_scales = 1 },
  };
  const TfliteOperator op = { 27, NULL, { 0, 1, 1 }, 3, { 2 }, 1, 1, { { 0, 'i', 1 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 2 }, 1, 0 };

  assert_refused (&file, "operator 0, SVDF 'y': input 4 must be a variable");
}
END_TEST

/* The import refuses a convolution whose operand has the type int32 and a scale. Such an operand is
 * legal in QUANTIZE, but not in a convolution. */
START_TEST (a_convolution_of_int32_is_refused)
{
  static const float scale[1] = { 0.5f };
  static const gint8 w[1] = { 1 };
  const TfliteTensor tensors[] = {
    { .name = "x", .type = TFLITE_INT32, .shape = "1x1x1x1", .scales = scale, .n_scales = 1 },
    { .name = "w",
      .type = TFLITE_INT8,
      .shape = "1x1x1x1",
      .data = w,
      .n_bytes = 1,
      .scales = scale,
      .n_scales = 1 },
    { .name = "y", .type = TFLITE_INT8, .shape = "1x1x1x1", .scales = scale, .n_scales = 1 },
  };
  const TfliteOperator op = { 3, NULL, { 0, 1 }, 2, { 2 }, 1, 1, { { 1, 'i', 1 }, { 2, 'i', 1 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 2 }, 1, 0 };

  assert_refused (&file, "operator 0, CONV_2D 'y': TfliteConv 'y': x cannot be int32");
}
END_TEST

START_TEST (short_files_are_refused)
{
  g_autoptr (GPtrArray) files = tflite_file_examples ();

  for (guint i = 0; i < files->len; i++)
    for (gsize n = 0; n < g_bytes_get_size (files->pdata[i]); n += n < 64 ? 1 : 13)
      {
        g_autoptr (GBytes) part = g_bytes_new_from_bytes (files->pdata[i], 0, n);
        g_autoptr (GError) error = NULL;

        /* A file that is cut near its end may lack only a part of the last constant. The import
         * does not read the elements of a constant. */
        if (n <= 64)
          ck_assert_ptr_null (cleave_tflite_parse (part, &error));
        else
          {
            g_autoptr (CleaveGraph) graph = cleave_tflite_parse (part, NULL);
          }
      }
}
END_TEST

/* The work must be linear in the size of the file, even if its vector of operators has the same
 * operator many times. */
START_TEST (an_operator_that_is_listed_too_often_is_refused)
{
  const TfliteTensor tensors[] = { { .name = "x", .shape = "1" }, { .name = "y", .shape = "8" } };
  const TfliteOperator op = { 2, NULL, { 0, 0, 0, 0, 0, 0, 0, 0 }, 8, { 1 }, 1, 10, { { 0 } } };
  TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 1 }, 1, 100000 };

  assert_refused (&file,
                  "operator 27365: the file lists the same tables or vectors too many times");
}
END_TEST

START_TEST (quantized_graphs_have_no_form_in_onnx_but_one_as_text)
{
  g_autoptr (GPtrArray) files = tflite_file_examples ();
  g_autoptr (CleaveGraph) graph = parse (files->pdata[1]), again = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) onnx = cleave_onnx_serialize (graph, &error);
  g_autofree char *text = cleave_graph_print (graph), *second = NULL;

  ck_assert_ptr_null (onnx);
  cleave_assert_error (
      &error, CLEAVE_ERROR_MODEL,
      "TfliteQuantize 'q' has no form in ONNX: write a .cleave file, or run cleave opt "
      "--passes tflite-to-qdq before, which replaces most ops and loses bits");
}
END_TEST

/* The content of a file decides its format; the name of the file does not matter. Options of the
 * ONNX import are an error for a TensorFlow Lite file. */
START_TEST (a_file_is_known_by_its_content)
{
  g_autoptr (GPtrArray) files = tflite_file_examples ();
  g_autofree char *folder = g_dir_make_tmp ("cleave-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "model.onnx", NULL);
  CleaveOnnxDim dim = { "batch", 2 };
  CleaveOnnxOptions options = { .dims = &dim, .n_dims = 1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) loaded = NULL, parsed = NULL;
  gsize n;
  const char *data = g_bytes_get_data (files->pdata[0], &n);

  ck_assert (g_file_set_contents (path, data, (gssize) n, NULL));
  loaded = cleave_graph_load (path, NULL, NULL);
  parsed = cleave_graph_load_bytes (files->pdata[0], NULL, NULL, NULL);
  ck_assert_ptr_nonnull (loaded);
  ck_assert_ptr_nonnull (parsed);
  ck_assert_ptr_null (cleave_graph_load (path, &options, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "shapes, dimensions and values of inputs can be given for ONNX models only");
  g_unlink (path);
  g_rmdir (folder);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "models", a_file_is_known_by_its_content, examples_are_read_and_run,
                   constants_and_pads_leave_no_nodes, a_quantized_convolution_follows_the_rule,
                   a_quantized_relu6_clamps, fast_convolutions_have_the_bits_of_the_reference,
                   quantized_graphs_have_no_form_in_onnx_but_one_as_text, NULL);
  cleave_add_case (suite, "errors", errors_name_operator_and_tensor,
                   a_convolution_of_int32_is_refused, an_svdf_without_a_state_is_refused,
                   short_files_are_refused, an_operator_that_is_listed_too_often_is_refused, NULL);
}

CLEAVE_TEST_SUITE ("tflite", add_tests)
