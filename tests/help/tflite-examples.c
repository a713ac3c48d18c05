/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Small TensorFlow Lite files that the import accepts. */

#include "tflite-file.h"

#define N(array) ((guint) (sizeof (array) / sizeof (*(array))))

/* Returns a file with PAD, CONV_2D with RELU6, MAX_POOL_2D, FULLY_CONNECTED and SOFTMAX. */
static GBytes *
floats_example (void)
{
  static const float w[2 * 3 * 3 * 2] = { 0.5f, -1, 0.25f }, b[2] = { 1, 2 }, f[3 * 8] = { 1, 2 };
  static const gint32 pads[8] = { 0, 0, 1, 1, 1, 1, 0, 0 };
  static const TfliteTensor tensors[] = {
    { .name = "x", .shape = "1x4x4x2" },
    { .name = "pads", .type = TFLITE_INT32, .shape = "4x2", .data = pads, .n_bytes = 32 },
    { .name = "padded", .shape = "1x6x6x2" },
    { .name = "w", .shape = "2x3x3x2", .data = w, .n_bytes = sizeof (w) },
    { .name = "b", .shape = "2", .data = b, .n_bytes = sizeof (b) },
    { .name = "conv", .shape = "1x4x4x2" },
    { .name = "pool", .shape = "1x2x2x2" },
    { .name = "f", .shape = "3x8", .data = f, .n_bytes = sizeof (f) },
    { .name = "dense", .shape = "1x3" },
    { .name = "y", .shape = "1x3" },
  };
  static const TfliteOperator operators[] = {
    { 34, NULL, { 0, 1 }, 2, { 2 }, 1, 0, { { 0 } } },
    { 3,
      NULL,
      { 2, 3, 4 },
      3,
      { 5 },
      1,
      1,
      { { 0, 'b', 1 }, { 1, 'i', 1 }, { 2, 'i', 1 }, { 3, 'b', 3 } } },
    { 17,
      NULL,
      { 5 },
      1,
      { 6 },
      1,
      5,
      { { 1, 'i', 2 }, { 2, 'i', 2 }, { 3, 'i', 2 }, { 4, 'i', 2 } } },
    { 9, NULL, { 6, 7, -1 }, 3, { 8 }, 1, 8, { { 0 } } },
    { 25, NULL, { 8 }, 1, { 9 }, 1, 9, { { 0, 'f', 1 } } },
  };
  const TfliteGraph graph = {
    tensors, N (tensors), operators, N (operators), { 0 }, 1, { 9 }, 1, 0
  };

  return tflite_file_new (&graph);
}

/* Returns a file with DEPTHWISE_CONV_2D, ADD, MEAN, FULLY_CONNECTED and SOFTMAX on int8, and a
 * QUANTIZE. */
static GBytes *
integers_example (void)
{
  static const gint8 w[3 * 3 * 2] = { 12, -7, 100, 5, -128, 127 }, f[2 * 2] = { 3, -4, 5, 6 };
  static const gint32 b[2] = { 100, -200 }, axes[2] = { 1, 2 };
  static const float one[1] = { 0.05f }, two[2] = { 0.002f, 0.003f }, fine[1] = { 0.01f };
  static const float unit[1] = { 1.0f / 256 };
#define QUANTIZED(s, z) .type = TFLITE_INT8, .scales = s, .n_scales = 1, .zero = z
  static const TfliteTensor tensors[] = {
    { .name = "x", .shape = "1x4x4x2" },
    { .name = "q", .shape = "1x4x4x2", QUANTIZED (one, 3) },
    { .name = "w",
      .shape = "1x3x3x2",
      .type = TFLITE_INT8,
      .data = w,
      .n_bytes = sizeof (w),
      .scales = two,
      .n_scales = 2,
      .axis = 3 },
    { .name = "b", .shape = "2", .type = TFLITE_INT32, .data = b, .n_bytes = sizeof (b) },
    { .name = "conv", .shape = "1x4x4x2", QUANTIZED (fine, -4) },
    { .name = "sum", .shape = "1x4x4x2", QUANTIZED (one, 5) },
    { .name = "axes", .shape = "2", .type = TFLITE_INT32, .data = axes, .n_bytes = sizeof (axes) },
    { .name = "mean", .shape = "1x2", QUANTIZED (fine, 0) },
    { .name = "f", .shape = "2x2", .data = f, .n_bytes = sizeof (f), QUANTIZED (fine, 0) },
    { .name = "dense", .shape = "1x2", QUANTIZED (fine, 1) },
    { .name = "y", .shape = "1x2", QUANTIZED (unit, -128) },
  };
#undef QUANTIZED
  static const TfliteOperator operators[] = {
    { 114, NULL, { 0 }, 1, { 1 }, 1, 0, { { 0 } } },
    { 4,
      NULL,
      { 1, 2, 3 },
      3,
      { 4 },
      1,
      2,
      { { 1, 'i', 1 }, { 2, 'i', 1 }, { 3, 'i', 1 }, { 4, 'b', 1 } } },
    { 0, NULL, { 1, 4 }, 2, { 5 }, 1, 11, { { 0 } } },
    { 40, NULL, { 5, 6 }, 2, { 7 }, 1, 27, { { 0 } } },
    { 9, NULL, { 7, 8 }, 2, { 9 }, 1, 8, { { 0 } } },
    { 25, NULL, { 9 }, 1, { 10 }, 1, 9, { { 0, 'f', 1 } } },
  };
  const TfliteGraph graph = {
    tensors, N (tensors), operators, N (operators), { 0 }, 1, { 10 }, 1, 0
  };

  return tflite_file_new (&graph);
}

/* Returns a file with a RESHAPE. SHAPE, STRIDED_SLICE and PACK compute its shape, and the import
 * folds them to a constant. The file also has TRANSPOSE, CONCATENATION, and a DEQUANTIZE of
 * float16. */
static GBytes *
moves_example (void)
{
  static const gint32 zero[1] = { 0 }, one[1] = { 1 }, rest[1] = { 6 }, perm[2] = { 1, 0 };
  static const guint16 half[6] = { 0x3c00, 0x4000 };
  static const TfliteTensor tensors[] = {
    { .name = "x", .shape = "2x3x2" },
    { .name = "shape", .type = TFLITE_INT32, .shape = "3" },
    { .name = "zero", .type = TFLITE_INT32, .shape = "1", .data = zero, .n_bytes = 4 },
    { .name = "one", .type = TFLITE_INT32, .shape = "1", .data = one, .n_bytes = 4 },
    { .name = "n", .type = TFLITE_INT32, .shape = "" },
    { .name = "rest", .type = TFLITE_INT32, .shape = "", .data = rest, .n_bytes = 4 },
    { .name = "to", .type = TFLITE_INT32, .shape = "2" },
    { .name = "flat", .shape = "2x6" },
    { .name = "perm", .type = TFLITE_INT32, .shape = "2", .data = perm, .n_bytes = 8 },
    { .name = "turned", .shape = "6x2" },
    { .name = "half", .type = TFLITE_FLOAT16, .shape = "6x1", .data = half, .n_bytes = 12 },
    { .name = "float", .shape = "6x1" },
    { .name = "y", .shape = "6x3" },
  };
  static const TfliteOperator operators[] = {
    { 77, NULL, { 0 }, 1, { 1 }, 1, 0, { { 0 } } },
    { 45, NULL, { 1, 2, 3, 3 }, 4, { 4 }, 1, 32, { { 4, 'i', 1 } } },
    { 83, NULL, { 4, 5 }, 2, { 6 }, 1, 59, { { 0, 'i', 2 }, { 1, 'i', 0 } } },
    { 22, NULL, { 0, 6 }, 2, { 7 }, 1, 0, { { 0 } } },
    { 39, NULL, { 7, 8 }, 2, { 9 }, 1, 0, { { 0 } } },
    { 6, NULL, { 10 }, 1, { 11 }, 1, 0, { { 0 } } },
    { 2, NULL, { 9, 11 }, 2, { 12 }, 1, 10, { { 0, 'i', 1 } } },
  };
  const TfliteGraph graph = {
    tensors, N (tensors), operators, N (operators), { 0 }, 1, { 12 }, 1, 0
  };

  return tflite_file_new (&graph);
}

/* Returns a file with SVDF, an LSTM with a state of its own, PRELU, RESIZE_BILINEAR and
 * BATCH_MATMUL on int8. */
static GBytes *
states_example (void)
{
  static const gint8 w[6 * 6] = { 1, -2, 3 };
  static const gint32 b[6] = { 7, -9, 11 }, size[2] = { 4, 6 }, image[4] = { 1, 2, 3, 1 };
  static const float scale = 0.05f, cell = 0x1p-11f, wide = 0.5f;
#define VALUE(text) .name = text, .type = TFLITE_INT8, .scales = &scale, .n_scales = 1
#define DATA(array) .data = array, .n_bytes = sizeof (array)
  static const TfliteTensor tensors[] = {
    { VALUE ("x"), .shape = "1x6" },
    { VALUE ("feature"), .shape = "6x6", DATA (w) },
    { VALUE ("time"), .shape = "6x6", DATA (w) },
    { .name = "b", .type = TFLITE_INT32, .shape = "6", DATA (b) },
    { VALUE ("memory"), .shape = "1x36", .zero = -3, .is_variable = TRUE },
    { VALUE ("u"), .shape = "1x6" },
    { VALUE ("steps"), .shape = "1x1x6" },
    { VALUE ("h"), .shape = "1x6", .zero = 5, .is_variable = TRUE },
    { .name = "c",
      .type = TFLITE_INT16,
      .shape = "1x6",
      .scales = &cell,
      .n_scales = 1,
      .is_variable = TRUE },
    { VALUE ("y"), .shape = "1x1x6", .zero = 5 },
    { .name = "image", .type = TFLITE_INT32, .shape = "4", DATA (image) },
    { VALUE ("picture"), .shape = "1x2x3x1", .zero = 5 },
    { .name = "size", .type = TFLITE_INT32, .shape = "2", .data = size, .n_bytes = 8 },
    { VALUE ("larger"), .shape = "1x4x6x1", .zero = 5 },
    { VALUE ("slope"), .shape = "1", .data = w, .n_bytes = 1 },
    { VALUE ("bent"), .shape = "1x4x6x1" },
    { .name = "products", .type = TFLITE_INT8, .shape = "1x4x6x6", .scales = &wide, .n_scales = 1 },
  };
#undef VALUE
#undef DATA
  static const TfliteOperator operators[] = {
    { 27, NULL, { 0, 1, 2, 3, 4 }, 5, { 5 }, 1, 1, { { 0, 'i', 1 } } },
    { 22, NULL, { 5 }, 1, { 6 }, 1, 0, { { 0 } } },
    { 44,
      NULL,
      { 6, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, 3, 3, 3, 3, -1, -1, 7, 8, -1, -1, -1, -1 },
      24,
      { 9 },
      1,
      1,
      { { 0, 'b', 4 } } },
    { 22, NULL, { 9, 10 }, 2, { 11 }, 1, 0, { { 0 } } },
    { 23, NULL, { 11, 12 }, 2, { 13 }, 1, 1, { { 3, 'b', 1 } } },
    { 54, NULL, { 13, 14 }, 2, { 15 }, 1, 0, { { 0 } } },
    { 126, NULL, { 15, 15 }, 2, { 16 }, 1, 1, { { 1, 'b', 1 } } },
  };
  const TfliteGraph graph = {
    tensors, N (tensors), operators, N (operators), { 0 }, 1, { 16 }, 1, 0
  };

  return tflite_file_new (&graph);
}

/* Returns a file with a CALL_ONCE that sets a variable, a WHILE of three iterations, an IF that
 * assigns the variable in one branch, and a READ_VARIABLE. */
static GBytes *
control_example (void)
{
  static const float half[2] = { 0.5f, -2 }, start[2] = { 1, 2 };
  static const gint32 zero[1] = { 0 }, one[1] = { 1 }, three[1] = { 3 };
  static const TfliteTensor once_tensors[] = {
    { .name = "handle", .type = TFLITE_RESOURCE, .shape = "0" },
    { .name = "start", .shape = "2", .data = start, .n_bytes = sizeof (start) },
  };
  static const TfliteOperator once_operators[] = {
    { 142, "state", { 0 }, 0, { 0 }, 1, 111, { { 1, 's', 0 } } },
    { 144, NULL, { 0, 1 }, 2, { 0 }, 0, 0, { { 0 } } },
  };
  static const TfliteGraph once = { .tensors = once_tensors,
                                    .n_tensors = N (once_tensors),
                                    .operators = once_operators,
                                    .n_operators = N (once_operators) };
  static const TfliteTensor step_tensors[] = {
    { .name = "i", .type = TFLITE_INT32, .shape = "1" },
    { .name = "v", .shape = "2" },
    { .name = "one", .type = TFLITE_INT32, .shape = "1", .data = one, .n_bytes = 4 },
    { .name = "half", .shape = "2", .data = half, .n_bytes = sizeof (half) },
    { .name = "i_after", .type = TFLITE_INT32, .shape = "1" },
    { .name = "v_after", .shape = "2" },
  };
  static const TfliteOperator step_operators[] = {
    { 0, NULL, { 0, 2 }, 2, { 4 }, 1, 0, { { 0 } } },
    { 18, NULL, { 1, 3 }, 2, { 5 }, 1, 0, { { 0 } } },
  };
  static const TfliteGraph step = { .tensors = step_tensors,
                                    .n_tensors = N (step_tensors),
                                    .operators = step_operators,
                                    .n_operators = N (step_operators),
                                    .inputs = { 0, 1 },
                                    .n_inputs = 2,
                                    .outputs = { 4, 5 },
                                    .n_outputs = 2 };
  static const TfliteTensor test_tensors[] = {
    { .name = "i", .type = TFLITE_INT32, .shape = "1" },
    { .name = "v", .shape = "2" },
    { .name = "three", .type = TFLITE_INT32, .shape = "1", .data = three, .n_bytes = 4 },
    { .name = "goes_on", .type = TFLITE_BOOL, .shape = "1" },
  };
  static const TfliteOperator test_operators[] = {
    { 58, NULL, { 0, 2 }, 2, { 3 }, 1, 0, { { 0 } } },
  };
  static const TfliteGraph test = { .tensors = test_tensors,
                                    .n_tensors = N (test_tensors),
                                    .operators = test_operators,
                                    .n_operators = N (test_operators),
                                    .inputs = { 0, 1 },
                                    .n_inputs = 2,
                                    .outputs = { 3 },
                                    .n_outputs = 1 };
  static const TfliteTensor else_tensors[] = { { .name = "v", .shape = "2" } };
  static const TfliteGraph otherwise = { .tensors = else_tensors,
                                         .n_tensors = 1,
                                         .inputs = { 0 },
                                         .n_inputs = 1,
                                         .outputs = { 0 },
                                         .n_outputs = 1 };
  static const TfliteTensor then_tensors[] = {
    { .name = "v", .shape = "2" },
    { .name = "handle", .type = TFLITE_RESOURCE, .shape = "0" },
    { .name = "negative", .shape = "2" },
  };
  static const TfliteOperator then_operators[] = {
    { 142, "state", { 0 }, 0, { 1 }, 1, 111, { { 1, 's', 0 } } },
    { 144, NULL, { 1, 0 }, 2, { 0 }, 0, 0, { { 0 } } },
    { 59, NULL, { 0 }, 1, { 2 }, 1, 0, { { 0 } } },
  };
  static const TfliteGraph then = { .tensors = then_tensors,
                                    .n_tensors = N (then_tensors),
                                    .operators = then_operators,
                                    .n_operators = N (then_operators),
                                    .inputs = { 0 },
                                    .n_inputs = 1,
                                    .outputs = { 2 },
                                    .n_outputs = 1 };
  static const TfliteTensor tensors[] = {
    { .name = "x", .shape = "2" },
    { .name = "if", .type = TFLITE_BOOL, .shape = "1" },
    { .name = "zero", .type = TFLITE_INT32, .shape = "1", .data = zero, .n_bytes = 4 },
    { .name = "n", .type = TFLITE_INT32, .shape = "1" },
    { .name = "scaled", .shape = "2" },
    { .name = "y", .shape = "2" },
    { .name = "handle", .type = TFLITE_RESOURCE, .shape = "0" },
    { .name = "z", .shape = "2" },
  };
  static const TfliteOperator operators[] = {
    { 129, NULL, { 0 }, 0, { 0 }, 0, 103, { { 0, 'i', 5 } } },
    { 119, NULL, { 2, 0 }, 2, { 3, 4 }, 2, 93, { { 0, 'i', 3 }, { 1, 'i', 4 } } },
    { 118, NULL, { 1, 4 }, 2, { 5 }, 1, 92, { { 0, 'i', 1 }, { 1, 'i', 2 } } },
    { 142, "state", { 0 }, 0, { 6 }, 1, 111, { { 1, 's', 0 } } },
    { 143, NULL, { 6 }, 1, { 7 }, 1, 0, { { 0 } } },
  };
  const TfliteGraph graph = { .tensors = tensors,
                              .n_tensors = N (tensors),
                              .operators = operators,
                              .n_operators = N (operators),
                              .inputs = { 0, 1 },
                              .n_inputs = 2,
                              .outputs = { 5, 7 },
                              .n_outputs = 2 };

  return tflite_file_new_list (
      (const TfliteGraph *[]){ &graph, &then, &otherwise, &test, &step, &once, NULL });
}

/* Returns a file with a FULLY_CONNECTED and a RELU. The weights are a sparse matrix of float16 in
 * blocks of 1 x 2. DENSIFY and DEQUANTIZE convert the weights. */
static GBytes *
sparse_example (void)
{
  static const guint16 values[6] = { 0x3c00, 0x4000, 0x4200, 0x4400, 0xbc00, 0xc000 };
  static const guint8 segments[4] = { 0, 1, 1, 3 }, indices[3] = { 1, 0, 1 };
  static const TfliteSparsity sparsity = {
    { 0, 1, 2 },
    { 1 },
    1,
    3,
    { { 3, NULL, NULL, 0, 0 }, { 0, segments, indices, 4, 3 }, { 2, NULL, NULL, 0, 0 } }
  };
  static const TfliteTensor tensors[] = {
    { .name = "x", .shape = "1x4" },
    { .name = "sparse",
      .type = TFLITE_FLOAT16,
      .shape = "3x4",
      .data = values,
      .n_bytes = sizeof (values),
      .sparsity = &sparsity },
    { .name = "dense", .type = TFLITE_FLOAT16, .shape = "3x4" },
    { .name = "w", .shape = "3x4" },
    { .name = "product", .shape = "1x3" },
    { .name = "y", .shape = "1x3" },
  };
  static const TfliteOperator operators[] = {
    { 124, NULL, { 1 }, 1, { 2 }, 1, 0, { { 0 } } },
    { 6, NULL, { 2 }, 1, { 3 }, 1, 0, { { 0 } } },
    { 9, NULL, { 0, 3, -1 }, 3, { 4 }, 1, 0, { { 0 } } },
    { 19, NULL, { 4 }, 1, { 5 }, 1, 0, { { 0 } } },
  };
  const TfliteGraph graph = { .tensors = tensors,
                              .n_tensors = N (tensors),
                              .operators = operators,
                              .n_operators = N (operators),
                              .n_inputs = 1,
                              .outputs = { 5 },
                              .n_outputs = 1 };

  return tflite_file_new (&graph);
}

GPtrArray *
tflite_file_examples (void)
{
  GPtrArray *files = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);

  g_ptr_array_add (files, floats_example ());
  g_ptr_array_add (files, integers_example ());
  g_ptr_array_add (files, moves_example ());
  g_ptr_array_add (files, states_example ());
  g_ptr_array_add (files, control_example ());
  g_ptr_array_add (files, sparse_example ());
  return files;
}
