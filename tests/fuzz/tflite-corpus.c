/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Small TensorFlow Lite files for the fuzz target of their import. */

#include "flex-map.h"
#include "fuzz.h"
#include "tflite-file.h"

#define N(array) ((guint) G_N_ELEMENTS (array))

/* Returns a file with CONV_3D, SEGMENT_SUM, DYNAMIC_UPDATE_SLICE and RNN. */
static GBytes *
layers_example (void)
{
  static const float w[4] = { 1, 2, -1, 0.5f }, square[9] = { 0.5f, 0, 0, 0, -0.5f }, b[3] = { 1 };
  static const gint32 segments[2] = { 0, 0 }, place[4] = { 0, 1, 0, 0 };
  static const gint32 shape[2] = { 1, 9 };
  static const float part[6] = { 1, 2, 3, 4, 5, 6 }, wide[27] = { 0.1f, 0.2f };
  static const TfliteTensor tensors[] = {
    { .name = "x", .shape = "1x2x3x3x1" },
    { .name = "w", .shape = "2x1x1x1x1", .data = w, .n_bytes = 8 },
    { .name = "conv", .shape = "1x2x3x3x1" },
    { .name = "folded", .shape = "2x3x3x1" },
    { .name = "segments", .type = TFLITE_INT32, .shape = "2", .data = segments, .n_bytes = 8 },
    { .name = "sum", .shape = "1x3x3x1" },
    { .name = "part", .shape = "1x2x3x1", .data = part, .n_bytes = sizeof (part) },
    { .name = "place", .type = TFLITE_INT32, .shape = "4", .data = place, .n_bytes = 16 },
    { .name = "updated", .shape = "1x3x3x1" },
    { .name = "row", .shape = "1x9" },
    { .name = "wide", .shape = "3x9", .data = wide, .n_bytes = sizeof (wide) },
    { .name = "square", .shape = "3x3", .data = square, .n_bytes = sizeof (square) },
    { .name = "b", .shape = "3", .data = b, .n_bytes = sizeof (b) },
    { .name = "h", .shape = "1x3", .is_variable = TRUE },
    { .name = "y", .shape = "1x3" },
    { .name = "shape", .type = TFLITE_INT32, .shape = "2", .data = shape, .n_bytes = 8 },
  };
  static const TfliteOperator operators[] = {
    { 132,
      NULL,
      { 0, 1, -1 },
      3,
      { 2 },
      1,
      88,
      { { 1, 'i', 1 }, { 2, 'i', 1 }, { 3, 'i', 1 }, { 4, 'b', 1 } } },
    { 22, NULL, { 2 }, 1, { 3 }, 1, 0, { { 0 } } },
    { 125, NULL, { 3, 4 }, 2, { 5 }, 1, 0, { { 0 } } },
    { 151, NULL, { 5, 6, 7 }, 3, { 8 }, 1, 0, { { 0 } } },
    { 22, NULL, { 8, 15 }, 2, { 9 }, 1, 0, { { 0 } } },
    { 24, NULL, { 9, 10, 11, 12, 13 }, 5, { 14 }, 1, 10, { { 0, 'b', 4 } } },
  };
  const TfliteGraph graph = {
    tensors, N (tensors), operators, N (operators), { 0 }, 1, { 14 }, 1, 0
  };

  return tflite_file_new (&graph);
}

/* Returns a file with ADD_N, CUMSUM, EXP, L2_NORMALIZATION and LOG_SOFTMAX on int8. */
static GBytes *
rows_example (void)
{
  static const float fine[1] = { 0.02f }, unit[1] = { 1.0f / 128 }, log[1] = { 1.0f / 16 };
  static const gint32 axis[1] = { 1 };
#define QUANTIZED(s, z) .type = TFLITE_INT8, .scales = s, .n_scales = 1, .zero = z
  static const TfliteTensor tensors[] = {
    { .name = "x", .shape = "4x6", QUANTIZED (fine, 3) },
    { .name = "sum", .shape = "4x6", QUANTIZED (fine, -4) },
    { .name = "axis", .type = TFLITE_INT32, .shape = "", .data = axis, .n_bytes = 4 },
    { .name = "running", .shape = "4x6", QUANTIZED (log, 5) },
    { .name = "exp", .shape = "4x6", QUANTIZED (log, -128) },
    { .name = "normal", .shape = "4x6", QUANTIZED (unit, 0) },
    { .name = "y", .shape = "4x6", QUANTIZED (log, 127) },
  };
#undef QUANTIZED
  static const TfliteOperator operators[] = {
    { 106, NULL, { 0, 0, 0 }, 3, { 1 }, 1, 0, { { 0 } } },
    { 128, NULL, { 1, 2 }, 2, { 3 }, 1, 100, { { 0, 'b', 1 } } },
    { 47, NULL, { 3 }, 1, { 4 }, 1, 0, { { 0 } } },
    { 11, NULL, { 4 }, 1, { 5 }, 1, 0, { { 0 } } },
    { 50, NULL, { 5 }, 1, { 6 }, 1, 0, { { 0 } } },
  };
  const TfliteGraph graph = {
    tensors, N (tensors), operators, N (operators), { 0 }, 1, { 6 }, 1, 0
  };

  return tflite_file_new (&graph);
}

/* Returns a file with CONV_3D_TRANSPOSE and BIDIRECTIONAL_SEQUENCE_LSTM. */
static GBytes *
sequences_example (void)
{
  static const float one[1] = { 0.5f }, w[3] = { 1, 2, 3 };
  static const gint32 extents[5] = { 1, 1, 1, 5, 1 }, shape[3] = { 1, 5, 1 };
  static const TfliteTensor tensors[] = {
    { .name = "x", .shape = "1x1x1x2x1" },
    { .name = "extents", .type = TFLITE_INT32, .shape = "5", .data = extents, .n_bytes = 20 },
    { .name = "w", .shape = "1x1x3x1x1", .data = w, .n_bytes = sizeof (w) },
    { .name = "conv", .shape = "1x1x1x5x1" },
    { .name = "shape", .type = TFLITE_INT32, .shape = "3", .data = shape, .n_bytes = 12 },
    { .name = "rows", .shape = "1x5x1" },
    { .name = "square", .shape = "1x1", .data = one, .n_bytes = 4 },
    { .name = "b", .shape = "1", .data = one, .n_bytes = 4 },
    { .name = "h", .shape = "1x1", .is_variable = TRUE },
    { .name = "c", .shape = "1x1", .is_variable = TRUE },
    { .name = "h_back", .shape = "1x1", .is_variable = TRUE },
    { .name = "c_back", .shape = "1x1", .is_variable = TRUE },
    { .name = "y", .shape = "1x5x2" },
  };
  static const TfliteOperator operators[] = {
    {
        141,
        NULL,
        { 1, 2, 0 },
        3,
        { 3 },
        1,
        1,
        { { 0, 'b', 1 }, { 1, 'i', 1 }, { 2, 'i', 2 }, { 3, 'i', 1 } },
    },
    { 22, NULL, { 3, 4 }, 2, { 5 }, 1, 0, { { 0 } } },
    {
        52,
        NULL,
        { 5, 6, 6,  6,  6,  6, 6, 6, 6, -1, -1, -1, 7, 7,  7,  7,  -1, -1, 6,  6,  6,  6,  6,  6,
          6, 6, -1, -1, -1, 7, 7, 7, 7, -1, -1, 8,  9, 10, 11, -1, -1, -1, -1, -1, -1, -1, -1, -1 },
        48,
        { 12 },
        1,
        1,
        { { 0, 'b', 4 }, { 3, 'b', 1 }, { 4, 'b', 0 } },
    },
  };
  const TfliteGraph graph = {
    tensors, N (tensors), operators, N (operators), { 0 }, 1, { 12 }, 1, 0
  };

  return tflite_file_new (&graph);
}

/* Returns a file with TFLite_Detection_PostProcess, whose options have numbers of `width` bytes. */
static GBytes *
detections_example (guint width)
{
  static const FlexEntry entries[] = {
    { "max_detections", 3, 'i' },
    { "max_classes_per_detection", 1, 'i' },
    { "num_classes", 1, 'i' },
    { "use_regular_nms", 1, 'b' },
    { "nms_score_threshold", 0.1, '*' },
    { "nms_iou_threshold", 0.5, 'f' },
    { "y_scale", 10, 'f' },
    { "x_scale", 10, 'i' },
    { "h_scale", 5, 'f' },
    { "w_scale", 5, '*' },
    { NULL, 0, 0 },
  };
  static const float anchors[8] = { 0.5f, 0.5f, 1, 1, 0.25f, 0.25f, 0.5f, 0.5f };
  g_autoptr (GBytes) options = flex_map_new (entries, width);
  const TfliteTensor tensors[] = {
    { .name = "x", .shape = "1x2x4" },
    { .name = "s", .shape = "1x2x2" },
    { .name = "anchors", .shape = "2x4", .data = anchors, .n_bytes = sizeof (anchors) },
    { .name = "boxes", .shape = "1x3x4" },
    { .name = "classes", .shape = "1x3" },
    { .name = "scores", .shape = "1x3" },
    { .name = "count", .shape = "1" },
    { .name = "options",
      .shape = "",
      .data = g_bytes_get_data (options, NULL),
      .n_bytes = (guint) g_bytes_get_size (options) },
  };
  const TfliteOperator op = { .code = 32,
                              .custom = "TFLite_Detection_PostProcess",
                              .inputs = { 0, 1, 2 },
                              .n_inputs = 3,
                              .outputs = { 3, 4, 5, 6 },
                              .n_outputs = 4,
                              .options = { { 0, 'c', 7 } } };
  const TfliteGraph graph = { tensors, N (tensors), &op, 1, { 0, 1 }, 2, { 3, 4, 5, 6 }, 4, 0 };

  return tflite_file_new (&graph);
}

GPtrArray *
fuzz_make_corpus (void)
{
  GPtrArray *files = tflite_file_examples ();

  g_ptr_array_add (files, layers_example ());
  g_ptr_array_add (files, rows_example ());
  g_ptr_array_add (files, sequences_example ());
  g_ptr_array_add (files, detections_example (4));
  g_ptr_array_add (files, detections_example (8));
  return files;
}

gboolean
fuzz_is_accepted (GBytes *bytes)
{
  g_autoptr (CleaveGraph) graph = cleave_tflite_parse (bytes, NULL);

  return graph != NULL;
}
